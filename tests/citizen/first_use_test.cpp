// The very first product of a process is short of memory: catalogues, leaves and descriptions of the machine that are
// made once must be made later then, not be missing for good. Each try is a process of its own, forked from one in
// which the library was never used; nothing else may be tested in this program.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>

#include <heptad/bits.hpp>

#include "citizen/short_of_memory.hpp"

namespace heptad::citizen {
namespace {

#ifdef HEPTAD_REDUCED_TESTS
constexpr std::int64_t kSample = 8;
#else
constexpr std::int64_t kSample = 24;
#endif
/// Of a soak: the first use makes so many allocations that all of them would take days.
constexpr std::int64_t kFull = 1500;

void no_libraries() {
    for (const char* const name : {"HEPTAD_OPENBLAS", "HEPTAD_BLIS", "HEPTAD_MKL"}) {
        ::setenv(name, "none", 1);
    }
}

/// What a child tells by its exit code.
enum Told : int { right_at_last = 0, wrong_at_last = 1, other_error = 2 };

/// Runs `body` in a child that writes one number, and returns it.
std::int64_t in_child(const std::function<std::int64_t()>& body) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(300);  // a product that hangs ends by a signal
        const std::int64_t number = body();
        ::_exit(::write(ends[1], &number, sizeof number) == sizeof number ? 0 : 1);
    }
    ::close(ends[1]);
    std::int64_t number = -1;
    const bool told = ::read(ends[0], &number, sizeof number) == sizeof number;
    ::close(ends[0]);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(told && status == 0) << (WIFSIGNALED(status) ? "ended by signal " : "exit status ")
                                     << (WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return number;
}

void expect_first_use_survives(const TriedProduct& product) {
    const auto nowhere = std::numeric_limits<std::int64_t>::max();
    const std::int64_t allocations = in_child([&] {
        const Trial whole = try_without(product, nowhere, Shortage::once);
        return whole.ended == Ended::right ? whole.allocations : -1;
    });
    ASSERT_GT(allocations, 0);
    std::mt19937_64 random(seed());
    for (std::int64_t i = 0; i < repetitions(kSample, kFull); ++i) {
        // The first ones one by one, the others by chance.
        const std::int64_t number =
            i < kSample / 3 ? i + 1 : std::uniform_int_distribution<std::int64_t>(1, allocations)(random);
        const Shortage shortage = i % 2 == 0 ? Shortage::once : Shortage::for_good;
        SCOPED_TRACE("allocation " + std::to_string(number) + " of " + std::to_string(allocations));
        const std::int64_t told = in_child([&]() -> std::int64_t {
            const Trial trial = try_without(product, number, shortage);
            if (trial.ended != Ended::right && trial.ended != Ended::out_of_memory) {
                return other_error;
            }
            return try_without(product, nowhere, Shortage::once).ended == Ended::right ? right_at_last : wrong_at_last;
        });
        ASSERT_EQ(told, right_at_last);
    }
}

TEST(FirstUse, dense_product_is_right_or_says_so_and_the_next_is_right) {
    no_libraries();
    constexpr std::int64_t n = 40;
    std::vector<float> a(n * n), b(n * n), c, expected(n * n);
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<float>(i % 7) - 3;
        b[i] = static_cast<float>(i % 5) - 2;
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            for (std::size_t l = 0; l < n; ++l) {
                expected[i * n + j] += a[i * n + l] * b[l * n + j];
            }
        }
    }
    Options options;
    options.levels = 1;
    options.accuracy = Accuracy::fast;
    const auto view = [&](std::vector<float>& x) { return MatrixView<float>::row_major(x.data(), n, n); };
    expect_first_use_survives({[&] { c.assign(n * n, -1); },
                               [&] {
                                   Context context;
                                   context.set_threads(2);
                                   multiply(view(a), view(b), view(c), options, context);
                               },
                               [&] { return c == expected; }});
}

TEST(FirstUse, bit_product_is_right_or_says_so_and_the_next_is_right) {
    no_libraries();
    // The identity times a matrix: nothing of the library multiplies in this process.
    std::vector<std::uint64_t> identity(128 * 2), b(128 * 2), c;
    for (std::size_t i = 0; i < 128; ++i) {
        identity[i * 2 + i / 64] = std::uint64_t{1} << (i % 64);
        b[i * 2] = i * 0x9e3779b97f4a7c15U;
        b[i * 2 + 1] = i * 0xc2b2ae3d27d4eb4fU;
    }
    bits::BitOptions options;
    options.levels = 1;
    expect_first_use_survives({[&] { c.assign(b.size(), 0); },
                               [&] {
                                   Context context;
                                   context.set_threads(2);
                                   bits::multiply(Type::gf2, {identity.data(), 128, 128, 2}, {b.data(), 128, 128, 2},
                                                  {c.data(), 128, 128, 2}, options, context);
                               },
                               [&] { return c == b; }});
}

}  // namespace
}  // namespace heptad::citizen

// Operands whose last byte is followed, or whose first byte is preceded, by a page that nobody may touch: a product
// that reads or writes one element too many ends the test.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <random>

#include "base/size.hpp"
#include "kernels/guarded_matrix.hpp"
#include "product/memory/product.hpp"

namespace heptad::test {
namespace {

enum class Side { end, start };  // where the forbidden page lies

/// A dense matrix at one end of its pages.
class EdgeMatrix {
public:
    EdgeMatrix(Type type, std::int64_t rows, std::int64_t cols, bool by_columns, Side side) {
        const std::int64_t page = sysconf(_SC_PAGESIZE);
        const std::int64_t bytes = rows * cols * static_cast<std::int64_t>(element_bytes(type));
        const std::int64_t inner = std::max(page, round_up(bytes, page));
        total_ = static_cast<std::size_t>(inner + 2 * page);
        memory_ = static_cast<std::byte*>(mmap(nullptr, total_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        EXPECT_NE(memory_, MAP_FAILED);
        EXPECT_EQ(mprotect(memory_ + page, static_cast<std::size_t>(inner), PROT_READ | PROT_WRITE), 0);
        std::byte* data = memory_ + page + (side == Side::end ? inner - bytes : 0);
        view_ = {data, type, rows, cols, by_columns ? 1 : cols, by_columns ? rows : 1};
    }
    ~EdgeMatrix() { munmap(memory_, total_); }
    EdgeMatrix(const EdgeMatrix&) = delete;
    EdgeMatrix& operator=(const EdgeMatrix&) = delete;
    const View& view() const { return view_; }
    void fill(std::mt19937& random) {
        for (std::int64_t i = 0; i < view_.rows; ++i) {
            for (std::int64_t j = 0; j < view_.cols; ++j) {
                set_element(view_.type, element_pointer(view_, i, j), static_cast<double>(random() % 3));
            }
        }
    }

private:
    std::byte* memory_ = nullptr;
    std::size_t total_ = 0;
    View view_;
};

#ifdef HEPTAD_REDUCED_TESTS
constexpr int kProducts = 60;
#else
constexpr int kProducts = 4000;
#endif

TEST(guard_pages, nothing_beyond_the_operands_is_touched) {
    std::mt19937 random(1);
    const auto pick = [&](int lowest, int highest) {
        return std::uniform_int_distribution<int>(lowest, highest)(random);
    };
    constexpr Type types[] = {Type::f32,     Type::f64,  Type::i32,  Type::i64, Type::gf2,
                              Type::boolean, Type::tf32, Type::bf16, Type::f16};
    constexpr const char* algorithms[] = {"winograd", "strassen", "2x2x3-11", "3x3x3-23", "alternative-basis"};
    for (int i = 0; i < kProducts; ++i) {
        const Type type = types[pick(0, 7)];
        const int most = pick(0, 9) == 0 ? 130 : 34;
        const std::int64_t m = pick(1, most);
        const std::int64_t k = pick(1, most);
        const std::int64_t n = pick(1, most);
        const Side side = pick(0, 1) == 0 ? Side::end : Side::start;
        EdgeMatrix a(type, m, k, pick(0, 1) == 0, side);
        EdgeMatrix b(type, k, n, pick(0, 1) == 0, side);
        EdgeMatrix c(type, m, n, pick(0, 1) == 0, side);
        a.fill(random);
        b.fill(random);
        c.fill(random);
        Options options;
        options.accuracy = Accuracy::fast;  // those levels, whatever the data is like
        options.algorithm = type == Type::boolean ? "auto" : algorithms[pick(0, 4)];
        options.levels = pick(0, 3);
        const double beta = pick(0, 1);
        ProductContext context;
        context.threads = pick(1, 2);
        double first = beta * get_element(type, element_pointer(c.view(), 0, 0));
        for (std::int64_t q = 0; q < k; ++q) {
            first +=
                get_element(type, element_pointer(a.view(), 0, q)) * get_element(type, element_pointer(b.view(), q, 0));
        }
        multiply_in_memory(1, a.view(), b.view(), beta, c.view(), options, context);
        if (type != Type::gf2 && type != Type::boolean && first < 256) {
            ASSERT_EQ(get_element(type, element_pointer(c.view(), 0, 0)), first)
                << m << "x" << k << "x" << n << " " << type_name(type) << " " << options.algorithm << " levels "
                << options.levels;
        }
    }
}

TEST(guard_pages, a_window_of_c_is_all_that_is_written) {
    std::mt19937 random(2);
    const auto pick = [&](int lowest, int highest) {
        return std::uniform_int_distribution<int>(lowest, highest)(random);
    };
    for (int i = 0; i < kProducts / 4; ++i) {
        const std::int64_t m = pick(1, 40);
        const std::int64_t k = pick(0, 40);
        const std::int64_t n = pick(1, 40);
        GuardedMatrix a(Type::i32, m, k, Layout::rows_padded);
        GuardedMatrix b(Type::i32, k, n, Layout::columns_padded);
        GuardedMatrix whole(Type::i32, m + 7, n + 9, pick(0, 1) == 0 ? Layout::rows : Layout::columns);
        a.fill_random(random);
        b.fill_random(random);
        whole.fill_random(random, 1000);
        GuardedMatrix expected = whole;
        Options options;
        options.accuracy = Accuracy::fast;  // those levels, whatever the data is like
        options.levels = pick(0, 3);
        const double beta = pick(-1, 1);
        for (std::int64_t r = 0; r < m; ++r) {
            for (std::int64_t s = 0; s < n; ++s) {
                double sum = beta * expected.get(3 + r, 5 + s);
                for (std::int64_t q = 0; q < k; ++q) {
                    sum += a.get(r, q) * b.get(q, s);
                }
                expected.set(3 + r, 5 + s, sum);
            }
        }
        multiply_in_memory(1, a.view(), b.view(), beta, block(whole.view(), 3, 5, m, n), options, {});
        ASSERT_TRUE(whole.equals_byte_for_byte(expected)) << m << "x" << k << "x" << n << " levels " << options.levels;
    }
}

}  // namespace
}  // namespace heptad::test

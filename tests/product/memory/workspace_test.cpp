// Scratch memory: the caller's and no other, as much as told, and a sentence when there is none.
#include "base/workspace.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <limits>
#include <random>
#include <vector>

#include "kernels/guarded_matrix.hpp"
#include "plan/search/level_layout.hpp"
#include "product/memory/product.hpp"

namespace heptad::test {
namespace {

Options forced(int levels, const std::string& mode = "auto") {
    Options options;
    options.accuracy = Accuracy::fast;  // those levels, whatever the data is like
    options.algorithm = "winograd";
    options.levels = levels;
    options.mode = mode;
    return options;
}

struct Operands {
    GuardedMatrix a, b, c, expected;
    explicit Operands(std::int64_t n, std::uint32_t seed = 1)
        : a(Type::i32, n, n, Layout::rows),
          b(Type::i32, n, n, Layout::rows),
          c(Type::i32, n, n, Layout::rows),
          expected(c) {
        std::mt19937 random(seed);
        a.fill_random(random);
        b.fill_random(random);
        multiply_in_memory(1, a.view(), b.view(), 0, expected.view(), forced(0), {});
    }
};

TEST(workspace, the_callers_memory_is_used_and_nothing_behind_it) {
    Operands x(96);
    for (const char* mode : {"serial", "parallel"}) {
        const ProductPlan plan = plan_product(96, 96, 96, Type::i32, forced(2, mode), {});
        ASSERT_EQ(plan.levels.size(), 2U);
        for (const std::int64_t shift : {0, 1, 16, 63}) {
            constexpr std::size_t kGuard = 256;
            std::vector<std::byte> memory(static_cast<std::size_t>(plan.workspace_bytes) + 64 + 2 * kGuard,
                                          std::byte{0x77});
            // From `first` the aligned part has exactly the bytes of the plan, wherever the vector lies.
            auto* first = memory.data() + kGuard;
            first += (64 - reinterpret_cast<std::uintptr_t>(first) % 64) % 64;
            ProductContext context;
            context.workspace = first + shift - (shift > 0 ? 64 : 0);
            context.workspace_bytes = plan.workspace_bytes + (shift > 0 ? 64 - shift : 0);
            const RunReport report =
                multiply_in_memory(1, x.a.view(), x.b.view(), 0, x.c.view(), forced(2, mode), context);
            EXPECT_TRUE(x.c.equals(x.expected)) << mode << " " << shift;
            EXPECT_EQ(report.workspace_used_bytes, plan.workspace_bytes) << mode << " " << shift;
            for (auto* byte = memory.data(); byte < first; ++byte) {
                ASSERT_EQ(*byte, std::byte{0x77}) << "before";
            }
            for (auto* byte = first + plan.workspace_bytes; byte < memory.data() + memory.size(); ++byte) {
                ASSERT_EQ(*byte, std::byte{0x77}) << "behind";
            }
            EXPECT_NE(std::count(first, first + plan.workspace_bytes, std::byte{0x77}), plan.workspace_bytes);
        }
    }
}

TEST(workspace, a_smaller_one_means_fewer_levels_and_none_the_classical_product) {
    Operands x(96);
    std::int64_t last_used = std::numeric_limits<std::int64_t>::max();
    const std::int64_t full = plan_product(96, 96, 96, Type::i32, forced(3), {}).workspace_bytes;
    std::vector<std::byte> memory(static_cast<std::size_t>(full) + 64);
    auto* aligned = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
    for (const std::int64_t bytes :
         {full, full / 2, full / 4, full / 8, full / 64, std::int64_t{63}, std::int64_t{0}}) {
        ProductContext context;
        context.workspace = aligned;
        context.workspace_bytes = bytes;
        const ProductPlan plan = plan_product(96, 96, 96, Type::i32, forced(3), context);
        EXPECT_LE(plan.workspace_bytes, bytes);
        EXPECT_LE(plan.workspace_bytes, last_used);
        last_used = plan.workspace_bytes;
        const RunReport report = multiply_in_memory(1, x.a.view(), x.b.view(), 0, x.c.view(), forced(3), context);
        EXPECT_LE(report.workspace_used_bytes, bytes);
        EXPECT_TRUE(x.c.equals(x.expected)) << bytes;
    }
    EXPECT_EQ(last_used, 0);
}

TEST(workspace, a_plan_that_needs_more_than_the_context_has_is_refused) {
    Operands x(64);
    const ProductPlan plan = plan_product(64, 64, 64, Type::i32, forced(2), {});
    std::vector<std::byte> memory(static_cast<std::size_t>(plan.workspace_bytes));
    ProductContext context;
    context.workspace = memory.data();
    context.workspace_bytes = plan.workspace_bytes - 64;
    const GuardedMatrix before = x.c;
    try {
        multiply_in_memory(1, x.a.view(), x.b.view(), 0, x.c.view(), plan, context);
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        EXPECT_NE(std::string(error.what()).find(std::to_string(plan.workspace_bytes)), std::string::npos);
    }
    EXPECT_TRUE(x.c.equals_byte_for_byte(before));
}

TEST(workspace, one_inside_an_operand_is_refused_before_anything_is_written) {
    Operands x(64);
    const ProductPlan plan = plan_product(64, 64, 64, Type::i32, forced(2), {});
    const GuardedMatrix a_before = x.a;
    const GuardedMatrix c_before = x.c;
    for (const View& operand : {x.a.view(), x.b.view(), x.c.view()}) {
        ProductContext context;
        context.workspace = operand.data;
        context.workspace_bytes = 64 * 64 * 4;
        EXPECT_THROW(multiply_in_memory(1, x.a.view(), x.b.view(), 0, x.c.view(), forced(2), context), Error);
        EXPECT_THROW(multiply_in_memory(1, x.a.view(), x.b.view(), 0, x.c.view(), plan, context), Error);
    }
    EXPECT_TRUE(x.a.equals_byte_for_byte(a_before));
    EXPECT_TRUE(x.c.equals_byte_for_byte(c_before));
}

TEST(workspace, a_limit_is_respected_down_to_zero) {
    Operands x(80);
    for (std::int64_t limit = 200000; limit > 0; limit = limit * 2 / 3) {
        Options options = forced(3);
        options.workspace_limit_bytes = limit;
        const RunReport report = multiply_in_memory(1, x.a.view(), x.b.view(), 0, x.c.view(), options, {});
        ASSERT_LE(report.workspace_used_bytes, limit);
        ASSERT_TRUE(x.c.equals(x.expected)) << limit;
    }
    Options options = forced(3);
    options.workspace_limit_bytes = 0;
    EXPECT_TRUE(plan_product(80, 80, 80, Type::i32, options, {}).levels.empty());
    EXPECT_EQ(multiply_in_memory(1, x.a.view(), x.b.view(), 0, x.c.view(), options, {}).workspace_used_bytes, 0);
}

#ifndef HEPTAD_REDUCED_TESTS  // the sanitizers reserve address space of their own

/// Runs `body` in a child process that may take `left` more bytes of address space; its result is the exit status.
template <class Body>
int in_address_space(std::int64_t left, const Body& body) {
    const pid_t child = fork();
    if (child == 0) {
        release_kept_workspace();
        long pages = 0;
        if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
            if (std::fscanf(file, "%ld", &pages) != 1) {
                _exit(10);
            }
            std::fclose(file);
        }
        const auto most =
            static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + static_cast<rlim_t>(left);
        const rlimit limit{most, RLIM_INFINITY};
        if (setrlimit(RLIMIT_AS, &limit) != 0) {
            _exit(11);
        }
        int result = 12;
        try {
            result = body();
        } catch (const std::exception& problem) {
            std::fprintf(stderr, "%s\n", problem.what());
        }
        _exit(result);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Little address space is left: no workspace is to be had any more, but the leaves have their packing memory already.
constexpr std::int64_t kLittle = 1 << 20;

TEST(workspace, a_product_without_memory_for_its_workspace_leaves_c_untouched) {
    Operands x(1024);
    const ProductPlan plan = plan_product(1024, 1024, 1024, Type::i32, forced(2, "parallel"), {});
    ASSERT_GT(plan.workspace_bytes, 8 << 20);
    const GuardedMatrix before = x.c;
    EXPECT_EQ(in_address_space(kLittle,
                               [&] {
                                   try {
                                       multiply_in_memory(1, x.a.view(), x.b.view(), 0, x.c.view(), plan, {});
                                   } catch (const Error& error) {
                                       const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
                                       setrlimit(RLIMIT_AS, &none);
                                       return error.code() != ErrorCode::resource ? 1
                                              : x.c.equals_byte_for_byte(before)  ? 0
                                                                                  : 2;
                                   }
                                   return 3;
                               }),
              0);
}

TEST(workspace, a_product_by_options_makes_do_with_what_there_is) {
    Operands x(1024);
    ProductContext one;
    one.threads = 1;  // a child of a fork has no other
    for (const double beta : {0.0, 1.0}) {
        multiply_in_memory(1, x.a.view(), x.b.view(), 0, x.c.view(), forced(0), one);
        multiply_in_memory(1, x.a.view(), x.b.view(), 0, x.expected.view(), forced(0), one);
        multiply_in_memory(1, x.a.view(), x.b.view(), beta, x.expected.view(), forced(0), one);
        const Options options = forced(2, "parallel");
        ASSERT_GT(plan_product(1024, 1024, 1024, Type::i32, options, one).workspace_bytes, 8 << 20);
        EXPECT_EQ(in_address_space(kLittle,
                                   [&] {
                                       ProductPlan used;
                                       multiply_in_memory(1, x.a.view(), x.b.view(), beta, x.c.view(), options, one,
                                                          &used);
                                       return used.workspace_bytes > kLittle ? 1 : x.c.equals(x.expected) ? 0 : 2;
                                   }),
                  0)
            << beta;
    }
}

#endif

}  // namespace
}  // namespace heptad::test

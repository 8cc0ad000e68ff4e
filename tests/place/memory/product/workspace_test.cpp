// Scratch memory: the caller's and no other, as much as told, and a sentence when there is none.
#include "place/memory/workspace.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "backend/guarded_matrix.hpp"
#include "place/memory/product.hpp"
#include "plan/level_layout.hpp"

namespace heptad::test {
namespace {

Options forced(int levels, const std::string& mode = "auto") {
    Options options;
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

TEST(workspace, blocks_are_aligned_kept_and_freed) {
    void* first = nullptr;
    {
        const Workspace workspace(1000);
        first = workspace.data();
        ASSERT_NE(first, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % static_cast<std::uintptr_t>(kWorkspaceAlignment), 0U);
        std::memset(first, 1, 1000);
        const Workspace other(1000);
        EXPECT_NE(other.data(), first);
    }
    EXPECT_EQ(Workspace(0).data(), nullptr);
    {
        const Workspace a(100);
        const Workspace b(100);
        EXPECT_TRUE(a.data() == first || b.data() == first);
    }
    release_kept_workspace();
    const Workspace after(100);
    EXPECT_NE(after.data(), nullptr);
}

TEST(workspace, memory_that_cannot_be_had_is_an_error_of_resources) {
    for (const std::int64_t bytes : {std::int64_t{1} << 60, std::int64_t{1} << 50}) {
        try {
            const Workspace workspace(bytes);
            FAIL() << "got " << bytes;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::resource);
            EXPECT_NE(std::string(error.what()).find(std::to_string(bytes)), std::string::npos);
        }
    }
}

#ifndef HEPTAD_REDUCED_TESTS  // the sanitizers reserve address space of their own

TEST(workspace, a_product_without_memory_for_its_workspace_leaves_c_untouched) {
    release_kept_workspace();
    Operands x(2048 / 2);
    const ProductPlan plan = plan_product(1024, 1024, 1024, Type::i32, forced(2, "parallel"), {});
    ASSERT_GT(plan.workspace_bytes, 8 << 20);
    const pid_t child = fork();
    if (child == 0) {
        const GuardedMatrix before = x.c;
        release_kept_workspace();
        long pages = 0;
        if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
            if (std::fscanf(file, "%ld", &pages) != 1) {
                _exit(10);
            }
            std::fclose(file);
        }
        const auto used = static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
        const rlimit limit{used + (1 << 20), used + (1 << 20)};
        if (setrlimit(RLIMIT_AS, &limit) != 0) {
            _exit(11);
        }
        try {
            multiply_in_memory(1, x.a.view(), x.b.view(), 0, x.c.view(), plan, {});
        } catch (const Error& error) {
            const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
            setrlimit(RLIMIT_AS, &none);
            _exit(error.code() != ErrorCode::resource ? 12 : x.c.equals_byte_for_byte(before) ? 0 : 13);
        } catch (...) {
            _exit(14);
        }
        _exit(15);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "status " << status << ", exit " << WEXITSTATUS(status);
}

#endif

}  // namespace
}  // namespace heptad::test

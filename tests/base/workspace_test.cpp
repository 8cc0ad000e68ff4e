// Scratch memory: kept, bounded and given back, and taken only where it is really free.
#include "base/workspace.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/free_memory.hpp"

namespace heptad::test {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

TEST(workspace, blocks_are_aligned_kept_and_freed) {
    void* first = nullptr;
    {
        const Workspace workspace(1000);
        first = workspace.data();
        ASSERT_NE(first, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 4096, 0U);
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
    EXPECT_GT(kept_workspace_bytes(), 0);
    release_kept_workspace();
    EXPECT_EQ(kept_workspace_bytes(), 0);
    const Workspace after(100);
    EXPECT_NE(after.data(), nullptr);
}

TEST(workspace, one_that_is_moved_is_given_back_once) {
    release_kept_workspace();
    {
        Workspace a(3 * kMiB);
        void* const data = a.data();
        Workspace b = std::move(a);
        EXPECT_EQ(b.data(), data);
        b = Workspace(5 * kMiB);
        EXPECT_EQ(kept_workspace_bytes(), 4 * kMiB);  // in whole huge pages
    }
    EXPECT_EQ(kept_workspace_bytes(), 10 * kMiB);
    release_kept_workspace();
}

TEST(workspace, memory_that_cannot_be_had_is_an_error_of_resources) {
    for (const std::int64_t bytes : {std::int64_t{1} << 60, std::int64_t{1} << 50, std::int64_t{0x7fffffffffffffff}}) {
        try {
            const Workspace workspace(bytes);
            FAIL() << "got " << bytes;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::resource);
            EXPECT_NE(std::string(error.what()).find(std::to_string(bytes)), std::string::npos);
        }
    }
}

TEST(workspace, few_blocks_are_kept_and_little_of_what_is_free) {
    release_kept_workspace();
    {
        std::vector<Workspace> many;
        for (int i = 0; i < 40; ++i) {
            many.emplace_back(2 * kMiB);
        }
    }
    EXPECT_LE(kept_workspace_bytes(), 12 * kMiB);
    EXPECT_GT(kept_workspace_bytes(), 0);
    release_kept_workspace();
    const std::int64_t free = free_memory_bytes();
    { const Workspace most(free / 2); }  // never touched
    EXPECT_EQ(kept_workspace_bytes(), 0);
    {
        const Workspace a(free / 6);
        const Workspace b(free / 6);
    }
    EXPECT_LE(kept_workspace_bytes(), free / 4 + 64 * kMiB);
    release_kept_workspace();
}

TEST(workspace, what_nobody_borrowed_for_a_while_is_given_back) {
    release_kept_workspace();
    { const Workspace workspace(4 * kMiB); }
    release_idle_workspace(std::chrono::hours(1));
    EXPECT_EQ(kept_workspace_bytes(), 4 * kMiB);
    const Workspace lent(4 * kMiB);
    { const Workspace other(6 * kMiB); }
    release_idle_workspace(std::chrono::nanoseconds(-1));
    EXPECT_EQ(kept_workspace_bytes(), 0);
    std::memset(lent.data(), 1, 4 * kMiB);  // what is borrowed stays
}

TEST(workspace, the_share_of_what_is_free_is_a_power_of_two_and_less_than_half) {
    EXPECT_EQ(workspace_share(0), 0);
    EXPECT_EQ(workspace_share(-1), 0);
    EXPECT_EQ(workspace_share(60 * kMiB), 0);
    std::int64_t last = 0;
    for (std::int64_t free = 65 * kMiB; free < std::int64_t{1} << 45; free += free / 7) {
        const std::int64_t share = workspace_share(free);
        EXPECT_LE(share, free / 2);
        EXPECT_GE(share, last);
        EXPECT_TRUE(share == 0 || std::has_single_bit(static_cast<std::uint64_t>(share)));
        last = share;
    }
    EXPECT_GT(last, std::int64_t{1} << 42);
    EXPECT_EQ(workspace_share(184 * kMiB), 32 * kMiB);  // beside 216 MB in 400 MB
}

TEST(workspace, more_than_the_share_is_refused_with_what_could_be_had) {
    release_kept_workspace();
    std::int64_t limit = -1;
    Workspace workspace;
    EXPECT_FALSE(workspace.try_take(std::int64_t{1} << 46, {}, limit));
    EXPECT_EQ(workspace.data(), nullptr);
    EXPECT_LE(limit, free_memory_bytes() / 2 + 64 * kMiB);
    ASSERT_GE(limit, kMiB) << "this machine has no memory to test with";
    EXPECT_EQ(room_for_workspace(limit / 2, {}), limit / 2);
    std::int64_t untouched = -1;
    EXPECT_TRUE(workspace.try_take(limit / 2, {}, untouched));
    EXPECT_NE(workspace.data(), nullptr);
    EXPECT_EQ(untouched, -1);
}

TEST(workspace, what_was_lent_and_not_touched_yet_counts_as_taken) {
    release_kept_workspace();
    const std::int64_t room = room_for_workspace(std::int64_t{1} << 46, {});
    const Workspace first(room), second(room);
    EXPECT_LT(room_for_workspace(std::int64_t{1} << 46, {}), room);
}

TEST(workspace, pages_of_the_result_that_are_still_to_come_count_as_taken) {
    release_kept_workspace();
    const std::int64_t room = room_for_workspace(std::int64_t{1} << 46, {}), bytes = 2 * room;
    void* const memory = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    EXPECT_LT(room_for_workspace(std::int64_t{1} << 46, byte_range({memory, Type::boolean, 1, bytes, bytes, 1})), room);
    munmap(memory, static_cast<std::size_t>(bytes));
}

TEST(workspace, a_kept_block_is_taken_again_without_asking) {
    release_kept_workspace();
    void* first = nullptr;
    {
        Workspace workspace;
        std::int64_t limit = 0;
        ASSERT_TRUE(workspace.try_take(8 * kMiB, {}, limit));
        first = workspace.data();
        std::memset(first, 1, 8 * kMiB);
    }
    Workspace again;
    std::int64_t limit = 0;
    ASSERT_TRUE(again.try_take(8 * kMiB, {}, limit));
    EXPECT_EQ(again.data(), first);
}

#ifndef HEPTAD_REDUCED_TESTS  // the sanitizers reserve address space of their own

std::int64_t address_space_bytes() {
    long pages = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%ld", &pages) != 1) {
            pages = 0;
        }
        std::fclose(file);
    }
    return pages * sysconf(_SC_PAGESIZE);
}

TEST(workspace, a_refused_mapping_lowers_the_limit_until_it_fits_or_is_none) {
    for (const std::int64_t left : {0 * kMiB, 3 * kMiB, 40 * kMiB, 700 * kMiB}) {
        const pid_t child = fork();
        if (child == 0) {
            release_kept_workspace();
            const auto most = static_cast<rlim_t>(address_space_bytes() + left);
            const rlimit limit{most, most};
            setrlimit(RLIMIT_AS, &limit);
            Workspace workspace;
            std::int64_t bytes = 1024 * kMiB;
            for (std::int64_t lower = 0; bytes > 0 && !workspace.try_take(bytes, {}, lower); bytes = lower) {
                if (lower >= bytes) {
                    _exit(1);
                }
            }
            if (bytes > 0) {
                std::memset(workspace.data(), 1, static_cast<std::size_t>(bytes));
            }
            _exit(bytes <= left && (left < 700 * kMiB || bytes > 0) ? 0 : 2);
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << left << ": status " << status;
    }
}

#endif

}  // namespace
}  // namespace heptad::test

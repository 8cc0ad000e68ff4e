// One holder at a time, over threads and processes, and nothing left behind.
#include "base/file_lock.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <thread>
#include <vector>

namespace heptad {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLong{60000}, kShort{50};

class file_lock : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "heptad-lock-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        path_ = (folder_ / "x.lock").string();
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::filesystem::path folder_;
    std::string path_;
};

TEST_F(file_lock, a_second_one_waits_and_gives_up) {
    {
        const FileLock held(path_, kLong);
        EXPECT_EQ(held.error(), 0);
        const FileLock second(path_, kShort);
        EXPECT_EQ(second.error(), EWOULDBLOCK);
        EXPECT_TRUE(second.was_opened());
    }
    EXPECT_FALSE(std::filesystem::exists(path_));
    EXPECT_EQ(FileLock(path_, kShort).error(), 0);
}

TEST_F(file_lock, only_one_of_many_threads_holds_it) {
    std::atomic<int> inside{0}, most{0}, failures{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < 20; ++round) {
                const FileLock lock(path_, kLong);
                failures += lock.error() != 0 ? 1 : 0;
                const int now = ++inside;
                most = std::max(most.load(), now);
                --inside;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(most, 1);
    EXPECT_EQ(failures, 0);
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(file_lock, one_whose_holder_was_killed_can_be_taken) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        const FileLock lock(path_, kLong);
        const char held = lock.error() == 0 ? 'y' : 'n';
        if (write(pipe_ends[1], &held, 1) == 1) {
            pause();
        }
        _exit(0);
    }
    char held = 0;
    ASSERT_EQ(::read(pipe_ends[0], &held, 1), 1);
    EXPECT_EQ(held, 'y');
    EXPECT_EQ(FileLock(path_, kShort).error(), EWOULDBLOCK);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(FileLock(path_, kLong).error(), 0);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

TEST_F(file_lock, a_place_that_cannot_be_written_is_told) {
    const FileLock lock((folder_ / "nowhere" / "x.lock").string(), kLong);
    EXPECT_EQ(lock.error(), ENOENT);
    EXPECT_FALSE(lock.was_opened());
}

}  // namespace
}  // namespace heptad

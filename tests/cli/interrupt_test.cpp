// A signal ends a run with exit code 130 and leaves nothing behind; a long run shows its progress.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <csignal>

#include <chrono>
#include <thread>

#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

class Interrupt : public HeptadProcess {
protected:
    /// Long enough to be hit by a signal on any machine: the reference backend multiplies by plain loops.
    void SetUp() override {
        HeptadProcess::SetUp();
        heptad_ok({"gen", "uniform", "--shape", "1500x1500", "--seed", "1", "-o", "A.npy"});
    }
    std::vector<std::string> long_product() {
        return {"mul", "A.npy", "A.npy", "-o", "C.npy", "--device", "reference", "--levels", "2"};
    }
};

TEST_F(Interrupt, signal_exits_130_and_leaves_no_output) {
    for (const int number : {SIGINT, SIGTERM}) {
        for (const int delay_ms : {0, 30, 300}) {
            SCOPED_TRACE(delay_ms);
            const auto before = folder_contents();
            const Outcome outcome = heptad(long_product(), [&](int process) {
                // At least long enough for the program to have installed its handlers.
                std::this_thread::sleep_for(std::chrono::milliseconds(100 + delay_ms));
                kill(process, number);
            });
            EXPECT_EQ(outcome.exit_code, 130) << outcome.out << outcome.err;
            EXPECT_EQ(outcome.err.substr(outcome.err.rfind("heptad: ")).find('\n') + 1,
                      outcome.err.size() - outcome.err.rfind("heptad: "))
                << outcome.err;
            EXPECT_TRUE(folder_contents() == before);
        }
    }
}

TEST_F(Interrupt, one_signal_ends_a_run_that_waits_for_a_pipe) {
    ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
    for (const bool opened : {false, true}) {
        // Opened, it is full soon, and nobody reads from it.
        const int reader = opened ? open((folder_ / "pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
        const Outcome outcome = heptad({"gen", "uniform", "--shape", "500x500", "-o", "pipe"}, [](int process) {
            std::this_thread::sleep_for(std::chrono::milliseconds(700));
            kill(process, SIGTERM);
            std::this_thread::sleep_for(std::chrono::milliseconds(2000));
            kill(process, SIGKILL);  // a run that waits on fails the test, and does not hold it up
        });
        close(reader);
        EXPECT_EQ(outcome.exit_code, 130) << opened;
        EXPECT_NE(outcome.err.find("cancelled while working on 'pipe'"), std::string::npos) << outcome.err;
    }
}

TEST_F(Interrupt, json_mode_reports_the_interrupt) {
    std::vector<std::string> words = long_product();
    words.emplace_back("--json");
    const Outcome outcome = heptad(words, [](int process) {
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
        kill(process, SIGINT);
    });
    EXPECT_EQ(outcome.exit_code, 130);
    EXPECT_EQ(nlohmann::json::parse(outcome.out, nullptr, false)["code"], 130);
}

TEST_F(Interrupt, long_run_shows_plain_lines_of_progress) {
    // Stopped once it has run long enough to say something.
    const Outcome outcome = heptad(long_product(), [](int process) {
        std::this_thread::sleep_for(std::chrono::milliseconds(4000));
        kill(process, SIGINT);
    });
    if (outcome.exit_code == 130) {
        EXPECT_NE(outcome.err.find("multiply"), std::string::npos) << outcome.err;
        EXPECT_NE(outcome.err.find(" %"), std::string::npos) << outcome.err;
        EXPECT_EQ(outcome.err.find('\r'), std::string::npos) << outcome.err;
    } else {
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;  // a machine that is done in four seconds
    }
}

}  // namespace
}  // namespace heptad::testing

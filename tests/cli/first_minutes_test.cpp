// What somebody sees who starts heptad for the first time: the screen without words, and the hint to measure.
#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

using Welcome = HeptadProcess;

TEST_F(Welcome, without_words_a_short_screen_says_how_to_go_on) {
    const Outcome started = heptad({});
    EXPECT_EQ(started.exit_code, 2);
    EXPECT_EQ(started.err, "") << "the screen says it all";
    for (const char* word : {"heptad mul A.npy B.npy -o C.npy", "heptad gen", "heptad plan", "heptad tune", "--help"}) {
        EXPECT_TRUE(contains(started.out, word)) << word << " is not in\n" << started.out;
    }
    EXPECT_LE(std::count(started.out.begin(), started.out.end(), '\n'), 12) << started.out;
}

TEST_F(Welcome, every_command_on_the_screen_is_one) {
    const std::string screen = heptad({}).out, help = heptad_ok({"--help"});
    const std::string begin = "  heptad ";
    int commands = 0;
    for (std::size_t at = screen.find(begin); at != std::string::npos; at = screen.find(begin, at + 1)) {
        const std::size_t word = at + begin.size();
        const std::string name = screen.substr(word, screen.find(' ', word) - word);
        EXPECT_TRUE(contains(help, "  " + name + " ")) << name;
        ++commands;
    }
    EXPECT_GE(commands, 4);
}

TEST_F(Welcome, options_without_a_command_are_still_answered_by_a_sentence) {
    EXPECT_TRUE(contains(heptad_fails(2, {"--json"}), "--json"));
}

/// With a cache of its own, where this machine was never measured.
class TuneHint : public HeptadProcess {
protected:
    void SetUp() override {
        HeptadProcess::SetUp();
        const char* const before = std::getenv("XDG_CACHE_HOME");
        before_ = before != nullptr ? before : "";
        setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
        heptad({"gen", "uniform", "--shape", side + "x" + side, "--type", "f64", "-o", "A.npy"});
    }
    void TearDown() override {
        before_.empty() ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", before_.c_str(), 1);
        HeptadProcess::TearDown();
    }
    Outcome multiply(const std::vector<std::string>& more) {
        std::vector<std::string> words{"mul", "A.npy", "A.npy", "-o", "C.npy", "--threads", "1"};
        words.insert(words.end(), more.begin(), more.end());
        return heptad(words);
    }

    const std::string side = "2560";  // long enough for a sentence on one core of any processor
    std::string before_;
};

TEST_F(TuneHint, a_long_product_suggests_tune_once_and_only_to_people) {
    const auto hinted = [](const Outcome& outcome) { return contains(outcome.err, "'heptad tune'"); };
    EXPECT_FALSE(hinted(multiply({"--json"})));
    EXPECT_FALSE(hinted(multiply({"--levels", "0"}))) << "a product that nobody planned";
    const Outcome first = multiply({});
    EXPECT_EQ(first.exit_code, 0);
    EXPECT_TRUE(hinted(first)) << first.out << first.err;
    EXPECT_FALSE(contains(first.out, "hint")) << first.out;
    EXPECT_FALSE(hinted(multiply({})));
}

TEST_F(HeptadProcess, a_short_product_suggests_nothing_even_with_an_empty_cache) {
    const char* const before = std::getenv("XDG_CACHE_HOME");
    const std::string kept = before != nullptr ? before : "";
    setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
    write_matrix("A.npy", integers(64, 64, 1));
    heptad_ok({"mul", "A.npy", "A.npy", "-o", "C.npy"});
    kept.empty() ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", kept.c_str(), 1);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "cache"));
}

}  // namespace
}  // namespace heptad::testing

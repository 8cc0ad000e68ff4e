// Nothing that a product uses is destroyed at exit, or guarded by what does not survive a fork: variables that live as
// long as the process are plain constants, atomics, or made of base/shared_state.hpp. Read from the sources.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace heptad {
namespace {

bool is_allowed(const std::string& line) {
    static const std::regex lasting(R"(^\s*(static|thread_local)\s.*)");
    static const std::regex plain(
        R"(^\s*static (constexpr|constinit|thread_local constinit)\b.*|^\s*thread_local constinit\b.*|.*\bstd::atomic<.*)"
        R"(|^\s*static [A-Za-z:]+\* const [a-z_]+ = .*)");
    static const std::regex function(R"(^\s*static [^=;{]*\(.*)");
    static const std::regex at_namespace(
        R"(^(const |inline )*std::(mutex|map|vector|string|set|list|deque|unique_ptr|shared_ptr|function|optional)\b[^(]*;.*)");
    if (std::regex_match(line, at_namespace)) {
        return false;
    }
    return !std::regex_match(line, lasting) || std::regex_match(line, plain) || std::regex_match(line, function);
}

TEST(statics, rule_knows_good_from_bad) {
    for (const char* bad :
         {"    static std::mutex mutex;", "    static const std::vector<Leaf> leaves = find_leaves();",
          "    static std::map<int, std::unique_ptr<ThreadPool>> pools;", "thread_local std::string last_error;",
          "    static const Libraries all;", "std::mutex mutex;",
          "    thread_local std::array<RecentPlan, 16> recent;"}) {
        EXPECT_FALSE(is_allowed(bad)) << bad;
    }
    for (const char* good :
         {"    static constinit Once<CpuInfo> info;", "    static constexpr int most = 3;",
          "static int helper(int x) {", "    static CpuSet make(int threads);",
          "    static constinit std::atomic<bool> watching{false};", "    static auto* const store = new Store;",
          "    std::mutex mutex;", "    return static_cast<int>(x);"}) {
        EXPECT_TRUE(is_allowed(good)) << good;
    }
}

TEST(statics, of_the_library_outlive_everything) {
    // Known, and no harm: the first is set when a call failed, the second is a pointer.
    const std::vector<std::string> known = {
        "thread_local std::string last_error;", "    static const EncodeTiled encode = find_encoder();",
        "    static CrewPlace shared_crew_;", "        static thread_local const struct Keeper {"};
    int files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(HEPTAD_SOURCE_DIR "/src")) {
        const std::string suffix = entry.path().extension().string();
        if (suffix != ".cpp" && suffix != ".hpp" && suffix != ".cu" && suffix != ".cuh") {
            continue;
        }
        ++files;
        std::ifstream file(entry.path());
        int number = 0;
        for (std::string line; std::getline(file, line);) {
            ++number;
            const std::string code = line.substr(0, line.find("//"));
            if (std::find(known.begin(), known.end(), line) == known.end()) {
                EXPECT_TRUE(is_allowed(code)) << entry.path().string() << ":" << number << ": " << line
                                              << "\nmake it constexpr, or Once, Guarded or per_thread";
            }
        }
    }
    EXPECT_GT(files, 100);
}

}  // namespace
}  // namespace heptad

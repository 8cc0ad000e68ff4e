// heptad bench torch, with scripts in the place of Python: what is told where something is missing, and what becomes of
// the results. PyTorch itself is measured where it is installed.
#include <sys/stat.h>

#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

class BenchTorch : public HeptadProcess {
protected:
    /// HEPTAD_PYTHON is a shell script of these lines; $1 is -c where the packages are asked for.
    void set_python(const std::string& lines) {
        const std::string path = (folder_ / "python").string();
        write("python", "#!/bin/sh\n" + lines);
        ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
        ::setenv("HEPTAD_PYTHON", path.c_str(), 1);
    }
    void TearDown() override {
        ::unsetenv("HEPTAD_PYTHON");
        HeptadProcess::TearDown();
    }
};

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST_F(BenchTorch, what_is_missing_is_told_and_exits_4) {
    ::setenv("HEPTAD_PYTHON", "no-such-python", 1);
    EXPECT_TRUE(contains(heptad_fails(4, {"bench", "torch"}), "no-such-python does not run"));
    set_python("exit 10\n");
    EXPECT_TRUE(contains(heptad_fails(4, {"bench", "torch"}), "has no package heptad; install it"));
    set_python("exit 11\n");
    EXPECT_TRUE(contains(heptad_fails(4, {"bench", "torch"}), "has no PyTorch; install it"));
}

TEST_F(BenchTorch, words_are_passed_on_and_results_written) {
    set_python(R"([ "$1" = -c ] && exit 0
while [ "$1" != --json ]; do echo "$1"; shift; done
echo '{"machine": {"device": "cpu", "libraries": [{"name": "torch", "version": "9"}], "python": "3",
"float32_matmul_precision": "highest"}, "results": [{"suite": "torch", "type": "f32", "m": 8, "k": 8, "n": 8,
"device": "cpu", "vendor": "torch", "vendor_s": 2.0, "heptad_s": 1.0, "ratio": 2.0, "error": 0, "vendor_error": 0,
"effective_tops": 1, "workspace_bytes": 0, "plan": "", "accuracy": "fast", "variant": "mm"}]}' > "$2"
)");
    const std::string out = heptad_ok({"bench", "torch", "--cases", "mm", "--types", "f32", "--sizes", "8",
                                       "--accuracy", "fast", "--quick", "--json", "r.json", "--html", "r.html"});
    EXPECT_TRUE(
        contains(out, "-m\nheptad.bench_torch\n--cases\nmm\n--types\nf32\n--sizes\n8\n--accuracy\nfast\n--quick"));
    EXPECT_TRUE(contains(out, "results: r.json, r.html"));
    const nlohmann::json content = nlohmann::json::parse(read("r.json"));
    EXPECT_EQ(content["results"][0]["ratio"], 2.0);
    EXPECT_EQ(content["machine"]["libraries"][0]["name"], "torch");
    EXPECT_TRUE(contains(content["machine"]["command"], "heptad bench torch --cases mm"));
    EXPECT_TRUE(contains(read("r.html"), "torch"));
}

TEST_F(BenchTorch, failures_of_the_other_half_are_failures) {
    set_python("[ \"$1\" = -c ] && exit 0\nexit 4\n");
    heptad_fails(4, {"bench", "torch"});
    set_python("[ \"$1\" = -c ] && exit 0\nexit 1\n");
    heptad_fails(1, {"bench", "torch"});
    set_python("[ \"$1\" = -c ] && exit 0\nexit 0\n");
    EXPECT_TRUE(contains(heptad_fails(1, {"bench", "torch", "--json", "r.json"}), "left no results"));
}

}  // namespace
}  // namespace heptad::testing

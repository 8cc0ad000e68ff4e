// The words of heptad bench: help, order of the commands, what is refused.
#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

using BenchWords = HeptadProcess;

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST_F(BenchWords, help_lists_every_suite_in_order_and_an_example_each) {
    const std::string help = heptad_ok({"--help"}), suites = heptad_ok({"bench", "--help"});
    EXPECT_LT(help.find("\n  tune "), help.find("\n  report ")) << help;
    EXPECT_LT(help.find("\n  report "), help.find("\n  bench ")) << help;
    EXPECT_TRUE(contains(heptad_ok({"report", "--help"}), "Example: heptad report"));
    EXPECT_TRUE(contains(suites, "Example: heptad bench")) << suites;
    std::size_t last = 0;
    for (const char* suite : {"cpu", "gpu", "bits", "devices", "p0", "p1", "p3", "model", "files", "torch"}) {
        const std::size_t place = suites.find(std::string("\n  ") + suite + " ");
        EXPECT_TRUE(place != std::string::npos && place > last) << suite << suites;
        last = place;
        const std::string own = heptad_ok({"bench", suite, "--help"});
        EXPECT_TRUE(contains(own, "--json F") && contains(own, "--html F")) << own;
        EXPECT_TRUE(contains(own, std::string("Example: heptad bench ") + suite)) << own;
    }
    EXPECT_TRUE(contains(heptad_ok({"bench", "cpu", "--help"}), "--sizes"));
    for (const char* suite : {"cpu", "gpu", "devices"}) {
        EXPECT_TRUE(contains(heptad_ok({"bench", suite, "--help"}), "balanced (default")) << suite;
    }
}

TEST_F(BenchWords, without_a_suite_cpu_is_meant) {
    EXPECT_TRUE(contains(heptad_fails(2, {"bench", "--sizes", "much"}), "'much'"));
    EXPECT_TRUE(contains(heptad_fails(2, {"bench", "--frobnicate"}), "see 'heptad bench cpu --help'"));
}

TEST_F(BenchWords, a_size_that_is_none_is_quoted_with_what_sizes_look_like) {
    for (const char* word : {"x", "0", "-8", "64,", "64x64", "64x0x64", "64x64x64x64", "8x8x", "4k"}) {
        const std::string said = heptad_fails(2, {"bench", "cpu", "--sizes", std::string("32,") + word});
        EXPECT_TRUE(contains(said, "--sizes takes n or MxKxN, each at least 1, such as 2048,1024x512x2048, not '"))
            << said;
        EXPECT_TRUE(contains(said, word == std::string("64,") ? "not ''" : std::string("not '") + word + "'")) << said;
    }
}

TEST_F(BenchWords, wrong_usage_exits_2) {
    const std::vector<std::vector<std::string>> lines{
        {"bench", "nothing"},
        {"bench", "cpu", "--sizes", "0"},
        {"bench", "cpu", "--types", "gf2"},
        {"bench", "gpu", "--types", "gf2"},
        {"bench", "gpu", "--types", "f32,"},
        {"bench", "gpu", "--sizes", "0"},
        {"bench", "devices", "--density", "0"},
        {"bench", "gpu", "--shapes", "4096"},
        {"bench", "gpu", "--shapes", "1x0x1"},
        {"bench", "gpu", "--accuracy", "exactly"},
        {"bench", "gpu", "--rounds", "0"},
        {"bench", "gpu", "--rounds", "many"},
        {"bench", "gpu", "--device", "cpu"},
        {"bench", "gpu", "--device", "cuda:-1"},
        {"bench", "gpu", "--threads", "2"},
        {"bench", "cpu", "--data", "steep"},
        {"bench", "cpu", "--data", "lines", "--types", "f64,i32"},
        {"bench", "gpu", "--data", "inner", "--types", "bf16"},
        {"bench", "torch", "--types", "i32"},
        {"bench", "torch", "--cases", "sum"},
        {"bench", "torch", "--sizes", "4x5x6"},
        {"bench", "torch", "--width", "64"},
    };
    for (const auto& words : lines) {
        SCOPED_TRACE(words[1] + " " + words.back());
        heptad_fails(2, words);
    }
}

TEST_F(BenchWords, files_that_do_not_fit_or_cannot_be_written_exit_3) {
    write_matrix("A.npy", integers(8, 6, 1));
    write_matrix("B.npy", integers(6, 5, 2));
    heptad_fails(3, {"bench", "files", "A.npy", "A.npy", "-o", "C.npy"});
    heptad_fails(3, {"bench", "files", "A.npy", "B.npy", "-o", "nowhere/C.npy"});
    heptad_fails(3, {"bench", "cpu", "--quick", "--sizes", "4", "--json", "nowhere/r.json"});
}

}  // namespace
}  // namespace heptad::testing

// The words of heptad bench model.
#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

using ModelWords = HeptadProcess;

TEST_F(ModelWords, wrong_usage_exits_2) {
    const std::vector<std::vector<std::string>> lines{
        {"bench", "model", "--types", "bf16"},
        {"bench", "model", "--sizes", "8x0x8"},
        {"bench", "model", "--device", "cpu"},
    };
    for (const auto& words : lines) {
        SCOPED_TRACE(words[1] + " " + words.back());
        heptad_fails(2, words);
    }
}

}  // namespace
}  // namespace heptad::testing

#include "algorithm/describe.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace heptad {
namespace {

std::string line_start(const std::string& name) {
    return fmt::format("\n{} ", name);
}

TEST(Describe, catalogue_has_a_line_for_every_shipped_algorithm_and_names_the_derived_ones) {
    const std::string text = describe_catalogue(false);
    for (const std::string& name : algorithm_names(false)) {
        EXPECT_NE(text.find(line_start(name)), std::string::npos) << name;
    }
    EXPECT_NE(text.find("3x2x2-11"), std::string::npos);
    const std::string all = describe_catalogue(true);
    for (const std::string& name : algorithm_names(true)) {
        EXPECT_NE(all.find(line_start(name)), std::string::npos) << name;
    }
}

TEST(Describe, entry_shows_facts_and_a_text_that_parses_back) {
    const CatalogueEntry& entry = find_algorithm("chaining");
    const std::string text = describe(entry);
    for (const char* part : {"3 + 3 + 6 = 12", "products can be chained", "types               gf2", "1,1,1,1,2,3,3"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part;
    }
    const std::size_t start = text.find("\n\nname ");
    ASSERT_NE(start, std::string::npos);
    EXPECT_EQ(parse_algorithm(text.substr(start), "described").u, entry.algorithm.u);
}

}  // namespace
}  // namespace heptad

// JSON from outside: what is no JSON or nests too deep is an Error, and what is right is read.
#include "base/json_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <heptad/heptad.hpp>

namespace heptad {
namespace {

std::string nested(int depth) {
    const auto count = static_cast<std::size_t>(depth);
    return std::string(count, '[') + std::string(count, ']');
}

TEST(json_text, nesting_is_allowed_up_to_the_limit_and_refused_beyond) {
    EXPECT_EQ(parse_json(nested(kDeepestJson)).dump(), nested(kDeepestJson));
    for (const int depth : {kDeepestJson + 1, 1000, 1000000}) {
        EXPECT_THROW(parse_json(nested(depth)), Error) << depth;
        EXPECT_THROW(parse_json(std::string(static_cast<std::size_t>(depth), '{')), Error) << depth;
    }
    std::string objects = "1";
    for (int depth = 0; depth <= kDeepestJson; ++depth) {
        objects = "{\"a\":" + objects + "}";
    }
    EXPECT_THROW(parse_json(objects), Error);
    EXPECT_EQ(parse_json(R"({"a": "[[[[", "b": [1, {"c": null}]})")["b"][1]["c"], nullptr);
}

TEST(json_text, brackets_in_words_are_no_nesting) {
    EXPECT_EQ(parse_json('"' + std::string(1000, '[') + '"').get<std::string>().size(), 1000U);
}

TEST(json_text, what_is_no_json_is_an_input_error) {
    for (const char* text : {"", "{", "[1,]", "nonsense", "{\"a\":1}}", "\"\xff\""}) {
        try {
            parse_json(text);
            ADD_FAILURE() << text << " was read";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::input);
        }
    }
}

}  // namespace
}  // namespace heptad

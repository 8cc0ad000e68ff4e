// The .alg format: what it accepts, what it refuses, and that every refusal names the line.
#include <gtest/gtest.h>

#include <random>

#include "algorithm/algorithm.hpp"
#include "algorithm/catalogue.hpp"
#include "base/embedded.hpp"
#include "base/error.hpp"

namespace heptad {
namespace {

const std::string inner_product =
    "name dot          # two terms\n"
    "size 1 2 1\n"
    "rank 2\n"
    "ring Z\n"
    "source the definition\n"
    "products\n"
    "1 0 ; 1 0 ; 1\n"
    "\n"
    "0 1 ; 0 1 ; 1   # a12 b21\n";

bool equal(const Algorithm& x, const Algorithm& y) {
    const bool same_bases =
        x.basis.has_value() == y.basis.has_value() &&
        (!x.basis || (x.basis->phi == y.basis->phi && x.basis->psi == y.basis->psi && x.basis->chi == y.basis->chi));
    return x.name == y.name && x.m == y.m && x.k == y.k && x.n == y.n && x.ring == y.ring && x.source == y.source &&
           x.u == y.u && x.v == y.v && x.w == y.w && same_bases;
}

std::string message_of(const std::string& text) {
    try {
        parse_algorithm(text, "t.alg");
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::input);
        return error.what();
    }
    return "accepted";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

void expect_refused(const std::string& text, const std::string& position, const std::string& part) {
    const std::string message = message_of(text);
    EXPECT_TRUE(message.starts_with("t.alg:" + position + ": ")) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(AlgorithmText, hand_written_text_with_comments_is_read) {
    const Algorithm x = parse_algorithm(inner_product, "dot.alg");
    EXPECT_EQ(x.name, "dot");
    EXPECT_EQ(x.signature(), "<1,2,1>:2");
    EXPECT_EQ(x.source, "the definition");
    EXPECT_EQ(x.u, identity_matrix(2));
    EXPECT_EQ(prove(x), "");
}

TEST(AlgorithmText, windows_line_ends_and_tabs_are_read) {
    std::string text;
    for (const char c : inner_product) {
        text += c == '\n' ? "\r\n" : c == ' ' ? "\t" : std::string(1, c);
    }
    EXPECT_EQ(parse_algorithm(text, "dot.alg").u, identity_matrix(2));
}

TEST(AlgorithmText, print_of_every_shipped_and_derived_algorithm_parses_back_equal) {
    for (const std::string& name : algorithm_names(true)) {
        const Algorithm& x = find_algorithm(name).algorithm;
        EXPECT_TRUE(equal(parse_algorithm(print_algorithm(x), "printed"), x)) << name;
    }
    const Algorithm composed = compose(find_algorithm("strassen").algorithm, find_algorithm("2x2x3-11").algorithm);
    EXPECT_TRUE(equal(parse_algorithm(print_algorithm(composed), "printed"), composed));
}

TEST(AlgorithmText, unknown_and_misplaced_parts_are_refused_with_their_line) {
    expect_refused("colour red\n" + inner_product, "1", "'colour' is unknown");
    expect_refused(replaced(inner_product, "rank 2\n", "") + "rank 2\n", "5", "'products' must come after");
    expect_refused(replaced(inner_product, "products\n", "products 1\n"), "6", "stands alone");
    expect_refused(inner_product + "1 0 ; 1 0 ; 1\n", "10", "expected 'phi'");
}

TEST(AlgorithmText, missing_parts_are_refused) {
    expect_refused("", "1", "without 'name'");
    expect_refused("# nothing\n\n", "2", "without 'name'");
    for (const char* line : {"name dot          # two terms\n", "source the definition\n"}) {
        expect_refused(replaced(inner_product, line, ""), "8", "the text ends without");
    }
    for (const char* line : {"size 1 2 1\n", "rank 2\n", "ring Z\n"}) {
        expect_refused(replaced(inner_product, line, ""), "5", "must come after");
    }
}

TEST(AlgorithmText, repeated_parts_are_refused) {
    for (const char* line : {"name dot\n", "size 1 2 1\n", "rank 2\n", "ring Z\n", "source the definition\n"}) {
        expect_refused(inner_product + line, "10", "appears twice");
    }
    expect_refused(inner_product + "products\n", "10", "appears twice");
    const std::string phi = "phi\n1 0\n0 1\n";
    expect_refused(inner_product + phi + phi, "13", "'phi' appears twice");
}

TEST(AlgorithmText, wrong_counts_are_refused) {
    expect_refused(replaced(inner_product, "size 1 2 1", "size 1 2"), "2", "three numbers");
    expect_refused(replaced(inner_product, "1 0 ; 1 0 ; 1", "1 0 0 ; 1 0 ; 1"), "7", "the part of A needs 2 numbers");
    expect_refused(replaced(inner_product, "1 0 ; 1 0 ; 1", "1 0 ; 1 ; 1"), "7", "the part of B needs 2 numbers");
    expect_refused(replaced(inner_product, "1 0 ; 1 0 ; 1", "1 0 ; 1 0 ;"), "7", "the part of C needs 1 numbers");
    expect_refused(replaced(inner_product, "1 0 ; 1 0 ; 1", "1 0 ; 1 0"), "7", "three groups");
    expect_refused(replaced(inner_product, "1 0 ; 1 0 ; 1", "1 0 ; 1 0 ; 1 ; 1"), "7", "three groups");
    expect_refused(replaced(inner_product, "0 1 ; 0 1 ; 1", "#"), "9", "ends after 1 products; the rank is 2");
    expect_refused(replaced(inner_product, "rank 2", "rank 1"), "9", "after the 1 lines");
    expect_refused(inner_product + "phi\n1 0\n", "11", "ends after 1 of 2 rows of phi");
    expect_refused(inner_product + "phi\n1 0\n0 1\n", "12", "without 'psi'");
}

TEST(AlgorithmText, entries_outside_the_ring_are_refused) {
    const auto with = [](const std::string& ring, const std::string& entry) {
        return replaced(replaced(inner_product, "ring Z", "ring " + ring), "1 0 ; 1 0 ; 1", entry + " 0 ; 1 0 ; 1");
    };
    expect_refused(with("Z", "1/2"), "7", "not an element of the ring Z");
    expect_refused(with("Z[1/2]", "1/3"), "7", "not an element of the ring Z[1/2]");
    expect_refused(with("GF(2)", "-1"), "7", "not an element of the ring GF(2)");
    expect_refused(with("GF(2)", "2"), "7", "not an element of the ring GF(2)");
    expect_refused(with("R", "1"), "4", "the ring 'R' is unknown");
    EXPECT_EQ(message_of(with("Q", "1/3")), "accepted");
    EXPECT_EQ(message_of(with("Z[1/2]", "-3/4")), "accepted");
}

TEST(AlgorithmText, hostile_numbers_and_sizes_are_refused_before_anything_large_is_allocated) {
    for (const char* size : {"0 2 1", "-1 2 1", "1 65 1", "1 99999999999999999999 1", "1 2 1/2", "x 2 1"}) {
        expect_refused(replaced(inner_product, "size 1 2 1", std::string("size ") + size), "2", "integer from 1 to 64");
    }
    for (const char* rank : {"0", "-2", "4097", "2 2", "1e9"}) {
        expect_refused(replaced(inner_product, "rank 2", std::string("rank ") + rank), "3", "integer from 1 to 4096");
    }
    expect_refused(replaced(inner_product, "rank 2", "rank 3"), "6", "rank 3 is above 2");
    expect_refused(replaced(replaced(inner_product, "size 1 2 1", "size 64 64 64"), "rank 2", "rank 4096"), "6",
                   "too short for the 50331648 numbers");
    for (const char* entry : {"1000001", "1/1048576", "nan", "1.0", "1/0", "9223372036854775808"}) {
        const std::string ring = replaced(inner_product, "ring Z", "ring Q");
        EXPECT_TRUE(message_of(replaced(ring, "1 0 ; 1", std::string(entry) + " 0 ; 1")).starts_with("t.alg:7: "));
    }
}

TEST(AlgorithmText, bad_names_are_refused) {
    for (const std::string& name : {std::string("a b"), std::string("a/b"), std::string("x.alg"),
                                    std::string("\x1b[2J"), std::string(65, 'x'), std::string()}) {
        expect_refused(replaced(inner_product, "name dot", "name " + name), "1", "the name");
    }
    EXPECT_EQ(message_of(replaced(inner_product, "name dot", "name \x1b[2J")).find('\x1b'), std::string::npos);
}

TEST(AlgorithmText, ten_thousand_mutated_texts_are_read_or_refused_with_a_line) {
    std::mt19937 random(7);
    std::string original;
    for (const EmbeddedFile& file : algorithm_files()) {
        if (file.file_name == "self-inverse.alg") {
            original = file.text;
        }
    }
    ASSERT_FALSE(original.empty());
    const std::string alphabet("0123456789-/; \n#aZQ\0\xff", 21);
    int refused = 0;
    for (int i = 0; i < 10000; ++i) {
        std::string text = original;
        for (unsigned edits = 1 + random() % 4; edits > 0; --edits) {
            const std::size_t at = random() % text.size();
            switch (random() % 3) {
                case 0:
                    text[at] = alphabet[random() % alphabet.size()];
                    break;
                case 1:
                    text.erase(at, 1 + random() % 20);
                    break;
                default:
                    text.insert(at, 1, alphabet[random() % alphabet.size()]);
                    break;
            }
        }
        try {
            prove(parse_algorithm(text, "t.alg"));
        } catch (const Error& error) {
            ++refused;
            ASSERT_EQ(error.code(), ErrorCode::input);
            ASSERT_TRUE(std::string(error.what()).starts_with("t.alg:")) << error.what();
        }
    }
    EXPECT_GT(refused, 1000);
    EXPECT_LT(refused, 10000);
}

}  // namespace
}  // namespace heptad

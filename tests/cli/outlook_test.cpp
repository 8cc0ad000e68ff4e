// What a person wants to know first: how large the errors of a product are expected to be and at most, and how much
// faster it is; in the print of plan, in the report of mul, and in JSON.
#include <cmath>
#include <random>
#include <sstream>

#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

class Outlook : public HeptadProcess {
protected:
    static constexpr std::int64_t kSide = 256;

    using Number = std::function<double(std::int64_t row, std::int64_t col)>;
    void write_numbers(const std::string& name, const Number& number) {
        TestMatrix matrix{kSide, kSide, std::vector<double>(static_cast<std::size_t>(kSide * kSide))};
        for (std::int64_t i = 0; i < kSide; ++i) {
            for (std::int64_t j = 0; j < kSide; ++j) {
                matrix.at(i, j) = number(i, j);
            }
        }
        write_matrix(name, matrix);
    }
    /// Random numbers, times what `scale` says.
    void write_random(const std::string& name, unsigned seed, const Number& scale) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> uniform(-1, 1);
        write_numbers(name, [&](std::int64_t i, std::int64_t j) { return uniform(random) * scale(i, j); });
    }
    void write_even() {
        write_random("A.npy", 1, [](std::int64_t, std::int64_t) { return 1; });
        write_random("B.npy", 2, [](std::int64_t, std::int64_t) { return 1; });
    }
    static std::vector<std::string> mul(const std::vector<std::string>& more = {}) {
        std::vector<std::string> words{"mul", "A.npy", "B.npy", "-o", "C.npy", "--device", "cpu"};
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }
    static std::vector<std::string> with_levels(std::vector<std::string> words) {
        for (const char* word : {"--algorithm", "winograd", "--levels", "2"}) {
            words.emplace_back(word);
        }
        return words;
    }
};

TEST_F(Outlook, plan_says_it_first_and_the_long_line_last) {
    const std::vector<std::string> plan =
        lines_of(heptad_ok(with_levels({"plan", "2048", "2048", "2048", "--device", "cpu"})));
    EXPECT_EQ(plan[0].rfind("# expected error: ", 0), 0U) << plan[0];
    EXPECT_TRUE(contains(plan[0], " x the classical product's (typical ")) << plan[0];
    EXPECT_TRUE(contains(plan[0], " of |a_i||b_j|)")) << plan[0];
    EXPECT_TRUE(contains(plan[0], "er than ") && contains(plan[0], " (predicted)")) << plan[0];
    EXPECT_EQ(plan[1].rfind("# error bound: |AB - computed|_ij <= c u |a_i||b_j|, ", 0), 0U) << plan[1];
    EXPECT_EQ(plan.back().rfind("plan 2048x2048x2048 f32 ", 0), 0U) << plan.back();
}

TEST_F(Outlook, words_and_types_have_lines_of_their_own) {
    const auto head = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words{"plan", "1024", "1024", "1024", "--device", "cpu"};
        words.insert(words.end(), more.begin(), more.end());
        const std::vector<std::string> lines = lines_of(heptad_ok(words));
        return lines[0] + "\n" + lines[1];
    };
    const std::string strict = head({"--accuracy", "strict"});
    EXPECT_EQ(strict.rfind("# expected error: the classical product's", 0), 0U) << strict;
    EXPECT_TRUE(contains(strict, "<= 6.12e-05 (|A||B|)_ij, guaranteed")) << strict;  // 1026 * 2^-24
    const std::string fast = head(with_levels({"--accuracy", "fast"}));
    EXPECT_TRUE(contains(fast, " max|A| max|B|, guaranteed for the whole matrix only")) << fast;
    for (const char* type : {"i32", "i64", "gf2", "bool"}) {
        const std::string exact = head({"--type", type});
        EXPECT_EQ(exact.rfind("# expected error: none (exact)", 0), 0U) << exact;
        EXPECT_TRUE(contains(exact, "# error bound: 0 (exact)")) << exact;
    }
    // The library's own product is not compared with itself.
    const nlohmann::json library =
        heptad_json({"plan", "8", "8", "8", "--device", "reference", "--accuracy", "strict"});
    EXPECT_TRUE(library["predicted_speedup"].is_null());
}

TEST_F(Outlook, json_of_plans_has_the_same) {
    const nlohmann::json plan = heptad_json(with_levels({"plan", "512", "512", "512", "--device", "cpu"}));
    EXPECT_GT(plan["expected_error_growth"].get<double>(), 1);
    EXPECT_GT(plan["typical_error"].get<double>(), 1e-8);
    EXPECT_LT(plan["typical_error"].get<double>(), 1e-5);
    EXPECT_EQ(plan["guaranteed_bound"]["norm"], "|a_i||b_j|");
    // By norms of lines it grows as k, that by largest values as its square; the classical one is a part of it.
    EXPECT_LT(plan["guaranteed_bound"]["value"].get<double>(), plan["error_bound"].get<double>());
    EXPECT_GT(plan["guaranteed_bound"]["value"].get<double>(), 512 * std::ldexp(1.0, -24));
    EXPECT_DOUBLE_EQ(plan["guaranteed_bound"]["c"].get<double>(),
                     std::ldexp(plan["guaranteed_bound"]["value"].get<double>(), 24));
    EXPECT_GT(plan["predicted_speedup"].get<double>(), 0);
    EXPECT_TRUE(plan["predicted_against"].is_string());
    const nlohmann::json exact = heptad_json({"plan", "512", "512", "512", "--type", "gf2", "--device", "cpu"});
    EXPECT_EQ(exact["typical_error"], 0);
    EXPECT_EQ(exact["guaranteed_bound"]["value"], 0);
    EXPECT_TRUE(exact["guaranteed_bound"]["norm"].is_null());
    const nlohmann::json files = heptad_json({"plan", "2048", "2048", "2048", "--files", "--memory", "64M", "--disk",
                                              "2G", "--host-levels", "1", "--device", "cpu"});
    EXPECT_GT(files["expected_error_growth"].get<double>(), 1);
    EXPECT_EQ(files["guaranteed_bound"]["norm"], "|a_i||b_j|");
}

TEST_F(Outlook, a_printed_plan_is_taken_back_wherever_its_line_stands) {
    write_even();
    const std::string text = heptad_ok(with_levels({"plan", "256", "256", "256", "--device", "cpu"}));
    const std::string line = last_line(text) + "\n", rest = text.substr(0, text.size() - line.size());
    const std::size_t first = rest.find('\n') + 1;
    for (const std::string& print : {text, line + rest, rest.substr(0, first) + line + rest.substr(first), line}) {
        write("p.txt", print);
        const nlohmann::json done = heptad_json({"mul", "A.npy", "B.npy", "-o", "C.npy", "--plan", "p.txt"});
        EXPECT_EQ(done["plan"].get<std::string>() + "\n", line);
        EXPECT_EQ(done["guaranteed_bound"]["norm"], "|a_i||b_j|");  // as the plan says, whatever it was made for
        EXPECT_TRUE(done["predicted_speedup"].is_null());           // it may be of another machine
    }
}

TEST_F(Outlook, mul_says_it_below_what_was_done) {
    write_even();
    const std::vector<std::string> lines = lines_of(heptad_ok(with_levels(mul())));
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0].rfind("C.npy: 256 x 256 f32, multiplied in ", 0), 0U) << lines[0];
    EXPECT_EQ(lines[1].rfind("expected error: ", 0), 0U) << lines[1];
    EXPECT_EQ(lines[2].rfind("error bound: |AB - computed|_ij <= c u |a_i||b_j|, ", 0), 0U) << lines[2];
    const nlohmann::json done = heptad_json(with_levels(mul()));
    EXPECT_GT(done["expected_error_growth"].get<double>(), 1);
    EXPECT_FALSE(done["scaled"].get<bool>() || done["uneven"].get<bool>() || done["fell_back"].get<bool>());
    const std::vector<std::string> strict = lines_of(heptad_ok(mul({"--accuracy", "strict"})));
    EXPECT_EQ(strict[1].rfind("expected error: the classical product's", 0), 0U) << strict[1];
    const std::vector<std::string> pieces = lines_of(heptad_ok(mul({"--memory", "500K", "--accuracy", "strict"})));
    ASSERT_EQ(pieces.size(), 3U);
    EXPECT_EQ(pieces[1], "expected error: the classical product's");
    const nlohmann::json in_pieces = heptad_json(mul({"--memory", "500K", "--accuracy", "strict"}));
    for (const char* key :
         {"expected_error_growth", "typical_error", "guaranteed_bound", "predicted_speedup", "scaled"}) {
        EXPECT_TRUE(in_pieces.contains(key)) << key;
    }
}

TEST_F(Outlook, mul_says_when_powers_of_two_were_taken_out) {
    write_random("A.npy", 1, [](std::int64_t i, std::int64_t) { return std::exp2(-static_cast<double>(i) / 8); });
    write_random("B.npy", 2, [](std::int64_t, std::int64_t) { return 1; });
    const nlohmann::json done = heptad_json(with_levels(mul()));
    EXPECT_TRUE(done["scaled"].get<bool>());
    EXPECT_FALSE(done["uneven"].get<bool>() || done["fell_back"].get<bool>());
    const std::string text = heptad_ok(with_levels(mul()));
    EXPECT_TRUE(contains(text, "; its rows or columns differ much in size, so powers of two were taken out of them\n"))
        << text;
}

TEST_F(Outlook, mul_says_when_numbers_were_too_short_for_levels) {
    std::mt19937 random(1);
    for (const char* const name : {"A.npy", "B.npy"}) {
        write_numbers(name, [&](std::int64_t, std::int64_t) { return random() % 256; });
    }
    const nlohmann::json done = heptad_json(with_levels(mul()));
    EXPECT_TRUE(done["short_numbers"].get<bool>() && done["fell_back"].get<bool>());
    EXPECT_FALSE(done["uneven"].get<bool>());
    const std::vector<std::string> lines = lines_of(heptad_ok(with_levels(mul())));
    EXPECT_TRUE(contains(lines[0], "; A and B hold so few digits that the classical product is all but exact"))
        << lines[0];
    EXPECT_EQ(lines[1], "expected error: the classical product's");
}

TEST_F(Outlook, mul_says_when_uneven_data_was_multiplied_classically) {
    const auto on_diagonal = [](std::int64_t i, std::int64_t j) { return (i < kSide / 2) == (j < kSide / 2) ? 1 : 0; };
    write_random("A.npy", 1, on_diagonal);
    write_random("B.npy", 2, on_diagonal);
    const nlohmann::json done = heptad_json(with_levels(mul()));
    EXPECT_TRUE(done["uneven"].get<bool>() && done["fell_back"].get<bool>());
    EXPECT_FALSE(done["scaled"].get<bool>());
    EXPECT_EQ(done["expected_error_growth"], 1);
    EXPECT_EQ(done["guaranteed_bound"]["norm"], "(|A||B|)_ij");
    EXPECT_TRUE(done["predicted_speedup"].is_null());
    const std::vector<std::string> lines = lines_of(heptad_ok(with_levels(mul())));
    EXPECT_TRUE(
        contains(lines[0], "; levels would lose more than a digit on this data, so it was multiplied classically"))
        << lines[0];
    EXPECT_EQ(lines[1], "expected error: the classical product's");
}

TEST_F(Outlook, mul_calls_no_data_uneven_that_is_even) {
    heptad_ok({"gen", "uniform", "--shape", "1024x1024", "-o", "A.npy"});  // three levels are tried on it, and refused
    const std::string text = heptad_ok({"mul", "A.npy", "A.npy", "-o", "C.npy", "--device", "cpu", "--levels", "3"});
    EXPECT_TRUE(contains(text, "; levels would lose more than a digit on this data")) << text;
    EXPECT_FALSE(contains(text, "uneven")) << text;
}

TEST_F(Outlook, help_tells_what_the_words_promise) {
    for (const std::vector<std::string>& words : {std::vector<std::string>{"mul"}, {"plan"}}) {
        std::vector<std::string> asked = words;
        asked.emplace_back("--help");
        const std::string help = heptad_ok(asked);
        for (const char* part : {"what errors are relative to", "balanced (default", "strict (", "fast ("}) {
            EXPECT_TRUE(contains(help, part)) << part << "\n" << help;
        }
    }
}

}  // namespace
}  // namespace heptad::testing

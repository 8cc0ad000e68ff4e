#include "algorithm/catalogue.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "algorithm/evaluate.hpp"
#include "base/embedded.hpp"
#include "base/error.hpp"

namespace heptad {
namespace {

ErrorCode code_of(const std::string& name) {
    try {
        find_algorithm(name);
    } catch (const Error& error) {
        return error.code();
    }
    return ErrorCode::internal;
}

class TemporaryFile {
public:
    TemporaryFile(const std::string& name, const std::string& text)
        : path_(std::filesystem::path(::testing::TempDir()) / (std::to_string(::getpid()) + name)) {
        std::ofstream(path_, std::ios::binary) << text;
    }
    ~TemporaryFile() { std::filesystem::remove(path_); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

TEST(Catalogue, every_shipped_and_derived_entry_is_proven) {
    const std::vector<std::string> names = algorithm_names(true);
    ASSERT_GE(names.size(), 49U);
    for (const std::string& name : names) {
        const CatalogueEntry& entry = find_algorithm(name);
        EXPECT_EQ(entry.algorithm.name, name);
        EXPECT_EQ(prove(entry.algorithm), "") << name;
        EXPECT_EQ(prove(entry.standard), "") << name;
    }
}

TEST(Catalogue, files_are_named_after_their_algorithm) {
    for (const EmbeddedFile& file : algorithm_files()) {
        if (file.file_name.ends_with(".alg")) {
            const Algorithm x = parse_algorithm(std::string(file.text), std::string(file.file_name));
            EXPECT_EQ(x.name + ".alg", file.file_name);
        }
    }
}

TEST(Catalogue, what_was_promised_is_shipped) {
    const std::vector<std::string> names = algorithm_names(false);
    for (const char* name : {"classical", "strassen", "winograd", "alternative-basis", "self-inverse", "chaining",
                             "2x2x3-11", "2x2x4-14", "2x3x3-15", "2x3x4-20", "3x3x3-23", "4x4x4-49",
                             "4x4x4-48-accurate", "4x4x4-47-gf2", "3x3x6-40-accurate", "4x5x5-76", "5x5x5-93"}) {
        EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
    }
}

TEST(Catalogue, names_are_unique_and_derived_ones_follow_the_shipped_ones) {
    const std::vector<std::string> shipped = algorithm_names(false);
    const std::vector<std::string> all = algorithm_names(true);
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
    EXPECT_TRUE(std::is_sorted(shipped.begin(), shipped.end()));
    ASSERT_TRUE(std::equal(shipped.begin(), shipped.end(), all.begin()));
    EXPECT_TRUE(std::is_sorted(all.begin() + static_cast<std::ptrdiff_t>(shipped.size()), all.end()));
    for (const std::string& name : all) {
        const bool is_shipped = std::find(shipped.begin(), shipped.end(), name) != shipped.end();
        EXPECT_EQ(find_algorithm(name).derived, !is_shipped) << name;
    }
}

TEST(Catalogue, compositions_are_found_by_name_and_proven) {
    const CatalogueEntry& entry = find_algorithm("strassen*3x2x2-11*winograd");
    EXPECT_EQ(entry.algorithm.signature(), "<12,8,8>:539");
    EXPECT_EQ(prove(entry.algorithm), "");
    EXPECT_EQ(evaluate(entry.sums.c), transposed(entry.standard.w));
    EXPECT_EQ(&entry, &find_algorithm("strassen*3x2x2-11*winograd"));
}

TEST(Catalogue, sharing_in_a_composition_is_no_worse_than_level_by_level) {
    // Outer sums on quarters of blocks, then inner sums: 5 * 4 + 7 * 5 for an operand, and so on.
    EXPECT_LE(find_algorithm("strassen*strassen").facts.additions(), 18 * 4 + 7 * 18);
    EXPECT_LE(find_algorithm("winograd*winograd").facts.additions(), 15 * 4 + 7 * 15);
}

TEST(Catalogue, unknown_names_are_a_usage_error_that_lists_the_known_ones) {
    try {
        find_algorithm("strasen");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        EXPECT_NE(std::string(error.what()).find("'strasen'"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("winograd"), std::string::npos);
    }
    for (const char* name : {"", "*", "strassen*", "*strassen", "strassen**winograd", "strassen*nonsense"}) {
        EXPECT_EQ(code_of(name), ErrorCode::usage) << name;
    }
}

TEST(Catalogue, a_users_file_is_proven_and_used) {
    Algorithm mine = find_algorithm("strassen").algorithm;
    mine.name = "mine";
    const TemporaryFile file("mine.alg", print_algorithm(mine));
    const CatalogueEntry& entry = find_algorithm(file.path());
    EXPECT_EQ(entry.algorithm.name, "mine");
    EXPECT_EQ(entry.facts.additions(), 18);
}

TEST(Catalogue, a_users_wrong_file_is_refused_by_the_proof) {
    Algorithm wrong = find_algorithm("strassen").algorithm;
    wrong.u(0, 0) = -1;
    const TemporaryFile file("wrong.alg", print_algorithm(wrong));
    EXPECT_EQ(code_of(file.path()), ErrorCode::input);
}

TEST(Catalogue, unreadable_files_are_input_errors) {
    const TemporaryFile empty("empty.alg", "");
    EXPECT_EQ(code_of(empty.path()), ErrorCode::input);
    EXPECT_EQ(code_of("/nonexistent/x.alg"), ErrorCode::input);
    EXPECT_EQ(code_of(::testing::TempDir()), ErrorCode::input);
    EXPECT_EQ(code_of("not-there.alg"), ErrorCode::input);
}

TEST(Catalogue, many_threads_get_the_same_entries) {
    const std::vector<std::string> names = {"2x3x3-15", "3x2x3-15", "strassen*winograd", "chaining", "2x3x3-15"};
    std::vector<std::vector<const CatalogueEntry*>> seen(8);
    std::vector<std::thread> threads;
    for (auto& mine : seen) {
        threads.emplace_back([&] {
            for (const std::string& name : names) {
                mine.push_back(&find_algorithm(name));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const auto& mine : seen) {
        EXPECT_EQ(mine, seen.front());
    }
}

TEST(RingAdmits, types_take_the_rings_they_can_compute_in) {
    EXPECT_TRUE(ring_admits(Ring::integers, Type::i32));
    EXPECT_FALSE(ring_admits(Ring::halves, Type::i32));
    EXPECT_TRUE(ring_admits(Ring::integers, Type::i64));
    EXPECT_FALSE(ring_admits(Ring::halves, Type::i64));
    EXPECT_FALSE(ring_admits(Ring::gf2, Type::i32));
    EXPECT_TRUE(ring_admits(Ring::integers, Type::gf2));
    EXPECT_TRUE(ring_admits(Ring::gf2, Type::gf2));
    EXPECT_FALSE(ring_admits(Ring::halves, Type::gf2));
    for (const Type type : {Type::f64, Type::f32, Type::tf32, Type::bf16, Type::f16}) {
        EXPECT_TRUE(ring_admits(Ring::integers, type));
        EXPECT_TRUE(ring_admits(Ring::halves, type));
        EXPECT_TRUE(ring_admits(Ring::rationals, type));
        EXPECT_FALSE(ring_admits(Ring::gf2, type));
    }
    EXPECT_TRUE(algorithm_admits(find_algorithm("classical").algorithm, Type::boolean));
    EXPECT_FALSE(algorithm_admits(find_algorithm("strassen").algorithm, Type::boolean));
}

}  // namespace
}  // namespace heptad

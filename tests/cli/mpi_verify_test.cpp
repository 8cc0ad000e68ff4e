// heptad-mpi mul --verify: right results of every type and algorithm pass, whoever holds which part.
#include <cmath>

#include "cli/mpi_process.hpp"

namespace heptad::testing {
namespace {

class MpiVerify : public Mpi {
protected:
    void expect_verified(int ranks, Words more, double most_miss_chance) {
        SCOPED_TRACE(std::to_string(ranks) + " ranks" + joined(more));
        more.emplace_back("--verify");
        const nlohmann::json object = report(ranks, more);
        ASSERT_TRUE(object.is_object());
        EXPECT_EQ(object["verified"], true) << object;
        EXPECT_EQ(object["verification"]["verdict"], "passed");
        EXPECT_LE(object["verification"]["miss_chance"].get<double>(), most_miss_chance);
    }
};

const std::vector<Words>& algorithms() {
    static const std::vector<Words> all{{"--grid", "2x2x2"},
                                        {"--algorithm", "pegmm", "--block", "7x10x9"},
                                        {"--algorithm", "mod-pegmm", "--block", "7x10x5"}};
    return all;
}

TEST_F(MpiVerify, right_results_of_every_type_and_algorithm_pass) {
    for (const auto& [dtype, chance] :
         {std::pair{"<i4", 0x1p-64}, std::pair{"<f4", 0x1p-8}, std::pair{"<f8", 0x1p-8}}) {
        make_operands(61, 83, 47, dtype);
        for (const Words& algorithm : algorithms()) {
            expect_verified(8, algorithm, chance);
        }
        expect_verified(1, {}, chance);
        expect_verified(8, {"--algorithm", "caps"}, chance);
    }
}

TEST_F(MpiVerify, bits_pass_in_both_arithmetics) {
    TestMatrix a = integers(600, 33, 1), b = integers(33, 17, 2);
    for (TestMatrix* matrix : {&a, &b}) {
        for (double& value : matrix->values) {
            value = value > 1 ? 1 : 0;
        }
    }
    write_matrix("A.npy", a, "|b1");
    write_matrix("B.npy", b, "|b1");
    for (const Words& algorithm : algorithms()) {
        expect_verified(8, algorithm, 0x1p-60);
        Words words = algorithm;
        words.insert(words.end(), {"--type", "gf2"});
        expect_verified(8, words, 0x1p-64);
    }
}

TEST_F(MpiVerify, scattered_operands_scalars_and_sums_pass) {
    make_operands(61, 83, 47, "<f4");
    write_matrix("C0.npy", integers(61, 47, 3), "<f4");
    std::filesystem::create_directory(folder_ / "scratch");
    expect_verified(3, {"--alpha", "2", "--beta", "-3", "--add", "C0.npy"}, 0x1p-8);
    expect_verified(3, {"--algorithm", "pegmm", "--scatter", "--scratch", "scratch"}, 0x1p-8);
    expect_verified(3, {"--keep-parts"}, 0x1p-8);
}

TEST_F(MpiVerify, sums_that_do_not_fit_into_the_memory_are_refused_before_the_product) {
    make_operands(2000, 8, 2);  // 256 bytes of sums for each row, twice at the root; the matrices take 80 KB
    expect_failure(4, started(2, mul({"--memory", "300K", "--verify"})), {"--verify", "--memory"});
    EXPECT_EQ(heptad(started(2, mul({"--memory", "300K"}))).exit_code, 0);
    std::filesystem::remove(folder_ / "C.npy");
    expect_verified(2, {"--memory", "2M"}, 0x1p-64);
}

TEST_F(MpiVerify, what_cannot_be_verified_is_written_and_said) {
    make_operands(20, 20, 20, "<f4");
    a_.at(3, 4) = std::nan("");
    write_matrix("A.npy", a_, "<f4");
    const Outcome outcome = heptad(started(3, mul({"--verify"})));
    EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
    EXPECT_NE(outcome.err.find("cannot be verified"), std::string::npos) << outcome.err;
    EXPECT_TRUE(std::isnan(read_matrix("C.npy").at(3, 0)));
    const Outcome told = heptad(started(3, mul({"--verify", "--json"})));
    const nlohmann::json object = nlohmann::json::parse(told.out, nullptr, false);
    ASSERT_TRUE(object.is_object()) << told.out;
    EXPECT_EQ(object["code"], 5);
}

}  // namespace
}  // namespace heptad::testing

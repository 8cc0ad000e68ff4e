// Facts decide which algorithms are considered: an .alg file that nobody has heard of is one of them on every backend
// that can carry it out.
#include "plan/search/considered.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "algorithm/catalogue.hpp"
#include "kernels/bits/level_program.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

const BackendTraits& cpu() {
    return backend_traits("cpu");
}
const BackendTraits& device() {
    return backend_traits("cuda");
}

/// strassen with its products in another order, in a file of its own.
class NewFile : public ::testing::Test {
protected:
    void SetUp() override {
        Algorithm algorithm = find_algorithm("strassen").algorithm;
        algorithm.name = "unheard-of";
        for (CoefficientMatrix* matrix : {&algorithm.u, &algorithm.v, &algorithm.w}) {
            std::rotate(matrix->entries.begin(), matrix->entries.begin() + matrix->cols, matrix->entries.end());
        }
        std::ofstream(path_) << print_algorithm(algorithm);
    }
    void TearDown() override { std::filesystem::remove(path_); }

    const std::string path_ =
        (std::filesystem::temp_directory_path() / ("heptad-unheard-of-" + std::to_string(getpid()) + ".alg")).string();
};

bool holds(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

TEST_F(NewFile, is_considered_on_a_cpu_on_a_device_and_in_bits) {
    const std::vector<std::string> names{"2x2x3-11", "winograd", path_};
    EXPECT_TRUE(holds(considered_among(names, cpu()).levels, path_));
    const ConsideredAlgorithms on_device = considered_among(names, device());
    EXPECT_TRUE(holds(on_device.levels, path_));
    EXPECT_TRUE(holds(on_device.levels, path_ + "*" + path_));
    EXPECT_TRUE(holds(on_device.fused, path_));
    EXPECT_FALSE(holds(on_device.levels, "2x2x3-11"));
    EXPECT_EQ(find_algorithm(path_ + "*" + path_).facts.rank, 49);
    const bits::LevelProgram& program = bits::find_level_program(path_);
    EXPECT_EQ(program.steps.size(), 7U);
    EXPECT_EQ(&program, &bits::find_level_program(path_));
}

TEST_F(NewFile, is_carried_out_in_bits) {
    const LevelTerms level = bits::level_terms(bits::find_level_program(path_), bits::ProgramBasis::standard);
    const LevelTerms expected = level_terms(find_algorithm(path_).standard, true);
    ASSERT_EQ(level.products.size(), expected.products.size());
    for (std::size_t i = 0; i < level.products.size(); ++i) {
        EXPECT_EQ(level.products[i].left, expected.products[i].left);
        EXPECT_EQ(level.products[i].right, expected.products[i].right);
        EXPECT_EQ(level.products[i].result, expected.products[i].result);
    }
}

TEST_F(NewFile, that_has_nothing_over_another_is_not_looked_at) {
    const ConsideredAlgorithms considered = considered_among({"strassen", path_}, cpu());
    EXPECT_EQ(considered.levels, (std::vector<std::string>{"strassen"}));
}

TEST(considered, of_the_catalogue_are_what_was_measured) {
    const ConsideredAlgorithms& on_device = considered_algorithms(device());
    EXPECT_EQ(on_device.levels,
              (std::vector<std::string>{"winograd", "strassen", "winograd*winograd", "strassen*strassen"}));
    EXPECT_EQ(on_device.fused, (std::vector<std::string>{"strassen", "strassen*strassen"}));
    EXPECT_TRUE(holds(considered_algorithms(cpu()).levels, kHalving));
    EXPECT_EQ(bits::usual_level_program().name, "self-inverse");
}

TEST(considered, algorithms_that_a_backend_cannot_carry_out_are_left_out) {
    const ConsideredAlgorithms considered =
        considered_among({"classical", "self-inverse", "4x4x4-49", "2x2x2-7-accurate"}, device());
    EXPECT_TRUE(considered.levels.empty());
    for (const char* name : {"2x2x3-11", "2x2x2-7-accurate", "4x4x4-47-gf2"}) {
        EXPECT_THROW(bits::find_level_program(name), Error) << name;
    }
}

}  // namespace
}  // namespace heptad

// The tree of this repository keeps the order of its layers, and the check that says so catches planted mistakes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include "layering/include_check.hpp"

namespace {

namespace fs = std::filesystem;
using heptad::layering::check_tree;
using heptad::layering::includes_of;
using heptad::layering::Report;
using heptad::layering::violation;

class PlantedTree : public ::testing::Test {
protected:
    void SetUp() override {
        root_ = fs::temp_directory_path() / ("heptad-layering-" + std::to_string(getpid()) + "-" +
                                             ::testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::create_directories(root_);
        write("include/heptad/heptad.hpp", "#include <vector>\n");
        write("src/base/size.hpp", "#include <heptad/heptad.hpp>\n");
        write("src/plan/model/plan.cpp", "#include \"plan/model/plan.hpp\"\n#include \"algorithm/facts.hpp\"\n");
    }
    void TearDown() override { fs::remove_all(root_); }

    void write(const fs::path& name, const std::string& text) const {
        fs::create_directories((root_ / name).parent_path());
        std::ofstream(root_ / name) << text;
    }

    fs::path root_;
};

TEST(Layering, this_repository_has_no_forbidden_include) {
    const Report report = check_tree(HEPTAD_SOURCE_DIR);
    EXPECT_GE(report.files, 20) << "the check found hardly any source";
    EXPECT_GT(report.includes, report.files);
    for (const std::string& sentence : report.violations) {
        ADD_FAILURE() << sentence;
    }
}

/// Lines with a sentence in quotes that names an option of the command line.
std::vector<std::string> options_in(const std::string& text) {
    static const std::regex option(R"re("([^"]*[ (`])?--[a-z])re");
    std::vector<std::string> found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (std::regex_search(line.substr(0, line.find("//")), option)) {
            found.push_back(line);
        }
    }
    return found;
}

TEST(Layering, sentences_that_users_of_the_library_see_name_no_option_of_the_command_line) {
    EXPECT_EQ(options_in("fail(code, \"say --device cpu\");\nfail(\"--grid\");\n--i; // \"--no\"\n").size(), 2U);
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(HEPTAD_SOURCE_DIR) / "src")) {
        const std::string path = entry.path().string();
        // Jobs on a cluster and checks are the command line's alone; the sentences of products of files are put into
        // the library's words by api/files.cpp, which knows the words of both.
        const std::regex of_commands(
            R"(/src/io/|/move/(file_|last_|ranks/)|/product/(file|cluster|request)/|/api/files|/plan/[a-z]+/(file|cluster)_|/src/check/)");
        if (!entry.is_regular_file() || path.ends_with(".txt") || std::regex_search(path, of_commands)) {
            continue;
        }
        ++files;
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        for (const std::string& line : options_in(text.str())) {
            ADD_FAILURE() << path << ": " << line;
        }
    }
    EXPECT_GE(files, 100) << "the check found hardly any source";
}

TEST_F(PlantedTree, header_name_that_stands_twice_is_reported) {
    write("src/run/size.hpp", "#include <vector>\n");
    const Report report = check_tree(root_);
    ASSERT_EQ(report.violations.size(), 1U);
    EXPECT_TRUE(report.violations[0].starts_with("src/run/size.hpp: ")) << report.violations[0];
}

TEST_F(PlantedTree, header_of_a_test_that_has_the_name_of_another_is_reported) {
    write("tests/base/size.hpp", "#include <vector>\n");
    const Report report = check_tree(root_);
    ASSERT_EQ(report.violations.size(), 1U);
    EXPECT_TRUE(report.violations[0].starts_with("tests/base/size.hpp: ")) << report.violations[0];
}

TEST_F(PlantedTree, file_that_is_too_long_is_reported_in_every_room) {
    for (const char* file : {"src/run/a.cpp", "cli/b.cpp", "include/heptad/c.hpp", "bench/suites/d.cpp",
                             "papers/p0/e.cpp", "tests/base/f_test.cpp"}) {
        write(file, std::string(450, '\n'));
        EXPECT_TRUE(check_tree(root_).violations.empty()) << file;
        write(file, std::string(451, '\n'));
        ASSERT_EQ(check_tree(root_).violations.size(), 1U) << file;
        EXPECT_TRUE(check_tree(root_).violations[0].starts_with(file)) << check_tree(root_).violations[0];
        write(file, "");
    }
}

TEST_F(PlantedTree, clean_tree_passes) {
    const Report report = check_tree(root_);
    EXPECT_EQ(report.files, 3);
    EXPECT_EQ(report.includes, 4);
    EXPECT_TRUE(report.violations.empty());
}

TEST_F(PlantedTree, upward_include_is_caught_with_file_and_line) {
    write("src/base/bad.hpp", "#pragma once\n/* two\nlines */\n#include \"run/dense/runner.hpp\"\n");
    const Report report = check_tree(root_);
    ASSERT_EQ(report.violations.size(), 1U);
    EXPECT_TRUE(report.violations[0].starts_with("src/base/bad.hpp:4: ")) << report.violations[0];
}

TEST_F(PlantedTree, upward_include_inside_a_condition_is_caught) {
    write("src/run/bad.cpp", "#ifdef NEVER\n#  include <api/c_api.hpp>\n#endif\n");
    EXPECT_EQ(check_tree(root_).violations.size(), 1U);
}

TEST_F(PlantedTree, file_in_a_folder_that_is_no_layer_is_reported) {
    write("src/misc/tools.hpp", "#include <vector>\n");
    EXPECT_EQ(check_tree(root_).violations.size(), 1U);
}

TEST_F(PlantedTree, public_header_that_includes_a_layer_is_caught) {
    write("include/heptad/bad.hpp", "#include \"base/size.hpp\"\n");
    EXPECT_EQ(check_tree(root_).violations.size(), 1U);
}

TEST(Layering, plan_and_kernels_do_not_know_each_other) {
    EXPECT_TRUE(violation("src/plan/model/plan.cpp", "kernels/backend.hpp"));
    EXPECT_TRUE(violation("src/kernels/cpu/cpu.cpp", "plan/model/plan.hpp"));
    EXPECT_FALSE(violation("src/run/dense/runner.cpp", "kernels/backend.hpp"));
    EXPECT_FALSE(violation("src/run/dense/runner.cpp", "plan/model/plan.hpp"));
}

TEST(Layering, the_product_does_not_know_its_benches_nor_those_the_papers) {
    EXPECT_TRUE(violation("cli/main.cpp", "bench/suites/bench_product.hpp"));
    EXPECT_TRUE(violation("src/plan/model/plan.cpp", "papers/p0/c1060.hpp"));
    EXPECT_TRUE(violation("bench/suites/bench_cpu.cpp", "papers/p0/c1060.hpp"));
    EXPECT_FALSE(violation("papers/p0/bench_p0.cpp", "bench/suites/bench_product.hpp"));
    EXPECT_FALSE(violation("bench/report/report.cpp", "cli/text.hpp"));
}

TEST_F(PlantedTree, name_of_a_backend_or_leaf_in_plan_is_caught_with_file_and_line) {
    write("src/run/runner.cpp", "if (plan.backend == \"cuda\") {}\n");
    write("src/plan/search/good.cpp",
          "// \"cublas\"\nmachine.cpu = root.at(\"cpu\");\nrequired(\"cpu\", machine.cpu);\njson[\"cpu\"] = "
          "machine.cpu;\n");
    EXPECT_TRUE(check_tree(root_).violations.empty());
    write("src/plan/search/bad.cpp", "\nif (plan.leaf == \"cublaslt-batched\") {\n    plan.backend = \"cpu\";\n}\n");
    const Report report = check_tree(root_);
    ASSERT_EQ(report.violations.size(), 2U);
    EXPECT_TRUE(report.violations[0].starts_with("src/plan/search/bad.cpp:2: ")) << report.violations[0];
    EXPECT_TRUE(report.violations[1].starts_with("src/plan/search/bad.cpp:3: ")) << report.violations[1];
}

TEST_F(PlantedTree, every_leaf_that_the_traits_know_is_caught_in_plan) {
    const auto text_of = [](const fs::path& file) {
        std::ostringstream text;
        text << std::ifstream(fs::path(HEPTAD_SOURCE_DIR) / file).rdbuf();
        return text.str();
    };
    const std::string traits = text_of("src/base/leaf_traits.cpp");
    const std::string constants = text_of("src/base/device_layout.hpp");
    write("src/base/leaf_traits.cpp", traits.substr(traits.find("\nnamespace")));
    write("src/base/device_layout.hpp", constants.substr(constants.find("\nnamespace")));
    const std::vector<std::string> names = heptad::layering::leaf_names(traits, constants);
    for (const char* leaf : {"\"heptad\"", "\"cublas\"", "\"cublaslt\"", "\"cublas-batched\"", "\"cublaslt-batched\"",
                             "\"cublas-int8\"", "\"heptad-int8\"", "kLimbLeaf", "kResidueLeaf"}) {
        EXPECT_NE(std::find(names.begin(), names.end(), leaf), names.end()) << leaf;
    }
    EXPECT_TRUE(check_tree(root_).violations.empty());
    for (const std::string& name : names) {
        write("src/plan/search/bad.cpp", "plan.leaf = " + name + ";\n");
        EXPECT_EQ(check_tree(root_).violations.size(), 1U) << name;
    }
}

TEST_F(PlantedTree, kernels_that_a_header_passes_on_to_the_command_line_are_caught) {
    write("src/kernels/backend.hpp", "#pragma once\n");
    write("src/kernels/cuda/device/device.hpp", "#pragma once\n");
    write("src/product/facts.hpp", "#include \"kernels/backend.hpp\"\n#include \"product/list.hpp\"\n");
    write("src/product/list.hpp", "#include <string>\n");
    write("cli/text.hpp", "#include \"product/facts.hpp\"\n");
    write("cli/info.cpp", "#include \"text.hpp\"\n");
    EXPECT_TRUE(check_tree(root_).violations.empty());
    write("src/product/list.hpp", "#include \"kernels/cuda/device/device.hpp\"\n");
    const Report report = check_tree(root_);
    ASSERT_EQ(report.violations.size(), 2U);
    EXPECT_EQ(report.violations[0],
              "cli/info.cpp: sees src/kernels/cuda/device/device.hpp through src/product/list.hpp; let product tell it "
              "as plain data");
}

TEST(Layering, the_command_line_decides_nothing_and_sees_no_inner_room) {
    for (const char* inner : {"check/verify.hpp", "kernels/cuda/device/device.hpp", "move/stage_trace.hpp",
                              "plan/search/host_plan.hpp", "plan/predict/error_bound.hpp", "run/dense/runner.hpp"}) {
        EXPECT_TRUE(violation("cli/mul.cpp", inner)) << inner;
        EXPECT_TRUE(violation("cli/mpi/mpi_mul.cpp", inner)) << inner;
        EXPECT_FALSE(violation("bench/suites/bench_cpu.cpp", inner)) << inner;
        EXPECT_FALSE(violation("papers/p0/bench_p0.cpp", inner)) << inner;
    }
    for (const char* open : {"base/error.hpp", "algorithm/catalogue.hpp", "plan/model/plan.hpp", "io/npy.hpp",
                             "product/request/report.hpp", "tune/tune.hpp", "api/context.hpp", "text.hpp"}) {
        EXPECT_FALSE(violation("cli/mul.cpp", open)) << open;
    }
}

TEST(Layering, relative_paths_are_followed) {
    EXPECT_TRUE(violation("src/base/x.cpp", "../run/runner.hpp"));
    EXPECT_FALSE(violation("src/kernels/cpu/x.cpp", "../backend.hpp"));
    EXPECT_FALSE(violation("src/kernels/cpu/x.cpp", "y.hpp"));
    EXPECT_TRUE(violation("src/kernels/cpu/x.cpp", "../../cli/y.hpp"));
}

TEST(Layering, libraries_of_the_system_are_free) {
    EXPECT_FALSE(violation("src/base/x.cpp", "fmt/format.h"));
    EXPECT_FALSE(violation("src/base/x.cpp", "sys/mman.h"));
    EXPECT_FALSE(violation("src/base/x.cpp", "algorithm"));
    EXPECT_FALSE(violation("src/base/x.cpp", "heptad/heptad.hpp"));
}

TEST(Layering, commented_includes_do_not_count) {
    const auto found = includes_of("// #include \"a.hpp\"\n/* #include \"b.hpp\" */\n# include \"c.hpp\" // why\n");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].path, "c.hpp");
    EXPECT_EQ(found[0].line, 3);
}

}  // namespace

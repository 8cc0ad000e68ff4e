// Runs the built heptad as a user would, in a folder of its own, and keeps what it said.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace heptad::testing {

struct Outcome {
    int exit_code = -1;  // 128 + signal if it was killed
    std::string out, err;
};

/// A matrix of small integers, stored as the test says.
struct TestMatrix {
    std::int64_t rows = 0, cols = 0;
    std::vector<double> values;  // row by row

    double& at(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(i * cols + j)]; }
    double at(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>(i * cols + j)]; }
    bool operator==(const TestMatrix&) const = default;
};
TestMatrix integers(std::int64_t rows, std::int64_t cols, std::uint64_t seed);
TestMatrix transposed(const TestMatrix& matrix);
/// alpha * a * b + beta * c0, by the definition.
TestMatrix product(const TestMatrix& a, const TestMatrix& b, double alpha = 1, double beta = 0,
                   const TestMatrix& c0 = {});

/// The bytes of a .npy file of version 1 with this header dictionary.
std::string npy_bytes(const std::string& dictionary, const std::string& data);
std::string npy_file(const TestMatrix& matrix, const std::string& dtype, bool fortran_order = false);
/// Reads <f4, <f8, <i4 and |b1 in C order, strictly.
TestMatrix parse_npy(const std::string& bytes);

/// Of a text that ends with a newline.
std::string last_line(const std::string& text);

class HeptadProcess : public ::testing::Test {
protected:
    void SetUp() override;
    void TearDown() override;

    /// Runs `heptad words...` in the folder. `meanwhile` is called with the process id once it runs.
    Outcome heptad(const std::vector<std::string>& words, const std::function<void(int)>& meanwhile = {});
    /// Runs it, expects exit code 0 and nothing on standard error, and returns standard output.
    std::string heptad_ok(const std::vector<std::string>& words);
    /// Expects the exit code, exactly one sentence on standard error and an unchanged folder.
    std::string heptad_fails(int exit_code, const std::vector<std::string>& words);
    nlohmann::json heptad_json(std::vector<std::string> words);

    void write(const std::string& name, const std::string& bytes);
    std::string read(const std::string& name);
    void write_matrix(const std::string& name, const TestMatrix& matrix, const std::string& dtype = "<f4",
                      bool fortran_order = false);
    TestMatrix read_matrix(const std::string& name) { return parse_npy(read(name)); }
    /// Names and contents of everything in the folder.
    std::vector<std::pair<std::string, std::string>> folder_contents();

    std::filesystem::path folder_;
    std::filesystem::path program_;  // in place of the built heptad
};

}  // namespace heptad::testing

#include "cli/heptad_process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <regex>
#include <sstream>

namespace heptad::testing {
namespace {

/// Lines of progress ("NAME  12 %") come or not, by how busy the machine is.
std::string without_progress(const std::string& text) {
    static const std::regex line("[^\n]*  [0-9]+ %[^\n]*\n");
    return std::regex_replace(text, line, "");
}

namespace fs = std::filesystem;

std::string slurp(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

template <class T>
void append(std::string& bytes, double value) {
    const T element = static_cast<T>(value);
    bytes.append(reinterpret_cast<const char*>(&element), sizeof(T));
}

void append_element(std::string& bytes, const std::string& dtype, double value) {
    if (dtype == "<f4") {
        append<float>(bytes, value);
    } else if (dtype == "<f8") {
        append<double>(bytes, value);
    } else if (dtype == "<i4") {
        append<std::int32_t>(bytes, value);
    } else if (dtype == "<i8") {
        append<std::int64_t>(bytes, value);
    } else {
        append<std::uint8_t>(bytes, value);
    }
}

template <class T>
std::vector<double> elements(const std::string& data) {
    std::vector<double> values(data.size() / sizeof(T));
    for (std::size_t i = 0; i < values.size(); ++i) {
        T element{};
        std::memcpy(&element, data.data() + i * sizeof(T), sizeof(T));
        values[i] = static_cast<double>(element);
    }
    return values;
}

/// The text between two marks of a header.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
    const std::size_t start = text.find(begin);
    EXPECT_NE(start, std::string::npos) << begin << " missing in " << text;
    const std::size_t from = start + begin.size();
    return text.substr(from, text.find(end, from) - from);
}

}  // namespace

TestMatrix integers(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    TestMatrix matrix{rows, cols, std::vector<double>(static_cast<std::size_t>(rows * cols))};
    for (double& value : matrix.values) {
        value = static_cast<double>(random() % 9) - 4;
    }
    return matrix;
}

TestMatrix transposed(const TestMatrix& matrix) {
    TestMatrix result{matrix.cols, matrix.rows, matrix.values};
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
        for (std::int64_t j = 0; j < matrix.cols; ++j) {
            result.at(j, i) = matrix.at(i, j);
        }
    }
    return result;
}

TestMatrix product(const TestMatrix& a, const TestMatrix& b, double alpha, double beta, const TestMatrix& c0) {
    TestMatrix c{a.rows, b.cols, std::vector<double>(static_cast<std::size_t>(a.rows * b.cols))};
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < b.cols; ++j) {
            double sum = 0;
            for (std::int64_t k = 0; k < a.cols; ++k) {
                sum += a.at(i, k) * b.at(k, j);
            }
            c.at(i, j) = alpha * sum + (beta != 0 ? beta * c0.at(i, j) : 0);
        }
    }
    return c;
}

std::string npy_bytes(const std::string& dictionary, const std::string& data) {
    std::string header = dictionary;
    header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
    header += '\n';
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size() & 0xff);
    bytes += static_cast<char>(header.size() >> 8);
    return bytes + header + data;
}

std::string npy_file(const TestMatrix& matrix, const std::string& dtype, bool fortran_order) {
    const TestMatrix stored = fortran_order ? transposed(matrix) : matrix;
    std::string data;
    for (const double value : stored.values) {
        append_element(data, dtype, value);
    }
    return npy_bytes("{'descr': '" + dtype + "', 'fortran_order': " + (fortran_order ? "True" : "False") +
                         ", 'shape': (" + std::to_string(matrix.rows) + ", " + std::to_string(matrix.cols) + "), }",
                     data);
}

TestMatrix parse_npy(const std::string& bytes) {
    EXPECT_EQ(bytes.substr(0, 7), std::string("\x93NUMPY\x01", 7));
    const std::size_t length = static_cast<unsigned char>(bytes.at(8)) + 256U * static_cast<unsigned char>(bytes.at(9));
    const std::string header = bytes.substr(10, length);
    const std::string data = bytes.substr(10 + length);
    EXPECT_NE(header.find("'fortran_order': False"), std::string::npos) << header;
    const std::string dtype = between(header, "'descr': '", "'");
    TestMatrix matrix;
    EXPECT_EQ(std::sscanf(between(header, "'shape': (", ")").c_str(), "%ld, %ld", &matrix.rows, &matrix.cols), 2);
    matrix.values = dtype == "<f4"   ? elements<float>(data)
                    : dtype == "<f8" ? elements<double>(data)
                    : dtype == "<i4" ? elements<std::int32_t>(data)
                    : dtype == "<i8" ? elements<std::int64_t>(data)
                                     : elements<std::uint8_t>(data);
    EXPECT_EQ(static_cast<std::int64_t>(matrix.values.size()), matrix.rows * matrix.cols);
    return matrix;
}

std::string last_line(const std::string& text) {
    const std::string lines = text.substr(0, text.find_last_not_of('\n') + 1);
    return lines.substr(lines.rfind('\n') + 1);
}

void HeptadProcess::SetUp() {
    std::string name = (fs::temp_directory_path() / "heptad-cli-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
}

void HeptadProcess::TearDown() {
    std::error_code ignored;
    fs::permissions(folder_, fs::perms::owner_all, ignored);
    fs::remove_all(folder_, ignored);
}

Outcome HeptadProcess::heptad(const std::vector<std::string>& words, const std::function<void(int)>& meanwhile) {
    // Output goes to files outside of the folder under test: no pipe can fill up, and the folder shows only what heptad
    // left.
    const std::string out = folder_.string() + ".out", err = folder_.string() + ".err";
    std::vector<std::string> kept = words;
    kept.insert(kept.begin(), program_.empty() ? HEPTAD_BINARY : program_.string());
    std::vector<char*> argv;
    for (std::string& word : kept) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    const std::string folder = folder_.string();
    const pid_t child = fork();
    if (child == 0) {
        // Only calls that are allowed between fork and exec.
        const int out_file = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        const int err_file = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (out_file < 0 || err_file < 0 || dup2(out_file, 1) < 0 || dup2(err_file, 2) < 0 ||
            chdir(folder.c_str()) != 0) {
            _exit(126);
        }
        execv(argv[0], argv.data());
        _exit(127);
    }
    EXPECT_GT(child, 0);
    if (meanwhile) {
        meanwhile(child);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(out), slurp(err)};
    fs::remove(out);
    fs::remove(err);
    return outcome;
}

std::string HeptadProcess::heptad_ok(const std::vector<std::string>& words) {
    const Outcome outcome = heptad(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(without_progress(outcome.err), "");
    return outcome.out;
}

std::string HeptadProcess::heptad_fails(int exit_code, const std::vector<std::string>& words) {
    const auto before = folder_contents();
    const Outcome outcome = heptad(words);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.out << outcome.err;
    EXPECT_EQ(outcome.err.rfind("heptad: ", 0), 0U) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_GT(outcome.err.size(), 20U);
    EXPECT_EQ(outcome.err.back(), '\n');
    EXPECT_TRUE(folder_contents() == before) << "the failed command changed the folder";
    return outcome.err;
}

nlohmann::json HeptadProcess::heptad_json(std::vector<std::string> words) {
    words.emplace_back("--json");
    const nlohmann::json object = nlohmann::json::parse(heptad_ok(words), nullptr, false);
    EXPECT_TRUE(object.is_object());
    return object;
}

void HeptadProcess::write(const std::string& name, const std::string& bytes) {
    std::ofstream file(folder_ / name, std::ios::binary);
    file << bytes;
    ASSERT_TRUE(file.good()) << name;
}

std::string HeptadProcess::read(const std::string& name) {
    EXPECT_TRUE(fs::exists(folder_ / name)) << name;
    return slurp(folder_ / name);
}

void HeptadProcess::write_matrix(const std::string& name, const TestMatrix& matrix, const std::string& dtype,
                                 bool fortran_order) {
    write(name, npy_file(matrix, dtype, fortran_order));
}

std::vector<std::pair<std::string, std::string>> HeptadProcess::folder_contents() {
    std::vector<std::pair<std::string, std::string>> contents;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
        contents.emplace_back(entry.path().lexically_relative(folder_).string(),
                              entry.is_regular_file() ? slurp(entry.path()) : "");
    }
    std::sort(contents.begin(), contents.end());
    return contents;
}

}  // namespace heptad::testing

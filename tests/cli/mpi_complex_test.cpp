// heptad-mpi with complex matrices: every algorithm gives the product of the definition, checked, with conjugates and
// complex factors; a job that was killed goes on, with the same ones only.
#include <algorithm>
#include <complex>
#include <cstring>

#include "cli/mpi_process.hpp"

namespace heptad::testing {
namespace {

using Complex = std::complex<double>;

struct ComplexMatrix {
    std::int64_t rows = 0, cols = 0;
    std::vector<Complex> values;  // row by row
    const Complex& at(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>(i * cols + j)]; }
};

ComplexMatrix small(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
    const TestMatrix real = integers(rows, cols, seed), imaginary = integers(rows, cols, seed + 100);
    ComplexMatrix matrix{rows, cols, {}};
    for (std::size_t i = 0; i < real.values.size(); ++i) {
        matrix.values.emplace_back(real.values[i], imaginary.values[i]);
    }
    return matrix;
}

/// Of the conjugate transpose of a, and b.
ComplexMatrix product(Complex alpha, const ComplexMatrix& a, const ComplexMatrix& b, Complex beta,
                      const ComplexMatrix& c0) {
    ComplexMatrix c{a.cols, b.cols, {}};
    for (std::int64_t i = 0; i < c.rows; ++i) {
        for (std::int64_t j = 0; j < c.cols; ++j) {
            Complex sum = 0;
            for (std::int64_t p = 0; p < a.rows; ++p) {
                sum += std::conj(a.at(p, i)) * b.at(p, j);
            }
            c.values.push_back(alpha * sum + (beta == 0.0 ? 0.0 : beta * c0.at(i, j)));
        }
    }
    return c;
}

template <class T>
std::string bytes_as(const ComplexMatrix& matrix) {
    std::string bytes;
    for (const Complex& value : matrix.values) {
        const T parts[2] = {static_cast<T>(value.real() + 0.0), static_cast<T>(value.imag() + 0.0)};
        bytes.append(reinterpret_cast<const char*>(parts), sizeof parts);
    }
    return bytes;
}
std::string bytes_of(const ComplexMatrix& matrix, const std::string& dtype) {
    return dtype == "<c8" ? bytes_as<float>(matrix) : bytes_as<double>(matrix);
}

class MpiComplex : public Mpi {
protected:
    void write_complex(const std::string& name, const ComplexMatrix& matrix, const std::string& dtype) {
        write(name, npy_bytes("{'descr': '" + dtype + "', 'fortran_order': False, 'shape': (" +
                                  std::to_string(matrix.rows) + ", " + std::to_string(matrix.cols) + "), }",
                              bytes_of(matrix, dtype)));
    }
    /// C^H = A^H B of odd sizes, with a C0.
    void make_complex(const std::string& dtype) {
        left_ = small(83, 61, 1);
        right_ = small(83, 47, 2);
        c0_ = small(61, 47, 3);
        write_complex("A.npy", left_, dtype);
        write_complex("B.npy", right_, dtype);
        write_complex("C0.npy", c0_, dtype);
    }
    /// Zeros may have either sign.
    void expect_complex(int ranks, const Words& more, const ComplexMatrix& expected, const std::string& dtype) {
        SCOPED_TRACE(std::to_string(ranks) + " ranks" + joined(more) + " " + dtype);
        Words words{"--transpose-a", "--conjugate-a", "--verify"};
        words.insert(words.end(), more.begin(), more.end());
        const nlohmann::json told = report(ranks, words);
        ASSERT_TRUE(told.is_object());
        EXPECT_EQ(told["type"], dtype == "<c8" ? "c64" : "c128");
        const bool is_caps = told["plan"].get<std::string>().find("algorithm=caps") != std::string::npos;
        EXPECT_EQ(is_caps, std::find(more.begin(), more.end(), "caps") != more.end());
        EXPECT_EQ(told["verified"], true) << told;
        const std::string all = read("C.npy"), wanted = bytes_of(expected, dtype);
        ASSERT_GT(all.size(), wanted.size());
        const std::string data = all.substr(all.size() - wanted.size());
        if (dtype == "<c8") {
            expect_equal<float>(data, wanted);
        } else {
            expect_equal<double>(data, wanted);
        }
        std::filesystem::remove(folder_ / "C.npy");
    }

    ComplexMatrix left_, right_, c0_;

private:
    template <class T>
    static void expect_equal(const std::string& data, const std::string& wanted) {
        std::vector<T> found(data.size() / sizeof(T)), meant(found.size());
        std::memcpy(found.data(), data.data(), data.size());
        std::memcpy(meant.data(), wanted.data(), wanted.size());
        EXPECT_TRUE(found == meant);
    }
};

TEST_F(MpiComplex, every_algorithm_equals_the_definition_on_2_4_and_7_ranks) {
    for (const std::string dtype : {"<c8", "<c16"}) {
        make_complex(dtype);
        const ComplexMatrix plain = product(1, left_, right_, 0, {}),
                            sum = product({1, -2}, left_, right_, {0, 1}, c0_);
        for (const auto& [ranks, grid] : {std::pair{2, "1x2x1"}, {4, "2x2x1"}, {7, "1x3x2"}}) {
            for (const Words& algorithm : {Words{"--grid", grid}, Words{"--algorithm", "pegmm", "--block", "7x10x9"},
                                           Words{"--algorithm", "mod-pegmm", "--block", "7x10x5"}}) {
                Words words = algorithm;
                expect_complex(ranks, words, plain, dtype);
                words.insert(words.end(), {"--alpha", "1-2i", "--beta", "i", "--add", "C0.npy"});
                expect_complex(ranks, words, sum, dtype);
            }
        }
        expect_complex(7, {"--algorithm", "caps"}, plain, dtype);
        expect_complex(7, {"--algorithm", "caps", "--alpha", "2-i"}, product({2, -1}, left_, right_, 0, {}), dtype);
    }
}

TEST_F(MpiComplex, what_the_root_alone_has_is_scattered_and_parts_may_stay_where_they_are) {
    make_complex("<c8");
    std::filesystem::create_directory(folder_ / "scratch");
    const ComplexMatrix plain = product(1, left_, right_, 0, {});
    for (const char* algorithm : {"grid", "pegmm", "mod-pegmm"}) {
        expect_complex(4, {"--algorithm", algorithm, "--scatter", "--scratch", "scratch"}, plain, "<c8");
    }
    const nlohmann::json parts = report(3, {"--transpose-a", "--conjugate-a", "--verify", "--keep-parts"});
    EXPECT_EQ(parts["verified"], true) << parts;
}

TEST_F(MpiComplex, complex_factors_of_real_matrices_are_refused) {
    make_operands(20, 20, 20, "<f4");
    expect_failure(2, started(2, mul({"--alpha", "2i"})), {"complex factors", "c64"});
}

TEST_F(MpiComplex, a_killed_job_goes_on_with_the_same_conjugates_and_factors_only) {
    const ComplexMatrix a = small(480, 480, 1), b = small(480, 480, 2);
    write_complex("A.npy", a, "<c8");
    write_complex("B.npy", b, "<c8");
    const Words words = mul({"--conjugate-a", "--alpha", "1+2i", "--algorithm", "pegmm", "--block", "80x240x80",
                             "--device", "reference", "--threads", "1"});
    const auto with = [](Words all, const Words& more) {
        all.insert(all.end(), more.begin(), more.end());
        return all;
    };
    ASSERT_EQ(heptad(started(3, words)).exit_code, 0);
    const std::string undisturbed = read("C.npy");
    std::filesystem::remove(folder_ / "C.npy");
    const auto units = [&] {
        std::ifstream journal(folder_ / "C.npy.part-0.journal");
        int count = 0;
        for (std::string line; std::getline(journal, line);) {
            count += line.starts_with("unit ") ? 1 : 0;
        }
        return count;
    };
    ASSERT_NE(killed(3, words, Victims::all, [&] { return units() >= 2; }).exit_code, 0);
    Words other_factor = words, other_form = words;
    std::replace(other_factor.begin(), other_factor.end(), std::string("1+2i"), std::string("1-2i"));
    std::replace(other_form.begin(), other_form.end(), std::string("--conjugate-a"), std::string("--conjugate-b"));
    for (const Words& other : {other_factor, other_form}) {
        const Outcome refused = heptad(started(3, with(other, {"--resume"})));
        EXPECT_EQ(refused.exit_code, 3) << refused.err;
        EXPECT_NE(refused.err.find("differs from this one"), std::string::npos) << refused.err;
    }
    const Outcome done = heptad(started(3, with(words, {"--resume", "--json", "--verify"})));
    ASSERT_EQ(done.exit_code, 0) << done.err;
    const nlohmann::json told = nlohmann::json::parse(done.out, nullptr, false);
    EXPECT_GE(told["ranks"][0]["resumed_units"], 2);
    EXPECT_EQ(told["verified"], true);
    EXPECT_TRUE(read("C.npy") == undisturbed);
}

}  // namespace
}  // namespace heptad::testing

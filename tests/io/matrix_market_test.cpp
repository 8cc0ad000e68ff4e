// Numbers of Matrix Market files: both formats, symmetries, types, and everything that can be wrong with them.
#include "io/matrix_market.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.hpp"
#include "base/half.hpp"
#include "io/scratch_folder.hpp"
#include "io/whole_matrix.hpp"

namespace heptad {
namespace {

class MatrixMarket : public ::testing::Test {
protected:
    std::string write(const std::string& banner, const std::string& rest) {
        const std::string path = folder_ / "m.mtx";
        write_text(path, "%%MatrixMarket matrix " + banner + "\n" + rest);
        return path;
    }
    std::vector<double> f64(const std::string& banner, const std::string& rest) {
        const Matrix matrix = read_market_matrix(write(banner, rest), Type::f64);
        const auto* const data = static_cast<const double*>(matrix.data());
        return {data, data + matrix.rows() * matrix.cols()};
    }
    /// The sentence of the refusal; empty where there was none.
    std::string refusal(const std::string& banner, const std::string& rest, std::optional<Type> as = Type::f64,
                        ErrorCode code = ErrorCode::input) {
        try {
            read_market_matrix(write(banner, rest), as);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), code) << error.what();
            return error.what();
        }
        return "";
    }
    ScratchFolder folder_;
};

TEST_F(MatrixMarket, coordinates_are_placed_and_those_of_one_place_added) {
    EXPECT_EQ(f64("coordinate real general", "% a comment\n2 3 4\n1 1 0.5\n2 3 -1e2\n\n1 2 3\n1 2 4\n"),
              (std::vector<double>{0.5, 7, 0, 0, 0, -100}));
    EXPECT_EQ(f64("coordinate integer general", "1 2 1\n1 2 +7\n"), (std::vector<double>{0, 7}));
    EXPECT_EQ(f64("coordinate pattern general", "2 2 2\n1 2\n2 1\n"), (std::vector<double>{0, 1, 1, 0}));
    EXPECT_EQ(f64("coordinate real general", "0 5 0\n").size(), 0U);
}

TEST_F(MatrixMarket, arrays_go_column_by_column) {
    EXPECT_EQ(f64("array real general", "2 3\n1\n2\n3\n4\n5\n6\n"), (std::vector<double>{1, 3, 5, 2, 4, 6}));
    EXPECT_EQ(f64("array integer symmetric", "3 3\n1\n2\n3\n4\n5\n6"),
              (std::vector<double>{1, 2, 3, 2, 4, 5, 3, 5, 6}));
    EXPECT_EQ(f64("array real skew-symmetric", "3 3\n2\n3\n5\n"), (std::vector<double>{0, -2, -3, 2, 0, -5, 3, 5, 0}));
    EXPECT_EQ(f64("array real skew-symmetric", "1 1\n"), (std::vector<double>{0}));
    EXPECT_EQ(f64("array real general", "3 0\n").size(), 0U);
}

TEST_F(MatrixMarket, one_triangle_stands_for_both) {
    EXPECT_EQ(f64("coordinate real symmetric", "2 2 2\n2 1 3\n2 2 5\n"), (std::vector<double>{0, 3, 3, 5}));
    EXPECT_EQ(f64("coordinate real skew-symmetric", "2 2 1\n2 1 3\n"), (std::vector<double>{0, -3, 3, 0}));
    EXPECT_NE(refusal("coordinate real skew-symmetric", "2 2 1\n2 2 3\n").find("diagonal"), std::string::npos);
    EXPECT_NE(refusal("coordinate real symmetric", "2 3 0\n"), "");
}

TEST_F(MatrixMarket, complex_numbers_have_two_parts_and_hermitian_triangles_stand_for_conjugates) {
    const auto read = [&](const std::string& banner, const std::string& rest) {
        const Matrix matrix = read_market_matrix(write(banner, rest), {});
        EXPECT_EQ(matrix.type(), Type::c128);
        const auto* const parts = static_cast<const double*>(matrix.data());
        return std::vector<double>(parts, parts + 2 * matrix.rows() * matrix.cols());
    };
    EXPECT_EQ(read("array complex general", "1 2\n1 -2\n0.5 3e1\n"), (std::vector<double>{1, -2, 0.5, 30}));
    EXPECT_EQ(read("coordinate complex hermitian", "2 2 2\n2 1 3 4\n2 2 5 0\n"),
              (std::vector<double>{0, 0, 3, -4, 3, 4, 5, 0}));
    EXPECT_EQ(read("coordinate complex skew-symmetric", "2 2 1\n2 1 3 4\n"),
              (std::vector<double>{0, 0, -3, -4, 3, 4, 0, 0}));
    EXPECT_EQ(read("array complex symmetric", "2 2\n1 1\n2 2\n3 3\n"), (std::vector<double>{1, 1, 2, 2, 2, 2, 3, 3}));
    const std::string path = write("array complex general", "1 2\n0 1\n0 0\n");
    EXPECT_EQ(static_cast<const float*>(read_market_matrix(path, Type::c64).data())[1], 1.0F);
    const Matrix bits = read_market_matrix(path, Type::gf2);
    EXPECT_EQ(static_cast<const std::uint8_t*>(bits.data())[0], 1);  // what is not zero
    EXPECT_EQ(static_cast<const std::uint8_t*>(bits.data())[1], 0);
    EXPECT_NE(refusal("array complex general", "1 1\n1 1\n", Type::f64, ErrorCode::usage), "");
    EXPECT_NE(refusal("array real general", "1 1\n1\n", Type::c64, ErrorCode::usage), "");
}

TEST_F(MatrixMarket, numbers_take_the_type_asked_for) {
    const std::string path = write("array real general", "1 3\n1.5\n-2\n0.1\n");
    EXPECT_EQ(static_cast<const float*>(read_market_matrix(path, Type::f32).data())[2], 0.1F);
    EXPECT_EQ(read_market_matrix(path, Type::tf32).type(), Type::tf32);
    const Matrix half = read_market_matrix(path, Type::f16), brain = read_market_matrix(path, Type::bf16);
    EXPECT_EQ(static_cast<const f16*>(half.data())[2].bits, to_f16(0.1F).bits);
    EXPECT_EQ(static_cast<const bf16*>(brain.data())[0].bits, to_bf16(1.5F).bits);
    const Matrix bits = read_market_matrix(path, Type::gf2);
    EXPECT_EQ(static_cast<const std::uint8_t*>(bits.data())[1], 1);
    EXPECT_EQ(read_market_matrix(path, {}).type(), Type::f64);
    EXPECT_EQ(read_market_matrix(write("array integer general", "1 1\n-2147483648\n"), {}).type(), Type::i32);
    const Matrix opposite =
        read_market_matrix(write("coordinate integer general", "1 1 2\n1 1 1\n1 1 -1\n"), Type::gf2);
    EXPECT_EQ(static_cast<const std::uint8_t*>(opposite.data())[0], 1);  // places that are stored, not sums
}

TEST_F(MatrixMarket, values_that_the_type_does_not_hold_are_refused_with_their_line) {
    const std::string said = refusal("array real general", "1 2\n1\n0.5\n", Type::i32);
    EXPECT_NE(said.find("line 4"), std::string::npos) << said;
    EXPECT_NE(said.find("0.5"), std::string::npos) << said;
    EXPECT_NE(refusal("array integer general", "1 1\n2147483648\n", Type::i32), "");
    EXPECT_EQ(read_market_matrix(write("array integer general", "1 1\n2147483648\n"), Type::i64).type(), Type::i64);
    EXPECT_NE(refusal("coordinate integer general", "1 1 2\n1 1 2147483647\n1 1 1\n", Type::i32), "");
    EXPECT_NE(refusal("coordinate integer skew-symmetric", "2 2 1\n2 1 -2147483648\n", Type::i32), "");
    EXPECT_NE(refusal("array real general", "1 1\n70000\n", Type::f16), "");
    EXPECT_NE(refusal("array real general", "1 1\n1e39\n", Type::f32), "");
    EXPECT_NE(refusal("array integer general", "1 1\n1.5\n"), "");
    EXPECT_NE(refusal("coordinate pattern general", "1 1 1\n1 1\n", {}, ErrorCode::usage).find("--type"),
              std::string::npos);
}

TEST_F(MatrixMarket, integers_of_64_bits_are_read_exactly) {
    const auto read = [&](const std::string& banner, const std::string& rest) {
        const Matrix matrix = read_market_matrix(write(banner, rest), Type::i64);
        const auto* const data = static_cast<const std::int64_t*>(matrix.data());
        return std::vector<std::int64_t>(data, data + matrix.rows() * matrix.cols());
    };
    constexpr std::int64_t kOdd = 9007199254740993, kMost = 9223372036854775807;
    for (const char* field : {"integer", "real"}) {
        EXPECT_EQ(read(std::string("array ") + field + " general",
                       "1 4\n9007199254740993\n +9223372036854775807\n-9223372036854775808\n1e3\n"),
                  (std::vector<std::int64_t>{kOdd, kMost, -kMost - 1, 1000}));
    }
    EXPECT_EQ(read("coordinate integer skew-symmetric", "2 2 1\n2 1 9007199254740993\n"),
              (std::vector<std::int64_t>{0, -kOdd, kOdd, 0}));
    EXPECT_EQ(read("coordinate integer general", "1 1 3\n1 1 9223372036854775807\n1 1 -1\n1 1 1.0\n"),
              (std::vector<std::int64_t>{kMost}));
    EXPECT_EQ(read("coordinate pattern general", "1 1 1\n1 1\n"), (std::vector<std::int64_t>{1}));
    const auto refused = [&](const std::string& banner, const std::string& rest, Type type, const char* has) {
        const std::string said = refusal(banner, rest, type);
        EXPECT_NE(said.find(has), std::string::npos) << said;
    };
    refused("coordinate integer general", "1 1 2\n1 1 9223372036854775807\n1 1 1\n", Type::i64,
            "not an element of i64");
    refused("coordinate integer skew-symmetric", "2 2 1\n2 1 -9223372036854775808\n", Type::i64, "not an element");
    refused("array integer general", "1 1\n9223372036854775808\n", Type::i64, "not an element of i64");
    refused("array integer general", "1 1\n1e17\n", Type::i64, "without a point or an exponent");
    refused("array real general", "1 1\n9007199254740993\n", Type::i32, "9007199254740993 is not an element of i32");
}

TEST_F(MatrixMarket, integers_that_f64_would_round_are_refused_and_real_numbers_are_rounded) {
    for (const char* number :
         {"9007199254740993", "-9007199254740993", "+009007199254740993", "18446744073709551617"}) {
        const std::string said = refusal("array integer general", std::string("1 1\n") + number + "\n");
        EXPECT_NE(said.find("would be rounded to f64"), std::string::npos) << number << ": " << said;
        EXPECT_EQ(refusal("array real general", std::string("1 1\n") + number + "\n"), "") << number;
        EXPECT_EQ(refusal("array integer general", std::string("1 1\n") + number + "\n", Type::f32), "") << number;
    }
    EXPECT_EQ(f64("array integer general", "1 3\n9007199254740992\n-009007199254740994\n18446744073709551616\n"),
              (std::vector<double>{0x1p53, -0x1p53 - 2, 0x1p64}));
}

TEST_F(MatrixMarket, numbers_below_the_range_of_f64_are_zero_and_those_above_it_are_refused) {
    EXPECT_EQ(f64("array real general", "1 3\n1e-400\n-1e-400\n1e-320\n"), (std::vector<double>{0, 0, 1e-320}));
    EXPECT_EQ(f64("array real general", "1 1\n0." + std::string(500, '0') + "1e600\n"), (std::vector<double>{1e99}));
    for (const char* number : {"1e400", "-1e400", "inf", "1e-400x"}) {
        const std::string said = refusal("array real general", std::string("1 1\n") + number + "\n");
        EXPECT_NE(said.find("in the range of f64"), std::string::npos) << number << ": " << said;
    }
}

TEST_F(MatrixMarket, hostile_files_are_refused) {
    const std::vector<std::pair<std::string, std::string>> files{
        {"vector real general", "1\n1\n"},
        {"array complex general", "1 1\n1\n"},
        {"array complex general", "1 1\n1 2 3\n"},
        {"coordinate complex hermitian", "2 2 1\n2 2 1 1\n"},
        {"array pattern general", "1 1\n"},
        {"array real hermitian", "1 1\n1\n"},
        {"array real general", ""},
        {"array real general", "2\n1\n2\n"},
        {"array real general", "1 1 1\n1\n"},
        {"array real general", "-1 1\n1\n"},
        {"array real general", "2 2\n1\n2\n3\n"},
        {"array real general", "2 2\n1\n2\n3\n4\n5\n"},
        {"array real general", "1 1\nnan\n"},
        {"array real general", "1 1\n1 2\n"},
        {"array real general", "1000000 1000000\n1\n"},
        {"array real general", "4611686018427387904 4\n1\n"},
        {"array real symmetric", "2 3\n1\n"},
        {"coordinate real general", "2 2 1\n1 1\n"},
        {"coordinate real general", "2 2 1\n3 1 1\n"},
        {"coordinate real general", "2 2 1\n1 1 1\n1 1 1\n"},
        {"coordinate real general", "2 2 2\n1 1 1\n"},
    };
    for (const auto& [banner, rest] : files) {
        const bool complex = banner.find("complex") != std::string::npos;
        EXPECT_NE(refusal(banner, rest, complex ? Type::c128 : Type::f64), "") << banner << " " << rest;
    }
}

TEST_F(MatrixMarket, facts_are_known_before_the_numbers_and_nothing_is_read_in_pieces) {
    const std::string path = write("coordinate real general", "1000 2000 1\n1 1 1\n");
    const MatrixFacts facts = matrix_facts({.path = path, .as = Type::f32});
    EXPECT_EQ(facts.type, Type::f32);
    EXPECT_EQ(facts.rows, 1000);
    EXPECT_EQ(facts.cols, 2000);
    EXPECT_EQ(facts.bytes, 8000000);
    EXPECT_THROW(find_matrix({.path = path}), Error);
    EXPECT_EQ(read_matrix({.path = path}).type(), Type::f64);
    EXPECT_TRUE(is_matrix_market_name("a/B.MTX"));
    EXPECT_FALSE(is_matrix_market_name("mtx"));
    EXPECT_FALSE(is_matrix_market_name("a.mtx.npy"));
}

TEST_F(MatrixMarket, a_cancelled_reading_ends) {
    std::string rest = "1 1048576\n";
    for (int i = 0; i < 1048576; ++i) {
        rest += "1\n";
    }
    FileHooks hooks;
    hooks.cancel.cancel();
    try {
        read_market_matrix(write("array integer general", rest), {}, hooks);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::cancelled);
    }
}

}  // namespace
}  // namespace heptad

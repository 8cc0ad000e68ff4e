// Files of bit matrices: round trips of every format and shape, bytes as the standards have them, hostile headers.
#include "io/bit_file.hpp"

#include <gtest/gtest.h>

#include <random>

#include "io/npy.hpp"
#include "io/scratch_folder.hpp"

namespace {

using namespace heptad;

class BitFile : public ::testing::Test {
protected:
    std::string path(const std::string& name) const { return folder_ / name; }
    std::string write(const std::string& name, const std::string& bytes) const {
        write_text(path(name), bytes);
        return path(name);
    }
    std::string read(const std::string& name) const { return read_text(path(name)); }
    /// The sentence with which a file is refused; empty if it is read.
    std::string refusal(const std::string& name, const std::string& bytes,
                        std::optional<std::int64_t> columns = {}) const {
        try {
            read_bits(write(name, bytes), columns);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
            return error.what();
        }
        return "";
    }
    static bool png_works() {
        try {
            read_bit_header("/nonexistent/x.png");
        } catch (const Error& error) {
            return std::string(error.what()).find("no zlib") == std::string::npos;
        }
        return true;
    }

    ScratchFolder folder_;
};

TEST_F(BitFile, every_format_gives_the_bits_back) {
    for (const auto& [rows, cols] : {std::pair<int, int>{1, 1}, {3, 7}, {5, 8}, {64, 64}, {7, 65}, {100, 1001}}) {
        BitMatrix wide = BitMatrix::random(rows, cols + 70, 9);
        const ConstBitView window = wide.view().block(0, 13, rows, cols);
        for (const char* name : {"x.pbm", "x.PNG", "x.npy"}) {
            if (name == std::string("x.PNG") && !png_works()) {
                continue;
            }
            write_bits(path(name), window);
            EXPECT_TRUE(read_bits(path(name)).view() == window) << name << " " << rows << " " << cols;
            const BitFileHeader header = read_bit_header(path(name));
            EXPECT_EQ(header.rows, rows);
            EXPECT_EQ(header.cols, cols);
        }
        write_bits(path("packed.npy"), window, true);
        EXPECT_TRUE(read_bits(path("packed.npy"), cols).view() == window);
        EXPECT_THROW(read_bits(path("packed.npy"), cols + 8), Error);
        EXPECT_EQ(read_bit_header(path("packed.npy"), cols).format, BitFormat::npy_packed);
    }
}

TEST_F(BitFile, empty_matrices) {
    for (const auto& [rows, cols] : {std::pair<int, int>{0, 5}, {5, 0}, {0, 0}}) {
        const BitMatrix none(rows, cols);
        for (const char* name : {"e.pbm", "e.npy"}) {
            write_bits(path(name), none);
            EXPECT_TRUE(read_bits(path(name)) == none) << name;
        }
    }
    EXPECT_THROW(write_bits(path("e.png"), BitMatrix(0, 5)), Error);
}

TEST_F(BitFile, pbm_has_the_first_column_in_the_highest_bit) {
    BitMatrix m(2, 10);
    m.set(0, 0, true);
    m.set(1, 9, true);
    write_bits(path("m.pbm"), m);
    // A comment makes the header 4096 bytes long.
    const std::string file = read("m.pbm");
    ASSERT_EQ(file.size(), 4100U);
    EXPECT_TRUE(file.starts_with("P4\n#"));
    EXPECT_EQ(file.find('\n', 3), 4096U - 6);
    EXPECT_EQ(file.substr(4096 - 6), std::string("\n10 2\n\x80\x00\x00\x40", 10));
    // Comments, other blanks, and rubbish in the bits beyond the last column.
    EXPECT_TRUE(read_bits(write("c.pbm", std::string("P4 # a\n#b\n10\t# c\n2\n\x80\x3f\x00\x7f", 23))) == m);
}

TEST_F(BitFile, npy_of_both_orders_and_bytes) {
    const BitMatrix m = BitMatrix::random(5, 70, 3);
    write_bits(path("m.npy"), m);
    const Matrix bytes = read_npy(path("m.npy"), Type::boolean);
    for (std::int64_t i = 0; i < 5; ++i) {
        for (std::int64_t j = 0; j < 70; ++j) {
            EXPECT_EQ(static_cast<const std::uint8_t*>(bytes.data())[i * 70 + j], m(i, j) ? 1 : 0);
        }
    }
    std::string fortran = read("m.npy");
    const std::string order = "'fortran_order': False, 'shape': (5, 70), ";
    const std::string other = "'fortran_order': True, 'shape': (70, 5),  ";
    const std::size_t at = fortran.find(order);
    ASSERT_NE(at, std::string::npos) << fortran.substr(0, 100);
    fortran.replace(at, order.size(), other);
    EXPECT_TRUE(read_bits(write("f.npy", fortran)) == m.transposed());
    std::string wrong = read("m.npy");
    wrong.back() = 2;
    EXPECT_NE(refusal("w.npy", wrong).find("element 349"), std::string::npos);
}

TEST_F(BitFile, png_is_black_where_the_matrix_is_one) {
    if (!png_works()) {
        GTEST_SKIP() << "built without zlib";
    }
    // 3 x 2 pixels, rows 101 and 010, made by hand: stored (unpacked) block, one IDAT.
    BitMatrix m(2, 3);
    m.set(0, 0, true);
    m.set(0, 2, true);
    m.set(1, 1, true);
    write_bits(path("m.png"), m);
    const std::string bytes = read("m.png");
    EXPECT_EQ(bytes.substr(0, 29), std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02\x01\0\0\0\0", 29));
}

TEST_F(BitFile, matrix_market_patterns) {
    const BitMatrix m = read_bits(write("g.mtx",
                                        "%%MatrixMarket matrix coordinate pattern general\n% a comment\n\n3 4 3\n1 1\n"
                                        "3 4\n 2\t3 \n"));
    EXPECT_EQ(m.rows(), 3);
    EXPECT_EQ(m.cols(), 4);
    EXPECT_EQ(bits::count_ones(m), 3);
    EXPECT_TRUE(m(0, 0) && m(2, 3) && m(1, 2));
    const BitMatrix s =
        read_bits(write("s.mtx", "%%MatrixMarket MATRIX Coordinate Real Symmetric\n3 3 2\n2 1 0.5\n3 3 0.0e0\n"));
    EXPECT_EQ(bits::count_ones(s), 2);
    EXPECT_TRUE(s(0, 1) && s(1, 0));
    EXPECT_EQ(bits::count_ones(read_bits(write("e.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 0\n"))),
              0);
}

TEST_F(BitFile, matrix_market_values_other_than_zero_are_ones) {
    const std::string banner = "%%MatrixMarket matrix coordinate real general\n1 9 9\n";
    const BitMatrix m = read_bits(write("v.mtx", banner + "1 1 0.0e+05\n1 2 -0\n1 3 +0.e7\n1 4 +1\n1 5 2\n1 6 -1e-3 \n"
                                                          "1 7\t.5\r\n1 8 00\n1 9 10\n"));
    for (const std::int64_t zero : {0, 1, 2, 7}) {
        EXPECT_FALSE(m(0, zero)) << zero;
    }
    for (const std::int64_t one : {3, 4, 5, 6, 8}) {
        EXPECT_TRUE(m(0, one)) << one;
    }
    for (const char* value : {"nan", "inf", "-inf", "xyz", "0e1 junk", "1 2", "1e999", "+-1", "0x1", "1,5", "e5"}) {
        EXPECT_NE(
            refusal("w.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 " + std::string(value) + "\n")
                .find("not a finite number"),
            std::string::npos)
            << value;
    }
}

TEST_F(BitFile, hostile_matrix_market_is_refused) {
    const std::string banner = "%%MatrixMarket matrix coordinate pattern general\n";
    for (const std::string& text : {std::string(),
                                    std::string("hello\n"),
                                    std::string("%%MatrixMarket matrix array real general\n2 2\n"),
                                    std::string("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1\n"),
                                    std::string("%%MatrixMarket matrix coordinate pattern hermitian\n1 1 0\n"),
                                    banner,
                                    banner + "3 3\n",
                                    banner + "3 3 1 1\n",
                                    banner + "3 3 -1\n",
                                    banner + "3 99999999999999999999 1\n1 1\n",
                                    banner + "3 3 1\n",
                                    banner + "3 3 1\n4 1\n",
                                    banner + "3 3 1\n0 1\n",
                                    banner + "3 3 1\n1 1 1\n",
                                    banner + "3 3 1\n1 1\n2 2\n",
                                    banner + "3 3 2\n1 1\n",
                                    banner + "3 3 999999999999\n1 1\n",
                                    banner + "3 3 1\n1 x\n",
                                    banner + "1 1 0\n" + std::string(70000, 'x'),
                                    std::string("%%MatrixMarket matrix coordinate pattern symmetric\n2 3 0\n")}) {
        EXPECT_NE(refusal("h.mtx", text), "") << text.substr(0, 80);
    }
    EXPECT_THROW(write_bits(path("o.mtx"), BitMatrix(2, 2)), Error);
}

TEST_F(BitFile, hostile_pbm_is_refused) {
    for (const std::string& text :
         {std::string(), std::string("P"), std::string("P1\n1 1\n1"), std::string("P4"), std::string("P4\n"),
          std::string("P4\n8"), std::string("P4\n8 1"), std::string("P4\n8 1\n"), std::string("P4\n8 1\nab"),
          std::string("P4\n-8 1\na"), std::string("P4\n8x1\na"), std::string("P4\n99999999999999999999 1\na"),
          std::string("P4\n9223372036854775807 9223372036854775807\na"), std::string("P4 # no end"),
          std::string("P4\n1000000 1000000\na")}) {
        EXPECT_NE(refusal("h.pbm", text), "") << text;
    }
    EXPECT_THROW(read_bits(path("missing.pbm")), Error);
    EXPECT_THROW(read_bits(path(".")), Error);
}

TEST_F(BitFile, hostile_png_is_refused) {
    if (!png_works()) {
        GTEST_SKIP() << "built without zlib";
    }
    write_bits(path("good.png"), BitMatrix::random(40, 50, 1));
    const std::string good = read("good.png");
    ASSERT_EQ(refusal("copy.png", good), "");
    for (std::size_t bytes = 0; bytes + 12 < good.size(); bytes += 1 + bytes / 8) {
        EXPECT_NE(refusal("cut.png", good.substr(0, bytes)), "") << bytes;
    }
    for (const std::size_t at : {0U, 9U, 15U, 17U, 24U, 25U, 28U, 31U, 40U, 60U}) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 0x10);
        EXPECT_NE(refusal("bad.png", bad), "") << at;
    }
}

TEST_F(BitFile, random_edits_never_do_worse_than_a_refusal) {
    std::mt19937_64 random(11);
    const BitMatrix m = BitMatrix::random(20, 30, 1);
    for (const char* name : {"m.pbm", "m.png", "m.npy"}) {
        if (name == std::string("m.png") && !png_works()) {
            continue;
        }
        write_bits(path(name), m);
        const std::string good = read(name);
        for (int round = 0; round < 300; ++round) {
            std::string bad = good;
            for (int edit = 0; edit < 3; ++edit) {
                bad[random() % std::min<std::size_t>(bad.size(), 200)] = static_cast<char>(random());
            }
            try {
                read_bits(write(name, bad));
            } catch (const Error&) {  // a sentence is all that may come
            }
        }
    }
}

}  // namespace

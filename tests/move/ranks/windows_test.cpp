// Windows of files: read in every order, kept on scratch, written by several writers and published at the end.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "base/error.hpp"
#include "io/scratch_folder.hpp"
#include "move/ranks/communicator.hpp"
#include "move/ranks/window_source.hpp"
#include "move/ranks/window_writer.hpp"
#include "product/cluster/rank_work.hpp"

namespace heptad {
namespace {

/// 7 x 5, element (i, j) is 10 i + j.
Matrix numbered() {
    Matrix matrix(Type::i32, 7, 5);
    auto* const data = static_cast<std::int32_t*>(matrix.data());
    for (std::int32_t i = 0; i < 35; ++i) {
        data[i] = 10 * (i / 5) + i % 5;
    }
    return matrix;
}

class Windows : public ::testing::Test {
protected:
    std::string path(const std::string& name) const { return folder_ / name; }

private:
    ScratchFolder folder_;
};

TEST_F(Windows, window_of_a_file_and_of_its_transpose) {
    write_npy(path("a.npy"), numbered());
    const MatrixWindows straight(path("a.npy"), std::nullopt, false);
    std::vector<std::int32_t> got(6);
    straight.read({2, 1, 2, 3}, got.data());
    EXPECT_EQ(got, (std::vector<std::int32_t>{21, 22, 23, 31, 32, 33}));
    const MatrixWindows turned(path("a.npy"), std::nullopt, true);
    EXPECT_EQ(turned.rows(), 5);
    turned.read({1, 2, 3, 2}, got.data());
    EXPECT_EQ(got, (std::vector<std::int32_t>{21, 31, 22, 32, 23, 33}));
    straight.read({3, 0, 0, 5}, nullptr);  // nothing to read
}

TEST_F(Windows, whole_rows_are_read_at_once) {
    write_npy(path("a.npy"), numbered());
    std::vector<std::int32_t> got(10);
    MatrixWindows(path("a.npy"), std::nullopt, false).read({5, 0, 2, 5}, got.data());
    EXPECT_EQ(got, (std::vector<std::int32_t>{50, 51, 52, 53, 54, 60, 61, 62, 63, 64}));
}

TEST_F(Windows, byte_that_is_no_bit_is_refused) {
    Matrix bytes(Type::boolean, 2, 2);
    std::fill_n(static_cast<std::uint8_t*>(bytes.data()), 4, std::uint8_t{3});
    write_npy(path("b.npy"), bytes);
    std::vector<std::uint8_t> got(4);
    EXPECT_THROW(MatrixWindows(path("b.npy"), std::nullopt, false).read({0, 0, 2, 2}, got.data()), Error);
}

TEST_F(Windows, scratch_file_gives_windows_back_and_goes_with_its_owner) {
    {
        const ScratchSource scratch(path("s"), {{0, 0, 2, 2}, {9, 9, 0, 4}, {5, 5, 1, 3}}, Type::i32);
        ASSERT_EQ(scratch.count(), 3U);
        EXPECT_EQ(scratch.bytes(1), 0);
        const std::vector<std::int32_t> first{1, 2, 3, 4}, last{5, 6, 7};
        scratch.write(2, last.data());
        scratch.write(0, first.data());
        std::vector<std::int32_t> got(3);
        scratch.read(2, got.data());
        EXPECT_EQ(got, last);
    }
    EXPECT_FALSE(std::filesystem::exists(path("s")));
    EXPECT_THROW(ScratchSource(path("no/such/s"), {}, Type::i32), Error);
}

TEST_F(Windows, scratch_file_that_is_kept_is_found_again_if_it_has_its_length) {
    const std::vector<Window> windows{{0, 0, 1, 2}, {5, 5, 1, 3}};
    const std::vector<std::int32_t> first{1, 2}, last{5, 6, 7};
    std::uint64_t sum = 0;
    {
        ScratchSource scratch(path("s"), windows, Type::i32);
        scratch.write(0, first.data());
        scratch.write(1, last.data());
        sum = scratch.sum();
        scratch.keep();
    }
    {
        const std::unique_ptr<ScratchSource> again = ScratchSource::reopen(path("s"), windows, Type::i32);
        ASSERT_NE(again, nullptr);
        EXPECT_EQ(again->sum(), sum);
        again->write(1, std::vector<std::int32_t>{5, 6, 8}.data());
        EXPECT_NE(again->sum(), sum);
    }
    EXPECT_EQ(ScratchSource::reopen(path("s"), {{0, 0, 1, 2}}, Type::i32), nullptr);
    EXPECT_EQ(ScratchSource::reopen(path("missing"), windows, Type::i32), nullptr);
    EXPECT_TRUE(std::filesystem::exists(path("s")));  // what was only looked at stays
}

TEST_F(Windows, file_that_was_kept_can_be_gone_on_with_if_it_is_the_same) {
    const WindowWriter::Shape shape{{0, 0, 7, 5}, Type::i32};
    EXPECT_FALSE(WindowWriter::can_go_on(path("c.npy"), shape));
    {
        WindowWriter file = WindowWriter::create(path("c.npy"), shape);
        file.write(shape.held, numbered().data());
        file.keep();
    }
    EXPECT_TRUE(WindowWriter::can_go_on(path("c.npy"), shape));
    EXPECT_FALSE(WindowWriter::can_go_on(path("c.npy"), {{0, 0, 5, 7}, Type::i32}));  // as long, with another header
    EXPECT_FALSE(WindowWriter::can_go_on(path("c.npy"), {{0, 0, 7, 4}, Type::i32}));
    const WindowWriter again = WindowWriter::open(path("c.npy"), shape);
    std::vector<std::int32_t> row(5);
    again.read({6, 0, 1, 5}, row.data());
    EXPECT_EQ(row, (std::vector<std::int32_t>{60, 61, 62, 63, 64}));
}

TEST_F(Windows, file_of_several_writers_appears_when_it_is_published) {
    const WindowWriter::Shape shape{{0, 0, 7, 5}, Type::i32};
    const Matrix matrix = numbered();
    {
        WindowWriter root = WindowWriter::create(path("c.npy"), shape);
        WindowWriter other = WindowWriter::open(path("c.npy"), shape);
        root.write({0, 0, 4, 5}, matrix.data());
        const std::vector<std::int32_t> left{40, 41, 50, 51, 60, 61}, right{42, 43, 44, 52, 53, 54, 62, 63, 64};
        other.write({4, 0, 3, 2}, left.data());
        other.write({4, 2, 3, 3}, right.data());
        std::vector<std::int32_t> back(6);
        other.read({4, 0, 3, 2}, back.data());
        EXPECT_EQ(back, left);
        other.sync();
        root.sync();
        EXPECT_FALSE(std::filesystem::exists(path("c.npy")));
        root.publish();
        other.keep();
    }
    const Matrix result = read_npy(path("c.npy"));
    EXPECT_TRUE(std::equal(static_cast<const std::int32_t*>(matrix.data()),
                           static_cast<const std::int32_t*>(matrix.data()) + 35,
                           static_cast<const std::int32_t*>(result.data())));
}

TEST_F(Windows, sixteen_bit_floats_are_f32_in_memory_and_rounded_once) {
    for (const Type type : {Type::bf16, Type::f16}) {
        const WindowWriter::Shape shape{{0, 0, 3, 2}, type};
        WindowWriter file = WindowWriter::create(path("c.npy"), shape);
        std::vector<float> values{1, -2.5F, 1.0F / 3, 65504, 1e-3F, 3};
        file.write(shape.held, values.data());
        std::vector<float> back(6);
        file.read(shape.held, back.data());
        EXPECT_NE(back, values);
        EXPECT_NEAR(back[2], values[2], 1e-3);
        file.round(values.data(), 6);
        EXPECT_EQ(back, values);
        file.publish();
        const MatrixWindows turned(path("c.npy"), type, true);
        EXPECT_EQ(turned.type(), Type::f32);
        EXPECT_EQ(turned.stored_type(), type);
        turned.read({0, 0, 2, 3}, back.data());
        EXPECT_EQ(back, (std::vector<float>{values[0], values[2], values[4], values[1], values[3], values[5]}));
    }
}

TEST_F(Windows, matrix_market_files_come_in_windows_and_have_an_identity) {
    const std::string text = "%%MatrixMarket matrix coordinate integer general\n3 4 3\n1 1 5\n3 4 -7\n2 3 9\n";
    std::ofstream(path("a.mtx")) << text;
    const MatrixWindows file(path("a.mtx"), Type::i32, false);
    EXPECT_EQ(file.rows(), 3);
    EXPECT_EQ(file.cols(), 4);
    std::vector<std::int32_t> got(4);
    file.read({1, 2, 2, 2}, got.data());
    EXPECT_EQ(got, (std::vector<std::int32_t>{9, 0, 0, -7}));
    MatrixWindows(path("a.mtx"), Type::i32, true).read({2, 1, 2, 2}, got.data());
    EXPECT_EQ(got, (std::vector<std::int32_t>{9, 0, 0, -7}));
    const FileIdentity before = file.identity();
    EXPECT_EQ(before.bytes, static_cast<std::int64_t>(text.size()));
    std::ofstream(path("a.mtx"), std::ios::app) << "\n";
    EXPECT_NE(file.identity(), before);
}

TEST_F(Windows, unpublished_file_is_removed_and_the_old_one_stays) {
    write_npy(path("c.npy"), numbered());
    const auto old_bytes = std::filesystem::file_size(path("c.npy"));
    { const WindowWriter unfinished = WindowWriter::create(path("c.npy"), {{0, 0, 100, 100}, Type::f64}); }
    EXPECT_EQ(std::filesystem::file_size(path("c.npy")), old_bytes);
    EXPECT_FALSE(std::filesystem::exists(path("c.npy.partial")));
}

TEST_F(Windows, part_of_a_matrix_is_a_file_of_its_own) {
    WindowWriter part = WindowWriter::create(path("p.npy"), {{10, 20, 2, 2}, Type::i32});
    const std::vector<std::int32_t> rows{1, 2, 3, 4};
    part.write({10, 20, 2, 2}, rows.data());
    part.publish();
    const Matrix result = read_npy(path("p.npy"));
    EXPECT_EQ(result.rows(), 2);
    EXPECT_TRUE(std::equal(rows.begin(), rows.end(), static_cast<const std::int32_t*>(result.data())));
}

TEST_F(Windows, folders_and_missing_folders_are_refused) {
    EXPECT_THROW(WindowWriter::create(path(""), {{0, 0, 1, 1}, Type::i32}), Error);
    EXPECT_THROW(WindowWriter::create(path("no/such/c.npy"), {{0, 0, 1, 1}, Type::i32}), Error);
    EXPECT_THROW(WindowWriter::open(path("not-made.npy"), {{0, 0, 1, 1}, Type::i32}), Error);
}

TEST(communicator, first_text_that_differs_is_found) {
    EXPECT_EQ(first_difference({"a", "a", "a"}), -1);
    EXPECT_EQ(first_difference({"a"}), -1);
    EXPECT_EQ(first_difference({"version 1, words", "version 1, words", "version 2, words"}), 2);
}

/// Elements side by side.
template <class T>
View row(Type type, std::vector<T>& elements) {
    const auto count = static_cast<std::int64_t>(elements.size());
    return {elements.data(), type, 1, count, count, 1};
}

TEST(partial_sum, adds_in_the_arithmetic_of_the_type) {
    std::vector<std::int32_t> i{2147483647, -5}, j{1, 3};
    add_partial_sum(row(Type::i32, i), row(Type::i32, j), 1);
    EXPECT_EQ(i, (std::vector<std::int32_t>{-2147483647 - 1, -2}));
    std::vector<std::uint8_t> x{0, 1, 1}, y{1, 1, 0}, z = x;
    add_partial_sum(row(Type::gf2, x), row(Type::gf2, y), 1);
    add_partial_sum(row(Type::boolean, z), row(Type::boolean, y), 1);
    EXPECT_EQ(x, (std::vector<std::uint8_t>{1, 0, 1}));
    EXPECT_EQ(z, (std::vector<std::uint8_t>{1, 1, 1}));
    std::vector<double> many(600000, 1.5), more(600000, 0.25);
    add_partial_sum(row(Type::f64, many), row(Type::f64, more), 2);
    EXPECT_EQ(std::accumulate(many.begin(), many.end(), 0.0), 600000 * 1.75);
}

}  // namespace
}  // namespace heptad

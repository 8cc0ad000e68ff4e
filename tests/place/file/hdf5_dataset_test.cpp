// Datasets of HDF5 files: those in one piece are found where they lie and written, the others are refused. Without the
// library, all are.
#include "place/file/hdf5_dataset.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "place/file/matrix_read.hpp"
#include "place/file/scratch_folder.hpp"

#ifdef HEPTAD_HAS_HDF5
#include <hdf5.h>
#endif

namespace heptad {
namespace {

TEST(Hdf5, names_are_told_by_their_suffix) {
    EXPECT_TRUE(is_hdf5_name("a/b.h5:/x/y"));
    EXPECT_TRUE(is_hdf5_name("b.hdf5:/x"));
    EXPECT_TRUE(is_hdf5_name("b.h5"));
    EXPECT_FALSE(is_hdf5_name("b.npy"));
    EXPECT_FALSE(is_hdf5_name("C:/b.npy"));
    EXPECT_FALSE(is_hdf5_name(".h5"));
}

#ifdef HEPTAD_HAS_HDF5
/// Writes 3 x 4 numbers 0 .. 11 under a name; chunked if asked for.
void write_dataset(const std::string& path, const char* name, hid_t stored, bool chunked, int dimensions = 2) {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(file, 0);
    const std::array<hsize_t, 3> sizes{3, 4, 1};
    const hid_t space = H5Screate_simple(dimensions, sizes.data(), nullptr);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    if (chunked) {
        const std::array<hsize_t, 3> chunk{2, 2, 1};
        H5Pset_chunk(creation, dimensions, chunk.data());
    }
    const hid_t set = H5Dcreate2(file, name, stored, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    ASSERT_GE(set, 0);
    std::vector<double> values(12);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<double>(i);
    }
    ASSERT_GE(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    H5Dclose(set);
    H5Pclose(creation);
    H5Sclose(space);
    H5Fclose(file);
}

TEST(Hdf5, contiguous_dataset_is_read_where_it_lies) {
    const ScratchFolder folder;
    write_dataset(folder / "a.h5", "x", H5T_IEEE_F32LE, false);
    const Matrix matrix = read_matrix({(folder / "a.h5") + ":/x"});
    ASSERT_EQ(matrix.type(), Type::f32);
    ASSERT_EQ(matrix.rows(), 3);
    ASSERT_EQ(matrix.cols(), 4);
    for (int i = 0; i < 12; ++i) {
        EXPECT_EQ(static_cast<const float*>(matrix.data())[i], static_cast<float>(i));
    }
    EXPECT_EQ(find_hdf5_dataset((folder / "a.h5") + ":/x", Type::tf32).type, Type::tf32);
}

TEST(Hdf5, what_is_not_a_matrix_in_one_piece_is_refused) {
    const ScratchFolder folder;
    const auto refused = [&](const std::string& name, std::optional<Type> as = {}) {
        try {
            find_hdf5_dataset(name, as);
            ADD_FAILURE() << name;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
        }
    };
    const std::string file = folder / "a.h5";
    refused(file + ":/x");
    write_dataset(file, "x", H5T_IEEE_F64LE, false);
    refused(file);
    refused(file + ":/y");
    refused(file + ":/x", Type::f32);
    write_dataset(file, "x", H5T_IEEE_F64LE, true);
    refused(file + ":/x");
    write_dataset(file, "x", H5T_IEEE_F64BE, false);
    refused(file + ":/x");
    write_dataset(file, "x", H5T_IEEE_F64LE, false, 3);
    refused(file + ":/x");
    write_text(file, "no HDF5 at all");
    refused(file + ":/x");
}
Matrix numbered(Type type, std::int64_t rows, std::int64_t cols, Order order = Order::row_major) {
    Matrix matrix(type, rows, cols, order);
    for (std::int64_t i = 0; i < rows * cols; ++i) {
        const std::int64_t at = order == Order::row_major ? i : i % cols * rows + i / cols;
        switch (type) {
            case Type::f64:
                static_cast<double*>(matrix.data())[at] = static_cast<double>(i);
                break;
            case Type::i32:
                static_cast<std::int32_t*>(matrix.data())[at] = static_cast<std::int32_t>(i);
                break;
            default:
                static_cast<float*>(matrix.data())[at] = static_cast<float>(i);
        }
    }
    return matrix;
}

bool same_bytes(const Matrix& x, const Matrix& y) {
    return x.type() == y.type() && x.rows() == y.rows() && x.cols() == y.cols() &&
           std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.size_bytes())) == 0;
}

TEST(Hdf5, what_was_written_is_read_and_the_library_reads_it_too) {
    const ScratchFolder folder;
    for (const Type type : {Type::f64, Type::f32, Type::i32}) {
        const std::string name = (folder / type_name(type)) + ".h5:/deep/down/x";
        write_hdf5_dataset(name, numbered(type, 5, 7, Order::column_major));
        EXPECT_TRUE(same_bytes(read_matrix({name}), numbered(type, 5, 7))) << type_name(type);
    }
    const hid_t file = H5Fopen((folder / "f32.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "/deep/down/x", H5P_DEFAULT);
    std::array<double, 35> values{};
    EXPECT_GE(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    EXPECT_EQ(values[34], 34);
    H5Dclose(set);
    H5Fclose(file);
    EXPECT_EQ(folder.entries(), 3U) << "a temporary was left";
}

TEST(Hdf5, other_datasets_stay_and_one_of_the_name_is_replaced) {
    const ScratchFolder folder;
    const std::string file = folder / "a.h5";
    write_dataset(file, "x", H5T_IEEE_F64LE, true);  // chunked: the library moves it as it is
    write_hdf5_dataset(file + ":/y", numbered(Type::f32, 3, 3));
    write_hdf5_dataset(file + ":/y", numbered(Type::i32, 2, 9));
    EXPECT_TRUE(same_bytes(read_matrix({file + ":/y"}), numbered(Type::i32, 2, 9)));
    const hid_t opened = H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(opened, "x", H5P_DEFAULT);
    std::array<double, 12> values{};
    EXPECT_GE(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    EXPECT_EQ(values[11], 11);
    H5Dclose(set);
    H5Fclose(opened);
}

TEST(Hdf5, matrices_without_elements_are_written_and_read) {
    const ScratchFolder folder;
    write_hdf5_dataset((folder / "e.h5") + ":/x", Matrix(Type::f32, 0, 4));
    EXPECT_EQ(read_matrix({(folder / "e.h5") + ":/x"}).cols(), 4);
}

TEST(Hdf5, names_and_types_that_cannot_be_written_are_refused_and_leave_nothing) {
    const ScratchFolder folder;
    const auto refused = [&](const std::string& name, Type type = Type::f32) {
        try {
            write_hdf5_dataset(name, Matrix(type, 2, 2));
            ADD_FAILURE() << name;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
        }
    };
    refused(folder / "a.h5");
    refused((folder / "a.h5") + ":/");
    refused((folder / "nowhere/a.h5") + ":/x");
    refused((folder / "a.h5") + ":/x", Type::bf16);
    refused((folder / "a.h5") + ":/x", Type::boolean);
    EXPECT_EQ(folder.entries(), 0U);
    write_text(folder / "text.h5", "no HDF5 at all");
    refused((folder / "text.h5") + ":/x");
    EXPECT_EQ(read_text(folder / "text.h5"), "no HDF5 at all");
    write_hdf5_dataset((folder / "g.h5") + ":/group/x", numbered(Type::f32, 2, 2));
    const std::string before = read_text(folder / "g.h5");
    refused((folder / "g.h5") + ":/group");
    refused((folder / "g.h5") + ":/group/x/below");
    EXPECT_EQ(read_text(folder / "g.h5"), before);
    EXPECT_EQ(folder.entries(), 2U) << "a temporary was left";
}
#else
TEST(Hdf5, without_the_library_it_is_said) {
    EXPECT_THROW(write_hdf5_dataset("a.h5:/x", Matrix(Type::f32, 1, 1)), Error);
    EXPECT_THROW(check_hdf5_writable("a.h5:/x", Type::f32), Error);
    try {
        find_hdf5_dataset("a.h5:/x", {});
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("HDF5 library"), std::string::npos);
    }
}
#endif

}  // namespace
}  // namespace heptad

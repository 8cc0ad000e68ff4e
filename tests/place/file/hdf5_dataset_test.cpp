// Datasets of HDF5 files: those in one piece are found where they lie, the others are refused. Without the library, all
// are.
#include "place/file/hdf5_dataset.hpp"

#include <gtest/gtest.h>

#include <array>
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
#else
TEST(Hdf5, without_the_library_it_is_said) {
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

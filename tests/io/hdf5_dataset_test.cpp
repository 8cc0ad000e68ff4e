// Datasets of HDF5 files: those in one piece are found where they lie and written, the library reads the others.
// Those tests need its header.
#include "io/hdf5_dataset.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "io/generate.hpp"
#include "io/hdf5_library.hpp"
#include "io/npy.hpp"
#include "io/scratch_folder.hpp"
#include "io/whole_matrix.hpp"
#include "product/file/file_product.hpp"

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

TEST(Hdf5, a_library_that_is_missing_or_something_else_is_not_taken) {
    hdf5::Library library;
    EXPECT_FALSE(hdf5::open_library("libheptad-has-no-such.so", library));
    EXPECT_FALSE(hdf5::open_library("libm.so.6", library));
}

#ifdef HEPTAD_HAS_HDF5
bool same_bytes(const Matrix& x, const Matrix& y) {
    return x.type() == y.type() && x.rows() == y.rows() && x.cols() == y.cols() &&
           std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.size_bytes())) == 0;
}

/// How the elements of a dataset lie in its file.
struct Storage {
    std::array<hsize_t, 2> chunk{};  // none: one piece
    int deflate = 0;
    bool shuffle = false, checksum = false;
};

/// Writes a matrix of f32 or i32 by the library alone.
void write_by_library(const std::string& path, const char* name, const Matrix& matrix, const Storage& storage) {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(file, 0);
    const std::array<hsize_t, 2> sizes{static_cast<hsize_t>(matrix.rows()), static_cast<hsize_t>(matrix.cols())};
    const hid_t space = H5Screate_simple(2, sizes.data(), nullptr);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    if (storage.chunk[0] > 0) {
        H5Pset_chunk(creation, 2, storage.chunk.data());
    }
    if (storage.shuffle) {
        H5Pset_shuffle(creation);
    }
    if (storage.deflate > 0) {
        H5Pset_deflate(creation, static_cast<unsigned>(storage.deflate));
    }
    if (storage.checksum) {
        H5Pset_fletcher32(creation);
    }
    const hid_t stored = matrix.type() == Type::i32 ? H5T_STD_I32LE : H5T_IEEE_F32LE;
    const hid_t set = H5Dcreate2(file, name, stored, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    ASSERT_GE(set, 0);
    ASSERT_GE(H5Dwrite(set, stored, H5S_ALL, H5S_ALL, H5P_DEFAULT, matrix.data()), 0);
    H5Dclose(set);
    H5Pclose(creation);
    H5Sclose(space);
    H5Fclose(file);
}

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

TEST(Hdf5, what_is_not_a_matrix_of_a_known_type_is_refused) {
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
    write_dataset(file, "x", H5T_IEEE_F64BE, true);
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
            case Type::i64:
                static_cast<std::int64_t*>(matrix.data())[at] = i;
                break;
            default:
                static_cast<float*>(matrix.data())[at] = static_cast<float>(i);
        }
    }
    return matrix;
}

const std::vector<Storage> kStorages{
    {}, {{7, 5}}, {{64, 64}, 6}, {{1, 1000}, 1, true}, {{300, 210}, 9, true, true}, {{16, 210}, 0, false, true}};

TEST(Hdf5, chunked_and_compressed_datasets_are_read_by_the_library) {
    const ScratchFolder folder;
    const std::string file = folder / "a.h5";
    const Matrix expected = generate("uniform", 300, 210, Type::f32, 1);
    for (const Storage& storage : kStorages) {
        Storage fitting = storage;
        fitting.chunk[1] = std::min<hsize_t>(fitting.chunk[1], 210);
        write_by_library(file, "x", expected, fitting);
        const Hdf5Dataset found = find_hdf5_dataset(file + ":/x", {});
        EXPECT_EQ(found.offset.has_value(), storage.chunk[0] == 0) << found.storage;
        EXPECT_TRUE(same_bytes(read_matrix({file + ":/x"}), expected)) << found.storage;
    }
    EXPECT_EQ(find_hdf5_dataset(file + ":/x", {}).storage, "chunks of 16 x 210, fletcher32");
}

TEST(Hdf5, products_from_file_to_file_read_them_block_by_block) {
    const ScratchFolder folder;
    const Matrix a = generate("integer", 300, 210, Type::f32, 1), b = generate("integer", 260, 210, Type::f32, 2),
                 c0 = generate("integer", 300, 260, Type::f32, 3);
    write_npy(folder / "A.npy", a);
    write_npy(folder / "B.npy", b);
    write_npy(folder / "C0.npy", c0);
    const Storage packed{{50, 33}, 4, true};
    write_by_library(folder / "A.h5", "x", a, packed);
    write_by_library(folder / "B.h5", "x", b, packed);
    write_by_library(folder / "C0.h5", "x", c0, packed);
    FileProductRequest request;
    request.transpose_b = true;
    request.beta = 2;
    request.memory_bytes = 150 << 10;
    const auto product = [&](const std::string& end, const std::string& output) {
        request.a = {folder / ("A" + end)};
        request.b = {folder / ("B" + end)};
        request.c0 = MatrixName{folder / ("C0" + end)};
        request.output = folder / output;
        StageTrace trace(false);
        return multiply_files(request, processor_stage({}, 2), {}, trace);
    };
    product(".npy", "whole.npy");
    for (const bool overlap : {true, false}) {
        for (const int levels : {0, 1}) {
            request.overlap = overlap;
            request.outer.levels = levels;
            EXPECT_GT(product(".h5:/x", "C.npy").tiles, 1);
            EXPECT_TRUE(same_bytes(read_npy(folder / "C.npy"), read_npy(folder / "whole.npy")));
        }
    }
    request.outer = {};
    request.memory_bytes = 4 << 20;
    request.verify = true;
    EXPECT_TRUE(product(".h5:/x", "C.npy").verified->passed());
}

TEST(Hdf5, damaged_chunk_is_an_error_and_no_matrix) {
    const ScratchFolder folder;
    const std::string file = folder / "a.h5";
    write_by_library(file, "x", generate("uniform", 300, 210, Type::f32, 1), {{64, 64}, 6, true, true});
    std::string bytes = read_text(file);
    for (std::size_t i = bytes.size() / 2; i < bytes.size() / 2 + 2000; ++i) {
        bytes[i] = static_cast<char>(~bytes[i]);
    }
    write_text(file, bytes);
    try {
        read_matrix({file + ":/x"});
        ADD_FAILURE() << "read";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
        EXPECT_NE(std::string(error.what()).find("damaged"), std::string::npos) << error.what();
    }
}

TEST(Hdf5, several_threads_read_at_once) {
    const ScratchFolder folder;
    const std::string file = folder / "a.h5";
    const Matrix expected = generate("uniform", 300, 210, Type::f32, 1);
    write_by_library(file, "x", expected, {{64, 64}, 6});
    std::vector<std::thread> readers;
    std::atomic<int> right{0};
    for (int i = 0; i < 4; ++i) {
        readers.emplace_back([&] {
            for (int turn = 0; turn < 20; ++turn) {
                right += same_bytes(read_matrix({file + ":/x"}), expected) ? 1 : 0;
            }
        });
    }
    for (std::thread& reader : readers) {
        reader.join();
    }
    EXPECT_EQ(right, 80);
}

TEST(Hdf5, elements_in_other_files_are_refused) {
    const ScratchFolder folder;
    write_text(folder / "secret", std::string(48, 'x'));
    const hid_t file = H5Fcreate((folder / "a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const std::array<hsize_t, 2> sizes{3, 4};
    const hid_t space = H5Screate_simple(2, sizes.data(), nullptr), creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(creation, (folder / "secret").c_str(), 0, 48);
    const hid_t set = H5Dcreate2(file, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    ASSERT_GE(set, 0);
    H5Dclose(set);
    H5Pclose(creation);
    H5Sclose(space);
    H5Fclose(file);
    EXPECT_THROW(read_matrix({(folder / "a.h5") + ":/x"}), Error);
}

TEST(Hdf5, datasets_that_were_never_written_or_lie_in_their_header_are_read) {
    const ScratchFolder folder;
    const hid_t file = H5Fcreate((folder / "a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const std::array<hsize_t, 2> sizes{3, 4};
    const hid_t space = H5Screate_simple(2, sizes.data(), nullptr), creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Dclose(H5Dcreate2(file, "unwritten", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Pset_layout(creation, H5D_COMPACT);
    const hid_t set = H5Dcreate2(file, "compact", H5T_IEEE_F32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    std::array<float, 12> values{};
    values[11] = 7;
    H5Dwrite(set, H5T_IEEE_F32LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(set);
    H5Pclose(creation);
    H5Sclose(space);
    H5Fclose(file);
    const Matrix unwritten = read_matrix({(folder / "a.h5") + ":/unwritten"});
    const auto* const elements = static_cast<const float*>(unwritten.data());
    EXPECT_TRUE(std::all_of(elements, elements + 12, [](float element) { return element == 0; }));
    EXPECT_EQ(static_cast<const float*>(read_matrix({(folder / "a.h5") + ":/compact"}).data())[11], 7);
}

TEST(Hdf5, what_was_written_is_read_and_the_library_reads_it_too) {
    const ScratchFolder folder;
    for (const Type type : {Type::f64, Type::f32, Type::i32, Type::i64}) {
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
    EXPECT_EQ(folder.entries(), 4U) << "a temporary was left";
}

TEST(Hdf5, complex_numbers_are_pairs_of_r_and_i) {
    const ScratchFolder folder;
    for (const Type type : {Type::c64, Type::c128}) {
        const std::string file = (folder / type_name(type)) + ".h5";
        const Matrix written = generate("uniform", 5, 7, type, 1);
        write_hdf5_dataset(file + ":/x", written);
        EXPECT_EQ(find_hdf5_dataset(file + ":/x", {}).type, type);
        EXPECT_TRUE(same_bytes(read_matrix({file + ":/x"}), written)) << type_name(type);
        EXPECT_THROW(find_hdf5_dataset(file + ":/x", Type::f64), Error);
    }
    const hid_t file = H5Fopen((folder / "c128.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "/x", H5P_DEFAULT);
    const hid_t imaginary = H5Tcreate(H5T_COMPOUND, sizeof(double));
    H5Tinsert(imaginary, "i", 0, H5T_NATIVE_DOUBLE);
    std::array<double, 35> values{};
    EXPECT_GE(H5Dread(set, imaginary, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    EXPECT_EQ(values[34], static_cast<const double*>(generate("uniform", 5, 7, Type::c128, 1).data())[69]);
    H5Tclose(imaginary);
    H5Dclose(set);
    H5Fclose(file);
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

TEST(Hdf5, types_and_numbers_are_those_of_the_header) {
    static_assert(std::is_same_v<hdf5::Id, hid_t> && std::is_same_v<hdf5::Status, herr_t>);
    static_assert(sizeof(hdf5::Size) == sizeof(hsize_t) && sizeof(hdf5::Address) == sizeof(haddr_t));
    EXPECT_EQ(hdf5::kDefault, H5P_DEFAULT);
    EXPECT_EQ(hdf5::kDefault, H5E_DEFAULT);
    EXPECT_EQ(hdf5::kReadOnly, H5F_ACC_RDONLY);
    EXPECT_EQ(hdf5::kReadWrite, H5F_ACC_RDWR);
    EXPECT_EQ(hdf5::kTruncate, H5F_ACC_TRUNC);
    EXPECT_EQ(hdf5::kCompact, H5D_COMPACT);
    EXPECT_EQ(hdf5::kContiguous, H5D_CONTIGUOUS);
    EXPECT_EQ(hdf5::kChunked, H5D_CHUNKED);
    EXPECT_EQ(hdf5::kVirtual, H5D_VIRTUAL);
    EXPECT_EQ(hdf5::kSelectSet, H5S_SELECT_SET);
    EXPECT_EQ(hdf5::kCompound, H5T_COMPOUND);
    EXPECT_EQ(hdf5::kDatasetObject, H5I_DATASET);
    EXPECT_EQ(hdf5::kAllocateEarly, H5D_ALLOC_TIME_EARLY);
    EXPECT_EQ(hdf5::kFillNever, H5D_FILL_TIME_NEVER);
    EXPECT_EQ(hdf5::kNowhere, HADDR_UNDEF);
    EXPECT_EQ(hdf5::kDefaultSlots, H5D_CHUNK_CACHE_NSLOTS_DEFAULT);
    EXPECT_EQ(hdf5::kDefaultPreemption, H5D_CHUNK_CACHE_W0_DEFAULT);
}

TEST(Hdf5, somebody_elses_way_to_be_told_of_errors_stays) {
    H5E_auto2_t before = nullptr, after = nullptr;
    void *data_before = nullptr, *data_after = nullptr;
    ASSERT_GE(H5Eget_auto2(H5E_DEFAULT, &before, &data_before), 0);
    EXPECT_THROW(find_hdf5_dataset("/dev/null:/x", {}), Error);
    const ScratchFolder folder;
    write_text(folder / "text.h5", "no HDF5 at all");
    EXPECT_THROW(find_hdf5_dataset((folder / "text.h5") + ":/x", {}), Error);
    ASSERT_GE(H5Eget_auto2(H5E_DEFAULT, &after, &data_after), 0);
    EXPECT_EQ(before, after);
    EXPECT_EQ(data_before, data_after);
}
#endif

}  // namespace
}  // namespace heptad

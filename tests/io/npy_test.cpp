// Whole files: round trips of every type, order, version and stride; lying lengths; outputs that cannot be written.
#include "io/npy.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "io/element_value.hpp"
#include "io/scratch_folder.hpp"

namespace heptad {
namespace {

const std::vector<Type> kAllTypes{Type::f64, Type::f32, Type::tf32,    Type::bf16, Type::f16, Type::i32,
                                  Type::i64, Type::gf2, Type::boolean, Type::c64,  Type::c128};

bool is_bits(Type type) {
    return type == Type::gf2 || type == Type::boolean;
}

Matrix random_matrix(Type type, std::int64_t rows, std::int64_t cols, Order order, std::uint64_t seed) {
    Matrix m(type, rows, cols, order);
    std::mt19937_64 random(seed);
    for (std::int64_t i = 0; i < m.size_bytes(); ++i) {
        static_cast<unsigned char*>(m.data())[i] = static_cast<unsigned char>(random() & (is_bits(type) ? 1 : 255));
    }
    return m;
}

/// Same shape, type and bits at every position, whatever the strides.
void expect_same(const ConstView& x, const ConstView& y) {
    ASSERT_EQ(x.type, y.type);
    ASSERT_EQ(x.rows, y.rows);
    ASSERT_EQ(x.cols, y.cols);
    for (std::int64_t i = 0; i < x.rows; ++i) {
        for (std::int64_t j = 0; j < x.cols; ++j) {
            ASSERT_EQ(std::memcmp(element_pointer(x, i, j), element_pointer(y, i, j), element_bytes(x.type)), 0)
                << "at " << i << ", " << j;
        }
    }
}

template <class Body>
Error error_of(Body body) {
    try {
        body();
    } catch (const Error& error) {
        return error;
    }
    return {ErrorCode::internal, "nothing was thrown"};
}

TEST(Npy, every_type_order_and_shape_comes_back_bit_for_bit) {
    const ScratchFolder folder;
    const std::string path = folder / "m.npy";
    for (const Type type : kAllTypes) {
        for (const Order order : {Order::row_major, Order::column_major}) {
            for (const auto& [rows, cols] : std::vector<std::pair<int, int>>{
                     {1, 1}, {1, 7}, {7, 1}, {3, 5}, {33, 65}, {0, 4}, {4, 0}, {0, 0}, {128, 31}}) {
                const Matrix m = random_matrix(type, rows, cols, order, 7);
                write_npy(path, m);
                const Matrix back = read_npy(path, type);
                expect_same(m.view(), back.view());
                EXPECT_EQ(back.order(), Order::row_major);
                EXPECT_EQ(std::filesystem::file_size(path), 4096U + static_cast<std::size_t>(m.size_bytes()));
            }
        }
    }
    EXPECT_EQ(folder.entries(), 1U);
}

TEST(Npy, windows_with_any_strides_are_written_as_their_elements) {
    const ScratchFolder folder;
    const std::string path = folder / "m.npy";
    for (const Type type : kAllTypes) {
        const Matrix whole = random_matrix(type, 90, 110, Order::row_major, 11);
        const ConstView all = whole.view();
        ConstView every_third = block(all, 1, 2, 29, 36);
        every_third.row_stride *= 3;
        every_third.col_stride *= 3;
        ConstView backwards = all;  // last row and column first
        backwards.data = element_pointer(all, 89, 109);
        backwards.row_stride = -all.row_stride;
        backwards.col_stride = -all.col_stride;
        for (const ConstView& v :
             {block(all, 5, 7, 50, 61), transposed(all), transposed(block(all, 3, 3, 40, 1)), every_third, backwards}) {
            write_npy(path, v);
            expect_same(v, read_npy(path, type).view());
        }
    }
}

TEST(Npy, rows_wider_than_the_buffer_are_written_whole) {
    const ScratchFolder folder;
    const Matrix m = random_matrix(Type::boolean, 3, 9 << 20, Order::column_major, 5);
    write_npy(folder / "m.npy", m);
    expect_same(m.view(), read_npy(folder / "m.npy").view());
}

TEST(Npy, fortran_order_of_every_version_becomes_a_column_major_matrix) {
    const ScratchFolder folder;
    const std::string path = folder / "m.npy";
    const Matrix m = random_matrix(Type::f32, 5, 3, Order::column_major, 3);
    for (int version = 1; version <= 3; ++version) {
        const std::string dictionary = "{'descr': '<f4', 'fortran_order': True, 'shape': (5, 3), }\n";
        std::string file = "\x93NUMPY";
        file += {static_cast<char>(version), '\0', static_cast<char>(dictionary.size()), '\0'};
        file += version == 1 ? "" : std::string(2, '\0');
        file += dictionary;
        file.append(static_cast<const char*>(m.data()), static_cast<std::size_t>(m.size_bytes()));
        write_text(path, file);
        const Matrix back = read_npy(path);
        EXPECT_EQ(back.order(), Order::column_major);
        expect_same(m.view(), back.view());
    }
}

TEST(Npy, large_files_are_read_and_written_in_several_steps_with_progress_up_to_one) {
    const ScratchFolder folder;
    const std::string path = folder / "m.npy";
    const Matrix m = random_matrix(Type::boolean, 70, 1 << 20, Order::row_major, 9);
    std::vector<double> fractions;
    FileHooks hooks;
    hooks.progress = [&](const Progress& progress) { fractions.push_back(progress.fraction); };
    for (const int threads : {1, 3}) {
        hooks.threads = threads;
        fractions.clear();
        write_npy(path, m, hooks);
        ASSERT_GE(fractions.size(), 2U);
        EXPECT_DOUBLE_EQ(fractions.back(), 1.0);
        fractions.clear();
        const Matrix back = read_npy(path, {}, hooks);
        ASSERT_GE(fractions.size(), 2U);
        EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
        EXPECT_DOUBLE_EQ(fractions.back(), 1.0);
        EXPECT_EQ(std::memcmp(m.data(), back.data(), static_cast<std::size_t>(m.size_bytes())), 0);
    }
}

TEST(Npy, cancelled_write_keeps_the_old_file_and_leaves_nothing) {
    const ScratchFolder folder;
    const std::string path = folder / "m.npy";
    write_text(path, "precious");
    FileHooks hooks;
    hooks.progress = [&](const Progress&) { hooks.cancel.cancel(); };
    const Matrix m = random_matrix(Type::boolean, 70, 1 << 20, Order::row_major, 9);
    EXPECT_EQ(error_of([&] { write_npy(path, m, hooks); }).code(), ErrorCode::cancelled);
    EXPECT_EQ(read_text(path), "precious");
    EXPECT_EQ(folder.entries(), 1U);
}

TEST(Npy, cancelled_read_ends_with_cancelled) {
    const ScratchFolder folder;
    write_npy(folder / "m.npy", random_matrix(Type::f32, 4, 4, Order::row_major, 1));
    const FileHooks hooks;
    hooks.cancel.cancel();
    EXPECT_EQ(error_of([&] { read_npy(folder / "m.npy", {}, hooks); }).code(), ErrorCode::cancelled);
}

TEST(Npy, files_shorter_or_longer_than_their_header_are_refused_with_both_lengths) {
    const ScratchFolder folder;
    const std::string path = folder / "m.npy";
    write_npy(path, random_matrix(Type::f64, 4, 4, Order::row_major, 1));
    const std::string good = read_text(path);
    for (const std::size_t length :
         {std::size_t{4096}, std::size_t{4097}, std::size_t{4223}, std::size_t{4225}, std::size_t{5000}}) {
        std::string file = good;
        file.resize(length, 'x');
        write_text(path, file);
        const Error error = error_of([&] { read_npy(path); });
        EXPECT_EQ(error.code(), ErrorCode::input);
        const std::string sentence = error.what();
        EXPECT_NE(sentence.find("4224 bytes"), std::string::npos) << sentence;
        EXPECT_NE(sentence.find(std::to_string(length)), std::string::npos) << sentence;
        EXPECT_NE(sentence.find(length < 4224 ? "truncated" : "too long"), std::string::npos) << sentence;
    }
}

TEST(Npy, header_that_claims_exabytes_is_refused_by_the_length_of_the_file_and_not_by_lack_of_memory) {
    const ScratchFolder folder;
    const std::string path = folder / "m.npy";
    write_text(path, npy_header_text(Type::f64, std::int64_t{1} << 29, std::int64_t{1} << 29));
    EXPECT_EQ(error_of([&] { read_npy(path); }).code(), ErrorCode::input);
}

TEST(Npy, bits_other_than_zero_and_one_are_refused) {
    const ScratchFolder folder;
    const std::string path = folder / "m.npy";
    for (const char* const dtype : {"|b1", "|u1", "|i1"}) {
        std::string file = npy_header_text(Type::boolean, 2, 3);
        file.replace(file.find("|b1"), 3, dtype);
        write_text(path, file + std::string("\1\0\1\0\0\1", 6));
        EXPECT_EQ(read_npy(path, Type::gf2).type(), Type::gf2);
        write_text(path, file + std::string("\1\0\1\0\2\1", 6));
        const Error error = error_of([&] { read_npy(path, Type::gf2); });
        EXPECT_EQ(error.code(), ErrorCode::input);
        EXPECT_NE(std::string(error.what()).find("element 4"), std::string::npos) << error.what();
    }
}

TEST(Npy, paths_that_are_no_files_cannot_be_read) {
    const ScratchFolder folder;
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    write_text(folder / "file", "");
    for (const std::string& path : {folder / "missing.npy", folder / "", folder / "file", folder / "file/below",
                                    folder / "pipe", std::string("/dev/zero"), std::string(), std::string(5000, 'x')}) {
        const Error error = error_of([&] { read_npy(path); });
        EXPECT_EQ(error.code(), ErrorCode::input) << path << ": " << error.what();
    }
}

TEST(Npy, paths_that_cannot_be_written_are_bad_input_and_leave_nothing) {
    const ScratchFolder folder;
    write_text(folder / "file", "old");
    const Matrix m = random_matrix(Type::f32, 4, 4, Order::row_major, 1);
    for (const std::string& path : {folder / "", folder / "missing/m.npy", folder / "file/m.npy", folder / "file/",
                                    std::string("/proc/heptad.npy"), std::string(), folder / std::string(300, 'x')}) {
        for (const bool probe : {true, false}) {
            const Error error = error_of([&] { probe ? check_writable(path) : write_npy(path, m); });
            EXPECT_EQ(error.code(), ErrorCode::input) << path << ": " << error.what();
        }
    }
    EXPECT_EQ(folder.entries(), 1U);
    EXPECT_EQ(read_text(folder / "file"), "old");
}

TEST(Npy, full_disk_is_a_resource_error) {
    EXPECT_EQ(error_of([] { write_npy("/dev/full", random_matrix(Type::f32, 4, 4, Order::row_major, 1)); }).code(),
              ErrorCode::resource);
}

TEST(Npy, device_is_written_to_and_not_replaced) {
    write_npy("/dev/null", random_matrix(Type::f32, 4, 4, Order::row_major, 1));
    struct stat facts {};
    ASSERT_EQ(::stat("/dev/null", &facts), 0);
    EXPECT_TRUE(S_ISCHR(facts.st_mode));
}

TEST(Npy, writable_path_passes_the_probe_and_nothing_is_left) {
    const ScratchFolder folder;
    check_writable(folder / "m.npy");
    EXPECT_EQ(folder.entries(), 0U);
}

TEST(Npy, link_keeps_pointing_and_its_target_is_replaced_with_its_permissions) {
    const ScratchFolder folder;
    write_text(folder / "target", "old");
    ASSERT_EQ(::chmod((folder / "target").c_str(), 0640), 0);
    std::filesystem::create_symlink("target", folder / "link.npy");
    const Matrix m = random_matrix(Type::f32, 4, 4, Order::row_major, 1);
    write_npy(folder / "link.npy", m);
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.npy"));
    expect_same(m.view(), read_npy(folder / "target").view());
    struct stat facts {};
    ASSERT_EQ(::stat((folder / "target").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0640U);
}

/// Reads and writes next to numpy itself, where Python and numpy are there.
class NumpyNpy : public testing::Test {
protected:
    void SetUp() override {
        const char* const chosen = std::getenv("HEPTAD_TEST_PYTHON");
        python_ = chosen != nullptr ? chosen : "python3";
        if (std::system((python_ + " -c 'import numpy' >/dev/null 2>&1").c_str()) != 0) {
            GTEST_SKIP() << "numpy is not installed for " << python_;
        }
    }
    int run(const std::string& program) const {
        write_text(folder_ / "program.py", "import sys, numpy as np\nd = sys.argv[1] + '/'\n" + program);
        return std::system((python_ + " " + (folder_ / "program.py") + " " + (folder_ / "")).c_str());
    }
    ScratchFolder folder_;
    std::string python_;
};

TEST_F(NumpyNpy, what_numpy_saves_is_read) {
    ASSERT_EQ(run("import warnings; warnings.simplefilter('ignore')\n"
                  "from numpy.lib import format as f\n"
                  "for t in ['<f8', '<f4', '<f2', '<i4', '<i8', '|b1']:\n"
                  "  for v in [1, 2, 3]:\n"
                  "    for o in 'CF':\n"
                  "      a = np.array([[(i * 5 + j) % 7 for j in range(5)] for i in range(3)], t, order=o)\n"
                  "      f.write_array(open(d + f'{t[1:]}{v}{o}.npy', 'wb'), a, (v, 0))\n"),
              0);
    for (const auto& [name, type] : std::vector<std::pair<std::string, Type>>{{"f8", Type::f64},
                                                                              {"f4", Type::f32},
                                                                              {"f2", Type::f16},
                                                                              {"i4", Type::i32},
                                                                              {"i8", Type::i64},
                                                                              {"b1", Type::boolean}}) {
        for (const char* const rest : {"1C", "2C", "3C", "1F", "2F", "3F"}) {
            const std::string path = folder_ / (name + rest + ".npy");
            const Matrix m = read_npy(path);
            ASSERT_EQ(m.type(), type);
            ASSERT_EQ(m.rows(), 3);
            ASSERT_EQ(m.cols(), 5);
            EXPECT_EQ(m.order(), rest[1] == 'C' ? Order::row_major : Order::column_major);
            for (std::int64_t i = 0; i < 3; ++i) {
                for (std::int64_t j = 0; j < 5; ++j) {
                    const auto value = static_cast<int>((i * 5 + j) % 7);
                    EXPECT_EQ(value_at(std::as_const(m).view(), i, j), type == Type::boolean ? value != 0 : value)
                        << path;
                }
            }
        }
    }
}

TEST_F(NumpyNpy, what_is_written_numpy_loads_and_maps) {
    Matrix m(Type::i32, 6, 4, Order::column_major);
    for (int i = 0; i < 24; ++i) {
        static_cast<std::int32_t*>(m.data())[i] = i;
    }
    write_npy(folder_ / "i.npy", m);
    Matrix longs(Type::i64, 1, 2);
    static_cast<std::int64_t*>(longs.data())[0] = std::numeric_limits<std::int64_t>::min();
    static_cast<std::int64_t*>(longs.data())[1] = (std::int64_t{1} << 53) + 1;
    write_npy(folder_ / "l.npy", longs);
    Matrix pairs(Type::c128, 1, 2, Order::column_major);
    for (int i = 0; i < 4; ++i) {
        static_cast<double*>(pairs.data())[i] = i;
    }
    write_npy(folder_ / "c.npy", pairs);
    write_npy(folder_ / "b.npy", random_matrix(Type::gf2, 9, 9, Order::row_major, 2));
    write_npy(folder_ / "h.npy", random_matrix(Type::bf16, 9, 9, Order::row_major, 2));
    write_npy(folder_ / "e.npy", Matrix(Type::f64, 0, 5));
    EXPECT_EQ(run("a = np.load(d + 'i.npy')\n"
                  "assert a.dtype == np.int32 and a.flags.c_contiguous\n"
                  "assert (a == np.arange(24).reshape(4, 6).T).all()\n"
                  "assert (np.load(d + 'i.npy', mmap_mode='r') == a).all()\n"
                  "l = np.load(d + 'l.npy')\n"
                  "assert l.dtype == np.int64 and l.tolist() == [[-2**63, 2**53 + 1]]\n"
                  "c = np.load(d + 'c.npy')\n"
                  "assert c.dtype == np.complex128 and c.tolist() == [[1j, 2 + 3j]]\n"
                  "assert np.load(d + 'b.npy').dtype == np.bool_\n"
                  "assert np.load(d + 'h.npy').dtype.itemsize == 2\n"
                  "assert np.load(d + 'e.npy').shape == (0, 5)\n"),
              0);
}

TEST_F(NumpyNpy, what_numpy_saves_of_other_kinds_is_refused) {
    ASSERT_EQ(
        run("for i, a in enumerate([np.zeros((2, 2), '>f4'), np.zeros((2, 2), 'O'), np.zeros((2, 2), 'c32'),\n"
            "    np.zeros((2, 2), 'U3'), np.zeros((2, 2), [('x', 'f4'), ('y', 'i4')]), np.zeros(4), np.zeros(()),\n"
            "    np.zeros((2, 2, 2)), np.zeros((2, 2), 'i2'), np.zeros((2, 2), 'M8[s]')]):\n"
            "  np.save(d + f'{i}.npy', a, allow_pickle=True)\n"),
        0);
    for (int i = 0; i < 10; ++i) {
        const std::string path = folder_ / (std::to_string(i) + ".npy");
        ASSERT_TRUE(std::filesystem::exists(path));
        EXPECT_EQ(error_of([&] { read_npy(path); }).code(), ErrorCode::input) << i;
    }
}

}  // namespace
}  // namespace heptad

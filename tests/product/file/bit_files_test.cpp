// Products of packed bits from file to file: every cut, both algebras, odd widths and offsets, early ends and the
// check.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <filesystem>

#include "base/error.hpp"
#include "io/bit_file.hpp"
#include "io/scratch_folder.hpp"
#include "product/file/watched_hooks.hpp"
#include "run/bits/bit_product.hpp"

namespace heptad {
namespace {

struct Shape {
    std::int64_t m, k, n;
};

class BitFiles : public ::testing::TestWithParam<Type> {
protected:
    /// Files of a product, and what it should be. With `suffix` ".npy" they are packed as numpy has it.
    FileProductRequest prepare(const Shape& s, bool adds, std::int64_t memory_bytes, const std::string& suffix = ".pbm",
                               bool transpose_a = false, bool transpose_b = false) {
        const BitMatrix a = BitMatrix::random(s.m, s.k, 1), b = BitMatrix::random(s.k, s.n, 2, 0.05);
        expected_ = adds ? BitMatrix::random(s.m, s.n, 3, 0.1) : BitMatrix(s.m, s.n);
        const auto name = [&](const std::string& stem, const BitMatrix& matrix) {
            write_bits(folder_ / (stem + suffix), matrix, true);
            MatrixName given{.path = folder_ / (stem + suffix), .bits = GetParam()};
            if (suffix == ".npy") {
                given.columns = matrix.cols();
            }
            return given;
        };
        FileProductRequest request;
        request.transpose_a = transpose_a;
        request.transpose_b = transpose_b;
        request.a = name("A", transpose_a ? a.transposed() : a);
        request.b = name("B", transpose_b ? b.transposed() : b);
        if (adds) {
            request.c0 = name("C0", expected_);
            request.beta = 1;
        }
        request.output = folder_ / ("C" + suffix);
        request.memory_bytes = memory_bytes;
        bits::multiply_bits(GetParam(), a, b, expected_.view(), adds, {}, {});
        return request;
    }

    FileProductReport multiply(const FileProductRequest& request, const WatchedHooks& hooks = {}) {
        StageTrace trace(false);
        return multiply_watched(request, packed_bits_stage(GetParam(), {}, 2), hooks, trace);
    }

    bool is_right(const FileProductRequest& request) {
        return read_bits(request.output, request.a.columns ? std::optional(expected_.cols()) : std::nullopt) ==
               expected_;
    }

    ScratchFolder folder_;
    BitMatrix expected_;
};

TEST_P(BitFiles, every_cut_equals_the_product_in_memory) {
    for (const Shape& s : {Shape{300, 260, 700}, Shape{65, 1000, 129}, Shape{513, 64, 515}, Shape{128, 4096, 8192}}) {
        for (const bool adds : {false, true}) {
            for (const std::int64_t memory :
                 {std::int64_t{150} << 10, std::int64_t{400} << 10, std::int64_t{8} << 20}) {
                for (const char* suffix : {".pbm", ".npy"}) {
                    FileProductRequest request = prepare(s, adds, memory, suffix);
                    request.verify = true;
                    try {
                        const FileProductReport report = multiply(request);
                        ASSERT_TRUE(is_right(request)) << to_string(report.plan);
                        EXPECT_TRUE(report.verified->passed()) << report.verified->explanation;
                        EXPECT_LE(report.traffic.used_bytes(), memory);
                    } catch (const Error& error) {  // too little memory, and it says so
                        ASSERT_EQ(error.code(), ErrorCode::resource) << error.what();
                        ASSERT_LT(memory, 8 << 20) << error.what();
                    }
                }
            }
        }
    }
}

TEST_P(BitFiles, transposed_operands_equal_the_product_in_memory) {
    int cut_along_k = 0, cut_down = 0;
    for (const Shape& s : {Shape{300, 260, 700}, Shape{65, 1000, 129}, Shape{1203, 2500, 515}, Shape{64, 8, 8}}) {
        for (const auto& [transpose_a, transpose_b] : {std::pair{true, false}, {false, true}, {true, true}}) {
            for (const std::int64_t memory :
                 {std::int64_t{100} << 10, std::int64_t{250} << 10, std::int64_t{8} << 20}) {
                for (const char* suffix : {".pbm", ".npy"}) {
                    FileProductRequest request =
                        prepare(s, memory == 8 << 20, memory, suffix, transpose_a, transpose_b);
                    request.verify = true;
                    try {
                        const FileProductReport report = multiply(request);
                        ASSERT_TRUE(is_right(request)) << to_string(report.plan);
                        EXPECT_TRUE(report.verified->passed()) << report.verified->explanation;
                        EXPECT_LE(report.traffic.used_bytes(), memory);
                        cut_along_k += report.plan.disk->depth < s.k ? 1 : 0;
                        cut_down += report.plan.disk->strip_m < s.m ? 1 : 0;
                    } catch (const Error& error) {
                        ASSERT_EQ(error.code(), ErrorCode::resource) << error.what();
                        ASSERT_LT(memory, 8 << 20) << error.what();
                    }
                }
            }
        }
    }
    EXPECT_GT(cut_along_k, 0);
    EXPECT_GT(cut_down, 0);
}

TEST_P(BitFiles, transposed_operands_may_have_lines_of_very_different_lengths) {
    // Lines of 8 bytes and of 80000: what is read of both goes through one buffer.
    for (const Shape& s : {Shape{640000, 64, 64}, Shape{64, 640000, 64}, Shape{64, 64, 640000}}) {
        const FileProductRequest request = prepare(s, false, std::int64_t{64} << 20, ".pbm", true, true);
        multiply(request);
        ASSERT_TRUE(is_right(request));
    }
}

TEST_P(BitFiles, a_transpose_is_another_matrix_when_a_run_goes_on) {
    FileProductRequest request = prepare({640, 640, 640}, false, 60 << 10, ".pbm", true, false);
    WatchedHooks ends_after_a_tile;
    std::atomic<int> lines{0};
    ends_after_a_tile.watch = [&](IoCall call, std::int64_t bytes) -> IoVerdict {
        return {call == IoCall::write && bytes == 0 && ++lines > 3 ? EIO : 0};  // two headers and one tile
    };
    EXPECT_THROW(multiply(request, ends_after_a_tile), Error);
    request.resume = true;
    FileProductRequest other = request;
    other.transpose_a = false;
    try {
        multiply(other);
        FAIL() << "another product went on";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
    }
    EXPECT_EQ(multiply(request).resumed_tiles, 1);
    EXPECT_TRUE(is_right(request));
}

TEST_P(BitFiles, rows_may_begin_anywhere_in_a_file_and_end_in_dirty_bits) {
    const Shape s{200, 333, 1003};
    FileProductRequest request = prepare(s, false, 400 << 10);
    for (const char* name : {"A.pbm", "B.pbm"}) {
        std::string text = read_text(folder_ / name);
        const std::int64_t cols = name[0] == 'A' ? s.k : s.n, rows = name[0] == 'A' ? s.m : s.k;
        const auto row_bytes = static_cast<std::size_t>((cols + 7) / 8);
        for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
            char& last = text[4096 + (i + 1) * row_bytes - 1];
            last = static_cast<char>(last | ((1 << (8 - cols % 8)) - 1));
        }
        write_text(folder_ / name,
                   "P4 " + std::to_string(cols) + " " + std::to_string(rows) + "\n" + text.substr(4096));
    }
    request.verify = true;
    const FileProductReport report = multiply(request);
    EXPECT_TRUE(report.verified->passed());
    EXPECT_TRUE(is_right(request));
    const std::string written = read_text(request.output);
    for (std::size_t i = 0; i < static_cast<std::size_t>(s.m); ++i) {
        EXPECT_EQ(written[4096 + (i + 1) * 126 - 1] & 0x1f, 0) << "row " << i << " ends in bits beyond its columns";
    }
}

TEST_P(BitFiles, failure_of_any_call_is_an_error_and_resuming_gives_the_same_bits) {
    FileProductRequest request = prepare({1600, 192, 1280}, true, 120 << 10);
    request.io = "threads";
    int resumed = 0;
    bool clean = false;
    for (int number = 1; !clean; number += number / 8 + 1) {
        SCOPED_TRACE(number);
        for (const char* name : {"C.pbm", "C.pbm.partial", "C.pbm.journal"}) {
            std::filesystem::remove(folder_ / name);
        }
        std::atomic<int> calls{0};
        WatchedHooks hooks;
        hooks.watch = [&](IoCall, std::int64_t) -> IoVerdict { return {++calls >= number ? EIO : 0}; };
        request.resume = false;
        try {
            const FileProductReport report = multiply(request, hooks);
            ASSERT_GT(report.tiles, 2) << to_string(report.plan);
            clean = true;
        } catch (const Error& error) {
            ASSERT_TRUE(error.code() == ErrorCode::input || error.code() == ErrorCode::resource) << error.what();
        }
        if (!clean) {
            request.resume = true;
            resumed += multiply(request).resumed_tiles > 0 ? 1 : 0;
        }
        ASSERT_TRUE(is_right(request));
    }
    EXPECT_GT(resumed, 0);
}

TEST_P(BitFiles, levels_beyond_the_memory_of_the_run_that_began_are_refused) {
    if (GetParam() != Type::gf2) {
        GTEST_SKIP() << "Boolean products have no levels";
    }
    FileProductRequest request = prepare({1600, 192, 1280}, false, 120 << 10);
    const auto multiply_with = [&](int levels, const WatchedHooks& hooks) {
        bits::BitOptions options;
        options.levels = levels;
        StageTrace trace(false);
        return multiply_watched(request, packed_bits_stage(Type::gf2, options, 2), hooks, trace);
    };
    WatchedHooks ends_after_a_tile;
    std::atomic<int> lines{0};
    ends_after_a_tile.watch = [&](IoCall call, std::int64_t bytes) -> IoVerdict {
        return {call == IoCall::write && bytes == 0 && ++lines > 3 ? EIO : 0};  // two headers and one tile
    };
    EXPECT_THROW(multiply_with(0, ends_after_a_tile), Error);
    request.resume = true;
    request.memory_bytes = 64 << 20;  // enough for a new run, which this one is not
    try {
        multiply_with(5, {});
        FAIL() << "it took more memory than there is";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::resource) << error.what();
        EXPECT_NE(std::string(error.what()).find("--levels"), std::string::npos) << error.what();
    }
    EXPECT_EQ(multiply_with(0, {}).resumed_tiles, 1);
    EXPECT_TRUE(is_right(request));
}

TEST_P(BitFiles, wrong_bits_are_found) {
    FileProductRequest request = prepare({40, 333, 1003}, false, 400 << 10);
    request.verify = true;
    StageProducts wrong = packed_bits_stage(GetParam(), {}, 2);
    const auto right = wrong.multiply;
    wrong.multiply = [&](Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                         const ProductPlan& plan, void* workspace, std::int64_t bytes) {
        const RunReport done = right(alpha, a, b, beta, c, plan, workspace, bytes);
        *element_pointer(c, c.rows / 2, 3) ^= std::byte{0x10};
        return done;
    };
    StageTrace trace(false);
    try {
        multiply_files(request, wrong, {}, trace);
        FAIL() << "a wrong bit was not found";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::verification) << error.what();
    }
    EXPECT_FALSE(std::filesystem::exists(request.output));
}

TEST_P(BitFiles, what_cannot_be_gone_through_piece_by_piece_is_refused) {
    const FileProductRequest request = prepare({40, 333, 1003}, false, 400 << 10);
    const auto expect_refused = [&](const FileProductRequest& other, const std::string& word) {
        try {
            multiply(other);
            FAIL() << word;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
        }
    };
    FileProductRequest transposed = request;
    transposed.transpose_a = true;
    expect_refused(transposed, "check the files or the transposes");
    FileProductRequest to_png = request;
    to_png.output = folder_ / "C.png";
    expect_refused(to_png, ".pbm");
    FileProductRequest from_bytes = request;
    write_bits(folder_ / "A.npy", BitMatrix::random(40, 333, 1));
    from_bytes.a.path = folder_ / "A.npy";
    expect_refused(from_bytes, "--columns");
}

INSTANTIATE_TEST_SUITE_P(algebras, BitFiles, ::testing::Values(Type::gf2, Type::boolean),
                         [](const auto& given) { return std::string(given.param == Type::gf2 ? "gf2" : "bool"); });

}  // namespace
}  // namespace heptad

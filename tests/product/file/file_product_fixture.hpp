// What the tests of products from file to file share: a product of small integers, its files and its value.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "io/generate.hpp"
#include "io/npy.hpp"
#include "io/scratch_folder.hpp"
#include "product/file/watched_hooks.hpp"
#include "product/memory/product.hpp"

namespace heptad {

inline Matrix integers(Type type, std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
    return generate("integer", rows, cols, type, seed, {-4, 4, 0.5, 8});
}

inline std::string bytes_of(const ConstView& view) {
    std::string bytes;
    for (std::int64_t i = 0; i < view.rows; ++i) {
        for (std::int64_t j = 0; j < view.cols; ++j) {
            bytes.append(reinterpret_cast<const char*>(element_pointer(view, i, j)), element_bytes(view.type));
        }
    }
    return bytes;
}

/// A product of small integers, its files and its value.
struct Case {
    std::int64_t m, k, n;
    Type type = Type::f32;
    std::int64_t memory_bytes = 0;
    bool a_fortran = false, b_fortran = false, c0_fortran = false;
    bool transpose_a = false, transpose_b = false, adds = false;
};

class FileProductTest : public ::testing::Test {
protected:
    void write_stored(const std::string& name, const Matrix& matrix, bool transpose, bool fortran) {
        write_view(name, matrix.view(), transpose, fortran);
    }
    void write_view(const std::string& name, const ConstView& view, bool transpose, bool fortran) {
        const ConstView stored = transpose ? transposed(view) : view;
        if (!fortran) {
            write_npy(folder_ / name, stored);
            return;
        }
        // A C-order file of the transpose, relabelled.
        write_npy(folder_ / name, transposed(stored));
        std::string text = read_text(folder_ / name);
        const std::string shape = fmt::format("'shape': ({}, {})", stored.cols, stored.rows);
        text.replace(text.find(shape), shape.size(), fmt::format("'shape': ({}, {})", stored.rows, stored.cols));
        const std::string order = "'fortran_order': False";
        text.replace(text.find(order), order.size(), "'fortran_order': True ");
        write_text(folder_ / name, text);
    }

    FileProductRequest prepare(const Case& c) {
        const Matrix a = integers(c.type, c.m, c.k, 1), b = integers(c.type, c.k, c.n, 2);
        Matrix expected = integers(c.type, c.m, c.n, 3);
        write_stored("A.npy", a, c.transpose_a, c.a_fortran);
        write_stored("B.npy", b, c.transpose_b, c.b_fortran);
        FileProductRequest request;
        request.a = {folder_ / "A.npy"};
        request.b = {folder_ / "B.npy"};
        request.transpose_a = c.transpose_a;
        request.transpose_b = c.transpose_b;
        request.output = folder_ / "C.npy";
        request.memory_bytes = c.memory_bytes;
        if (c.adds) {
            write_stored("C0.npy", expected, false, c.c0_fortran);
            request.c0 = {folder_ / "C0.npy"};
            request.alpha = -2;
            request.beta = 3;
        }
        Options options;
        options.device = "reference";
        multiply_in_memory(request.alpha, a, b, request.beta, expected.view(), options);
        expected_ = bytes_of(expected.view());
        return request;
    }

    FileProductReport multiply(const FileProductRequest& request, const WatchedHooks& hooks = {}) {
        StageTrace trace(false);
        return multiply_watched(request, processor_stage({}, 2), hooks, trace);
    }

    /// Ends a run after so many writes beside the matrices themselves (headers, lines of the journal); the next
    /// resumes.
    void interrupt_after_writes(FileProductRequest& request, int writes) {
        WatchedHooks hooks;
        std::atomic<int> lines{0};
        const CancelToken token = hooks.cancel;
        hooks.watch = [&lines, writes, token](IoCall call, std::int64_t bytes) -> IoVerdict {
            if (call == IoCall::write && bytes == 0 && ++lines >= writes) {
                token.cancel();
            }
            return {};
        };
        request.overlap = false;
        try {
            multiply(request, hooks);
            FAIL() << "it was not interrupted";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::cancelled) << error.what();
            EXPECT_NE(std::string(error.what()).find("--resume"), std::string::npos) << error.what();
        }
        request.resume = true;
    }

    /// Floats that round, for the request of kTiled.
    void expect_same_bits_for_any_overlap_and_queue(FileProductRequest request) {
        write_npy(folder_ / "A.npy", generate("uniform", 300, 210, Type::f32, 5));
        write_npy(folder_ / "B.npy", generate("uniform", 210, 260, Type::f32, 6));
        multiply(request);
        const std::string first = result();
        for (const bool overlap : {true, false}) {
            for (const char* io : {"auto", "threads"}) {
                request.overlap = overlap;
                request.io = io;
                multiply(request);
                EXPECT_EQ(result(), first);
            }
        }
    }

    std::string result() { return bytes_of(read_npy(folder_ / "C.npy").view()); }
    bool exists(const std::string& name) { return std::filesystem::exists(folder_ / name); }

    ScratchFolder folder_;
    std::string expected_;
};

inline const Case kTiled{.m = 300, .k = 210, .n = 260, .memory_bytes = 100 << 10};

}  // namespace heptad

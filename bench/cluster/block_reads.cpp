// P4 keeps B[id] on scratch block by block, "accessed fast compared to locating the block in the matrix". How fast?
// Times the reads of all blocks of B[id], in their order of use, in three layouts:
//
//   blocks    one block after the other, as --scatter keeps them
//   columns   B[id] as a matrix of its own: a block's rows are n/p elements apart
//   whole     in the matrix B: a block's rows are n elements apart
//
// each with the file in the page cache (warm) and without it (cold; where the kernel drops it on request).
//
//   heptad-block-reads FOLDER K N P SIDE [ROUNDS]
//
// f32; blocks of SIDE x SIDE; layouts interleaved, median of the rounds. Prints one JSON object.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/matrix.hpp"
#include "base/size.hpp"
#include "io/npy.hpp"
#include "move/ranks/window_source.hpp"

namespace {

using heptad::Window;
using Clock = std::chrono::steady_clock;

struct Layout {
    const char* name;
    std::string path;
    std::function<void(std::size_t index, void* to)> read;
    std::vector<double> warm_s, cold_s;
};

void drop_from_cache(const std::string& path) {
    const heptad::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0 || ::fdatasync(file.get()) != 0 || ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED) != 0) {
        heptad::fail(heptad::ErrorCode::resource, "'{}' cannot be dropped from the page cache", path);
    }
}

double seconds_of_all(const Layout& layout, std::size_t count, void* memory) {
    const Clock::time_point begin = Clock::now();
    for (std::size_t index = 0; index < count; ++index) {
        layout.read(index, memory);
    }
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// The matrix with element (i, j) = i - j, which no layout can mistake.
heptad::Matrix numbered(std::int64_t rows, std::int64_t cols, std::int64_t first_col) {
    heptad::Matrix matrix(heptad::Type::f32, rows, cols);
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < cols; ++j) {
            static_cast<float*>(matrix.data())[i * cols + j] = static_cast<float>(i - j - first_col);
        }
    }
    return matrix;
}

void compare(const std::string& folder, std::int64_t k, std::int64_t n, std::int64_t ranks, std::int64_t side,
             int rounds) {
    using namespace heptad;
    const ProductPlan plan = plan_among_ranks(
        {k, k, n}, Type::f32, {.ranks = ranks, .algorithm = ClusterAlgorithm::mod_pegmm, .block = {side, side, side}});
    const std::int64_t id = ranks / 2;
    const std::vector<Window> windows = held_windows(plan, id).b;
    const IndexRange cols = split_range(n, ranks, id);
    std::vector<Window> shifted = windows;
    for (Window& window : shifted) {
        window.col -= cols.begin;
    }
    const std::string whole_path = folder + "/whole.npy", columns_path = folder + "/columns.npy",
                      blocks_path = folder + "/blocks.scratch";
    write_npy(whole_path, numbered(k, n, 0));
    write_npy(columns_path, numbered(k, cols.size(), cols.begin));
    const MatrixWindows whole(whole_path, std::nullopt, false), columns(columns_path, std::nullopt, false);
    ScratchSource blocks(blocks_path, windows, Type::f32);
    Matrix memory(Type::f32, side, side), expected(Type::f32, side, side);
    for (std::size_t index = 0; index < windows.size(); ++index) {
        whole.read(windows[index], memory.data());
        blocks.write(index, memory.data());
    }
    std::vector<Layout> layouts;
    layouts.push_back({"blocks", blocks_path, [&](std::size_t i, void* to) { blocks.read(i, to); }, {}, {}});
    layouts.push_back(
        {"columns", columns_path, [&](std::size_t i, void* to) { columns.read(shifted[i], to); }, {}, {}});
    layouts.push_back({"whole", whole_path, [&](std::size_t i, void* to) { whole.read(windows[i], to); }, {}, {}});
    for (const Layout& layout : layouts) {  // the same elements, whoever has them
        blocks.read(windows.size() - 1, expected.data());
        layout.read(windows.size() - 1, memory.data());
        const auto bytes = static_cast<std::size_t>(windows.back().elements()) * sizeof(float);
        if (!std::equal(static_cast<const char*>(memory.data()), static_cast<const char*>(memory.data()) + bytes,
                        static_cast<const char*>(expected.data()))) {
            fail(ErrorCode::internal, "layout {} has other elements", layout.name);
        }
    }
    for (int round = 0; round < rounds; ++round) {
        for (Layout& layout : layouts) {
            drop_from_cache(layout.path);
            layout.cold_s.push_back(seconds_of_all(layout, windows.size(), memory.data()));
            layout.warm_s.push_back(seconds_of_all(layout, windows.size(), memory.data()));
        }
    }
    const double gigabytes = static_cast<double>(k) * static_cast<double>(cols.size()) * sizeof(float) / 1e9;
    std::printf("{\"k\": %lld, \"n\": %lld, \"p\": %lld, \"side\": %lld, \"gigabytes\": %.3f",
                static_cast<long long>(k), static_cast<long long>(n), static_cast<long long>(ranks),
                static_cast<long long>(side), gigabytes);
    for (const Layout& layout : layouts) {
        std::printf(", \"%s_warm_s\": %.4f, \"%s_cold_s\": %.4f", layout.name, median(layout.warm_s), layout.name,
                    median(layout.cold_s));
    }
    std::printf("}\n");
    ::unlink(whole_path.c_str());
    ::unlink(columns_path.c_str());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 6) {
        std::fprintf(stderr, "heptad-block-reads: give FOLDER K N P SIDE [ROUNDS]\n");
        return 2;
    }
    try {
        compare(argv[1], std::stoll(argv[2]), std::stoll(argv[3]), std::stoll(argv[4]), std::stoll(argv[5]),
                argc > 6 ? std::stoi(argv[6]) : 5);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "heptad-block-reads: %s\n", error.what());
        return 1;
    }
}

// The memory of a product on a grid is that of three panels, also where panels differ in width by one. Started by
// mpirun on one rank.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "io/scratch_folder.hpp"
#include "product/cluster/rank_work.hpp"

namespace heptad {
namespace {

Communicator* only_rank = nullptr;  // of the whole program; MPI begins once

// A panel of A and one of B: somewhat above 4 MiB each, so that one more column takes no huge page more.
constexpr std::int64_t kSide = 256, kWidth = 4200, kPanels = 6;
constexpr std::int64_t kPanel_bytes = 2 * kSide * kWidth * 4;

std::int64_t peak_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

/// Zeros, which take no memory to make.
void make_zeros(const std::string& path, std::int64_t rows, std::int64_t cols) {
    WindowWriter::create(path, {{0, 0, rows, cols}, Type::f32}).publish();
}

void multiply(std::int64_t k) {
    const ScratchFolder folder;
    make_zeros(folder / "A.npy", kSide, k);
    make_zeros(folder / "B.npy", k, kSide);
    const ProductPlan plan = plan_among_ranks({kSide, k, kSide}, Type::f32, {.panels = kPanels});
    WindowWriter result = WindowWriter::create(folder / "C.npy", {{0, 0, kSide, kSide}, Type::f32});
    const MatrixWindows a(folder / "A.npy", plan.type, false), b(folder / "B.npy", plan.type, false);
    const HeldWindows held = held_windows(plan, 0);
    const FileSource a_source(a, held.a), b_source(b, held.b);
    StageTrace trace(false);
    StageFailure failure;
    std::atomic<double> fraction{0};
    const FinishedUnits finished;
    NodeSettings node;
    node.options.levels = 0;
    multiply_on_grid(
        {plan, *only_rank, a_source, b_source, nullptr, &result, node, trace, failure, fraction, finished});
}

TEST(GridMemory, panels_of_two_widths_take_no_more_than_panels_of_one) {
    multiply(kPanels * kWidth);
    const std::int64_t peak = peak_bytes();
    multiply(kPanels * kWidth + kPanels / 2);  // three are wider, and then three are not
    EXPECT_LT(peak_bytes() - peak, kPanel_bytes);
}

}  // namespace
}  // namespace heptad

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    heptad::Communicator ranks(&argc, &argv);
    heptad::only_rank = &ranks;
    return RUN_ALL_TESTS();
}

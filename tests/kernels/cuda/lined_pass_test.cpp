// Passes between matrices with powers of two beside them: the same as the reference loops, bit for bit, where all sums
// are small integers times powers of two.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/reference/reference_backend.hpp"
#include "product/device/device_matrix.hpp"
#include "run/dense/combine_passes.hpp"
#include "run/dense/evenness.hpp"
#include "run/dense/level_runner.hpp"

namespace heptad::test {
namespace {

/// Blocks with powers of two beside them, in host memory and on the device.
class TwiceBlocks {
public:
    TwiceBlocks(void* stream, std::mt19937& random) : stream_(stream), random_(random) {}

    void add(Type type, std::int64_t rows, std::int64_t cols, Layout layout) {
        most_ = type == Type::f16 ? 3 : 10;
        const std::int32_t* const of_rows = exponents(rows);
        const LineExponents lines{of_rows, exponents(cols)};
        auto matrix = std::make_unique<GuardedMatrix>(type, rows, cols, layout);
        matrix->fill_random(random_, 3);
        for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t j = 0; j < cols; ++j) {
                const std::int32_t exponent =
                    (lines.rows == nullptr ? 0 : lines.rows[i]) + (lines.cols == nullptr ? 0 : lines.cols[j]);
                matrix->set(i, j, exponent > kZeroLine / 2 ? 0 : std::ldexp(matrix->get(i, j), -exponent));
            }
        }
        copies_.push_back(std::make_unique<GuardedMatrix>(*matrix));
        on_device_.push_back(std::make_unique<DeviceMatrixCopy>(*copies_.back(), stream_));
        device_.views.push_back(on_device_.back()->view());
        host_.views.push_back(matrix->view());
        matrices_.push_back(std::move(matrix));
        host_.lines.push_back(lines);
        device_.lines.push_back(device_lines_);
    }
    const LinedBlocks& host() const { return host_; }
    const LinedBlocks& device() const { return device_; }
    void fetch() {
        for (const auto& copy : on_device_) {
            copy->fetch();
        }
    }
    bool agree() const {
        for (std::size_t x = 0; x < matrices_.size(); ++x) {
            const View view = matrices_[x]->view();
            for (std::int64_t i = 0; i < view.rows; ++i) {
                for (std::int64_t j = 0; j < view.cols; ++j) {
                    if (matrices_[x]->get(i, j) != copies_[x]->get(i, j)) {  // zeros may differ in their sign
                        return false;
                    }
                }
            }
        }
        return true;
    }

private:
    /// Of some lines; null as often as not. The same on the device goes to device_lines_.
    const std::int32_t* exponents(std::int64_t count) {
        const std::int32_t*& device_side = count_++ % 2 == 0 ? device_lines_.rows : device_lines_.cols;
        device_side = nullptr;
        if (random_() % 4 == 0) {
            return nullptr;
        }
        auto vector = std::make_unique<GuardedMatrix>(Type::i32, 1, count, Layout::rows);
        for (std::int64_t i = 0; i < count; ++i) {
            const int exponent = std::uniform_int_distribution<int>(-most_, most_)(random_);
            vector->set(0, i, random_() % 16 == 0 ? kZeroLine : exponent);
        }
        vectors_on_device_.push_back(std::make_unique<DeviceMatrixCopy>(*vector, stream_));
        device_side = static_cast<const std::int32_t*>(vectors_on_device_.back()->view().data);
        vectors_.push_back(std::move(vector));
        return static_cast<const std::int32_t*>(vectors_.back()->view().data);
    }

    void* stream_;
    std::mt19937& random_;
    std::vector<std::unique_ptr<GuardedMatrix>> matrices_, copies_, vectors_;
    std::vector<std::unique_ptr<DeviceMatrixCopy>> on_device_, vectors_on_device_;
    LinedBlocks host_, device_;
    LineExponents device_lines_;
    int count_ = 0, most_ = 0;
};

struct Shape {
    std::int64_t rows, cols;
    Layout layout;
};

TEST(lined_pass, sums_of_algorithms_are_those_of_the_reference_loops) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937 random(1);
    const Shape shapes[] = {{64, 64, Layout::rows},
                            {33, 47, Layout::rows},
                            {36, 40, Layout::columns},
                            {21, 18, Layout::columns_padded},
                            {17, 9, Layout::general}};
    const cuda::Stream stream(0);
    cuda::CudaBackend device(0, stream.handle());
    ReferenceBackend host;
    for (const Type type : {Type::f32, Type::f64, Type::bf16, Type::f16}) {
        for (const Shape& shape : shapes) {
            for (const char* const algorithm : {"winograd", "strassen", "winograd*winograd"}) {
                const LevelPrograms programs = level_programs(algorithm, false);
                for (const bool batched : {false, true}) {
                    const OperandLayout layout = operand_layout(*programs.a, batched);
                    TwiceBlocks from(stream.handle(), random), to(stream.handle(), random);
                    for (int i = 0; i < programs.a->inputs; ++i) {
                        from.add(type, shape.rows, shape.cols, shape.layout);
                    }
                    for (int i = 0; i < layout.stored; ++i) {
                        to.add(type, shape.rows, shape.cols, shape.layout);
                    }
                    host.combine(operand_pass(*programs.a, layout, from.host(), to.host()));
                    device.combine(operand_pass(*programs.a, layout, from.device(), to.device()));
                    to.fetch();
                    stream.synchronize();
                    ASSERT_TRUE(to.agree())
                        << type_name(type) << " " << algorithm << " " << shape.rows << " " << batched;
                }
                for (const double beta : {0.0, 2.0}) {
                    TwiceBlocks from(stream.handle(), random), to(stream.handle(), random);
                    for (int i = 0; i < programs.c->inputs; ++i) {
                        from.add(type, shape.rows, shape.cols, shape.layout);
                    }
                    for (std::size_t i = 0; i < programs.c->outputs.size(); ++i) {
                        to.add(type, shape.rows, shape.cols, shape.layout);
                    }
                    host.combine(result_pass(*programs.c, from.host(), beta, to.host()));
                    device.combine(result_pass(*programs.c, from.device(), beta, to.device()));
                    to.fetch();
                    stream.synchronize();
                    ASSERT_TRUE(to.agree()) << type_name(type) << " " << algorithm << " " << shape.rows << " " << beta;
                }
            }
        }
    }
}

TEST(lined_pass, powers_alone_may_change) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937 random(2);
    const cuda::Stream stream(0);
    cuda::CudaBackend device(0, stream.handle());
    ReferenceBackend host;
    TwiceBlocks blocks(stream.handle(), random);
    blocks.add(Type::f32, 40, 52, Layout::rows);
    blocks.add(Type::f32, 40, 52, Layout::rows);
    const auto pass = [](const LinedBlocks& x) {
        CombinePass change{{x.views[0]}, {{0, {{0, 1}}}}};
        change.exponents = {x.lines[0]};
        change.written_exponents = {x.lines[1]};
        return change;
    };
    host.combine(pass(blocks.host()));
    device.combine(pass(blocks.device()));
    blocks.fetch();
    stream.synchronize();
    EXPECT_TRUE(blocks.agree());
}

}  // namespace
}  // namespace heptad::test

// Combine passes give the values of the plain loops on small integers, and the same ones in every shape that `heptad
// tune` may choose.
#include "kernels/cuda/combine/pass_shape.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/reference/reference_backend.hpp"
#include "product/device/device_matrix.hpp"
#include "run/dense/combine_passes.hpp"
#include "run/dense/level_runner.hpp"

namespace heptad::test {
namespace {

TEST(pass_shape, classes_are_told_by_the_blocks_in_and_out) {
    EXPECT_EQ(cuda::pass_class(4, 7), cuda::PassClass::few);
    EXPECT_EQ(cuda::pass_class(7, 4), cuda::PassClass::few);
    EXPECT_EQ(cuda::pass_class(16, 49), cuda::PassClass::spread);
    EXPECT_EQ(cuda::pass_class(49, 16), cuda::PassClass::gather);
    cuda::PassShapes shapes;
    shapes.of(Type::tf32, cuda::PassClass::few) = {64, 4};
    EXPECT_EQ(shapes.of(Type::f32, cuda::PassClass::few), (cuda::PassShape{64, 4}));
    EXPECT_EQ(shapes.of(Type::f64, cuda::PassClass::few), (cuda::PassShape{128, 1}));
}

/// The order of the sums decides the sign of a zero, so bytes may differ where values do not.
bool equal_values(Type type, const std::vector<std::byte>& x, const std::vector<std::byte>& y) {
    const std::size_t element = element_bytes(type);
    for (std::size_t at = 0; at + element <= x.size(); at += element) {
        if (get_element(type, x.data() + at) != get_element(type, y.data() + at)) {
            return false;
        }
    }
    return x.size() == y.size();
}

/// Bytes of one allocation on the device after the pass over it.
class PassOnDevice {
public:
    /// Blocks in and out of that side, `gap` elements between rows.
    PassOnDevice(Type type, const char* algorithm, int grid, bool result, std::int64_t side, std::int64_t gap)
        : stream_(0), backend_(0, stream_.handle()), memory_(0, kBytes, stream_.handle()), before_(kBytes) {
        const LevelPrograms programs = level_programs(algorithm, false);
        const std::int64_t stride = side + gap;
        auto* next = static_cast<std::byte*>(memory_.data());
        const auto take = [&](std::size_t count) {
            std::vector<View> views;
            for (std::size_t i = 0; i < count; ++i) {
                views.emplace_back(next, type, side, side, stride, 1);
                next += side * stride * static_cast<std::int64_t>(element_bytes(type));
            }
            return views;
        };
        const auto blocks = static_cast<std::size_t>(grid) * static_cast<std::size_t>(grid);
        if (result) {
            const std::vector<View> products = take(static_cast<std::size_t>(programs.c->inputs));
            pass_ = result_pass(*programs.c, {products, {}}, 0, {take(blocks), {}});
        } else {
            const OperandLayout layout = operand_layout(*programs.a, true);
            const std::vector<View> inputs = take(blocks);
            pass_ =
                operand_pass(*programs.a, layout, {inputs, {}}, {take(static_cast<std::size_t>(layout.stored)), {}});
        }
        EXPECT_LE(next - static_cast<std::byte*>(memory_.data()), kBytes);
        std::mt19937 random(1);
        const std::size_t element = element_bytes(type);
        for (std::size_t at = 0; at + element <= before_.size(); at += element) {
            set_element(type, before_.data() + at, static_cast<double>(random() % 7) - 3);
        }
    }
    std::vector<std::byte> run(const cuda::PassShapes& shapes) {
        backend_.set_pass_shapes(shapes);
        cuda::copy_rows(before_.data(), kBytes, memory_.data(), kBytes, kBytes, 1, stream_.handle());
        backend_.combine(pass_);
        std::vector<std::byte> after(before_.size());
        cuda::copy_rows(memory_.data(), kBytes, after.data(), kBytes, kBytes, 1, stream_.handle());
        stream_.synchronize();
        return after;
    }
    const std::vector<std::byte>& before() const { return before_; }
    /// The same pass by plain loops over the same bytes in host memory.
    std::vector<std::byte> by_loops() const {
        std::vector<std::byte> after = before_;
        CombinePass on_host = pass_;
        for (View& slot : on_host.slots) {
            if (slot.data != nullptr) {
                slot.data =
                    after.data() + (static_cast<std::byte*>(slot.data) - static_cast<std::byte*>(memory_.data()));
            }
        }
        ReferenceBackend().combine(on_host);
        return after;
    }

private:
    static constexpr std::int64_t kBytes = std::int64_t{8} << 20;
    cuda::Stream stream_;
    cuda::CudaBackend backend_;
    cuda::DeviceMemory memory_;
    std::vector<std::byte> before_;
    CombinePass pass_;
};

TEST(pass_shape, every_shape_gives_the_same_bits) {
    HEPTAD_NEEDS_DEVICE();
    for (const Type type : {Type::f32, Type::f64, Type::bf16, Type::f16, Type::i32}) {
        for (const auto& [algorithm, grid] : {std::pair{"winograd", 2}, {"winograd*winograd", 4}, {"strassen", 2}}) {
            for (const bool result : {false, true}) {
                // Rows moved 16 bytes at a time, and rows that begin anywhere; few enough places for a block to be left
                // half empty.
                for (const auto& [side, gap] : {std::pair{std::int64_t{72}, std::int64_t{8}}, {61, 2}}) {
                    PassOnDevice pass(type, algorithm, grid, result, side, gap);
                    const std::vector<std::byte> expected = pass.run({});
                    EXPECT_NE(expected, pass.before());
                    EXPECT_TRUE(equal_values(type, expected, pass.by_loops()))
                        << type_name(type) << " " << algorithm << " result " << result << " side " << side;
                    for (const int threads : cuda::kTriedThreads) {
                        for (const int places : cuda::kTriedPlaces) {
                            cuda::PassShapes shapes;
                            for (const cuda::PassClass of : cuda::kPassClasses) {
                                shapes.of(type, of) = {threads, places};
                            }
                            ASSERT_TRUE(pass.run(shapes) == expected)
                                << type_name(type) << " " << algorithm << " result " << result << " side " << side
                                << ": " << threads << " threads, " << places << " places";
                        }
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace heptad::test

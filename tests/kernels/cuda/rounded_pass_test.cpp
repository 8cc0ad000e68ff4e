// What a pass writes for products of tf32 alone: sums rounded to nearest, to the 19 bits that tensor cores read.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>

#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/device/device_matrix.hpp"

namespace heptad::test {
namespace {

/// x to nearest in eleven bits of significand, ties away from zero.
float rounded(float x) {
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + 0x1000U) & 0xffffe000U);
}

TEST(rounded_pass, sums_and_copies_for_products_of_tf32_keep_the_bits_that_are_read) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (const std::int64_t cols : {64, 61}) {  // 16 bytes at a time, and rows that begin anywhere
        for (const bool only_multiplied : {true, false}) {
            const std::int64_t rows = 37;
            GuardedMatrix a(Type::tf32, rows, cols, Layout::rows), b(Type::tf32, rows, cols, Layout::rows),
                sum(Type::tf32, rows, cols, Layout::rows), copy(Type::tf32, rows, cols, Layout::rows);
            for (std::int64_t i = 0; i < rows; ++i) {
                for (std::int64_t j = 0; j < cols; ++j) {
                    a.set(i, j, static_cast<double>(uniform(random)));
                    b.set(i, j, static_cast<double>(uniform(random)));
                }
            }
            const cuda::Stream stream(0);
            cuda::CudaBackend backend(0, stream.handle());
            DeviceMatrixCopy da(a, stream.handle()), db(b, stream.handle()), dsum(sum, stream.handle()),
                dcopy(copy, stream.handle());
            CombinePass pass{{da.view(), db.view(), dsum.view(), dcopy.view()},
                             {{2, {{0, 1}, {1, -1}}}, {3, {{1, 1}}}}};
            pass.only_multiplied = only_multiplied;
            backend.combine(pass);
            dsum.fetch();
            dcopy.fetch();
            stream.synchronize();
            for (std::int64_t i = 0; i < rows; ++i) {
                for (std::int64_t j = 0; j < cols; ++j) {
                    const auto x = static_cast<float>(a.get(i, j)), y = static_cast<float>(b.get(i, j));
                    const float difference = x - y;
                    ASSERT_EQ(sum.get(i, j), static_cast<double>(only_multiplied ? rounded(difference) : difference));
                    ASSERT_EQ(copy.get(i, j), static_cast<double>(only_multiplied ? rounded(y) : y));
                }
            }
        }
    }
}

}  // namespace
}  // namespace heptad::test

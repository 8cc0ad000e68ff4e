// Products of matrices in host memory on an NVIDIA device, whose i-th allocation of device memory or of host memory
// fails, for every i.
#include <cuda_runtime_api.h>

#include <atomic>
#include <heptad/bits.hpp>

#include "citizen/short_of_memory.hpp"
#include "kernels/cuda/device/device.hpp"

namespace {

std::atomic<bool> device_counts{false};
std::atomic<std::int64_t> device_seen{0}, device_failing_number{0};

bool next_fails() {
    return device_counts && device_seen.fetch_add(1) + 1 == device_failing_number;
}

}  // namespace

// The linker sends the library's calls here (--wrap).
extern "C" {
cudaError_t __real_cudaMalloc(void** memory, std::size_t bytes);
cudaError_t __real_cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t stream);

cudaError_t __wrap_cudaMalloc(void** memory, std::size_t bytes) {
    return next_fails() ? cudaErrorMemoryAllocation : __real_cudaMalloc(memory, bytes);
}
cudaError_t __wrap_cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t stream) {
    return next_fails() ? cudaErrorMemoryAllocation : __real_cudaMallocAsync(memory, bytes, stream);
}
}

namespace heptad::citizen {
namespace {

class DeviceShortOfMemory : public ::testing::Test {
protected:
    void SetUp() override {
        if (!cuda::report().available) {
            GTEST_SKIP() << cuda::report().problem;
        }
    }

    static std::int64_t allocations_of(const std::function<void()>& product) {
        device_seen = 0;
        device_failing_number = 0;
        device_counts = true;
        product();
        device_counts = false;
        return device_seen;
    }

    enum class May : std::uint8_t { fail, find_another_way };

    /// Every allocation of device memory once, then a choice of those of host memory.
    static void expect_survives_there(const TriedProduct& product, May may = May::fail) {
        product.prepare();
        const std::int64_t allocations = allocations_of(product.multiply);
        ASSERT_GT(allocations, 0);
        for (std::int64_t number = 1; number <= allocations; ++number) {
            SCOPED_TRACE("device allocation " + std::to_string(number) + " of " + std::to_string(allocations));
            const auto nowhere = std::numeric_limits<std::int64_t>::max();
            device_seen = 0;
            device_failing_number = number;
            device_counts = true;
            const Trial trial = try_without(product, nowhere, Shortage::once);
            device_counts = false;
            ASSERT_TRUE(trial.ended == Ended::right || (may == May::fail && trial.ended == Ended::out_of_memory))
                << trial.sentence;
            const Trial next = try_without(product, nowhere, Shortage::once);
            ASSERT_EQ(next.ended, Ended::right) << next.sentence;
        }
        expect_survives(product, 40);
    }
};

TEST_F(DeviceShortOfMemory, dense_product_is_right_or_says_so) {
    constexpr std::int64_t n = 256;
    std::vector<float> a(n * n), b(n * n), c, expected(n * n);
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<float>(i % 7) - 3;
        b[i] = static_cast<float>(i % 5) - 2;
    }
    const auto view = [&](std::vector<float>& x) { return MatrixView<float>::row_major(x.data(), n, n); };
    Options reference;
    reference.device = "reference";
    multiply(view(a), view(b), view(expected), reference);
    for (const int levels : {0, 1, -1}) {
        Options options;
        options.device = "cuda";
        options.levels = levels;
        options.accuracy = Accuracy::fast;
        expect_survives_there({[&] { c.assign(n * n, -1); }, [&] { multiply(view(a), view(b), view(c), options); },
                               [&] { return c == expected; }},
                              levels < 0 ? May::find_another_way : May::fail);
    }
}

TEST_F(DeviceShortOfMemory, bit_product_is_right_or_says_so) {
    const BitMatrix a = BitMatrix::random(512, 512, 1), b = BitMatrix::random(512, 512, 2);
    const BitMatrix expected = bits::product(Type::gf2, a, b);
    bits::BitOptions options;
    options.device = "cuda";
    BitMatrix c;
    expect_survives_there({[&] { c = BitMatrix(); }, [&] { c = bits::product(Type::gf2, a, b, options); },
                           [&] { return c == expected; }});
}

}  // namespace
}  // namespace heptad::citizen

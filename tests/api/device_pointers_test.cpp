// Pointers to memory of a device, and products whose device was left open.
#include <heptad/cuda.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include <heptad/bits.hpp>

#include "base/error.hpp"
#include "product/device/device_choice.hpp"
#include "product/device/device_matrix.hpp"

namespace heptad::test {
namespace {

constexpr std::int64_t kSize = 64;

/// 64 x 64 numbers of the host and their copy on the device.
template <class T>
class Square {
public:
    explicit Square(T value) : host_(kSize * kSize, value), device_(0, bytes(), nullptr) { copy(host_.data(), data()); }
    T* data() const { return static_cast<T*>(device_.data()); }
    MatrixView<T> on_host() { return MatrixView<T>::row_major(host_.data(), kSize, kSize); }
    DeviceView<T> on_device() const { return DeviceView<T>::row_major(data(), kSize, kSize); }
    const std::vector<T>& fetched() {
        copy(data(), host_.data());
        return host_;
    }

private:
    std::int64_t bytes() const { return kSize * kSize * static_cast<std::int64_t>(sizeof(T)); }
    void copy(const void* from, void* to) const {
        cuda::copy_rows(from, bytes(), to, bytes(), bytes(), 1, nullptr);
        EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
    }
    std::vector<T> host_;
    cuda::DeviceMemory device_;
};

std::string refusal(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
        return error.what();
    }
    return "nothing was refused";
}

TEST(device_pointers, go_to_their_device_after_products_of_that_size_in_host_memory) {
    HEPTAD_NEEDS_DEVICE();
    Square<float> a(2), b(3), c(0);
    for (int i = 0; i < 3; ++i) {  // the short way for products that come again
        multiply(a.on_host(), b.on_host(), c.on_host());
        EXPECT_EQ(c.on_host()(5, 7), 6 * kSize);
    }
    Square<float> d(-1);
    multiply(1.0, a.on_device(), b.on_device(), 0.0, d.on_device());
    for (const float x : d.fetched()) {
        ASSERT_EQ(x, 6 * kSize);
    }
    multiply(a.on_host(), b.on_host(), c.on_host());
    EXPECT_EQ(c.on_host()(63, 63), 6 * kSize);
}

TEST(device_pointers, are_refused_by_other_devices) {
    HEPTAD_NEEDS_DEVICE();
    Square<float> a(2), b(3), c(0);
    for (const char* device : {"cpu", "reference", "cpu:2"}) {
        Options options;
        options.device = device;
        const std::string sentence =
            refusal([&] { multiply(1.0, a.on_host(), b.on_device(), 0.0, c.on_host(), options); });
        EXPECT_NE(sentence.find("B is on cuda:0"), std::string::npos) << sentence;
        EXPECT_NE(sentence.find(device), std::string::npos) << sentence;
    }
    EXPECT_NE(refusal([&] { multiply(1.0, a.on_host(), b.on_host(), 0.0, c.on_device()); }).find("copy them"),
              std::string::npos);
    Options on_processor;
    on_processor.device = "cpu";
    const Plan plan = heptad::plan({kSize, kSize, kSize}, Type::f32, on_processor);
    EXPECT_NE(refusal([&] { multiply(1.0, a.on_device(), b.on_device(), 0.0, c.on_device(), plan); }).find("A is on"),
              std::string::npos);
}

TEST(device_pointers, of_batches_and_bits_go_to_their_device) {
    HEPTAD_NEEDS_DEVICE();
    Square<float> a(2), b(3), c(0);
    multiply_strided_batch(1.0, a.on_device().block(0, 0, 32, kSize), 32 * kSize, b.on_device(), 0, 0.0,
                           c.on_device().block(0, 0, 32, kSize), 32 * kSize, 2);
    for (const float x : c.fetched()) {
        ASSERT_EQ(x, 6 * kSize);
    }
    Square<std::uint64_t> words(~std::uint64_t{0}), result(0);
    const ConstBitView ones{words.data(), kSize, kSize, 1, 0};
    bits::multiply(Type::boolean, ones, ones, BitView{result.data(), kSize, kSize, 1, 0});
    for (int row = 0; row < kSize; ++row) {
        ASSERT_EQ(result.fetched()[static_cast<std::size_t>(row)], ~std::uint64_t{0});
    }
    EXPECT_THROW(bits::power(Type::gf2, ones, 3), Error);
    EXPECT_THROW(count_triangles(ones), Error);
}

TEST(device_pointers, of_cudas_own_types_on_a_stream) {
    HEPTAD_NEEDS_DEVICE();
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    Square<__half> a(__float2half(2)), b(__float2half(3)), c(__float2half(0));
    multiply(1.0, a.on_device().transposed(), b.on_device(), 0.0, c.on_device(), Options{}, on_stream(stream));
    Square<float> wide(1);
    multiply(0.5, a.on_device(), b.on_device(), 2.0, wide.on_device(), Options{}, on_stream(stream));
    Square<__nv_bfloat16> x(__float2bfloat16(2)), y(__float2bfloat16(3)), z(__float2bfloat16(0));
    multiply(1.0, x.on_device(), y.on_device(), 0.0, z.on_device(), Options{}, on_stream(stream));
    Square<float> f(2), g(3), h(0);
    multiply(1.0, f.on_device().as(Type::tf32), g.on_device().as(Type::tf32), 0.0, h.on_device().as(Type::tf32),
             Options{}, on_stream(stream));
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(__half2float(c.fetched()[9]), 6 * kSize);
    EXPECT_EQ(wide.fetched()[9], 3 * kSize + 2);
    EXPECT_EQ(__bfloat162float(z.fetched()[9]), 6 * kSize);
    EXPECT_EQ(h.fetched()[9], 6 * kSize);
    cudaStreamDestroy(stream);
}

/// By predictions: a device of today is hundreds of times as fast as one core.
TEST(device_left_open, large_products_go_to_a_device_and_short_ones_do_not) {
    HEPTAD_NEEDS_DEVICE();
    Context one_core;
    one_core.set_threads(1);
    const auto backend = [&](std::int64_t n, const Options& options) {
        const std::string text = plan({n, n, n}, Type::f64, options, one_core).to_string();
        return text.find("backend=cuda") != std::string::npos ? "cuda" : "cpu";
    };
    EXPECT_STREQ(backend(8192, {}), "cuda") << plan({8192, 8192, 8192}, Type::f64, {}, one_core).to_string();
    EXPECT_STREQ(backend(256, {}), "cpu");
    Options on_processor;
    on_processor.device = "cpu";
    EXPECT_STREQ(backend(8192, on_processor), "cpu");
    std::vector<std::byte> memory(64);
    Context with_workspace = one_core;
    with_workspace.set_workspace(memory.data(), 64);
    EXPECT_EQ(plan({8192, 8192, 8192}, Type::f64, {}, with_workspace).to_string().find("backend=cuda"),
              std::string::npos);
}

TEST(device_left_open, products_in_host_memory_come_back) {
    HEPTAD_NEEDS_DEVICE();
    constexpr std::int64_t kLarge = 4096;
    std::vector<double> a(kLarge * kLarge, 0.5), b(kLarge * kLarge, 2), c(kLarge * kLarge, -1);
    const auto view = [](std::vector<double>& x) { return MatrixView<double>::row_major(x.data(), kLarge, kLarge); };
    Context one_core;
    one_core.set_threads(1);
    ASSERT_NE(plan({kLarge, kLarge, kLarge}, Type::f64, {}, one_core).to_string().find("backend=cuda"),
              std::string::npos);
    multiply(view(a), view(b), view(c), {}, one_core);
    for (const double x : c) {
        ASSERT_EQ(x, kLarge);
    }
}

TEST(device_left_open, child_of_a_fork_stays_on_the_processor) {
    HEPTAD_NEEDS_DEVICE();
    const pid_t child = fork();
    if (child == 0) {
        Context one_core;
        one_core.set_threads(1);
        const std::string text = plan({8192, 8192, 8192}, Type::f64, {}, one_core).to_string();
        _exit(text.find("backend=cuda") == std::string::npos ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace heptad::test

// A stream, a handle and matrices for tests of libheptad_cublas.so before the real cuBLAS, on a device.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

extern "C" int heptad_cublas_enable(int on);
extern "C" long long heptad_cublas_taken_over();

namespace heptad::cublas_testing {

inline void check(cudaError_t status) {
    ASSERT_EQ(status, cudaSuccess) << cudaGetErrorString(status);
}
inline void check(cublasStatus_t status) {
    ASSERT_EQ(status, CUBLAS_STATUS_SUCCESS);
}

inline bool is_device_of_the_figures() {
    cudaDeviceProp properties{};
    return cudaGetDeviceProperties(&properties, 0) == cudaSuccess && properties.major == 9;
}

template <class T>
inline constexpr bool is_complex_number =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// Integers from -most to most; of complex numbers both parts.
template <class T>
T random_number(std::mt19937& random, int most) {
    const auto integer = [&] {
        return static_cast<float>(static_cast<int>(random() % static_cast<unsigned>(2 * most + 1)) - most);
    };
    if constexpr (is_complex_number<T>) {
        const float real = integer();
        return {static_cast<typename T::value_type>(real), static_cast<typename T::value_type>(integer())};
    } else {
        return static_cast<T>(integer());
    }
}

template <class T>
T plus_one(T x) {
    if constexpr (is_complex_number<T>) {
        return x + T(1);
    } else {
        return static_cast<T>(static_cast<double>(static_cast<float>(x)) + 1);
    }
}

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

/// By columns on the device, `count` of them one after another.
template <class T>
class Matrix {
public:
    Matrix(int rows, int cols, unsigned seed, int count = 1, int most = 4)
        : leading_(rows + 8), cols_(cols), count_(count), host_(size()) {
        std::mt19937 random(seed);
        for (T& value : host_) {
            value = random_number<T>(random, most);
        }
        check(cudaMalloc(&data_, bytes()));
        send(nullptr);
    }
    ~Matrix() { cudaFree(data_); }
    Matrix(const Matrix&) = delete;
    Matrix& operator=(const Matrix&) = delete;

    T* data() const { return static_cast<T*>(data_); }
    T* data(int index) const { return data() + index * distance(); }
    int leading() const { return leading_; }
    long long distance() const { return static_cast<long long>(leading_) * cols_; }
    T& at(int i, int j) {
        return host_[static_cast<std::size_t>(j) * static_cast<std::size_t>(leading_) + static_cast<std::size_t>(i)];
    }
    void fill(T value) { std::fill(host_.begin(), host_.end(), value); }
    void send(cudaStream_t stream) {
        check(cudaMemcpyAsync(data_, host_.data(), bytes(), cudaMemcpyHostToDevice, stream));
        check(cudaStreamSynchronize(stream));
    }
    const std::vector<T>& fetch(cudaStream_t stream) {
        check(cudaMemcpyAsync(host_.data(), data_, bytes(), cudaMemcpyDeviceToHost, stream));
        check(cudaStreamSynchronize(stream));
        return host_;
    }

private:
    std::size_t size() const {
        return static_cast<std::size_t>(leading_) * static_cast<std::size_t>(cols_) * static_cast<std::size_t>(count_);
    }
    std::size_t bytes() const { return size() * sizeof(T); }
    int leading_, cols_, count_;
    std::vector<T> host_;
    void* data_ = nullptr;
};

/// The addresses of matrices in device memory, as batches by pointers have them.
template <class T>
class Addresses {
public:
    Addresses(const Matrix<T>& matrices, const std::vector<int>& order) {
        std::vector<T*> all;
        for (const int index : order) {
            all.push_back(matrices.data(index));
        }
        check(cudaMalloc(&data_, all.size() * sizeof(T*)));
        check(cudaMemcpy(data_, all.data(), all.size() * sizeof(T*), cudaMemcpyHostToDevice));
    }
    ~Addresses() { cudaFree(data_); }
    Addresses(const Addresses&) = delete;
    Addresses& operator=(const Addresses&) = delete;

    /// As the entry wants them: of T or of cuBLAS's complex type.
    template <class As = T>
    As** data() const {
        return static_cast<As**>(data_);
    }

private:
    void* data_ = nullptr;
};

class CublasDropIn : public testing::Test {
protected:
    void SetUp() override {
        int count = 0;
        if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
            GTEST_SKIP() << "no CUDA device";
        }
        if (!is_device_of_the_figures()) {
            GTEST_SKIP() << "no Hopper, for which it is known what pays";
        }
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        check(cublasCreate(&handle));
        check(cublasSetStream(handle, stream));
    }
    void TearDown() override {
        heptad_cublas_enable(1);
        if (handle != nullptr) {
            cublasDestroy(handle);
            cudaStreamDestroy(stream);
        }
    }

    /// From pageable memory a copy may return before it is complete, and this stream waits for nobody.
    template <class T>
    static void write(Matrix<T>& to, const std::vector<T>& from) {
        check(cudaMemcpy(to.data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
        check(cudaDeviceSynchronize());
    }

    /// The result with the drop-in equals that without it, and the call was ours, or was not.
    template <class T, class Call>
    void expect_same(Matrix<T>& c, bool ours, const Call& call) {
        std::vector<T> before = c.fetch(stream);  // of integers, and not yet the result, as it is after another call
        std::transform(before.begin(), before.end(), before.begin(), plus_one<T>);
        write(c, before);
        heptad_cublas_enable(0);
        call();
        check(cudaDeviceSynchronize());  // it may be on another stream
        const std::vector<T> wanted = c.fetch(stream);
        ASSERT_FALSE(same_bits(wanted, before));
        write(c, before);
        heptad_cublas_enable(1);
        const long long taken = heptad_cublas_taken_over();
        call();
        check(cudaDeviceSynchronize());
        EXPECT_EQ(heptad_cublas_taken_over() - taken, ours ? 1 : 0);
        EXPECT_TRUE(same_numbers(c.fetch(stream), wanted));
    }

    cudaStream_t stream = nullptr;
    cublasHandle_t handle = nullptr;

    /// -0 is 0.
    template <class T>
    static bool same_numbers(const std::vector<T>& x, const std::vector<T>& y) {
        return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const T& p, const T& q) {
            if constexpr (is_complex_number<T>) {
                return p == q;
            } else {
                return static_cast<double>(p) == static_cast<double>(q);
            }
        });
    }
};

}  // namespace heptad::cublas_testing

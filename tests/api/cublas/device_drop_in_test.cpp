// libheptad_cublas.so before the real cuBLAS on a device: large calls are taken over, and give what cuBLAS gives. The
// data are small integers, of which both are exact, so that every comparison is of bits.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <vector>

extern "C" int heptad_cublas_enable(int on);
extern "C" long long heptad_cublas_taken_over();

namespace {

// Planned by residues on an H200 (machines/h200.json); other devices may pass them on.
constexpr int kM = 2304, kN = 2560, kK = 2048;

void check(cudaError_t status) {
    ASSERT_EQ(status, cudaSuccess) << cudaGetErrorString(status);
}
void check(cublasStatus_t status) {
    ASSERT_EQ(status, CUBLAS_STATUS_SUCCESS);
}

bool is_device_of_the_figures() {
    cudaDeviceProp properties{};
    return cudaGetDeviceProperties(&properties, 0) == cudaSuccess && properties.major == 9;
}

/// By columns on the device.
template <class T>
class Matrix {
public:
    Matrix(int rows, int cols, unsigned seed, int count = 1)
        : rows_(rows), leading_(rows + 8), cols_(cols), count_(count), host_(size()) {
        std::mt19937 random(seed);
        for (T& value : host_) {
            value = static_cast<T>(static_cast<int>(random() % 9) - 4);
        }
        check(cudaMalloc(&data_, bytes()));
        send(nullptr);
    }
    ~Matrix() { cudaFree(data_); }
    Matrix(const Matrix&) = delete;
    Matrix& operator=(const Matrix&) = delete;

    T* data() const { return static_cast<T*>(data_); }
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
    int rows_, leading_, cols_, count_;
    std::vector<T> host_;
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
        std::transform(before.begin(), before.end(), before.begin(), [](T x) { return x + T(1); });
        write(c, before);
        heptad_cublas_enable(0);
        call();
        check(cudaDeviceSynchronize());  // it may be on another stream
        const std::vector<T> wanted = c.fetch(stream);
        ASSERT_NE(wanted, before);
        write(c, before);
        heptad_cublas_enable(1);
        const long long taken = heptad_cublas_taken_over();
        call();
        check(cudaDeviceSynchronize());
        EXPECT_EQ(heptad_cublas_taken_over() - taken, ours ? 1 : 0);
        EXPECT_EQ(c.fetch(stream) == wanted, true);
    }

    cudaStream_t stream = nullptr;
    cublasHandle_t handle = nullptr;
};

TEST_F(CublasDropIn, sgemm_equals_cublas_in_every_form) {
    for (const cublasOperation_t ta : {CUBLAS_OP_N, CUBLAS_OP_T}) {
        for (const cublasOperation_t tb : {CUBLAS_OP_N, CUBLAS_OP_T}) {
            const Matrix<float> a(ta == CUBLAS_OP_N ? kM : kK, ta == CUBLAS_OP_N ? kK : kM, 1);
            const Matrix<float> b(tb == CUBLAS_OP_N ? kK : kN, tb == CUBLAS_OP_N ? kN : kK, 2);
            for (const float beta : {0.0F, -2.0F}) {
                Matrix<float> c(kM, kN, 3);
                const float alpha = 2;
                expect_same(c, true, [&] {
                    check(cublasSgemm(handle, ta, tb, kM, kN, kK, &alpha, a.data(), a.leading(), b.data(), b.leading(),
                                      &beta, c.data(), c.leading()));
                });
                expect_same(c, true, [&] {
                    check(cublasSgemm_64(handle, ta, tb, kM, kN, kK, &alpha, a.data(), a.leading(), b.data(),
                                         b.leading(), &beta, c.data(), c.leading()));
                });
            }
        }
    }
}

TEST_F(CublasDropIn, dgemm_and_gemm_ex_equal_cublas) {
    constexpr int n = 6144;
    const Matrix<double> a(n, n, 1), b(n, n, 2);
    Matrix<double> c(n, n, 3);
    const double alpha = 1, beta = 3;
    expect_same(c, true, [&] {
        check(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &alpha, a.data(), a.leading(), b.data(),
                          b.leading(), &beta, c.data(), c.leading()));
    });
    const Matrix<float> x(kM, kK, 1), y(kK, kN, 2);
    Matrix<float> z(kM, kN, 3);
    const float one = 1, zero = 0;
    expect_same(z, true, [&] {
        check(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &one, x.data(), CUDA_R_32F, x.leading(),
                           y.data(), CUDA_R_32F, y.leading(), &zero, z.data(), CUDA_R_32F, z.leading(),
                           CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    });
}

TEST_F(CublasDropIn, strided_batches_equal_cublas) {
    constexpr int count = 3;
    const Matrix<float> a(kM, kK, 1, count), b(kK, kN, 2);  // one B for all
    Matrix<float> c(kM, kN, 3, count);
    const float alpha = 1, beta = 1;
    expect_same(c, true, [&] {
        check(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &alpha, a.data(), a.leading(),
                                        a.distance(), b.data(), b.leading(), 0, &beta, c.data(), c.leading(),
                                        c.distance(), count));
    });
}

TEST_F(CublasDropIn, settings_of_the_handle_are_honoured) {
    const Matrix<float> a(kM, kK, 1), b(kK, kN, 2);
    Matrix<float> c(kM, kN, 3);
    const Matrix<float> scalars(2, 1, 4);
    const float one = 1, zero = 0;
    const auto multiply = [&](const float* alpha, const float* beta) {
        check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, alpha, a.data(), a.leading(), b.data(),
                          b.leading(), beta, c.data(), c.leading()));
    };
    check(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    expect_same(c, false, [&] { multiply(scalars.data(), scalars.data() + 1); });
    check(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    for (const cublasMath_t mode : {CUBLAS_TF32_TENSOR_OP_MATH, CUBLAS_PEDANTIC_MATH}) {
        check(cublasSetMathMode(handle, mode));
        expect_same(c, false, [&] { multiply(&one, &one); });
    }
    check(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
    check(cublasSetStream(handle, nullptr));
    expect_same(c, true, [&] { multiply(&one, &one); });
    EXPECT_EQ(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &one, a.data(), kM - 1, b.data(), b.leading(),
                          &zero, c.data(), c.leading()),
              CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(CublasDropIn, what_is_not_finite_reaches_what_it_reaches_in_cublas) {
    Matrix<float> a(kM, kK, 1);
    const Matrix<float> b(kK, kN, 2);
    a.at(7, 9) = std::numeric_limits<float>::quiet_NaN();
    a.at(100, 11) = std::numeric_limits<float>::infinity();
    a.send(stream);
    const float one = 1, zero = 0;
    std::vector<std::vector<float>> results;
    for (const int on : {0, 1}) {
        heptad_cublas_enable(on);
        Matrix<float> c(kM, kN, 3);
        c.fill(std::numeric_limits<float>::quiet_NaN());
        c.send(stream);
        check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &one, a.data(), a.leading(), b.data(),
                          b.leading(), &zero, c.data(), c.leading()));
        results.push_back(c.fetch(stream));
    }
    std::size_t different = 0;
    for (std::size_t i = 0; i < results[0].size(); ++i) {
        const float x = results[0][i], y = results[1][i];
        different += x == y || (std::isnan(x) && std::isnan(y)) ? 0U : 1U;
    }
    EXPECT_EQ(different, 0U);
}

TEST_F(CublasDropIn, graphs_hold_products_of_what_the_operands_hold_then) {
    Matrix<float> a(kM, kK, 1), c(kM, kN, 3);
    const Matrix<float> b(kK, kN, 2);
    const float one = 1, zero = 0;
    const auto multiply = [&] {
        check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &one, a.data(), a.leading(), b.data(),
                          b.leading(), &zero, c.data(), c.leading()));
    };
    const long long taken = heptad_cublas_taken_over();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    multiply();
    check(cudaStreamEndCapture(stream, &graph));
    EXPECT_EQ(heptad_cublas_taken_over(), taken + 1);
    check(cudaGraphInstantiate(&ready, graph, 0));
    for (const float value : {1.0F, -3.0F}) {
        a.fill(value);
        a.send(stream);
        check(cudaGraphLaunch(ready, stream));
        check(cudaGraphLaunch(ready, stream));
        const std::vector<float> replayed = c.fetch(stream);
        heptad_cublas_enable(0);
        multiply();
        EXPECT_EQ(c.fetch(stream) == replayed, true);
        heptad_cublas_enable(1);
    }
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
}

TEST_F(CublasDropIn, threads_with_streams_of_their_own_do_not_meet) {
    const Matrix<float> a(kM, kK, 1), b(kK, kN, 2);
    Matrix<float> wanted(kM, kN, 3);
    const float one = 1, zero = 0;
    const auto multiply = [&](cublasHandle_t with, const Matrix<float>& c) {
        check(cublasSgemm(with, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &one, a.data(), a.leading(), b.data(),
                          b.leading(), &zero, c.data(), c.leading()));
    };
    heptad_cublas_enable(0);
    multiply(handle, wanted);
    const std::vector<float>& right = wanted.fetch(stream);
    heptad_cublas_enable(1);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            cudaStream_t own_stream = nullptr;
            cublasHandle_t own = nullptr;
            check(cudaStreamCreateWithFlags(&own_stream, cudaStreamNonBlocking));
            check(cublasCreate(&own));
            check(cublasSetStream(own, own_stream));
            Matrix<float> c(kM, kN, 3);
            for (int i = 0; i < 10; ++i) {
                multiply(own, c);
            }
            EXPECT_EQ(c.fetch(own_stream) == right, true);
            cublasDestroy(own);
            cudaStreamDestroy(own_stream);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

TEST_F(CublasDropIn, cublaslt_with_and_without_a_bias_equals_it) {
    const Matrix<float> a(kK, kM, 1), b(kK, kN, 2), bias(kM, 1, 5);
    Matrix<float> d(kM, kN, 3);
    cublasLtHandle_t lt = nullptr;
    check(cublasLtCreate(&lt));
    cublasLtMatrixLayout_t of_a = nullptr, of_b = nullptr, of_d = nullptr;
    check(cublasLtMatrixLayoutCreate(&of_a, CUDA_R_32F, kK, kM, a.leading()));
    check(cublasLtMatrixLayoutCreate(&of_b, CUDA_R_32F, kK, kN, b.leading()));
    check(cublasLtMatrixLayoutCreate(&of_d, CUDA_R_32F, kM, kN, d.leading()));
    const float alpha = 2, zero = 0, three = 3;
    const cublasOperation_t transposed = CUBLAS_OP_T;
    struct Case {
        cublasLtEpilogue_t epilogue;
        const float* beta;
        bool ours;
    };
    for (const Case& asked :
         {Case{CUBLASLT_EPILOGUE_DEFAULT, &zero, true}, Case{CUBLASLT_EPILOGUE_DEFAULT, &three, true},
          Case{CUBLASLT_EPILOGUE_BIAS, &zero, true}, Case{CUBLASLT_EPILOGUE_BIAS, &three, false},
          Case{CUBLASLT_EPILOGUE_RELU, &zero, false}}) {
        cublasLtMatmulDesc_t product = nullptr;
        check(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
        const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
            check(cublasLtMatmulDescSetAttribute(product, attribute, &value, sizeof(value)));
        };
        set(CUBLASLT_MATMUL_DESC_TRANSA, transposed);
        set(CUBLASLT_MATMUL_DESC_EPILOGUE, asked.epilogue);
        if (asked.epilogue == CUBLASLT_EPILOGUE_BIAS) {
            const void* const pointer = bias.data();
            set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, pointer);
        }
        expect_same(d, asked.ours, [&] {
            check(cublasLtMatmul(lt, product, &alpha, a.data(), of_a, b.data(), of_b, asked.beta, d.data(), of_d,
                                 d.data(), of_d, nullptr, nullptr, 0, stream));
        });
        cublasLtMatmulDescDestroy(product);
    }
    for (cublasLtMatrixLayout_t layout : {of_a, of_b, of_d}) {
        cublasLtMatrixLayoutDestroy(layout);
    }
    cublasLtDestroy(lt);
}

}  // namespace

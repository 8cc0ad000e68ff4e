// libheptad_cublas.so before the real cuBLAS on a device: large calls are taken over, and give what cuBLAS gives. The
// data are small integers, of which both are exact, so that every comparison is of bits.
#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "api/cublas/device_fixture.hpp"

namespace {

using namespace heptad::cublas_testing;

// Planned by residues on an H200 (machines/h200.json); other devices may pass them on.
constexpr int kM = 2304, kN = 2560, kK = 2048;

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

TEST_F(CublasDropIn, batches_by_pointers_equal_cublas_without_waiting) {
    constexpr int count = 3;
    const Matrix<float> a(kK, kM, 1, count), b(kK, kN, 2, count);
    Matrix<float> c(kM, kN, 3, count);
    const Addresses<float> of_a(a, {2, 0, 0}), of_b(b, {1, 1, 0}), of_c(c, {1, 2, 0});  // in any order, some twice
    const float alpha = 2;
    for (const float beta : {0.0F, -1.0F}) {
        expect_same(c, true, [&] {
            check(cublasSgemmBatched(handle, CUBLAS_OP_T, CUBLAS_OP_N, kM, kN, kK, &alpha, of_a.data(), a.leading(),
                                     of_b.data(), b.leading(), &beta, of_c.data(), c.leading(), count));
        });
    }
    // A graph holds the copies, too, and reads the addresses when it is launched.
    const float zero = 0;
    const auto multiply = [&](int batch) {
        check(cublasSgemmBatched_64(handle, CUBLAS_OP_T, CUBLAS_OP_N, kM, kN, kK, &alpha, of_a.data(), a.leading(),
                                    of_b.data(), b.leading(), &zero, of_c.data(), c.leading(), batch));
    };
    const long long taken = heptad_cublas_taken_over();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    multiply(count);
    check(cudaStreamEndCapture(stream, &graph));
    EXPECT_EQ(heptad_cublas_taken_over(), taken + 1);
    check(cudaGraphInstantiate(&ready, graph, 0));
    ASSERT_NE(ready, nullptr);
    heptad_cublas_enable(0);
    multiply(count);
    const std::vector<float> wanted = c.fetch(stream);
    c.fill(std::numeric_limits<float>::quiet_NaN());
    c.send(stream);
    for (int turn = 0; turn < 2; ++turn) {
        check(cudaGraphLaunch(ready, stream));
    }
    // The gaps between columns are what they were: nobody wrote there.
    const std::vector<float>& found = c.fetch(stream);
    std::size_t different = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const bool in_matrix = static_cast<int>(i) % c.leading() < kM;
        different += in_matrix ? (found[i] == wanted[i] ? 0U : 1U) : (std::isnan(found[i]) ? 0U : 1U);
    }
    EXPECT_EQ(different, 0U);
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
}

TEST_F(CublasDropIn, small_batches_by_pointers_are_passed_on) {
    constexpr int n = 256, count = 2;
    const Matrix<double> a(n, n, 1, count), b(n, n, 2, count);
    Matrix<double> c(n, n, 3, count);
    const Addresses<double> of_a(a, {0, 1}), of_b(b, {1, 0}), of_c(c, {0, 1});
    const double one = 1;
    expect_same(c, false, [&] {
        check(cublasDgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, of_a.data(), a.leading(), of_b.data(),
                                 b.leading(), &one, of_c.data(), c.leading(), count));
    });
}

TEST_F(CublasDropIn, cgemm_and_zgemm_equal_cublas_in_every_form) {
    using Single = std::complex<float>;
    using Double = std::complex<double>;
    const auto single = [](const auto* pointer) { return reinterpret_cast<const cuComplex*>(pointer); };
    const auto twice = [](const auto* pointer) { return reinterpret_cast<const cuDoubleComplex*>(pointer); };
    const Single alpha(2, -1);
    constexpr int n = 4096;
    for (const cublasOperation_t ta : {CUBLAS_OP_N, CUBLAS_OP_C}) {
        for (const cublasOperation_t tb : {CUBLAS_OP_T, CUBLAS_OP_C}) {
            const Matrix<Single> a(ta == CUBLAS_OP_N ? kM : kK, ta == CUBLAS_OP_N ? kK : kM, 1), b(kN, kK, 2);
            for (const Single beta : {Single(0), Single(-2, 3)}) {
                Matrix<Single> c(kM, kN, 3);
                auto* const result = reinterpret_cast<cuComplex*>(c.data());
                expect_same(c, true, [&] {
                    check(cublasCgemm(handle, ta, tb, kM, kN, kK, single(&alpha), single(a.data()), a.leading(),
                                      single(b.data()), b.leading(), single(&beta), result, c.leading()));
                });
                expect_same(c, true, [&] {
                    check(cublasGemmEx_64(handle, ta, tb, kM, kN, kK, &alpha, a.data(), CUDA_C_32F, a.leading(),
                                          b.data(), CUDA_C_32F, b.leading(), &beta, c.data(), CUDA_C_32F, c.leading(),
                                          CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
                });
            }
        }
    }
    const Matrix<Double> x(n, n, 1), y(n, n, 2);
    Matrix<Double> z(n, n, 3);
    const Double one(1), factor(0, 1);
    expect_same(z, true, [&] {
        check(cublasZgemm(handle, CUBLAS_OP_C, CUBLAS_OP_N, n, n, n, twice(&factor), twice(x.data()), x.leading(),
                          twice(y.data()), y.leading(), twice(&one), reinterpret_cast<cuDoubleComplex*>(z.data()),
                          z.leading()));
    });
    check(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
    const Matrix<Single> a(kM, kK, 1), b(kK, kN, 2);
    Matrix<Single> c(kM, kN, 3);
    const Single zero(0);
    expect_same(c, false, [&] {
        check(cublasCgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, single(&alpha), single(a.data()), a.leading(),
                          single(b.data()), b.leading(), single(&zero), reinterpret_cast<cuComplex*>(c.data()),
                          c.leading()));
    });
}

TEST_F(CublasDropIn, complex_batches_equal_cublas) {
    using Number = std::complex<float>;
    constexpr int count = 2;
    const Matrix<Number> a(kM, kK, 1, count), b(kK, kN, 2, count);
    Matrix<Number> c(kM, kN, 3, count);
    const Number alpha(1, 1), beta(0, -1);
    expect_same(c, true, [&] {
        check(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &alpha, a.data(), CUDA_C_32F,
                                         a.leading(), a.distance(), b.data(), CUDA_C_32F, b.leading(), b.distance(),
                                         &beta, c.data(), CUDA_C_32F, c.leading(), c.distance(), count,
                                         CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    });
    const Addresses<Number> of_a(a, {1, 0}), of_b(b, {0, 1}), of_c(c, {0, 1});
    expect_same(c, true, [&] {
        check(cublasCgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK,
                                 reinterpret_cast<const cuComplex*>(&alpha), of_a.data<cuComplex>(), a.leading(),
                                 of_b.data<cuComplex>(), b.leading(), reinterpret_cast<const cuComplex*>(&beta),
                                 of_c.data<cuComplex>(), c.leading(), count));
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

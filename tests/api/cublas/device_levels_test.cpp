// One level of winograd forced on calls of every size and type, which is how tf32, bf16 and f16 are taken over at sizes
// of a test. The data are integers so small that no sum or product of theirs is rounded, by us or by cuBLAS.
#include <cstdlib>

#include "api/cublas/device_fixture.hpp"

namespace {

using namespace heptad::cublas_testing;

constexpr int kM = 256, kN = 320, kK = 64;

/// Settings are read at the first call.
const bool kIsSet = setenv("HEPTAD_ACCURACY", "fast", 1) == 0 && setenv("HEPTAD_ALGORITHM", "winograd", 1) == 0 &&
                    setenv("HEPTAD_LEVELS", "1", 1) == 0 && setenv("HEPTAD_MIN_SIZE", "64", 1) == 0;

template <class T>
constexpr cudaDataType_t kDataType = std::is_same_v<T, float>           ? CUDA_R_32F
                                     : std::is_same_v<T, __nv_bfloat16> ? CUDA_R_16BF
                                                                        : CUDA_R_16F;

template <class T>
class CublasLevels : public CublasDropIn {
protected:
    void SetUp() override {
        ASSERT_TRUE(kIsSet);
        CublasDropIn::SetUp();
    }

    void gemm_ex(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& c, float beta, cublasComputeType_t compute,
                 cublasOperation_t ta = CUBLAS_OP_N, cublasOperation_t tb = CUBLAS_OP_N) const {
        const float alpha = 1;
        check(cublasGemmEx(handle, ta, tb, kM, kN, kK, &alpha, a.data(), kDataType<T>, a.leading(), b.data(),
                           kDataType<T>, b.leading(), &beta, c.data(), kDataType<T>, c.leading(), compute,
                           CUBLAS_GEMM_DEFAULT));
    }
    /// Sums of f16 are scaled, and written to C only when they are known to be right: not where C counts, or a bias.
    static constexpr bool kAdds = !std::is_same_v<T, __half>;
    static cublasComputeType_t compute() {
        return std::is_same_v<T, float> ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    }
};
/// float: as tf32.
using Types = testing::Types<float, __nv_bfloat16, __half>;
TYPED_TEST_SUITE(CublasLevels, Types);

TYPED_TEST(CublasLevels, gemm_ex_equals_cublas_in_every_form) {
    using T = TypeParam;
    for (const cublasOperation_t ta : {CUBLAS_OP_N, CUBLAS_OP_T}) {
        for (const cublasOperation_t tb : {CUBLAS_OP_N, CUBLAS_OP_T}) {
            const Matrix<T> a(ta == CUBLAS_OP_N ? kM : kK, ta == CUBLAS_OP_N ? kK : kM, 1, 1, 1);
            const Matrix<T> b(tb == CUBLAS_OP_N ? kK : kN, tb == CUBLAS_OP_N ? kN : kK, 2, 1, 1);
            for (const float beta : {0.0F, -1.0F}) {
                Matrix<T> c(kM, kN, 3, 1, 1);
                this->expect_same(c, beta == 0 || TestFixture::kAdds,
                                  [&] { this->gemm_ex(a, b, c, beta, this->compute(), ta, tb); });
            }
        }
    }
}

TYPED_TEST(CublasLevels, strided_batches_and_64_bit_sizes_equal_cublas) {
    using T = TypeParam;
    constexpr int count = 3;
    const Matrix<T> a(kM, kK, 1, count, 1), b(kK, kN, 2, 1, 1);  // one B for all
    Matrix<T> c(kM, kN, 3, count, 1);
    const float alpha = -1, zero = 0;
    this->expect_same(c, true, [&] {
        check(cublasGemmStridedBatchedEx_64(this->handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &alpha, a.data(),
                                            kDataType<T>, a.leading(), a.distance(), b.data(), kDataType<T>,
                                            b.leading(), 0, &zero, c.data(), kDataType<T>, c.leading(), c.distance(),
                                            count, this->compute(), CUBLAS_GEMM_DEFAULT));
    });
}

TYPED_TEST(CublasLevels, graphs_hold_products_of_what_the_operands_hold_then) {
    using T = TypeParam;
    Matrix<T> a(kM, kK, 1, 1, 1), c(kM, kN, 3, 1, 1);
    const Matrix<T> b(kK, kN, 2, 1, 1);
    const long long taken = heptad_cublas_taken_over();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    check(cudaStreamBeginCapture(this->stream, cudaStreamCaptureModeGlobal));
    this->gemm_ex(a, b, c, 0, this->compute());
    check(cudaStreamEndCapture(this->stream, &graph));
    EXPECT_EQ(heptad_cublas_taken_over(), taken + 1);
    check(cudaGraphInstantiate(&ready, graph, 0));
    for (const float value : {1.0F, -2.0F}) {
        a.fill(static_cast<T>(value));
        a.send(this->stream);
        check(cudaGraphLaunch(ready, this->stream));
        check(cudaGraphLaunch(ready, this->stream));
        const std::vector<T> replayed = c.fetch(this->stream);
        heptad_cublas_enable(0);
        this->gemm_ex(a, b, c, 0, this->compute());
        EXPECT_TRUE(this->same_numbers(c.fetch(this->stream), replayed));
        heptad_cublas_enable(1);
    }
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
}

TYPED_TEST(CublasLevels, other_arithmetic_and_scalars_on_the_device_are_left_to_cublas) {
    using T = TypeParam;
    const Matrix<T> a(kM, kK, 1, 1, 1), b(kK, kN, 2, 1, 1);
    Matrix<T> c(kM, kN, 3, 1, 1);
    this->expect_same(c, false, [&] { this->gemm_ex(a, b, c, 1, CUBLAS_COMPUTE_32F_PEDANTIC); });
    check(cublasSetMathMode(this->handle, CUBLAS_PEDANTIC_MATH));
    this->expect_same(c, false, [&] { this->gemm_ex(a, b, c, 1, CUBLAS_COMPUTE_32F); });
    check(cublasSetMathMode(this->handle, CUBLAS_DEFAULT_MATH));
    const Matrix<float> scalars(2, 1, 4);
    check(cublasSetPointerMode(this->handle, CUBLAS_POINTER_MODE_DEVICE));
    this->expect_same(c, false, [&] {
        check(cublasGemmEx(this->handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, scalars.data(), a.data(), kDataType<T>,
                           a.leading(), b.data(), kDataType<T>, b.leading(), scalars.data() + 1, c.data(), kDataType<T>,
                           c.leading(), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    });
    check(cublasSetPointerMode(this->handle, CUBLAS_POINTER_MODE_HOST));
    if constexpr (!std::is_same_v<T, float>) {  // a wider result is no type of ours
        Matrix<float> wide(kM, kN, 3, 1, 1);
        const float one = 1;
        this->expect_same(wide, false, [&] {
            check(cublasGemmEx(this->handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &one, a.data(), kDataType<T>,
                               a.leading(), b.data(), kDataType<T>, b.leading(), &one, wide.data(), CUDA_R_32F,
                               wide.leading(), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
        });
    }
}

TYPED_TEST(CublasLevels, epilogues_of_cublaslt_other_than_a_bias_are_left_to_it) {
    using T = TypeParam;
    const Matrix<T> a(kK, kM, 1, 1, 1), b(kK, kN, 2, 1, 1), bias(kM, 1, 5, 1, 1);
    Matrix<T> d(kM, kN, 3, 1, 1);
    cublasLtHandle_t lt = nullptr;
    check(cublasLtCreate(&lt));
    cublasLtMatrixLayout_t of_a = nullptr, of_b = nullptr, of_d = nullptr;
    check(cublasLtMatrixLayoutCreate(&of_a, kDataType<T>, kK, kM, a.leading()));
    check(cublasLtMatrixLayoutCreate(&of_b, kDataType<T>, kK, kN, b.leading()));
    check(cublasLtMatrixLayoutCreate(&of_d, kDataType<T>, kM, kN, d.leading()));
    const float alpha = 1, zero = 0;
    const cublasOperation_t turned = CUBLAS_OP_T;
    struct Case {
        cublasLtEpilogue_t epilogue;
        bool ours;
    };
    for (const Case& asked : {Case{CUBLASLT_EPILOGUE_DEFAULT, true}, Case{CUBLASLT_EPILOGUE_BIAS, TestFixture::kAdds},
                              Case{CUBLASLT_EPILOGUE_RELU, false}, Case{CUBLASLT_EPILOGUE_RELU_BIAS, false},
                              Case{CUBLASLT_EPILOGUE_GELU, false}, Case{CUBLASLT_EPILOGUE_GELU_BIAS, false}}) {
        cublasLtMatmulDesc_t product = nullptr;
        check(cublasLtMatmulDescCreate(&product, this->compute(), CUDA_R_32F));
        const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
            check(cublasLtMatmulDescSetAttribute(product, attribute, &value, sizeof(value)));
        };
        set(CUBLASLT_MATMUL_DESC_TRANSA, turned);
        set(CUBLASLT_MATMUL_DESC_EPILOGUE, asked.epilogue);
        if ((asked.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) {  // a pointer that it does not read is refused
            const void* const pointer = bias.data();
            set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, pointer);
        }
        this->expect_same(d, asked.ours, [&] {
            check(cublasLtMatmul(lt, product, &alpha, a.data(), of_a, b.data(), of_b, &zero, d.data(), of_d, d.data(),
                                 of_d, nullptr, nullptr, 0, this->stream));
        });
        cublasLtMatmulDescDestroy(product);
    }
    for (cublasLtMatrixLayout_t layout : {of_a, of_b, of_d}) {
        cublasLtMatrixLayoutDestroy(layout);
    }
    cublasLtDestroy(lt);
}

using CublasMathModes = CublasLevels<float>;

/// 4097 has 13 bits, and tf32 has 11: with it the result differs, from what is exact and by what both round alike.
TEST_F(CublasMathModes, sgemm_is_made_in_tf32_only_where_the_handle_says_so) {
    Matrix<float> a(kM, kK, 1), c(kM, kN, 3);
    const Matrix<float> b(kK, kN, 2, 1, 1);
    a.fill(4097);
    a.send(stream);
    const float one = 1, zero = 0;
    const auto result = [&] {
        const long long taken = heptad_cublas_taken_over();
        check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &one, a.data(), a.leading(), b.data(),
                          b.leading(), &zero, c.data(), c.leading()));
        EXPECT_EQ(heptad_cublas_taken_over(), taken + 1);
        return c.fetch(stream);
    };
    heptad_cublas_enable(0);
    check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &one, a.data(), a.leading(), b.data(), b.leading(),
                      &zero, c.data(), c.leading()));
    const std::vector<float> exact = c.fetch(stream);
    heptad_cublas_enable(1);
    EXPECT_TRUE(same_numbers(result(), exact));
    check(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
    EXPECT_FALSE(same_numbers(result(), exact));
    check(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
    EXPECT_TRUE(same_numbers(result(), exact));
}

}  // namespace

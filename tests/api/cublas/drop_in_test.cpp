// libheptad_cublas.so before a cuBLAS that notes its calls (made_up_cublas.hpp). No device takes part: calls that are
// looked at, which the made-up library sees by the questions that it is asked, are passed on in the end.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <complex>
#include <tuple>
#include <type_traits>

#include "api/cublas/entry_signatures.hpp"
#include "api/cublas/made_up_cublas.hpp"

namespace {

using namespace heptad::cublas_testing;

extern "C" int heptad_cublas_enable(int on);
extern "C" long long heptad_cublas_taken_over();

MadeUpState& state = made_up_cublas_12;
double scalar = 0.5;  // a whole f32 in either half would do as well: nobody multiplies by it
int handle_of_nobody = 0;
void* const handle = &handle_of_nobody;

template <class Function>
Function* entry(const std::string& name) {
    void* const found = dlsym(RTLD_DEFAULT, name.c_str());
    Dl_info info{};
    EXPECT_NE(found, nullptr) << name;
    EXPECT_NE(dladdr(found, &info), 0);
    EXPECT_NE(std::string(info.dli_fname).find("libheptad_cublas"), std::string::npos)
        << name << " in " << info.dli_fname;
    return reinterpret_cast<Function*>(found);
}

template <class T>
std::int64_t word(T value) {
    if constexpr (std::is_pointer_v<T>) {
        return reinterpret_cast<std::intptr_t>(value);
    } else {
        return static_cast<std::int64_t>(value);
    }
}

/// Another value for each argument; scalars can be read, and sizes of 64 bits do not fit into 32.
class Values {
public:
    template <class T>
    T next() {
        ++count_;
        if constexpr (std::is_same_v<T, const void*> || std::is_same_v<T, void*>) {
            return &scalars_[count_ % kScalars];
        } else if constexpr (std::is_pointer_v<T>) {
            return reinterpret_cast<T>(&scalars_[count_ % kScalars]);
        } else if constexpr (sizeof(T) == sizeof(std::int64_t)) {
            return (T{3} << 33) + static_cast<T>(count_);
        } else {
            return static_cast<T>(count_);
        }
    }

private:
    static constexpr int kScalars = 64;
    int count_ = 0;
    double scalars_[kScalars]{};
};

template <class... Arguments>
void expect_passed_on(const std::string& name, int (*function)(Arguments...)) {
    state.calls.clear();
    Values values;
    const std::tuple<Arguments...> arguments{values.template next<Arguments>()...};  // in this order: braces
    EXPECT_EQ(std::apply(function, arguments), kStatusOf12) << name;
    ASSERT_EQ(state.calls.size(), 1U) << name;
    EXPECT_EQ(state.calls[0].name, name);
    const auto words = std::apply([](auto... value) { return std::vector<std::int64_t>{word(value)...}; }, arguments);
    EXPECT_EQ(state.calls[0].arguments, words) << name;
}

/// How many questions a call of this size raised; it came through in any case.
int questions_of_sgemm(int n, int k) {
    state.calls.clear();
    state.questions = 0;
    float one = 1;
    EXPECT_EQ(entry<Gemm<int>>("cublasSgemm_v2")(handle, 0, 1, n, n, k, &one, handle, n, handle, n, &one, handle, n),
              kStatusOf12);
    EXPECT_FALSE(state.calls.empty());
    return state.questions;
}

constexpr int kLarge = 8192;

}  // namespace

TEST(cublas_drop_in, every_entry_passes_its_arguments_on_unchanged) {
    for (const bool on : {true, false}) {
        heptad_cublas_enable(on ? 1 : 0);
        for (const std::string t : {"S", "D", "C", "Z"}) {
            expect_passed_on("cublas" + t + "gemm_v2", entry<Gemm<int>>("cublas" + t + "gemm_v2"));
            expect_passed_on("cublas" + t + "gemm_v2_64", entry<Gemm<std::int64_t>>("cublas" + t + "gemm_v2_64"));
            const std::string strided = "cublas" + t + "gemmStridedBatched", pointers = "cublas" + t + "gemmBatched";
            expect_passed_on(strided, entry<StridedGemm<int>>(strided));
            expect_passed_on(strided + "_64", entry<StridedGemm<std::int64_t>>(strided + "_64"));
            expect_passed_on(pointers, entry<PointerGemm<int>>(pointers));
            expect_passed_on(pointers + "_64", entry<PointerGemm<std::int64_t>>(pointers + "_64"));
        }
        expect_passed_on("cublasGemmEx", entry<GemmEx<int>>("cublasGemmEx"));
        expect_passed_on("cublasGemmEx_64", entry<GemmEx<std::int64_t>>("cublasGemmEx_64"));
        expect_passed_on("cublasGemmStridedBatchedEx", entry<StridedGemmEx<int>>("cublasGemmStridedBatchedEx"));
        expect_passed_on("cublasGemmStridedBatchedEx_64",
                         entry<StridedGemmEx<std::int64_t>>("cublasGemmStridedBatchedEx_64"));
        expect_passed_on("cublasGemmBatchedEx", entry<PointerGemmEx<int>>("cublasGemmBatchedEx"));
        expect_passed_on("cublasGemmBatchedEx_64", entry<PointerGemmEx<std::int64_t>>("cublasGemmBatchedEx_64"));
    }
    heptad_cublas_enable(1);
}

TEST(cublas_drop_in, large_calls_are_looked_at_and_small_ones_are_not) {
    EXPECT_GT(questions_of_sgemm(kLarge, kLarge), 0);
    EXPECT_EQ(questions_of_sgemm(256, 256), 0);
    EXPECT_EQ(questions_of_sgemm(kLarge, 64), 0);
    EXPECT_EQ(questions_of_sgemm(0, 0), 0);
    EXPECT_EQ(questions_of_sgemm(-1, kLarge), 0);
    EXPECT_EQ(heptad_cublas_taken_over(), 0) << "there is no device whose memory it was";
}

TEST(cublas_drop_in, calls_that_cublas_makes_of_itself_are_passed_on) {
    questions_of_sgemm(256, 256);
    const auto names = [] {
        std::vector<std::string> all;
        for (const MadeUpCall& call : state.calls) {
            all.push_back(call.name);
        }
        return all;
    };
    EXPECT_EQ(questions_of_sgemm(256, kNested), 0);
    EXPECT_EQ(names(), (std::vector<std::string>{"cublasSgemm_v2", "cublasGemmEx", "cublasLtMatmul"}));
    // And where nothing of ours is on the way in: through the library's own pointer, as Heptad's leaves call it.
    state.calls.clear();
    state.questions = 0;
    void* const library = dlopen("libcublas.so.12", RTLD_LAZY | RTLD_NOLOAD);
    ASSERT_NE(library, nullptr);
    const auto real = reinterpret_cast<Gemm<int>*>(dlsym(library, "cublasSgemm_v2"));
    EXPECT_EQ(real(handle, 0, 0, 256, 256, kNested, &scalar, handle, 256, handle, 256, &scalar, handle, 256),
              kStatusOf12);
    EXPECT_EQ(names(), (std::vector<std::string>{"cublasSgemm_v2", "cublasGemmEx", "cublasLtMatmul"}));
    EXPECT_EQ(state.questions, 0);
    dlclose(library);
}

TEST(cublas_drop_in, settings_of_a_handle_that_we_do_not_know_pass_a_call_on_before_its_scalars_are_read) {
    const auto comes_through = [](int& setting, int value) {
        setting = value;
        state.calls.clear();
        auto* const nowhere = reinterpret_cast<float*>(8);
        const int status = entry<Gemm<int>>("cublasSgemm_v2")(handle, 0, 0, kLarge, kLarge, kLarge, nowhere, handle,
                                                              kLarge, handle, kLarge, nowhere, handle, kLarge);
        setting = 0;
        return status == kStatusOf12 && state.calls.size() == 1;
    };
    EXPECT_TRUE(comes_through(state.pointer_mode, 1)) << "scalars on the device";
    EXPECT_TRUE(comes_through(state.multiprocessors, 16)) << "a part of the device";
    for (const int mode : {2, 4, 8, 16, 19}) {
        EXPECT_TRUE(comes_through(state.math_mode, mode)) << mode;
    }
}

TEST(cublas_drop_in, every_caller_reaches_the_cublas_that_he_was_linked_with) {
    void* const module = dlopen(HEPTAD_PRIVATE_CALLER, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(module, nullptr) << dlerror();
    const auto call = reinterpret_cast<int (*)(int)>(dlsym(module, "private_sgemm"));
    for (const int n : {16, kLarge}) {
        state.calls.clear();
        EXPECT_EQ(call(n), kStatusOf11);
        EXPECT_TRUE(state.calls.empty());
        questions_of_sgemm(n, n);
        EXPECT_EQ(state.calls.size(), 1U);
    }
    const auto questions = reinterpret_cast<int (*)()>(dlsym(module, "private_questions"));
    EXPECT_GT(questions(), 0) << "his symbols carry versions and ours none: they are taken for his all the same";
    dlclose(module);
}

TEST(cublas_drop_in, products_of_cublaslt_with_usual_descriptors_are_looked_at) {
    constexpr std::int64_t n = kLarge;
    MadeUpDescriptor product{{68, 0, 0, 0, 0, 0, 0, 1}}, layout{{0, 0, n, n, n, 1, 0}};
    product.values[26] = -1;
    const auto multiply = [&] {
        state.calls.clear();
        state.questions = 0;
        double zero = 0, one = 1;
        EXPECT_EQ(entry<LtMatmul>("cublasLtMatmul")(handle, &product, &one, handle, &layout, handle, &layout, &zero,
                                                    handle, &layout, handle, &layout, nullptr, nullptr, 77, handle),
                  kStatusOf12);
        EXPECT_EQ(state.calls.size(), 1U);
        EXPECT_EQ(state.calls[0].arguments[14], 77);
        return state.questions;
    };
    const int of_large = multiply();
    heptad_cublas_enable(0);
    EXPECT_LT(multiply(), of_large);
    heptad_cublas_enable(1);
    layout = {{0, 0, 100, 100, 100, 1, 0}};
    EXPECT_EQ(multiply(), 4) << "the sizes of D and A";
}

TEST(cublas_drop_in, large_complex_calls_and_batches_by_pointers_are_looked_at) {
    constexpr int n = kLarge;
    const void* addresses[2] = {handle, handle};
    const std::complex<double> one = 1;
    const auto questions_of = [](auto&& call) {
        state.calls.clear();
        state.questions = 0;
        EXPECT_EQ(call(), kStatusOf12);
        EXPECT_EQ(state.calls.size(), 1U);
        return state.questions;
    };
    for (const std::string t : {"S", "D", "C", "Z"}) {
        EXPECT_GT(questions_of([&] {
                      return entry<Gemm<int>>("cublas" + t + "gemm_v2")(handle, 0, 2, n, n, n, &one, handle, n, handle,
                                                                        n, &one, handle, n);
                  }),
                  0)
            << t;
        const auto by_pointers = [&](int size) {
            return questions_of([&] {
                return entry<PointerGemm<int>>("cublas" + t + "gemmBatched")(
                    handle, 0, 0, size, size, size, &one, addresses, size, addresses, size, &one,
                    const_cast<void* const*>(addresses), size, 2);
            });
        };
        EXPECT_GT(by_pointers(n), 0) << t;
        EXPECT_EQ(by_pointers(256), 0) << t;
    }
    // By cublasDataType_t: c64 with sums of f32, and with tf32, which complex products of ours have not.
    const auto by_types = [&](int compute) {
        return questions_of([&] {
            return entry<GemmEx<int>>("cublasGemmEx")(handle, 0, 0, n, n, n, &one, handle, 4, n, handle, 4, n, &one,
                                                      handle, 4, n, compute, -1);
        });
    };
    EXPECT_GT(by_types(68), 0);
    EXPECT_EQ(by_types(77), 0);
    EXPECT_EQ(heptad_cublas_taken_over(), 0);
}

TEST(cublas_drop_in, can_be_switched_off_and_on) {
    EXPECT_EQ(heptad_cublas_enable(0), 1);
    EXPECT_EQ(questions_of_sgemm(kLarge, kLarge), 0);
    EXPECT_EQ(heptad_cublas_enable(1), 0);
    EXPECT_GT(questions_of_sgemm(kLarge, kLarge), 0);
}

// Products from file to file, and checks of results, whose i-th allocation fails, for every i: the result is right, or
// the run says that memory ran out and can be resumed, and the folder is as a run that was ended leaves it.
#include "check/verify.hpp"
#include "citizen/short_of_memory.hpp"
#include "product/file/file_product_fixture.hpp"

namespace heptad::citizen {
namespace {

#ifdef HEPTAD_REDUCED_TESTS
constexpr std::int64_t kMost = 6;
#else
constexpr std::int64_t kMost = 16;
#endif

class ShortOfMemory : public FileProductTest {
protected:
    /// `request` is one of prepare().
    void expect_file_product_survives(FileProductRequest request) {
        TriedProduct product;
        product.is_inner = true;
        product.prepare = [this] {
            for (const char* const name : {"C.npy", "C.npy.partial", "C.npy.journal", "C.npy.lock"}) {
                std::filesystem::remove(folder_ / name);
            }
        };
        product.multiply = [&] { multiply(request); };
        product.is_right = [this] { return result() == expected_ && is_clean(); };
        expect_survives(product, kMost);
        expect_resumes_after_any_failure(request, product);
    }

private:
    bool is_clean() { return !exists("C.npy.partial") && !exists("C.npy.journal") && !exists("C.npy.lock"); }

    void expect_resumes_after_any_failure(FileProductRequest& request, const TriedProduct& product) {
        const std::int64_t allocations =
            try_without(product, std::numeric_limits<std::int64_t>::max(), Shortage::once).allocations;
        for (const std::int64_t number : chosen_allocations(allocations, kMost)) {
            SCOPED_TRACE(number);
            request.resume = false;
            const Trial trial = try_without(product, number, Shortage::for_good);
            if (trial.ended == Ended::right) {
                continue;
            }
            ASSERT_FALSE(exists("C.npy.lock"));
            if (exists("C.npy")) {  // the name appears only with the whole result
                ASSERT_EQ(result(), expected_);
                continue;
            }
            request.resume = true;
            multiply(request);
            ASSERT_EQ(result(), expected_);
            ASSERT_TRUE(is_clean());
        }
    }
};

TEST_F(ShortOfMemory, overlapped_stages_are_right_or_say_so) {
    for (const char* const io : {"threads", "auto"}) {
        FileProductRequest request = prepare({.m = 40, .k = 20, .n = 48, .memory_bytes = 9 << 10, .adds = true});
        request.io = io;
        expect_file_product_survives(request);
    }
}

TEST_F(ShortOfMemory, one_stage_after_another_is_right_or_says_so) {
    FileProductRequest request = prepare({.m = 40, .k = 20, .n = 48, .memory_bytes = 9 << 10});
    request.overlap = false;
    expect_file_product_survives(request);
}

TEST_F(ShortOfMemory, verified_product_is_right_or_says_so) {
    FileProductRequest request = prepare({.m = 80, .k = 60, .n = 80, .memory_bytes = 64 << 10});
    request.verify = true;
    expect_file_product_survives(request);
}

TEST_F(ShortOfMemory, outer_levels_are_right_or_say_so) {
    FileProductRequest request = prepare({.m = 64, .k = 64, .n = 64, .memory_bytes = 96 << 10});
    request.outer.levels = 1;
    expect_file_product_survives(request);
}

TEST_F(ShortOfMemory, matrix_is_read_and_written_whole_or_not_at_all) {
    const Matrix matrix = integers(Type::f64, 40, 30, 1);
    const std::string expected = bytes_of(matrix.view());
    std::string read;
    TriedProduct product;
    product.is_inner = true;
    product.prepare = [&] {
        std::filesystem::remove(folder_ / "M.npy");
        read.clear();
    };
    product.multiply = [&] {
        write_npy(folder_ / "M.npy", matrix.view());
        read = bytes_of(read_npy(folder_ / "M.npy").view());
    };
    product.is_right = [&] { return read == expected; };
    expect_survives(product, kMost);
    EXPECT_EQ(folder_.entries(), 1U) << "a temporary file stayed";
}

TEST(CheckShortOfMemory, never_passes_what_is_wrong_and_never_fails_what_is_right) {
    for (const Type type : {Type::f64, Type::f32, Type::bf16, Type::i32, Type::gf2, Type::boolean}) {
        SCOPED_TRACE(type_name(type));
        const bool is_bits = type == Type::gf2 || type == Type::boolean;
        const auto made = [&](std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
            return is_bits ? generate("bits", rows, cols, type, seed) : integers(type, rows, cols, seed);
        };
        const Matrix a = made(40, 30, 1), b = made(30, 50, 2);
        Matrix c(type, 40, 50);
        Options options;
        options.device = "reference";
        multiply_in_memory(1, a, b, 0, c.view(), options);
        VerifyOptions how;
        how.seed = 7;
        how.threads = 2;
        VerifyResult result;
        TriedProduct check;
        check.is_inner = true;
        check.prepare = [&] { result.verdict = Verdict::failed; };
        check.multiply = [&] { result = verify(a, b, c, how); };
        check.is_right = [&] { return result.passed(); };
        expect_survives(check, kMost / 2);
    }
}

}  // namespace
}  // namespace heptad::citizen

// Checks of products from files to a file: right results pass, wrong elements of any stage are found.
#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

#include "base/error.hpp"
#include "base/size.hpp"
#include "product/file/file_product_fixture.hpp"

namespace heptad {
namespace {

class FileVerifyTest : public FileProductTest {
protected:
    /// Spoils what call number `spoiled` multiplied, from 1 up, and expects that this is found; the sentence of the
    /// error.
    std::string sentence_of_spoiled(const FileProductRequest& request, std::int64_t spoiled,
                                    const std::function<void(const View&)>& spoil) {
        StageProducts wrong = processor_stage({}, 2);
        std::int64_t calls = 0;
        const auto right = wrong.multiply;
        wrong.multiply = [&](Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& out,
                             const ProductPlan& plan, void* workspace, std::int64_t bytes) {
            const RunReport done = right(alpha, a, b, beta, out, plan, workspace, bytes);
            if (++calls == spoiled) {
                spoil(out);
            }
            return done;
        };
        StageTrace trace(false);
        try {
            multiply_files(request, wrong, {}, trace);
            ADD_FAILURE() << "a wrong element was not found";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::verification) << error.what();
            return error.what();
        }
        return "";
    }
};

/// All entries alike.
Matrix constant(std::int64_t rows, std::int64_t cols, float value) {
    Matrix matrix = generate("uniform", rows, cols, Type::f32, 1);
    std::fill_n(static_cast<float*>(matrix.data()), rows * cols, value);
    return matrix;
}

TEST_F(FileVerifyTest, right_results_verify_and_wrong_products_are_found) {
    for (const Type type : {Type::f32, Type::f64, Type::i32, Type::i64}) {
        for (const bool adds : {false, true}) {
            Case c = kTiled;
            c.type = type;
            c.adds = adds;
            FileProductRequest request = prepare(c);
            request.verify = true;
            const FileProductReport report = multiply(request);
            ASSERT_TRUE(report.verified);
            EXPECT_TRUE(report.verified->passed()) << report.verified->explanation;
            EXPECT_EQ(result(), expected_);
            std::filesystem::remove(folder_ / "C.npy");

            sentence_of_spoiled(request, 3, [&](const View& out) {  // one element of one strip
                std::byte* const at = element_pointer(out, out.rows / 2, out.cols / 3);
                at[element_bytes(type) - 1] ^= std::byte{0x40};
            });
            EXPECT_FALSE(exists("C.npy"));
        }
    }
}

TEST_F(FileVerifyTest, random_floats_verify_and_nan_is_not_called_verified) {
    FileProductRequest request = prepare(kTiled);
    request.verify = true;
    for (const char* kind : {"uniform", "positive", "hilbert"}) {
        write_npy(folder_ / "A.npy", generate(kind, 300, 210, Type::f32, 5));
        write_npy(folder_ / "B.npy", generate(kind, 210, 260, Type::f32, 6));
        const FileProductReport report = multiply(request);
        EXPECT_TRUE(report.verified->passed()) << kind << ": " << report.verified->explanation;
    }
    Matrix a = generate("uniform", 300, 210, Type::f32, 5);
    static_cast<float*>(a.data())[1234] = std::numeric_limits<float>::quiet_NaN();
    write_npy(folder_ / "A.npy", a);
    EXPECT_EQ(multiply(request).verified->verdict, Verdict::not_verifiable);
}

TEST_F(FileVerifyTest, large_c0_of_one_strip_excuses_no_error_in_another) {
    Case c = kTiled;
    c.adds = true;
    FileProductRequest request = prepare(c);
    request.verify = true;
    Matrix c0 = constant(c.m, c.n, 1);
    static_cast<float*>(c0.data())[0] = 1e8F;
    write_npy(folder_ / "C0.npy", c0);
    const FileProductReport report = multiply(request);
    EXPECT_TRUE(report.verified->passed()) << report.verified->explanation;
    const DiskCut& cuts = *report.plan.disk;
    const std::int64_t strips = ceil_div(cuts.tile_m, cuts.strip_m);
    const std::int64_t panels = cuts.depth >= c.k ? 1 : ceil_div(c.k - cuts.first_depth, cuts.depth) + 1;
    ASSERT_GT(strips, 1) << to_string(report.plan);
    ASSERT_GT(report.tiles, 1) << to_string(report.plan);

    sentence_of_spoiled(request, strips * panels, [](const View& out) {  // the end of the first tile
        *reinterpret_cast<float*>(element_pointer(out, 0, 0)) += 100;
    });
}

TEST_F(FileVerifyTest, nan_in_place_of_zero_is_found) {
    FileProductRequest request = prepare(kTiled);
    request.verify = true;
    write_npy(folder_ / "A.npy", constant(300, 210, 0));
    const std::string sentence = sentence_of_spoiled(request, 3, [](const View& out) {
        const float nan = std::numeric_limits<float>::quiet_NaN();
        std::memcpy(element_pointer(out, out.rows / 2, out.cols / 3), &nan, sizeof nan);
    });
    EXPECT_NE(sentence.find("NaN"), std::string::npos) << sentence;
    EXPECT_FALSE(exists("C.npy"));
}

TEST_F(FileVerifyTest, overflow_is_neither_verified_nor_called_wrong) {
    FileProductRequest request = prepare(kTiled);
    request.verify = true;
    write_npy(folder_ / "A.npy", constant(300, 210, 1e30F));
    write_npy(folder_ / "B.npy", constant(210, 260, 1e30F));
    EXPECT_EQ(multiply(request).verified->verdict, Verdict::not_verifiable);
    EXPECT_TRUE(exists("C.npy"));
}

}  // namespace
}  // namespace heptad

// --verify of products from file to file: grossly wrong floats of every type do not pass, right ones do, and small rows
// and columns are judged beside large ones.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "base/half.hpp"
#include "product/file/file_product_fixture.hpp"

namespace heptad {
namespace {

using Spoil = std::function<double(double value, std::int64_t row, std::int64_t col)>;

void spoil_all(const View& c, const Spoil& spoil) {
    for (std::int64_t i = 0; i < c.rows; ++i) {
        for (std::int64_t j = 0; j < c.cols; ++j) {
            std::byte* const at = element_pointer(c, i, j);
            switch (c.type) {
                case Type::f64:
                    *reinterpret_cast<double*>(at) = spoil(*reinterpret_cast<double*>(at), i, j);
                    break;
                case Type::bf16:
                    *reinterpret_cast<bf16*>(at) =
                        to_bf16(static_cast<float>(spoil(to_float(*reinterpret_cast<bf16*>(at)), i, j)));
                    break;
                case Type::f16:
                    *reinterpret_cast<f16*>(at) =
                        to_f16(static_cast<float>(spoil(to_float(*reinterpret_cast<f16*>(at)), i, j)));
                    break;
                default:
                    *reinterpret_cast<float*>(at) = static_cast<float>(spoil(*reinterpret_cast<float*>(at), i, j));
            }
        }
    }
}

class StreamedCheckTest : public FileProductTest {
protected:
    /// The verdict on a product whose every step is spoilt, or only step `which`.
    Verdict verdict(const FileProductRequest& request, const Spoil& spoil, int which = -1) {
        StageProducts wrong = processor_stage({}, 2);
        const auto right = wrong.multiply;
        int calls = 0;
        wrong.multiply = [&](Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& out,
                             const ProductPlan& plan, void* workspace, std::int64_t bytes) {
            const RunReport done = right(alpha, a, b, beta, out, plan, workspace, bytes);
            if (++calls == which || which < 0) {
                spoil_all(out, spoil);
            }
            return done;
        };
        StageTrace trace(false);
        try {
            const FileProductReport report = multiply_files(request, wrong, {}, trace);
            explanation_ = report.verified->explanation;
            EXPECT_GT(report.verified->threshold, 0);
            return report.verified->verdict;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::verification) << error.what();
            explanation_ = error.what();
            EXPECT_FALSE(exists("C.npy"));
            return Verdict::failed;
        }
    }
    std::string explanation_;
};

double keep(double x, std::int64_t, std::int64_t) {
    return x;
}

TEST_F(StreamedCheckTest, zeros_and_negated_floats_fail_in_every_type_and_right_ones_pass) {
    for (const Type type : {Type::f32, Type::f64, Type::tf32, Type::bf16, Type::f16}) {
        Case c = kTiled;
        c.memory_bytes = 300 << 10;
        c.type = type;
        FileProductRequest request = prepare(c);
        request.verify = true;
        request.a.as = request.b.as = type;
        for (const char* kind : {"normal", "positive"}) {
            SCOPED_TRACE(std::string(type_name(type)) + " " + kind);
            write_npy(folder_ / "A.npy", generate(kind, c.m, c.k, c.type, 5));
            write_npy(folder_ / "B.npy", generate(kind, c.k, c.n, c.type, 6));
            EXPECT_EQ(verdict(request, keep), Verdict::passed) << explanation_;
            std::filesystem::remove(folder_ / "C.npy");
            EXPECT_EQ(verdict(request, [](double, auto, auto) { return 0.0; }), Verdict::failed) << explanation_;
            EXPECT_EQ(verdict(request, [](double x, auto, auto) { return -x; }), Verdict::failed) << explanation_;
            if (type == Type::f32 || type == Type::f64) {
                EXPECT_NE(verdict(request, [](double x, auto, auto) { return 1.001 * x; }), Verdict::passed);
                std::filesystem::remove(folder_ / "C.npy");
            }
        }
    }
}

TEST_F(StreamedCheckTest, one_entry_of_a_small_row_and_column_is_found_beside_large_ones) {
    Case c = kTiled;
    FileProductRequest request = prepare(c);
    request.verify = true;
    Matrix a = generate("normal", c.m, c.k, Type::f32, 5), b = generate("normal", c.k, c.n, Type::f32, 6);
    const auto grade = [](std::int64_t line) { return static_cast<int>(line * 7 % 37) - 18; };
    for (std::int64_t p = 0; p < c.k; ++p) {
        for (std::int64_t i = 0; i < c.m; ++i) {
            float& x = static_cast<float*>(a.data())[i * c.k + p];
            x = std::ldexp(x, grade(i));
        }
        for (std::int64_t j = 0; j < c.n; ++j) {
            float& x = static_cast<float*>(b.data())[p * c.n + j];
            x = std::ldexp(x, grade(j));
        }
    }
    write_npy(folder_ / "A.npy", a);
    write_npy(folder_ / "B.npy", b);
    EXPECT_EQ(verdict(request, keep), Verdict::passed) << explanation_;
    std::filesystem::remove(folder_ / "C.npy");
    for (const std::int64_t row : {0, 3}) {
        const Spoil one = [&](double x, std::int64_t i, std::int64_t j) { return i == row && j == 5 ? 1.2 * x : x; };
        EXPECT_NE(verdict(request, one, 2), Verdict::passed) << explanation_;
        std::filesystem::remove(folder_ / "C.npy");
    }
}

}  // namespace
}  // namespace heptad

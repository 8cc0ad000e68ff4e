// Outer levels of files on data of all kinds (product/data_families.hpp): rows, columns and what lies along k are
// scaled while they are read, and what no powers of two make even is multiplied without outer levels.
#include "plan/predict/promised_error.hpp"
#include "product/classical_error.hpp"
#include "product/data_families.hpp"
#include "product/file/file_product_fixture.hpp"

namespace heptad {
namespace {

namespace data = testing_data;

class FileUnevenTest : public FileProductTest {
protected:
    template <class T>
    static ConstView view_of(data::Matrix<T>& matrix) {
        return ConstView(AnyView(matrix.view()));
    }

    template <class T>
    data::Matrix<T> product() {
        const Matrix c = read_npy(folder_ / "C.npy");
        data::Matrix<T> result(c.rows(), c.cols());
        std::memcpy(result.data.data(), c.data(), static_cast<std::size_t>(c.size_bytes()));
        return result;
    }

    template <class T>
    void expect_few_digits_lost(const Case& layout, const OuterLevels& outer, double most = 10,
                                const std::vector<data::Family>& families = data::all_families()) {
        for (const data::Family& family : families) {
            data::Random random(7);
            data::Matrix<double> wide_a(layout.m, layout.k), wide_b(layout.k, layout.n);
            family.make(wide_a, wide_b, random);
            auto a = data::rounded_to<T>(wide_a), b = data::rounded_to<T>(wide_b);
            FileProductRequest request = prepare(layout);
            write_view("A.npy", view_of(a), layout.transpose_a, layout.a_fortran);
            write_view("B.npy", view_of(b), layout.transpose_b, layout.b_fortran);
            const double classical = data::classical_error(a, b);
            request.accuracy = Accuracy::balanced;
            request.outer = outer;
            const FileProductReport report = multiply(request);
            EXPECT_LE(worst_error(a, b, product<T>()) / classical, most) << family.name;
            const ErrorPromise promise = promised_error(report.plan, 1, true);
            const bool of_lines = promise.over == BoundOver::lines;
            EXPECT_LE(worst_error(a, b, product<T>(), of_lines), promise.bound) << family.name;
            // Rows that one place along k makes up are scaled by their values there: more than in memory is even.
            if (family.way == data::Way::fast || family.way == data::Way::scaled) {
                EXPECT_TRUE(report.layers) << family.name << report.no_layers;
                EXPECT_EQ(report.products.scaled, family.way == data::Way::scaled) << family.name;
            }
        }
    }
};

TEST_F(FileUnevenTest, families_lose_a_digit_at_most) {
    // Forced, whatever it loses on uniform data: 4.9 on a Neoverse V1, where the classical error is below u. Rows,
    // columns and k graded at once double that, to 10.7.
    constexpr double kMostOfForcedStrassen = 12;
    expect_few_digits_lost<float>({.m = 384, .k = 384, .n = 384, .memory_bytes = 400 << 10}, {"strassen", 1},
                                  kMostOfForcedStrassen);
    expect_few_digits_lost<double>({.m = 300, .k = 210, .n = 260, .type = Type::f64, .memory_bytes = 400 << 10},
                                   {"winograd", 1});
}

// No line is uneven by itself: what levels would lose is seen where they are tried. Blocks of 193 are more than is
// there.
TEST_F(FileUnevenTest, families_that_only_meet_unevenly_lose_a_digit_at_most) {
    for (const bool turned : {false, true}) {
        const Case layout{
            .m = 385, .k = 387, .n = 390, .memory_bytes = 600 << 10, .a_fortran = turned, .transpose_b = turned};
        const std::vector<data::Family> families = data::meeting_families();
        expect_few_digits_lost<float>(layout, {"strassen", 2}, 10, families);
        expect_few_digits_lost<float>(layout, {"winograd", 1}, 10, families);
    }
}

// All lines are even, but in half of C large values meet small ones. One level adds lines that are alike.
TEST_F(FileUnevenTest, large_values_that_meet_small_ones_are_multiplied_without_levels) {
    const Case layout{.m = 300, .k = 1200, .n = 308, .memory_bytes = 1200 << 10};
    FileProductRequest request = prepare(layout);
    const auto write = [&](const std::string& name, std::int64_t rows, std::int64_t cols, std::int64_t large_first) {
        Matrix x = generate("uniform", rows, cols, Type::f32, 5);
        for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t j = 0; j < cols; ++j) {
                static_cast<float*>(x.data())[i * cols + j] *= (i + j) % 2 == large_first ? 8 : 1;
            }
        }
        write_npy(folder_ / name, x.view());
    };
    write("A.npy", layout.m, layout.k, 0);
    write("B.npy", layout.k, layout.n, 1);
    request.outer = {"strassen", 1};
    EXPECT_TRUE(multiply(request).layers);
    request.outer = {"strassen", 2};
    EXPECT_FALSE(multiply(request).layers);
    request.accuracy = Accuracy::fast;
    EXPECT_TRUE(multiply(request).layers);
}

TEST_F(FileUnevenTest, however_the_files_lie) {
    for (int bits = 0; bits < 8; ++bits) {
        const auto bit = [bits](int i) { return (bits >> i & 1) != 0; };
        SCOPED_TRACE(bits);
        expect_few_digits_lost<float>({.m = 190,
                                       .k = 257,
                                       .n = bit(2) ? 301 : 90,
                                       .memory_bytes = 300 << 10,
                                       .a_fortran = bit(0),
                                       .b_fortran = bit(1),
                                       .transpose_a = bit(1),
                                       .transpose_b = bit(0)},
                                      {"strassen", 1});
    }
}

TEST_F(FileUnevenTest, scaled_runs_go_on_with_the_same_bits) {
    const Case layout{.m = 300, .k = 210, .n = 260, .memory_bytes = 250 << 10, .adds = true};
    FileProductRequest request = prepare(layout);
    Matrix a = generate("uniform", layout.m, layout.k, Type::f32, 5);
    for (std::int64_t i = 0; i < layout.m; ++i) {
        for (std::int64_t p = 0; p < layout.k; ++p) {
            static_cast<float*>(a.data())[i * layout.k + p] *= std::exp2(static_cast<float>(i % 40 - 20));
        }
    }
    write_npy(folder_ / "A.npy", a.view());
    write_npy(folder_ / "B.npy", generate("uniform", layout.k, layout.n, Type::f32, 6));
    request.outer = {"strassen", 1};
    request.verify = true;
    const FileProductReport whole = multiply(request);
    EXPECT_TRUE(whole.layers && whole.products.scaled && whole.verified && whole.verified->passed());
    const std::string bits = result();
    interrupt_after_writes(request, 6);
    const FileProductReport resumed = multiply(request);
    EXPECT_GE(resumed.resumed_tiles, 1);
    EXPECT_TRUE(resumed.layers && resumed.products.scaled);
    EXPECT_EQ(result(), bits);
}

TEST_F(FileUnevenTest, what_the_sample_has_not_seen_is_answered_classically) {
    const Case layout{.m = 300, .k = 210, .n = 260, .memory_bytes = 100 << 10};
    FileProductRequest request = prepare(layout);
    request.outer = {"strassen", 1};
    for (const std::int64_t column : {0, 100, 209}) {  // one value of a row of zeros: wherever it lies
        Matrix a = generate("uniform", layout.m, layout.k, Type::f32, 5);
        float* const row = static_cast<float*>(a.data()) + 17 * layout.k;
        std::fill_n(row, layout.k, 0.0F);
        row[column] = 1;
        write_npy(folder_ / "A.npy", a.view());
        write_npy(folder_ / "B.npy", generate("uniform", layout.k, layout.n, Type::f32, 6));
        EXPECT_FALSE(multiply(request).layers) << column;
        const Matrix b = read_npy(folder_ / "B.npy"), c = read_npy(folder_ / "C.npy");
        EXPECT_EQ(std::memcmp(element_pointer(c.view(), 17, 0), element_pointer(b.view(), column, 0),
                              static_cast<std::size_t>(layout.n) * sizeof(float)),
                  0)
            << column;
    }
}

// One value that a sample does not see makes a row large that looked small. With the power of two of that row it would
// be larger than everything, and errors everywhere with it: `fast` promises that they are relative to the largest
// value.
TEST_F(FileUnevenTest, powers_of_a_sample_that_was_wrong_are_not_kept) {
    const Case layout{.m = 300, .k = 1210, .n = 260, .memory_bytes = 400 << 10};
    FileProductRequest request = prepare(layout);
    request.outer = {"strassen", 1};
    int wrong = 0;
    for (std::int64_t column = 3; column < layout.k; column += 241) {
        data::Random random(3);
        data::Matrix<double> wide_a(layout.m, layout.k), wide_b(layout.k, layout.n);
        data::fill_uniform(wide_a, random);
        data::fill_uniform(wide_b, random);
        data::times(wide_a, [&](std::int64_t i, std::int64_t k) { return i == 17 && k != column ? 1e-9 : 1; });
        auto a = data::rounded_to<float>(wide_a), b = data::rounded_to<float>(wide_b);
        write_view("A.npy", view_of(a), layout.transpose_a, layout.a_fortran);
        write_view("B.npy", view_of(b), layout.transpose_b, layout.b_fortran);
        for (const Accuracy accuracy : {Accuracy::balanced, Accuracy::fast}) {
            request.accuracy = accuracy;
            const FileProductReport report = multiply(request);
            EXPECT_LE(worst_error(a, b, product<float>(), true), 1e-5) << column;  // and row 17 has a norm of one
            wrong += report.layers ? 0 : 1;
        }
    }
    EXPECT_GT(wrong, 0);
}

}  // namespace
}  // namespace heptad

// Mixed products without end: right to the last one, in memory and threads that do not grow.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>

#include <heptad/bits.hpp>

#include "base/half.hpp"
#include "citizen/counts.hpp"

namespace heptad::citizen {
namespace {

#ifdef HEPTAD_REDUCED_TESTS
constexpr std::int64_t kSample = 1500;
#else
constexpr std::int64_t kSample = 12000;
#endif
constexpr std::int64_t kFull = 1'000'000;
/// Kept plans, workspace and packing memory come and go with the sizes; a leak of 64 bytes in each product would show
/// as 64 MB in a soak.
constexpr double kMostGrowth_bytes = 32e6;

double resident_bytes() {
    std::ifstream status("/proc/self/statm");
    double pages = 0, resident = 0;
    status >> pages >> resident;
    return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

int threads_now() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("Threads:")) {
            return std::stoi(line.substr(8));
        }
    }
    return -1;
}

class Mix {
public:
    explicit Mix(std::uint64_t seed) : random_(seed) {}

    void next() {
        const int kind = in(0, 99);
        if (kind < 70) {
            dense();
        } else if (kind < 82) {
            packed_bits();
        } else if (kind < 90) {
            batch();
        } else if (kind < 92) {
            over_devices();
        } else {
            wrong_call();
        }
    }

private:
    int in(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
    /// Mostly small ones, and few sizes in all, as programs have them.
    std::int64_t size() { return in(0, 3) == 0 ? in(1, 200) : in(1, 40); }

    Context context() {
        Context context;
        if (in(0, 3) != 0) {
            context.set_threads(in(1, 4));
        }
        return context;
    }

    Options options() {
        Options options;
        options.levels = in(-1, 2);
        options.mode = in(0, 1) == 0 ? "auto" : in(0, 1) == 0 ? "serial" : "parallel";
        options.accuracy = options.levels > 0 ? Accuracy::fast : Accuracy::balanced;
        options.leaf = in(0, 1) == 0 ? "heptad" : "auto";
        return options;
    }

    void dense() {
        switch (in(0, 6)) {
            case 0:
                return dense_as<double>();
            case 1:
                return dense_as<float>();
            case 2:
                return dense_as<std::int32_t>();
            case 3:
                return dense_as<bf16>();
            case 4:
                return dense_as<f16>();
            case 5:
                return dense_as<gf2>();
            default:
                return dense_as<bool>();
        }
    }

    template <class T>
    static T element_of(int value) {
        if constexpr (std::is_same_v<T, bf16>) {
            return to_bf16(static_cast<float>(value));
        } else if constexpr (std::is_same_v<T, f16>) {
            return to_f16(static_cast<float>(value));
        } else if constexpr (std::is_same_v<T, gf2>) {
            return {static_cast<std::uint8_t>(value & 1)};
        } else if constexpr (std::is_same_v<T, bool>) {
            return value > 0;
        } else {
            return static_cast<T>(value);
        }
    }
    template <class T>
    static int value_of(T element) {
        if constexpr (std::is_same_v<T, bf16> || std::is_same_v<T, f16>) {
            return static_cast<int>(to_float(element));
        } else if constexpr (std::is_same_v<T, gf2>) {
            return element.value;
        } else {
            return static_cast<int>(element);
        }
    }

    /// A matrix of -1, 0 and 1 with rows or columns one after another, gaps between them or not.
    template <class T>
    MatrixView<T> matrix(std::string& memory, std::int64_t rows, std::int64_t cols) {
        const bool by_rows = in(0, 1) == 0;
        const std::int64_t lines = by_rows ? rows : cols, length = by_rows ? cols : rows;
        const std::int64_t stride = length + (in(0, 2) == 0 ? in(1, 9) : 0);
        memory.resize(static_cast<std::size_t>(lines * stride) * sizeof(T));
        auto* const data = reinterpret_cast<T*>(memory.data());
        for (std::int64_t i = 0; i < lines * stride; ++i) {
            data[i] = element_of<T>(in(-1, 1));
        }
        return by_rows ? MatrixView<T>::row_major(data, rows, cols, stride)
                       : MatrixView<T>::column_major(data, rows, cols, stride);
    }

    /// Three entries against the definition.
    template <class T>
    void expect_product(const MatrixView<T>& a, const MatrixView<T>& b, const MatrixView<T>& c) {
        for (int probe = 0; probe < 3; ++probe) {
            const std::int64_t i = in(0, static_cast<int>(c.rows) - 1), j = in(0, static_cast<int>(c.cols) - 1);
            int sum = 0;
            for (std::int64_t l = 0; l < a.cols; ++l) {
                sum += value_of(a(i, l)) * value_of(b(l, j));
            }
            const T expected = element_of<T>(sum), got = c(i, j);
            ASSERT_EQ(std::memcmp(&expected, &got, sizeof(T)), 0)
                << type_name(TypeOf<T>::value) << " " << a.rows << " x " << a.cols << " x " << b.cols << " at " << i
                << ", " << j;
        }
    }

    template <class T>
    void dense_as() {
        // bf16 holds integers up to 256: the sums of levels stay below.
        const std::int64_t m = size(), k = std::is_same_v<T, bf16> ? in(1, 40) : size(), n = size();
        const MatrixView<T> a = matrix<T>(a_, m, k), b = matrix<T>(b_, k, n), c = matrix<T>(c_, m, n);
        multiply(a, b, c, options(), context());
        expect_product(a, b, c);
    }

    void batch() {
        const std::int64_t m = in(1, 30), k = in(1, 30), n = in(1, 30), count = in(1, 9);
        std::vector<float> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n * count)),
            c(static_cast<std::size_t>(m * n * count));
        std::generate(a.begin(), a.end(), [&] { return static_cast<float>(in(-1, 1)); });
        std::generate(b.begin(), b.end(), [&] { return static_cast<float>(in(-1, 1)); });
        const auto a_view = MatrixView<float>::row_major(a.data(), m, k);
        multiply_strided_batch(1, a_view, 0, MatrixView<float>::row_major(b.data(), k, n), k * n, 0,
                               MatrixView<float>::row_major(c.data(), m, n), m * n, count, {}, context());
        const std::int64_t last = count - 1;
        expect_product(a_view, MatrixView<float>::row_major(b.data() + last * k * n, k, n),
                       MatrixView<float>::row_major(c.data() + last * m * n, m, n));
    }

    void packed_bits() {
        const std::int64_t m = size(), k = size(), n = size();
        const Type algebra = in(0, 1) == 0 ? Type::gf2 : Type::boolean;
        const BitMatrix a = BitMatrix::random(m, k, random_()), b = BitMatrix::random(k, n, random_());
        bits::BitOptions options;
        options.levels = algebra == Type::gf2 ? in(-1, 1) : -1;
        const BitMatrix c = bits::product(algebra, a, b, options, context());
        const std::int64_t i = in(0, static_cast<int>(m) - 1), j = in(0, static_cast<int>(n) - 1);
        int ones = 0;
        for (std::int64_t l = 0; l < k; ++l) {
            ones += a(i, l) && b(l, j) ? 1 : 0;
        }
        ASSERT_EQ(c(i, j), algebra == Type::gf2 ? ones % 2 == 1 : ones > 0);
        if (m == k && in(0, 3) == 0) {
            bits::transitive_closure(a, context());
        }
    }

    void over_devices() {
        const std::int64_t m = size(), k = size(), n = size();
        const auto a = matrix<std::int32_t>(a_, m, k), b = matrix<std::int32_t>(b_, k, n),
                   c = matrix<std::int32_t>(c_, m, n);
        Options options;
        options.device = "cpu:2";
        multiply(a, b, c, options, context());
        expect_product(a, b, c);
    }

    void wrong_call() {
        std::vector<float> x(64, 1.0F);
        const auto view = MatrixView<float>::row_major(x.data(), 8, 8);
        const auto wrong = MatrixView<float>::row_major(x.data(), 4, 8);
        Options options;
        switch (in(0, 3)) {
            case 0:
                break;  // C overlaps A
            case 1:
                options.algorithm = "nobody";
                break;
            case 2:
                options.device = "toaster";
                break;
            default:
                EXPECT_THROW(multiply(wrong, wrong, view), Error);
                EXPECT_THROW(Plan::parse("m=1 k=2 n=" + std::to_string(in(0, 1 << 30))), Error);
                return;
        }
        EXPECT_THROW(multiply(view, view, view, options), Error);
    }

    std::mt19937_64 random_;
    std::string a_, b_, c_;
};

TEST(Soak, mixed_products_are_right_in_memory_and_threads_that_do_not_grow) {
    const std::int64_t count = repetitions(kSample, kFull);
    const std::int64_t warm_up = std::min<std::int64_t>(count / 3, 50000);  // until all sizes were met
    Mix mix(seed());
    double settled_bytes = 0, most_bytes = 0;
    int most_threads = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        SCOPED_TRACE("product " + std::to_string(i) + " of seed " + std::to_string(seed()));
        ASSERT_NO_THROW(mix.next());
        if (::testing::Test::HasFailure()) {
            return;
        }
        if (i == warm_up) {
            settled_bytes = resident_bytes();
        }
        if (i > warm_up && i % 500 == 0) {
            most_bytes = std::max(most_bytes, resident_bytes());
            most_threads = std::max(most_threads, threads_now());
        }
    }
    RecordProperty("settled_bytes", std::to_string(settled_bytes));
    RecordProperty("most_bytes", std::to_string(most_bytes));
    RecordProperty("most_threads", most_threads);
#ifndef HEPTAD_REDUCED_TESTS  // a sanitizer keeps what is freed
    EXPECT_LT(most_bytes - settled_bytes, kMostGrowth_bytes);
#endif
    EXPECT_GT(most_threads, 0);
    const auto cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF));
    EXPECT_LE(most_threads, 16 + 4 * cores);
}

}  // namespace
}  // namespace heptad::citizen

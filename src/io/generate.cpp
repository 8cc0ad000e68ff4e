#include "io/generate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/complex_as_real.hpp"
#include "base/fail_if.hpp"
#include "base/names.hpp"
#include "base/size.hpp"
#include "base/splitmix.hpp"
#include "base/stored_type.hpp"
#include "base/thread_pool.hpp"
#include "base/types.hpp"
#include "io/open_file.hpp"

namespace heptad {
namespace {

enum class Kind { uniform, positive, normal, integer, bits, identity, ones, zeros, graph, hilbert, kaporin };
constexpr Names<Kind, 11> kKinds{
    {"uniform", "positive", "normal", "integer", "bits", "identity", "ones", "zeros", "graph", "hilbert", "kaporin"}};

/// Row i of the matrix is a stream of its own, and element j its j-th word.
struct RowStream {
    std::uint64_t key;
    RowStream(std::uint64_t seed, std::int64_t row)
        : key(splitmix(splitmix(seed + kSplitmixStep) + kSplitmixStep * static_cast<std::uint64_t>(row))) {}
    std::uint64_t word(std::int64_t col) const { return splitmix_word(key, col); }
};

/// The top `bits` bits of a word on the grid of [-1, 1) with spacing 2^(1 - bits): exact, never 1.
double uniform(std::uint64_t word, int bits) {
    const auto steps = static_cast<std::int64_t>(word >> (64 - bits)) - (std::int64_t{1} << (bits - 1));
    return static_cast<double>(steps) / static_cast<double>(std::int64_t{1} << (bits - 1));  // a power of two: exact
}

/// The same on the grid of [0, 1) with spacing 2^-bits.
double positive(std::uint64_t word, int bits) {
    return static_cast<double>(word >> (64 - bits)) / static_cast<double>(std::int64_t{1} << bits);
}

/// Natural logarithm by basic operations only, so that it has the same bits on every machine; x is positive and
/// normal. x = f 2^e with f in [sqrt(1/2), sqrt(2)), log f = 2 artanh(t) with t = (f - 1) / (f + 1), |t| < 0.172.
double portable_log(double x) {
    int exponent = 0;
    double fraction = std::frexp(x, &exponent);
    if (fraction < 0.70710678118654752) {
        fraction *= 2;
        --exponent;
    }
    const double t = (fraction - 1) / (fraction + 1);
    const double square = t * t;
    double series = 0;
    for (int odd = 21; odd >= 1; odd -= 2) {
        series = series * square + 1.0 / odd;
    }
    return exponent * 0.69314718055994531 + 2 * t * series;
}

/// Marsaglia's polar method: draws points of the square until one lies in the disc (1.27 draws in the mean).
double normal(std::uint64_t word) {
    for (;;) {
        const double x = uniform(word, 53);
        word = splitmix(word + kSplitmixStep);
        const double y = uniform(word, 53);
        word = splitmix(word + kSplitmixStep);
        const double square = x * x + y * y;
        if (square > 0x1p-100 && square < 1) {
            return x * std::sqrt(-2 * portable_log(square) / square);
        }
    }
}

/// The word below which an event of this probability happens; certain events need the flag.
struct Chance {
    bool certain;
    std::uint64_t below;
    explicit Chance(double probability)
        : certain(probability >= 1),
          below(probability > 0 && !certain ? static_cast<std::uint64_t>(std::ldexp(probability, 64)) : 0) {}
    bool happens(std::uint64_t word) const { return certain || word < below; }
};

/// The upper half of word * count: uniform over 0 .. count - 1 up to a bias of count / 2^64.
std::uint64_t below(std::uint64_t word, std::uint64_t count) {
    const std::uint64_t low = (word & 0xffffffffU) * count;
    return ((word >> 32) * count + (low >> 32)) >> 32;  // count <= 2^32: no carry is lost
}

struct Recipe {
    Kind kind;
    Type type;
    std::uint64_t seed;
    GenerateOptions options;
    Chance chance;
};

/// Significand bits of a float type as stored, the leading one included.
int significand_bits(Type type) {
    return -std::ilogb(unit_roundoff(type == Type::tf32 ? Type::f32 : type));
}

/// One element as a double, which holds every value of every kind exactly (but uniform i64), up to the rounding to the
/// type.
double element(const Recipe& recipe, const RowStream& stream, std::int64_t i, std::int64_t j) {
    switch (recipe.kind) {
        case Kind::uniform:
            return recipe.type == Type::i32 ? static_cast<std::int32_t>(stream.word(j) >> 32)
                                            : uniform(stream.word(j), significand_bits(recipe.type));
        case Kind::positive:
            return recipe.type == Type::i32 ? static_cast<double>(stream.word(j) >> 33)
                                            : positive(stream.word(j), significand_bits(recipe.type));
        case Kind::normal:
            return normal(stream.word(j));
        case Kind::integer: {
            const auto count = static_cast<std::uint64_t>(recipe.options.high - recipe.options.low) + 1;
            return static_cast<double>(recipe.options.low + static_cast<std::int64_t>(below(stream.word(j), count)));
        }
        case Kind::bits:
            return recipe.chance.happens(stream.word(j)) ? 1 : 0;
        case Kind::graph:
            return i != j && recipe.chance.happens(stream.word(j)) ? 1 : 0;
        case Kind::identity:
            return i == j ? 1 : 0;
        case Kind::ones:
            return 1;
        case Kind::zeros:
            return 0;
        case Kind::hilbert:
            return 1 / (static_cast<double>(i) + static_cast<double>(j) + 1);
        case Kind::kaporin:
            return uniform(stream.word(j), significand_bits(recipe.type)) /
                   (1 + std::abs(static_cast<double>(i) - static_cast<double>(j)));
    }
    return 0;
}

/// Random parts are drawn one after the other; all else is real.
void fill_complex_row(const Recipe& recipe, const View& v, std::int64_t i) {
    const bool random = recipe.kind == Kind::uniform || recipe.kind == Kind::positive || recipe.kind == Kind::normal ||
                        recipe.kind == Kind::integer;
    with_part_type(v.type, [&]<class T>() {
        const RowStream stream(recipe.seed, i);
        T* const row = static_cast<T*>(v.data) + 2 * i * v.row_stride;
        for (std::int64_t j = 0; j < v.cols; ++j) {
            row[2 * j] = from_double<T>(element(recipe, stream, i, random ? 2 * j : j));
            row[2 * j + 1] = random ? from_double<T>(element(recipe, stream, i, 2 * j + 1)) : T{0};
        }
    });
}

void fill_row(const Recipe& recipe, const View& v, std::int64_t i) {
    if (is_complex(v.type)) {
        return fill_complex_row(recipe, v, i);
    }
    with_stored_type(v.type, [&]<class T>() {
        const RowStream stream(recipe.seed, i);
        T* const row = static_cast<T*>(v.data) + i * v.row_stride;
        for (std::int64_t j = 0; j < v.cols; ++j) {
            if constexpr (std::is_same_v<T, std::int64_t>) {  // of which a double does not hold every value
                if (recipe.kind == Kind::uniform || recipe.kind == Kind::positive) {
                    row[j] = static_cast<T>(stream.word(j) >> (recipe.kind == Kind::positive ? 1 : 0));
                    continue;
                }
            }
            row[j] = from_double<T>(element(recipe, stream, i, j));
        }
    });
}

/// The same elements as bits of words. Random ones are judged in an inner loop of their own, which is what takes time.
void fill_packed_row(const Recipe& recipe, const BitView& v, std::int64_t i) {
    constexpr std::int64_t word_bits = 64;
    const RowStream stream(recipe.seed, i);
    std::uint64_t* const row = v.words + i * v.stride;
    const bool random = recipe.kind == Kind::bits || recipe.kind == Kind::graph;
    for (std::int64_t first = 0; first < v.cols; first += word_bits) {
        const std::int64_t count = std::min(word_bits, v.cols - first);
        std::uint64_t word = 0;
        if (random && !recipe.chance.certain) {
            for (std::int64_t j = 0; j < count; ++j) {
                word |= std::uint64_t{stream.word(first + j) < recipe.chance.below} << j;
            }
            if (recipe.kind == Kind::graph && i >= first && i < first + count) {
                word &= ~(std::uint64_t{1} << (i - first));
            }
        } else {
            for (std::int64_t j = 0; j < count; ++j) {
                word |= std::uint64_t{element(recipe, stream, i, first + j) != 0} << j;
            }
        }
        row[first / word_bits] = word;
    }
}

Kind kind_from_name(const std::string& name) {
    if (const std::optional<Kind> kind = kKinds.find(name)) {
        return *kind;
    }
    fail(ErrorCode::usage, "'{}' is not a kind of matrix; the kinds are {}", name, generate_kinds());
}

void require_kind_fits(Kind kind, Type type) {
    const char* const name = kKinds.of(kind);
    const bool bit_type = type == Type::gf2 || type == Type::boolean;
    const bool fractions = kind == Kind::normal || kind == Kind::hilbert || kind == Kind::kaporin;
    fail_if(bit_type && (fractions || kind == Kind::uniform || kind == Kind::positive || kind == Kind::integer),
            ErrorCode::usage, "'{}' cannot make elements of type {}; bits, graph, identity, ones and zeros can", name,
            type_name(type));
    fail_if(!is_float(type) && fractions, ErrorCode::usage,
            "'{}' cannot make elements of type {}; uniform, positive and integer can", name, type_name(type));
}

void require_range(const GenerateOptions& options, Type type) {
    // Every integer up to 2^significand is exact in a float type.
    const std::int64_t most = is_float(type) ? std::min(std::int64_t{1} << std::min(significand_bits(type), 31),
                                                        std::int64_t{std::numeric_limits<std::int32_t>::max()})
                                             : std::numeric_limits<std::int32_t>::max();
    fail_if(options.low > options.high || options.low < -most || options.high > most, ErrorCode::usage,
            "integers from {} to {} cannot be made as {}; choose low <= high within +-{}", options.low, options.high,
            type_name(type), most);
}

double event_probability(Kind kind, std::int64_t rows, std::int64_t cols, const GenerateOptions& options) {
    fail_if(kind == Kind::bits && !(options.density >= 0 && options.density <= 1), ErrorCode::usage,
            "a density of {} is not possible; choose 0 to 1", options.density);
    if (kind != Kind::graph) {
        return options.density;
    }
    fail_if(rows != cols, ErrorCode::usage,
            "the matrix of a graph is square, and {} x {} is not; give the same size twice", rows, cols);
    fail_if(!(options.average_degree >= 0), ErrorCode::usage,
            "an average degree of {} is not possible; choose 0 or more", options.average_degree);
    return cols > 1 ? options.average_degree / static_cast<double>(cols - 1) : 0;
}

Recipe recipe_of(const std::string& kind_name, std::int64_t rows, std::int64_t cols, Type type, std::uint64_t seed,
                 const GenerateOptions& options) {
    const Kind kind = kind_from_name(kind_name);
    require_kind_fits(kind, type);
    if (kind == Kind::integer) {
        require_range(options, type);
    }
    return {kind, type, seed, options, Chance(event_probability(kind, rows, cols, options))};
}

/// fill(i) for every row, on all threads; can be cancelled.
void over_rows(std::int64_t rows, std::int64_t cols, const FileHooks& hooks,
               const std::function<void(std::int64_t)>& fill) {
    // Tasks of about 64 Ki elements; a step is long enough to be parallel and short enough to be cancelled.
    const std::int64_t rows_per_task = std::max<std::int64_t>(1, 65536 / std::max<std::int64_t>(1, cols));
    const std::int64_t tasks = ceil_div(rows, rows_per_task);
    constexpr std::int64_t tasks_per_step = 256;
    ThreadPool& pool = shared_pool(threads_or_default(hooks.threads));
    for (std::int64_t first = 0; first < tasks && cols > 0; first += tasks_per_step) {
        fail_if(hooks.cancel.cancelled(), ErrorCode::cancelled, "cancelled while a matrix of {} x {} was made", rows,
                cols);
        pool.run(std::min(tasks_per_step, tasks - first), [&](std::int64_t task) {
            const std::int64_t begin = (first + task) * rows_per_task;
            for (std::int64_t i = begin; i < std::min(begin + rows_per_task, rows); ++i) {
                fill(i);
            }
        });
        report(hooks, std::min(first + tasks_per_step, tasks), tasks, "generate");
    }
}

}  // namespace

std::string generate_kinds() {
    return fmt::format("{}", fmt::join(kKinds.words, " "));
}

Matrix generate(const std::string& kind_name, std::int64_t rows, std::int64_t cols, Type type, std::uint64_t seed,
                const GenerateOptions& options, const FileHooks& hooks) {
    const Recipe recipe = recipe_of(kind_name, rows, cols, type, seed, options);
    Matrix matrix(type, rows, cols);
    const View view = matrix.view();
    over_rows(rows, cols, hooks, [&](std::int64_t i) { fill_row(recipe, view, i); });
    return matrix;
}

BitMatrix generate_bits(const std::string& kind_name, std::int64_t rows, std::int64_t cols, std::uint64_t seed,
                        const GenerateOptions& options, const FileHooks& hooks) {
    const Recipe recipe = recipe_of(kind_name, rows, cols, Type::gf2, seed, options);
    BitMatrix matrix(rows, cols);
    const BitView view = matrix.view();
    over_rows(rows, cols, hooks, [&](std::int64_t i) { fill_packed_row(recipe, view, i); });
    return matrix;
}

}  // namespace heptad

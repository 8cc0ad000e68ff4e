// The .alg text format. One fact per line, then one line per product: its coefficients of A ; of B ; of C, blocks row
// by row. Alternative bases follow as square matrices. A # starts a comment.
//
//   name strassen
//   size 2 2 2                       # m k n
//   rank 7
//   ring Z                           # Z, Z[1/2], Q or GF(2)
//   source V. Strassen, 1969
//   products
//   1 0 0 1 ; 1 0 0 1 ; 1 0 0 1      # p1 = (a11 + a22)(b11 + b22), added to c11 and c22
//   ...
//   phi                              # optional, all three or none: mk x mk, kn x kn and mn x mn
//   1 0 0 0
//   ...
#include <algorithm>
#include <bit>
#include <string_view>

#include "algorithm/algorithm.hpp"
#include "algorithm/text_words.hpp"
#include "base/error.hpp"

namespace heptad {
namespace {

constexpr int max_dimension = 64;
constexpr int max_rank = 4096;
constexpr std::int64_t max_part = 1'000'000;  // of a numerator or denominator
constexpr std::size_t max_text_bytes = std::size_t{64} << 20;

bool in_ring(const Rational& x, Ring ring) {
    switch (ring) {
        case Ring::integers:
            return x.denominator() == 1;
        case Ring::halves:
            return std::has_single_bit(static_cast<std::uint64_t>(x.denominator()));
        case Ring::rationals:
            return true;
        case Ring::gf2:
            return x == Rational(0) || x == Rational(1);
    }
    return false;
}

bool is_name(std::string_view name) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.' || c == '*';  // the star is that of compositions
    };
    return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, allowed) && !name.ends_with(".alg");
}

class AlgorithmParser {
public:
    AlgorithmParser(std::string_view text, const std::string& file_name) : rest_(text), file_(file_name) {}

    Algorithm parse() {
        stop_if(rest_.size() > max_text_bytes, "the text has {} bytes; at most {} are read", rest_.size(),
                max_text_bytes);
        while (next_line()) {
            const std::size_t end = std::min(content_.find_first_of(" \t"), content_.size());
            read_part(content_.substr(0, end), trimmed(content_.substr(end)));
        }
        finish();
        return std::move(result_);
    }

private:
    template <class... Args>
    [[noreturn]] void stop(fmt::format_string<Args...> sentence, Args&&... args) const {
        fail(ErrorCode::input, "{}:{}: {}", file_, std::max(line_, 1),
             fmt::format(sentence, std::forward<Args>(args)...));
    }
    template <class... Args>
    void stop_if(bool wrong, fmt::format_string<Args...> sentence, Args&&... args) const {
        if (wrong) {
            stop(sentence, std::forward<Args>(args)...);
        }
    }

    /// Moves to the next line that is not blank; content_ is the line without its comment.
    bool next_line() {
        while (!rest_.empty()) {
            const std::size_t end = std::min(rest_.find('\n'), rest_.size());
            std::string_view whole = rest_.substr(0, end);
            rest_.remove_prefix(std::min(end + 1, rest_.size()));
            ++line_;
            content_ = trimmed(whole.substr(0, whole.find('#')));
            if (!content_.empty()) {
                return true;
            }
        }
        return false;
    }

    void once(bool seen, std::string_view part) const { stop_if(seen, "'{}' appears twice", part); }

    int positive(std::string_view word, std::string_view what, int limit) const {
        Rational value;
        try {
            value = Rational::parse(word);
        } catch (const Error&) {
            stop("{} is '{}'; it must be an integer from 1 to {}", what, shortened(word), limit);
        }
        if (value.denominator() != 1 || value.numerator() < 1 || value.numerator() > limit) {
            stop("{} is '{}'; it must be an integer from 1 to {}", what, shortened(word), limit);
        }
        return static_cast<int>(value.numerator());
    }

    void read_part(std::string_view keyword, std::string_view value) {
        if (keyword == "name") {
            once(!result_.name.empty(), keyword);
            if (!is_name(value)) {
                stop("the name '{}' must have 1 to 64 letters, digits, '-', '_', '.' or '*', and not end in '.alg'",
                     shortened(value));
            }
            result_.name = value;
        } else if (keyword == "source") {
            once(!result_.source.empty(), keyword);
            stop_if(value.empty(), "'source' says nothing; name the publication or the author");
            result_.source = value;
        } else if (keyword == "size") {
            once(has_size_, keyword);
            const auto sizes = words_of(value);
            stop_if(sizes.size() != 3, "'size' needs three numbers m k n, not {}", sizes.size());
            result_.m = positive(sizes[0], "m", max_dimension);
            result_.k = positive(sizes[1], "k", max_dimension);
            result_.n = positive(sizes[2], "n", max_dimension);
            has_size_ = true;
        } else if (keyword == "rank") {
            once(rank_ != 0, keyword);
            rank_ = positive(value, "the rank", max_rank);
        } else if (keyword == "ring") {
            once(has_ring_, keyword);
            const auto ring = ring_from_name(value);
            if (!ring) {
                stop("the ring '{}' is unknown; use Z, Z[1/2], Q or GF(2)", shortened(value));
            }
            result_.ring = *ring;
            has_ring_ = true;
        } else if (keyword == "products") {
            once(has_products_, keyword);
            require_bare(keyword, value);
            read_products();
        } else if (keyword == "phi" || keyword == "psi" || keyword == "chi") {
            require_bare(keyword, value);
            read_basis(keyword);
        } else if (has_products_) {
            stop("expected 'phi', 'psi', 'chi' or the end after the {} lines that the rank promises, not '{}'", rank_,
                 shortened(content_));
        } else {
            stop("'{}' is unknown here; expected name, size, rank, ring, source or products", shortened(keyword));
        }
    }

    /// For messages: bytes of a file that is no text at all must not reach a terminal.
    static std::string shortened(std::string_view text) {
        std::string result(text.substr(0, 40));
        std::replace_if(
            result.begin(), result.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
        return result;
    }

    void require_bare(std::string_view keyword, std::string_view value) const {
        stop_if(!value.empty(), "'{}' stands alone on its line; the numbers start on the next one", keyword);
        stop_if(!has_size_ || !has_ring_ || rank_ == 0, "'{}' must come after size, rank and ring", keyword);
    }

    void read_entries(std::string_view text, std::string_view what, CoefficientMatrix& matrix, int row) const {
        const auto entries = words_of(text);
        stop_if(entries.size() != static_cast<std::size_t>(matrix.cols), "{} needs {} numbers, not {}", what,
                matrix.cols, entries.size());
        for (int i = 0; i < matrix.cols; ++i) {
            const std::string_view word = entries[static_cast<std::size_t>(i)];
            Rational value;
            try {
                value = Rational::parse(word);
            } catch (const Error&) {
                stop("{}: '{}' is not a number; write an integer or a fraction such as -1/2", what, shortened(word));
            }
            if (value.abs().numerator() > max_part || value.denominator() > max_part) {
                stop("{}: '{}' has a part above {}", what, shortened(word), max_part);
            }
            if (!in_ring(value, result_.ring)) {
                stop("{}: '{}' is not an element of the ring {}", what, word, ring_name(result_.ring));
            }
            matrix(row, i) = value;
        }
    }

    void read_products() {
        // Checked before the matrices are allocated: every number takes at least a digit and a separator.
        const std::size_t numbers =
            static_cast<std::size_t>(rank_) *
            static_cast<std::size_t>(result_.m * result_.k + result_.k * result_.n + result_.m * result_.n);
        stop_if(rank_ > result_.m * result_.k * result_.n,
                "rank {} is above {}, the number of products of the classical algorithm", rank_,
                result_.m * result_.k * result_.n);
        stop_if(numbers > rest_.size(), "the text is too short for the {} numbers of {} products", numbers, rank_);
        result_.u = CoefficientMatrix(rank_, result_.m * result_.k);
        result_.v = CoefficientMatrix(rank_, result_.k * result_.n);
        result_.w = CoefficientMatrix(rank_, result_.m * result_.n);
        for (int s = 0; s < rank_; ++s) {
            stop_if(!next_line(), "the text ends after {} products; the rank is {}", s, rank_);
            const std::size_t first = content_.find(';');
            const std::size_t second = first == std::string_view::npos ? first : content_.find(';', first + 1);
            if (second == std::string_view::npos || content_.find(';', second + 1) != std::string_view::npos) {
                stop("product {} of {} must have three groups of numbers with ';' between: of A ; of B ; of C", s + 1,
                     rank_);
            }
            read_entries(content_.substr(0, first), "the part of A", result_.u, s);
            read_entries(content_.substr(first + 1, second - first - 1), "the part of B", result_.v, s);
            read_entries(content_.substr(second + 1), "the part of C", result_.w, s);
        }
        has_products_ = true;
    }

    void read_basis(std::string_view keyword) {
        if (!result_.basis) {
            result_.basis.emplace();
        }
        CoefficientMatrix& matrix = keyword == "phi"   ? result_.basis->phi
                                    : keyword == "psi" ? result_.basis->psi
                                                       : result_.basis->chi;
        once(matrix.rows != 0, keyword);
        const int blocks = keyword == "phi"   ? result_.m * result_.k
                           : keyword == "psi" ? result_.k * result_.n
                                              : result_.m * result_.n;
        matrix = CoefficientMatrix(blocks, blocks);
        for (int i = 0; i < blocks; ++i) {
            stop_if(!next_line(), "the text ends after {} of {} rows of {}", i, blocks, keyword);
            read_entries(content_, fmt::format("row {} of {}", i + 1, keyword), matrix, i);
        }
    }

    void finish() const {
        const auto require = [&](bool present, std::string_view part) {
            stop_if(!present, "the text ends without '{}'", part);
        };
        require(!result_.name.empty(), "name");
        require(has_size_, "size");
        require(rank_ != 0, "rank");
        require(has_ring_, "ring");
        require(!result_.source.empty(), "source");
        require(has_products_, "products");
        if (result_.basis) {
            require(result_.basis->phi.rows != 0, "phi");
            require(result_.basis->psi.rows != 0, "psi");
            require(result_.basis->chi.rows != 0, "chi");
        }
    }

    std::string_view rest_;
    std::string_view content_;
    const std::string& file_;
    int line_ = 0;
    int rank_ = 0;
    bool has_size_ = false, has_ring_ = false, has_products_ = false;
    Algorithm result_;
};

void append_row(std::string& text, const CoefficientMatrix& matrix, int row) {
    for (int i = 0; i < matrix.cols; ++i) {
        text += i == 0 ? "" : " ";
        text += matrix(row, i).to_string();
    }
}

void append_matrix(std::string& text, const char* keyword, const CoefficientMatrix& matrix) {
    text += keyword;
    text += '\n';
    for (int i = 0; i < matrix.rows; ++i) {
        append_row(text, matrix, i);
        text += '\n';
    }
}

}  // namespace

Algorithm parse_algorithm(const std::string& text, const std::string& file_name) {
    return AlgorithmParser(text, file_name).parse();
}

std::string print_algorithm(const Algorithm& algorithm) {
    std::string text =
        fmt::format("name {}\nsize {} {} {}\nrank {}\nring {}\nsource {}\nproducts\n", algorithm.name, algorithm.m,
                    algorithm.k, algorithm.n, algorithm.rank(), ring_name(algorithm.ring), algorithm.source);
    for (int s = 0; s < algorithm.rank(); ++s) {
        append_row(text, algorithm.u, s);
        text += " ; ";
        append_row(text, algorithm.v, s);
        text += " ; ";
        append_row(text, algorithm.w, s);
        text += '\n';
    }
    if (algorithm.basis) {
        append_matrix(text, "phi", algorithm.basis->phi);
        append_matrix(text, "psi", algorithm.basis->psi);
        append_matrix(text, "chi", algorithm.basis->chi);
    }
    return text;
}

}  // namespace heptad

// Greedy elimination of common pairs: while some pair x + q y (q the ratio of its coefficients) occurs, up to a factor,
// in two rows or more, it becomes a value of its own in all of them. The most frequent pair goes first; which one among
// equals decides the quality, so several orders are tried and the best program is kept. A program for the transposed
// matrix, turned round, is a program for the matrix (transposition principle), so both are tried.
//
// Within a row, the values that remain always have disjoint sets of inputs, so the programs never cancel and no path
// is longer than the plain sum's: error bounds for the plain sums hold for the shared ones.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "algorithm/linear_program.hpp"

namespace heptad {
namespace {

using Row = std::map<int, Rational>;  // value -> coefficient

struct Pair {
    int x, y;        // x < y
    Rational ratio;  // coefficient of y over coefficient of x
    bool operator==(const Pair&) const = default;
};

struct PairHash {
    std::size_t operator()(const Pair& pair) const {
        std::size_t h = static_cast<std::size_t>(pair.x);
        for (const auto part : {static_cast<std::int64_t>(pair.y), pair.ratio.numerator(), pair.ratio.denominator()}) {
            h = h * 0x9E3779B97F4A7C15U + static_cast<std::size_t>(part);
            h ^= h >> 29U;
        }
        return h;
    }
};

/// A fixed scrambling of (pair number, order): ties are broken differently in every order but the same in every run.
std::uint64_t scrambled(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31U);
}

class Elimination {
public:
    Elimination(const CoefficientMatrix& matrix, int order) : order_(order) {
        program_.inputs = matrix.cols;
        rows_.resize(static_cast<std::size_t>(matrix.rows));
        for (int r = 0; r < matrix.rows; ++r) {
            for (int i = 0; i < matrix.cols; ++i) {
                if (!matrix(r, i).is_zero()) {
                    rows_[static_cast<std::size_t>(r)].emplace(i, matrix(r, i));
                }
            }
        }
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            const Row& row = rows_[r];
            for (auto x = row.begin(); x != row.end(); ++x) {
                for (auto y = std::next(x); y != row.end(); ++y) {
                    change_count({x->first, y->first, y->second / x->second}, r, true);
                }
            }
        }
    }

    LinearProgram run() {
        while (!queue_.empty() && queue_.begin()->negative_count <= -2) {
            eliminate(*pairs_.at(queue_.begin()->number));
        }
        for (const Row& row : rows_) {
            if (row.empty()) {
                program_.outputs.push_back({-1, 1});
            } else if (row.size() == 1) {
                program_.outputs.push_back({row.begin()->first, row.begin()->second});
            } else {
                LinearStatement sum;
                for (const auto& [value, coefficient] : row) {
                    sum.terms.push_back({value, coefficient});
                }
                program_.outputs.push_back({new_value(std::move(sum)), 1});
            }
        }
        return std::move(program_);
    }

private:
    struct Candidate {
        int negative_count;
        std::uint64_t tie;
        std::size_t number;
        auto operator<=>(const Candidate&) const = default;
    };
    struct Occurrences {
        std::size_t number;
        std::set<std::size_t> rows;
    };

    std::uint64_t tie_of(std::size_t number) const {
        switch (order_) {
            case 0:
                return number;  // oldest first
            case 1:
                return ~std::uint64_t{0} - number;  // newest first
            default:
                return scrambled(number * 1024 + static_cast<std::uint64_t>(order_));
        }
    }

    void change_count(const Pair& pair, std::size_t row, bool added) {
        const auto [entry, is_new] = occurrences_.try_emplace(pair);
        Occurrences& found = entry->second;
        if (is_new) {
            found.number = pairs_.size();
            pairs_.push_back(&entry->first);
        }
        const auto candidate = [&] {
            return Candidate{-static_cast<int>(found.rows.size()), tie_of(found.number), found.number};
        };
        queue_.erase(candidate());
        if (added) {
            found.rows.insert(row);
        } else {
            found.rows.erase(row);
        }
        if (found.rows.size() >= 2) {
            queue_.insert(candidate());
        }
    }

    void change_all_pairs_of(int value, const Rational& coefficient, std::size_t r, bool added) {
        for (const auto& [other, its] : rows_[r]) {
            if (other < value) {
                change_count({other, value, coefficient / its}, r, added);
            } else if (other > value) {
                change_count({value, other, its / coefficient}, r, added);
            }
        }
    }

    int new_value(LinearStatement statement) {
        program_.statements.push_back(std::move(statement));
        return program_.inputs + static_cast<int>(program_.statements.size()) - 1;
    }

    void eliminate(Pair pair) {
        const int value = new_value({{{pair.x, 1}, {pair.y, pair.ratio}}});
        const std::set<std::size_t> rows = occurrences_.at(pair).rows;
        for (const std::size_t r : rows) {
            const Rational coefficient = rows_[r].at(pair.x);
            change_all_pairs_of(pair.x, coefficient, r, false);
            rows_[r].erase(pair.x);
            change_all_pairs_of(pair.y, rows_[r].at(pair.y), r, false);
            rows_[r].erase(pair.y);
            change_all_pairs_of(value, coefficient, r, true);
            rows_[r].emplace(value, coefficient);
        }
    }

    int order_;
    LinearProgram program_;
    std::vector<Row> rows_;
    std::unordered_map<Pair, Occurrences, PairHash> occurrences_;
    std::vector<const Pair*> pairs_;  // by number; keys of an unordered_map stay where they are
    std::set<Candidate> queue_;
};

/// Orders tried: enough that small algorithms reach their known minimum, few where one already takes long.
int orders_for(const CoefficientMatrix& matrix) {
    const auto non_zero =
        std::count_if(matrix.entries.begin(), matrix.entries.end(), [](const Rational& x) { return !x.is_zero(); });
    return non_zero <= 100 ? 64 : non_zero <= 500 ? 16 : non_zero <= 2000 ? 4 : 1;
}

}  // namespace

LinearProgram share_subexpressions(const CoefficientMatrix& matrix, bool mod_2) {
    const CoefficientMatrix direct = mod_2 ? reduced_mod_2(matrix) : matrix;
    const CoefficientMatrix turned = transposed(direct);
    LinearProgram best = Elimination(direct, 0).run();
    const auto keep_better = [&](LinearProgram candidate) {
        if (candidate.additions() < best.additions()) {
            best = std::move(candidate);
        }
    };
    const int orders = orders_for(direct);
    for (int order = 1; order < orders; ++order) {
        keep_better(Elimination(direct, order).run());
    }
    for (int order = 0; order < orders; ++order) {
        keep_better(transposed(Elimination(turned, order).run()));
    }
    return best;
}

}  // namespace heptad

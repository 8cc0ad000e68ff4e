// Greedy elimination of common pairs: while some pair x + q y (q the ratio of its coefficients) occurs, up to a factor,
// in two rows or more, it becomes a value of its own in all of them. The most frequent pair goes first; which one among
// equals decides the quality, so several orders are tried and the best program is kept. A program for the transposed
// matrix, turned round, is a program for the matrix (transposition principle), so both are tried.
//
// Within a row, the values that remain always have disjoint sets of inputs, so the programs never cancel and no path
// is longer than the plain sum's: error bounds for the plain sums hold for the shared ones.
#include <algorithm>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>

#include "algorithm/linear_program.hpp"
#include "base/error.hpp"
#include "base/splitmix.hpp"

namespace heptad {
namespace {

struct Pair {
    int x, y;        // x < y
    Rational ratio;  // coefficient of y over coefficient of x
    bool operator==(const Pair&) const = default;
};

struct PairHash {
    std::size_t operator()(const Pair& pair) const {
        auto h = static_cast<std::size_t>(pair.x);
        for (const auto part : {static_cast<std::int64_t>(pair.y), pair.ratio.numerator(), pair.ratio.denominator()}) {
            h = h * 0x9E3779B97F4A7C15U + static_cast<std::size_t>(part);
            h ^= h >> 29U;
        }
        return h;
    }
};

class Elimination {
public:
    Elimination(const CoefficientMatrix& matrix, int order) : order_(order) {
        program_.inputs = matrix.cols;
        rows_.resize(static_cast<std::size_t>(matrix.rows));
        for (int r = 0; r < matrix.rows; ++r) {
            Row& row = rows_[static_cast<std::size_t>(r)];
            for (const LinearTerm& term : terms_of_row(matrix, r)) {
                change_all_pairs_of(term, r, true);
                row.push_back(term);
            }
        }
    }

    LinearProgram run() {
        while (const auto pair = most_frequent()) {
            eliminate(*pair);
        }
        for (const Row& row : rows_) {
            program_.outputs.push_back(program_.add_sum(row));
        }
        return std::move(program_);
    }

private:
    using Row = std::vector<LinearTerm>;  // in increasing order of values

    struct Candidate {
        int count = 0;
        std::uint64_t tie = 0;
        std::size_t number = 0;
        bool operator<(const Candidate& other) const {
            return count != other.count ? count < other.count : tie > other.tie;
        }
    };
    struct Occurrences {
        Pair pair;
        std::vector<int> rows;  // some may have lost the pair since; `count` tells how many still have it
        int count = 0;
    };

    std::uint64_t tie_of(std::size_t number) const {
        switch (order_) {
            case 0:
                return number;  // oldest first
            case 1:
                return ~std::uint64_t{0} - number;  // newest first
            default:                                // scrambled: otherwise in every order, but the same in every run
                return splitmix(number * 1024 + static_cast<std::uint64_t>(order_) + kSplitmixStep);
        }
    }

    void change_count(const Pair& pair, int row, bool added) {
        const auto [entry, is_new] = numbers_.try_emplace(pair, occurrences_.size());
        if (is_new) {
            occurrences_.push_back({pair, {}, 0});
        }
        Occurrences& found = occurrences_[entry->second];
        if (!added) {
            --found.count;
            return;
        }
        found.rows.push_back(row);
        if (++found.count >= 2) {
            queue_.push({found.count, tie_of(entry->second), entry->second});
        }
    }

    /// The queue may hold counts that have shrunk since; those go back with what is left of them.
    std::optional<Pair> most_frequent() {
        while (!queue_.empty()) {
            const Candidate top = queue_.top();
            queue_.pop();
            const Occurrences& found = occurrences_[top.number];
            if (found.count == top.count) {
                return found.pair;
            }
            if (found.count >= 2 && found.count < top.count) {
                queue_.push({found.count, top.tie, top.number});
            }
        }
        return std::nullopt;
    }

    void change_all_pairs_of(const LinearTerm& term, int r, bool added) {
        for (const LinearTerm& other : rows_[static_cast<std::size_t>(r)]) {
            if (other.value < term.value) {
                change_count({other.value, term.value, term.coefficient / other.coefficient}, r, added);
            } else if (other.value > term.value) {
                change_count({term.value, other.value, other.coefficient / term.coefficient}, r, added);
            }
        }
    }

    void eliminate(const Pair& pair) {
        const int value = program_.add_sum({{pair.x, 1}, {pair.y, pair.ratio}}).value;
        std::vector<int> rows = occurrences_[numbers_.at(pair)].rows;
        std::ranges::sort(rows);
        rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
        for (const int r : rows) {
            Row& row = rows_[static_cast<std::size_t>(r)];
            const auto find = [&](int wanted) {
                return std::ranges::find_if(row, [&](const LinearTerm& t) { return t.value == wanted; });
            };
            const auto x = find(pair.x);
            const auto y = find(pair.y);
            if (x == row.end() || y == row.end() || y->coefficient / x->coefficient != pair.ratio) {
                continue;
            }
            const LinearTerm x_term = *x;
            const LinearTerm y_term = *y;
            row.erase(y);
            row.erase(x);  // x stands before y
            change_all_pairs_of(x_term, r, false);
            change_all_pairs_of(y_term, r, false);
            change_count(pair, r, false);
            change_all_pairs_of({value, x_term.coefficient}, r, true);
            row.push_back({value, x_term.coefficient});
        }
    }

    int order_;
    LinearProgram program_;
    std::vector<Row> rows_;
    std::unordered_map<Pair, std::size_t, PairHash> numbers_;
    std::vector<Occurrences> occurrences_;  // by number
    std::priority_queue<Candidate> queue_;
};

/// What a program adds up, whatever the order and the signs: two that add up the same schedule alike.
std::set<std::string> sums_of(const LinearProgram& program) {
    std::vector<std::string> names;
    for (int i = 0; i < program.inputs; ++i) {
        names.push_back(std::to_string(i));
    }
    for (const LinearStatement& statement : program.statements) {
        std::vector<std::string> parts;
        for (const LinearTerm& term : statement.terms) {
            parts.push_back(names[static_cast<std::size_t>(term.value)]);
        }
        std::ranges::sort(parts);
        names.push_back(fmt::format("({})", fmt::join(parts, " ")));
    }
    return {names.begin() + program.inputs, names.end()};
}

/// Pairs of non-zeros that share a row: the work and the memory of an elimination.
std::int64_t pairs_in_rows(const CoefficientMatrix& matrix) {
    std::int64_t pairs = 0;
    for (int r = 0; r < matrix.rows; ++r) {
        const auto non_zeros = static_cast<std::int64_t>(terms_of_row(matrix, r).size());
        pairs += non_zeros * (non_zeros - 1) / 2;
    }
    return pairs;
}

/// Orders tried: enough that small algorithms reach their known minimum, few where one already takes long, and none
/// where it would take longer than a second or so.
int orders_for(const CoefficientMatrix& matrix) {
    const std::int64_t pairs = pairs_in_rows(matrix);
    return pairs <= 200 ? 64 : pairs <= 2000 ? 16 : pairs <= 20'000 ? 4 : pairs <= 500'000 ? 1 : 0;
}

}  // namespace

LinearProgram share_subexpressions(const CoefficientMatrix& matrix, bool mod_2) {
    const CoefficientMatrix direct = mod_2 ? reduced_mod_2(matrix) : matrix;
    const CoefficientMatrix turned = transposed(direct);
    LinearProgram best = plain_program(direct);
    const auto keep_better = [&](LinearProgram candidate) {
        if (candidate.additions() < best.additions()) {
            best = std::move(candidate);
        }
    };
    const int direct_orders = orders_for(direct);
    const int turned_orders = orders_for(turned);
    for (int order = 0; order < direct_orders; ++order) {
        keep_better(Elimination(direct, order).run());
    }
    for (int order = 0; order < turned_orders; ++order) {
        keep_better(transposed(Elimination(turned, order).run()));
    }
    return best;
}

std::vector<LinearProgram> sharing_choices(const CoefficientMatrix& matrix, bool mod_2, std::size_t limit) {
    constexpr int kOrders = 64;
    const CoefficientMatrix direct = mod_2 ? reduced_mod_2(matrix) : matrix;
    std::vector<LinearProgram> found;
    std::set<std::set<std::string>> seen;
    for (int order = 0; order < kOrders; ++order) {
        LinearProgram program = Elimination(direct, order).run();
        if (!found.empty() && program.additions() < found[0].additions()) {
            found.clear();
        }
        if ((found.empty() || program.additions() == found[0].additions()) && seen.insert(sums_of(program)).second) {
            found.push_back(std::move(program));
        }
    }
    found.resize(std::min(found.size(), limit));
    return found;
}

}  // namespace heptad

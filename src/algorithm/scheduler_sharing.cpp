// Which sums are shared decides what has to be kept: S2 = S1 - A11 and S2 = A22 - S3 cost one addition each, but live
// together with different values. This lists the equally good programs that pairwise elimination can end in.
#include <algorithm>
#include <map>
#include <set>

#include "algorithm/scheduler.hpp"

namespace heptad {
namespace {

using Row = std::map<int, Rational>;  // value -> coefficient

struct Elimination {
    std::vector<Row> rows;
    std::vector<LinearStatement> statements;
    int inputs = 0;
};

struct Pair {
    int x, y;        // x < y
    Rational ratio;  // of y's coefficient to x's
    bool operator<(const Pair& other) const {
        const auto key = [](const Pair& pair) {
            return std::make_tuple(pair.x, pair.y, pair.ratio.numerator(), pair.ratio.denominator());
        };
        return key(*this) < key(other);
    }
};

/// The most frequent pairs; empty when none occurs twice.
std::vector<Pair> most_frequent_pairs(const std::vector<Row>& rows) {
    std::map<Pair, int> counts;
    int most = 2;
    for (const Row& row : rows) {
        for (auto x = row.begin(); x != row.end(); ++x) {
            for (auto y = std::next(x); y != row.end(); ++y) {
                most = std::max(most, ++counts[{x->first, y->first, y->second / x->second}]);
            }
        }
    }
    std::vector<Pair> pairs;
    for (const auto& [pair, count] : counts) {
        if (count == most) {
            pairs.push_back(pair);
        }
    }
    return pairs;
}

Elimination eliminated(Elimination state, const Pair& pair) {
    const int value = state.inputs + static_cast<int>(state.statements.size());
    state.statements.push_back({{{pair.x, 1}, {pair.y, pair.ratio}}});
    for (Row& row : state.rows) {
        const auto x = row.find(pair.x);
        const auto y = row.find(pair.y);
        if (x != row.end() && y != row.end() && y->second / x->second == pair.ratio) {
            const Rational coefficient = x->second;
            row.erase(x);
            row.erase(y);
            row.emplace(value, coefficient);
        }
    }
    return state;
}

LinearProgram finished(const Elimination& state) {
    LinearProgram program;
    program.inputs = state.inputs;
    program.statements = state.statements;
    for (const Row& row : state.rows) {
        std::vector<LinearTerm> terms;
        for (const auto& [value, coefficient] : row) {
            terms.push_back({value, coefficient});
        }
        program.outputs.push_back(program.add_sum(std::move(terms)));
    }
    return program;
}

/// The values that the program makes, whatever their order: two programs that make the same ones schedule alike.
std::string fingerprint(const LinearProgram& program) {
    std::vector<std::map<int, Rational>> forms;
    std::set<std::string> names;
    for (int i = 0; i < program.inputs; ++i) {
        forms.push_back({{i, 1}});
    }
    const auto name_of = [&](int value) {
        const auto& form = forms[static_cast<std::size_t>(value)];
        // up to a factor
        const Rational first = form.begin()->second;
        std::string name;
        for (const auto& [input, coefficient] : form) {
            name += std::to_string(input) + ":" + (coefficient / first).to_string() + " ";
        }
        return name;
    };
    for (const LinearStatement& statement : program.statements) {
        std::map<int, Rational> form;
        std::vector<std::string> parts;
        for (const LinearTerm& term : statement.terms) {
            parts.push_back(name_of(term.value));
            for (const auto& [input, coefficient] : forms[static_cast<std::size_t>(term.value)]) {
                form[input] = form[input] + term.coefficient * coefficient;
            }
        }
        std::sort(parts.begin(), parts.end());
        std::string text;
        for (const std::string& part : parts) {
            text += part + "|";
        }
        forms.push_back(std::move(form));
        names.insert(text);
    }
    std::string all;
    for (const std::string& name : names) {
        all += name + ";";
    }
    return all;
}

}  // namespace

std::vector<LinearProgram> sharing_choices(const CoefficientMatrix& matrix, bool mod_2, std::size_t limit) {
    const CoefficientMatrix direct = mod_2 ? reduced_mod_2(matrix) : matrix;
    Elimination start;
    start.inputs = matrix.cols;
    for (int r = 0; r < direct.rows; ++r) {
        Row row;
        for (const LinearTerm& term : terms_of_row(direct, r)) {
            row.emplace(term.value, term.coefficient);
        }
        start.rows.push_back(std::move(row));
    }
    // Depth first, so that the first leaf is the greedy program; the number of visited states is bounded.
    constexpr std::size_t max_states = 400;
    std::vector<Elimination> stack = {start};
    std::vector<LinearProgram> found;
    std::set<std::string> seen;
    for (std::size_t visited = 0; !stack.empty() && visited < max_states; ++visited) {
        const Elimination state = std::move(stack.back());
        stack.pop_back();
        const std::vector<Pair> pairs = most_frequent_pairs(state.rows);
        for (auto pair = pairs.rbegin(); pair != pairs.rend(); ++pair) {
            stack.push_back(eliminated(state, *pair));
        }
        if (!pairs.empty()) {
            continue;
        }
        LinearProgram program = finished(state);
        if (!found.empty() && program.additions() < found[0].additions()) {
            found.clear();
            seen.clear();
        }
        if ((found.empty() || program.additions() == found[0].additions()) &&
            seen.insert(fingerprint(program)).second) {
            found.push_back(std::move(program));
        }
    }
    found.resize(std::min(found.size(), limit));
    return found;
}

}  // namespace heptad

// Evaluation and transposition of straight-line programs; how they are found is in share_subexpressions.cpp.
#include "algorithm/linear_program.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace heptad {

int LinearProgram::additions() const {
    return std::accumulate(statements.begin(), statements.end(), 0, [](int sum, const LinearStatement& statement) {
        return sum + std::max(static_cast<int>(statement.terms.size()) - 1, 0);
    });
}

CoefficientMatrix evaluate(const LinearProgram& program) {
    const int values = program.inputs + static_cast<int>(program.statements.size());
    CoefficientMatrix all(values, program.inputs);  // row v: value v in terms of the inputs
    const auto accumulate = [&](CoefficientMatrix& into, int row, const LinearTerm& term, int known_values) {
        if (term.value < 0 || term.value >= known_values) {
            fail(ErrorCode::internal, "a linear program uses value {} where {} are known", term.value, known_values);
        }
        for (int i = 0; i < program.inputs; ++i) {
            if (!all(term.value, i).is_zero()) {
                into(row, i) = into(row, i) + term.coefficient * all(term.value, i);
            }
        }
    };
    for (int i = 0; i < program.inputs; ++i) {
        all(i, i) = 1;
    }
    for (std::size_t s = 0; s < program.statements.size(); ++s) {
        const int value = program.inputs + static_cast<int>(s);
        for (const LinearTerm& term : program.statements[s].terms) {
            accumulate(all, value, term, value);
        }
    }
    CoefficientMatrix result(static_cast<int>(program.outputs.size()), program.inputs);
    for (std::size_t r = 0; r < program.outputs.size(); ++r) {
        if (program.outputs[r].value != -1) {
            accumulate(result, static_cast<int>(r), program.outputs[r], values);
        }
    }
    return result;
}

LinearProgram transposed(const LinearProgram& program) {
    // Every edge of the graph of values is turned round: the old outputs become inputs, an old value is the sum over
    // its old uses, and the old inputs become outputs. Paths keep their coefficients, so the matrix is transposed.
    LinearProgram result;
    result.inputs = static_cast<int>(program.outputs.size());
    const std::size_t values = static_cast<std::size_t>(program.inputs) + program.statements.size();
    std::vector<std::vector<LinearTerm>> uses(values);  // in terms of values of the result
    const auto add_use = [&](const LinearTerm& edge, const LinearTerm& user) {
        uses[static_cast<std::size_t>(edge.value)].push_back({user.value, edge.coefficient * user.coefficient});
    };
    for (int r = 0; r < result.inputs; ++r) {
        const LinearTerm& output = program.outputs[static_cast<std::size_t>(r)];
        if (output.value != -1) {
            add_use(output, {r, 1});
        }
    }
    const auto value_of = [&](const std::vector<LinearTerm>& terms) -> LinearTerm {
        if (terms.empty()) {
            return {-1, 1};
        }
        if (terms.size() == 1) {
            return terms.front();
        }
        result.statements.push_back({terms});
        return {result.inputs + static_cast<int>(result.statements.size()) - 1, 1};
    };
    for (std::size_t s = program.statements.size(); s-- > 0;) {
        const LinearTerm value = value_of(uses[static_cast<std::size_t>(program.inputs) + s]);
        if (value.value != -1) {
            for (const LinearTerm& term : program.statements[s].terms) {
                add_use(term, value);
            }
        }
    }
    for (int i = 0; i < program.inputs; ++i) {
        result.outputs.push_back(value_of(uses[static_cast<std::size_t>(i)]));
    }
    return result;
}

}  // namespace heptad

// Making and transposing straight-line programs; how they are found is in share_subexpressions.cpp.
#include "algorithm/linear_program.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace heptad {

int LinearProgram::additions() const {
    return std::accumulate(statements.begin(), statements.end(), 0, [](int sum, const LinearStatement& statement) {
        return sum + std::max(static_cast<int>(statement.terms.size()) - 1, 0);
    });
}

LinearTerm LinearProgram::add_sum(std::vector<LinearTerm> terms) {
    if (terms.size() <= 1) {
        return terms.empty() ? LinearTerm{-1, 1} : terms.front();
    }
    statements.push_back({std::move(terms)});
    return {inputs + static_cast<int>(statements.size()) - 1, 1};
}

std::vector<LinearTerm> terms_of_row(const CoefficientMatrix& matrix, int row) {
    std::vector<LinearTerm> terms;
    for (int i = 0; i < matrix.cols; ++i) {
        if (!matrix(row, i).is_zero()) {
            terms.push_back({i, matrix(row, i)});
        }
    }
    return terms;
}

LinearProgram plain_program(const CoefficientMatrix& matrix) {
    LinearProgram program;
    program.inputs = matrix.cols;
    for (int r = 0; r < matrix.rows; ++r) {
        program.outputs.push_back(program.add_sum(terms_of_row(matrix, r)));
    }
    return program;
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
    for (std::size_t s = program.statements.size(); s-- > 0;) {
        const LinearTerm value = result.add_sum(uses[static_cast<std::size_t>(program.inputs) + s]);
        if (value.value != -1) {
            for (const LinearTerm& term : program.statements[s].terms) {
                add_use(term, value);
            }
        }
    }
    for (int i = 0; i < program.inputs; ++i) {
        result.outputs.push_back(result.add_sum(uses[static_cast<std::size_t>(i)]));
    }
    return result;
}

}  // namespace heptad

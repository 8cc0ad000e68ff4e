// The matrix that a straight-line program computes.
#pragma once

#include "algorithm/linear_program.hpp"
#include "base/error.hpp"

namespace heptad {

inline CoefficientMatrix evaluate(const LinearProgram& program) {
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

}  // namespace heptad

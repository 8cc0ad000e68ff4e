// The algorithm as a graph of values that a schedule computes, with signs moved to where they cost nothing.
#include <numeric>

#include "algorithm/scheduler.hpp"
#include "base/fail_if.hpp"

namespace heptad {
namespace {

OperandGraph make_operand(const Algorithm& algorithm, const LinearProgram& program, const char* letter,
                          std::vector<Rational>& factors) {
    OperandGraph graph;
    graph.inputs = program.inputs;
    graph.statements = program.statements;
    const std::size_t values = static_cast<std::size_t>(program.inputs) + program.statements.size();
    graph.uses.assign(values, 0);
    graph.consumers.assign(values, {});
    for (std::size_t s = 0; s < program.statements.size(); ++s) {
        for (const LinearTerm& term : program.statements[s].terms) {
            ++graph.uses[static_cast<std::size_t>(term.value)];
            graph.consumers[static_cast<std::size_t>(term.value)].push_back(static_cast<int>(s));
        }
    }
    for (std::size_t s = 0; s < program.outputs.size(); ++s) {
        const LinearTerm& output = program.outputs[s];
        fail_if(output.value < 0 || output.coefficient.is_zero(), ErrorCode::input,
                "{}: product {} takes no block of {}; leave the product out", algorithm.name, s + 1, letter);
        graph.operand.push_back(output.value);
        ++graph.uses[static_cast<std::size_t>(output.value)];
        factors[s] = factors[s] * output.coefficient;
    }
    return graph;
}

}  // namespace

int SchedulerGraph::additions() const {
    int count = 0;
    for (const OperandGraph* graph : {&a, &b}) {
        for (const LinearStatement& statement : graph->statements) {
            count += static_cast<int>(statement.terms.size()) - 1;
        }
    }
    for (const Accumulator& accumulator : accumulators) {
        count += static_cast<int>(accumulator.terms.size()) - 1;
    }
    return count;
}

LinearProgram with_coprime_coefficients(const LinearProgram& program) {
    LinearProgram result = program;
    std::vector<Rational> factors(static_cast<std::size_t>(program.inputs), Rational(1));  // old value over new
    for (LinearStatement& statement : result.statements) {
        std::int64_t divisor = 0;
        std::int64_t denominator = 1;
        for (LinearTerm& term : statement.terms) {
            term.coefficient = term.coefficient * factors[static_cast<std::size_t>(term.value)];
            divisor = std::gcd(divisor, term.coefficient.numerator());
            denominator = std::lcm(denominator, term.coefficient.denominator());
        }
        const Rational content(divisor, denominator);
        for (LinearTerm& term : statement.terms) {
            term.coefficient = term.coefficient / content;
        }
        factors.push_back(content);
    }
    for (LinearTerm& output : result.outputs) {
        if (output.value >= 0) {
            output.coefficient = output.coefficient * factors[static_cast<std::size_t>(output.value)];
        }
    }
    return result;
}

SchedulerGraph make_graph(const Algorithm& algorithm, const LinearProgram& sums_a, const LinearProgram& sums_b,
                          const LinearProgram& sums_c, bool accumulate) {
    SchedulerGraph graph;
    graph.m = algorithm.m;
    graph.k = algorithm.k;
    graph.n = algorithm.n;
    graph.rank = algorithm.rank();
    graph.accumulates = accumulate;
    // Product s is factor_s * (value of A) * (value of B); the factor joins the coefficients of its consumers.
    std::vector<Rational> factors(static_cast<std::size_t>(graph.rank), Rational(1));
    graph.a = make_operand(algorithm, sums_a, "A", factors);
    graph.b = make_operand(algorithm, sums_b, "B", factors);

    const std::size_t statements = sums_c.statements.size();
    std::vector<int> readers(statements, 0);
    std::vector<int> outputs_of(statements, 0);
    const auto statement_of = [&](const LinearTerm& term) { return term.value - graph.rank; };
    for (const LinearStatement& statement : sums_c.statements) {
        for (const LinearTerm& term : statement.terms) {
            if (statement_of(term) >= 0) {
                ++readers[static_cast<std::size_t>(statement_of(term))];
            }
        }
    }
    for (const LinearTerm& output : sums_c.outputs) {
        fail_if(output.value < 0, ErrorCode::input, "{}: a block of C is not a sum of products", algorithm.name);
        if (statement_of(output) >= 0) {
            ++outputs_of[static_cast<std::size_t>(statement_of(output))];
        }
    }
    for (const LinearStatement& statement : sums_c.statements) {
        graph.accumulators.push_back({statement.terms, -1});
    }
    for (std::size_t l = 0; l < sums_c.outputs.size(); ++l) {
        const LinearTerm& output = sums_c.outputs[l];
        const int statement = statement_of(output);
        const auto at = static_cast<std::size_t>(statement);
        // A statement that is one output and nothing else becomes that output; one that others read as well may do so
        // only where the old C is not part of it.
        const bool alone = statement >= 0 && outputs_of[at] == 1 && readers[at] == 0;
        const bool shared = statement >= 0 && outputs_of[at] == 1 && !accumulate && output.coefficient == Rational(1);
        if (alone || shared) {
            graph.accumulators[at].output = static_cast<int>(l);
            for (LinearTerm& term : graph.accumulators[at].terms) {
                term.coefficient = term.coefficient * output.coefficient;
            }
        } else {
            graph.accumulators.push_back({{output}, static_cast<int>(l)});
        }
    }
    int terms = 0;
    for (const Accumulator& accumulator : graph.accumulators) {
        graph.first_term.push_back(terms);
        terms += static_cast<int>(accumulator.terms.size());
    }
    graph.uses.assign(static_cast<std::size_t>(graph.rank) + graph.accumulators.size(), 0);
    graph.consumers.assign(graph.uses.size(), {});
    for (std::size_t q = 0; q < graph.accumulators.size(); ++q) {
        for (LinearTerm& term : graph.accumulators[q].terms) {
            if (term.value < graph.rank) {
                term.coefficient = term.coefficient * factors[static_cast<std::size_t>(term.value)];
            }
            ++graph.uses[static_cast<std::size_t>(term.value)];
            graph.consumers[static_cast<std::size_t>(term.value)].push_back(static_cast<int>(q));
        }
    }
    for (int s = 0; s < graph.rank; ++s) {
        fail_if(graph.uses[static_cast<std::size_t>(s)] == 0, ErrorCode::input,
                "{}: product {} is used nowhere; leave it out", algorithm.name, s + 1);
    }
    return graph;
}

}  // namespace heptad

#include "run/dense/combine_passes.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "run/dense/level_runner.hpp"

namespace heptad {
namespace {

std::vector<CombineTerm> to_terms(const std::vector<LinearTerm>& terms) {
    std::vector<CombineTerm> result;
    result.reserve(terms.size());
    for (const LinearTerm& term : terms) {
        result.push_back({term.value, term.coefficient.to_double()});
    }
    return result;
}

View scratch_like(const View& view) {
    return {nullptr, view.type, view.rows, view.cols, 0, 0};
}

bool reads(const CombineStatement& statement, int slot) {
    return std::any_of(statement.terms.begin(), statement.terms.end(),
                       [&](const CombineTerm& t) { return t.source == slot; });
}

/// Appends statements that all read the values from before any of them. One whose target nobody else still reads goes
/// first; where they form a cycle, one of them is kept in scratch until the others are done.
void append_simultaneous(CombinePass& pass, std::vector<CombineStatement> pending) {
    std::vector<CombineStatement> delayed;
    while (!pending.empty()) {
        auto ready = std::find_if(pending.begin(), pending.end(), [&](const CombineStatement& candidate) {
            return std::none_of(pending.begin(), pending.end(), [&](const CombineStatement& other) {
                return &other != &candidate && reads(other, candidate.target);
            });
        });
        if (ready == pending.end()) {
            ready = pending.begin();
            const int scratch = static_cast<int>(pass.slots.size());
            pass.slots.push_back(scratch_like(pass.slots[static_cast<std::size_t>(ready->target)]));
            delayed.push_back({ready->target, {{scratch, 1}}});
            ready->target = scratch;
        }
        pass.statements.push_back(std::move(*ready));
        pending.erase(ready);
    }
    pass.statements.insert(pass.statements.end(), delayed.begin(), delayed.end());
}

}  // namespace

CombinePass operand_pass(const LinearProgram& program, const OperandLayout& layout, const LinedBlocks& from,
                         const LinedBlocks& to) {
    const std::vector<View>&blocks = from.views, &stored = to.views;
    CombinePass pass;
    pass.slots = blocks;
    pass.exponents = from.lines;
    const auto add_lines = [&](int slot) {
        if (!from.lines.empty()) {
            pass.exponents.push_back(slot >= 0 ? to.lines[static_cast<std::size_t>(slot)] : LineExponents{});
        }
    };
    for (std::size_t s = 0; s < program.statements.size(); ++s) {
        const int value = program.inputs + static_cast<int>(s);
        const int slot = layout.batched ? -1 : layout.slot_of_value[static_cast<std::size_t>(value)];
        pass.slots.push_back(slot >= 0 ? stored[static_cast<std::size_t>(slot)] : scratch_like(blocks.front()));
        add_lines(slot);
        pass.statements.push_back({value, to_terms(program.statements[s].terms)});
    }
    for (std::size_t r = 0; layout.batched && r < program.outputs.size(); ++r) {
        const LinearTerm& output = program.outputs[r];
        pass.statements.push_back({static_cast<int>(pass.slots.size()), {}});
        if (output.value >= 0) {
            pass.statements.back().terms.push_back({output.value, output.coefficient.to_double()});
        }
        pass.slots.push_back(stored[r]);
        add_lines(static_cast<int>(r));
    }
    pass.written_exponents = pass.exponents;
    return pass;
}

std::optional<InnerBlocks> inner_blocks(const LinearProgram& a, const OperandLayout& a_layout, int a_across,
                                        const LinearProgram& b, const OperandLayout& b_layout, int b_across) {
    const auto stored_slot = [](const OperandLayout& layout, std::size_t product, int value) {
        return layout.batched ? static_cast<int>(product) : layout.slot_of_value[static_cast<std::size_t>(value)];
    };
    InnerBlocks inner{std::vector<int>(a.outputs.size(), -1),
                      std::vector<int>(static_cast<std::size_t>(a_layout.stored), -1),
                      std::vector<int>(static_cast<std::size_t>(b_layout.stored), -1)};
    std::vector<bool> is_used_a(inner.of_sums_a.size()), is_used_b(inner.of_sums_b.size());
    for (std::size_t r = 0; r < a.outputs.size(); ++r) {
        const int left = a.outputs[r].value, right = b.outputs[r].value;
        const bool left_lies = !a_layout.batched && left >= 0 && left < a.inputs;
        const bool right_lies = !b_layout.batched && right >= 0 && right < b.inputs;
        const int of_left = left_lies ? left % a_across : -1, of_right = right_lies ? right / b_across : -1;
        if (left_lies && right_lies && of_left != of_right) {
            return std::nullopt;
        }
        inner.of_products[r] = std::max(of_left, of_right);
        const auto set = [&](std::vector<int>& sums, std::vector<bool>& is_used, int slot) {
            const auto at = static_cast<std::size_t>(slot);
            const bool agrees = !is_used[at] || sums[at] == inner.of_products[r];
            is_used[at] = true;
            sums[at] = inner.of_products[r];
            return agrees;
        };
        if ((!left_lies && left >= 0 && !set(inner.of_sums_a, is_used_a, stored_slot(a_layout, r, left))) ||
            (!right_lies && right >= 0 && !set(inner.of_sums_b, is_used_b, stored_slot(b_layout, r, right)))) {
            return std::nullopt;
        }
    }
    return inner;
}

std::vector<ScaledBlock> product_operands(const LinearProgram& program, const OperandLayout& layout,
                                          const std::vector<View>& blocks, const std::vector<View>& stored) {
    std::vector<ScaledBlock> operands;
    if (layout.batched) {
        operands.reserve(stored.size());
        for (const View& block : stored) {
            operands.push_back({block, 1});
        }
        return operands;
    }
    for (const LinearTerm& output : program.outputs) {
        if (output.value < 0) {
            operands.push_back({blocks.front(), 0});  // a product with a zero operand: nothing is read
        } else if (output.value < program.inputs) {
            operands.push_back({blocks[static_cast<std::size_t>(output.value)], output.coefficient.to_double()});
        } else {
            const int slot = layout.slot_of_value[static_cast<std::size_t>(output.value)];
            operands.push_back({stored[static_cast<std::size_t>(slot)], output.coefficient.to_double()});
        }
    }
    return operands;
}

CombinePass result_pass(const LinearProgram& program, const LinedBlocks& from, double beta, const LinedBlocks& to) {
    const std::vector<View>&products = from.views, &c_blocks = to.views;
    CombinePass pass;
    pass.slots = products;
    // A sum that is one output and nothing else goes straight to C; the others are scratch.
    std::vector<int> uses(static_cast<std::size_t>(program.inputs) + program.statements.size(), 0);
    for (const LinearStatement& statement : program.statements) {
        for (const LinearTerm& term : statement.terms) {
            uses[static_cast<std::size_t>(term.value)] += 1;
        }
    }
    for (const LinearTerm& output : program.outputs) {
        if (output.value >= 0) {
            uses[static_cast<std::size_t>(output.value)] += 1;
        }
    }
    const auto goes_straight = [&](const LinearTerm& output) {
        return output.value >= program.inputs && uses[static_cast<std::size_t>(output.value)] == 1;
    };
    std::vector<bool> skipped(uses.size(), false);
    for (const LinearTerm& output : program.outputs) {
        if (goes_straight(output)) {
            skipped[static_cast<std::size_t>(output.value)] = true;
        }
    }
    for (std::size_t s = 0; s < program.statements.size(); ++s) {
        const int value = program.inputs + static_cast<int>(s);
        pass.slots.push_back(scratch_like(c_blocks.front()));
        if (!skipped[static_cast<std::size_t>(value)]) {
            pass.statements.push_back({value, to_terms(program.statements[s].terms)});
        }
    }
    std::vector<CombineStatement> outputs;
    std::vector<int> targets;
    for (std::size_t l = 0; l < c_blocks.size(); ++l) {
        auto target = static_cast<int>(l);
        const bool holds_product = l < products.size() && products[l].data == c_blocks[l].data;
        if (!holds_product) {  // otherwise one slot for both
            target = static_cast<int>(pass.slots.size());
            pass.slots.push_back(c_blocks[l]);
        }
        targets.push_back(target);
        const LinearTerm& output = program.outputs[l];
        CombineStatement statement{target, {}};
        if (goes_straight(output)) {
            statement.terms =
                to_terms(program.statements[static_cast<std::size_t>(output.value - program.inputs)].terms);
            for (CombineTerm& term : statement.terms) {
                term.coefficient *= output.coefficient.to_double();
            }
        } else if (output.value >= 0) {
            statement.terms = {{output.value, output.coefficient.to_double()}};
        }
        if (beta != 0) {
            statement.terms.push_back({target, beta});
        }
        outputs.push_back(std::move(statement));
    }
    append_simultaneous(pass, std::move(outputs));
    if (!from.lines.empty()) {
        pass.exponents = from.lines;
        pass.exponents.resize(pass.slots.size());
        pass.written_exponents.resize(pass.slots.size());
        for (std::size_t l = 0; l < c_blocks.size(); ++l) {
            const auto target = static_cast<std::size_t>(targets[l]);
            pass.written_exponents[target] = to.lines[l];
            if (target >= products.size()) {
                pass.exponents[target] = to.lines[l];
            }
        }
    }
    return pass;
}

LineExponents ScheduleBlocks::lines_of(const Symbol& symbol) const {
    const auto found = lines.find(symbol);
    return found == lines.end() ? LineExponents{} : found->second;
}

View ScheduleBlocks::view(const Symbol& symbol, Shape shape) const {
    if (const auto found = moved.find(symbol); found != moved.end()) {
        return found->second;
    }
    const auto i = static_cast<std::size_t>(symbol.index);
    switch (symbol.kind) {
        case SymbolKind::a:
            return a[i];
        case SymbolKind::b:
            return b[i];
        case SymbolKind::c:
            return c[i];
        case SymbolKind::temporary:
            break;
    }
    const View& example = shape == Shape::a ? a.front() : shape == Shape::b ? b.front() : c.front();
    const ConstView& like = shape == Shape::a ? like_a : shape == Shape::b ? like_b : like_c;
    return storage_view(temporaries[i], like, example.rows, example.cols, padded);
}

CombinePass schedule_pass(const Schedule& schedule, const CombineRun& run, ScheduleBlocks& blocks) {
    CombinePass pass;
    std::vector<Symbol> written;
    std::map<Symbol, int> slots;
    const auto slot_of = [&](const Symbol& symbol) {
        const auto [found, added] = slots.try_emplace(symbol, static_cast<int>(pass.slots.size()));
        if (added) {
            pass.slots.push_back(blocks.view(symbol, run.shape));
        }
        return found->second;
    };
    for (int i = run.first; i < run.last; ++i) {
        std::vector<CombineStatement> outputs;
        for (const CombineOutput& output : schedule.steps[static_cast<std::size_t>(i)].outputs) {
            CombineStatement statement{slot_of(output.target), {}};
            written.push_back(output.target);
            for (const ScheduleTerm& term : output.terms) {
                statement.terms.push_back({slot_of(term.symbol), term.coefficient.to_double()});
            }
            outputs.push_back(std::move(statement));
        }
        // Scratch slots are appended behind the named ones, so later symbols must not take their numbers: slot_of uses
        // the current size and stays right.
        append_simultaneous(pass, std::move(outputs));
    }
    if (blocks.lined) {
        pass.exponents.resize(pass.slots.size());
        pass.written_exponents.resize(pass.slots.size());
        for (const auto& [symbol, slot] : slots) {
            pass.exponents[static_cast<std::size_t>(slot)] = blocks.lines_of(symbol);
        }
        for (const Symbol& symbol : written) {
            blocks.lines.erase(symbol);
        }
    }
    return pass;
}

std::vector<CombinePass> basis_passes(const CoefficientMatrix& basis, const ConstView& from, const View& to,
                                      int grid_rows, int grid_cols, int depth) {
    std::vector<CombinePass> passes;
    if (depth == 0) {
        return passes;
    }
    const std::vector<View> sources = blocks_of(from, grid_rows, grid_cols);
    const std::vector<View> targets = blocks_of(to, grid_rows, grid_cols);
    const bool in_place = from.data == to.data;
    CombinePass pass;
    pass.slots = targets;
    if (!in_place) {
        pass.slots.insert(pass.slots.end(), sources.begin(), sources.end());
    }
    const int offset = in_place ? 0 : static_cast<int>(targets.size());
    std::vector<CombineStatement> outputs;
    for (int i = 0; i < basis.rows; ++i) {
        CombineStatement statement{i, {}};
        for (int j = 0; j < basis.cols; ++j) {
            if (!basis(i, j).is_zero()) {
                statement.terms.push_back({offset + j, basis(i, j).to_double()});
            }
        }
        const bool unchanged = in_place && statement.terms.size() == 1 && statement.terms.front().source == i &&
                               statement.terms.front().coefficient == 1;
        if (!unchanged) {
            outputs.push_back(std::move(statement));
        }
    }
    append_simultaneous(pass, std::move(outputs));
    passes.push_back(std::move(pass));
    for (const View& target : targets) {
        for (CombinePass& inner : basis_passes(basis, target, target, grid_rows, grid_cols, depth - 1)) {
            passes.push_back(std::move(inner));
        }
    }
    return passes;
}

}  // namespace heptad

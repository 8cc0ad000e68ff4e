#include "algorithm/scheduler_simulation.hpp"

#include <algorithm>

namespace heptad {
namespace {

std::size_t as_index(int index) {
    return static_cast<std::size_t>(index);
}

}  // namespace

Simulation::Simulation(const SchedulerGraph& graph, Recording* recording) : graph_(&graph), recording_(recording) {
    const auto reserve = [&](std::size_t count) {
        const std::size_t begin = book_.size();
        book_.resize(begin + count);
        return begin;
    };
    const auto prepare = [&](const OperandGraph& from, Operand& operand) {
        operand.left = reserve(from.uses.size());
        std::copy(from.uses.begin(), from.uses.end(), book_.begin() + static_cast<std::ptrdiff_t>(operand.left));
        operand.made = reserve(from.statements.size());
        operand.reg.assign(recording_ != nullptr ? from.statements.size() : 0, -1);
    };
    prepare(graph.a, a_);
    prepare(graph.b, b_);
    const std::size_t sums = graph.accumulators.size();
    left_c_ = reserve(graph.uses.size());
    std::copy(graph.uses.begin(), graph.uses.end(), book_.begin() + static_cast<std::ptrdiff_t>(left_c_));
    available_ = reserve(graph.uses.size());
    terms_left_ = reserve(sums);
    begun_ = reserve(sums);
    taken_ = reserve(sums == 0 ? 0 : as_index(graph.first_term.back()) + graph.accumulators.back().terms.size());
    if (recording_ != nullptr) {
        value_reg_.assign(graph.uses.size(), -1);
        sum_reg_.assign(sums, -1);
        recording_->final_registers.assign(as_index(graph.m * graph.n), -1);
        recording_->old_c.assign(graph.accumulates ? as_index(graph.m * graph.n) : 0, -1);
    }
    for (int q = 0; q < static_cast<int>(sums); ++q) {
        const Accumulator& sum = graph.accumulators[as_index(q)];
        book(terms_left_, q) = static_cast<std::int16_t>(sum.terms.size());
        if (sum.output < 0) {
            continue;
        }
        ++book(left_c_, graph.rank + q);
        if (graph.accumulates) {
            book(begun_, q) = 1;
            ++live_c_;
            if (recording_ != nullptr) {
                sum_reg_[as_index(q)] = new_register(Shape::c);
                recording_->old_c[as_index(sum.output)] = sum_reg_[as_index(q)];
            }
        }
    }
}

void Simulation::note_peak() {
    peak_ = std::max(peak_, live_a_ + live_b_ + std::max(0, live_c_ - graph_->m * graph_->n));
}

int Simulation::new_register(Shape shape) {
    recording_->shapes.push_back(shape);
    return static_cast<int>(recording_->shapes.size()) - 1;
}

RecordedOp::Term Simulation::operand_term(const OperandGraph& graph, const Operand& operand, Shape shape, int value,
                                          Rational coefficient) const {
    if (value < graph.inputs) {
        return {{shape == Shape::a ? SymbolKind::a : SymbolKind::b, value}, -1, coefficient};
    }
    return {{}, operand.reg[as_index(value - graph.inputs)], coefficient};
}

void Simulation::read_operand(const OperandGraph& graph, Operand& operand, Shape shape, int value) {
    if (--book(operand.left, value) == 0 && value >= graph.inputs) {
        --(shape == Shape::a ? live_a_ : live_b_);
    }
}

void Simulation::make_operand(const OperandGraph& graph, Operand& operand, Shape shape, int value) {
    if (value < graph.inputs || book(operand.made, value - graph.inputs) != 0) {
        return;
    }
    const LinearStatement& statement = graph.statements[as_index(value - graph.inputs)];
    for (const LinearTerm& term : statement.terms) {
        make_operand(graph, operand, shape, term.value);
    }
    book(operand.made, value - graph.inputs) = 1;
    ++operations_;
    if (recording_ != nullptr) {
        RecordedOp op;
        for (const LinearTerm& term : statement.terms) {
            op.terms.push_back(operand_term(graph, operand, shape, term.value, term.coefficient));
        }
        op.target = operand.reg[as_index(value - graph.inputs)] = new_register(shape);
        recording_->ops.push_back(std::move(op));
    }
    for (const LinearTerm& term : statement.terms) {
        read_operand(graph, operand, shape, term.value);
    }
    ++(shape == Shape::a ? live_a_ : live_b_);
    note_peak();
}

void Simulation::play(int s) {
    make_operand(graph_->a, a_, Shape::a, graph_->a.operand[as_index(s)]);
    make_operand(graph_->b, b_, Shape::b, graph_->b.operand[as_index(s)]);
    multiply(s);
    read_operand(graph_->a, a_, Shape::a, graph_->a.operand[as_index(s)]);
    read_operand(graph_->b, b_, Shape::b, graph_->b.operand[as_index(s)]);
    settle(false);
}

void Simulation::multiply(int s) {
    // A product for one sum only, already begun, is added where it belongs.
    const int q = graph_->accumulates && graph_->uses[as_index(s)] == 1 ? graph_->consumers[as_index(s)][0] : -1;
    const LinearTerm* added = nullptr;
    if (q >= 0 && book(begun_, q) != 0) {
        const auto& terms = graph_->accumulators[as_index(q)].terms;
        const auto term = std::ranges::find_if(terms, [&](const LinearTerm& t) { return t.value == s; });
        if (term->coefficient.abs() == Rational(1)) {
            added = &*term;
            taken(q, static_cast<std::size_t>(term - terms.begin())) = 1;
            --book(left_c_, s);
            --book(terms_left_, q);
        }
    }
    if (added == nullptr) {
        ++live_c_;
        book(available_, s) = 1;
        touched_.insert(touched_.end(), graph_->consumers[as_index(s)].begin(), graph_->consumers[as_index(s)].end());
    }
    if (recording_ != nullptr) {
        RecordedOp op;
        op.product = true;
        op.terms = {operand_term(graph_->a, a_, Shape::a, graph_->a.operand[as_index(s)], 1),
                    operand_term(graph_->b, b_, Shape::b, graph_->b.operand[as_index(s)], 1)};
        if (added != nullptr) {
            const bool plus = added->coefficient == Rational(1);
            op.update = plus ? ScheduleStep::Update::add : ScheduleStep::Update::subtract;
            op.target = sum_reg_[as_index(q)];
        } else {
            op.target = value_reg_[as_index(s)] = new_register(Shape::c);
        }
        recording_->ops.push_back(std::move(op));
    }
    note_peak();
    if (added != nullptr && book(terms_left_, q) == 0) {
        complete(q);
    }
}

void Simulation::release(int value) {
    if (--book(left_c_, value) == 0) {
        --live_c_;
    }
}

void Simulation::settle(bool force) {
    const auto visit = [&](int q, bool forced) {
        const auto& terms = graph_->accumulators[as_index(q)].terms;
        if (book(terms_left_, q) == 0) {
            return false;
        }
        ready_.clear();
        bool one_dies = false;
        for (std::size_t i = 0; i < terms.size(); ++i) {
            if (taken(q, i) == 0 && book(available_, terms[i].value) != 0) {
                ready_.push_back(static_cast<int>(i));
                one_dies = one_dies || book(left_c_, terms[i].value) == 1;
            }
        }
        if (ready_.empty()) {
            return false;
        }
        // One term alone begins a sum if it can stay where it is: products may then be added to it.
        const bool enough = ready_.size() >= 2 || ready_.size() == terms.size() ||
                            terms[as_index(ready_[0])].coefficient == Rational(1);
        const bool take = book(begun_, q) != 0 || (enough && one_dies) || (forced && ready_.size() == terms.size());
        if (take) {
            take_terms(q, ready_);
        }
        return take;
    };
    for (;;) {
        // A sum may become ready when another reader of its terms is done, so readers of the same terms are visited
        // again; take_terms() puts them on the list.
        while (!touched_.empty()) {
            std::ranges::sort(touched_);
            touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
            visiting_.swap(touched_);
            touched_.clear();
            for (const int q : visiting_) {
                visit(q, false);
            }
        }
        if (!force) {
            return;
        }
        bool moved = false;
        for (std::size_t q = 0; q < graph_->accumulators.size() && !moved; ++q) {
            moved = visit(static_cast<int>(q), true);
        }
        if (!moved) {
            return;
        }
    }
}

void Simulation::take_terms(int q, const std::vector<int>& terms) {
    const Accumulator& sum = graph_->accumulators[as_index(q)];
    const bool begins = book(begun_, q) == 0;
    // A term that nobody else reads begins the sum under another name, without an operation.
    const LinearTerm& first = sum.terms[as_index(terms[0])];
    const bool rename =
        begins && terms.size() == 1 && book(left_c_, first.value) == 1 && first.coefficient == Rational(1);
    if (recording_ != nullptr) {
        if (rename) {
            sum_reg_[as_index(q)] = value_reg_[as_index(first.value)];
        } else {
            RecordedOp op;
            if (!begins) {
                op.terms.push_back({{}, sum_reg_[as_index(q)], 1});
            }
            for (const int i : terms) {
                const LinearTerm& term = sum.terms[as_index(i)];
                op.terms.push_back({{}, value_reg_[as_index(term.value)], term.coefficient});
            }
            op.target = sum_reg_[as_index(q)] = new_register(Shape::c);
            recording_->ops.push_back(std::move(op));
        }
    }
    operations_ += rename ? 0 : 1;
    live_c_ += begins ? 1 : 0;
    book(begun_, q) = 1;
    for (const int i : terms) {
        const int value = sum.terms[as_index(i)].value;
        taken(q, as_index(i)) = 1;
        --book(terms_left_, q);
        release(value);
        touched_.insert(touched_.end(), graph_->consumers[as_index(value)].begin(),
                        graph_->consumers[as_index(value)].end());
    }
    note_peak();
    if (book(terms_left_, q) == 0) {
        complete(q);
    }
}

void Simulation::complete(int q) {
    const int value = graph_->rank + q;
    book(available_, value) = 1;
    touched_.insert(touched_.end(), graph_->consumers[as_index(value)].begin(),
                    graph_->consumers[as_index(value)].end());
    if (recording_ != nullptr) {
        value_reg_[as_index(value)] = sum_reg_[as_index(q)];
        const int output = graph_->accumulators[as_index(q)].output;
        if (output >= 0) {
            recording_->final_registers[as_index(output)] = sum_reg_[as_index(q)];
        }
    }
}

}  // namespace heptad

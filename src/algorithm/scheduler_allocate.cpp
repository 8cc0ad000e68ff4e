// A slot for every register: a linear scan over the operations. Blocks of C are slots until the moment when their own
// value is written, for values of their own shape.
#include <algorithm>
#include <limits>

#include "algorithm/scheduler.hpp"
#include "base/error.hpp"

namespace heptad {
namespace {

constexpr int never = std::numeric_limits<int>::max();

std::size_t at(int index) {
    return static_cast<std::size_t>(index);
}

struct Lifetime {
    int begin = never;  // time of the operation that writes it first
    int end = -1;       // it may be replaced by an operation at this time or later
};

struct Slot {
    Symbol symbol;
    int free_from = 0;         // time
    int deadline = never;      // a value here must end by then
    std::vector<Shape> holds;  // temporaries: shapes so far
};

class Allocator {
public:
    Allocator(const SchedulerGraph& graph, const Recording& recording, SlotPreference preference)
        : graph_(graph), recording_(recording), preference_(preference) {}

    Schedule run() {
        find_lifetimes();
        find_homes();
        make_slots();
        for (const RecordedOp& op : recording_.ops) {
            emit(op);
        }
        for (int t = 1; t <= temporaries_; ++t) {
            schedule_.temporaries.push_back({fmt::format("T{}", t), {}});
        }
        return std::move(schedule_);
    }

private:
    void find_lifetimes() {
        lifetimes_.assign(recording_.shapes.size(), {});
        for (const int reg : recording_.old_c) {
            lifetimes_[at(reg)].begin = -1;
        }
        for (int t = 0; t < static_cast<int>(recording_.ops.size()); ++t) {
            const RecordedOp& op = recording_.ops[at(t)];
            Lifetime& target = lifetimes_[at(op.target)];
            target.begin = std::min(target.begin, t);
            target.end = std::max(target.end, t + 1);
            for (const RecordedOp::Term& term : op.terms) {
                if (term.reg >= 0) {  // a product's target must not take the place of its operands
                    int& end = lifetimes_[at(term.reg)].end;
                    end = std::max(end, op.product ? t + 1 : t);
                }
            }
        }
        for (const int reg : recording_.final_registers) {
            lifetimes_[at(reg)].end = never;
        }
    }

    /// The block of C that a value will become part of, if there is one: going back from the outputs.
    void find_homes() {
        homes_.assign(recording_.shapes.size(), -1);
        finals_.assign(recording_.shapes.size(), -1);
        for (std::size_t l = 0; l < recording_.final_registers.size(); ++l) {
            finals_[at(recording_.final_registers[l])] = static_cast<int>(l);
            homes_[at(recording_.final_registers[l])] = static_cast<int>(l);
        }
        for (auto op = recording_.ops.rbegin(); op != recording_.ops.rend(); ++op) {
            const int home = homes_[at(op->target)];
            if (op->product || home < 0) {
                continue;
            }
            for (const RecordedOp::Term& term : op->terms) {
                if (term.reg >= 0 && homes_[at(term.reg)] < 0) {
                    homes_[at(term.reg)] = home;
                    break;
                }
            }
        }
    }

    void make_slots() {
        for (int l = 0; l < graph_.m * graph_.n; ++l) {
            Slot slot{{SymbolKind::c, l}, 0, lifetimes_[at(recording_.final_registers[at(l)])].begin, {}};
            if (!recording_.old_c.empty()) {
                slot.free_from = lifetimes_[at(recording_.old_c[at(l)])].end;
            }
            slots_.push_back(slot);
        }
        slot_of_.assign(recording_.shapes.size(), -1);
        for (std::size_t l = 0; l < recording_.old_c.size(); ++l) {
            slot_of_[at(recording_.old_c[l])] = static_cast<int>(l);
        }
    }

    bool shape_fits(const Slot& slot, Shape shape) const {
        return slot.symbol.kind == SymbolKind::temporary || shape == Shape::c;
    }
    bool usable(const Slot& slot, int reg) const {
        const Lifetime& life = lifetimes_[at(reg)];
        return slot.free_from <= life.begin && life.end <= slot.deadline &&
               shape_fits(slot, recording_.shapes[at(reg)]);
    }

    int choose_slot(const RecordedOp& op) {
        const int reg = op.target;
        if (finals_[at(reg)] >= 0) {
            return finals_[at(reg)];
        }
        if (preference_ == SlotPreference::in_place) {
            const int home = homes_[at(reg)];
            if (home >= 0 && usable(slots_[at(home)], reg)) {
                return home;
            }
            for (const RecordedOp::Term& term : op.terms) {
                if (term.reg >= 0 && usable(slots_[at(slot_of_[at(term.reg)])], reg)) {
                    return slot_of_[at(term.reg)];
                }
            }
        }
        // Blocks of C first, the one needed soonest; then temporaries of the same shape.
        const Shape shape = recording_.shapes[at(reg)];
        int best = -1;
        std::pair<int, int> best_rank{never, never};
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            const Slot& slot = slots_[i];
            if (!usable(slot, reg)) {
                continue;
            }
            std::pair<int, int> rank{0, slot.deadline};
            if (slot.symbol.kind == SymbolKind::temporary) {
                const bool same = std::ranges::find(slot.holds, shape) != slot.holds.end();
                rank = {same ? 1 : 2, static_cast<int>(slot.holds.size())};
            }
            if (rank < best_rank) {
                best = static_cast<int>(i);
                best_rank = rank;
            }
        }
        if (best < 0) {
            slots_.push_back({{SymbolKind::temporary, temporaries_++}, 0, never, {}});
            best = static_cast<int>(slots_.size()) - 1;
        }
        return best;
    }

    Symbol symbol_of(const RecordedOp::Term& term) const {
        return term.reg >= 0 ? slots_[at(slot_of_[at(term.reg)])].symbol : term.symbol;
    }

    void emit(const RecordedOp& op) {
        ScheduleStep step;
        std::vector<ScheduleTerm> terms;
        for (const RecordedOp::Term& term : op.terms) {
            terms.push_back({symbol_of(term), term.coefficient});
        }
        if (slot_of_[at(op.target)] < 0) {
            const int chosen = choose_slot(op);
            Slot& slot = slots_[at(chosen)];
            slot_of_[at(op.target)] = chosen;
            slot.free_from = lifetimes_[at(op.target)].end;
            const Shape shape = recording_.shapes[at(op.target)];
            if (std::ranges::find(slot.holds, shape) == slot.holds.end()) {
                slot.holds.push_back(shape);
            }
        }
        const Symbol target = slots_[at(slot_of_[at(op.target)])].symbol;
        if (op.product) {
            step.kind = ScheduleStep::Kind::product;
            step.target = target;
            step.left = terms[0].symbol;
            step.right = terms[1].symbol;
            step.update = op.update;
        } else {
            // The block that is updated comes first: C11 = C11 + T1.
            std::stable_partition(terms.begin(), terms.end(),
                                  [&](const ScheduleTerm& term) { return term.symbol == target; });
            step.outputs.push_back({target, std::move(terms)});
        }
        schedule_.steps.push_back(std::move(step));
    }

    const SchedulerGraph& graph_;
    const Recording& recording_;
    SlotPreference preference_;
    Schedule schedule_;
    std::vector<Lifetime> lifetimes_;
    std::vector<int> homes_, finals_;
    std::vector<Slot> slots_;
    std::vector<int> slot_of_;
    int temporaries_ = 0;
};

}  // namespace

Schedule allocate_slots(const SchedulerGraph& graph, const Recording& recording, SlotPreference preference) {
    return Allocator(graph, recording, preference).run();
}

}  // namespace heptad

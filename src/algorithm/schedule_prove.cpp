// Exact symbolic execution of a schedule over its ring.
//
// A block holds one of: nothing yet, something that an in-place product destroyed, a linear form in the blocks of A
// (A-like), one in the blocks of B (B-like), or a bilinear form plus old blocks of C (C-like). The schedule is right
// if each block of C ends as  C_ij = sum_l A_il B_lj  (plus the old C_ij where it accumulates).
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "algorithm/schedule.hpp"
#include "base/fail_if.hpp"

namespace heptad {
namespace {

using Form = std::vector<std::pair<int, Rational>>;  // sorted by monomial, no zeros

struct Value {
    enum class State : std::uint8_t { undefined, destroyed, defined } state = State::undefined;
    std::optional<Shape> shape;  // nothing: the constant zero, which fits anywhere
    Form form;
};

char shape_letter(Shape shape) {
    return shape == Shape::a ? 'A' : shape == Shape::b ? 'B' : 'C';
}

class Prover {
public:
    /// `map` is what must come out; the matrix product if null.
    Prover(Schedule& schedule, Ring ring, const Algorithm* map) : schedule_(schedule), ring_(ring), map_(map) {}

    void run() {
        check_ranges();
        prepare();
        for (ScheduleStep& step : schedule_.steps) {
            step_ = &step;
            if (step.kind == ScheduleStep::Kind::product) {
                multiply(step);
            } else {
                combine(step);
            }
        }
        step_ = nullptr;
        check_result();
        schedule_.square_blocks_only = square_only_;
        for (std::size_t t = 0; t < holds_.size(); ++t) {
            schedule_.temporaries[t].holds = holds_[t];
        }
        mark_dying_operands();
    }

private:
    template <class... Args>
    [[noreturn]] void reject(fmt::format_string<Args...> sentence, Args&&... args) const {
        std::string place = schedule_.name;
        if (step_ != nullptr) {
            const auto index = step_ - schedule_.steps.data();
            place += step_->line > 0 ? fmt::format(" line {}", step_->line) : fmt::format(" step {}", index + 1);
            place += fmt::format(" ({})", print_step(schedule_, *step_));
        }
        fail(ErrorCode::input, "{}: {}", place, fmt::format(sentence, std::forward<Args>(args)...));
    }

    int blocks(SymbolKind kind) const {
        switch (kind) {
            case SymbolKind::a:
                return schedule_.m * schedule_.k;
            case SymbolKind::b:
                return schedule_.k * schedule_.n;
            case SymbolKind::c:
                return schedule_.m * schedule_.n;
            default:
                return static_cast<int>(schedule_.temporaries.size());
        }
    }

    void check_symbol(Symbol symbol) const {
        if (symbol.index < 0 || symbol.index >= blocks(symbol.kind)) {
            fail(ErrorCode::input, "{}: a step names block {} of {}", schedule_.name, symbol.index,
                 blocks(symbol.kind));
        }
    }
    void check_ranges() const {
        fail_if(schedule_.m < 1 || schedule_.k < 1 || schedule_.n < 1, ErrorCode::input,
                "{}: size {} x {} x {} is not positive", schedule_.name, schedule_.m, schedule_.k, schedule_.n);
        for (const ScheduleStep& step : schedule_.steps) {
            if (step.kind == ScheduleStep::Kind::product) {
                for (const Symbol symbol : {step.target, step.left, step.right}) {
                    check_symbol(symbol);
                }
            }
            for (const CombineOutput& output : step.outputs) {
                check_symbol(output.target);
                for (const ScheduleTerm& term : output.terms) {
                    check_symbol(term.symbol);
                }
            }
        }
    }

    // Monomials: block i of A is i, block j of B is j; in bilinear forms A_i B_j is i * kn + j, and old C_l follows.
    int product_monomial(int a, int b) const { return a * blocks(SymbolKind::b) + b; }
    int old_c_monomial(int c) const { return blocks(SymbolKind::a) * blocks(SymbolKind::b) + c; }

    void prepare() {
        for (const SymbolKind kind : {SymbolKind::a, SymbolKind::b, SymbolKind::c, SymbolKind::temporary}) {
            values_[static_cast<std::size_t>(kind)].assign(static_cast<std::size_t>(blocks(kind)), Value{});
        }
        for (int i = 0; i < blocks(SymbolKind::a); ++i) {
            value({SymbolKind::a, i}) = {Value::State::defined, Shape::a, {{i, 1}}};
        }
        for (int i = 0; i < blocks(SymbolKind::b); ++i) {
            value({SymbolKind::b, i}) = {Value::State::defined, Shape::b, {{i, 1}}};
        }
        for (int i = 0; schedule_.accumulates && i < blocks(SymbolKind::c); ++i) {
            value({SymbolKind::c, i}) = {Value::State::defined, Shape::c, {{old_c_monomial(i), 1}}};
        }
        holds_.assign(schedule_.temporaries.size(), {});
    }

    Value& value(Symbol symbol) {
        return values_[static_cast<std::size_t>(symbol.kind)][static_cast<std::size_t>(symbol.index)];
    }

    const Value& read(Symbol symbol) {
        const Value& held = value(symbol);
        if (held.state == Value::State::undefined) {
            reject("{} is read before it is written", symbol_name(schedule_, symbol));
        }
        if (held.state == Value::State::destroyed) {
            reject("{} is read after an in-place product destroyed it", symbol_name(schedule_, symbol));
        }
        return held;
    }

    void check_writable(Symbol symbol) const {
        const bool refused =
            (symbol.kind == SymbolKind::a && !(schedule_.overwrites_inputs && schedule_.overwrites_a)) ||
            (symbol.kind == SymbolKind::b && !(schedule_.overwrites_inputs && schedule_.overwrites_b));
        if (refused) {
            reject("it writes {}, but the header does not say that {} may be overwritten",
                   symbol_name(schedule_, symbol), symbol.kind == SymbolKind::a ? 'A' : 'B');
        }
    }

    void write(Symbol symbol, Value next) {
        check_writable(symbol);
        if (next.shape) {
            if (symbol.kind == SymbolKind::temporary) {
                std::vector<Shape>& shapes = holds_[static_cast<std::size_t>(symbol.index)];
                const auto place = std::ranges::lower_bound(shapes, *next.shape);
                if (place == shapes.end() || *place != *next.shape) {
                    shapes.insert(place, *next.shape);
                }
            } else if (static_cast<int>(*next.shape) != static_cast<int>(symbol.kind)) {
                square_only_ = true;
            }
        }
        value(symbol) = std::move(next);
    }

    /// The coefficient as an element of the ring.
    Rational in_ring(Rational coefficient) const {
        const std::int64_t denominator = coefficient.denominator();
        switch (ring_) {
            case Ring::integers:
                if (denominator != 1) {
                    reject("the coefficient {} is not an integer, the ring is Z", coefficient.to_string());
                }
                return coefficient;
            case Ring::halves:
                if ((denominator & (denominator - 1)) != 0) {
                    reject("the coefficient {} is not in Z[1/2]", coefficient.to_string());
                }
                return coefficient;
            case Ring::rationals:
                return coefficient;
            case Ring::gf2:
                break;
        }
        if (denominator % 2 == 0) {
            reject("the coefficient {} has no value in GF(2)", coefficient.to_string());
        }
        return coefficient.numerator() % 2 != 0 ? Rational(1) : Rational(0);
    }

    Form sum(const Form& x, const Form& y, Rational factor) const {
        Form result;
        result.reserve(x.size() + y.size());
        auto i = x.begin();
        auto j = y.begin();
        const auto append = [&](int monomial, Rational coefficient) {
            coefficient = in_ring(coefficient);
            if (!coefficient.is_zero()) {
                result.emplace_back(monomial, coefficient);
            }
        };
        while (i != x.end() || j != y.end()) {
            if (j == y.end() || (i != x.end() && i->first < j->first)) {
                result.push_back(*i++);
            } else if (i == x.end() || j->first < i->first) {
                append(j->first, factor * j->second);
                ++j;
            } else {
                append(i->first, i->second + factor * j->second);
                ++i;
                ++j;
            }
        }
        return result;
    }

    void combine(const ScheduleStep& step) {
        std::vector<Value> results;
        for (const CombineOutput& output : step.outputs) {
            Value result;
            result.state = Value::State::defined;
            for (const ScheduleTerm& term : output.terms) {
                const Value& held = read(term.symbol);
                if (result.shape && held.shape && *result.shape != *held.shape) {
                    reject("{} holds a value like {}, which cannot be added to one like {}",
                           symbol_name(schedule_, term.symbol), shape_letter(*held.shape), shape_letter(*result.shape));
                }
                result.shape = result.shape ? result.shape : held.shape;
                result.form = sum(result.form, held.form, in_ring(term.coefficient));
            }
            results.push_back(std::move(result));
        }
        for (std::size_t i = 0; i < results.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                if (step.outputs[i].target == step.outputs[j].target) {
                    reject("{} is written twice", symbol_name(schedule_, step.outputs[i].target));
                }
            }
            write(step.outputs[i].target, std::move(results[i]));
        }
    }

    const Form& operand(Symbol symbol, Shape wanted, const char* side) {
        const Value& held = read(symbol);
        if (!held.shape || *held.shape != wanted) {
            reject("the {} factor {} must be like {}, it is {}", side, symbol_name(schedule_, symbol),
                   shape_letter(wanted),
                   held.shape ? fmt::format("like {}", shape_letter(*held.shape)) : std::string("zero"));
        }
        return held.form;
    }

    void multiply(const ScheduleStep& step) {
        const Form& left = operand(step.left, Shape::a, "left");
        const Form& right = operand(step.right, Shape::b, "right");
        Form product;
        product.reserve(left.size() * right.size());
        for (const auto& [i, x] : left) {
            for (const auto& [j, y] : right) {
                const Rational coefficient = in_ring(x * y);
                if (!coefficient.is_zero()) {
                    product.emplace_back(product_monomial(i, j), coefficient);
                }
            }
        }
        Value result{Value::State::defined, Shape::c, std::move(product)};
        const bool in_place = step.target == step.left || step.target == step.right;
        if (step.update != ScheduleStep::Update::store) {
            const Value& held = read(step.target);
            if (held.shape && *held.shape != Shape::c) {
                reject("{} holds a value like {}, to which no product can be added",
                       symbol_name(schedule_, step.target), shape_letter(*held.shape));
            }
            const bool subtracts = step.update == ScheduleStep::Update::subtract;
            result.form = sum(held.form, result.form, subtracts ? -1 : 1);
        }
        if (in_place) {
            square_only_ = true;
            for (const Symbol symbol : {step.left, step.right}) {
                check_writable(symbol);
                value(symbol).state = Value::State::destroyed;
            }
        }
        write(step.target, std::move(result));
    }

    Form block_of_product(int c) const {
        Form form;
        for (int l = 0; l < schedule_.k; ++l) {
            form.emplace_back(product_monomial(c / schedule_.n * schedule_.k + l, l * schedule_.n + c % schedule_.n),
                              1);
        }
        return form;
    }

    /// sum over s of W[s][c] (U[s] a)(V[s] b)
    Form bilinear_map(int c) const {
        std::map<int, Rational> terms;
        for (int s = 0; s < map_->rank(); ++s) {
            for (int i = 0; !map_->w(s, c).is_zero() && i < map_->u.cols; ++i) {
                for (int j = 0; !map_->u(s, i).is_zero() && j < map_->v.cols; ++j) {
                    if (!map_->v(s, j).is_zero()) {
                        Rational& sum = terms[product_monomial(i, j)];
                        sum = sum + map_->w(s, c) * map_->u(s, i) * map_->v(s, j);
                    }
                }
            }
        }
        Form form;
        for (const auto& [monomial, coefficient] : terms) {
            if (!in_ring(coefficient).is_zero()) {
                form.emplace_back(monomial, in_ring(coefficient));
            }
        }
        return form;
    }

    void check_result() {
        for (int c = 0; c < blocks(SymbolKind::c); ++c) {
            const Symbol symbol{SymbolKind::c, c};
            const std::string name = symbol_name(schedule_, symbol);
            const Value& held = value(symbol);
            if (held.state != Value::State::defined) {
                reject("{} is never computed", name);
            }
            Form wanted = map_ != nullptr ? bilinear_map(c) : block_of_product(c);
            if (schedule_.accumulates) {
                wanted.emplace_back(old_c_monomial(c), 1);
            }
            if (held.shape && *held.shape != Shape::c) {
                reject("{} ends as a value like {}", name, shape_letter(*held.shape));
            }
            const Form difference = sum(held.form, wanted, -1);
            if (!difference.empty()) {
                const auto& [monomial, excess] = difference.front();
                reject("{} ends with {} times {} too much{}", name, excess.to_string(), monomial_name(monomial),
                       difference.size() > 1 ? fmt::format(" and {} more wrong terms", difference.size() - 1) : "");
            }
        }
    }

    std::string monomial_name(int monomial) const {
        const int b_blocks = blocks(SymbolKind::b);
        const int old_c = monomial - blocks(SymbolKind::a) * b_blocks;
        if (old_c >= 0) {
            return fmt::format("the old {}", symbol_name(schedule_, {SymbolKind::c, old_c}));
        }
        return symbol_name(schedule_, {SymbolKind::a, monomial / b_blocks}) + "*" +
               symbol_name(schedule_, {SymbolKind::b, monomial % b_blocks});
    }

    /// Backwards: an operand dies in a product if its block is written, or never touched, before it is read again.
    void mark_dying_operands() {
        std::map<Symbol, bool> read_later;
        for (int c = 0; c < blocks(SymbolKind::c); ++c) {
            read_later[{SymbolKind::c, c}] = true;
        }
        schedule_.operands_die = true;
        for (auto step = schedule_.steps.rbegin(); step != schedule_.steps.rend(); ++step) {
            if (step->kind == ScheduleStep::Kind::product) {
                if (step->update == ScheduleStep::Update::store) {
                    read_later[step->target] = false;
                }
                const auto dies = [&](Symbol symbol) {
                    const bool writable = symbol.kind == SymbolKind::a   ? schedule_.overwrites_a
                                          : symbol.kind == SymbolKind::b ? schedule_.overwrites_b
                                                                         : true;
                    return writable && !read_later[symbol];
                };
                step->left_dies = dies(step->left);
                step->right_dies = dies(step->right);
                schedule_.operands_die = schedule_.operands_die && step->left_dies && step->right_dies;
                read_later[step->left] = true;
                read_later[step->right] = true;
                if (step->update != ScheduleStep::Update::store) {
                    read_later[step->target] = true;
                }
            }
            for (const CombineOutput& output : step->outputs) {
                read_later[output.target] = false;
            }
            for (const CombineOutput& output : step->outputs) {
                for (const ScheduleTerm& term : output.terms) {
                    read_later[term.symbol] = true;
                }
            }
        }
    }

    Schedule& schedule_;
    Ring ring_;
    const Algorithm* map_;
    ScheduleStep* step_ = nullptr;
    std::vector<Value> values_[4];
    std::vector<std::vector<Shape>> holds_;
    bool square_only_ = false;
};

std::string objection_to(Schedule& schedule, Ring ring, const Algorithm* map) {
    try {
        Prover(schedule, ring, map).run();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

std::string prove_schedule(Schedule& schedule, Ring ring) {
    return objection_to(schedule, ring, nullptr);
}

std::string prove_schedule_of(Schedule& schedule, const Algorithm& algorithm) {
    if (schedule.m != algorithm.m || schedule.k != algorithm.k || schedule.n != algorithm.n) {
        return fmt::format("{} is for {} x {} x {} blocks, {} has {} x {} x {}", schedule.name, schedule.m, schedule.k,
                           schedule.n, algorithm.name, algorithm.m, algorithm.k, algorithm.n);
    }
    return objection_to(schedule, algorithm.ring, &algorithm);
}

}  // namespace heptad

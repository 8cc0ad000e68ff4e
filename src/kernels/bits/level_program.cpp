#include "kernels/bits/level_program.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <utility>

#include "algorithm/catalogue.hpp"
#include "algorithm/schedule.hpp"
#include "base/error.hpp"
#include "base/shared_state.hpp"

namespace heptad::bits {
namespace {

constexpr const char* kPrefix = "bits-";  // of the schedules that are written in the order that a program needs

/// Reads a schedule as a program: sums of A and B as masks of quarters, then every product with what follows it.
class Reader {
public:
    explicit Reader(const Schedule& schedule) : schedule_(schedule) {
        for (unsigned quarter = 0; quarter < 4; ++quarter) {
            sums_[{SymbolKind::a, static_cast<int>(quarter)}] = 1U << quarter;
            sums_[{SymbolKind::b, static_cast<int>(quarter)}] = 1U << quarter;
        }
    }

    LevelProgram read() {
        program_.name = schedule_.name.substr(std::string(kPrefix).size());
        for (const ScheduleStep& step : schedule_.steps) {
            if (step.kind == ScheduleStep::Kind::product) {
                take_product(step);
            } else if (step.outputs.size() == 1) {
                take_sum(step.outputs.front());
            } else {
                refuse("has a step with several outputs");
            }
        }
        split_off_change();
        program_.chains =
            std::equal(program_.into.rbegin(), program_.into.rend(), program_.out_of.begin(), program_.out_of.end());
        program_.order_onto_c = order_onto_c();
        return std::move(program_);
    }

private:
    [[noreturn]] void refuse(const char* why) const {
        fail(ErrorCode::internal, "the schedule {} {}; programs for packed bits have none", schedule_.name, why);
    }

    bool is_operand(Symbol symbol) const { return symbol.kind == SymbolKind::a || symbol.kind == SymbolKind::b; }

    /// Quarters of C, and temporaries in the order in which products go to them first.
    int place_of(Symbol symbol) {
        if (symbol.kind == SymbolKind::c) {
            return symbol.index;
        }
        const auto [found, is_new] = places_.emplace(symbol, kTemporaryQ + static_cast<int>(places_.size()));
        if (found->second > kTemporaryP) {
            refuse("keeps more than two products");
        }
        return found->second;
    }

    void take_product(const ScheduleStep& step) {
        const bool adds = step.target.kind == SymbolKind::c || step.update != ScheduleStep::Update::store;
        program_.steps.push_back({sums_.at(step.left), sums_.at(step.right), place_of(step.target), adds, {}});
    }

    void take_sum(const CombineOutput& sum) {
        if (sum.target.kind != SymbolKind::c && !places_.contains(sum.target)) {
            take_operand_sum(sum);
            return;
        }
        for (const ScheduleTerm& term : sum.terms) {
            if (term.symbol != sum.target) {
                program_.steps.back().additions.push_back({place_of(sum.target), place_of(term.symbol)});
            }
        }
    }

    /// Into a quarter of an operand: a change of basis, the same for A and B, after which the quarter stands for
    /// itself.
    void take_operand_sum(const CombineOutput& sum) {
        unsigned mask = 0;
        for (const ScheduleTerm& term : sum.terms) {
            mask ^= sums_.at(term.symbol);
            if (sum.target.kind == SymbolKind::a && term.symbol != sum.target) {
                program_.into.push_back({sum.target.index, term.symbol.index});
            }
        }
        if (!is_operand(sum.target)) {
            sums_[sum.target] = mask;
        }
    }

    /// The additions between quarters that end the program of another basis are the change out of it.
    void split_off_change() {
        std::vector<Addition>& last = program_.steps.back().additions;
        const auto begin = std::ranges::find_if(last, [](const Addition& x) { return x.from < kTemporaryQ; });
        if (!program_.into.empty()) {
            for (auto addition = begin; addition != last.end(); ++addition) {
                program_.out_of.push_back({addition->to, addition->from});
            }
            last.erase(begin, last.end());
        }
    }

    /// First a product that goes to a quarter and no further, of which another product is added elsewhere; that one
    /// after the others of its kind.
    std::vector<std::size_t> order_onto_c() const {
        std::vector<std::size_t> sources, order, rest;
        for (std::size_t s = 0; s < program_.steps.size(); ++s) {
            const auto& [a, b, target, adds, additions] = program_.steps[s];
            const bool is_source =
                std::ranges::any_of(additions, [](const Addition& x) { return x.from < kTemporaryQ; });
            (is_source ? sources : rest).push_back(s);
        }
        if (sources.empty()) {
            return {};
        }
        const auto target = [&](std::size_t step) { return program_.steps[step].target; };
        // Not of std::ranges: clang 14 cannot compile what that returns with the headers of g++ 12.
        std::stable_partition(sources.begin(), sources.end(),
                              [&](std::size_t step) { return target(step) != target(rest.front()); });
        order.push_back(rest.front());
        order.insert(order.end(), sources.begin(), sources.end());
        order.insert(order.end(), rest.begin() + 1, rest.end());
        return order;
    }

    const Schedule& schedule_;
    std::map<Symbol, unsigned> sums_;
    std::map<Symbol, int> places_;
    LevelProgram program_;
};

const std::vector<LevelProgram>& programs() {
    static constinit Once<std::vector<LevelProgram>> all;
    return all.get([] {
        std::vector<LevelProgram> read;
        for (const std::string& name : schedule_names()) {
            if (name.starts_with(kPrefix)) {
                read.push_back(Reader(find_schedule(name)).read());
            }
        }
        return read;
    });
}

/// A product goes to Q, and from there to its quarters of C; to its quarter itself where it has one alone.
LevelProgram straight_program(const std::string& name, const LevelTerms& level) {
    LevelProgram program;
    program.name = name;
    const auto quarters = [](const std::vector<BlockTerm>& terms) {
        unsigned mask = 0;
        for (const BlockTerm& term : terms) {
            mask |= 1U << term.block;
        }
        return mask;
    };
    for (const BlockProduct& product : level.products) {
        const bool goes_to_one = product.result.size() == 1;
        Step step{quarters(product.left),
                  quarters(product.right),
                  goes_to_one ? product.result[0].block : kTemporaryQ,
                  goes_to_one,
                  {}};
        for (const BlockResult& result : product.result) {
            if (!goes_to_one) {
                step.additions.push_back({result.block, kTemporaryQ});
            }
        }
        program.steps.push_back(std::move(step));
    }
    program.chains = true;
    return program;
}

/// None: its facts do not admit packed bits.
const LevelProgram* program_of_algorithm(const std::string& name) {
    constexpr int kProducts = 7;
    const CatalogueEntry& entry = find_algorithm(name);
    if (!ring_admits(entry.algorithm.ring, Type::gf2)) {
        return nullptr;
    }
    const LevelTerms level = level_terms(entry.standard, true);
    if (level.grid != BlockGrid{2, 2, 2} || level.products.size() != kProducts) {
        return nullptr;
    }
    static constinit Guarded<std::map<std::string, LevelProgram>> all;
    const auto made = all.lock();
    return &made->try_emplace(name, straight_program(name, level)).first->second;
}

const LevelProgram* program_of_schedule(const std::string& name) {
    const auto found = std::find_if(programs().begin(), programs().end(),
                                    [&](const LevelProgram& program) { return program.name == name; });
    return found == programs().end() ? nullptr : &*found;
}

bool is_file(const std::string& name) {
    return name.find('/') != std::string::npos || name.ends_with(".alg");
}

}  // namespace

std::span<const LevelProgram> level_programs() {
    return programs();
}

const LevelProgram& find_level_program(const std::string& name) {
    if (const LevelProgram* program = program_of_schedule(name)) {
        return *program;
    }
    const std::vector<std::string> algorithms = algorithm_names(true);
    if (is_file(name) || std::ranges::find(algorithms, name) != algorithms.end()) {
        if (const LevelProgram* program = program_of_algorithm(name)) {
            return *program;
        }
    }
    std::string names = "classical";
    for (const LevelProgram& of_schedule : programs()) {
        names += " " + of_schedule.name;
    }
    fail(ErrorCode::usage, "'{}' is not an algorithm for packed bit matrices; use auto or one of: {}", name, names);
}

const LevelProgram& usual_level_program() {
    static constinit Once<const LevelProgram*> usual;
    return *usual.get([] {
        const auto cost = [](const LevelProgram& program) {
            return std::pair(holds_products(program), count_operations(program, 1).additions);
        };
        const LevelProgram* best = &programs().front();
        const auto consider = [&](const LevelProgram& program) {
            best = cost(program) < cost(*best) ? &program : best;
        };
        std::for_each(programs().begin(), programs().end(), consider);
        if (holds_products(*best)) {  // as those of algorithms do, which need not be looked at otherwise
            constexpr int kBlocksOfHalves = 8;
            for (const std::string& name : small_algorithm_names(kBlocksOfHalves)) {
                if (const LevelProgram* program = program_of_algorithm(name)) {
                    consider(*program);
                }
            }
        }
        return best;
    });
}

bool holds_products(const LevelProgram& program) {
    return std::ranges::any_of(program.steps, [](const Step& step) { return step.target >= kTemporaryQ; });
}

unsigned destinations(const LevelProgram& program, std::size_t step) {
    // Which targets hold the product, one bit each.
    unsigned holders = 0;
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
        const Step& now = program.steps[s];
        const unsigned bit = 1U << now.target;
        if (now.target >= kTemporaryQ && !now.adds) {
            holders &= ~bit;
        }
        holders ^= s == step ? bit : 0;
        for (const Addition& addition : now.additions) {
            holders ^= ((holders >> addition.from) & 1) << addition.to;
        }
    }
    return holders & 0b1111;
}

namespace {

/// The standard quarters in each quarter of another basis, one bit each.
using Basis = std::array<unsigned, 4>;

Basis changed(std::span<const Change> changes) {
    Basis basis = {1, 2, 4, 8};
    for (const Change& change : changes) {
        basis[static_cast<std::size_t>(change.to)] ^= basis[static_cast<std::size_t>(change.from)];
    }
    return basis;
}

template <class TermType>
std::vector<TermType> terms_of(unsigned quarters) {
    std::vector<TermType> terms;
    for (int quarter = 0; quarter < 4; ++quarter) {
        if ((quarters >> quarter & 1) != 0) {
            terms.push_back({quarter});
        }
    }
    return terms;
}

}  // namespace

LevelTerms level_terms(const LevelProgram& program, ProgramBasis basis) {
    const bool is_own = basis == ProgramBasis::own;
    const Basis into = changed(is_own ? std::span<const Change>() : program.into);
    const Basis out_of = changed(is_own ? std::span<const Change>() : program.out_of);
    const auto sum = [&](unsigned quarters) {
        unsigned standard = 0;
        for (std::size_t q = 0; q < into.size(); ++q) {
            standard ^= (quarters >> q & 1) != 0 ? into[q] : 0;
        }
        return terms_of<BlockTerm>(standard);
    };
    LevelTerms level;
    level.grid = {2, 2, 2};
    level.rank = static_cast<int>(program.steps.size());
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
        // Standard quarter q of C is the sum of the quarters in out_of[q].
        unsigned results = 0;
        for (std::size_t q = 0; q < out_of.size(); ++q) {
            results |= (std::popcount(destinations(program, s) & out_of[q]) % 2 != 0 ? 1U : 0U) << q;
        }
        level.products.push_back(
            {{sum(program.steps[s].a), sum(program.steps[s].b), terms_of<BlockResult>(results)}, static_cast<int>(s)});
    }
    count_turns(level.products);
    return level;
}

SumStep sum_step(unsigned wanted, unsigned held) {
    const int fresh = std::popcount(wanted) - 1;
    if (held != 0 && std::popcount(wanted ^ held) < fresh) {
        return {wanted ^ held, true};
    }
    return {wanted, false};
}

namespace {

/// Additions of one level, in quarters.
std::int64_t level_additions(const LevelProgram& program) {
    std::int64_t additions = 0;
    unsigned sum_a = 0, sum_b = 0, written = 0;
    const auto count_sum = [&](unsigned wanted, unsigned& held) {
        if (std::popcount(wanted) > 1) {
            const SumStep sum = sum_step(wanted, held);
            additions += std::popcount(sum.terms) - (sum.adds ? 0 : 1);
            held = wanted;
        }
    };
    const auto count_write = [&](int to) {
        additions += (written >> to) & 1;
        written |= 1U << to;
    };
    for (const Step& step : program.steps) {
        count_sum(step.a, sum_a);
        count_sum(step.b, sum_b);
        if (step.target >= kTemporaryQ && !step.adds) {
            written &= ~(1U << step.target);
        }
        count_write(step.target);
        for (const Addition& addition : step.additions) {
            count_write(addition.to);
        }
    }
    return additions;
}

}  // namespace

OperationCount count_operations(const LevelProgram& program, int levels) {
    OperationCount count{0, 1};
    std::int64_t quarter = 1;  // bits
    for (int level = 0; level < levels; ++level) {
        const auto products = static_cast<std::int64_t>(program.steps.size());
        count = {products * count.additions + level_additions(program) * quarter, products * count.multiplications};
        quarter *= 4;
    }
    return count;
}

}  // namespace heptad::bits

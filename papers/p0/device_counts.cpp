// For blocks of m x m = n/2 x n/2 elements, with r blocks read and w blocks written:
//
//   kernel          arithmetics            transactions                   bytes
//   combine         a m^2                  (r + w) m^2/32                 4 (r + w) m^2
//   GPU8            2 m^3 - m^2            17 m^3/4096 + m^2/16           9 m^3/32 + 4 m^2
//   GPU8, fused     ... + a m^2            ... + (r + w - 1) m^2/16       ... + 4 (r + w - 1) m^2
//
// A half warp of a combine moves 16 pairs of floats in one transaction of 128 bytes; where a product is computed it
// moves 16 floats in one of 64 bytes. GPU8 itself writes one block, and its fused forms may write none or several.
#include "papers/p0/device_counts.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.hpp"

namespace heptad {
namespace {

constexpr std::int64_t bytes_per_element = 4;
constexpr int elements_per_combine_transaction = 32;
constexpr int elements_per_product_transaction = 16;

SizePolynomial operator+(const SizePolynomial& x, const SizePolynomial& y) {
    return {x.cubic + y.cubic, x.quadratic + y.quadratic};
}

DeviceCounts operator+(const DeviceCounts& x, const DeviceCounts& y) {
    return {x.arithmetics + y.arithmetics, x.transactions + y.transactions, x.volume_bytes + y.volume_bytes};
}

/// The polynomial in n that p(n/2) is.
SizePolynomial of_half(const SizePolynomial& p) {
    return {p.cubic / 8, p.quadratic / 4};
}

DeviceCounts of_half(const DeviceCounts& counts) {
    return {of_half(counts.arithmetics), of_half(counts.transactions), of_half(counts.volume_bytes)};
}

std::vector<Symbol> symbols_read(const ScheduleStep& step) {
    std::vector<Symbol> symbols;
    if (step.kind == ScheduleStep::Kind::product) {
        symbols = {step.left, step.right};
        if (step.update != ScheduleStep::Update::store) {
            symbols.push_back(step.target);
        }
    }
    for (const CombineOutput& output : step.outputs) {
        for (const ScheduleTerm& term : output.terms) {
            symbols.push_back(term.symbol);
        }
    }
    return symbols;
}

std::vector<Symbol> symbols_written(const ScheduleStep& step) {
    std::vector<Symbol> symbols;
    if (step.kind == ScheduleStep::Kind::product) {
        symbols.push_back(step.target);
    }
    for (const CombineOutput& output : step.outputs) {
        symbols.push_back(output.target);
    }
    return symbols;
}

/// Does anything after `step` need what the symbol holds then?
bool needed_after(const Schedule& schedule, std::size_t step, const Symbol& symbol) {
    const auto among = [&](const std::vector<Symbol>& symbols) {
        return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
    };
    for (std::size_t i = step + 1; i < schedule.steps.size(); ++i) {
        if (among(symbols_read(schedule.steps[i]))) {
            return true;
        }
        if (among(symbols_written(schedule.steps[i]))) {
            return false;
        }
    }
    return symbol.kind == SymbolKind::c;
}

/// Additions of one step. A kernel with several outputs makes a sum that they share once: figure 15's
/// (C11 + C12 + T1, C11 + C21 + T1) is three additions, not four.
int additions(const ScheduleStep& step) {
    if (step.kind == ScheduleStep::Kind::product) {
        return step.update == ScheduleStep::Update::store ? 0 : 1;
    }
    std::map<Symbol, int> column;
    for (const Symbol& symbol : symbols_read(step)) {
        column.emplace(symbol, static_cast<int>(column.size()));
    }
    CoefficientMatrix sums(static_cast<int>(step.outputs.size()), static_cast<int>(column.size()));
    for (std::size_t row = 0; row < step.outputs.size(); ++row) {
        for (const ScheduleTerm& term : step.outputs[row].terms) {
            sums(static_cast<int>(row), column.at(term.symbol)) = term.coefficient;
        }
    }
    return share_subexpressions(sums, false).additions();
}

/// The kernel of steps [first, last).
KernelCall kernel_of(const Schedule& schedule, std::size_t first, std::size_t last) {
    KernelCall call;
    std::set<Symbol> read;
    std::set<Symbol> written;
    for (std::size_t i = first; i < last; ++i) {
        const ScheduleStep& step = schedule.steps[i];
        const bool product = step.kind == ScheduleStep::Kind::product;
        if (product && (call.multiplies || i > first)) {
            fail(ErrorCode::usage, "line {} of schedule {}: a kernel has one product and begins with it", step.line,
                 schedule.name);
        }
        call.multiplies = call.multiplies || product;
        call.additions += additions(step);
        for (const Symbol& symbol : symbols_read(step)) {
            const bool operand = product && (symbol == step.left || symbol == step.right);
            if (!operand && !written.contains(symbol)) {
                read.insert(symbol);
            }
        }
        for (const Symbol& symbol : symbols_written(step)) {
            written.insert(symbol);
        }
    }
    call.blocks_read = static_cast<int>(read.size());
    call.blocks_written = static_cast<int>(std::count_if(written.begin(), written.end(), [&](const Symbol& symbol) {
        return needed_after(schedule, last - 1, symbol);
    }));
    const std::string& word = schedule.steps[first].kernel;
    call.name = !word.empty() ? word.substr(0, word.find('#')) : call.multiplies ? "mul" : "combine";
    return call;
}

/// One call on blocks of m x m elements, as polynomials in m.
DeviceCounts call_counts(const KernelCall& call, const DeviceCounts& product) {
    const int elements_per_transaction =
        call.multiplies ? elements_per_product_transaction : elements_per_combine_transaction;
    const int blocks = call.blocks_read + call.blocks_written - (call.multiplies ? 1 : 0);
    const DeviceCounts around{
        {0, call.additions}, {0, Rational(blocks, elements_per_transaction)}, {0, bytes_per_element * blocks}};
    return call.multiplies ? product + around : around;
}

DeviceCounts level_counts(const Schedule& schedule, const DeviceCounts& product) {
    if (schedule.m != 2 || schedule.k != 2 || schedule.n != 2) {
        fail(ErrorCode::usage, "schedule {} has {}x{}x{} blocks; counts are for 2x2x2", schedule.name, schedule.m,
             schedule.k, schedule.n);
    }
    DeviceCounts sum;
    for (const KernelCall& call : kernel_calls(schedule)) {
        sum = sum + call_counts(call, product);
    }
    return of_half(sum);
}

}  // namespace

Rational SizePolynomial::at(std::int64_t n) const {
    const Rational square = Rational(n) * n;
    return cubic * (square * n) + quadratic * square;
}

std::string SizePolynomial::to_string() const {
    const bool minus = quadratic.numerator() < 0;
    return fmt::format("{} n^3 {} {} n^2", cubic.to_string(), minus ? '-' : '+', quadratic.abs().to_string());
}

std::vector<KernelCall> kernel_calls(const Schedule& schedule) {
    std::vector<KernelCall> calls;
    std::size_t first = 0;
    for (std::size_t i = 1; i <= schedule.steps.size(); ++i) {
        const bool same_kernel = i < schedule.steps.size() && !schedule.steps[i].kernel.empty() &&
                                 schedule.steps[i].kernel == schedule.steps[first].kernel;
        if (!same_kernel) {
            calls.push_back(kernel_of(schedule, first, i));
            first = i;
        }
    }
    return calls;
}

DeviceCounts gpu8_counts() {
    return {{2, -1}, {Rational(17, 4096), Rational(1, 16)}, {Rational(9, 32), 4}};
}

DeviceCounts counts_over_gpu8(const Schedule& schedule) {
    return level_counts(schedule, gpu8_counts());
}

DeviceCounts counts_over(const Schedule& schedule, const DeviceCounts& product) {
    for (const KernelCall& call : kernel_calls(schedule)) {
        if (call.multiplies && !call.is_plain_product()) {
            fail(ErrorCode::usage, "schedule {} fuses additions into {}, so its products cannot be levels of their own",
                 schedule.name, call.name);
        }
    }
    return level_counts(schedule, product);
}

}  // namespace heptad

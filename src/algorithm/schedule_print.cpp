// Steps of a schedule in the notation of the text format.
#include "algorithm/schedule.hpp"
#include "base/error.hpp"

namespace heptad {
namespace {

std::string print_sum(const Schedule& schedule, const std::vector<ScheduleTerm>& terms) {
    std::string text;
    for (const ScheduleTerm& term : terms) {
        const bool minus = term.coefficient.numerator() < 0;
        if (text.empty()) {
            text += minus ? "-" : "";
        } else {
            text += minus ? " - " : " + ";
        }
        const Rational magnitude = term.coefficient.abs();
        if (magnitude != Rational(1)) {
            text += magnitude.to_string() + "*";
        }
        text += symbol_name(schedule, term.symbol);
    }
    return text.empty() ? "0" : text;
}

}  // namespace

std::string symbol_name(const Schedule& schedule, Symbol symbol) {
    if (symbol.kind == SymbolKind::temporary) {
        return schedule.temporaries.at(static_cast<std::size_t>(symbol.index)).name;
    }
    const int cols = symbol.kind == SymbolKind::a ? schedule.k : schedule.n;
    const int row = symbol.index / cols + 1;
    const int col = symbol.index % cols + 1;
    const char letter = symbol.kind == SymbolKind::a ? 'A' : symbol.kind == SymbolKind::b ? 'B' : 'C';
    return row > 9 || col > 9 ? fmt::format("{}_{}_{}", letter, row, col) : fmt::format("{}{}{}", letter, row, col);
}

std::string print_step(const Schedule& schedule, const ScheduleStep& step) {
    std::string text;
    if (step.kind == ScheduleStep::Kind::product) {
        const char* sign = step.update == ScheduleStep::Update::store ? "=" : "-=";
        sign = step.update == ScheduleStep::Update::add ? "+=" : sign;
        text = fmt::format("{} {} {} * {}", symbol_name(schedule, step.target), sign, symbol_name(schedule, step.left),
                           symbol_name(schedule, step.right));
    } else if (step.outputs.size() == 1) {
        text = symbol_name(schedule, step.outputs[0].target) + " = " + print_sum(schedule, step.outputs[0].terms);
    } else {
        std::string targets, sums;
        for (const CombineOutput& output : step.outputs) {
            const char* comma = targets.empty() ? "" : ", ";
            targets += fmt::format("{}{}", comma, symbol_name(schedule, output.target));
            sums += fmt::format("{}{}", comma, print_sum(schedule, output.terms));
        }
        text = fmt::format("({}) = ({})", targets, sums);
    }
    return step.kernel.empty() ? text : text + " @" + step.kernel;
}

}  // namespace heptad

// Reads the .sched text format described in schedule.hpp. Every complaint names FILE:LINE.
#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "algorithm/schedule.hpp"
#include "algorithm/text_words.hpp"
#include "base/error.hpp"

namespace heptad {
namespace {

constexpr int max_blocks_per_side = 99;
constexpr std::size_t max_temporaries = 10000;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_word_start(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string_view without_comment(std::string_view line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '#' && (i == 0 || kBlanks.find(line[i - 1]) != std::string_view::npos)) {
            return line.substr(0, i);
        }
    }
    return line;
}

/// "A21" and "A_10_2": matrix letter and two numbers from 1. Nothing if the word is no block name.
struct BlockName {
    SymbolKind kind;
    int row, col;
};
std::optional<BlockName> parse_block_name(std::string_view word) {
    if (word.size() < 3 || word[0] < 'A' || word[0] > 'C') {
        return std::nullopt;
    }
    const SymbolKind kind = word[0] == 'A' ? SymbolKind::a : word[0] == 'B' ? SymbolKind::b : SymbolKind::c;
    if (word.size() == 3 && is_digit(word[1]) && is_digit(word[2])) {
        return BlockName{kind, word[1] - '0', word[2] - '0'};
    }
    const std::size_t second = word.find('_', 2);
    if (word[1] != '_' || second == std::string_view::npos) {
        return std::nullopt;
    }
    const auto number = [](std::string_view digits) -> std::optional<int> {
        if (digits.empty() || digits.size() > 3 || !std::ranges::all_of(digits, is_digit)) {
            return std::nullopt;
        }
        int value = 0;
        for (const char digit : digits) {
            value = value * 10 + (digit - '0');
        }
        return value;
    };
    const auto row = number(word.substr(2, second - 2));
    const auto col = number(word.substr(second + 1));
    if (!row || !col) {
        return std::nullopt;
    }
    return BlockName{kind, *row, *col};
}

class ScheduleParser {
public:
    ScheduleParser(const std::string& text, const std::string& file) : text_(text), file_(file) {}

    Schedule run() {
        std::size_t begin = 0;
        while (begin < text_.size()) {
            std::size_t end = text_.find('\n', begin);
            end = end == std::string::npos ? text_.size() : end;
            ++line_;
            parse_line(without_comment(std::string_view(text_).substr(begin, end - begin)));
            begin = end + 1;
        }
        require_header();
        complain_if(schedule_.steps.empty(), "the schedule has no step");
        return std::move(schedule_);
    }

private:
    template <class... Args>
    [[noreturn]] void complain(fmt::format_string<Args...> sentence, Args&&... args) const {
        fail(ErrorCode::input, "{}:{}: {}", file_, line_, fmt::format(sentence, std::forward<Args>(args)...));
    }
    template <class... Args>
    void complain_if(bool wrong, fmt::format_string<Args...> sentence, Args&&... args) const {
        if (wrong) {
            complain(sentence, std::forward<Args>(args)...);
        }
    }

    void parse_line(std::string_view line) {
        const std::vector<std::string_view> parts = words_of(line);
        const std::vector<std::string> words(parts.begin(), parts.end());
        if (!words.empty() && !parse_header(words, line)) {
            parse_step(line);
        }
    }

    // --- header ---------------------------------------------------------------------------------------------------

    bool parse_header(const std::vector<std::string>& words, std::string_view line) {
        static constexpr std::array<std::string_view, 8> keys = {
            "schedule", "algorithm", "size", "source", "ring", "temporaries", "accumulates", "overwrites"};
        const std::string& key = words[0];
        if (std::ranges::find(keys, key) == keys.end() ||
            (words.size() > 1 && words[1].find('=') != std::string::npos)) {
            return false;
        }
        complain_if(!schedule_.steps.empty(), "'{}' belongs to the header, before the first step", key);
        complain_if(!seen_.insert(key).second, "'{}' is given twice", key);
        if (key == "schedule" || key == "algorithm") {
            complain_if(words.size() != 2, "'{}' takes one name, not {}", key, words.size() - 1);
            (key == "schedule" ? schedule_.name : schedule_.algorithm) = words[1];
        } else if (key == "size") {
            parse_size(words);
        } else if (key == "source") {
            const std::size_t begin = line.find("source") + 6;
            schedule_.source = trimmed(line.substr(begin));
        } else if (key == "ring") {
            parse_ring(words);
        } else if (key == "temporaries") {
            parse_temporaries(words);
        } else if (key == "accumulates") {
            if (words.size() != 1) {
                complain("'accumulates' takes no argument, found '{}'", words[1]);
            }
            schedule_.accumulates = true;
        } else {
            parse_overwrites(words);
        }
        return true;
    }

    void parse_size(const std::vector<std::string>& words) {
        complain_if(words.size() != 4, "'size' takes three numbers m k n, found {}", words.size() - 1);
        int* const sizes[] = {&schedule_.m, &schedule_.k, &schedule_.n};
        for (std::size_t i = 0; i < 3; ++i) {
            const std::string& word = words[i + 1];
            const bool digits = std::ranges::all_of(word, is_digit) && word.size() <= 2;
            const int value = digits ? std::stoi(word) : 0;
            complain_if(value < 1, "size '{}' is not a number from 1 to {}", word, max_blocks_per_side);
            *sizes[i] = value;
        }
    }

    void parse_ring(const std::vector<std::string>& words) {
        const std::optional<Ring> ring = words.size() == 2 ? ring_from_name(words[1]) : std::nullopt;
        complain_if(!ring, "'ring' takes one of Z, Z[1/2], Q and GF(2)");
        schedule_.ring = *ring;
    }

    void parse_temporaries(const std::vector<std::string>& words) {
        complain_if(words.size() - 1 > max_temporaries, "{} temporaries are more than the limit of {}",
                    words.size() - 1, max_temporaries);
        std::set<std::string> names;
        for (std::size_t i = 1; i < words.size(); ++i) {
            const std::string& name = words[i];
            complain_if(!is_word_start(name[0]) || !std::ranges::all_of(name, is_word),
                        "'{}' is not a name for a temporary: use a letter, then letters, digits and _", name);
            const bool like_a_block =
                name[0] >= 'A' && name[0] <= 'C' && (name.size() == 1 || is_digit(name[1]) || name[1] == '_');
            complain_if(like_a_block, "'{}' would be taken for a block; name the temporary otherwise, e.g. T1", name);
            complain_if(!names.insert(name).second, "temporary '{}' is named twice", name);
            schedule_.temporaries.push_back({name, {}});
        }
        sorted_temporaries_.assign(schedule_.temporaries.size(), {});
        for (std::size_t i = 0; i < schedule_.temporaries.size(); ++i) {
            sorted_temporaries_[i] = {schedule_.temporaries[i].name, static_cast<int>(i)};
        }
        std::ranges::sort(sorted_temporaries_);
    }

    void parse_overwrites(const std::vector<std::string>& words) {
        for (std::size_t i = 1; i < words.size(); ++i) {
            if (words[i] != "A" && words[i] != "B") {
                complain("'overwrites' takes A, B or both, not '{}'", words[i]);
            }
            (words[i] == "A" ? schedule_.overwrites_a : schedule_.overwrites_b) = true;
        }
        complain_if(words.size() == 1, "'overwrites' takes A, B or both");
        schedule_.overwrites_inputs = true;
    }

    void require_header() const {
        for (const char* key : {"schedule", "algorithm", "size"}) {
            complain_if(seen_.count(key) == 0, "the header has no '{}' line", key);
        }
    }

    // --- steps: a cursor over one line ------------------------------------------------------------------------------

    void parse_step(std::string_view line) {
        if (schedule_.steps.empty()) {
            require_header();
        }
        ScheduleStep step;
        step.line = line_;
        const std::size_t at = line.find('@');
        if (at != std::string_view::npos) {
            step.kernel = trimmed(line.substr(at + 1));
            complain_if(step.kernel.empty() || step.kernel.find_first_of(" \t@") != std::string::npos,
                        "'@' takes one word, the name of the kernel, at the end of the line");
            line = line.substr(0, at);
        }
        rest_ = line;
        const bool tuple = accept("(");
        std::vector<Symbol> targets = {symbol()};
        while (tuple && accept(",")) {
            targets.push_back(symbol());
        }
        if (tuple) {
            expect(")");
        }
        std::vector<Symbol> sorted = targets;
        std::ranges::sort(sorted);
        complain_if(std::ranges::adjacent_find(sorted) != sorted.end(), "a block is written twice in one step");
        const bool adds = accept("+=");
        const bool subtracts = !adds && accept("-=");
        if (!adds && !subtracts) {
            expect("=");
        }
        if (tuple) {
            complain_if(adds || subtracts, "several targets take '=' only");
            parse_tuple(step, targets);
        } else if (!parse_product(step, targets[0], adds, subtracts)) {
            parse_single(step, targets[0], adds, subtracts);
        }
        skip_blanks();
        if (!rest_.empty()) {
            complain("'{}' is left over at the end of the step", std::string(rest_));
        }
        schedule_.steps.push_back(std::move(step));
    }

    void parse_tuple(ScheduleStep& step, const std::vector<Symbol>& targets) {
        expect("(");
        for (std::size_t i = 0; i < targets.size(); ++i) {
            if (i > 0) {
                expect(",");
            }
            step.outputs.push_back({targets[i], sum()});
        }
        expect(")");
    }

    void parse_single(ScheduleStep& step, Symbol target, bool adds, bool subtracts) {
        CombineOutput output{target, sum()};
        if (adds || subtracts) {
            for (ScheduleTerm& term : output.terms) {
                if (term.symbol == target) {
                    complain("'{}' occurs twice in the sum", symbol_name(schedule_, target));
                }
                term.coefficient = subtracts ? -term.coefficient : term.coefficient;
            }
            output.terms.insert(output.terms.begin(), {target, 1});
        }
        step.outputs.push_back(std::move(output));
    }

    /// SYMBOL * SYMBOL; leaves the cursor alone and returns false if something else follows.
    bool parse_product(ScheduleStep& step, Symbol target, bool adds, bool subtracts) {
        skip_blanks();
        const std::string_view before = rest_;
        if (rest_.empty() || !is_word_start(rest_[0])) {
            return false;
        }
        step.left = symbol();
        if (!accept("*")) {
            rest_ = before;
            return false;
        }
        step.right = symbol();
        step.kind = ScheduleStep::Kind::product;
        step.target = target;
        step.update = adds        ? ScheduleStep::Update::add
                      : subtracts ? ScheduleStep::Update::subtract
                                  : ScheduleStep::Update::store;
        return true;
    }

    /// A signed sum of [coefficient *] symbol, or 0.
    std::vector<ScheduleTerm> sum() {
        std::vector<ScheduleTerm> terms;
        bool minus = accept("-");
        if (!minus) {
            accept("+");
        }
        for (;;) {
            skip_blanks();
            Rational coefficient = 1;
            if (!rest_.empty() && is_digit(rest_[0])) {
                coefficient = number();
                if (!accept("*")) {
                    complain_if(!coefficient.is_zero() || minus || !terms.empty(),
                                "a number stands alone; write NUMBER*BLOCK, or a single 0");
                    return terms;
                }
            }
            const Symbol block = symbol();
            if (std::ranges::any_of(terms, [&](const ScheduleTerm& term) { return term.symbol == block; })) {
                complain("'{}' occurs twice in the sum", symbol_name(schedule_, block));
            }
            if (coefficient.is_zero()) {
                complain("'{}' has the coefficient 0; leave it out", symbol_name(schedule_, block));
            }
            terms.push_back({block, minus ? -coefficient : coefficient});
            minus = accept("-");
            if (!minus && !accept("+")) {
                return terms;
            }
        }
    }

    Rational number() {
        std::size_t length = 0;
        while (length < rest_.size() && (is_digit(rest_[length]) || rest_[length] == '/')) {
            ++length;
        }
        const std::string_view digits = rest_.substr(0, length);
        rest_.remove_prefix(length);
        try {
            return Rational::parse(digits);
        } catch (const Error& error) {
            complain("{}", error.what());
        }
    }

    Symbol symbol() {
        skip_blanks();
        std::size_t length = 0;
        while (length < rest_.size() && is_word(rest_[length])) {
            ++length;
        }
        const std::string_view word = rest_.substr(0, length);
        if (word.empty()) {
            complain("expected a block or a temporary, found '{}'", std::string(rest_.substr(0, 20)));
        }
        rest_.remove_prefix(length);
        const auto found =
            std::ranges::lower_bound(sorted_temporaries_, std::pair<std::string, int>(std::string(word), 0));
        if (found != sorted_temporaries_.end() && found->first == word) {
            return {SymbolKind::temporary, found->second};
        }
        const auto block = parse_block_name(word);
        if (!block) {
            complain("'{}' is neither a block (A11, C_10_2) nor a temporary named in the header", std::string(word));
        }
        const int rows = block->kind == SymbolKind::b ? schedule_.k : schedule_.m;
        const int cols = block->kind == SymbolKind::a ? schedule_.k : schedule_.n;
        if (block->row < 1 || block->row > rows || block->col < 1 || block->col > cols) {
            complain("block '{}' is outside of its {} x {} grid", std::string(word), rows, cols);
        }
        return {block->kind, (block->row - 1) * cols + block->col - 1};
    }

    void skip_blanks() {
        while (!rest_.empty() && kBlanks.find(rest_[0]) != std::string_view::npos) {
            rest_.remove_prefix(1);
        }
    }
    bool accept(std::string_view token) {
        skip_blanks();
        if (rest_.substr(0, token.size()) != token) {
            return false;
        }
        rest_.remove_prefix(token.size());
        return true;
    }
    void expect(std::string_view token) {
        if (!accept(token)) {
            complain("expected '{}', found '{}'", std::string(token), std::string(rest_.substr(0, 20)));
        }
    }

    const std::string& text_;
    const std::string& file_;
    Schedule schedule_;
    std::set<std::string> seen_;
    std::vector<std::pair<std::string, int>> sorted_temporaries_;
    std::string_view rest_;
    int line_ = 0;
};

}  // namespace

Schedule parse_schedule(const std::string& text, const std::string& file_name) {
    return ScheduleParser(text, file_name).run();
}

}  // namespace heptad

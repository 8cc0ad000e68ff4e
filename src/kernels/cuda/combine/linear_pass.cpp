#include "kernels/cuda/combine/linear_pass.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "kernels/equal_slots.hpp"

namespace heptad::cuda {
namespace {

/// The value of a slot: how much of each input.
using Combination = std::vector<double>;

class Substitution {
public:
    explicit Substitution(const CombinePass& pass)
        : pass_(pass), slot_of_(first_equal_slots(pass.slots)), value_(pass.slots.size()), known_(pass.slots.size()) {}

    void run() {
        for (const CombineStatement& statement : pass_.statements) {
            Combination sum;
            for (const CombineTerm& term : statement.terms) {
                const Combination& source = value(slot_of_[static_cast<std::size_t>(term.source)]);
                sum.resize(std::max(sum.size(), source.size()));
                for (std::size_t i = 0; i < source.size(); ++i) {
                    sum[i] += term.coefficient * source[i];
                }
            }
            const std::size_t target = slot_of_[static_cast<std::size_t>(statement.target)];
            value_[target] = std::move(sum);
            known_[target] = true;
            if (std::find(written_.begin(), written_.end(), target) == written_.end()) {
                written_.push_back(target);
            }
        }
    }

    /// Makes the slot's old value an input, if it is not one already.
    void read(std::size_t slot) { value(slot); }

    LinearMap result() const {
        // In the order of the slots, whatever the order of the statements: the same pass looks the same every time.
        std::vector<std::size_t> order(inputs_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return inputs_[x] < inputs_[y]; });
        LinearMap result;
        for (const std::size_t i : order) {
            result.inputs.push_back(inputs_[i]);
        }
        std::vector<std::size_t> written = written_;
        std::sort(written.begin(), written.end());
        for (const std::size_t slot : written) {
            if (pass_.slots[slot].data != nullptr) {
                result.outputs.push_back(slot);
                for (const std::size_t i : order) {
                    result.coefficients.push_back(i < value_[slot].size() ? value_[slot][i] : 0);
                }
            }
        }
        return result;
    }

private:
    const Combination& value(std::size_t slot) {
        if (!known_[slot]) {
            value_[slot].assign(inputs_.size() + 1, 0.0);
            value_[slot].back() = 1;
            inputs_.push_back(slot);
            known_[slot] = true;
        }
        return value_[slot];
    }

    const CombinePass& pass_;
    std::vector<std::size_t> slot_of_;
    std::vector<Combination> value_;
    std::vector<bool> known_;
    std::vector<std::size_t> inputs_, written_;
};

/// Are there other powers of two beside a slot after the pass than before it?
bool changes_lines(const CombinePass& pass, std::size_t slot) {
    return !pass.exponents.empty() && pass.exponents[slot] != pass.written_exponents[slot];
}

/// C = beta * C + sums of others: the old values leave the inputs and become `keep`. They are added as they lie in
/// memory, so the powers of two beside them must stay.
void separate_kept(LinearMap& pass, const CombinePass& of) {
    const std::size_t inputs = pass.inputs.size();
    const std::size_t outputs = pass.outputs.size();
    const auto part = [&](std::size_t output, std::size_t input) { return pass.coefficients[output * inputs + input]; };
    if (outputs == 0) {
        return;
    }
    std::vector<std::size_t> own;  // input j is the old value of output j
    for (std::size_t j = 0; j < outputs; ++j) {
        const auto found = std::find(pass.inputs.begin(), pass.inputs.end(), pass.outputs[j]);
        if (found == pass.inputs.end() || changes_lines(of, pass.outputs[j])) {
            return;
        }
        own.push_back(static_cast<std::size_t>(found - pass.inputs.begin()));
        for (std::size_t other = 0; other < outputs; ++other) {
            if (other != j && part(other, own[j]) != 0) {
                return;
            }
        }
        if (part(j, own[j]) != part(0, own[0])) {
            return;
        }
    }
    LinearMap rest;
    rest.keep = part(0, own[0]);
    rest.outputs = pass.outputs;
    for (std::size_t i = 0; i < inputs; ++i) {
        if (std::find(own.begin(), own.end(), i) == own.end()) {
            rest.inputs.push_back(pass.inputs[i]);
        }
    }
    for (std::size_t j = 0; j < outputs; ++j) {
        for (std::size_t i = 0; i < inputs; ++i) {
            if (std::find(own.begin(), own.end(), i) == own.end()) {
                rest.coefficients.push_back(part(j, i));
            }
        }
    }
    pass = std::move(rest);
}

}  // namespace

bool changes_lines_only(const LinearPass& pass) {
    const std::size_t count = pass.inputs.size();
    bool same = pass.keep == 0 && count == pass.outputs.size();
    for (std::size_t j = 0; j < count && same; ++j) {
        same = pass.inputs[j].data == pass.outputs[j].data;
        for (std::size_t i = 0; i < count; ++i) {
            same = same && pass.coefficients[j * count + i] == (i == j ? 1 : 0);
        }
    }
    return same;
}

bool writes_an_input(const LinearPass& pass) {
    return std::any_of(pass.outputs.begin(), pass.outputs.end(), [&](const View& output) {
        return std::any_of(pass.inputs.begin(), pass.inputs.end(),
                           [&](const View& input) { return input.data == output.data; });
    });
}

std::pair<CombinePass, CombinePass> cut_in_two(const CombinePass& pass) {
    const auto is_scratch = [&](int slot) { return pass.slots[static_cast<std::size_t>(slot)].data == nullptr; };
    const std::size_t count = pass.statements.size();
    const auto can_cut = [&](std::size_t place) {
        for (std::size_t i = place; i < count; ++i) {
            for (const CombineTerm& term : pass.statements[i].terms) {
                const bool made_before =
                    std::any_of(pass.statements.begin(), pass.statements.begin() + static_cast<std::ptrdiff_t>(place),
                                [&](const CombineStatement& statement) { return statement.target == term.source; });
                if (is_scratch(term.source) && made_before) {
                    return false;
                }
            }
        }
        return true;
    };
    CombinePass first = pass, second = pass;
    // Nearest to the middle.
    for (std::size_t away = 0; away < count; ++away) {
        for (const std::size_t place : {count / 2 + away, count / 2 - std::min(away, count / 2)}) {
            if (place > 0 && place < count && can_cut(place)) {
                const auto at = pass.statements.begin() + static_cast<std::ptrdiff_t>(place);
                first.statements.assign(pass.statements.begin(), at);
                second.statements.assign(at, pass.statements.end());
                second.watch = -1;
                if (!pass.exponents.empty()) {  // what the first one wrote is read as it was written
                    const std::vector<std::size_t> slot_of = first_equal_slots(pass.slots);
                    for (const CombineStatement& statement : first.statements) {
                        const std::size_t slot = slot_of[static_cast<std::size_t>(statement.target)];
                        second.exponents[slot] = second.written_exponents[slot];
                    }
                }
                return {std::move(first), std::move(second)};
            }
        }
    }
    second.statements.clear();
    return {std::move(first), std::move(second)};
}

namespace {

LinearMap linear_map(const CombinePass& pass) {
    Substitution substitution(pass);
    if (pass.watch >= 0) {
        for (int slot = 0; slot < pass.watched_slots; ++slot) {
            substitution.read(static_cast<std::size_t>(slot));
        }
    }
    substitution.run();
    LinearMap result = substitution.result();
    separate_kept(result, pass);
    return result;
}

LinearPass with_views(const LinearMap& map, const CombinePass& of) {
    LinearPass pass{{}, {}, map.coefficients, map.keep};
    pass.inputs.reserve(map.inputs.size());
    pass.outputs.reserve(map.outputs.size());
    for (const std::size_t slot : map.inputs) {
        pass.inputs.push_back(of.slots[slot]);
    }
    for (const std::size_t slot : map.outputs) {
        pass.outputs.push_back(of.slots[slot]);
    }
    if (!of.exponents.empty()) {
        for (const std::size_t slot : map.inputs) {
            pass.input_lines.push_back(of.exponents[slot]);
        }
        for (const std::size_t slot : map.outputs) {
            pass.output_lines.push_back(of.written_exponents[slot]);
        }
    }
    return pass;
}

/// All that the map depends on: which slots are the same memory or none, beside which other powers of two are written,
/// and what is added to what.
std::vector<std::uint64_t> signature_of(const CombinePass& pass) {
    std::vector<std::uint64_t> words;
    words.reserve(4 * pass.slots.size() + 4 * pass.statements.size());
    words.push_back(pass.slots.size());
    words.push_back(pass.watch >= 0 ? static_cast<std::uint64_t>(pass.watched_slots) : 0);
    std::vector<std::pair<const void*, std::uint64_t>> by_address;
    by_address.reserve(pass.slots.size());
    for (std::size_t slot = 0; slot < pass.slots.size(); ++slot) {
        by_address.emplace_back(pass.slots[slot].data, slot);
    }
    std::sort(by_address.begin(), by_address.end());
    const std::size_t first_slot = words.size();
    words.resize(first_slot + pass.slots.size());
    constexpr std::uint64_t kScratch = ~std::uint64_t{0};
    for (std::size_t i = 0; i < by_address.size(); ++i) {
        const auto& [data, slot] = by_address[i];
        const bool again = i > 0 && by_address[i - 1].first == data;
        words[first_slot + slot] = data == nullptr ? kScratch
                                   : again         ? words[first_slot + by_address[i - 1].second]
                                                   : slot;
    }
    for (std::size_t slot = 0; slot < pass.exponents.size(); ++slot) {
        constexpr std::uint64_t kChanges = ~std::uint64_t{0} - 1;  // no number of a slot or of terms
        if (changes_lines(pass, slot)) {
            words.push_back(kChanges - slot);
        }
    }
    for (const CombineStatement& statement : pass.statements) {
        words.push_back(static_cast<std::uint64_t>(statement.target));
        words.push_back(statement.terms.size());
        for (const CombineTerm& term : statement.terms) {
            words.push_back(static_cast<std::uint64_t>(term.source));
            words.push_back(std::bit_cast<std::uint64_t>(term.coefficient));
        }
    }
    return words;
}

}  // namespace

LinearPass linear_pass(const CombinePass& pass) {
    return with_views(linear_map(pass), pass);
}

LinearPass LinearPasses::of(const CombinePass& pass) {
    constexpr std::size_t kMostKept = 256;
    std::vector<std::uint64_t> signature = signature_of(pass);
    auto found = kept_.find(signature);
    if (found == kept_.end()) {
        if (kept_.size() >= kMostKept) {
            kept_.clear();
        }
        found = kept_.emplace(std::move(signature), linear_map(pass)).first;
    }
    return with_views(found->second, pass);
}

}  // namespace heptad::cuda

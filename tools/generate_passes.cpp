// Writes the header with the passes that the CUDA backend has compiled in: the sums of a few algorithms as
// straight-line code, in the order in which the runner hands them to a backend. Run at build time, on the machine that
// builds.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "algorithm/catalogue.hpp"
#include "kernels/cuda/combine/linear_pass.hpp"
#include "run/dense/combine_passes.hpp"

namespace heptad {
namespace {

/// Views that are only told apart.
std::vector<View> numbered_views(std::size_t count, std::size_t first) {
    static std::vector<std::byte> addresses(4096);
    std::vector<View> views;
    for (std::size_t i = 0; i < count; ++i) {
        views.emplace_back(&addresses.at(first + i), Type::f32, 1, 1, 1, 1);
    }
    return views;
}

/// " + x", " - x" or a multiple; without the plus at the start of a sum.
std::string term_text(int coefficient, const std::string& name, bool first) {
    const int size = coefficient < 0 ? -coefficient : coefficient;
    const char* const sign = coefficient < 0 ? (first ? "-" : " - ") : (first ? "" : " + ");
    return size == 1 ? fmt::format("{}{}", sign, name) : fmt::format("{}{} * {}", sign, size, name);
}

/// outputs[o] = sum over i of coefficients[o * inputs + i] * inputs[i].
struct Sums {
    std::vector<int> coefficients;
    std::size_t inputs = 0, outputs = 0;
    int of(std::size_t output, std::size_t input) const { return coefficients[output * inputs + input]; }
};

/// One output as a sum of values of that name, of which `number` says the number for each input.
template <class Number>
std::string sum_text(const Sums& sums, std::size_t output, const char* name, Number&& number) {
    std::string text;
    for (std::size_t i = 0; i < sums.inputs; ++i) {
        if (const int coefficient = sums.of(output, i); coefficient != 0) {
            text += term_text(coefficient, fmt::format("{}{}", name, number(i)), text.empty());
        }
    }
    return text;
}
std::size_t itself(std::size_t i) {
    return i;
}

/// Loads first, all of them: nothing is used before the last one is on its way.
std::string loads(std::size_t first, std::size_t count) {
    std::string code;
    for (std::size_t i = first; i < first + count; ++i) {
        code += fmt::format("        const auto word{0} = load({0});\n", i);
    }
    return code;
}
std::string values_of_loads(std::size_t first, std::size_t count) {
    std::string code;
    for (std::size_t i = first; i < first + count; ++i) {
        code += fmt::format("        const auto in{0} = value(word{0});\n", i);
    }
    return code;
}
std::string inspected_inputs(std::size_t inputs) {
    std::string all;
    for (std::size_t i = 0; i < inputs; ++i) {
        all += fmt::format("{}&in{}", i == 0 ? "" : ", ", i);
    }
    return loads(0, inputs) + values_of_loads(0, inputs) +
           fmt::format("        if (watching) {{\n            inspect({{{}}});\n        }}\n", all);
}

/// Few inputs, many outputs: each output is the sum of some inputs.
std::string sums_of_inputs(const Sums& sums) {
    std::string code = inspected_inputs(sums.inputs);
    for (std::size_t o = 0; o < sums.outputs; ++o) {
        code += fmt::format("        store({}, {});\n", o, sum_text(sums, o, "in", itself));
    }
    return code;
}

/// Adds a value to the sums that it belongs into.
void add_value(const Sums& sums, std::size_t input, const std::string& value, const std::string& target,
               std::vector<bool>& begun, std::string& code) {
    for (std::size_t o = 0; o < sums.outputs; ++o) {
        if (const int coefficient = sums.of(o, input); coefficient != 0) {
            const std::string term = term_text(coefficient, value, !begun[o]);
            code += begun[o] ? fmt::format("        {0}{1} = {0}{1}{2};\n", target, o, term)
                             : fmt::format("        auto {}{} = {};\n", target, o, term);
            begun[o] = true;
        }
    }
}

/// Many inputs, few outputs: every input is loaded once and added where it belongs.
std::string inputs_into_sums(const Sums& sums) {
    std::string code;
    std::vector<bool> begun(sums.outputs, false);
    for (std::size_t i = 0; i < sums.inputs; ++i) {
        code += loads(i, 1) + values_of_loads(i, 1);
        add_value(sums, i, fmt::format("in{}", i), "sum", begun, code);
    }
    for (std::size_t o = 0; o < sums.outputs; ++o) {
        code += fmt::format("        store({0}, sum{0});\n", o);
    }
    return code;
}

/// The block of a 4 x 4 grid that is block `inner` of block `outer` of 2 x 2 grids.
std::size_t block_of_grid(std::size_t outer, std::size_t inner) {
    return (outer / 2 * 2 + inner / 2) * 4 + outer % 2 * 2 + inner % 2;
}

/// Is it the sums `one` twice, the outer ones of blocks and the inner ones of their blocks?
bool is_twice(const Sums& sums, const Sums& one) {
    if (sums.inputs != one.inputs * one.inputs || sums.outputs != one.outputs * one.outputs) {
        return false;
    }
    const bool spreads = one.inputs == 4;
    for (std::size_t o = 0; o < sums.outputs; ++o) {
        for (std::size_t i = 0; i < sums.inputs; ++i) {
            std::size_t outer_in = i / one.inputs, inner_in = i % one.inputs;
            std::size_t outer_out = o / one.outputs, inner_out = o % one.outputs;
            const std::size_t input = spreads ? block_of_grid(outer_in, inner_in) : i;
            const std::size_t output = spreads ? o : block_of_grid(outer_out, inner_out);
            if (sums.of(output, input) != one.of(outer_out, outer_in) * one.of(inner_out, inner_in)) {
                return false;
            }
        }
    }
    return true;
}

/// Two levels of 2 x 2 blocks into many: for each outer sum its four blocks, then the inner sums of those. They take
/// half the additions of plain sums and few registers beside the inputs, so that all loads are on their way at once.
std::string sums_of_sums(const Sums& one) {
    std::string code = inspected_inputs(one.inputs * one.inputs);
    for (std::size_t r = 0; r < one.outputs; ++r) {
        code += "        {\n";
        for (std::size_t inner = 0; inner < one.inputs; ++inner) {
            code += fmt::format("        const auto part{} = {};\n", inner,
                                sum_text(one, r, "in", [&](std::size_t outer) { return block_of_grid(outer, inner); }));
        }
        for (std::size_t s = 0; s < one.outputs; ++s) {
            code += fmt::format("        store({}, {});\n", r * one.outputs + s, sum_text(one, s, "part", itself));
        }
        code += "        }\n";
    }
    return code;
}

/// Many into two levels of 2 x 2 blocks: the products of one outer product are summed up to its blocks, and those are
/// added to the blocks of the blocks, while the products of the next one are on their way.
std::string sums_into_sums(const Sums& one) {
    std::string code;
    const std::size_t blocks = one.outputs;
    for (std::size_t i = 0; i < blocks * blocks; ++i) {
        code += fmt::format("        auto sum{} = zero();\n", i);
    }
    code += loads(0, one.inputs);
    for (std::size_t r = 0; r < one.inputs; ++r) {
        if (r + 1 < one.inputs) {
            code += loads((r + 1) * one.inputs, one.inputs);
        }
        code += "        {\n" + values_of_loads(r * one.inputs, one.inputs);
        std::vector<bool> begun(blocks, false);
        for (std::size_t s = 0; s < one.inputs; ++s) {
            add_value(one, s, fmt::format("in{}", r * one.inputs + s), "part", begun, code);
        }
        for (std::size_t outer = 0; outer < blocks; ++outer) {
            if (const int coefficient = one.of(outer, r); coefficient != 0) {
                for (std::size_t inner = 0; inner < blocks; ++inner) {
                    code += fmt::format("        sum{0} = sum{0}{1};\n", block_of_grid(outer, inner),
                                        term_text(coefficient, fmt::format("part{}", inner), false));
                }
            }
        }
        code += "        }\n";
    }
    for (std::size_t i = 0; i < blocks * blocks; ++i) {
        code += fmt::format("        store({0}, sum{0});\n", i);
    }
    return code;
}

Sums sums_of_pass(const CombinePass& pass) {
    const cuda::LinearPass linear = cuda::linear_pass(pass);
    Sums sums{{}, linear.inputs.size(), linear.outputs.size()};
    for (const double coefficient : linear.coefficients) {  // the algorithms named below have whole ones
        sums.coefficients.push_back(static_cast<int>(coefficient));
    }
    return sums;
}

std::string pass_code(const Sums& sums, const std::vector<Sums>& single_levels) {
    for (const Sums& one : single_levels) {
        if (is_twice(sums, one)) {
            return one.inputs <= one.outputs ? sums_of_sums(one) : sums_into_sums(one);
        }
    }
    return sums.inputs <= sums.outputs ? sums_of_inputs(sums) : inputs_into_sums(sums);
}

/// The struct: its coefficients, by which a pass is recognised, and the sums as code.
std::string pass_struct(const std::string& name, const Sums& sums, const std::string& code) {
    return fmt::format(
        "struct {} {{\n"
        "    static constexpr int kInputs = {}, kOutputs = {};\n"
        "    static constexpr int kCoefficients[] = {{{}}};\n"
        "    template <class Load, class Value, class Zero, class Inspect, class Store>\n"
        "    static __device__ __forceinline__ void run(Load&& load, Value&& value, [[maybe_unused]] Zero&& zero,\n"
        "                                               [[maybe_unused]] bool watching,\n"
        "                                               [[maybe_unused]] Inspect&& inspect, Store&& store) {{\n{}    "
        "}}\n"
        "}};\n",
        name, sums.inputs, sums.outputs, fmt::join(sums.coefficients, ", "), code);
}

/// What a pass is for. Element types that meet only on the way to the sums, or from them, have only those passes.
enum class Role : std::uint8_t { copied_operands, own_sums, results };
constexpr std::array<const char*, 3> kLists = {"CopyingPasses", "SumPasses", "ResultPasses"};

class Header {
public:
    void add(Role role, const CombinePass& pass) {
        const Sums sums = sums_of_pass(pass);
        if (known_.insert({sums.outputs, sums.coefficients}).second) {
            const std::string name = fmt::format("Pass{}", added_.size());
            names_[static_cast<std::size_t>(role)].push_back(name);
            structs_ += pass_struct(name, sums, pass_code(sums, added_));
            added_.push_back(sums);
        }
    }
    std::string text() const {
        std::string lists;
        for (std::size_t i = 0; i < kLists.size(); ++i) {
            lists += fmt::format("using {} = PassList<{}>;\n", kLists[i], fmt::join(names_[i], ", "));
        }
        return fmt::format(
            "// Generated by generate_passes from the .alg files.\n#pragma once\n\nnamespace heptad::cuda {{\n\n{}\n"
            "template <class... Passes>\nstruct PassList {{}};\n{}\n}}  // namespace heptad::cuda\n",
            structs_, lists);
    }

private:
    std::array<std::vector<std::string>, kLists.size()> names_;
    std::set<std::pair<std::size_t, std::vector<int>>> known_;
    std::vector<Sums> added_;
    std::string structs_;
};

void add_algorithm(Header& header, const std::string& name) {
    const LevelPrograms programs = level_programs(name, false);
    for (const LinearProgram* program : {programs.a, programs.b}) {
        for (const bool batched : {true, false}) {
            const OperandLayout layout = operand_layout(*program, batched);
            const auto blocks = numbered_views(static_cast<std::size_t>(program->inputs), 0);
            const auto stored = numbered_views(static_cast<std::size_t>(layout.stored), blocks.size());
            header.add(batched ? Role::copied_operands : Role::own_sums,
                       operand_pass(*program, layout, {blocks, {}}, {stored, {}}));
        }
    }
    const auto products = numbered_views(static_cast<std::size_t>(programs.c->inputs), 0);
    const auto outputs = numbered_views(programs.c->outputs.size(), products.size());
    header.add(Role::results, result_pass(*programs.c, {products, {}}, 0, {outputs, {}}));
}

}  // namespace
}  // namespace heptad

int main(int count, char** arguments) {
    if (count != 2) {
        fmt::print(stderr, "usage: generate_passes OUTPUT\n");
        return 2;
    }
    heptad::Header header;
    for (const char* name : {"winograd", "winograd*winograd"}) {
        heptad::add_algorithm(header, name);
    }
    std::FILE* file = std::fopen(arguments[1], "w");
    const std::string text = header.text();
    if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file) != text.size() || std::fclose(file) != 0) {
        fmt::print(stderr, "generate_passes: cannot write '{}'\n", arguments[1]);
        return 1;
    }
    return 0;
}

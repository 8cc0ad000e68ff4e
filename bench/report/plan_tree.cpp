#include "bench/report/plan_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <utility>
#include <vector>

#include "algorithm/catalogue.hpp"
#include "base/error.hpp"
#include "bench/report/html.hpp"
#include "bench/report/report_record.hpp"
#include "cli/text.hpp"

namespace heptad::cli {
namespace {

/// Words before the first pair, and pairs: "key=value", or "key value" in plans of bits.
struct PlanText {
    std::vector<std::string> head;
    std::vector<std::pair<std::string, std::string>> pairs;

    /// "" where it has no such key. What was asked for is not listed again.
    std::string take(const std::string& key) {
        const auto found =
            std::find_if(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == key; });
        if (found == pairs.end()) {
            return "";
        }
        std::string value = found->second;
        pairs.erase(found);
        return value;
    }
};

PlanText read_plan(const std::string& plan) {
    PlanText text;
    std::istringstream words(plan);
    std::string next, key;
    bool bits = false;
    while (words >> next) {
        bits = bits || next == "bits";
        const std::size_t equals = next.find('=');
        if (equals != std::string::npos && equals > 0) {
            text.pairs.emplace_back(next.substr(0, equals), next.substr(equals + 1));
        } else if (bits && (next == "algorithm" || next == "device" || !text.pairs.empty())) {
            key = next;
            words >> next;
            text.pairs.emplace_back(key, next);
            if (key == "leaf" && words >> next) {
                text.pairs.emplace_back("leaf size", next);
            }
        } else if (text.pairs.empty()) {
            text.head.push_back(next);
        } else {
            text.pairs.back().second += " " + next;
        }
    }
    return text;
}

using Sizes = std::array<double, 3>;

/// "4096x4096x4096"; zeros where the word is something else.
Sizes sizes_of(const std::string& word) {
    const std::vector<std::string> parts = split(word, 'x');
    Sizes sizes{};
    for (std::size_t i = 0; i < 3 && parts.size() == 3; ++i) {
        sizes[i] = std::strtod(parts[i].c_str(), nullptr);
    }
    return sizes;
}

std::string sizes_text(const Sizes& sizes) {
    return fmt::format("{:.0f} \u00d7 {:.0f} \u00d7 {:.0f}", sizes[0], sizes[1], sizes[2]);
}

/// How many products a level makes, and of which part of its sizes. A composition is written with '*'.
struct LevelShape {
    double products = 1;
    Sizes parts{1, 1, 1};
};
LevelShape level_shape(const std::string& algorithm) {
    LevelShape shape;
    for (const std::string& name : split(algorithm, '*')) {
        // A name with a slash would be the name of a file.
        if (name.find('/') != std::string::npos || name.find(".alg") != std::string::npos) {
            return {};
        }
        try {
            const Algorithm& found = find_algorithm(name).algorithm;
            shape.products *= found.rank();
            shape.parts = {shape.parts[0] * found.m, shape.parts[1] * found.k, shape.parts[2] * found.n};
        } catch (const Error&) {
            return {};  // of another version of this program
        }
    }
    return shape;
}

std::string item(const std::string& text) {
    return "<li>" + html_text(text) + "</li>";
}

/// "winograd*winograd:parallel,strassen:fused:batched" as nested lists, the leaf innermost.
std::string levels_html(const std::string& levels, Sizes sizes, const std::string& leaf) {
    std::string html, end;
    double products = 1;
    if (levels != "none" && !levels.empty()) {
        for (const std::string& level : split(levels, ',')) {
            std::vector<std::string> words = split(level, ':');
            const LevelShape shape = level_shape(words.front());
            std::string text = words.front();
            words.erase(words.begin());
            text += words.empty() ? "" : fmt::format(", {}", fmt::join(words, " "));
            if (shape.products > 1) {
                products *= shape.products;
                for (std::size_t i = 0; i < 3; ++i) {
                    sizes[i] /= shape.parts[i];
                }
                text += fmt::format(": {:.0f} products of {}", shape.products, sizes_text(sizes));
            }
            html += "<ul><li>" + html_text(text);
            end += "</li></ul>";
        }
    }
    const std::string count = products > 1 ? fmt::format(", {:.0f} times", products) : "";
    return html + "<ul>" + item("leaf " + leaf + count) + "</ul>" + end;
}

std::string fact_text(const std::string& key, const std::string& value) {
    const auto ends = [&](const char* suffix) {
        return key.size() >= std::string(suffix).size() && key.ends_with(suffix);
    };
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    const bool whole = end != value.c_str() && *end == '\0' && number >= 0 && number < 9e18;
    std::string name = key;
    std::replace(name.begin(), name.end(), '-', ' ');
    if (whole && (ends("bytes") || key == "workspace")) {
        name = ends("bytes") ? name.substr(0, name.size() - 5) : name;
        return name + (name.ends_with(' ') ? "" : " ") + bytes_text(number);
    }
    if (whole && (ends("-s") || ends("_s"))) {
        return name.substr(0, name.size() - 2) + " " + seconds_text(number);
    }
    return name + " " + (whole && value.find('.') != std::string::npos ? fmt::format("{:.3g}", number) : value);
}

/// "winograd*winograd > cublas": what a line of a table has room for.
std::string summary_of(const std::string& arithmetic, const std::string& levels, const std::string& leaf) {
    std::vector<std::string> words;
    if (arithmetic.starts_with("residues:")) {
        words.push_back(arithmetic.substr(9) + " residues");
    }
    if (levels != "none" && !levels.empty()) {
        const std::vector<std::string> all = split(levels, ',');
        const std::string outer = all.front().substr(0, all.front().find(':'));
        words.push_back(all.size() == 1 ? outer : fmt::format("{} + {} more", outer, all.size() - 1));
    }
    words.push_back(leaf);
    return fmt::format("{}", fmt::join(words, " \u203a "));
}

}  // namespace

std::string plan_html(const std::string& plan) {
    if (plan.empty()) {
        return "";
    }
    PlanText text = read_plan(plan);
    const std::string leaf = text.take("leaf"), arithmetic = text.take("arithmetic"), levels = text.take("levels"),
                      algorithm = text.take("algorithm"), core = text.take("core"), fringe = text.take("fringe-leaf"),
                      padded = text.take("extended") + text.take("padded");
    if (text.pairs.empty() && leaf.empty()) {
        return R"(<details class="plan" name="plan"><summary>in words</summary><div><p>)" + html_text(plan) +
               "</p></div></details>";
    }
    const bool bits = !algorithm.empty();  // "levels" is a number there
    const std::string outer = bits && levels == "0" ? "" : algorithm;
    std::string summary = leaf.empty() ? text.head.empty() ? "plan" : text.head.front()
                                       : summary_of(arithmetic, bits ? outer : levels, leaf);
    summary += leaf.empty() && !algorithm.empty() ? " \u203a " + algorithm : "";
    std::vector<std::string> head = text.head;
    if (!head.empty() && (head.front() == "plan")) {
        head.erase(head.begin());
    }
    std::string tree = "<li>" + html_text(fmt::format("{}", fmt::join(head, " ")));
    const Sizes whole = sizes_of(head.empty() ? "" : head.front()), inner = sizes_of(core);
    if (arithmetic.starts_with("residues:")) {
        tree +=
            "<ul><li>residues modulo " + html_text(arithmetic.substr(9)) + " numbers: a product of integers for each";
    } else if (!arithmetic.empty()) {
        tree += "<ul><li>" + html_text(arithmetic);
    }
    const bool cut = inner[0] > 0 && inner != whole;
    if (cut) {
        tree += "<ul><li>" + (padded == "yes" ? "padded with zeros to " + sizes_text(inner)
                                              : fmt::format("levels multiply {}, {} the rest", sizes_text(inner),
                                                            html_text(fringe)));
    }
    if (bits) {
        tree += "<ul>" + item(algorithm + (levels.empty() ? "" : ", levels: " + levels)) +
                (leaf.empty() ? "" : item("leaf " + leaf)) + "</ul>";
    } else if (!leaf.empty()) {
        tree += levels_html(levels, inner[0] > 0 ? inner : whole, leaf);
    }
    tree += cut ? "</li></ul>" : "";
    tree += arithmetic.empty() ? "" : "</li></ul>";
    tree += "</li>";
    std::vector<std::string> facts;
    for (const auto& [key, value] : text.pairs) {
        if (value != "no") {
            facts.push_back(fact_text(key, value));
        }
    }
    // One name for all: a browser that knows it closes the one that was open.
    return fmt::format(
        "<details class=\"plan\" name=\"plan\"><summary>{}</summary><div><ul>{}</ul><p>{}</p><button type=\"button\" "
        "hidden data-plan=\"{}\">copy as text</button></div></details>",
        html_text(summary), tree, html_text(fmt::format("{}", fmt::join(facts, " \u00b7 "))), html_text(plan));
}

}  // namespace heptad::cli

#include "plan/model/plan.hpp"

#include <charconv>
#include <cmath>
#include <optional>

#include "algorithm/catalogue.hpp"
#include "base/error.hpp"
#include "base/size.hpp"
#include "base/text_stream.hpp"
#include "plan/search/fused_instances.hpp"

namespace heptad {
namespace {

std::string levels_text(const std::vector<LevelPlan>& levels) {
    if (levels.empty()) {
        return "none";
    }
    std::string text;
    for (const LevelPlan& level : levels) {
        text += fmt::format("{}{}:{}", text.empty() ? "" : ",", level.algorithm, mode_name(level.mode));
        if (level.mode == LevelMode::fused) {
            text += fmt::format(":{}", fused_order_name(level.order));
            text += level.tile == FusedTile::automatic ? "" : fmt::format(":{}", fused_tile_name(level.tile));
        } else if (!level.schedule.empty()) {
            text += ":" + level.schedule;
        }
    }
    return text;
}

template <class Number>
Number parse_number(const std::string& key, const std::string& text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < Number{}) {
        fail(ErrorCode::input, "a plan's {} cannot be '{}'", key, text);
    }
    return value;
}

struct Sizes {
    std::int64_t m = 0, k = 0, n = 0;
};

Sizes parse_sizes(const std::string& key, const std::string& text) {
    const auto first = text.find('x');
    const auto second = first == std::string::npos ? first : text.find('x', first + 1);
    if (second == std::string::npos) {
        fail(ErrorCode::input, "a plan's {} is written MxKxN, not '{}'", key, text);
    }
    return {parse_number<std::int64_t>(key, text.substr(0, first)),
            parse_number<std::int64_t>(key, text.substr(first + 1, second - first - 1)),
            parse_number<std::int64_t>(key, text.substr(second + 1))};
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream = stream_of(text);
    for (std::string part; std::getline(stream, part, separator);) {
        parts.push_back(part);
    }
    return parts;
}

/// What follows ALGORITHM:fused.
void parse_launch(const std::vector<std::string>& parts, LevelPlan& level) {
    if (parts.size() > 2) {
        const std::optional<FusedOrder> order = fused_order_of(parts[2]);
        if (!order) {
            fail(
                ErrorCode::input,
                "'{}' is no order of a fused level; the orders are serial, two-streams, atomic, batched and persistent",
                parts[2]);
        }
        level.order = *order;
    }
    if (parts.size() > 3) {
        const std::optional<FusedTile> tile = fused_tile_of(parts[3]);
        if (!tile) {
            fail(ErrorCode::input,
                 "'{}' is no tile of a fused level; the tiles are automatic, small, medium, large, tall, wide and huge",
                 parts[3]);
        }
        level.tile = *tile;
    }
}

LevelPlan parse_level(const std::string& text) {
    const auto parts = split(text, ':');
    const bool is_fused = parts.size() >= 2 && parts[1] == mode_name(LevelMode::fused);
    if (parts.size() < 2 || parts.size() > (is_fused ? 4U : 3U)) {
        fail(ErrorCode::input,
             "a level of a plan is written ALGORITHM:MODE, ALGORITHM:MODE:SCHEDULE or ALGORITHM:fused:ORDER:TILE, not "
             "'{}'",
             text);
    }
    LevelPlan level;
    level.algorithm = parts[0];
    find_algorithm(level.algorithm);
    if (parts[1] == mode_name(LevelMode::serial)) {
        level.mode = LevelMode::serial;
    } else if (parts[1] == mode_name(LevelMode::parallel)) {
        level.mode = LevelMode::parallel;
    } else if (is_fused) {
        level.mode = LevelMode::fused;
        parse_launch(parts, level);
        return level;
    } else {
        fail(ErrorCode::input, "'{}' is not the mode of a level; the modes are serial, parallel and fused", parts[1]);
    }
    level.schedule = parts.size() == 3 ? parts[2] : "";
    return level;
}

bool parse_flag(const std::string& key, const std::string& text) {
    if (text != "yes" && text != "no") {
        fail(ErrorCode::input, "a plan's {} is yes or no, not '{}'", key, text);
    }
    return text == "yes";
}

}  // namespace

const char* mode_name(LevelMode mode) {
    switch (mode) {
        case LevelMode::serial:
            return "serial";
        case LevelMode::parallel:
            return "parallel";
        case LevelMode::fused:
            return "fused";
    }
    return "";
}

std::string to_string(const ProductPlan& plan) {
    return fmt::format(
        "plan {}x{}x{} {} backend={} threads={} levels={} leaf={} fringe-leaf={} core={}x{}x{}{}{}{} accumulate={} "
        "change-basis={} "
        "workspace-bytes={}{} predicted-s={} error-bound={}{}",
        plan.m, plan.k, plan.n, type_name(plan.type), plan.backend, plan.threads, levels_text(plan.levels), plan.leaf,
        plan.fringe_leaf, plan.core_m, plan.core_k, plan.core_n, plan.extended ? " extended=yes" : "",
        plan.scaled_sums ? " scaled-sums=yes" : "", plan.overwrite_inputs ? " overwrite-inputs=yes" : "",
        plan.accumulate ? "yes" : "no", plan.change_basis ? "yes" : "no", plan.workspace_bytes,
        plan.vendor_workspace_bytes > 0 ? fmt::format(" vendor-workspace-bytes={}", plan.vendor_workspace_bytes) : "",
        plan.predicted_s, plan.error_bound,
        std::isfinite(plan.most_spread) ? fmt::format(" most-spread={}", plan.most_spread) : "");
}

ProductPlan parse_plan(const std::string& text) {
    std::istringstream stream = stream_of(text);
    std::string word;
    std::string sizes;
    std::string type;
    if (!(stream >> word >> sizes >> type) || word != "plan") {
        fail(ErrorCode::input, "a plan starts with 'plan MxKxN TYPE', as `heptad plan` prints it");
    }
    ProductPlan plan;
    const Sizes size = parse_sizes("size", sizes);
    plan.m = size.m;
    plan.k = size.k;
    plan.n = size.n;
    plan.type = type_from_name(type);
    unsigned seen = 0;
    while (stream >> word) {
        const auto equals = word.find('=');
        const std::string key = word.substr(0, equals);
        const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
        unsigned bit = 0;
        if (key == "backend") {
            plan.backend = value;
            bit = 1U << 0;
        } else if (key == "threads") {
            plan.threads = parse_number<int>(key, value);
            bit = 1U << 1;
        } else if (key == "levels") {
            if (value != "none") {
                for (const std::string& level : split(value, ',')) {
                    plan.levels.push_back(parse_level(level));
                }
            }
            bit = 1U << 2;
        } else if (key == "leaf") {
            plan.leaf = value;
            bit = 1U << 3;
        } else if (key == "fringe-leaf") {
            plan.fringe_leaf = value;
            bit = 1U << 4;
        } else if (key == "core") {
            const Sizes core = parse_sizes(key, value);
            plan.core_m = core.m;
            plan.core_k = core.k;
            plan.core_n = core.n;
            bit = 1U << 5;
        } else if (key == "accumulate") {
            plan.accumulate = parse_flag(key, value);
            bit = 1U << 6;
        } else if (key == "change-basis") {
            plan.change_basis = parse_flag(key, value);
            bit = 1U << 7;
        } else if (key == "workspace-bytes") {
            plan.workspace_bytes = parse_number<std::int64_t>(key, value);
            bit = 1U << 8;
        } else if (key == "predicted-s") {
            plan.predicted_s = parse_number<double>(key, value);
            bit = 1U << 9;
        } else if (key == "error-bound") {
            plan.error_bound = parse_number<double>(key, value);
            bit = 1U << 10;
        } else if (key == "extended") {
            plan.extended = parse_flag(key, value);
            bit = 1U << 12;
        } else if (key == "overwrite-inputs") {
            plan.overwrite_inputs = parse_flag(key, value);
            bit = 1U << 13;
        } else if (key == "scaled-sums") {
            plan.scaled_sums = parse_flag(key, value);
            bit = 1U << 14;
        } else if (key == "most-spread") {
            plan.most_spread = parse_number<double>(key, value);
            bit = 1U << 15;
        } else if (key == "vendor-workspace-bytes") {
            plan.vendor_workspace_bytes = parse_number<std::int64_t>(key, value);
            bit = 1U << 11;
        } else {
            fail(ErrorCode::input, "a plan has no part '{}'", word);
        }
        if ((seen & bit) != 0) {
            fail(ErrorCode::input, "a plan names its {} once, not twice", key);
        }
        seen |= bit;
    }
    constexpr unsigned kOptional = (1U << 11) | (1U << 12) | (1U << 13) | (1U << 14) | (1U << 15);
    if ((seen | kOptional) != (1U << 16) - 1) {
        fail(ErrorCode::input, "the plan is not complete; give it back as `heptad plan` printed it");
    }
    return plan;
}

LeafSize leaf_size(const ProductPlan& plan) {
    LeafSize leaf{plan.core_m, plan.core_k, plan.core_n, 1};
    for (const LevelPlan& level : plan.levels) {
        const Algorithm& algorithm = find_algorithm(level.algorithm).algorithm;
        if (level.mode == LevelMode::fused) {
            leaf.m = fused_side(leaf.m, algorithm.m, plan.type);
            leaf.k = fused_side(leaf.k, algorithm.k, plan.type);
            leaf.n = fused_side(leaf.n, algorithm.n, plan.type);
        } else {
            leaf.m /= algorithm.m;
            leaf.k /= algorithm.k;
            leaf.n /= algorithm.n;
        }
        leaf.count = checked_mul(leaf.count, algorithm.rank());
    }
    return leaf;
}

}  // namespace heptad

#include "plan/search/cluster_plan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/error.hpp"
#include "base/size.hpp"
#include "base/text_stream.hpp"
#include "plan/search/cluster_caps.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kLargestBlock = std::int64_t{1} << 13;  // P4's
/// Below, a panel is too thin for a level of a fast algorithm to pay.
constexpr std::int64_t kThinnestPanel = 1024;
/// With so many, filling and draining the pipeline takes an eighth of the time.
constexpr std::int64_t kEnoughPanels = 8;
constexpr std::int64_t kPanelsInMemory = 3;  // being read, gathered and multiplied

std::string shape_text(std::int64_t x, std::int64_t y, std::int64_t z) {
    return fmt::format("{}x{}x{}", x, y, z);
}

[[noreturn]] void refuse(const std::string& text, const std::string& part) {
    fail(ErrorCode::input, "'{}' is no plan of a cluster: '{}' cannot be meant", text, part);
}

std::int64_t parse_number(const std::string& text, const std::string& part, const std::string& word,
                          std::int64_t least) {
    std::int64_t value = 0;
    const char* end = word.data() + word.size();
    const auto [stop, status] = std::from_chars(word.data(), end, value);
    if (status != std::errc() || stop != end || value < least) {
        refuse(text, part);
    }
    return value;
}

std::array<std::int64_t, 3> parse_triple(const std::string& text, const std::string& part, const std::string& word,
                                         std::int64_t least) {
    const std::size_t first = word.find('x');
    const std::size_t second = first == std::string::npos ? first : word.find('x', first + 1);
    if (second == std::string::npos) {
        refuse(text, part);
    }
    return {parse_number(text, part, word.substr(0, first), least),
            parse_number(text, part, word.substr(first + 1, second - first - 1), least),
            parse_number(text, part, word.substr(second + 1), least)};
}

/// One `name=value` of the print.
void parse_field(ClusterPlan& plan, const std::string& text, const std::string& part) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
        refuse(text, part);
    }
    const std::string name = part.substr(0, equals), value = part.substr(equals + 1);
    if (name == "ranks") {
        plan.ranks = parse_number(text, part, value, 1);
    } else if (name == "algorithm") {
        plan.algorithm = cluster_algorithm_from_name(value);
    } else if (name == "grid") {
        const auto [pm, pk, pn] = parse_triple(text, part, value, 1);
        plan.grid = {pm, pk, pn};
    } else if (name == "panels") {
        plan.panels = parse_number(text, part, value, 1);
    } else if (name == "steps") {
        plan.steps = static_cast<int>(parse_number(text, part, value, 1));
    } else if (name == "block") {
        const auto [x, y, z] = parse_triple(text, part, value, 1);
        plan.block = {x, y, z};
    } else {
        refuse(text, part);
    }
}

void check_fields(const ClusterPlan& plan, const std::string& text) {
    if (plan.algorithm == ClusterAlgorithm::grid) {
        // The product may not fit in 64 bits, so it is never made.
        const bool fits = plan.grid.pm <= plan.ranks && plan.grid.pk <= plan.ranks / plan.grid.pm &&
                          plan.grid.pn <= plan.ranks / (plan.grid.pm * plan.grid.pk);
        if (!fits) {
            fail(ErrorCode::input, "'{}' is no plan of a cluster: its grid has more places than the {} ranks", text,
                 plan.ranks);
        }
    } else if (plan.algorithm == ClusterAlgorithm::caps) {
        if (plan.steps < 1 || plan.steps > most_caps_steps(plan.ranks)) {
            fail(ErrorCode::input, "'{}' is no plan of a cluster: {} ranks make {} steps of caps at most", text,
                 plan.ranks, most_caps_steps(plan.ranks));
        }
    } else if (plan.block.x < 1) {
        fail(ErrorCode::input, "'{}' is no plan of a cluster: {} needs block=XxYxZ", text,
             cluster_algorithm_name(plan.algorithm));
    }
}

/// The windows that blocks of `rows` x `cols` cut a window into, row by row or column by column.
std::vector<Window> cut(const Window& whole, std::int64_t rows, std::int64_t cols, bool row_by_row) {
    std::vector<Window> blocks;
    const std::int64_t down = ceil_div(whole.rows, rows), across = ceil_div(whole.cols, cols);
    for (std::int64_t outer = 0; outer < (row_by_row ? down : across); ++outer) {
        for (std::int64_t inner = 0; inner < (row_by_row ? across : down); ++inner) {
            const std::int64_t row = (row_by_row ? outer : inner) * rows, col = (row_by_row ? inner : outer) * cols;
            blocks.push_back(
                {whole.row + row, whole.col + col, std::min(rows, whole.rows - row), std::min(cols, whole.cols - col)});
        }
    }
    return blocks;
}

Window window_of(const IndexRange& rows, const IndexRange& cols) {
    return {rows.begin, cols.begin, rows.size(), cols.size()};
}

HeldWindows held_in_grid(const ClusterPlan& plan, std::int64_t rank) {
    HeldWindows held;
    if (rank >= plan.grid.ranks()) {
        return held;
    }
    const GridPlace place = place_in_grid(plan.grid, rank);
    const IndexRange rows = split_range(plan.m, plan.grid.pm, place.i);
    const IndexRange inner = split_range(plan.k, plan.grid.pk, place.l);
    const IndexRange cols = split_range(plan.n, plan.grid.pn, place.j);
    for (std::int64_t s = 0; s < plan.panels; ++s) {
        const IndexRange panel = split_range(inner, plan.panels, s);
        held.a.push_back(window_of(split_range(rows, plan.grid.pn, place.j), panel));
        held.b.push_back(window_of(split_range(panel, plan.grid.pm, place.i), cols));
    }
    return held;
}

std::int64_t elements(const std::vector<Window>& windows) {
    std::int64_t sum = 0;
    for (const Window& window : windows) {
        sum += window.elements();
    }
    return sum;
}

}  // namespace

std::string to_string(const ClusterPlan& plan) {
    std::string text = fmt::format("cluster {} {} ranks={} algorithm={}", shape_text(plan.m, plan.k, plan.n),
                                   type_name(plan.type), plan.ranks, cluster_algorithm_name(plan.algorithm));
    if (plan.algorithm == ClusterAlgorithm::grid) {
        text += fmt::format(" grid={} panels={}", shape_text(plan.grid.pm, plan.grid.pk, plan.grid.pn), plan.panels);
    } else if (plan.algorithm == ClusterAlgorithm::caps) {
        text += fmt::format(" steps={}", plan.steps);
    } else {
        text += " block=" + shape_text(plan.block.x, plan.block.y, plan.block.z);
    }
    return text;
}

ClusterPlan parse_cluster_plan(const std::string& text) {
    std::istringstream words = stream_of(text);
    std::string word, size, type;
    words >> word >> size >> type;
    if (word != "cluster") {
        refuse(text, word);
    }
    ClusterPlan plan;
    const auto [m, k, n] = parse_triple(text, size, size, 0);
    plan.m = m;
    plan.k = k;
    plan.n = n;
    plan.type = type_from_name(type);
    while (words >> word) {
        parse_field(plan, text, word);
    }
    check_fields(plan, text);
    return plan;
}

BlockSize default_block(const ProblemSize& size, std::int64_t ranks, ClusterAlgorithm algorithm) {
    const std::int64_t columns = algorithm == ClusterAlgorithm::mod_pegmm ? size.n / ranks : size.n;
    const std::int64_t side = std::max<std::int64_t>(1, std::min({size.m / ranks, size.k, columns, kLargestBlock}));
    return {side, side, side};
}

std::int64_t panel_count(const ProblemSize& size, Type type, const ClusterGrid& grid, std::int64_t memory_bytes) {
    const std::int64_t rows = ceil_div(size.m, grid.pm), inner = ceil_div(size.k, grid.pk),
                       cols = ceil_div(size.n, grid.pn);
    const auto element = static_cast<std::int64_t>(element_bytes(type));
    const std::int64_t result_bytes = checked_mul(checked_mul(rows, cols), element);
    // A reduction receives a part of C beside it.
    const std::int64_t fixed_bytes =
        checked_add(result_bytes, grid.pk > 1 ? checked_mul(ceil_div(rows, grid.pk), cols * element) : 0);
    const std::int64_t thickness_bytes = checked_mul(kPanelsInMemory * element, checked_add(rows, cols));
    const std::int64_t thickest =
        memory_bytes < fixed_bytes ? 0 : (memory_bytes - fixed_bytes) / std::max<std::int64_t>(1, thickness_bytes);
    if (thickest < 1 && inner > 0) {
        fail(
            ErrorCode::resource,
            "a rank of a {}x{}x{} grid holds {} bytes of C and panels beside it, but may use {} bytes; use more ranks, "
            "another --grid or a larger --memory",
            grid.pm, grid.pk, grid.pn, fixed_bytes, memory_bytes);
    }
    const std::int64_t wanted = std::clamp<std::int64_t>(inner / kThinnestPanel, 1, kEnoughPanels);
    return std::max(wanted, inner > 0 ? ceil_div(inner, thickest) : 1);
}

HeldWindows held_windows(const ClusterPlan& plan, std::int64_t rank) {
    if (plan.algorithm == ClusterAlgorithm::grid) {
        return held_in_grid(plan, rank);
    }
    if (plan.algorithm == ClusterAlgorithm::caps) {
        return held_by_caps(plan, rank);
    }
    const Window a = window_of(split_range(plan.m, plan.ranks, rank), {0, plan.k});
    const bool all_of_b = plan.algorithm == ClusterAlgorithm::pegmm;
    const Window b = window_of({0, plan.k}, all_of_b ? IndexRange{0, plan.n} : split_range(plan.n, plan.ranks, rank));
    return {cut(a, plan.block.x, plan.block.y, true), cut(b, plan.block.y, plan.block.z, false)};
}

Window result_window(const ClusterPlan& plan, std::int64_t rank) {
    if (plan.algorithm == ClusterAlgorithm::caps) {
        return {};
    }
    if (plan.algorithm != ClusterAlgorithm::grid) {
        return window_of(split_range(plan.m, plan.ranks, rank), {0, plan.n});
    }
    if (rank >= plan.grid.ranks()) {
        return {};
    }
    const GridPlace place = place_in_grid(plan.grid, rank);
    const IndexRange rows = split_range(plan.m, plan.grid.pm, place.i);
    return window_of(split_range(rows, plan.grid.pk, place.l), split_range(plan.n, plan.grid.pn, place.j));
}

std::vector<Window> result_units(const ClusterPlan& plan, std::int64_t rank) {
    const Window part = result_window(plan, rank);
    if (plan.algorithm == ClusterAlgorithm::caps) {
        return results_of_caps(plan, rank);
    }
    if (part.elements() == 0) {
        return {};
    }
    if (plan.algorithm == ClusterAlgorithm::grid) {
        return {part};
    }
    if (plan.algorithm == ClusterAlgorithm::pegmm) {
        return cut(part, plan.block.x, plan.block.z, true);
    }
    std::vector<Window> columns;
    for (std::int64_t q = 1; q <= plan.ranks; ++q) {
        const IndexRange cols = split_range(plan.n, plan.ranks, (rank + q - 1) % plan.ranks);
        const std::vector<Window> of_rank =
            cut({part.row, cols.begin, part.rows, cols.size()}, part.rows, plan.block.z, true);
        columns.insert(columns.end(), of_rank.begin(), of_rank.end());
    }
    return columns;
}

std::int64_t received_bytes(const ClusterPlan& plan, std::int64_t rank) {
    const auto element = static_cast<std::int64_t>(element_bytes(plan.type));
    switch (plan.algorithm) {
        case ClusterAlgorithm::pegmm:
            return 0;
        case ClusterAlgorithm::mod_pegmm:
            return split_range(plan.m, plan.ranks, rank).size() == 0
                       ? 0
                       : element * plan.k * (plan.n - split_range(plan.n, plan.ranks, rank).size());
        case ClusterAlgorithm::caps:
            return element * received_by_caps(plan, rank);
        default:
            break;
    }
    if (rank >= plan.grid.ranks()) {
        return 0;
    }
    const GridPlace place = place_in_grid(plan.grid, rank);
    const std::int64_t rows = split_range(plan.m, plan.grid.pm, place.i).size();
    const std::int64_t inner = split_range(plan.k, plan.grid.pk, place.l).size();
    const std::int64_t cols = split_range(plan.n, plan.grid.pn, place.j).size();
    const HeldWindows held = held_in_grid(plan, rank);
    // Each of the others in the sum adds its share of the rank's own part of C.
    const std::int64_t partial = (plan.grid.pk - 1) * result_window(plan, rank).elements();
    return element * (rows * inner - elements(held.a) + inner * cols - elements(held.b) + partial);
}

std::int64_t idle_ranks(const ClusterPlan& plan) {
    return plan.algorithm == ClusterAlgorithm::caps   ? plan.ranks - caps_shape(plan).ranks
           : plan.algorithm == ClusterAlgorithm::grid ? plan.ranks - plan.grid.ranks()
                                                      : std::max<std::int64_t>(0, plan.ranks - plan.m);
}

}  // namespace heptad

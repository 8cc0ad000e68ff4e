#include "product/request/plan_file.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/fail_if.hpp"
#include "base/json_text.hpp"
#include "plan/search/cluster_plan.hpp"
#include "plan/search/transfer_plan.hpp"
#include "product/device/bit_device_launch.hpp"
#include "product/device/over_devices.hpp"
#include "product/memory/packed_bits.hpp"

namespace heptad {
namespace {

constexpr std::size_t kLargestPlanFile = std::size_t{1} << 20;

std::string read_small_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text(kLargestPlanFile + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    fail_if(text.empty(), ErrorCode::input, "{} cannot be read or is empty; a plan file is what 'heptad plan' prints",
            path);
    fail_if(text.size() > kLargestPlanFile, ErrorCode::input,
            "{} is larger than {} bytes, so it is not a plan; a plan file is what 'heptad plan' prints", path,
            kLargestPlanFile);
    return text;
}

std::string without_comments(const std::string& text) {
    std::istringstream lines(text);
    std::string line, kept;
    while (std::getline(lines, line)) {
        if (!line.empty() && line[0] != '#') {
            kept += line + "\n";
        }
    }
    return kept;
}

/// The plan, without what is for people.
std::string read_plan_text(const std::string& path) {
    std::string text = read_small_file(path);
    if (text[text.find_first_not_of(" \t\r\n") % text.size()] == '{') {
        nlohmann::json object;
        try {
            object = parse_json(text);
        } catch (const Error& error) {
            fail(ErrorCode::input, "{} cannot be read ({}); a plan file is what 'heptad plan' prints", path,
                 error.what());
        }
        fail_if(!object.is_object() || !object.contains("plan") || !object["plan"].is_string(), ErrorCode::input,
                "{} is JSON without a \"plan\" string; a plan file is what 'heptad plan' prints", path);
        text = object["plan"].get<std::string>();
    }
    return without_comments(text);
}

/// The words that ask heptad-mpi for such a cut.
std::string options_for(const RankCut& cut) {
    const std::string algorithm = fmt::format("--algorithm {}", cluster_algorithm_name(cut.algorithm));
    switch (cut.algorithm) {
        case ClusterAlgorithm::grid:
            return fmt::format("{} --grid {}x{}x{}", algorithm, cut.grid.pm, cut.grid.pk, cut.grid.pn);
        case ClusterAlgorithm::caps:
            return algorithm;
        default:
            return fmt::format("{} --block {}x{}x{}", algorithm, cut.block.x, cut.block.y, cut.block.z);
    }
}

}  // namespace

void check_given_plan(const ProductPlan& plan) {
    if (plan.rank) {
        check_rank_cut(plan);
    } else if (plan.disk) {
        // Blocks of files decide what may be cut where.
    } else if (plan.host) {
        check_plan_over_devices(plan);
    } else if (plan.transfers) {
        check_transfer_plan(plan);
    } else {
        is_packed(plan) ? check_packed_plan(plan) : check_plan_in_memory(plan);
    }
}

ProductPlan read_plan_file(const std::string& path) {
    const std::string text = read_plan_text(path);
    ProductPlan plan;
    try {
        plan = parse_plan(text);
        check_given_plan(plan);
    } catch (const Error& error) {
        fail(ErrorCode::input, "{} is not a plan: {}", path, error.what());
    }
    if (plan.rank) {
        fail(ErrorCode::usage, "{} plans a product on a cluster; start heptad-mpi mul on {} ranks, with {}", path,
             plan.rank->ranks, options_for(*plan.rank));
    }
    return plan;
}

}  // namespace heptad

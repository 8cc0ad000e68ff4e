#include "product/request/plan_file.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.hpp"
#include "base/json_text.hpp"
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
    if (text.empty()) {
        fail(ErrorCode::input, "{} cannot be read or is empty; a plan file is what 'heptad plan' prints", path);
    }
    if (text.size() > kLargestPlanFile) {
        fail(ErrorCode::input, "{} is larger than {} bytes, so it is no plan; a plan file is what 'heptad plan' prints",
             path, kLargestPlanFile);
    }
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
        if (!object.is_object() || !object.contains("plan") || !object["plan"].is_string()) {
            fail(ErrorCode::input, "{} is JSON without a \"plan\" string; a plan file is what 'heptad plan' prints",
                 path);
        }
        text = object["plan"].get<std::string>();
    }
    return without_comments(text);
}

}  // namespace

bool has_host_plan(const std::string& path) {
    return !path.empty() && read_plan_text(path).find(" host={") != std::string::npos;
}

void check_given_plan(const ProductPlan& plan) {
    if (plan.host) {
        check_plan_over_devices(plan);
    } else if (plan.transfers) {
        check_transfer_plan(plan);
    } else {
        is_packed(plan) ? check_packed_plan(plan) : check_plan_in_memory(plan);
    }
}

ProductPlan read_plan_file(const std::string& path) {
    const std::string text = read_plan_text(path);
    try {
        ProductPlan plan = parse_plan(text);
        check_given_plan(plan);
        return plan;
    } catch (const Error& error) {
        if (text.starts_with("files ") || text.starts_with("cluster ")) {
            fail(ErrorCode::input,
                 "{} holds a plan that --plan does not take back: it follows from the options of a product from file "
                 "to file or on a cluster; give those to mul",
                 path);
        }
        fail(ErrorCode::input, "{} is no plan: {}", path, error.what());
    }
}

}  // namespace heptad

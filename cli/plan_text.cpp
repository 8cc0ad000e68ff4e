#include "plan_text.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.hpp"
#include "base/json_text.hpp"
#include "operands.hpp"
#include "text.hpp"

namespace heptad::cli {
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

}  // namespace

std::string print_plan(const ProductPlan& plan) {
    std::string text = to_string(plan) + "\n";
    text += fmt::format("# workspace       {} ({} bytes)\n", format_bytes(plan.workspace_bytes), plan.workspace_bytes);
    text += fmt::format("# predicted time  {}", format_seconds(plan.predicted_s));
    const double operations = operation_count({plan.m, plan.k, plan.n});
    if (plan.predicted_s > 0 && operations > 0) {
        text += fmt::format(" ({} effective)", format_rate(operations / plan.predicted_s, plan.type));
    }
    text += "\n";
    text += plan.error_bound > 0 ? fmt::format("# error bound     {:.3g} * max|A| * max|B|\n", plan.error_bound)
                                 : std::string("# error bound     0 (exact)\n");
    return text;
}

nlohmann::ordered_json plan_json(const ProductPlan& plan, std::int64_t operand_bytes) {
    return {{"m", plan.m},
            {"k", plan.k},
            {"n", plan.n},
            {"type", type_name(plan.type)},
            {"levels", plan.levels.size()},
            {"operand_bytes", operand_bytes},
            {"workspace_bytes", plan.workspace_bytes},
            {"predicted_s", plan.predicted_s},
            {"error_bound", plan.error_bound},
            {"plan", to_string(plan)}};
}

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

Plan read_plan_file(const std::string& path) {
    const std::string text = read_plan_text(path);
    try {
        return Plan::parse(text);
    } catch (const Error& error) {
        if (text.starts_with("devices ") || text.starts_with("files ") || text.starts_with("cluster ")) {
            fail(
                ErrorCode::input,
                "{} holds a plan that --plan does not take back: it follows from the options of a product over several "
                "devices, from file to file or on a cluster; give those to mul",
                path);
        }
        fail(ErrorCode::input, "{} is no plan: {}", path, error.what());
    }
}

}  // namespace heptad::cli

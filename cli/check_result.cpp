#include "check_result.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "output.hpp"

namespace heptad::cli {
namespace {

const char* verdict_name(Verdict verdict) {
    switch (verdict) {
        case Verdict::passed:
            return "passed";
        case Verdict::failed:
            return "failed";
        default:
            return "not verifiable";
    }
}

}  // namespace

nlohmann::ordered_json to_json(const VerifyResult& result) {
    nlohmann::ordered_json object{{"verdict", verdict_name(result.verdict)},
                                  {"residual", result.residual},
                                  {"tolerance", result.tolerance},
                                  {"miss_chance", result.miss_chance},
                                  {"seed", result.seed}};
    if (result.detectable_error > 0) {
        object["detectable_error"] = result.detectable_error;
    }
    if (result.detectable_fraction > 0) {
        object["detectable_fraction"] = result.detectable_fraction;
    }
    if (result.rows_recomputed > 0) {
        object["rows_recomputed"] = result.rows_recomputed;
    }
    if (result.bad_row >= 0) {
        object["bad_row"] = result.bad_row;
    }
    if (result.bad_col >= 0) {
        object["bad_col"] = result.bad_col;
    }
    if (!result.explanation.empty()) {
        object["explanation"] = result.explanation;
    }
    return object;
}

std::string describe(const VerifyResult& result) {
    std::string text = fmt::format("verdict         {}\n", verdict_name(result.verdict));
    text += fmt::format("residual        {:.3g} (allowed: {:.3g})\n", result.residual, result.tolerance);
    text += fmt::format("chance of miss  {:.3g}\n", result.miss_chance);
    if (result.detectable_error > 0) {
        text += fmt::format("  of an entry wrong by {:.3g} or more\n", result.detectable_error);
    }
    if (result.detectable_fraction > 0) {
        text += fmt::format("  where {:.3g} of the rows or more are wrong\n", result.detectable_fraction);
    }
    return text;
}

void require_passed(const VerifyResult& result, const std::string& subject, const std::string& consequence) {
    require_passed(result, subject, consequence, nlohmann::ordered_json::object());
}

void require_passed(const VerifyResult& result, const std::string& subject, const std::string& consequence,
                    const nlohmann::ordered_json& details) {
    if (result.passed()) {
        return;
    }
    std::string sentence =
        fmt::format("{} {}", subject, result.verdict == Verdict::failed ? "is not the product" : "cannot be verified");
    if (!result.explanation.empty()) {
        sentence += ": " + result.explanation;
    }
    while (!sentence.empty() && sentence.back() == '.') {
        sentence.pop_back();
    }
    nlohmann::ordered_json told = to_json(result);
    told.update(details);
    throw DetailedError(ErrorCode::verification, sentence + consequence, told);
}

}  // namespace heptad::cli

#include "check_result.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/names.hpp"

namespace heptad::cli {
namespace {

const char* verdict_name(Verdict verdict) {
    static constexpr Names<Verdict, 3> names{{"passed", "failed", "not verifiable"}};
    return names.of(verdict);
}

}  // namespace

std::string remark_on(const RunReport& report) {
    if (report.fell_back) {
        return report.uneven ? "; levels would lose more than a digit on this data, so it was multiplied classically"
               : report.short_numbers
                   ? "; A and B hold so few digits that the classical product is all but exact, so it was that one"
                   : "; A or B holds NaN, Inf or values whose sums might overflow, so it was multiplied "
                     "classically";
    }
    if (report.uneven) {
        return "; A and B are uneven: small entries of C may have few digits, which --accuracy balanced keeps";
    }
    return report.scaled ? "; its rows or columns differ much in size, so powers of two were taken out of them" : "";
}

nlohmann::ordered_json to_json(const VerifyResult& result) {
    nlohmann::ordered_json object{{"verdict", verdict_name(result.verdict)},
                                  {"residual", result.residual},
                                  {"tolerance", result.tolerance},
                                  {"miss_chance", result.miss_chance},
                                  {"seed", result.seed}};
    for (const auto& [name, value] : {std::pair("threshold", result.threshold),
                                      {"detectable_error", result.detectable_error},
                                      {"detectable_fraction", result.detectable_fraction}}) {
        if (value > 0) {
            object[name] = value;
        }
    }
    if (result.rows_recomputed > 0) {
        object["rows_recomputed"] = result.rows_recomputed;
    }
    for (const auto& [name, place] : {std::pair("bad_row", result.bad_row), {"bad_col", result.bad_col}}) {
        if (place >= 0) {
            object[name] = place;
        }
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
    if (result.threshold > 0) {
        text += fmt::format("threshold       {:.3g} times the expected rounding error of an entry, {:.3g} at most\n",
                            result.threshold, result.detectable_error);
    }
    if (result.detectable_fraction > 0) {
        text += fmt::format("  where {:.3g} of the rows or more are wrong\n", result.detectable_fraction);
    }
    return text;
}

std::string describe_passed(const VerifyResult& result) {
    return fmt::format(
        "verified (chance of a miss {:.2g}{})", result.miss_chance,
        result.threshold > 0 ? fmt::format(" above {:.3g} times the expected rounding error", result.threshold) : "");
}

DetailedError detailed(const NotVerified& failure) {
    return {failure.code(), failure.what(), to_json(failure.result())};
}

void require_passed_in_detail(const VerifyResult& result, const std::string& subject, const std::string& consequence,
                              const nlohmann::ordered_json& more) {
    try {
        require_passed(result, subject, consequence);
    } catch (const NotVerified& failure) {
        nlohmann::ordered_json told = to_json(result);
        told.update(more);
        throw DetailedError(failure.code(), failure.what(), told);
    }
}

void require_passed_in_detail(const VerifyResult& result, const std::string& subject, const std::string& consequence) {
    require_passed_in_detail(result, subject, consequence, nlohmann::ordered_json::object());
}

}  // namespace heptad::cli

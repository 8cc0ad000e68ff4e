// The outcome of a check in words, and what was noticed of A and B.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "output.hpp"
#include "product/request/report.hpp"

namespace heptad::cli {

nlohmann::ordered_json to_json(const VerifyResult& result);
/// The end of a sentence: why a product was not made as planned, what was scaled in it, or that it has fewer digits
/// than `balanced` keeps; mostly empty.
std::string remark_on(const RunReport& report);
/// Several lines for people: verdict, residual, chance of a miss, threshold.
std::string describe(const VerifyResult& result);
/// A few words for people, of a result that passed.
std::string describe_passed(const VerifyResult& result);
/// With the fields of the result to print in --json mode, where there is one object whatever comes of it.
DetailedError detailed(const NotVerified& failure);
/// Throws that unless the check passed (product/request/report.hpp), with more fields to print.
void require_passed_in_detail(const VerifyResult& result, const std::string& subject, const std::string& consequence);
void require_passed_in_detail(const VerifyResult& result, const std::string& subject, const std::string& consequence,
                              const nlohmann::ordered_json& more);

}  // namespace heptad::cli

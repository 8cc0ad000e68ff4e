// Runs the check of src/check on C = alpha * A * B + beta * C0 and words the outcome, and what was noticed of A and B;
// shared by `mul --verify`, `verify` and `bench files`.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "check/verify.hpp"
#include "run/dense/runner.hpp"

namespace heptad::cli {

nlohmann::ordered_json to_json(const VerifyResult& result);
/// The end of a sentence: why a product was not made as planned, or has fewer digits than `balanced`; mostly empty.
std::string remark_on(const RunReport& report);
/// Several lines for people: verdict, residual, chance of a miss, threshold.
std::string describe(const VerifyResult& result);
/// A few words for people, of a result that passed.
std::string describe_passed(const VerifyResult& result);
/// Throws DetailedError(verification) unless the check passed. `consequence` ends the sentence, e.g. "; C.npy was not
/// written".
void require_passed(const VerifyResult& result, const std::string& subject, const std::string& consequence);
/// The same, with more to tell in --json mode, where there is one object whatever comes of it.
void require_passed(const VerifyResult& result, const std::string& subject, const std::string& consequence,
                    const nlohmann::ordered_json& details);

}  // namespace heptad::cli

// What was done for a request.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "check/verify.hpp"
#include "product/request/request_plan.hpp"
#include "run/dense/runner.hpp"

namespace heptad {

struct Report {
    RequestPlan plan;  ///< as carried out; from file to file only its type and size
    RunReport products = {};
    double multiply_s = 0;
    std::optional<VerifyResult> verified = {};
    std::optional<FileProductReport> files = {};  ///< from file to file

    /// As it was made: classical, where it fell back as a whole.
    Outlook outlook() const;
};

/// A result that was checked and did not pass.
class NotVerified : public Error {
public:
    NotVerified(const std::string& sentence, VerifyResult result)
        : Error(ErrorCode::verification, sentence), result_(std::move(result)) {}
    const VerifyResult& result() const { return result_; }

private:
    VerifyResult result_;
};
/// Throws NotVerified unless the check passed. `consequence` ends the sentence, e.g. "; C.npy was not written".
void require_passed(const VerifyResult& result, const std::string& subject, const std::string& consequence);

/// Multiplies files: in memory, on a device or over several where the matrices fit, and else from file to file.
/// Everything that can be refused is refused before the product starts, and the result takes its name when it is
/// complete. A result in memory that does not pass its check is not written, and NotVerified is thrown; from file to
/// file the report says what came of it.
Report multiply_request(const Request& given, const RequestHooks& hooks);

struct VerifyRequest {
    Request product;  ///< whose output is what is checked
    bool all_rows = false;
    std::optional<std::uint64_t> seed = {};  ///< empty: drawn from the system
};
VerifyResult verify_request(const VerifyRequest& given, const RequestHooks& hooks);

}  // namespace heptad

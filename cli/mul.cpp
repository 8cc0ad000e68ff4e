// heptad mul: C = alpha * op(A) * op(B) + beta * C0, from files to a file, wherever the product is made.
#include "check_result.hpp"
#include "command.hpp"
#include "option_words.hpp"
#include "output.hpp"
#include "report_text.hpp"
#include "stage_hooks.hpp"
#include "tune_hint.hpp"

namespace heptad::cli {
namespace {

void run(const MulArguments& mul) {
    Request request = mul.request;
    request.output = claim_output(request.output);
    request.trace_file = request.trace_file.empty() ? "" : claim_output(request.trace_file);
    ProgressMeter meter;
    Report report;
    try {
        report = multiply_request(request, request_hooks(meter));
    } catch (const NotVerified& failure) {
        meter.clear();
        throw detailed(failure);
    }
    print_report(report, request, mul.json);
    if (!mul.json && mul.request.output != "-") {
        suggest_tune_once(report, request);
    }
}

Command add_mul(CLI::App& root, const std::string& /*typed*/) {
    const MulWords words = add_mul_words(root);
    return {words.app, [words] { return [mul = words.arguments()] { run(mul); }; }};
}

const RegisterCommand registered_mul({.order = 1, .add = add_mul});

}  // namespace
}  // namespace heptad::cli

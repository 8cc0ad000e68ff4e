#include "product/request/request.hpp"

#include "base/fail_if.hpp"
#include "base/types.hpp"

namespace heptad {

FileHooks stage_hooks(const RequestHooks& hooks, const std::string& stage, int threads) {
    hooks.begin(stage);
    return {threads, [&hooks](const Progress& progress) { hooks.update(progress.fraction, ""); }, hooks.cancel};
}

ProductContext stage_context(const RequestHooks& hooks, int threads) {
    ProductContext context{.threads = threads, .hooks = {&hooks.cancel}};
    context.hooks.progress = [&hooks](const Progress& progress) { hooks.update(progress.fraction, progress.stage); };
    return context;
}

void stop_if_cancelled(const RequestHooks& hooks) {
    fail_if(hooks.cancel.cancelled(), ErrorCode::cancelled, "interrupted; no output was written");
}

std::string factor_text(const Factor& factor) {
    return factor.imag() == 0   ? fmt::format("{}", factor.real())
           : factor.real() == 0 ? fmt::format("{}i", factor.imag())
                                : fmt::format("{}{:+}i", factor.real(), factor.imag());
}

void require_factors_of(Type type, const Request& request) {
    fail_if((request.alpha.imag() != 0 || request.beta.imag() != 0) && !is_complex(type), ErrorCode::usage,
            "--alpha {} and --beta {} are for matrices of c64 and c128, and these hold {}", factor_text(request.alpha),
            factor_text(request.beta), type_name(type));
}

}  // namespace heptad

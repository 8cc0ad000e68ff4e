// What a caller wants done with matrices in files: the problem, its limits, and who is told how it goes on.
//
//   Request -> RequestPlan -> Report        multiply_request(), plan_request(), verify_request()
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <heptad/heptad.hpp>

#include "io/hooks.hpp"
#include "io/matrix_source.hpp"
#include "plan/model/operation_count.hpp"
#include "plan/model/plan.hpp"
#include "product/memory/product.hpp"

namespace heptad {

/// C = alpha * op(A) * op(B) + beta * C0.
struct Request {
    std::string a, b;
    std::string add;                       ///< C0; empty: none
    std::string output;                    ///< C; may be an input, which is replaced at the very end
    std::optional<Type> type;              ///< empty: what the files say
    std::optional<RawShape> raw_a, raw_b;  ///< files without a header
    std::optional<std::int64_t> columns;   ///< .npy files hold packed bits, and B so many columns
    bool transpose_a = false, transpose_b = false;
    bool conjugate_a = false, conjugate_b = false;  ///< of complex matrices
    Factor alpha = 1, beta = 0;                     ///< complex only where the matrices are
    bool count = false;                             ///< of bit matrices: common ones of rows and columns, as i32

    Options options;
    int threads = 0;                           ///< 0: all cores this process may use
    std::optional<std::int64_t> memory_bytes;  ///< most for the matrices and all that the product takes beside them
    std::string plan_file;                     ///< what `heptad plan` printed; empty: plan it
    std::optional<ProductPlan> plan;           ///< what that holds, once it was read
    bool verify = false;
    bool resume = false;          ///< from file to file
    std::optional<bool> overlap;  ///< likewise: stages beside each other; said: from file to file, whatever the sizes
    std::string trace_file;       ///< likewise: when each stage worked, as trace events; empty: none
};

/// All are called from the calling thread, and may be empty.
struct RequestHooks {
    /// A stage begins, of so many operations (2mkn of a product; 0 where a rate means nothing). No name: none is under
    /// way any more.
    std::function<void(const std::string& name, double operations, Type type)> stage;
    /// 0 to 1 of the stage, and what it is at.
    std::function<void(double fraction, const std::string& detail)> progress;
    /// Something worth knowing that is no part of the report.
    std::function<void(const std::string& sentence)> tell;
    CancelToken cancel;

    void begin(const std::string& name, double operations = 0, Type type = Type::f32) const {
        if (stage) {
            stage(name, operations, type);
        }
    }
    void end() const { begin(""); }
    void update(double fraction, const std::string& detail) const {
        if (progress) {
            progress(fraction, detail);
        }
    }
};

/// Hooks of a file operation, which is a stage of its own. The request's must outlive them.
FileHooks stage_hooks(const RequestHooks& hooks, const std::string& stage, int threads);
/// The same for products.
ProductContext stage_context(const RequestHooks& hooks, int threads);
/// Throws Error(cancelled).
void stop_if_cancelled(const RequestHooks& hooks);

/// As the command line takes it: "2.5", "1-2i".
std::string factor_text(const Factor& factor);
/// Complex factors are for complex matrices; or Error(usage).
void require_factors_of(Type type, const Request& request);

}  // namespace heptad

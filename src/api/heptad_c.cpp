// The C interface: the C++ one behind opaque handles, statuses and a last sentence per thread.
#include <heptad/heptad.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>

#include "api/c_shell.hpp"
#include "base/fail_if.hpp"

struct heptad_plan {
    heptad::Plan plan;
    std::string text;
};

using namespace heptad::c;

namespace {

thread_local std::string last_error;

heptad::ConstAnyView view_of(const heptad_const_matrix& x, heptad::Type type) {
    return {x.data, type, x.rows, x.cols, x.row_stride, x.col_stride};
}
heptad::AnyView view_of(const heptad_matrix& x, heptad::Type type) {
    return {x.data, type, x.rows, x.cols, x.row_stride, x.col_stride};
}

/// What a context is set by. Throws Error(usage) for a null pointer.
heptad::Context& settings_of(heptad_context* context) {
    require(context, "context");
    return context->context;
}

heptad_plan* new_plan(heptad::Plan plan) {
    std::string text = plan.to_string();
    return new heptad_plan{std::move(plan), std::move(text)};
}

}  // namespace

namespace heptad::c {

/// Without memory for the sentence, a word that needs none (short strings live inside the object).
void remember(const char* sentence) noexcept {
    try {
        last_error = sentence;
    } catch (...) {
        last_error = "out of memory";
    }
}

Type type_of(heptad_type type) {
    fail_if(type < HEPTAD_F64 || type > HEPTAD_C128, ErrorCode::usage, "the element type is not one of heptad_type");
    return static_cast<Type>(type);
}

namespace {

constexpr heptad_options kDefaults{sizeof(heptad_options),
                                   "auto",
                                   -1,
                                   HEPTAD_BALANCED,
                                   "auto",
                                   "auto",
                                   "auto",
                                   0,
                                   std::numeric_limits<std::int64_t>::max(),
                                   0};
/// Of the first version of the struct: no program knows less.
constexpr std::size_t kLeastSize = offsetof(heptad_options, overwrite_inputs) + sizeof(int);
constexpr std::size_t kMostSize = 4096;  // no later version is larger; memory that was never set often says more

/// The options of a program whose header may be older or newer than this library.
heptad_options known_options(const heptad_options& given) {
    fail_if(given.size < kLeastSize || given.size > kMostSize, ErrorCode::usage,
            "size of heptad_options is {}; heptad_options_init sets it, and everything else, to the defaults",
            given.size);
    const auto* const bytes = reinterpret_cast<const unsigned char*>(&given);
    for (std::size_t i = sizeof(heptad_options); i < given.size; ++i) {
        fail_if(bytes[i] != 0, ErrorCode::usage,
                "heptad_options has a field at byte {} that this version of the library ({}) does not know; use the "
                "header that belongs to it",
                i, heptad_version());
    }
    heptad_options known = kDefaults;
    std::memcpy(&known, &given, std::min(given.size, sizeof known));
    return known;
}

}  // namespace

Options options_of(const heptad_options* given) {
    Options result;
    if (given == nullptr) {
        return result;
    }
    const heptad_options options = known_options(*given);
    const auto text = [](const char* value) { return std::string(value == nullptr ? "auto" : value); };
    fail_if(options.accuracy < HEPTAD_STRICT || options.accuracy > HEPTAD_EXACT, ErrorCode::usage,
            "accuracy is not one of heptad_accuracy");
    fail_if(options.workspace_limit_bytes < 0, ErrorCode::usage,
            "workspace_limit_bytes is {}; 0 allows none at all, and INT64_MAX as much as there is",
            options.workspace_limit_bytes);
    result.algorithm = text(options.algorithm);
    result.levels = options.levels;
    result.accuracy = static_cast<Accuracy>(options.accuracy);
    result.device = text(options.device);
    result.leaf = text(options.leaf);
    result.mode = text(options.mode);
    result.accumulate = options.accumulate != 0;
    result.workspace_limit_bytes = options.workspace_limit_bytes;
    result.overwrite_inputs = options.overwrite_inputs != 0;
    return result;
}

Context context_of(const heptad_context* context) {
    return context == nullptr ? Context() : context->context;
}

void require(const void* pointer, const char* name) {
    fail_if(pointer == nullptr, ErrorCode::usage, "{} is a null pointer", name);
}

}  // namespace heptad::c

void heptad_options_init_size(heptad_options* options, size_t size) {
    if (options != nullptr && size >= sizeof options->size) {
        std::memset(options, 0, size);
        std::memcpy(options, &kDefaults, std::min(size, sizeof kDefaults));
        options->size = size;
    }
}

#undef heptad_options_init
void heptad_options_init(heptad_options* options) {
    heptad_options_init_size(options, sizeof(heptad_options));
}

heptad_status heptad_context_create(heptad_context** context) {
    return guarded([&] {
        require(context, "context");
        auto made = std::make_unique<heptad_context>();
        made->context.set_cancel(made->cancel);
        *context = made.release();
    });
}

void heptad_context_destroy(heptad_context* context) {
    delete context;
}

heptad_status heptad_context_set_threads(heptad_context* context, int threads) {
    return guarded([&] { settings_of(context).set_threads(threads); });
}

heptad_status heptad_context_set_device(heptad_context* context, const char* device) {
    return guarded([&] {
        heptad::Context& settings = settings_of(context);
        require(device, "device");
        settings.set_device(device);
    });
}

heptad_status heptad_context_set_progress(heptad_context* context, heptad_progress progress, void* user) {
    return guarded([&] {
        heptad::ProgressCallback callback;
        if (progress != nullptr) {
            callback = [progress, user](const heptad::Progress& reached) {
                progress(reached.fraction, reached.stage, user);
            };
        }
        settings_of(context).set_progress(callback);
    });
}

heptad_status heptad_context_set_workspace(heptad_context* context, void* memory, int64_t bytes) {
    return guarded([&] { settings_of(context).set_workspace(memory, bytes); });
}

heptad_status heptad_context_set_stream(heptad_context* context, void* stream) {
    return guarded([&] { settings_of(context).set_stream(stream); });
}

void heptad_context_release(heptad_context*) {
    heptad::Context::release();
}

void heptad_context_cancel(heptad_context* context) {
    if (context != nullptr) {
        context->cancel.cancel();
    }
}

void heptad_context_reset_cancel(heptad_context* context) {
    if (context != nullptr) {
        context->cancel.reset();
    }
}

heptad_status heptad_plan_create(heptad_plan** plan, int64_t m, int64_t k, int64_t n, heptad_type type,
                                 const heptad_options* options, const heptad_context* context) {
    return guarded([&] {
        require(plan, "plan");
        *plan = new_plan(heptad::plan({m, k, n}, type_of(type), options_of(options), context_of(context)));
    });
}

heptad_status heptad_plan_parse(heptad_plan** plan, const char* text) {
    return guarded([&] {
        require(plan, "plan");
        require(text, "text");
        *plan = new_plan(heptad::Plan::parse(text));
    });
}

void heptad_plan_destroy(heptad_plan* plan) {
    delete plan;
}
const char* heptad_plan_text(const heptad_plan* plan) {
    return plan == nullptr ? "" : plan->text.c_str();
}
int heptad_plan_levels(const heptad_plan* plan) {
    return plan == nullptr ? 0 : plan->plan.levels();
}
int64_t heptad_plan_workspace_bytes(const heptad_plan* plan) {
    return plan == nullptr ? 0 : plan->plan.workspace_bytes();
}
double heptad_plan_predicted_s(const heptad_plan* plan) {
    return plan == nullptr ? 0 : plan->plan.predicted_s();
}
double heptad_plan_error_bound(const heptad_plan* plan) {
    return plan == nullptr ? 0 : plan->plan.error_bound();
}

heptad_status heptad_multiply(heptad_type type, double alpha, heptad_const_matrix a, heptad_const_matrix b, double beta,
                              heptad_matrix c, const heptad_options* options, const heptad_context* context) {
    return guarded([&] {
        const heptad::Type t = type_of(type);
        heptad::multiply(alpha, view_of(a, t), view_of(b, t), beta, view_of(c, t), options_of(options),
                         context_of(context));
    });
}

heptad_status heptad_multiply_complex(heptad_type type, const double alpha[2], heptad_const_matrix a, int conjugate_a,
                                      heptad_const_matrix b, int conjugate_b, const double beta[2], heptad_matrix c,
                                      const heptad_options* options, const heptad_context* context) {
    return guarded([&] {
        require(alpha, "alpha");
        require(beta, "beta");
        const heptad::Type t = type_of(type);
        heptad::ConstAnyView left = view_of(a, t), right = view_of(b, t);
        left.conjugate = conjugate_a != 0;
        right.conjugate = conjugate_b != 0;
        heptad::multiply(std::complex<double>(alpha[0], alpha[1]), left, right, std::complex<double>(beta[0], beta[1]),
                         view_of(c, t), options_of(options), context_of(context));
    });
}

heptad_status heptad_multiply_with_plan(heptad_type type, double alpha, heptad_const_matrix a, heptad_const_matrix b,
                                        double beta, heptad_matrix c, const heptad_plan* plan,
                                        const heptad_context* context) {
    return guarded([&] {
        require(plan, "plan");
        const heptad::Type t = type_of(type);
        heptad::multiply(alpha, view_of(a, t), view_of(b, t), beta, view_of(c, t), plan->plan, context_of(context));
    });
}

heptad_status heptad_multiply_into_f32(heptad_type type, double alpha, heptad_const_matrix a, heptad_const_matrix b,
                                       double beta, heptad_matrix c, const heptad_options* options,
                                       const heptad_context* context) {
    return guarded([&] {
        const heptad::Type t = type_of(type);
        heptad::multiply(alpha, view_of(a, t), view_of(b, t), beta, view_of(c, heptad::Type::f32), options_of(options),
                         context_of(context));
    });
}

heptad_status heptad_multiply_strided_batch(heptad_type type, double alpha, heptad_const_matrix a, int64_t stride_a,
                                            heptad_const_matrix b, int64_t stride_b, double beta, heptad_matrix c,
                                            int64_t stride_c, int64_t count, const heptad_options* options,
                                            const heptad_context* context) {
    return guarded([&] {
        const heptad::Type t = type_of(type);
        heptad::multiply_strided_batch(alpha, view_of(a, t), stride_a, view_of(b, t), stride_b, beta, view_of(c, t),
                                       stride_c, count, options_of(options), context_of(context));
    });
}

const char* heptad_status_string(heptad_status status) {
    switch (status) {
        case HEPTAD_OK:
            return "done";
        case HEPTAD_INTERNAL:
            return "internal error";
        case HEPTAD_USAGE:
            return "wrong usage";
        case HEPTAD_INPUT:
            return "bad or mismatching input";
        case HEPTAD_RESOURCE:
            return "a resource ran out";
        case HEPTAD_VERIFICATION:
            return "verification failed";
        case HEPTAD_CANCELLED:
            return "cancelled";
    }
    return "unknown status";
}

const char* heptad_last_error(void) {
    return last_error.c_str();
}
const char* heptad_version(void) {
    return heptad::version();
}

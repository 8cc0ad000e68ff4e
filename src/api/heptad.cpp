// The C++ interface: thin shells around the layers below.
#include "api/context.hpp"
#include "base/errors_only.hpp"
#include "base/fail_if.hpp"
#include "base/workspace.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/loaded_driver.hpp"
#include "move/transfer_streams.hpp"
#include "plan/search/transfer_plan.hpp"
#include "product/device/device_choice.hpp"
#include "product/device/device_list.hpp"
#include "product/device/device_product.hpp"
#include "product/device/over_devices.hpp"
#include "product/device/repeated_calls.hpp"
#include "product/memory/batch.hpp"
#include "product/request/plan_file.hpp"

namespace heptad {

Context::Context() = default;

namespace {
Context::Impl& made(std::shared_ptr<Context::Impl>& impl) try {
    impl = impl ? impl : std::make_shared<Context::Impl>();
    return *impl;
} catch (...) {
    rethrow_as_error();
}
}  // namespace

Context& Context::set_threads(int threads) try {
    fail_if(threads < 0 || threads > 4096, ErrorCode::usage,
            "{} threads are not possible; use 1 to 4096, or 0 for all cores", threads);
    made(impl_).threads = threads;
    return *this;
} catch (...) {
    rethrow_as_error();
}

Context& Context::set_device(const std::string& device) try {
    if (is_device_list(device)) {
        parse_device_list(device);  // or wrong usage
    } else if (cuda::is_device_name(device)) {
        cuda::device_index(device);  // or wrong usage
    } else if (device != "auto" && device != "cpu" && device != "reference") {
        fail(ErrorCode::usage, "'{}' is not a device; use auto, cpu, reference, cuda, cuda:N, cuda:N,M or cpu:N",
             device);
    }
    made(impl_).device = device;
    return *this;
} catch (...) {
    rethrow_as_error();
}

Context& Context::set_workspace(void* memory, std::int64_t bytes) try {
    fail_if(bytes < 0 || (memory == nullptr && bytes > 0), ErrorCode::usage,
            "a workspace of {} bytes at {} cannot be used", bytes, memory);
    made(impl_).workspace = memory;
    impl_->workspace_bytes = bytes;
    return *this;
} catch (...) {
    rethrow_as_error();
}

Context& Context::set_stream(void* stream) {
    made(impl_).stream = stream;
    return *this;
}

Context& Context::set_progress(ProgressCallback callback) {
    made(impl_).progress = std::move(callback);
    return *this;
}

Context& Context::set_cancel(CancelToken token) {
    made(impl_).cancel = std::move(token);
    return *this;
}

void Context::release() noexcept {
    release_kept_workspace();
    TransferStreams::release();
    cuda::release_kept_memory();
}

std::string Context::device() const try { return impl_ ? impl_->device : "auto"; } catch (...) {
    rethrow_as_error();
}

int Context::threads() const try { return effective_threads(product_context(*this)); } catch (...) {
    rethrow_as_error();
}

ProductContext product_context(const Context& context) {
    ProductContext result;
    if (const Context::Impl* impl = context.impl()) {
        result.threads = impl->threads;
        result.workspace = impl->workspace;
        result.workspace_bytes = impl->workspace_bytes;
        result.stream = impl->stream;
        result.hooks.progress = impl->progress;
        result.hooks.cancel = impl->cancel ? &*impl->cancel : nullptr;
    }
    return result;
}

Plan::Plan() try : impl_(std::make_unique<Impl>()) {
} catch (...) {
    rethrow_as_error();
}
Plan::Plan(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Plan::~Plan() = default;
Plan::Plan(const Plan& other) try : impl_(std::make_unique<Impl>(other.impl())) {
} catch (...) {
    rethrow_as_error();
}
Plan& Plan::operator=(const Plan& other) try {
    impl_ = std::make_unique<Impl>(other.impl());
    return *this;
} catch (...) {
    rethrow_as_error();
}
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

const Plan::Impl& Plan::impl() const try {
    if (!impl_) {
        fail(ErrorCode::usage, "this plan was moved from and is empty; use the one it was moved to, or assign another");
    }
    return *impl_;
} catch (...) {
    rethrow_as_error();
}

Plan Plan::parse(const std::string& text) try {
    ProductPlan plan = parse_plan(text);
    check_given_plan(plan);
    return make_plan_handle(std::move(plan));
} catch (...) {
    rethrow_as_error();
}
std::string Plan::to_string() const try { return heptad::to_string(impl().plan); } catch (...) {
    rethrow_as_error();
}
ProblemSize Plan::size() const {
    return {impl().plan.m, impl().plan.k, impl().plan.n};
}
Type Plan::type() const {
    return impl().plan.type;
}
int Plan::levels() const {
    return level_count(impl().plan);
}
std::int64_t Plan::workspace_bytes() const {
    return impl().plan.workspace_bytes;
}
double Plan::predicted_s() const {
    return impl().plan.predicted_s;
}
double Plan::error_bound() const {
    return impl().plan.error_bound;
}

Plan plan(ProblemSize size, Type type, const Options& given, const Context& context) try {
    Options options = with_device(given, context);
    fail_if(is_device_list(options.device), ErrorCode::usage,
            "a plan is for one device; use plan_over_devices() for products over '{}'", options.device);
    const ProductContext inner = product_context(context);
    options.device = device_that_pays(size, type, type, options, inner);
    const bool on_device = is_device_product(options.device);
    const auto make = on_device ? plan_device_product : plan_product;
    return make_plan_handle(make(size.m, size.k, size.n, type, options, inner),
                            on_device ? cuda::device_index(options.device) : 0);
} catch (...) {
    rethrow_as_error();
}

Plan plan_over_devices(ProblemSize size, Type type, const Options& options, const Context& context) try {
    return make_plan_handle(
        make_plan_over_devices(size, type, type, with_device(options, context), product_context(context)).plan);
} catch (...) {
    rethrow_as_error();
}

namespace {
/// The context has nothing that a short product would have to look at.
bool is_plain(const Context::Impl* context) {
    return context == nullptr || (context->device == "auto" && context->workspace_bytes < 0 && !context->progress &&
                                  !(context->cancel && context->cancel->cancelled()));
}

Options on_device(Options options, const std::string& device) {
    options.device = device;
    return options;
}
}  // namespace

void multiply(double alpha, const ConstAnyView& a, const ConstAnyView& b, double beta, const AnyView& c,
              const Options& options, const Context& context) try {
    const bool may_lie_on_device = cuda::may_lie_on_device({a.data, b.data, c.data});
    if (may_lie_on_device && is_plain(context.impl()) &&
        repeat_on_device({alpha, a, b, beta, c}, options, product_context(context))) {
        return;
    }
    if (is_device_product(options.device) && !is_device_list(options.device)) {
        multiply_on_device(alpha, a, b, beta, c, options, product_context(context));
        return;
    }
    const auto repeat = [&] {
        return is_plain(context.impl()) &&
               repeat_product(alpha, a, b, beta, c, options, context.impl() != nullptr ? context.impl()->threads : 0);
    };
    if (!may_lie_on_device && repeat()) {
        return;
    }
    if (names_device(context) && options.device == "auto") {
        multiply(alpha, a, b, beta, c, with_device(options, context), context);
        return;
    }
    if (may_lie_on_device) {
        if (const auto device = device_of_matrices(options.device, a, b, c)) {
            multiply_on_device(alpha, a, b, beta, c, on_device(options, *device), product_context(context));
            return;
        }
        if (repeat()) {
            return;
        }
    }
    const ProductContext inner = product_context(context);
    if (is_device_list(options.device)) {
        multiply_over_devices(alpha, a, b, beta, c, options, inner);
        return;
    }
    if (const std::string device = device_that_pays(a, b, beta, c, options, inner); device != options.device) {
        try {
            multiply_on_device(alpha, a, b, beta, c, on_device(options, device), inner);
            return;
        } catch (const Error& error) {
            if (error.code() != ErrorCode::resource || beta != 0) {
                throw;
            }  // others may have taken the device's memory; nobody asked for a device
        }
    }
    multiply_in_memory(alpha, a, b, beta, c, options, inner);
} catch (...) {
    rethrow_as_error();
}

void multiply(std::complex<double> alpha, const ConstAnyView& a, const ConstAnyView& b, std::complex<double> beta,
              const AnyView& c, const Options& given, const Context& context) try {
    const Options options = with_device(given, context);
    const ProductContext inner = product_context(context);
    const std::string device = device_of_matrices(options.device, a, b, c).value_or(options.device);
    if (is_device_list(device)) {
        multiply_over_devices(alpha, a, b, beta, c, options, inner);
    } else if (is_device_product(device)) {
        multiply_on_device(alpha, a, b, beta, c, on_device(options, device), inner);
    } else {
        multiply_in_memory(alpha, a, b, beta, c, options, inner);
    }
} catch (...) {
    rethrow_as_error();
}

void multiply(double alpha, const ConstAnyView& a, const ConstAnyView& b, double beta, const AnyView& c,
              const Plan& handle, const Context& context) try {
    const ProductPlan& plan = handle.impl().plan;
    const ProductContext inner = product_context(context);
    if (plan.disk || plan.rank) {
        fail(ErrorCode::usage, "the plan is for matrices {}",
             plan.disk ? "in files; heptad::multiply_files() of heptad/files.hpp and `heptad mul` carry it out"
                       : "on a cluster; `heptad-mpi mul` carries it out");
    }
    if (plan.host) {
        device_of_matrices(plan.host->devices, a, b, c);  // refuses those on a device
        multiply_over_devices(alpha, a, b, beta, c, plan, inner);
    } else if (is_device_product(plan.backend)) {
        const int device = device_of_operands(a, b, c, handle.impl().device);
        multiply_on_device(alpha, a, b, beta, c, plan, device, inner);
    } else {
        device_of_matrices(plan.backend, a, b, c);  // refuses those on a device
        multiply_in_memory(alpha, a, b, beta, c, plan, inner);
    }
} catch (...) {
    rethrow_as_error();
}

void multiply_strided_batch(double alpha, const ConstAnyView& a, std::int64_t stride_a, const ConstAnyView& b,
                            std::int64_t stride_b, double beta, const AnyView& c, std::int64_t stride_c,
                            std::int64_t count, const Options& given, const Context& context) try {
    Options options = with_device(given, context);
    if (const auto device = device_of_matrices(options.device, a, b, c)) {
        options.device = *device;
    }
    if (is_device_list(options.device)) {
        fail(ErrorCode::usage, "a batch is multiplied on one device, not over '{}'; name one", options.device);
    }
    const auto multiply_all = is_device_product(options.device) ? multiply_batch_on_device : multiply_batch_in_memory;
    multiply_all({count, alpha, a, stride_a, b, stride_b, beta, c, stride_c}, options, product_context(context));
} catch (...) {
    rethrow_as_error();
}

const char* version() noexcept {
    return HEPTAD_VERSION;
}

}  // namespace heptad

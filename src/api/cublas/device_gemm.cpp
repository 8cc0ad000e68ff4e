// Workspace comes from the device's pool in the order of the caller's stream (cudaMallocAsync) and goes back there the
// same way: it is never freed under a kernel, and a stream that is captured gets it as nodes of the graph, so that the
// graph needs nothing of ours when it is replayed.
#include "api/cublas/device_gemm.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string>

#include "api/cublas/cublas_takeover.hpp"
#include "api/cublas/pointer_batch.hpp"
#include "api/drop_in/knobs.hpp"
#include "api/drop_in/pass_on.hpp"
#include "api/drop_in/product_log.hpp"
#include "base/shared_state.hpp"
#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/vendor/chosen_cublas.hpp"
#include "product/device/device_product.hpp"

namespace heptad::cublas {
namespace {

/// The program's cuBLAS is that of our leaves from now on: the one beside the library that the first call belongs to.
void use_cublas_of(CallingObject& caller, Function entry) {
    static constinit Once<bool> done;
    done.get([&] {
        const auto function = caller.function<drop_in::AnyFunction>(entry);
        std::string path = drop_in::object_at(reinterpret_cast<const void*>(function)).path;
        if (const std::size_t name = path.rfind("libcublasLt"); name != std::string::npos) {
            path.erase(name + std::string("libcublas").size(), 2);
        }
        cuda::use_cublas(path);
        return true;
    });
}

Options options_on(int device) {
    const drop_in::Knobs& asked = drop_in::knobs();
    Options options;
    options.device = "cuda:" + std::to_string(device);
    options.accuracy = asked.accuracy;
    options.algorithm = asked.algorithm;
    options.levels = asked.levels;
    if (asked.workspace_bytes >= 0) {
        options.workspace_limit_bytes = asked.workspace_bytes;
    }
    return options;
}

bool lie_on(int device, std::initializer_list<const void*> matrices) {
    return std::all_of(matrices.begin(), matrices.end(), [&](const void* matrix) {
        const cuda::PointerPlace place = cuda::place_of(matrix);
        return place.kind == cuda::PointerKind::device && place.device == device;
    });
}

/// Other than the library's own product.
bool is_fast(const ProductPlan& plan) {
    return !plan.levels.empty() || is_by_residues(plan);
}

/// By the figures that plans are made from: nobody waits for a device in order to time it.
double library_s(const ProductPlan& plan, Options options) {
    options.algorithm = "classical";
    options.levels = 0;
    return plan_device_product(plan.m, plan.k, plan.n, plan.type, options, {}).predicted_s;
}

/// `copies_s`: beside each product.
void log_call(const GemmCall& call, const ProductPlan& plan, double copies_s, const Options& options) try {
    if (!drop_in::is_logged()) {
        return;
    }
    const auto count = static_cast<double>(call.count);
    drop_in::log_product(function_name(call.entry), {call.m, call.k, call.n}, plan,
                         count * (plan.predicted_s + copies_s), count * library_s(plan, options));
} catch (...) {  // NOLINT(bugprone-empty-catch): the product was enqueued, whatever becomes of the log
}

void copy_on(int device, void* stream, const ConstView& from, const View& to) {
    const auto backend = cuda::backend_for(device, stream);
    const std::lock_guard lock(backend->mutex());
    const cuda::DeviceScope scope(device);
    backend->copy(from, to);
}

/// Does this build have kernels for the device? Tried once, before any C is written.
bool has_kernels_for(int device, void* stream) {
    static constinit Guarded<std::map<int, bool>> known;
    const auto devices = known.lock();
    if (const auto found = devices->find(device); found != devices->end()) {
        return found->second;
    }
    constexpr std::int64_t kApart = 32;
    const cuda::DeviceMemory memory(device, 2 * kApart * static_cast<std::int64_t>(sizeof(float)), stream);
    auto* const data = static_cast<float*>(memory.data());
    bool works = true;
    try {
        copy_on(device, stream, {data, Type::f32, 1, 1, 1, 1}, {data + kApart, Type::f32, 1, 1, 1, 1});
    } catch (const Error&) {
        works = false;
    }
    return devices->emplace(device, works).first->second;
}

/// False: nothing was done. `is_under_way`: C, which counts, may have been written.
bool multiply(CallingObject& caller, const GemmCall& call, void* stream, bool& is_under_way) {
    std::optional<ProductBatch> products = as_products(call);
    if (!products || !product_of(*products, 0).reads_operands()) {
        return false;
    }
    const bool overwrites = !product_of(*products, 0).reads_result();
    if (call.bias != nullptr && !overwrites) {
        return false;
    }
    products->beta = call.bias != nullptr ? 1 : products->beta;
    const bool accumulates = !overwrites || call.bias != nullptr;
    const std::uint64_t question = question_hash(call.type, call.m, call.n, call.k, accumulates, call.by_pointers);
    if (was_refused(question)) {
        return false;
    }
    use_cublas_of(caller, call.entry);
    const drop_in::PassOn nested_calls;
    const cuda::CaptureScope capturable;
    if (!cuda::known_report().available) {  // the driver or the program's cuBLAS is too old for us
        keep_refusal(question);
        return false;
    }
    const int device = cuda::current_device();  // that of the handle
    if (!lie_on(device, {products->a.data, products->b.data, products->c.data})) {
        return false;
    }
    std::optional<PointerBatch> pointers;
    if (call.by_pointers) {
        pointers.emplace(call, !overwrites);
    }
    const double copies_s = pointers ? pointers->copies_s() : 0;
    Options options = options_on(device);
    options.accumulate = accumulates;
    // As if all memory were free: what is refused now will never pay.
    Options unlimited = options;
    unlimited.workspace_limit_bytes = std::min(options.workspace_limit_bytes, std::int64_t{1} << 60);
    const std::int64_t m = call.n, k = call.k, n = call.m;  // of C'
    const auto pays = [&](const ProductPlan& planned) {
        return is_fast(planned) && (!pointers || planned.predicted_s + copies_s < library_s(planned, options));
    };
    if (!pays(plan_device_product(m, k, n, call.type, unlimited, {}))) {
        keep_refusal(question);
        return false;
    }
    const ProductPlan plan = plan_device_product(m, k, n, call.type, options, {});
    if (!pays(plan) || !has_kernels_for(device, stream)) {
        return false;
    }
    if (!pointers) {
        validate_batch(*products, {});
    }
    const std::int64_t bytes = std::max<std::int64_t>(plan.workspace_bytes, 1);
    const cuda::DeviceMemory workspace(device, bytes, stream);
    const cuda::DeviceMemory copies(device, pointers ? pointers->bytes() : 0, stream);
    ProductContext context;
    context.stream = stream;
    context.workspace = workspace.data();
    context.workspace_bytes = bytes;
    is_under_way = !overwrites;
    if (call.bias != nullptr) {
        // In every row of C, to which the product is added.
        const View& c = products->c;
        copy_on(device, stream, {call.bias, c.type, c.rows, c.cols, 0, 1}, c);
    }
    for (std::int64_t i = 0; i < products->count; ++i) {
        if (pointers) {
            enqueue_on_device(pointers->gather(i, copies.data(), stream), plan, device, context);
            pointers->scatter(i, copies.data(), stream);
        } else {
            multiply_on_device(product_of(*products, i), plan, device, context);
        }
    }
    log_call(call, plan, copies_s, options);
    return true;
}

}  // namespace

std::optional<HandleSettings> settings_of(CallingObject& caller, Handle handle, Type type) {
    const auto get_stream = caller.function<GetStream>(Function::cublasGetStream_v2);
    const auto get_pointer_mode = caller.function<GetNumber>(Function::cublasGetPointerMode_v2);
    const auto get_math_mode = caller.function<GetNumber>(Function::cublasGetMathMode);
    const auto get_multiprocessors = caller.function<GetNumber>(Function::cublasGetSmCountTarget);  // from 11.5 on
    HandleSettings settings{nullptr, type};
    int pointer_mode = kPointersToHost, math_mode = kDefaultMath, multiprocessors = 0;
    if (get_stream == nullptr || get_pointer_mode == nullptr || get_math_mode == nullptr ||
        get_stream(handle, &settings.stream) != kSuccess || get_pointer_mode(handle, &pointer_mode) != kSuccess ||
        get_math_mode(handle, &math_mode) != kSuccess ||
        (get_multiprocessors != nullptr && get_multiprocessors(handle, &multiprocessors) != kSuccess)) {
        return std::nullopt;
    }
    if (math_mode == kTf32Math && type == Type::c64) {
        return std::nullopt;
    }
    if (math_mode == kTf32Math && type == Type::f32) {
        settings.type = Type::tf32;
    } else if (math_mode != kDefaultMath && math_mode != kTensorOpMath && math_mode != kTf32Math) {
        return std::nullopt;
    }
    return pointer_mode == kPointersToHost && multiprocessors == 0 ? std::optional(settings) : std::nullopt;
}

std::optional<Status> multiply_fast(CallingObject& caller, const GemmCall& call, void* stream) noexcept {
    bool is_under_way = false;
    try {
        if (multiply(caller, call, stream, is_under_way)) {
            taken_over.fetch_add(1, std::memory_order_relaxed);
            return kSuccess;
        }
    } catch (...) {
        if (is_under_way) {
            return kExecutionFailed;
        }
    }
    return std::nullopt;
}

}  // namespace heptad::cublas

#include "product/device/device_product.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>

#include "base/fail_if.hpp"
#include "base/shared_state.hpp"
#include "base/size.hpp"
#include "base/types.hpp"
#include "io/device_kernels.hpp"
#include "io/device_machine.hpp"
#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/search/device_residue_plan.hpp"
#include "plan/search/level_layout.hpp"
#include "plan/search/planner.hpp"
#include "plan/search/transfer_plan.hpp"
#include "product/device/host_operands.hpp"
#include "product/device/over_devices.hpp"
#include "product/device/repeated_calls.hpp"
#include "product/memory/batch.hpp"
#include "product/memory/validate.hpp"
#include "product/plan_cache.hpp"

namespace heptad {
namespace {

constinit PlanCache<ProductPlan> plan_cache;

/// What is known of a device.
struct DeviceFigures {
    std::shared_ptr<const Machine> machine{};
    std::shared_ptr<const cuda::VendorKernels> kernels{};
};
DeviceFigures figures_of(int device) {
    static constinit Guarded<std::map<int, DeviceFigures>> figures;
    const auto all = figures.lock();
    DeviceFigures& kept = (*all)[device];
    if (!kept.machine) {
        auto machine = std::make_shared<const Machine>(load_device_machine(device));
        kept = {machine, vendor_kernels(*machine)};
    }
    return kept;
}

void validate_leaf(const std::string& leaf, Type type) {
    const std::vector<std::string> leaves = cuda::device_leaves(type);
    if (std::find(leaves.begin(), leaves.end(), leaf) == leaves.end()) {
        fail(ErrorCode::usage, "there is no leaf '{}' for {} on cuda; choose one of {}", leaf, type_name(type),
             fmt::join(leaves, ", "));
    }
}

std::shared_ptr<const ProductPlan> device_plan(std::int64_t m, std::int64_t k, std::int64_t n, Type type,
                                               const Options& options, bool accumulate, const ProductContext& context) {
    std::int64_t limit = options.workspace_limit_bytes;
    if (context.workspace_bytes >= 0) {
        limit = std::min(limit, context.workspace_bytes);
    }
    const PlanQuestion question{m, k, n, type, type, 1, accumulate, limit, options};
    if (auto kept = plan_cache.find(question)) {
        return kept;
    }
    const DeviceFigures of_device = figures_of(cuda::device_index(options.device));
    fail_if(cuda::device_leaves(type).empty(), ErrorCode::usage, "products of {} do not run on cuda; set device to cpu",
            type_name(type));
    if (options.leaf != "auto") {
        validate_leaf(options.leaf, type);
    }
    Problem problem{m, k, n, type, 1, options};
    problem.options.accumulate = accumulate;
    problem.options.workspace_limit_bytes = limit;
    return plan_cache.keep(question, make_plan(problem, *of_device.machine, device_limits()));
}

/// Where the three matrices are. An empty one is anywhere.
enum class Place : std::uint8_t { host, device };
Place common_place(const ConstView& a, const ConstView& b, const View& c, int device) {
    const char* const names[] = {"A", "B", "C"};
    const ConstView views[] = {a, b, c};
    int on_host = -1, on_device = -1;
    for (int i = 0; i < 3; ++i) {
        const ConstView& view = views[i];
        if (view.rows == 0 || view.cols == 0) {
            continue;
        }
        const cuda::PointerPlace place = cuda::place_of(view.data);
        fail_if(place.kind == cuda::PointerKind::device && place.device != device, ErrorCode::input,
                "{} is on cuda:{} and the product is to run on cuda:{}", names[i], place.device, device);
        (place.kind == cuda::PointerKind::host ? on_host : on_device) = i;
    }
    if (on_host >= 0 && on_device >= 0) {
        fail(ErrorCode::input, "{} is in host memory and {} on cuda:{}; copy them to one place", names[on_host],
             names[on_device], device);
    }
    return on_device >= 0 ? Place::device : Place::host;
}

Factor alpha_of(const Product& product) {
    return {product.alpha, product.imaginary.alpha};
}
Factor beta_of(const Product& product) {
    return {product.beta, product.imaginary.beta};
}

/// Kernels read and write complex numbers whole.
void validate_boundaries(const ConstView& a, const ConstView& b, const ConstView& c) {
    const char* const names[] = {"A", "B", "C"};
    const ConstView views[] = {a, b, c};
    for (int i = 0; i < 3; ++i) {
        const std::size_t bytes = element_bytes(views[i].type);
        fail_if(is_complex(views[i].type) && reinterpret_cast<std::uintptr_t>(views[i].data) % bytes != 0,
                ErrorCode::input, "{} is at {}, but {} on a device must begin on a {}-byte boundary; copy it to one",
                names[i], views[i].data, type_name(views[i].type), bytes);
    }
}

/// The workspace of a product on its way, and cuBLAS's part of it.
class LentWorkspace {
public:
    LentWorkspace(const ProductPlan& plan, cuda::CudaBackend& backend, const ProductContext& context) {
        const std::int64_t blocks = plan.workspace_bytes - plan.vendor_workspace_bytes;
        if (context.workspace_bytes < 0) {
            memory_ = cuda::DeviceMemory(backend.device(), blocks, backend.stream());
            data_ = memory_.data();
            backend.set_vendor_workspace(nullptr, plan.vendor_workspace_bytes);
            return;
        }
        const auto address = reinterpret_cast<std::uintptr_t>(context.workspace);
        fail_if(context.workspace_bytes < plan.workspace_bytes || address % kWorkspaceAlignment != 0, ErrorCode::usage,
                "the plan needs {} bytes of workspace on a {}-byte boundary; the context has {} bytes at {}",
                plan.workspace_bytes, kWorkspaceAlignment, context.workspace_bytes, context.workspace);
        data_ = static_cast<std::byte*>(context.workspace) + plan.vendor_workspace_bytes;
        backend.set_vendor_workspace(plan.vendor_workspace_bytes > 0 ? context.workspace : nullptr,
                                     plan.vendor_workspace_bytes);
    }
    void* data() const { return data_; }

private:
    cuda::DeviceMemory memory_;
    void* data_ = nullptr;
};

/// Products that take no more than this ask nobody: it is about what cuBLAS takes for itself.
constexpr std::int64_t kUnaskedBytes = std::int64_t{64} << 20;

/// What workspace may take of a device's free memory: three quarters, as others allocate there while the product is on
/// its way; in whole GiB, or a power of two where that is less, so that a little more or less that is free does not
/// make other plans. No limit where there is no such device: then the plan is for another machine.
std::int64_t room_on_device(int device) {
    if (cuda::known_report().find(device) == nullptr) {
        return std::numeric_limits<std::int64_t>::max();
    }
    constexpr std::int64_t kGiB = std::int64_t{1} << 30;
    const std::int64_t share = cuda::free_bytes(device) / 4 * 3;
    return share >= kGiB ? share / kGiB * kGiB
                         : static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(share)));
}

/// The plan within the limit of the options and what is free on the device now.
std::shared_ptr<const ProductPlan> fitting_plan(std::int64_t m, std::int64_t k, std::int64_t n, Type type,
                                                const Options& options, bool accumulate,
                                                const ProductContext& context) {
    auto plan = device_plan(m, k, n, type, options, accumulate, context);
    if (context.workspace_bytes >= 0 || plan->workspace_bytes <= kUnaskedBytes) {
        return plan;
    }
    Options limited = options;
    limited.workspace_limit_bytes =
        std::min(options.workspace_limit_bytes, room_on_device(cuda::device_index(options.device)));
    return plan->workspace_bytes <= limited.workspace_limit_bytes
               ? plan
               : device_plan(m, k, n, type, limited, accumulate, context);
}

RunReport enqueue(const Product& product, const ProductPlan& plan, int device, const ProductContext& context,
                  void* workspace, cuda::CudaBackend& backend) {
    if (!plan.levels.empty() || plan.padded || plan.leaf == "cublaslt") {
        const DeviceFigures of_device = figures_of(device);
        fail_if(!fits_shared_memory(plan, *of_device.machine), ErrorCode::input,
                "the {} levels of this plan by residues want more than the {} bytes of shared memory that thread "
                "blocks have on cuda:{}; set levels to 1, or leave the plan out",
                plan.levels.size(), of_device.machine->shared_bytes, device);
        backend.set_pass_shapes(pass_shapes(*of_device.machine));
        backend.set_vendor_kernels(of_device.kernels);
    }
    return run_plan(plan, backend, product, workspace, context.hooks);
}

/// As the plan says, or Error(resource).
RunReport enqueue(const Product& product, const ProductPlan& plan, int device, const ProductContext& context) {
    const auto backend = cuda::backend_for(device, context.stream);
    const std::lock_guard lock(backend->mutex());
    const cuda::DeviceScope scope(device);
    const LentWorkspace workspace(plan, *backend, context);
    return enqueue(product, plan, device, context, workspace.data(), *backend);
}

/// With the best plan whose workspace is to be had, down to none.
RunReport enqueue_with_what_is_free(const Product& product, const Options& options, int device,
                                    const ProductContext& context) {
    const auto backend = cuda::backend_for(device, context.stream);
    const std::lock_guard lock(backend->mutex());
    const cuda::DeviceScope scope(device);
    std::optional<Options> lowered;
    for (;;) {
        const auto plan = fitting_plan(product.a.rows, product.a.cols, product.b.cols, product.a.type,
                                       lowered ? *lowered : options, product.reads_result(), context);
        std::optional<LentWorkspace> workspace;
        try {
            workspace.emplace(*plan, *backend, context);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::resource || plan->workspace_bytes == 0) {
                throw;
            }
            const std::int64_t half = plan->workspace_bytes / 2;
            lowered = lowered ? *lowered : options;
            lowered->workspace_limit_bytes = half < kUnaskedBytes ? 0 : half;
            continue;
        }
        const RunReport report = enqueue(product, *plan, device, context, workspace->data(), *backend);
        if (!lowered) {
            keep_for_repeats(product, plan, options, device, context);
        }
        return report;
    }
}

RunReport multiply_with_transfers(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                                  const ProductPlan& plan, int device, const ProductContext& context) {
    validate_plan_of(plan, a, b, std::abs(beta));
    check_transfer_plan(plan);
    validate_leaf(plan.leaf, plan.type);
    validate_leaf(plan.fringe_leaf, plan.type);
    fail_if(c.type != plan.type || context.workspace_bytes >= 0 || common_place(a, b, c, device) != Place::host,
            ErrorCode::usage,
            "the plan has transfers: it is for matrices of {} in host memory, and takes device memory of its own",
            type_name(plan.type));
    return multiply_host_operands(alpha, a, b, beta, c, plan, device, context);
}

}  // namespace

double expected_growth_on_device(const ProductPlan& plan, int device) {
    return plan.levels.empty() && !is_by_residues(plan) ? 1 : expected_growth(plan, *figures_of(device).machine);
}

bool is_device_product(const std::string& device) {
    return cuda::is_device_name(device);
}

ProductPlan plan_device_product(std::int64_t m, std::int64_t k, std::int64_t n, Type type, const Options& options,
                                const ProductContext& context) {
    const bool by_default = options.workspace_limit_bytes == Options{}.workspace_limit_bytes;
    const auto make = by_default ? fitting_plan : device_plan;
    return *make(m, k, n, type, options, options.accumulate, context);
}

ProductPlan plan_where_asked(const ProblemSize& size, Type type, const Options& options,
                             const ProductContext& context) {
    const auto plan = is_device_product(options.device) ? plan_device_product : plan_product;
    return plan(size.m, size.k, size.n, type, options, context);
}

ProductPlan plan_of_share(const ProblemSize& size, Type type, std::int64_t nodes, const Options& options,
                          const ProductContext& context) {
    const bool whole_k = takes_whole_k(options.accuracy, type);
    const double cut = whole_k ? std::sqrt(static_cast<double>(nodes)) : std::cbrt(static_cast<double>(nodes));
    const auto part = [&](std::int64_t whole) {
        return std::max<std::int64_t>(1, std::llround(static_cast<double>(whole) / cut));
    };
    return plan_where_asked({part(size.m), whole_k ? size.k : part(size.k), part(size.n)}, type, options, context);
}

RunReport multiply_on_device(const Product& product, const Options& options, const ProductContext& context) {
    if (repeat_on_device(product, options, context)) {
        return {};
    }
    const cuda::CaptureScope capturable;
    const auto& [a, b, c] = std::tie(product.a, product.b, product.c);
    const Factor alpha = alpha_of(product), beta = beta_of(product);
    validate_product(alpha, a, b, beta, c);
    const int device = cuda::device_index(options.device);
    cuda::require_device(device);
    if (options.overwrite_inputs && !may_serve_as_scratch(a, b)) {
        Options keeping = options;
        keeping.overwrite_inputs = false;
        return multiply_on_device(product, keeping, context);
    }
    if (common_place(a, b, c, device) == Place::host) {
        const auto bytes = [](const ConstView& view) {
            return checked_mul(checked_mul(view.rows, view.cols), static_cast<std::int64_t>(element_bytes(view.type)));
        };
        return goes_beyond_device(checked_add(checked_add(bytes(a), bytes(b)), bytes(c)), options)
                   ? multiply_over_devices(alpha, a, b, beta, c, options, context)
                   : multiply_host_operands(alpha, a, b, beta, c, options, device, context);
    }
    validate_workspace(context.workspace, context.workspace_bytes, a, b, c);
    validate_boundaries(a, b, c);
    return c.type == a.type ? enqueue_with_what_is_free(product, options, device, context)
                            : enqueue_with_what_is_free(product, without_levels(options), device, context);
}

RunReport multiply_on_device(const Product& product, const ProductPlan& plan, int device,
                             const ProductContext& context) {
    const cuda::CaptureScope capturable;
    const auto& [a, b, c] = std::tie(product.a, product.b, product.c);
    const Factor alpha = alpha_of(product), beta = beta_of(product);
    validate_product(alpha, a, b, beta, c);
    cuda::require_device(device);
    if (plan.transfers) {
        return multiply_with_transfers(alpha, a, b, beta, c, plan, device, context);
    }
    validate_plan(plan, a, b, product.reads_result() ? 1 : 0, c);
    validate_leaf(plan.leaf, plan.type);
    validate_leaf(plan.fringe_leaf, plan.type);
    if (common_place(a, b, c, device) == Place::host) {
        return multiply_host_operands(alpha, a, b, beta, c, plan, device, context);
    }
    validate_workspace(context.workspace, context.workspace_bytes, a, b, c);
    validate_boundaries(a, b, c);
    return enqueue(product, plan, device, context);
}

RunReport enqueue_on_device(const Product& product, const ProductPlan& plan, int device,
                            const ProductContext& context) {
    const cuda::CaptureScope capturable;
    return enqueue(product, plan, device, context);
}

int device_of_operands(const ConstView& a, const ConstView& b, const ConstView& c, int otherwise) {
    const cuda::CaptureScope capturable;
    for (const ConstView* view : {&a, &b, &c}) {
        const bool empty = view->rows == 0 || view->cols == 0;
        const cuda::PointerPlace place = empty ? cuda::PointerPlace() : cuda::place_of(view->data);
        if (place.kind == cuda::PointerKind::device) {
            return place.device;
        }
    }
    return otherwise;
}

void multiply_batch_on_device(const ProductBatch& batch, const Options& options, const ProductContext& context) {
    const cuda::CaptureScope capturable;
    const int device = cuda::device_index(options.device);
    validate_batch(batch, context);
    cuda::require_device(device);
    if (batch.count == 0 || batch.c.rows == 0 || batch.c.cols == 0) {
        return;
    }
    const Product last = product_of(batch, batch.count - 1);
    const bool on_host = common_place(batch.a, batch.b, batch.c, device) == Place::host;
    fail_if((common_place(last.a, last.b, last.c, device) == Place::host) != on_host, ErrorCode::input,
            "the first product of the batch is in {} memory and the last one is not", on_host ? "host" : "device");
    if (!on_host) {
        validate_boundaries(batch.a, batch.b, batch.c);  // elements lie between products
    }
    const Options planned = batch.c.type == batch.a.type ? options : without_levels(options);
    const auto plan =
        fitting_plan(batch.a.rows, batch.a.cols, batch.b.cols, batch.a.type, planned, last.reads_result(), context);
    const bool one_call = !on_host && plan->levels.empty() && !plan->padded && plan->leaf.starts_with("cublas") &&
                          batch.a.type != Type::i32;
    ProductContext quiet = context;
    quiet.hooks.progress = {};                   // of the batch, not of each product
    constexpr std::int64_t kMostAtOnce = 32768;  // a grid has 65535 layers
    const std::int64_t step = one_call ? kMostAtOnce : 1;
    for (std::int64_t first = 0; first < batch.count; first += step) {
        start_product(quiet.hooks);
        const Product p = product_of(batch, first);
        if (one_call) {
            const auto backend = cuda::backend_for(device, context.stream);
            const std::lock_guard lock(backend->mutex());
            const cuda::DeviceScope scope(device);
            const LentWorkspace workspace(*plan, *backend, context);
            backend->begin_product(workspace.data(), 0);
            backend->multiply(products_of(batch, first, std::min(step, batch.count - first)), "cublas-batched");
        } else if (on_host) {
            multiply_host_operands(alpha_of(p), p.a, p.b, beta_of(p), p.c, *plan, device, quiet);
        } else {
            enqueue_with_what_is_free(p, planned, device, quiet);
        }
    }
    finish_product(context.hooks);
}

}  // namespace heptad

#include "kernels/cuda/device/cuda_backend.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <list>
#include <optional>
#include <utility>

#include "base/evenness_facts.hpp"
#include "base/shared_state.hpp"
#include "kernels/cuda/device/cuda_backend_state.hpp"
#include "kernels/cuda/fused/fused_product.hpp"
#include "kernels/cuda/vendor/kept_handles.hpp"

namespace heptad::cuda {
namespace {

constinit KeptHandles<cublasHandle_t> kept_handles;

}  // namespace

CudaBackend::CudaBackend(int device, void* stream) : state_(std::make_unique<State>()) {
    require_device(device);
    const DeviceScope scope(device);
    state_->device = device;
    state_->stream = static_cast<cudaStream_t>(stream);
    state_->library = &cublas_library();
    state_->handle = kept_handles.take(device);
    if (state_->handle == nullptr) {
        check(state_->library->create(&state_->handle), "start");
    }
    try {
        check(state_->library->set_stream(state_->handle, state_->stream), "take a stream");
        // Left alone, it rounds the partial sums of short types to the type of C where it cuts k up: twice and more,
        // where `strict` promises once.
        check(state_->library->set_math_mode(state_->handle, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION),
              "add in f32");
        check(cudaMalloc(&state_->own_workspace, static_cast<std::size_t>(kCublasWorkspaceBytes + kGuardBytes)),
              "allocate the workspace of cuBLAS");
        set_vendor_workspace(state_->own_workspace, kCublasWorkspaceBytes);
        // Workspace of products comes from the device's pool; what was given back is kept for the next one.
        cudaMemPool_t pool = nullptr;
        std::uint64_t keep = UINT64_MAX;
        check(cudaDeviceGetDefaultMemPool(&pool, device), "find the memory pool");
        check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep), "set up the memory pool");
    } catch (...) {
        cudaFree(state_->own_workspace);
        kept_handles.keep(device, state_->handle);
        throw;
    }
}

CudaBackend::~CudaBackend() {
    kept_handles.keep(state_->device, state_->handle);
    cudaFree(state_->own_workspace);
    if (state_->second_stream != nullptr) {
        cudaStreamDestroy(state_->second_stream);
    }
    if (state_->turn != nullptr) {
        cudaEventDestroy(state_->turn);
    }
}

int CudaBackend::device() const {
    return state_->device;
}
void* CudaBackend::stream() const {
    return state_->stream;
}

void CudaBackend::set_vendor_workspace(void* memory, std::int64_t bytes) {
    if (memory == nullptr && bytes > 0) {
        memory = state_->own_workspace;
    }
    if (state_->vendor_workspace != memory || memory == nullptr) {
        state_->vendor_workspace = memory;
        state_->vendor_workspace_bytes = bytes;
        check(state_->library->set_workspace(state_->handle, memory, static_cast<std::size_t>(bytes)),
              "take a workspace");
    }
}

void CudaBackend::set_pass_shapes(const PassShapes& shapes) {
    state_->shapes = shapes;
}

void CudaBackend::set_vendor_kernels(std::shared_ptr<const VendorKernels> kernels) {
    state_->batched_products.set_kernels(std::move(kernels));
}

std::vector<std::string> CudaBackend::vendor_kernels_for(std::span<const Product> batch) {
    const std::optional<StridedBatch> strided = strided_batch(batch);
    return strided ? state_->batched_products.kernels_for(*strided, state_->vendor_workspace_bytes)
                   : std::vector<std::string>{};
}

void CudaBackend::begin_product(void* reserved, std::int64_t bytes) {
    state_->reserved = static_cast<std::byte*>(reserved);
    state_->reserved_bytes = bytes;
    state_->guarded = state_->words_are_fresh = state_->is_result_judged = false;
    state_->judged = {};
    state_->residues = {};
    state_->guard_memory = DeviceMemory();
}

void CudaBackend::start(const GuardLimits& limits, std::int64_t m, std::int64_t k, std::int64_t n) {
    state_->guarded_size = {m, k, n};
    if (state_->reserved_bytes < state_->guard_size_bytes()) {
        state_->guard_memory = DeviceMemory(state_->device, state_->guard_size_bytes(), state_->stream);
    }
    state_->words_are_fresh = true;
    state_->is_result_judged = false;
    state_->watched[0] = state_->watched[1] = false;
    state_->judged = {};
    state_->limits = limits;
    state_->guard = {state_->words(),       limits.a,    limits.b,
                     limits.product,        limits.sums, limits.result,
                     limits.least_evenness, true,        limits.smallest_product};
    state_->guarded = true;
}

ProductExponents CudaBackend::State::judge(const ConstView& a, const ConstView& b, cudaStream_t where) {
    const Lines of_a = lines(0), of_b = lines(1);
    EvennessLaunch launch;
    launch.scalar = part_scalar(a.type);
    launch.a = device_matrix(a);
    launch.b = device_matrix(b);
    launch.may_scale = limits.may_scale;
    launch.room = a.type == Type::f16 ? kMostInnerOfF16 : kMostInner;
    launch.wanted_evenness = limits.least_evenness > 0 ? limits.least_evenness : limits.even_enough;
    launch.a_rows = of_a.rows;
    launch.a_cols = of_a.cols;
    launch.b_rows = of_b.rows;
    launch.b_cols = of_b.cols;
    launch.words = cleared_words();
    launch.notes = guard_data() + kGuardBytes;
    check_launch(is_complex(a.type) ? launch_complex_evenness(launch, where) : launch_evenness(launch, where),
                 "judge the operands");
    if (limits.may_scale) {
        judged = {{of_a.rows, of_a.cols}, {of_b.rows, of_b.cols}};
    }
    return judged;
}

ProductExponents CudaBackend::judge_evenness(const ConstView& a, const ConstView& b) {
    return state_->judge(a, b, state_->stream);
}

void CudaBackend::watch(int operand, const ConstView& view) {
    if (operand == kWatchedC && state_->is_result_judged) {
        return;
    }
    GuardWords* const words = state_->cleared_words();
    const LineExponents& lines = operand == 0 ? state_->judged.a : state_->judged.b;
    const bool may_be_scaled = operand != kWatchedC && lines != LineExponents{};
    check_launch(launch_scan(scalar_type(view.type), device_matrix(view), device_lines(lines),
                             may_be_scaled ? &words->scaled : nullptr,
                             &words->max_bits[operand == kWatchedC ? kWordOfResult : operand], state_->stream),
                 "scan a matrix");
    if (operand != kWatchedC) {
        state_->watched[operand] = true;
    }
}

void CudaBackend::answer_if_unsafe(const Product& product, std::span<std::byte> free) {
    state_->cleared_words();
    Guard unsafe = state_->guard;
    unsafe.run_when_safe = false;
    state_->answer(product, unsafe, free);
    if (!state_->is_captured()) {  // graphs may outlive this backend, and nobody waits for them here
        check_launch(launch_report(state_->guard, state_->limits.even_enough, state_->cleared_report(), state_->stream),
                     "report a verdict");
    }
}

void CudaBackend::finish() {
    state_->guarded = false;
    state_->is_result_judged = false;
    state_->guard_memory = DeviceMemory();
}

void CudaBackend::combine(const CombinePass& pass) {
    LinearPass linear = state_->linear_passes.of(pass);
    if (linear.outputs.empty()) {
        return;
    }
    const bool too_large = linear.inputs.size() > kMostInputs || linear.outputs.size() > kMostOutputs;
    if (too_large && writes_an_input(linear)) {
        const auto [first, second] = cut_in_two(pass);
        if (!second.statements.empty()) {
            combine(first);
            combine(second);
            return;
        }
    }
    LinearLaunch launch;
    launch.result = scalar_type(linear.outputs.front().type);
    launch.scalar = linear.inputs.empty() ? launch.result : scalar_type(linear.inputs.front().type);
    if (pass.only_multiplied && linear.outputs.front().type == Type::tf32) {
        launch.result = Scalar::rounded_to_tf32;
    }
    launch.only_if_scaled = !linear.output_lines.empty() && changes_lines_only(linear);
    launch.coefficients = std::move(linear.coefficients);
    launch.keep = linear.keep;
    for (const View& view : linear.inputs) {
        launch.inputs.push_back(device_matrix(view));
    }
    for (const View& view : linear.outputs) {
        launch.outputs.push_back(device_matrix(view));
    }
    if (state_->guarded && pass.watch >= 0) {
        launch.watch = &state_->cleared_words()->max_bits[pass.watch];
        state_->watched[pass.watch] = true;
    }
    if (!linear.output_lines.empty()) {
        std::transform(linear.input_lines.begin(), linear.input_lines.end(), std::back_inserter(launch.input_lines),
                       device_lines);
        std::transform(linear.output_lines.begin(), linear.output_lines.end(), std::back_inserter(launch.output_lines),
                       device_lines);
        launch.scaled = state_->guarded ? &state_->words()->scaled : nullptr;
    }
    if (pass.scaling != SumScaling::none) {
        launch.scale = {scale_kind(pass.scaling), state_->cleared_words(), static_cast<float>(pass.factor)};
    }
    if (pass.scaling == SumScaling::sums_to_c) {
        launch.watch = &state_->cleared_words()->max_bits[kWordOfSums];
        launch.watch_results = &state_->cleared_words()->max_bits[kWordOfResult];
    }
    if (state_->guarded && pass.only_if_safe) {
        state_->cleared_words();
        launch.guard = state_->guard;
    }
    launch.shape =
        state_->shapes.of(linear.outputs.front().type, pass_class(launch.inputs.size(), launch.outputs.size()));
    check_launch(launch_linear(launch, state_->stream), "start a combine pass");
}

void CudaBackend::multiply(std::span<const Product> batch, const std::string& leaf) {
    if (batch.empty()) {
        return;
    }
    State& state = *state_;
    if (leaf.ends_with("-batched") && batch.size() > 1 && batch[0].alpha != 0 && batch[0].a.cols > 0 &&
        state.multiply_strided(batch, leaf == "cublaslt-batched")) {
        return;
    }
    for (const Product& product : batch) {
        if (product.c.rows == 0 || product.c.cols == 0) {
            continue;
        }
        if (is_complex(product.c.type)) {
            state.multiply_complex(product);
        } else if (!product.reads_operands()) {
            state.scale(product.beta, product.c);
        } else if (leaf == "heptad") {
            state.multiply_classical(product, {});
        } else if (product.c.type == Type::i32) {
            state.multiply_limbs(product);
        } else if (leaf != "cublaslt" || !state.multiply_strided({&product, 1}, true)) {
            state.multiply_cublas(product);
        }
    }
}

bool CudaBackend::fuses(Type type, int left_terms, int right_terms, int targets) const {
    const DeviceScope scope(state_->device);
    return fused_available(type, left_terms, right_terms, targets);
}

void CudaBackend::multiply_fused(std::span<const FusedProduct> instances, FusedOrder order, FusedTile tile) {
    if (!instances.empty()) {
        if (order == FusedOrder::two_streams) {
            state_->make_second_stream();
        }
        // A graph may run beside whatever this backend does by then, so it has memory of its own.
        const FusedScratch scratch =
            state_->is_captured() ? FusedScratch{} : FusedScratch{state_->own_workspace, kCublasWorkspaceBytes};
        FusedGuard guard;
        if (state_->guarded) {
            // Where nothing was watched, the result will be.
            guard = {state_->guard, std::exchange(state_->words_are_fresh, false) ? state_->words() : nullptr};
        }
        state_->is_result_judged =
            launch_fused(state_->stream, state_->second_stream, instances[0].targets[0].block.type, instances, order,
                         tile, guard, scratch);
    }
}

std::vector<FusedTileShape> CudaBackend::fused_tile_shapes(Type type) const {
    const DeviceScope scope(state_->device);
    return fused_shapes(type);
}

ScanResult CudaBackend::scan(const ConstView& view) {
    if (view.type == Type::i32) {
        return {};
    }
    const auto rows = static_cast<std::size_t>(line_count(view.rows)), cols = static_cast<std::size_t>(view.cols);
    std::vector<std::uint32_t> bits(rows + cols);
    const std::size_t bytes = bits.size() * sizeof(std::uint32_t);
    const DeviceMemory memory(state_->device, static_cast<std::int64_t>(bytes), state_->stream);
    auto* const lines = static_cast<std::uint32_t*>(memory.data());
    check(cudaMemsetAsync(lines, 0, bytes, state_->stream), "clear the maxima of a matrix");
    check_launch(launch_line_scan(scalar_type(view.type), device_matrix(view), {lines, lines + rows}, state_->stream),
                 "scan a matrix");
    check(cudaMemcpyAsync(bits.data(), lines, bytes, cudaMemcpyDeviceToHost, state_->stream), "fetch the maxima");
    check(cudaStreamSynchronize(state_->stream), "wait for a scan");
    const auto value = [&](std::uint32_t x) {
        return view.type == Type::f64 ? std::bit_cast<double>(std::uint64_t{x} << 32)
                                      : static_cast<double>(std::bit_cast<float>(x));
    };
    ScanResult result;
    const auto first_col = bits.begin() + static_cast<std::ptrdiff_t>(rows);
    std::transform(bits.begin(), bits.begin() + view.rows, std::back_inserter(result.rows), value);
    std::transform(first_col, bits.end(), std::back_inserter(result.cols), value);
    result.max_abs = bits.empty() ? 0 : value(*std::max_element(first_col, bits.end()));
    return result;
}

GuardVerdict CudaBackend::take_verdict() {
    if (!std::exchange(state_->has_report, false)) {
        return {};
    }
    GuardReport told{};
    check(cudaMemcpyAsync(&told, state_->report(), sizeof(told), cudaMemcpyDeviceToHost, state_->stream),
          "fetch a verdict");
    check(cudaStreamSynchronize(state_->stream), "wait for a verdict");
    return {told.fell_back != 0, told.uneven != 0, told.scaled != 0};
}

void CudaBackend::copy(const ConstView& from, const View& to) {
    LinearLaunch launch;
    launch.scalar = launch.result = scalar_type(to.type);
    launch.inputs.push_back(device_matrix(from));
    launch.outputs.push_back(device_matrix(to));
    launch.coefficients = {1};
    check_launch(launch_linear(launch, state_->stream), "copy a matrix");
}

std::vector<std::string> CudaBackend::leaves(Type type) const {
    return device_leaves(type);
}

namespace {

struct KeptBackend {
    int device;
    void* stream;
    std::shared_ptr<CudaBackend> backend;
};
/// The last one used comes first.
constinit Guarded<std::list<KeptBackend>> kept_backends;

std::shared_ptr<CudaBackend> find_kept(std::list<KeptBackend>& kept, int device, void* stream) {
    const auto found = std::find_if(kept.begin(), kept.end(),
                                    [&](const KeptBackend& k) { return k.device == device && k.stream == stream; });
    if (found == kept.end()) {
        return nullptr;
    }
    kept.splice(kept.begin(), kept, found);
    return found->backend;
}

}  // namespace

std::shared_ptr<CudaBackend> kept_backend(int device, void* stream) {
    return find_kept(*kept_backends.lock(), device, stream);
}

std::shared_ptr<CudaBackend> backend_for(int device, void* stream) {
    constexpr std::size_t kMostKept = 16;
    const auto kept = kept_backends.lock();
    if (auto found = find_kept(*kept, device, stream)) {
        return found;
    }
    kept->push_front({device, stream, std::make_shared<CudaBackend>(device, stream)});
    if (kept->size() > kMostKept) {
        const CaptureScope capturable;  // somebody may record on another stream, and memory is given back
        kept->pop_back();
    }
    return kept->front().backend;
}

}  // namespace heptad::cuda

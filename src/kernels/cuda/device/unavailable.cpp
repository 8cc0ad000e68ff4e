// The CUDA backend of a build without CUDA: it says so.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wunused-private-field"  // what the real ones keep there
#endif

#include "base/error.hpp"
#include "base/shared_state.hpp"
#include "kernels/cuda/bits/bit_verbs.hpp"
#include "kernels/cuda/combine/pointed_copy.hpp"
#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/fused/fused_product.hpp"

namespace heptad::cuda {
namespace {

constexpr const char* kProblem = "this program was built without CUDA code";

[[noreturn]] void refuse() {
    fail(ErrorCode::resource, "no CUDA device can be used: {}; set device to cpu", kProblem);
}

}  // namespace

Report report() {
    Report report;
    report.problem = kProblem;
    return report;
}
const Report& known_report() {
    static constinit Once<Report> known;
    return known.get(report);
}
std::int64_t free_bytes(int) {
    return 0;
}
void release_kept_memory() noexcept {}
void require_device(int) {
    refuse();
}
int current_device() {
    return 0;
}
DeviceScope::DeviceScope(int) {}
DeviceScope::~DeviceScope() = default;
bool is_captured(void*) {
    return false;
}
CaptureScope::CaptureScope() = default;
CaptureScope::~CaptureScope() = default;
PointerPlace place_of(const void*) {
    return {};
}
DeviceMemory::DeviceMemory(int, std::int64_t, void*) {
    refuse();
}
DeviceMemory::~DeviceMemory() = default;
void DeviceMemory::swap(DeviceMemory&) noexcept {}
bool lock_pages(void*, std::int64_t) noexcept {
    return false;
}
void unlock_pages(void*) noexcept {}
bool is_locked(const void*) noexcept {
    return false;
}
Stream::Stream(int) {
    refuse();
}
Stream::~Stream() = default;
void Stream::synchronize() const {}
void Stream::wait_for(const Stream&) const {}
void copy_rows(const void*, std::int64_t, void*, std::int64_t, std::int64_t, std::int64_t, void*) {
    refuse();
}
DeviceStatus launch_gather(const PointedMatrix&, void*, StreamHandle) {
    refuse();
}
DeviceStatus launch_scatter(const void*, const PointedMatrix&, StreamHandle) {
    refuse();
}
void fill_bytes(void*, unsigned char, std::int64_t, void*) {
    refuse();
}
Event::Event(int) {
    refuse();
}
Event::~Event() = default;
void Event::record(const Stream&) {}
void Event::wait() const {}
void Event::hold_back(const Stream&) const {}
Timer::Timer(int) {
    refuse();
}
Timer::~Timer() = default;
void Timer::start(void*) {}
void Timer::stop(void*) {}
double Timer::seconds() const {
    return 0;
}
double Timer::seconds_after(const Timer&) const {
    return 0;
}

bool has_warpgroup_leaf(int) {
    return false;
}
std::unique_ptr<BitVerbs> device_bit_verbs(int, void*, const std::string&) {
    refuse();
}
void fill_random_bits(std::uint64_t*, std::int64_t, std::uint64_t, double, void*) {
    refuse();
}

bool fused_tile_fits(Type, FusedTile, int) {
    return false;
}

struct CudaBackend::State {};
CudaBackend::CudaBackend(int, void*) {
    refuse();
}
CudaBackend::~CudaBackend() = default;
void CudaBackend::combine(const CombinePass&) {}
void CudaBackend::multiply(std::span<const Product>, const std::string&) {}
bool CudaBackend::fuses(Type, int, int, int) const {
    return false;
}
void CudaBackend::multiply_fused(std::span<const FusedProduct>, FusedOrder, FusedTile) {}
std::vector<FusedTileShape> CudaBackend::fused_tile_shapes(Type) const {
    return {};
}
ScanResult CudaBackend::scan(const ConstView&) {
    return {};
}
GuardVerdict CudaBackend::take_verdict() {
    return {};
}
void CudaBackend::copy(const ConstView&, const View&) {}
std::vector<std::string> CudaBackend::leaves(Type) const {
    return {};
}
void CudaBackend::begin_product(void*, std::int64_t) {}
void CudaBackend::keep_residues(const KeptResidues&, const KeptResidues&) {}
void CudaBackend::place_operands(std::int64_t, std::int64_t) {}
void CudaBackend::set_vendor_workspace(void*, std::int64_t) {}
void CudaBackend::set_pass_shapes(const PassShapes&) {}
void CudaBackend::set_vendor_kernels(std::shared_ptr<const VendorKernels>) {}
std::vector<std::string> CudaBackend::vendor_kernels_for(std::span<const Product>) {
    return {};
}
int CudaBackend::device() const {
    return 0;
}
void* CudaBackend::stream() const {
    return nullptr;
}
void CudaBackend::start(const GuardLimits&, std::int64_t, std::int64_t, std::int64_t) {}
void CudaBackend::measure(const ConstView&, const ConstView&, const Choice&, void*) {}
std::optional<ResidueKernels::Norms> CudaBackend::measure_exactly(const ConstView&, const ConstView&, void*) {
    refuse();
}
void CudaBackend::take_moduli(int, const std::optional<Norms>&) {}
void CudaBackend::convert(std::span<const Block>) {}
void CudaBackend::add_planes(const PlaneSums&, const ResiduePlanes&, const ResiduePlanes&) {}
void CudaBackend::multiply_planes(const ResiduePlanes&, const ResiduePlanes&, const ResiduePlanes&) {}
void CudaBackend::rebuild(const ResiduePlanes&, const Product&, const View&, std::int64_t, std::int64_t) {}
ProductExponents CudaBackend::judge_evenness(const ConstView&, const ConstView&) {
    refuse();
}
void CudaBackend::watch(int, const ConstView&) {}
void CudaBackend::answer_if_unsafe(const Product&, std::span<std::byte>) {}
void CudaBackend::finish() {}
std::shared_ptr<CudaBackend> backend_for(int, void*) {
    refuse();
}
std::shared_ptr<CudaBackend> kept_backend(int, void*) {
    return nullptr;
}

}  // namespace heptad::cuda

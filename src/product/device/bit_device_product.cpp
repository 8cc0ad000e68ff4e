#include "product/device/bit_device_product.hpp"

#include <map>

#include "base/fail_if.hpp"
#include "base/shared_state.hpp"
#include "io/device_machine.hpp"
#include "kernels/cuda/device/device.hpp"
#include "run/bits/bit_product.hpp"

namespace heptad {
namespace {

void require_on_device(const void* memory, const char* name, int device) {
    const cuda::PointerPlace place = cuda::place_of(memory);
    fail_if(place.kind != cuda::PointerKind::device || place.device != device, ErrorCode::input,
            "{} is not in the memory of cuda:{}; copy it there first", name, device);
}

void require_device_view(const ConstBitView& view, const char* name, int device) {
    bits::require_view(view, name);
    fail_if(view.offset != 0, ErrorCode::usage, "{} begins at bit {} of a word; on a device it must begin at bit 0",
            name, view.offset);
    if (view.rows > 0 && view.cols > 0) {
        require_on_device(view.words, name, device);
    }
}

void enqueue(const ProductPlan& plan, BitDeviceOperands operands, int device, void* stream, void* workspace) {
    cuda::require_device(device);
    const cuda::DeviceScope scope(device);
    const cuda::CaptureScope capturable;
    fail_if(reinterpret_cast<std::uintptr_t>(workspace) % 16 != 0, ErrorCode::usage,
            "the workspace is at {}; it must begin on a 16-byte boundary", workspace);
    cuda::DeviceMemory own;
    if (workspace == nullptr) {
        own = cuda::DeviceMemory(device, plan.workspace_bytes, stream);
        workspace = own.data();
    }
    operands.workspace = static_cast<std::uint64_t*>(workspace);
    walk_bit_device(bit_device_launch(plan, operands), *cuda::device_bit_verbs(device, stream, plan.leaf), operands);
}

/// Read once: a file for every product would take longer than a small one.
struct MeasuredBits {
    std::vector<BitSplitSample> splits;
    std::vector<BitHostSample> at_host;
};
MeasuredBits measured_bits(int device) {
    static constinit Guarded<std::map<int, MeasuredBits>> all;
    const auto known = all.lock();
    auto found = known->find(device);
    if (found == known->end()) {
        Machine machine = load_device_machine(device);
        found = known->emplace(device, MeasuredBits{std::move(machine.bit_splits), std::move(machine.bit_hosts)}).first;
    }
    return found->second;
}

}  // namespace

void require_sizes(const ProductPlan& plan, const ConstBitView& a, const ConstBitView& b) {
    fail_if(a.rows != plan.m || a.cols != plan.k || b.rows != plan.k || b.cols != plan.n, ErrorCode::usage,
            "the plan is for a product of {} x {} x {}, but A is {} x {} and B is {} x {}", plan.m, plan.k, plan.n,
            a.rows, a.cols, b.rows, b.cols);
}

BitDeviceFacts bit_device_facts(int device) {
    BitDeviceFacts facts;
    if (const DeviceInfo* const info = cuda::known_report().find(device)) {
        facts.leaf = cuda::best_bit_leaf(info->major, info->major == 9 && cuda::has_warpgroup_leaf(device));
        facts.multiprocessors = info->multiprocessors;
        const MeasuredBits measured = measured_bits(device);
        facts.measured = measured.splits;
        facts.measured_at_host = measured.at_host;
    }
    return facts;
}

void multiply_bits_on_device(const ProductPlan& plan, const ConstBitView& a, const ConstBitView& b, const BitView& c,
                             bool accumulate, int device, void* stream, void* workspace) {
    cuda::require_device(device);
    require_device_view(a, "A", device);
    require_device_view(b, "B", device);
    require_device_view(c, "C", device);
    require_sizes(plan, a, b);
    fail_if(c.rows != a.rows || c.cols != b.cols, ErrorCode::input, "C is {} x {}, but A * B is {} x {}", c.rows,
            c.cols, a.rows, b.cols);
    bits::require_apart(c, a, "A");
    bits::require_apart(c, b, "B");
    fail_if(plan.count, ErrorCode::usage, "the plan makes counts, which do not fit into bits; plan gf2 or bool");
    enqueue(plan, {a.words, a.stride, b.words, b.stride, c.words, c.stride, accumulate, nullptr}, device, stream,
            workspace);
}

}  // namespace heptad

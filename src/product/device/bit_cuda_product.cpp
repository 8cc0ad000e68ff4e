#include "product/device/bit_cuda_product.hpp"

#include "base/bit_words.hpp"
#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "base/workspace.hpp"
#include "io/device_machine.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/device/bit_device_product.hpp"
#include "product/device/bit_host_operands.hpp"
#include "product/device/device_bits.hpp"
#include "product/device/over_devices.hpp"
#include "run/bits/bit_product.hpp"

namespace heptad {
namespace {

std::int64_t operand_bytes(const ProblemSize& size) {
    return checked_add(checked_add(DeviceBits::bytes(size.m, size.k), DeviceBits::bytes(size.k, size.n)),
                       DeviceBits::bytes(size.m, size.n));
}

Options limits_of(const bits::BitOptions& options) {
    Options limits;
    limits.device = options.device;
    limits.host = options.host;
    return limits;
}

/// Of a matrix that has elements.
bool is_on_device(const ConstBitView& view, const char* name, int device) {
    const cuda::PointerPlace place = cuda::place_of(view.words);
    fail_if(place.kind == cuda::PointerKind::device && place.device != device, ErrorCode::input,
            "{} is in the memory of cuda:{}, but the product is for cuda:{}", name, place.device, device);
    return place.kind == cuda::PointerKind::device;
}

void require_workspace(const ProductContext& context, const ConstBitView& a, const ConstBitView& b,
                       const ConstBitView& c, int device) {
    if (context.workspace_bytes <= 0) {
        return;
    }
    const cuda::PointerPlace place = cuda::place_of(context.workspace);
    fail_if(place.kind != cuda::PointerKind::device || place.device != device, ErrorCode::input,
            "the matrices are on cuda:{}, but the workspace at {} is not; give it memory there", device,
            context.workspace);
    require_workspace_apart(context.workspace, context.workspace_bytes, bits::byte_range(a), bits::byte_range(b),
                            bits::byte_range(c));
}

/// A view that begins at bit 0 of a word: itself, or a copy that the matrix keeps.
ConstBitView straightened(const ConstBitView& view, BitMatrix& copy) {
    if (view.offset == 0) {
        return view;
    }
    copy = BitMatrix::copy_of(view);
    return copy;
}

void require_algebra(Type algebra) {
    fail_if(algebra != Type::gf2 && algebra != Type::boolean, ErrorCode::usage,
            "bit matrices are multiplied over gf2 or bool, not {}", type_name(algebra));
}

/// For matrices that are brought to the device.
ProductPlan plan_for_host_bits(Type algebra, const ProblemSize& size, const bits::BitOptions& options, int device) {
    return plan_bit_device_product({bit_operation(algebra), size},
                                   bit_device_options(options, usable_bytes(device) - operand_bytes(size)),
                                   bit_device_facts(device));
}

}  // namespace

std::int64_t usable_bytes(int device) {
    /// Left to the driver and to others.
    constexpr std::int64_t kReserveBytes = std::int64_t{512} << 20;
    const bool there = cuda::known_report().find(device) != nullptr;
    return (there ? cuda::free_bytes(device) : assumed_device().memory_bytes) - kReserveBytes;
}

void multiply_bits_on_cuda(Type algebra, const ConstBitView& a, const ConstBitView& b, const BitView& c,
                           bool accumulate, const bits::BitOptions& options, const ProductContext& context) {
    const cuda::CaptureScope capturable;
    require_algebra(algebra);
    const int device = cuda::device_index(options.device);
    cuda::require_device(device);
    bits::require_product(a, b, c);
    if (c.rows == 0 || c.cols == 0) {
        return;
    }
    start_product(context.hooks);
    const ProblemSize size{a.rows, a.cols, b.cols};
    const bool there = is_on_device(c, "C", device);
    fail_if(size.k > 0 && (is_on_device(a, "A", device) != there || is_on_device(b, "B", device) != there),
            ErrorCode::input, "of A, B and C some are on cuda:{} and some in host memory; copy them to one place",
            device);
    if (there) {
        require_workspace(context, a, b, c, device);
        const std::int64_t limit = context.workspace_bytes >= 0 ? context.workspace_bytes : usable_bytes(device);
        const ProductPlan plan =
            plan_bit_device_product({bit_operation(algebra), size, is_aligned_for_leaf(a.words, a.stride)},
                                    bit_device_options(options, limit), bit_device_facts(device));
        multiply_bits_on_device(plan, a, b, c, accumulate, device, context.stream,
                                context.workspace_bytes > 0 ? context.workspace : nullptr);
        finish_product(context.hooks);
        return;
    }
    fail_if(context.stream != nullptr || context.workspace_bytes >= 0, ErrorCode::usage,
            "Heptad moves matrices from host memory to the device with streams and memory of its own; set neither a "
            "stream nor a workspace in the context");
    if (goes_beyond_device(operand_bytes(size), limits_of(options))) {
        multiply_bits_over_devices(algebra, a, b, c, accumulate, options, context);
        return;
    }
    const ProductPlan plan = plan_for_host_bits(algebra, size, options, device);
    BitMatrix copy_a, copy_b;
    const ConstBitView straight_a = straightened(a, copy_a), straight_b = straightened(b, copy_b);
    if (c.offset == 0) {
        multiply_host_bits_on_device(plan, straight_a, straight_b, c, accumulate, device, context.hooks);
        return;
    }
    BitMatrix straight_c = BitMatrix::copy_of(c);
    multiply_host_bits_on_device(plan, straight_a, straight_b, straight_c.view(), accumulate, device, context.hooks);
    bits::copy(straight_c, c);
}

ProductPlan plan_bits_on_cuda(Type algebra, const ProblemSize& size, const bits::BitOptions& options,
                              const ProductContext& context) {
    require_algebra(algebra);
    return goes_beyond_device(operand_bytes(size), limits_of(options))
               ? make_bit_plan_over_devices(algebra, size, false, options, context).plan
               : plan_for_host_bits(algebra, size, options, cuda::device_index(options.device));
}

}  // namespace heptad

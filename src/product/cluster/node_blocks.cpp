#include "product/cluster/node_blocks.hpp"

#include <algorithm>
#include <utility>

#include "base/complex_as_real.hpp"
#include "base/size.hpp"
#include "product/device/device_product.hpp"
#include "product/memory/by_definition.hpp"

namespace heptad {
namespace {

constexpr std::size_t kMostFree = 8;           // more would hold memory for nothing
constexpr std::int64_t kDeviceRow_bytes = 16;  // rows that begin on such boundaries are faster to read

std::int64_t pitch_bytes(const ConstView& view) {
    return view.row_stride * static_cast<std::int64_t>(element_bytes(view.type));
}

/// Rows of the one, each in one piece, to those of the other.
void copy(const ConstView& from, const View& to, const cuda::Stream& stream) {
    const auto element = static_cast<std::int64_t>(element_bytes(from.type));
    cuda::copy_rows(from.data, pitch_bytes(from), to.data, pitch_bytes(to), from.cols * element, from.rows,
                    stream.handle());
}

}  // namespace

void NodeSettings::multiply(const ConstView& a, const ConstView& b, Factor factor_of_c, const View& c,
                            const ProductContext& context) const try {
    if (is_refused()) {
        return;
    }
    const ConstView left = conjugated(a, conjugate_a), right = conjugated(b, conjugate_b);
    const Options how = by_definition ? heptad::by_definition(options) : options;
    note(is_device_product(how.device) ? multiply_on_device(alpha, left, right, factor_of_c, c, how, context)
                                       : multiply_in_memory(alpha, left, right, factor_of_c, c, how, context));
} catch (const Error& error) {
    if (refusal == nullptr || (error.code() != ErrorCode::input && error.code() != ErrorCode::usage)) {
        throw;
    }
    refusal->why = std::current_exception();
    refusal->happened = true;
}

HostBlock::HostBlock(Matrix elements, bool lock)
    : elements_(std::move(elements)),
      locked_(lock && elements_.data() != nullptr && cuda::lock_pages(elements_.data(), elements_.size_bytes())) {}

HostBlock::~HostBlock() {
    if (locked_) {
        cuda::unlock_pages(elements_.data());
    }
}

void HostBlock::swap(HostBlock& other) noexcept {
    std::swap(elements_, other.elements_);
    std::swap(locked_, other.locked_);
}

/// One for each stage that a thread of its own runs.
struct NodeBlocks::Streams {
    explicit Streams(int device) : up(device), compute(device), down(device) {}
    cuda::Stream up, compute, down;
};

NodeBlocks::NodeBlocks(const NodeSettings& node, Type type, StageTrace& trace, const StageFailure& failure)
    : node_(node), type_(type), trace_(trace), failure_(failure) {
    if (is_device_product(node.options.device)) {
        streams_ = std::make_unique<Streams>(cuda::device_index(node.options.device));
    }
}

NodeBlocks::~NodeBlocks() = default;

HostBlock NodeBlocks::take(std::int64_t rows, std::int64_t cols) {
    {
        const std::lock_guard lock(mutex_);
        const auto fits = [&](const HostBlock& block) {
            return block.elements().rows() == rows && block.elements().cols() == cols;
        };
        if (const auto found = std::find_if(free_.begin(), free_.end(), fits); found != free_.end()) {
            HostBlock block = std::move(*found);
            free_.erase(found);
            return block;
        }
    }
    return {Matrix(type_, rows, cols), on_device()};
}

void NodeBlocks::give_back(HostBlock block) {
    if (block.data() == nullptr) {
        return;
    }
    const std::lock_guard lock(mutex_);
    if (free_.size() >= kMostFree) {
        free_.erase(free_.begin());  // blocks of the edges, which come once
    }
    free_.push_back(std::move(block));
}

NodeBlock NodeBlocks::on_device_like(HostBlock host, const cuda::Stream& stream) const {
    const Matrix& elements = host.elements();
    const auto element = static_cast<std::int64_t>(element_bytes(type_));
    const std::int64_t stride = round_up(std::max<std::int64_t>(elements.cols(), 1), kDeviceRow_bytes / element);
    NodeBlock block;
    block.memory = cuda::DeviceMemory(stream.device(), checked_mul(checked_mul(stride, elements.rows()), element),
                                      stream.handle());
    block.view = View(block.memory.data(), type_, elements.rows(), elements.cols(), stride, 1);
    block.host = std::move(host);
    return block;
}

NodeBlock NodeBlocks::bring(HostBlock host) {
    if (!on_device()) {
        NodeBlock block{std::move(host), {}, {}};
        block.view = block.host.elements().view();
        return block;
    }
    NodeBlock block;
    trace_.time(Stage::upload, [&] {
        block = on_device_like(std::move(host), streams_->up);
        copy(std::as_const(block.host).elements().view(), block.view, streams_->up);
        streams_->up.synchronize();
    });
    give_back(std::exchange(block.host, {}));
    return block;
}

NodeBlock NodeBlocks::begin_result(HostBlock host, bool brings) {
    if (!on_device()) {
        return bring(std::move(host));
    }
    NodeBlock block = on_device_like(std::move(host), streams_->compute);
    if (brings) {
        trace_.time(Stage::upload, [&] {
            copy(std::as_const(block.host).elements().view(), block.view, streams_->compute);
            streams_->compute.synchronize();
        });
    }
    return block;
}

void NodeBlocks::multiply(const ConstView& a, const ConstView& b, Factor beta, const View& c) {
    const ProductContext context{.threads = node_.threads,
                                 .stream = on_device() ? streams_->compute.handle() : nullptr,
                                 .hooks = {&failure_.cancel()}};
    trace_.time(Stage::multiply, [&] {
        node_.multiply(a, b, beta, c, context);
        if (on_device()) {
            streams_->compute.synchronize();
        }
    });
}

HostBlock NodeBlocks::fetch(NodeBlock result) {
    if (on_device()) {
        trace_.time(Stage::download, [&] {
            copy(result.view, result.host.elements().view(), streams_->down);
            streams_->down.synchronize();
        });
    }
    return std::move(result.host);
}

void NodeBlocks::release(NodeBlock operand) {
    give_back(std::move(operand.host));
}

}  // namespace heptad

#include "place/devices/host_operands.hpp"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <vector>

#include "backend/cuda/device.hpp"
#include "base/error.hpp"
#include "base/size.hpp"
#include "place/devices/device_product.hpp"

namespace heptad {
namespace {

/// A matrix on the device, stored the way the one on the host is.
struct DeviceCopy {
    cuda::DeviceMemory memory;
    View view;
};

bool stored_by_rows(const char* name, const ConstView& view) {
    if (is_row_contiguous(view)) {
        return true;
    }
    if (!is_column_contiguous(view)) {
        fail(ErrorCode::input, "{} (strides {} and {}) has no contiguous side; copy it before a product on a device",
             name, view.row_stride, view.col_stride);
    }
    return false;
}

DeviceCopy allocate_like(const char* name, const ConstView& host, std::int64_t rows, int device, void* stream) {
    const bool by_rows = stored_by_rows(name, host);
    const auto element = static_cast<std::int64_t>(element_bytes(host.type));
    // Rows that begin on 16-byte boundaries are faster to read, whatever they are on the host.
    const std::int64_t stride = round_up(by_rows ? host.cols : rows, 16 / element);
    const std::int64_t lines = by_rows ? rows : host.cols;
    DeviceCopy copy;
    copy.memory =
        cuda::DeviceMemory(device, checked_mul(checked_mul(stride, std::max<std::int64_t>(lines, 1)), element), stream);
    copy.view = by_rows ? View(copy.memory.data(), host.type, rows, host.cols, stride, 1)
                        : View(copy.memory.data(), host.type, rows, host.cols, 1, stride);
    return copy;
}

/// Between two views stored alike, one of them on the device.
void transfer(const ConstView& from, const View& to, void* stream) {
    const auto element = static_cast<std::int64_t>(element_bytes(from.type));
    const bool by_rows = is_row_contiguous(from) && is_row_contiguous(to);
    const std::int64_t length = by_rows ? from.cols : from.rows;
    const std::int64_t lines = by_rows ? from.rows : from.cols;
    const auto pitch = [&](const ConstView& v) {
        const std::int64_t stride = by_rows ? v.row_stride : v.col_stride;
        return (lines <= 1 ? length : stride) * element;
    };
    cuda::copy_rows(from.data, pitch(from), to.data, pitch(to), length * element, lines, stream);
}

/// Rows of C per panel: few enough panels that each is a large product, enough that transfers overlap.
std::int64_t panel_rows(std::int64_t m, std::int64_t k, std::int64_t n) {
    constexpr std::int64_t kLeastRows = 2048;
    constexpr std::int64_t kMostPanels = 4;
    constexpr double kWorthCutting = 1e11;  // multiplications; below, it is over before a second copy has begun
    const double work = static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
    if (work < kWorthCutting || m < 2 * kLeastRows) {
        return std::max<std::int64_t>(m, 1);
    }
    const std::int64_t panels = std::min(kMostPanels, m / kLeastRows);
    return round_up((m + panels - 1) / panels, 64);
}

/// Waits when the scope is left, by an error too: memory must not be given back while it is still in use.
class WaitAtEnd {
public:
    explicit WaitAtEnd(std::initializer_list<const cuda::Stream*> streams) : streams_(streams) {}
    ~WaitAtEnd() {
        for (const cuda::Stream* stream : streams_) {
            try {
                stream->synchronize();
            } catch (const Error&) {  // the error that matters is already on its way, or was thrown before
            }
        }
    }
    WaitAtEnd(const WaitAtEnd&) = delete;
    WaitAtEnd& operator=(const WaitAtEnd&) = delete;

private:
    std::vector<const cuda::Stream*> streams_;
};

using PanelProduct = std::function<RunReport(const ConstView&, const ConstView&, const View&, const ProductContext&)>;

RunReport multiply_panels(const ConstView& a, const ConstView& b, double beta, const View& c, std::int64_t rows,
                          int device, const ProductContext& context, const PanelProduct& product) {
    const cuda::DeviceScope scope(device);
    const cuda::Stream compute(device), upload(device), download(device);
    ProductContext on_device = context;
    on_device.stream = compute.handle();
    RunReport report;

    const DeviceCopy device_b = allocate_like("B", b, b.rows, device, upload.handle());
    transfer(b, device_b.view, upload.handle());
    struct Panel {
        DeviceCopy a, c;
        std::int64_t row = 0, count = 0;
    };
    Panel panels[2];
    const auto fetch = [&](Panel& panel) {
        if (panel.count > 0) {
            transfer(block(panel.c.view, 0, 0, panel.count, c.cols), block(c, panel.row, 0, panel.count, c.cols),
                     download.handle());
        }
    };
    const WaitAtEnd wait({&upload, &compute, &download});
    int turn = 0;
    for (std::int64_t row = 0; row < c.rows; row += rows, turn ^= 1) {
        Panel& panel = panels[turn];
        panel.row = row;
        panel.count = std::min(rows, c.rows - row);
        if (panel.a.view.data == nullptr) {
            panel.a = allocate_like("A", a, rows, device, upload.handle());
            panel.c = allocate_like("C", c, rows, device, upload.handle());
        } else {
            upload.wait_for(compute);   // its former contents were multiplied
            upload.wait_for(download);  // and fetched
        }
        const View panel_a = block(panel.a.view, 0, 0, panel.count, a.cols);
        const View panel_c = block(panel.c.view, 0, 0, panel.count, c.cols);
        transfer(block(a, row, 0, panel.count, a.cols), panel_a, upload.handle());
        if (beta != 0) {
            transfer(block(ConstView(c), row, 0, panel.count, c.cols), panel_c, upload.handle());
        }
        compute.wait_for(upload);
        // Before the next product is enqueued: what is fetched now is the former panel, already in the stream.
        download.wait_for(compute);
        const RunReport part = product(panel_a, device_b.view, panel_c, on_device);
        report.workspace_used_bytes = std::max(report.workspace_used_bytes, part.workspace_used_bytes);
        fetch(panels[turn ^ 1]);
    }
    download.wait_for(compute);
    fetch(panels[turn ^ 1]);
    download.synchronize();
    compute.synchronize();
    return report;
}

}  // namespace

RunReport multiply_host_operands(double alpha, const ConstView& a, const ConstView& b, double beta, const View& c,
                                 const Options& options, int device, const ProductContext& context) {
    if (c.rows == 0 || c.cols == 0) {
        return {};
    }
    if (!stored_by_rows("C", c)) {  // panels of rows are contiguous in the transposed product
        return multiply_host_operands(alpha, transposed(b), transposed(a), beta, transposed(c), options, device,
                                      context);
    }
    const std::int64_t rows = panel_rows(a.rows, a.cols, b.cols);
    Options of_panels = options;
    of_panels.overwrite_inputs = options.overwrite_inputs && rows >= c.rows;  // several panels need B again
    return multiply_panels(a, b, beta, c, rows, device, context,
                           [&](const ConstView& pa, const ConstView& pb, const View& pc, const ProductContext& where) {
                               return multiply_on_device(alpha, pa, pb, beta, pc, of_panels, where);
                           });
}

RunReport multiply_host_operands(double alpha, const ConstView& a, const ConstView& b, double beta, const View& c,
                                 const ProductPlan& plan, int device, const ProductContext& context) {
    if (c.rows == 0 || c.cols == 0) {
        return {};
    }
    return multiply_panels(a, b, beta, c, c.rows, device, context,
                           [&](const ConstView& pa, const ConstView& pb, const View& pc, const ProductContext& where) {
                               return multiply_on_device(alpha, pa, pb, beta, pc, plan, device, where);
                           });
}

}  // namespace heptad

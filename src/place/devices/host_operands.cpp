#include "place/devices/host_operands.hpp"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <vector>

#include "backend/cuda/device.hpp"
#include "base/error.hpp"
#include "base/size.hpp"
#include "place/devices/device_product.hpp"
#include "place/devices/locked_pages.hpp"

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

using PanelProduct = std::function<RunReport(const ConstView& a, const ConstView& b, double beta, const View& c,
                                             const ProductContext& where)>;

/// Of rows that follow each other in memory without a gap; 0 else.
std::int64_t gapless_bytes(const ConstView& rows) {
    const bool gapless = is_row_contiguous(rows) && rows.row_stride == rows.cols;
    return gapless ? rows.rows * rows.cols * static_cast<std::int64_t>(element_bytes(rows.type)) : 0;
}

/// Smaller matrices are moved before their pages would be locked.
constexpr std::int64_t kWorthLocking_bytes = std::int64_t{128} << 20;

void lock_rows(LockedPages& pages, const ConstView& rows) {
    pages.lock(rows.data, gapless_bytes(rows));
}

void touch_rows(const View& rows) {
    touch_pages(static_cast<std::byte*>(rows.data), gapless_bytes(rows));
}

/// How much of k the products of the first panel take at a time: they begin while B is still on its way. Results of 16
/// bits would be rounded in between.
std::int64_t first_depth(const ConstView& b, const View& c) {
    constexpr std::int64_t kPieces = 8, kLeastDepth = 2048;
    const bool sums_may_wait = element_bytes(c.type) >= 4;
    return sums_may_wait && b.rows >= 2 * kLeastDepth ? std::max(kLeastDepth, round_up(b.rows / kPieces, 256)) : b.rows;
}

/// Row panels of C, one after another, while the next A comes and the last C goes. Pages are locked piece by piece,
/// just before they are moved, while the device has other work.
RunReport multiply_panels(const ConstView& a, const ConstView& b, double beta, const View& c, std::int64_t rows,
                          int device, const ProductContext& context, const PanelProduct& product) {
    const cuda::DeviceScope scope(device);
    const bool locks = rows < c.rows && gapless_bytes(b) >= kWorthLocking_bytes;
    LockedPages pages;  // before the streams: nothing is under way any more when they are unlocked
    const cuda::Stream compute(device), upload(device), download(device);
    ProductContext on_device = context;
    on_device.stream = compute.handle();
    RunReport report;
    const auto multiply = [&](const ConstView& pa, const ConstView& pb, double factor, const View& pc) {
        const RunReport part = product(pa, pb, factor, pc, on_device);
        report.workspace_used_bytes = std::max(report.workspace_used_bytes, part.workspace_used_bytes);
    };

    const DeviceCopy device_b = allocate_like("B", b, b.rows, device, upload.handle());
    const std::int64_t depth = locks ? first_depth(b, c) : b.rows;
    struct Panel {
        DeviceCopy a, c;
        std::int64_t row = 0, count = 0;
    };
    Panel panels[2];
    const auto fetch = [&](Panel& panel) {
        if (panel.count > 0) {
            const View to = block(c, panel.row, 0, panel.count, c.cols);
            if (locks) {
                touch_rows(to);  // a fresh result has no pages yet
                lock_rows(pages, to);
            }
            transfer(block(panel.c.view, 0, 0, panel.count, c.cols), to, download.handle());
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
        const ConstView from_a = block(a, row, 0, panel.count, a.cols);
        if (locks) {
            lock_rows(pages, from_a);
        }
        transfer(from_a, panel_a, upload.handle());
        if (beta != 0) {
            transfer(block(ConstView(c), row, 0, panel.count, c.cols), panel_c, upload.handle());
        }
        if (row == 0) {
            for (std::int64_t p = 0; p == 0 || p < b.rows; p += std::max<std::int64_t>(depth, 1)) {
                const std::int64_t count = std::min(depth, b.rows - p);
                const ConstView from_b = block(b, p, 0, count, b.cols);
                const View piece_b = block(device_b.view, p, 0, count, b.cols);
                if (locks) {
                    lock_rows(pages, from_b);
                }
                transfer(from_b, piece_b, upload.handle());
                compute.wait_for(upload);
                multiply(block(panel_a, 0, p, panel.count, count), piece_b, p == 0 ? beta : 1, panel_c);
            }
            continue;
        }
        compute.wait_for(upload);
        // Before the next product is enqueued: what is fetched now is the former panel, already in the stream.
        download.wait_for(compute);
        multiply(panel_a, device_b.view, beta, panel_c);
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
    return multiply_panels(
        a, b, beta, c, rows, device, context,
        [&](const ConstView& pa, const ConstView& pb, double factor, const View& pc, const ProductContext& where) {
            return multiply_on_device(alpha, pa, pb, factor, pc, of_panels, where);
        });
}

RunReport multiply_host_operands(double alpha, const ConstView& a, const ConstView& b, double beta, const View& c,
                                 const ProductPlan& plan, int device, const ProductContext& context) {
    if (c.rows == 0 || c.cols == 0) {
        return {};
    }
    return multiply_panels(
        a, b, beta, c, c.rows, device, context,
        [&](const ConstView& pa, const ConstView& pb, double factor, const View& pc, const ProductContext& where) {
            return multiply_on_device(alpha, pa, pb, factor, pc, plan, device, where);
        });
}

}  // namespace heptad

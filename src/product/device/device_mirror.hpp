// A matrix of the host, its copy on a device, and the way between them.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "base/view.hpp"
#include "kernels/cuda/device/device.hpp"
#include "move/compute_device.hpp"
#include "move/staging.hpp"
#include "plan/search/transfer_schedule.hpp"

namespace heptad {

/// Throws Error(input) where neither rows nor columns are contiguous.
inline bool stored_by_rows(const char* name, const ConstView& view) {
    if (is_row_contiguous(view)) {
        return true;
    }
    fail_if(!is_column_contiguous(view), ErrorCode::input,
            "{} (strides {} and {}) has no contiguous side; copy it before a product on a device", name,
            view.row_stride, view.col_stride);
    return false;
}

/// A matrix of the host and its copy on the device, stored alike.
class DeviceMirror {
public:
    DeviceMirror(const char* name, const ConstView& host, const cuda::Stream& stream)
        : host_(host), by_rows_(stored_by_rows(name, host)), element_(bytes_of_element(host.type)) {
        // Rows that begin on 16-byte boundaries are faster to read, whatever they are on the host.
        stride_ = round_up(by_rows_ ? host.cols : host.rows, std::max<std::int64_t>(16 / element_, 1));
        const std::int64_t lines = by_rows_ ? host.rows : host.cols;
        memory_ = cuda::DeviceMemory(stream.device(),
                                     std::max<std::int64_t>(checked_mul(checked_mul(stride_, lines), element_), 16),
                                     stream.handle());
    }

    View on_device(const MatrixWindow& window) const {
        const View whole = by_rows_ ? View(memory_.data(), host_.type, host_.rows, host_.cols, stride_, 1)
                                    : View(memory_.data(), host_.type, host_.rows, host_.cols, 1, stride_);
        return block(whole, window.row, window.col, window.rows, window.cols);
    }
    HostRows host_lines(const MatrixWindow& window) const {
        const std::int64_t lines = by_rows_ ? window.rows : window.cols;
        const std::int64_t bytes = (by_rows_ ? window.cols : window.rows) * element_;
        const std::int64_t pitch = (by_rows_ ? host_.row_stride : host_.col_stride) * element_;
        const ConstView part = block(host_, window.row, window.col, window.rows, window.cols);
        // Lines are written through this of C alone.
        auto* const data = static_cast<std::byte*>(const_cast<void*>(part.data));
        return {data, bytes > 0 ? lines : 0, bytes, lines > 1 ? pitch : bytes};
    }
    Type type() const { return host_.type; }
    const ConstView& host() const { return host_; }
    DeviceRows device_lines(const MatrixWindow& window) const {
        return {static_cast<std::byte*>(on_device(window).data), stride_ * element_};
    }

private:
    static std::int64_t bytes_of_element(Type type) { return static_cast<std::int64_t>(element_bytes(type)); }

    ConstView host_;
    bool by_rows_;
    std::int64_t element_, stride_ = 0;
    cuda::DeviceMemory memory_;
};

/// Waits when the scope is left, by an error too: memory must not be given back while it is still in use.
class WaitAtEnd {
public:
    WaitAtEnd(std::initializer_list<const cuda::Stream*> streams) : streams_(streams) {}
    ~WaitAtEnd() {
        for (const cuda::Stream* stream : streams_) {
            try {
                stream->synchronize();
            } catch (...) {  // NOLINT(bugprone-empty-catch): the error that matters was thrown before
            }
        }
    }
    WaitAtEnd(const WaitAtEnd&) = delete;
    WaitAtEnd& operator=(const WaitAtEnd&) = delete;

private:
    std::vector<const cuda::Stream*> streams_;
};

/// One way between host and device; where there is a staging, the pages of large matrices that are not locked go
/// through its buffers.
class CopyChannel {
public:
    CopyChannel(const cuda::Stream& on, Staging* staging) : stream(on), staging_(staging) {}
    void bring(const DeviceMirror& mirror, const MatrixWindow& window) {
        const HostRows from = mirror.host_lines(window);
        const DeviceRows to = mirror.device_lines(window);
        if (from.count == 0) {
            return;
        }
        if (staging_ != nullptr) {
            staging_->upload(from, to, stream);
        } else {
            cuda::copy_rows(from.data, from.pitch_bytes, to.data, to.pitch_bytes, from.row_bytes, from.count,
                            stream.handle());
        }
    }
    void fetch(const DeviceMirror& mirror, const MatrixWindow& window) {
        const HostRows to = mirror.host_lines(window);
        const DeviceRows from = mirror.device_lines(window);
        if (to.count == 0) {
            return;
        }
        if (staging_ != nullptr) {
            staging_->download(from, to, stream);
        } else {
            cuda::copy_rows(from.data, from.pitch_bytes, to.data, to.pitch_bytes, to.row_bytes, to.count,
                            stream.handle());
        }
    }

    const cuda::Stream& stream;

private:
    Staging* staging_;
};

}  // namespace heptad

// Carries P1's algorithm out on a device: additions by P1's kernel, products by cuBLAS, copies by the driver, on one
// stream or on two that wait for each other where their blocks meet.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"
#include "papers/p1/p1_algorithm.hpp"
#include "papers/p1/p1_verbs.hpp"

namespace heptad::cli {

/// How long the calls of a run took, by what they were for.
class P1Times {
public:
    explicit P1Times(int device) : device_(device) {}
    /// Runs `call`, which enqueues on the stream, between two events of it.
    template <class Call>
    void time(P1Part part, void* stream, Call&& call) {
        if (used_ == timers_.size()) {
            timers_.emplace_back(part, std::make_unique<cuda::Timer>(device_));
        }
        timers_[used_].first = part;
        cuda::Timer& timer = *timers_[used_].second;
        used_ += 1;
        timer.start(stream);
        call();
        timer.stop(stream);
    }
    /// Forgets the calls, but keeps the events: making them takes time, which a second run does not show.
    void restart() { used_ = 0; }
    /// Waits for the device.
    std::map<P1Part, double> seconds() const;

private:
    int device_;
    std::vector<std::pair<P1Part, std::unique_ptr<cuda::Timer>>> timers_;
    std::size_t used_ = 0;
};

class P1CudaDevice final : public P1Device {
public:
    /// `backend` works on `stream`; both outlive this. Two streams: the second is made here, with a cuBLAS of its own.
    P1CudaDevice(const cuda::Stream& stream, cuda::CudaBackend& backend, cuda::P1Style style, bool two_streams);

    /// Around every run: what comes before and after is on the first stream.
    void begin();
    void end();
    /// Null: not timed.
    void set_times(P1Times* times) { times_ = times; }

    void add(const P1Addition& addition, P1Part part) override;
    void multiply(const ConstView& a, const ConstView& b, const View& c) override;
    void copy(const ConstView& from, const View& to) override;

private:
    struct Access {
        ConstView view;
        bool writes = false;
    };
    struct Lane {
        const cuda::Stream* stream = nullptr;
        cuda::CudaBackend* backend = nullptr;
        std::unique_ptr<cuda::P1Verbs> verbs;
        std::vector<Access> open;  // what the other lane has not waited for
    };
    void add_lane(const cuda::Stream& stream, cuda::CudaBackend& backend);
    /// The lane of the next call, which has waited for what the other one does to these blocks.
    Lane& lane_for(P1Part part, const std::vector<Access>& accesses);
    template <class Call>
    void enqueue(P1Part part, const std::vector<Access>& accesses, Call&& call);

    cuda::P1Style style_;
    std::unique_ptr<cuda::Stream> second_stream_;
    std::unique_ptr<cuda::CudaBackend> second_backend_;
    std::vector<Lane> lanes_;
    std::map<const void*, std::size_t> written_by_;
    std::size_t next_product_ = 0;
    P1Times* times_ = nullptr;
};

}  // namespace heptad::cli

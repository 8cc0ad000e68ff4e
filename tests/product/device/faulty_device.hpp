// A device that works until it does not: delays and failures put in front of another one.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "base/splitmix.hpp"
#include "move/compute_device.hpp"

namespace heptad::test {

enum class Fault : std::uint8_t { none, open_lane, open_place, host_buffer, upload, solve, download };
inline constexpr Fault all_faults[] = {Fault::open_lane, Fault::open_place, Fault::host_buffer,
                                       Fault::upload,    Fault::solve,      Fault::download};

struct FaultPlan {
    Fault fault = Fault::none;
    int calls_before = 0;    // of the failing function that still work
    std::uint64_t seed = 0;  // 0: no delays
    std::atomic<int> calls{0}, delays{0};

    void pass(Fault here) {
        if (seed != 0) {
            std::this_thread::sleep_for(std::chrono::microseconds(splitmix_word(seed, delays.fetch_add(1)) % 1500));
        }
        if (here == fault && calls.fetch_add(1) >= calls_before) {
            fail(ErrorCode::resource, "the device fell off the bus");
        }
    }
};

class FaultyLane final : public Lane {
public:
    FaultyLane(std::unique_ptr<Lane> lane, FaultPlan& plan) : lane_(std::move(lane)), plan_(plan) {}
    void upload(OperandPlace& to, const void* from) override {
        plan_.pass(Fault::upload);
        lane_->upload(to, from);
    }
    void upload_result(const void* from) override {
        plan_.pass(Fault::upload);
        lane_->upload_result(from);
    }
    void solve(const OperandPlace& left, const OperandPlace& right, std::complex<double> alpha, double beta) override {
        plan_.pass(Fault::solve);
        lane_->solve(left, right, alpha, beta);
    }
    void download(void* to) override {
        plan_.pass(Fault::download);
        lane_->download(to);
    }
    void upload_rows(OperandPlace& to, const HostRows& from) override {
        plan_.pass(Fault::upload);
        lane_->upload_rows(to, from);
    }
    void download_rows(const HostRows& to) override {
        plan_.pass(Fault::download);
        lane_->download_rows(to);
    }

private:
    std::unique_ptr<Lane> lane_;
    FaultPlan& plan_;
};

class FaultyDevice final : public ComputeDevice {
public:
    FaultyDevice(std::unique_ptr<ComputeDevice> device, FaultPlan& plan) : device_(std::move(device)), plan_(plan) {}
    std::unique_ptr<Lane> open_lane(const SubProduct& product) override {
        plan_.pass(Fault::open_lane);
        return std::make_unique<FaultyLane>(device_->open_lane(product), plan_);
    }
    std::unique_ptr<OperandPlace> open_place(const SubProduct& product, Operand operand) override {
        plan_.pass(Fault::open_place);
        return device_->open_place(product, operand);
    }
    HostBuffer host_buffer(std::int64_t bytes) override {
        plan_.pass(Fault::host_buffer);
        return device_->host_buffer(bytes);
    }

private:
    std::unique_ptr<ComputeDevice> device_;
    FaultPlan& plan_;
};

}  // namespace heptad::test

#include "kernels/cuda/bits/bit_verbs.hpp"

#include <atomic>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/status.hpp"

namespace heptad::cuda {
namespace {

using LeafFunction = DeviceStatus (*)(const BitLeafLaunch&, StreamHandle);

class DeviceBitVerbs final : public BitVerbs {
public:
    DeviceBitVerbs(void* stream, LeafFunction leaf) : stream_(stream), leaf_(leaf) {}

    void expand(const BitExpandLaunch& launch) override {
        check_launch(launch_bit_expand(launch, stream_), "start a sum of bit blocks");
    }
    void compress(const BitCompressLaunch& launch) override {
        check_launch(launch_bit_compress(launch, stream_), "start a sum of bit products");
    }
    void transpose(const BitTransposeLaunch& launch) override {
        check_launch(launch_bit_transpose(launch, stream_), "start a bit transpose");
    }
    void multiply(const BitLeafLaunch& launch) override {
        // An empty sum: the tensor cores' pipelines expect something to do.
        const LeafFunction leaf = launch.k == 0 ? launch_bit_leaf_words : leaf_;
        check_launch(leaf(launch, stream_), "start a bit product");
    }

private:
    void* stream_;
    LeafFunction leaf_;
};

}  // namespace

bool has_warpgroup_leaf(int device) {
    enum State : int { unknown, absent, present };
    constexpr int kMostDevices = 64;
    static std::atomic<int> known[kMostDevices];
    if (device < kMostDevices && known[device].load() != unknown) {
        return known[device].load() == present;
    }
    const DeviceScope scope(device);
    bool compiled = false;
    check_launch(find_bit_leaf_hopper(compiled), "look for the leaf wgmma");
    if (device < kMostDevices) {
        known[device].store(compiled ? present : absent);
    }
    return compiled;
}

std::unique_ptr<BitVerbs> device_bit_verbs(int device, void* stream, const std::string& leaf) {
    require_device(device);
    int major = 0;  // asked for directly: a report also looks up free memory, which takes longer than a small product
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "look up the compute capability");
    if (leaf == "wgmma" && major != 9) {
        fail(ErrorCode::usage, "leaf wgmma needs compute capability 9.0, but cuda:{} has {}.x; use mma or words",
             device, major);
    }
    if (leaf == "wgmma" && !has_warpgroup_leaf(device)) {
        fail(ErrorCode::usage,
             "this program was compiled without the leaf wgmma, which needs the architecture 90a; configure it with "
             "-DCMAKE_CUDA_ARCHITECTURES=90a-real, or use mma or words");
    }
    if (leaf == "wgmma") {
        return std::make_unique<DeviceBitVerbs>(stream, launch_bit_leaf_hopper);
    }
    if (leaf == "mma") {
        return std::make_unique<DeviceBitVerbs>(stream, launch_bit_leaf_mma);
    }
    if (leaf == "words") {
        return std::make_unique<DeviceBitVerbs>(stream, launch_bit_leaf_words);
    }
    fail(ErrorCode::usage, "there is no leaf '{}' for bit matrices on cuda; choose one of {}", leaf,
         fmt::join(bit_leaf_names(), ", "));
}

void fill_random_bits(std::uint64_t* words, std::int64_t count, std::uint64_t seed, double density, void* stream) {
    check_launch(launch_bit_random(words, count, seed, density, stream), "make random bits");
}

}  // namespace heptad::cuda

// One H200 (cuBLAS 13.1, random data), seconds per product: alone, and as one of 49 (of 7 from 4096 on) in one strided
// batch. `heptad tune --device cuda` measures the device at hand instead.
#include "base/device_layout.hpp"
#include "place/devices/device_machine.hpp"

namespace heptad {
namespace {

struct Rate {
    std::int64_t n;
    double teraflops;
};

LeafProfile profile(const char* leaf, Type type, double misaligned, std::initializer_list<Rate> rates) {
    LeafProfile result{leaf, type, 1, {}, misaligned};
    for (const Rate& rate : rates) {
        const auto n = static_cast<double>(rate.n);
        result.samples.push_back({rate.n, rate.n, rate.n, 2 * n * n * n / (rate.teraflops * 1e12)});
    }
    return result;
}

}  // namespace

Machine default_device_machine() {
    Machine machine;
    machine.cpu = "NVIDIA H200 (built-in figures)";
    machine.threads = 1;
    machine.measured = false;
    machine.combine_bytes_per_s = 3.8e12;
    machine.scan_bytes_per_s = 3.6e12;
    machine.call_s = 5e-6;
    machine.leaves = {
        profile("cublas", Type::f32, 1.07,
                {{128, 0.35}, {256, 2.6}, {512, 12}, {1024, 37}, {2048, 50}, {4096, 51}, {8192, 51}, {16384, 53}}),
        profile("cublas-batched", Type::f32, 1,
                {{256, 25}, {512, 47}, {1024, 50.8}, {2048, 52}, {4096, 52}, {8192, 53}}),
        profile("cublas", Type::f64, 1.35,
                {{128, 0.35}, {256, 2.8}, {512, 15}, {1024, 50}, {2048, 57}, {4096, 59}, {8192, 58}, {16384, 56}}),
        profile("cublas-batched", Type::f64, 1,
                {{256, 30}, {512, 53}, {1024, 57.6}, {2048, 56}, {4096, 57}, {8192, 58}}),
        profile("cublas", Type::tf32, 3.0,
                {{128, 0.5}, {256, 4}, {512, 25}, {1024, 125}, {2048, 340}, {4096, 395}, {8192, 410}, {16384, 395}, {32768, 350}}),
        profile("cublas-batched", Type::tf32, 1, {{256, 60}, {512, 181}, {1024, 326}, {2048, 360}, {4096, 330}}),
        profile("cublas", Type::bf16, 5.2,
                {{128, 0.5}, {256, 4}, {512, 30}, {1024, 235}, {2048, 690}, {4096, 780}, {8192, 790}, {16384, 800}, {32768, 735}}),
        profile("cublas-batched", Type::bf16, 1, {{256, 100}, {512, 320}, {1024, 540}, {2048, 760}, {4096, 770}}),
        profile("cublas", Type::f16, 5.2,
                {{128, 0.5}, {256, 4}, {512, 30}, {1024, 235}, {2048, 690}, {4096, 780}, {8192, 790}, {16384, 800}, {32768, 735}}),
        profile("cublas-batched", Type::f16, 1, {{256, 100}, {512, 320}, {1024, 540}, {2048, 760}, {4096, 770}}),
        // Ten limb products of one byte each: an i32 operation costs ten int8 ones, and the splitting.
        profile(kLimbLeaf, Type::i32, 3.7,
                {{128, 0.05}, {256, 0.4}, {512, 4}, {1024, 29}, {2048, 78}, {4096, 121}, {8192, 145}, {16384, 150}}),
        profile("heptad", Type::i32, 1,
                {{128, 0.2}, {256, 1}, {512, 5}, {1024, 10.5}, {2048, 21.3}, {4096, 21.8}, {8192, 21.9}}),
    };
    return machine;
}

}  // namespace heptad

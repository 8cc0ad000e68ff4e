// P1's kernel for additions, and what P1 tried and dropped: additions that prefetch, and additions and products whose
// scalars lie in device memory. For `heptad bench p1` only; plans are carried out by the backend's own verbs.
#pragma once

#include <cstdint>
#include <memory>

#include "base/view.hpp"

namespace heptad::cuda {

enum class P1Style : std::uint8_t {
    plain,           // scalars are arguments of the kernel
    prefetch,        // and blocks ask for what a later block will read
    device_scalars,  // scalars are read from device memory, by additions and by cuBLAS
};

/// f32 and f64, rows side by side, everything on 16-byte boundaries, sides in multiples of 16 bytes.
class P1Verbs {
public:
    /// `stream` is a cudaStream_t of that device, and outlives the verbs.
    P1Verbs(int device, void* stream, P1Style style);
    ~P1Verbs();
    P1Verbs(const P1Verbs&) = delete;
    P1Verbs& operator=(const P1Verbs&) = delete;

    /// target = x * a + y * b + keep * target, each scalar -1, 0 or 1. y = 0: b is not read; keep = 0: target is not.
    void add(const View& target, double x, const ConstView& a, double y, const ConstView& b, double keep);
    /// c = a * b with cuBLAS, which reads 1 and 0 from device memory. Style device_scalars only.
    void multiply(const ConstView& a, const ConstView& b, const View& c);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace heptad::cuda

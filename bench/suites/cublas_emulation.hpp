// cuBLAS's own products of f64 in fixed point on the integer tensor cores, to compare with.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/backend.hpp"
#include "kernels/cuda/device/device.hpp"

namespace heptad::cuda {

class CublasEmulation {
public:
    /// Does the cuBLAS of this machine have it? From version 13.1 on.
    static bool is_there();
    /// With so many bits to each number, whenever it is possible at all; `workspace_bytes` of the device are its own.
    CublasEmulation(int device, void* stream, int bits, std::int64_t workspace_bytes);
    ~CublasEmulation();
    CublasEmulation(const CublasEmulation&) = delete;
    CublasEmulation& operator=(const CublasEmulation&) = delete;

    /// Enqueues C = A B, of f64 whose rows lie side by side.
    void multiply(const Product& product);
    /// The bits that the last product's numbers had, as the library says; 0: it was not emulated. Waits for the stream.
    int bits_used();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace heptad::cuda

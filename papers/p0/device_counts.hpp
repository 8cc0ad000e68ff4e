// What a schedule costs on a device, counted and not timed: arithmetics, memory transactions and bytes moved, as in
// J. Li, S. Ranka, S. Sahni, Strassen's Matrix Multiplication on GPUs ("P0"), sections III to VI. A schedule is walked
// kernel by kernel; every count is an exact polynomial in the size n of square matrices of 4-byte elements.
#pragma once

#include <string>
#include <vector>

#include "algorithm/schedule.hpp"

namespace heptad {

/// cubic * n^3 + quadratic * n^2
struct SizePolynomial {
    Rational cubic, quadratic;

    /// Throws Error(input) if n^3 or the value leaves 64 bits.
    Rational at(std::int64_t n) const;
    /// "7/4 n^3 + 11/4 n^2"
    std::string to_string() const;
    bool operator==(const SizePolynomial&) const = default;
};

struct DeviceCounts {
    SizePolynomial arithmetics, transactions, volume_bytes;
    bool operator==(const DeviceCounts&) const = default;
};

/// One kernel of a schedule and the blocks it moves, by what its steps read and what later steps need.
struct KernelCall {
    std::string name;  // P0's, e.g. "mulIncInc"; "mul" or "combine" where the schedule says nothing
    bool multiplies = false;
    int additions = 0;       // block additions, sums that two outputs share made once
    int blocks_read = 0;     // the operands of a product apart
    int blocks_written = 0;  // a product that nothing reads later is not written
    /// A product that stores its result and does nothing else: it can be recursive.
    bool is_plain_product() const { return multiplies && additions == 0 && blocks_read == 0 && blocks_written == 1; }
};
/// The kernels in their order. Throws Error(usage) for a kernel with two products.
std::vector<KernelCall> kernel_calls(const Schedule& schedule);

/// The classical product by P0's kernel GPU8.
DeviceCounts gpu8_counts();
/// One level of a schedule of 2x2 blocks over products by GPU8, which additions may be fused with. Throws Error(usage)
/// for other blocks.
DeviceCounts counts_over_gpu8(const Schedule& schedule);
/// One level over products that cost `product`. Throws Error(usage) for fused kernels too: there is no kernel to fuse
/// the additions with.
DeviceCounts counts_over(const Schedule& schedule, const DeviceCounts& product);

}  // namespace heptad

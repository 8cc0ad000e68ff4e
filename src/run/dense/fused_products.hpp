// From the instances of an algorithm to launches: views of A, B and C in place of block numbers, alpha and beta in
// place.
#pragma once

#include <optional>
#include <vector>

#include "kernels/backend.hpp"
#include "plan/search/fused_instances.hpp"

namespace heptad {

/// Products that together give  c = alpha * a * b + beta * c,  made one by one in the order of the instances, by
/// groups. The first one that updates a block of C applies beta to it (and stores there if beta is 0). Sizes are any,
/// from 1 up: blocks at the lower and right edges are smaller, and those that are empty are left out.
class FusedLevel {
public:
    /// `instances` must outlive it.
    FusedLevel(const FusedInstances& instances, double alpha, const ConstView& a, const ConstView& b, double beta,
               const View& c);
    /// Instance number `i`, which comes after all smaller ones. Nothing, if nothing is left of it.
    std::optional<FusedProduct> product(std::size_t i);

private:
    const FusedInstances* instances_;
    double alpha_, beta_;
    ConstView a_, b_;
    View c_;
    std::int64_t m_, k_, n_;  // of a block
    std::vector<bool> is_written_;
};

/// All of them.
std::vector<FusedProduct> fused_products(const FusedInstances& instances, double alpha, const ConstView& a,
                                         const ConstView& b, double beta, const View& c);

}  // namespace heptad

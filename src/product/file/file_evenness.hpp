// Powers of two that make the matrices of two files even, from a sample of each: some whole lines, and some values of
// every line across them. What the sample has not seen is looked at while everything is read, and answered at the end.
#pragma once

#include "move/block_sums.hpp"
#include "product/file/product_inputs.hpp"
#include "run/dense/evenness.hpp"

namespace heptad {

class FileEvenness {
public:
    /// Reads the samples. Of lines in which they found nothing, anything but zeros makes sums infinite.
    FileEvenness(const OuterLaunch& layers, const OpenInputs& inputs, IoQueue& queue);

    /// By the sample: without the largest values, which are not known yet.
    double value() const { return evenness_of(tails_, effects_, 0, 0); }
    const Evenness& even() const { return even_; }
    /// With what was seen of the lines of A'' and B'', and of A and B, when all of them were read. `scales`: whether
    /// they were read with powers of two.
    struct Seen {
        ScanResult plain, scaled;
    };
    bool holds(const Seen& of_a, const Seen& of_b, bool scales, double least_evenness) const;

private:
    OperandEffects effects_;
    OperandTails tails_;
    Evenness even_;
};

}  // namespace heptad

// `strict` by residues: is every entry within gamma_(k+2) |A||B|? It is known without another product, from how many
// numbers of each line are how large.
//
// With N_i >= |a_i| the norm that was noted of a row, and c the capacity of the moduli (log2_of_integers), its integers
// are 2^s a + e where |e| <= 1/2, e = 0 where a = 0, and 2^-(s+1) < N_i 2^-c. So A' = A + D and B' = B + E with
// |D_ip| <= N_i 2^-c and |E_pj| <= N_j 2^-c are multiplied exactly, and
//
//   |A'B' - AB|_ij <= sum |D||B| + |A||E| + |D||E|.
//
// 1. Numbers of usual size in every line. Of row i at least a share x_s of the k numbers, and of column j at least y_s,
//    is as large as step_s N / sqrt(k). However they meet, both are that large in a share of x_s + y_t - 1, hence
//
//      (|A||B|)_ij >= evenness N_i N_j,   evenness = sum over s, t of w_s w_t max(0, x_s + y_t - 1),
//
//    where w_s = step_s - step_(s-1). And sum |D||B| <= N_i 2^-c |b_j|_1 <= 2^-c sqrt(k) N_i N_j <= R (|A||B|)_ij with
//    R = 2^-c sqrt(k) / evenness; for |A||E| likewise.
// 2. Or no small numbers at all: where all of A but zeros are at least `least` N_i / sqrt(k), |D| <= R |A| with
//    R = 2^-c sqrt(k) / least. Zeros of A and B may lie anywhere then.
//
// Either will do, for A and for B by itself. sum |D||E| <= R_A R_B (|A||B|)_ij: in case 2 that is plain, and in case 1
// for both it is at most k 2^-2c N_i N_j, where evenness <= 1. So with the larger R of both
//
//   |A'B' - AB| <= ((1 + R)^2 - 1) |A||B| <= (k - 2) u |A||B|
//
// if the smaller of both max(evenness, least) is at least certified_evenness() of the plan
// (plan/search/device_residue_plan.hpp). What follows rounds three times: the integer as a number of the type or of a
// wider one (2 u), and alpha times that (u): (k - 2) u (1 + 3 u) + 3 u + 3 u^2 + u^3 <= gamma_(k+2). The sum with beta
// times the old entry and the store are in what the promise says of beta and of the result.
#pragma once

#include "base/host_and_device.hpp"
#include "kernels/cuda/residue/residue_launches.hpp"

namespace heptad::cuda {

/// The upper two tell of even data, the lower two of lines with a few large numbers.
inline constexpr int kCountedSteps = 4;
HEPTAD_HOST_AND_DEVICE double counted_step(int s) {
    constexpr double kSteps[kCountedSteps] = {0x1p-10, 0x1p-5, 0.25, 0.75};
    return kSteps[s];
}

/// Of all lines of A (0) and B (1) that are not zero; cleared first.
struct CountedLines {
    unsigned long long most_below[2][kCountedSteps];  // numbers of a line below step_s N / sqrt(k)
    unsigned long long inverse_least[2];              // N / sqrt(k) over the least number but zero: bits of a double
};

/// `inverse_least`: as numbers. Infinite for matrices of zeros.
HEPTAD_HOST_AND_DEVICE double evenness_by_counts(const CountedLines& lines, const double (&inverse_least)[2],
                                                 double k) {
    double evenness = 0;
    for (int s = 0; s < kCountedSteps; ++s) {
        for (int t = 0; t < kCountedSteps; ++t) {
            const double both = k - static_cast<double>(lines.most_below[0][s] + lines.most_below[1][t]);
            const double area = (counted_step(s) - (s == 0 ? 0 : counted_step(s - 1))) *
                                (counted_step(t) - (t == 0 ? 0 : counted_step(t - 1)));
            evenness += both > 0 ? area * both / k : 0;
        }
    }
    double of_both = 0;
    for (int operand = 0; operand < 2; ++operand) {
        const double least = 1 / inverse_least[operand];
        const double of_operand = least > evenness ? least : evenness;
        of_both = operand == 0 || of_operand < of_both ? of_operand : of_both;
    }
    return of_both;
}

/// Counts the numbers of all lines, whose norms are known, and notes in `words` how even they are: for certain, where
/// launch_evenness() looks at a sample. `scratch`: kNormParts parts of each line. `counts` has been cleared.
DeviceStatus launch_residue_certificate(Scalar scalar, const ResidueLines (&operands)[2], void* scratch,
                                        CountedLines* counts, GuardWords* words, StreamHandle stream);

}  // namespace heptad::cuda

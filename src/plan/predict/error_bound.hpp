// How far a float product may be off, and how far it usually is.
#pragma once

#include <vector>

#include "plan/model/machine.hpp"
#include "plan/model/plan.hpp"

namespace heptad {

/// Bound on max|C - computed| / (max|A| max|B|), to first order in u. One level of an algorithm with growth E and Q
/// roundings turns a bound e on its products, each of inner dimension k/K, into
///     E * (e + Q u k/K)
/// because a product's operands are at most |U_s|_1 max|A| and |V_s|_1 max|B| large. The classical leaf has e = k (k
/// u). Fringes add what the classical product of the peeled part of k adds.
double error_bound(const ProductPlan& plan);

/// n u / (1 - n u): of n roundings one after the other.
double gamma_of(double roundings, double u);

/// Of the definition, over (|A||B|)_ij: gamma_(k+2). tf32 rounds each factor once and the 16-bit types the result once;
/// they add in f32.
double classical_bound(Type type, double k);

/// As error_bound, over the largest 2-norms of rows of A and columns of B, in all orders of u: (|S||T|)_ij is at most
/// the product of the norms of a row of S and a column of T, and a row of a sum of blocks is at most |U_s|_1 times as
/// long as the longest row of A. One level turns e into
///     E * ((1 + e) (1 + gamma_Q) - 1)
/// and the leaf has gamma_k. Scaled sums are rounded relative to the largest values: then over sqrt(k) times those of A
/// and of B in place of norms. Without residues.
double line_error_bound(const ProductPlan& plan);

/// How much larger than the library's product's the largest error is on even data: as it was measured on this machine
/// with the same levels (measured_growth), or the built-in figure.
double expected_growth(const ProductPlan& plan, const Machine& machine);
/// The built-in figure, and what is known of levels that no machine measures, those of hosts, files and ranks: the
/// product of the levels' rms growth. Two Xeon cores over OpenBLAS, its own leaves below: one, two and three levels of
/// winograd 2.0 to 3.0, 7.0 to 10.6, 15 to 25 (figure 2.6, 7.0, 18.5); over leaves that sum less accurately up to 1.8
/// times that (docs/design/010-measured-plans.md).
double expected_growth(const std::vector<LevelPlan>& levels);

/// What of that remains where nothing was measured: cuBLAS adds up all of k one after another in f32 and f64, so its
/// own errors are larger than those of libraries that cut k. Two levels of winograd had 3.4 to 4.0 times as large ones
/// in f32 and 2.5 to 2.7 in f64 on an H200 (bench/results/studies/h200-scaled-tuned.json), where 7.0 were expected.
double growth_share(bool on_device, Type type);

/// What the way of a complex product adds to that: its third product is of sums of real and imaginary parts, so that
/// errors are sqrt(4 + 1 + 1) times those of one of its products, where the definition's are sqrt(1 + 1) times.
double complex_growth(const ProductPlan& plan);

/// Of a plan by residues on a device: |AB - computed|_ij is at most so many times |a_i||b_j|, whatever the data is
/// like.
double residue_error(const ProductPlan& plan);

/// By residues without rounding on the way: on processors all plans by residues; on a device those with more moduli
/// than integers that were rounded take, and those of integers. Their moduli are the most that are taken.
bool rounds_once(const ProductPlan& plan);

/// By residues within the classical product's bound, entry by entry (`strict`). A sample of A and B does not show that:
/// such plans want an evenness that none can have, and a certificate takes its place
/// (kernels/cuda/residue/residue_certificate.hpp). What has none is multiplied classically.
inline constexpr double kCertifiedEvenness = 1;
bool is_certified(const ProductPlan& plan);

}  // namespace heptad

// Rings, and the three ways to make a new algorithm of old ones: flattening, composition and symmetry.
#include "algorithm/algorithm.hpp"

#include <algorithm>
#include <array>

#include "base/fail_if.hpp"
#include "base/names.hpp"
#include "base/types.hpp"

namespace heptad {
namespace {

/// Largest algorithm that is ever built: keeps proofs and derived programs within seconds and memory within reason.
constexpr int max_composed_dimension = 64;
constexpr int max_composed_rank = 4096;

constexpr Names<Ring, 4> kRings{{"Z", "Z[1/2]", "Q", "GF(2)"}};

CoefficientMatrix in_ring(const CoefficientMatrix& x, Ring ring) {
    return ring == Ring::gf2 ? reduced_mod_2(x) : x;
}

/// The columns of x are an outer x inner grid of blocks per outer block; renumbers them row by row of the whole grid.
/// x has columns ((i1, j1), (i2, j2)) with i1 < rows1 and so on; the result has columns (i1 rows2 + i2, j1 cols2 + j2).
CoefficientMatrix renumbered(const CoefficientMatrix& x, int rows1, int cols1, int rows2, int cols2) {
    CoefficientMatrix result(x.rows, x.cols);
    for (int i1 = 0; i1 < rows1; ++i1) {
        for (int j1 = 0; j1 < cols1; ++j1) {
            for (int i2 = 0; i2 < rows2; ++i2) {
                for (int j2 = 0; j2 < cols2; ++j2) {
                    const int from = (i1 * cols1 + j1) * rows2 * cols2 + i2 * cols2 + j2;
                    const int to = (i1 * rows2 + i2) * cols1 * cols2 + j1 * cols2 + j2;
                    for (int s = 0; s < x.rows; ++s) {
                        result(s, to) = x(s, from);
                    }
                }
            }
        }
    }
    return result;
}

/// Every row of x is a rows x cols block matrix, row by row; transposes each.
CoefficientMatrix blocks_transposed(const CoefficientMatrix& x, int rows, int cols) {
    CoefficientMatrix result(x.rows, x.cols);
    for (int s = 0; s < x.rows; ++s) {
        for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < cols; ++j) {
                result(s, j * rows + i) = x(s, i * cols + j);
            }
        }
    }
    return result;
}

/// C^T = B^T A^T: <m,k,n> becomes <n,k,m>.
Algorithm transpose_variant(const Algorithm& x) {
    Algorithm y = x;
    y.m = x.n;
    y.n = x.m;
    y.u = blocks_transposed(x.v, x.k, x.n);
    y.v = blocks_transposed(x.u, x.m, x.k);
    y.w = blocks_transposed(x.w, x.m, x.n);
    return y;
}

/// trace(A B D) with D = C^T does not change when its factors rotate: <m,k,n> becomes <k,n,m>.
Algorithm rotated_variant(const Algorithm& x) {
    Algorithm y = x;
    y.m = x.k;
    y.k = x.n;
    y.n = x.m;
    y.u = x.v;
    y.v = blocks_transposed(x.w, x.m, x.n);
    y.w = blocks_transposed(x.u, x.m, x.k);
    return y;
}

}  // namespace

const char* ring_name(Ring ring) {
    return kRings.of(ring);
}

std::optional<Ring> ring_from_name(std::string_view name) {
    return kRings.find(name);
}

std::string Algorithm::signature() const {
    return fmt::format("<{},{},{}>:{}", m, k, n, rank());
}

bool ring_admits(Ring ring, Type type) {
    if (is_integer(type) || type == Type::boolean) {
        return is_integer(type) && ring == Ring::integers;
    }
    return type == Type::gf2 ? ring == Ring::integers || ring == Ring::gf2 : ring != Ring::gf2;
}

bool algorithm_admits(const Algorithm& algorithm, Type type) {
    if (type == Type::boolean) {
        return algorithm.name == "classical";
    }
    return ring_admits(algorithm.ring, type);
}

Algorithm flattened(const Algorithm& algorithm) {
    if (!algorithm.basis) {
        return algorithm;
    }
    Algorithm result = algorithm;
    result.u = in_ring(algorithm.u * algorithm.basis->phi, algorithm.ring);
    result.v = in_ring(algorithm.v * algorithm.basis->psi, algorithm.ring);
    // c = chi c' and c' = W^T p, so the rows of W are multiplied by chi^T.
    result.w = in_ring(algorithm.w * transposed(algorithm.basis->chi), algorithm.ring);
    result.basis.reset();
    return result;
}

Algorithm compose(const Algorithm& outer, const Algorithm& inner) {
    const int m = outer.m * inner.m;
    const int k = outer.k * inner.k;
    const int n = outer.n * inner.n;
    fail_if(std::max({m, k, n}) > max_composed_dimension || outer.rank() * inner.rank() > max_composed_rank,
            ErrorCode::usage,
            "'{}*{}' would be <{},{},{}>:{}; compositions go up to {} blocks a side and rank {}: use levels instead",
            outer.name, inner.name, m, k, n, outer.rank() * inner.rank(), max_composed_dimension, max_composed_rank);
    const Algorithm x = flattened(outer);
    const Algorithm y = flattened(inner);
    Algorithm result;
    result.name = outer.name + "*" + inner.name;
    result.m = m;
    result.k = k;
    result.n = n;
    // Over GF(2) if either is; otherwise the larger ring, and the enumeration is in that order.
    result.ring = std::max(x.ring, y.ring);
    result.source = fmt::format("Kronecker product of {} and {}", outer.name, inner.name);
    const auto product = [&](const CoefficientMatrix& p, const CoefficientMatrix& q) {
        return kronecker(in_ring(p, result.ring), in_ring(q, result.ring));
    };
    result.u = renumbered(product(x.u, y.u), x.m, x.k, y.m, y.k);
    result.v = renumbered(product(x.v, y.v), x.k, x.n, y.k, y.n);
    result.w = renumbered(product(x.w, y.w), x.m, x.n, y.m, y.n);
    return result;
}

Algorithm permuted(const Algorithm& algorithm, int m, int k, int n) {
    const std::array<int, 3> wanted = {m, k, n};
    if (wanted == std::array{algorithm.m, algorithm.k, algorithm.n}) {
        return algorithm;
    }
    Algorithm variant = flattened(algorithm);
    for (int rotation = 0; rotation < 3; ++rotation) {
        for (const Algorithm& candidate : {variant, transpose_variant(variant)}) {
            if (wanted == std::array{candidate.m, candidate.k, candidate.n}) {
                Algorithm result = candidate;
                result.name = permuted_name(algorithm, m, k, n);
                return result;
            }
        }
        variant = rotated_variant(variant);
    }
    fail(ErrorCode::usage, "{} {} has no variant <{},{},{}>: that is not a permutation of its sizes", algorithm.name,
         algorithm.signature(), m, k, n);
}

std::string permuted_name(const Algorithm& algorithm, int m, int k, int n) {
    if (m == algorithm.m && k == algorithm.k && n == algorithm.n) {
        return algorithm.name;
    }
    const std::string old_sizes = fmt::format("{}x{}x{}", algorithm.m, algorithm.k, algorithm.n);
    const std::string new_sizes = fmt::format("{}x{}x{}", m, k, n);
    if (algorithm.name.starts_with(old_sizes)) {
        return new_sizes + algorithm.name.substr(old_sizes.size());
    }
    return algorithm.name + "-" + new_sizes;
}

}  // namespace heptad

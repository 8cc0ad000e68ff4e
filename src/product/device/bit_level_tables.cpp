#include "product/device/bit_device_plan.hpp"

namespace heptad {
namespace {

/// The standard quarters in each quarter of the basis.
struct Basis {
    unsigned of[cuda::kBitQuarters] = {1, 2, 4, 8};
};

Basis changed(std::span<const bits::Change> changes) {
    Basis basis;
    for (const bits::Change& change : changes) {
        basis.of[change.to] ^= basis.of[change.from];
    }
    return basis;
}

/// A sum of quarters of the basis as a sum of standard quarters.
unsigned in_standard_basis(unsigned quarters, const Basis& basis) {
    unsigned standard = 0;
    for (int q = 0; q < cuda::kBitQuarters; ++q) {
        standard ^= (quarters >> q & 1) != 0 ? basis.of[q] : 0;
    }
    return standard;
}

}  // namespace

BitLevelTables bit_level_tables(const bits::LevelProgram& program) {
    const Basis into = changed(program.into), out_of = changed(program.out_of);
    BitLevelTables tables{};
    for (std::size_t p = 0; p < cuda::kBitProducts; ++p) {
        tables.a[p] = in_standard_basis(program.steps[p].a, into);
        tables.b[p] = in_standard_basis(program.steps[p].b, into);
        // Standard quarter q of C is the sum of the quarters in out_of.of[q].
        const unsigned destinations = bits::destinations(program, p);
        for (int q = 0; q < cuda::kBitQuarters; ++q) {
            const unsigned shared = destinations & out_of.of[q];
            tables.c[p] |= (__builtin_popcount(shared) % 2 != 0 ? 1U : 0U) << q;
        }
    }
    return tables;
}

}  // namespace heptad

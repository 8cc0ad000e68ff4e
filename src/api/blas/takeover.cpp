#include "api/blas/takeover.hpp"

#include <algorithm>

#include "api/blas/knobs.hpp"
#include "kernels/cpu/cpu_kernels.hpp"

namespace heptad::blas {
namespace {

/// The smallest size from which 1, 2 and 3 levels pay.
using Sides = std::array<std::int64_t, 3>;

struct Row {
    Sides f32, f64;
};

/// Against OpenBLAS with its right kernels, two threads.
Row row_of_this_processor() {
    switch (cpu::best_instruction_set()) {
        case cpu::InstructionSet::avx512:
        case cpu::InstructionSet::avx512bf16:
        case cpu::InstructionSet::amx:
            return {{1792, 6144, 14336}, {1536, 3584, 7168}};
        case cpu::InstructionSet::neon:
        case cpu::InstructionSet::i8mm:
            return {{1024, 2048, 4096}, {1024, 2048, 4096}};
        default:  // not measured: careful
            return {{3072, 8192, 16384}, {3072, 8192, 16384}};
    }
}

Sides sides_of(Type type) {
    const Row row = row_of_this_processor();
    return type == Type::f32 ? row.f32 : row.f64;
}

}  // namespace

constinit std::array<std::atomic<std::int64_t>, 2> smallest_sides{std::numeric_limits<std::int64_t>::max(),
                                                                  std::numeric_limits<std::int64_t>::max()};
thread_local constinit int PassOn::depth_ = 0;

void set_smallest_sides() {
    const Knobs& asked = knobs();
    if (asked.off || asked.accuracy == Accuracy::strict) {
        return;  // they stay beyond every size: a strict product is what the library makes
    }
    for (const Type type : {Type::f32, Type::f64}) {
        smallest_sides[type == Type::f64 ? 1 : 0].store(asked.min_size > 0 ? asked.min_size : sides_of(type).front(),
                                                        std::memory_order_relaxed);
    }
}

int levels_for(Type type, std::int64_t m, std::int64_t k, std::int64_t n) {
    if (knobs().levels >= 0) {
        return knobs().levels;
    }
    const Sides sides = sides_of(type);
    const std::int64_t side = std::min({m, k, n});
    const auto levels = std::count_if(sides.begin(), sides.end(), [&](std::int64_t least) { return side >= least; });
    return static_cast<int>(std::max<std::int64_t>(levels, knobs().min_size > 0 ? 1 : 0));
}

}  // namespace heptad::blas

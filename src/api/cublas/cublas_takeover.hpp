// Which calls are taken over: first by a table of sizes, so that small ones cost a comparison, then by the planner,
// whose refusals are kept.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include <heptad/heptad.hpp>

namespace heptad::cublas {

/// Calls below them, wrong arguments among them, go to the real function.
struct Limits {
    std::atomic<std::int64_t> side;  // of the smallest of m, n and k
    std::atomic<double> cube;        // of m * n * k
};
inline constexpr std::size_t kTypes = 6;
extern constinit std::array<Limits, kTypes> limits;

/// f32, tf32, f64, those of 16 bits, c64 and c128.
inline std::size_t type_index(Type type) {
    switch (type) {
        case Type::f32:
            return 0;
        case Type::tf32:
            return 1;
        case Type::f64:
            return 2;
        case Type::c64:
            return 4;
        case Type::c128:
            return 5;
        default:
            return 3;
    }
}

/// The one question that every call is asked.
inline bool is_small(const Limits& least, std::int64_t m, std::int64_t n, std::int64_t k) {
    const std::int64_t side = least.side.load(std::memory_order_relaxed);
    return m < side || n < side || k < side ||
           static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) <
               least.cube.load(std::memory_order_relaxed);
}

inline bool is_small(Type type, std::int64_t m, std::int64_t n, std::int64_t k) {
    return is_small(limits[type_index(type)], m, n, k);
}
inline bool is_small_in_all_types(std::int64_t m, std::int64_t n, std::int64_t k) {
    return std::all_of(limits.begin(), limits.end(), [&](const Limits& least) { return is_small(least, m, n, k); });
}

/// From the environment and the table; costs nothing the second time.
void set_limits();

/// False: every call is passed on from now on. Says how it was before.
bool enable(bool on);

/// Calls that were taken over.
extern constinit std::atomic<std::int64_t> taken_over;

/// A product that the planner was asked about. The hash of all that counts; two that share one are both passed on,
/// which is never wrong.
std::uint64_t question_hash(Type type, std::int64_t m, std::int64_t n, std::int64_t k, bool accumulates,
                            bool by_pointers);
bool was_refused(std::uint64_t question);
void keep_refusal(std::uint64_t question);

}  // namespace heptad::cublas

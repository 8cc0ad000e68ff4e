#include "product/cluster/partial_sum.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/size.hpp"
#include "base/thread_pool.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kElementsPerTask = std::int64_t{1} << 18;

template <class Element, class Add>
void add(void* to, const void* from, std::int64_t count, int threads, Add&& sum) {
    auto* const x = static_cast<Element*>(to);
    const auto* const y = static_cast<const Element*>(from);
    shared_pool(threads).run(ceil_div(count, kElementsPerTask), [&](std::int64_t task) {
        const std::int64_t end = std::min(count, (task + 1) * kElementsPerTask);
        for (std::int64_t i = task * kElementsPerTask; i < end; ++i) {
            x[i] = static_cast<Element>(sum(x[i], y[i]));
        }
    });
}

}  // namespace

void add_multiple(Type type, void* to, const void* from, std::int64_t count, int factor, int threads) {
    switch (type) {
        case Type::f64:
            return add<double>(to, from, count, threads, [factor](double x, double y) { return x + factor * y; });
        case Type::f32:
        case Type::tf32:
            return add<float>(to, from, count, threads,
                              [factor](float x, float y) { return x + static_cast<float>(factor) * y; });
        case Type::i32:  // mod 2^32
            return add<std::uint32_t>(to, from, count, threads, [factor](std::uint32_t x, std::uint32_t y) {
                return x + static_cast<std::uint32_t>(factor) * y;
            });
        case Type::i64:  // mod 2^64
            return add<std::uint64_t>(to, from, count, threads, [factor](std::uint64_t x, std::uint64_t y) {
                return x + static_cast<std::uint64_t>(factor) * y;
            });
        case Type::gf2:
            return add<std::uint8_t>(to, from, count, threads, [factor](int x, int y) { return x ^ (factor & y); });
        default:
            fail(ErrorCode::internal, "multiples of {} are not added", type_name(type));
    }
}

void add_partial_sum(Type type, void* to, const void* from, std::int64_t count, int threads) {
    if (type == Type::boolean) {
        add<std::uint8_t>(to, from, count, threads, [](int x, int y) { return x | y; });
    } else {
        add_multiple(type, to, from, count, 1, threads);
    }
}

}  // namespace heptad

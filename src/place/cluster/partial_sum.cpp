#include "place/cluster/partial_sum.hpp"

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

bool has_partial_sums(Type type) {
    return type != Type::bf16 && type != Type::f16;
}

void add_partial_sum(Type type, void* to, const void* from, std::int64_t count, int threads) {
    const auto plus = [](auto x, auto y) { return x + y; };
    switch (type) {
        case Type::f64:
            return add<double>(to, from, count, threads, plus);
        case Type::f32:
        case Type::tf32:
            return add<float>(to, from, count, threads, plus);
        case Type::i32:  // mod 2^32
            return add<std::uint32_t>(to, from, count, threads, plus);
        case Type::gf2:
            return add<std::uint8_t>(to, from, count, threads, [](int x, int y) { return x ^ y; });
        case Type::boolean:
            return add<std::uint8_t>(to, from, count, threads, [](int x, int y) { return x | y; });
        default:
            fail(ErrorCode::internal, "partial results of {} are not added", type_name(type));
    }
}

}  // namespace heptad

// Vectors of the ranks become one, element by element, along a binary tree of ranks: log2(P) messages deep, in an order
// that depends on the number of ranks alone.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "move/ranks/communicator.hpp"

namespace heptad {

/// The root's vector becomes the merge of all; those of the others are undefined then. All have the same length.
/// `merge(T& all, const T& part)` adds one element to another.
template <class T, class Merge>
void merge_at_root(Communicator& ranks, std::vector<T>& values, Merge&& merge) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(T));
    std::vector<T> part;
    for (int step = 1; step < ranks.size(); step *= 2) {
        if (ranks.rank() % (2 * step) != 0) {
            ranks.send(ranks.rank() - step, values.data(), bytes);
            return;
        }
        if (ranks.rank() + step < ranks.size()) {
            part.resize(values.size());
            ranks.receive(ranks.rank() + step, part.data(), bytes);
            ranks.discount(bytes);
            for (std::size_t i = 0; i < values.size(); ++i) {
                merge(values[i], part[i]);
            }
        }
    }
}

/// Everybody's becomes the merge of all.
template <class T, class Merge>
void merge_everywhere(Communicator& ranks, std::vector<T>& values, Merge&& merge) {
    merge_at_root(ranks, values, merge);
    const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(T));
    int step = 1;
    while (step < ranks.size()) {
        step *= 2;
    }
    for (step /= 2; step >= 1; step /= 2) {  // the tree from its root to its leaves
        if (ranks.rank() % (2 * step) == 0 && ranks.rank() + step < ranks.size()) {
            ranks.send(ranks.rank() + step, values.data(), bytes);
        } else if (ranks.rank() % (2 * step) == step) {
            ranks.receive(ranks.rank() - step, values.data(), bytes);
            ranks.discount(bytes);
        }
    }
}

}  // namespace heptad

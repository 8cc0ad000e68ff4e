#include "run/bits/product_order.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/shared_state.hpp"

namespace heptad::bits {
namespace {

/// By the program and the number of levels.
using KeptLists = OncePerKey<std::pair<const LevelProgram*, int>, std::vector<BlockProduct>>;

/// The next product is always the one that misses the fewest of the blocks that were used last.
std::vector<BlockProduct> neighbours_together(std::vector<BlockProduct> products) {
    constexpr std::size_t blocks_in_cache = 12;  // 1.5 MiB of blocks of 1024 x 1024 bits
    const auto number_blocks = [](const BlockProduct& product) {
        std::vector<int> numbers;
        const auto add = [&](const auto& terms, int operand) {
            for (const auto& term : terms) {
                numbers.push_back(3 * term.block + operand);
            }
        };
        add(product.left, 0);
        add(product.right, 1);
        add(product.result, 2);
        return numbers;
    };
    std::deque<int> cache;
    const auto misses = [&](const BlockProduct& product) {
        const std::vector<int> wanted = number_blocks(product);
        return std::count_if(wanted.begin(), wanted.end(),
                             [&](int block) { return std::find(cache.begin(), cache.end(), block) == cache.end(); });
    };
    for (auto next = products.begin(); next != products.end(); ++next) {
        // Among equals the one with the most blocks: it will never find more of them.
        std::iter_swap(next, std::min_element(next, products.end(), [&](const auto& x, const auto& y) {
                           return std::pair(misses(x), number_blocks(y).size()) <
                                  std::pair(misses(y), number_blocks(x).size());
                       }));
        for (const int block : number_blocks(*next)) {
            std::erase(cache, block);
            cache.push_back(block);
            if (cache.size() > blocks_in_cache) {
                cache.pop_front();
            }
        }
    }
    return products;
}

}  // namespace

const std::vector<BlockProduct>& products_in_order(const LevelProgram& program, int levels) {
    static constinit KeptLists all;
    return all.get({&program, levels}, [&] {
        return nested_levels(level_terms(program, ProgramBasis::own), levels, BlockNumbers::nested).products;
    });
}

// Looking for the order takes half a millisecond, a twentieth of a product of side 4096 on one core.
const std::vector<BlockProduct>& products_with_neighbours(const LevelProgram& program, int levels) {
    static constinit KeptLists all;
    return all.get({&program, levels}, [&] { return neighbours_together(products_in_order(program, levels)); });
}

}  // namespace heptad::bits

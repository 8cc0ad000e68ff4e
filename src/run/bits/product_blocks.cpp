#include "run/bits/product_blocks.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "base/shared_state.hpp"

namespace heptad::bits {
namespace {

/// The blocks that are marked at every level: the Kronecker product of the marks. masks[0] is the topmost level's.
std::vector<std::int64_t> marked_blocks(const std::vector<unsigned>& masks) {
    std::vector<std::int64_t> blocks{0};
    for (const unsigned mask : masks) {
        std::vector<std::int64_t> next;
        for (const std::int64_t block : blocks) {
            for (int i = 0; i < 4; ++i) {
                if (((mask >> i) & 1) != 0) {
                    next.push_back(4 * block + i);
                }
            }
        }
        blocks = std::move(next);
    }
    return blocks;
}

/// The next product is always the one that misses the fewest of the blocks that were used last.
std::vector<ProductBlocks> neighbours_together(const LevelProgram& program, int levels) {
    std::vector<ProductBlocks> products;
    for (std::int64_t i = 0; i < product_count(program, levels); ++i) {
        products.push_back(product_blocks(program, levels, i));
    }
    constexpr std::size_t blocks_in_cache = 12;  // 1.5 MiB of blocks of 1024 x 1024 bits
    const auto number_blocks = [](const ProductBlocks& product) {
        std::vector<std::int64_t> numbers;
        for (std::size_t operand = 0; const std::vector<std::int64_t>* blocks : {&product.a, &product.b, &product.c}) {
            for (const std::int64_t block : *blocks) {
                numbers.push_back(3 * block + static_cast<std::int64_t>(operand));
            }
            ++operand;
        }
        return numbers;
    };
    std::deque<std::int64_t> cache;
    const auto misses = [&](const ProductBlocks& product) {
        const std::vector<std::int64_t> wanted = number_blocks(product);
        return std::count_if(wanted.begin(), wanted.end(), [&](std::int64_t block) {
            return std::find(cache.begin(), cache.end(), block) == cache.end();
        });
    };
    for (auto next = products.begin(); next != products.end(); ++next) {
        // Among equals the one with the most blocks: it will never find more of them.
        std::iter_swap(next, std::min_element(next, products.end(), [&](const auto& x, const auto& y) {
                           return std::pair(misses(x), number_blocks(y).size()) <
                                  std::pair(misses(y), number_blocks(x).size());
                       }));
        for (const std::int64_t block : number_blocks(*next)) {
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

std::int64_t product_count(const LevelProgram& program, int levels) {
    std::int64_t count = 1;
    for (int level = 0; level < levels; ++level) {
        count *= static_cast<std::int64_t>(program.steps.size());
    }
    return count;
}

ProductBlocks product_blocks(const LevelProgram& program, int levels, std::int64_t number) {
    const auto products = static_cast<std::int64_t>(program.steps.size());
    std::vector<unsigned> of_a, of_b, of_c;
    for (std::int64_t unit = product_count(program, levels) / products; unit > 0; unit /= products) {
        const auto step = static_cast<std::size_t>(number / unit % products);
        of_a.push_back(program.steps[step].a);
        of_b.push_back(program.steps[step].b);
        of_c.push_back(destinations(program, step));
    }
    return {marked_blocks(of_a), marked_blocks(of_b), marked_blocks(of_c)};
}

// Looking for the order takes half a millisecond, a twentieth of a product of side 4096 on one core.
const std::vector<ProductBlocks>& products_with_neighbours(const LevelProgram& program, int levels) {
    static constinit Guarded<std::map<std::pair<const LevelProgram*, int>, std::vector<ProductBlocks>>> all;
    const auto kept = all.lock();
    const std::pair key(&program, levels);
    const auto found = kept->find(key);
    return found != kept->end() ? found->second
                                : kept->emplace(key, neighbours_together(program, levels)).first->second;
}

}  // namespace heptad::bits

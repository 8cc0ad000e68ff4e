// Which leaves and sums this processor can run, and which of them is the fastest.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/errors_only.hpp"
#include "base/shared_state.hpp"
#include "base/timing.hpp"
#include "kernels/bits/leaf_kernels.hpp"
#include "kernels/bits/leaf_layouts.hpp"
#include "kernels/bits/word_buffer.hpp"

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace heptad::bits {
namespace {

#if defined(__aarch64__)
bool has_sha3() {
    constexpr unsigned long hwcap_sha3 = 1UL << 17;
    return (getauxval(AT_HWCAP) & hwcap_sha3) != 0;
}
#endif

std::vector<Leaf> find_leaves() {
    const auto* const slabs_128 = new SlabLayout(128);  // like all layouts here: as long-lived as the leaves
    std::vector<Leaf> found;
    const auto add_tables = [&](const char* name, const SlabLayout* layout, const TableKernels& kernels,
                                double per_addition, double per_packing, double rows_per_key) {
        found.push_back({name, layout, kernels.multiply, kernels.multiply_boolean, kernels.add_boolean_rows, nullptr, 0,
                         per_addition, per_packing, 512, 512, 100, rows_per_key});
    };
    const auto add_blocks = [&](const char* name, const BlockKernels& kernels, double per_addition, double per_packing,
                                std::int64_t overhead_rows) {
        found.push_back({name, new BlockLayout(kernels.pack, kernels.unpack), kernels.multiply, nullptr, nullptr,
                         kernels.multiply_fused, 2, per_addition, per_packing, 1024, 512, overhead_rows});
    };
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
    if (avx512 && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("gfni")) {
        add_blocks("gfni", block_kernels_gfni(), 4000, 20000, 8);
    }
    if (avx512) {
        add_tables("table-avx512", new SlabLayout(512), table_kernels_avx512(), 2500, 10000, 1.0);
    }
    if (__builtin_cpu_supports("avx2")) {
        add_tables("table-avx2", new SlabLayout(256), table_kernels_avx2(), 1500, 6000, 1.5);
    }
#elif defined(__aarch64__)
    if (has_sha3()) {
        add_tables("table-sha3", slabs_128, table_kernels_sha3(), 1000, 4000, 0);
    }
#endif
    add_tables("table", slabs_128, table_kernels(), 1000, 4000, 2.0);
    add_blocks("blocks", block_kernels(), 100, 500, 0);
    return found;
}

bool can(const Leaf& leaf, Type algebra) {
    return algebra == Type::gf2 || leaf.multiply_boolean != nullptr;
}

/// Seconds per bit product, from the best of a few products of 512 x 512 x 512.
double measure(const Leaf& leaf, Type algebra) {
    const LeafShape shape{512, 512, 512};
    const WordBuffer words(3 * packed_words(shape.m, shape.n));
    const std::int64_t each = packed_words(shape.m, shape.n);
    std::uint64_t* a = words.data();
    std::uint64_t state = 1;
    std::generate_n(a, 2 * each, [&] { return state = state * 6364136223846793005U + 1442695040888963407U; });
    if (algebra == Type::boolean) {
        // Sparse, so that rows do not fill up before the end.
        std::transform(a, a + 2 * each, a, [](std::uint64_t word) { return word & (word >> 7) & (word << 9); });
    }
    const LeafProduct multiply = algebra == Type::gf2 ? leaf.multiply : leaf.multiply_boolean;
    double best = 1e9;
    for (int round = 0; round < 4; ++round) {
        const auto start = Clock::now();
        multiply(shape, whole(leaf, shape), a, a + each, a + 2 * each, false);
        best = std::min(best, seconds_since(start));
    }
    return best / (static_cast<double>(shape.m + leaf.overhead_rows) * static_cast<double>(shape.k * shape.n));
}

const Leaf& fastest_leaf(Type algebra) {
    const Leaf* best = &available_leaves().front();
    double best_s = std::numeric_limits<double>::infinity();
    for (const Leaf& leaf : available_leaves()) {
        if (!can(leaf, algebra) || std::string(leaf.name) == "blocks") {
            continue;
        }
        const double s = product_s(leaf, algebra);
        // Two leaves may be equally fast, and the same one should be taken every time: the earlier, if it comes close.
        if (s < 0.9 * best_s) {
            best = &leaf;
            best_s = s;
        }
    }
    return *best;
}

}  // namespace

const std::vector<Leaf>& available_leaves() {
    static constinit Once<std::vector<Leaf>> leaves;
    return leaves.get(find_leaves);
}

std::vector<std::string> leaf_names(Type algebra) try {
    std::vector<std::string> names;
    for (const Leaf& leaf : available_leaves()) {
        if (can(leaf, algebra)) {
            names.emplace_back(leaf.name);
        }
    }
    return names;
} catch (...) {
    rethrow_as_error();
}

double product_s(const Leaf& leaf, Type algebra) {
    // Indexed by leaf and algebra; 0: not measured yet.
    static constinit Guarded<std::vector<std::array<double, 2>>> all;
    const auto measured = all.lock();
    measured->resize(available_leaves().size());
    double& s = (*measured)[static_cast<std::size_t>(&leaf - available_leaves().data())][algebra == Type::gf2 ? 0 : 1];
    if (s == 0) {
        s = measure(leaf, algebra);
    }
    return s;
}

WordSum word_sum() {
    static constinit Once<WordSum> chosen;
    return chosen.get([] {
#if defined(__x86_64__)
        __builtin_cpu_init();
        if (__builtin_cpu_supports("avx512f")) {
            return table_kernels_avx512().sum_words;
        }
        if (__builtin_cpu_supports("avx2")) {
            return table_kernels_avx2().sum_words;
        }
#endif
        return table_kernels().sum_words;
    });
}

const Leaf& find_leaf(Type algebra, const std::string& name) {
    if (name == "auto") {
        static constinit Once<const Leaf*> gf2, boolean;
        return *(algebra == Type::gf2 ? gf2 : boolean).get([&] { return &fastest_leaf(algebra); });
    }
    for (const Leaf& leaf : available_leaves()) {
        if (leaf.name == name && can(leaf, algebra)) {
            return leaf;
        }
    }
    const std::vector<std::string> names = leaf_names(algebra);
    fail(ErrorCode::usage, "'{}' is not a leaf for {} products on this processor; use auto or one of: {}", name,
         type_name(algebra),
         std::accumulate(names.begin() + 1, names.end(), names.front(),
                         [](const std::string& list, const std::string& next) { return list + " " + next; }));
}

}  // namespace heptad::bits

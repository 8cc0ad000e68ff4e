// Where the time of a GF(2) product of packed matrices goes, in Tbit-op/s (2 m k n / time, on one thread) and in
// nanoseconds per 64 bytes: the leaves alone, the sums of the levels, packing with its change of basis, and whole
// products by number of levels.
//
//   bits_bench [leaf|boolean|sums|pack|product|power] [threads] [sizes...]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "kernels/bits/word_buffer.hpp"
#include "kernels/bits/word_sums.hpp"
#include "run/bits/bit_chain.hpp"

namespace heptad::bits {
namespace {

/// The best of several runs that together take about half a second.
double best_s(const std::function<void()>& body) {
    double best = 1e9, total = 0;
    for (int round = 0; round < 3 || (total < 0.3 && round < 200); ++round) {
        const auto start = std::chrono::steady_clock::now();
        body();
        const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        best = std::min(best, s);
        total += s;
    }
    return best;
}

void fill(WordBuffer& buffer, std::int64_t words) {
    std::uint64_t state = 1;
    std::generate_n(buffer.data(), words, [&] { return state = state * 6364136223846793005U + 1442695040888963407U; });
}

double rate(const LeafShape& shape, double seconds) {
    return 2e-12 * static_cast<double>(shape.m) * static_cast<double>(shape.k) * static_cast<double>(shape.n) / seconds;
}

void print_leaves() {
    for (const Leaf& leaf : available_leaves()) {
        if (std::string(leaf.name) == "blocks") {
            continue;
        }
        for (const LeafShape shape : {LeafShape{512, 512, 512}, LeafShape{1024, 512, 1024}, LeafShape{1024, 1024, 512},
                                      LeafShape{512, 1024, 1024}, LeafShape{1024, 1024, 1024},
                                      LeafShape{2048, 1024, 2048}, LeafShape{2048, 2048, 2048}}) {
            const std::int64_t a = packed_words(shape.m, shape.k), b = packed_words(shape.k, shape.n),
                               c = packed_words(shape.m, shape.n);
            WordBuffer memory(4 * (a + b + c) + a + kFusedPanelWords);
            fill(memory, 4 * (a + b + c));
            std::uint64_t* const first_b = memory.data() + 4 * a;
            std::uint64_t* const first_c = first_b + 4 * b;
            const double plain =
                best_s([&] { leaf.multiply(shape, whole(leaf, shape), memory.data(), first_b, first_c, false); });
            std::string fused;
            for (std::size_t terms = 1; terms <= 2 && leaf.multiply_fused != nullptr; ++terms) {
                const std::uint64_t* from_a[] = {memory.data(), memory.data() + a};
                const std::uint64_t* from_b[] = {first_b, first_b + b};
                std::uint64_t* to[] = {first_c, first_c + c};
                FusedOperands operands;
                operands.a = {from_a, terms};
                operands.b = {from_b, terms};
                operands.c = {to, terms};
                operands.adds = ~0U;
                operands.scratch = first_c + 4 * c;
                const double s = best_s([&] { leaf.multiply_fused(shape, operands); });
                fused += fmt::format(", {} to {}: {:.2f}", terms, terms, rate(shape, s));
            }
            fmt::print("leaf {} {}x{}x{}: {:.2f} Tbit-op/s{}\n", leaf.name, shape.m, shape.k, shape.n,
                       rate(shape, plain), fused);
        }
    }
}

/// One slab of a Boolean product, with so few ones that no row fills up.
void print_boolean() {
    for (const Leaf& leaf : available_leaves()) {
        if (leaf.multiply_boolean == nullptr) {
            continue;
        }
        for (const LeafShape shape :
             {LeafShape{1024, 1024, 512}, LeafShape{4096, 1024, 512}, LeafShape{4096, 4096, 512},
              LeafShape{16384, 4096, 512}, LeafShape{16384, 16384, 512}}) {
            WordBuffer a(packed_words(shape.m, shape.k)), b(packed_words(shape.k, shape.n)),
                c(packed_words(shape.m, shape.n));
            fill(a, packed_words(shape.m, shape.k));
            fill(b, packed_words(shape.k, shape.n));
            std::uint64_t* const words[] = {a.data(), b.data()};
            const std::int64_t counts[] = {packed_words(shape.m, shape.k), packed_words(shape.k, shape.n)};
            for (int i = 0; i < 2; ++i) {
                std::transform(words[i], words[i] + counts[i], words[i], [](std::uint64_t word) {
                    return word & (word >> 7) & (word << 9) & (word >> 18) & (word << 22) & (word >> 31);
                });
            }
            const double s =
                best_s([&] { leaf.multiply_boolean(shape, whole(leaf, shape), a.data(), b.data(), c.data(), false); });
            fmt::print("boolean {} {}x{}x{}: {:.2f} Tbit-op/s\n", leaf.name, shape.m, shape.k, shape.n, rate(shape, s));
        }
    }
}

void print_sums() {
    for (std::int64_t kib = 16; kib <= 32768; kib *= 4) {
        const std::int64_t words = kib * 128;
        WordBuffer memory(5 * words);
        fill(memory, 5 * words);
        std::uint64_t* to = memory.data() + 4 * words;
        const std::uint64_t* from[4];
        for (int i = 0; i < 4; ++i) {
            from[i] = memory.data() + i * words;
        }
        const auto ns = [&](int count, bool adds) {
            return 1e9 / (static_cast<double>(words) / 8) * best_s([&] { word_sum()(to, from, count, words, adds); });
        };
        fmt::print("sums of {} KiB, ns per 64 bytes: x = y {:.2f}, x ^= y {:.2f}, x = y ^ z {:.2f}, four {:.2f}\n", kib,
                   ns(1, false), ns(1, true), ns(2, false), ns(4, false));
    }
}

void print_packing(int threads, const std::vector<std::int64_t>& sizes) {
    for (const std::int64_t n : sizes) {
        const BitLaunch launch = bit_launch(make_bit_plan(Type::gf2, {n, n, n}, {}, threads));
        BitMatrix a = BitMatrix::random(n, n, 1);
        WordBuffer packed(launch.left().words() + launch.right().words() + launch.result().words());
        fill(packed, launch.left().words());
        ThreadPool& pool = shared_pool(threads);
        const LeafLayout& layout = *launch.leaf->layout;
        const double left = best_s([&] { pack(layout, launch.left(), a, launch.into(), packed.data(), pool); });
        const double right = best_s([&] { pack(layout, launch.right(), a, launch.into(), packed.data(), pool); });
        const double plain = best_s([&] { pack(layout, launch.right(), a, {}, packed.data(), pool); });
        const double back = best_s(
            [&] { unpack(layout, launch.result(), packed.data(), launch.out_of(), a.view(), Store::assign, pool); });
        fmt::print(
            "pack n = {}, {} levels, {}: left {:.3f} ms, right {:.3f} ms (without change {:.3f}), result {:.3f} ms\n",
            n, launch.levels, launch.leaf->name, 1e3 * left, 1e3 * right, 1e3 * plain, 1e3 * back);
    }
}

void print_products(int threads, const std::vector<std::int64_t>& sizes) {
    for (const std::int64_t n : sizes) {
        const BitMatrix a = BitMatrix::random(n, n, 1), b = BitMatrix::random(n, n, 2);
        BitMatrix c(n, n);
        const auto chosen = static_cast<int>(make_bit_plan(Type::gf2, {n, n, n}, {}, threads).levels.size());
        for (int levels = 0; n >> levels >= 512; ++levels) {
            if (n >> levels > 4096 || std::abs(levels - chosen) > 1) {
                continue;
            }
            const ProductPlan plan = make_bit_plan(Type::gf2, {n, n, n}, {"self-inverse", levels, "auto"}, threads);
            if (n <= 4096 && levels > 0) {  // a fast wrong product is worth nothing
                BitMatrix expected(n, n);
                multiply_bits(Type::gf2, a, b, expected.view(), false, {"classical"}, {threads});
                multiply_bits(plan, a, b, c.view(), false, {});
                fmt::print("{}", c == expected ? "" : "WRONG: ");
            }
            const double whole_s = best_s([&] { multiply_bits(plan, a, b, c.view(), false, {}); });
            const BitLaunch launch = bit_launch(plan);
            WordBuffer packed(plan.workspace_bytes / 8);
            fill(packed, launch.left().words() + launch.right().words());
            std::uint64_t* right = packed.data() + launch.left().words();
            std::uint64_t* result = right + launch.right().words();
            const RunHooks none;
            WorkMeter meter(none, launch.work());
            const double inner_s = best_s([&] {
                multiply_packed(launch, packed.data(), right, result, result + launch.result().words(), meter);
            });
            fmt::print(
                "product n = {}, {} threads, {} levels{}: {:.3f} ms = {:.2f} Tbit-op/s, of that packing {:.3f} ms; "
                "predicted {:.3f} "
                "ms\n",
                n, threads, levels, levels == chosen ? " (chosen)" : "", 1e3 * whole_s, rate({n, n, n}, whole_s),
                1e3 * (whole_s - inner_s), 1e3 * plan.predicted_s);
        }
    }
}

/// A^8 as a chain and as three products.
void print_powers(int threads, const std::vector<std::int64_t>& sizes) {
    for (const std::int64_t n : sizes) {
        const BitMatrix a = BitMatrix::random(n, n, 1);
        BitMatrix power, square(n, n), fourth(n, n), eighth(n, n);
        const BitContext context{threads};
        double chain_s = 1e9, apart_s = 1e9;
        for (int round = 0; round < 3; ++round) {  // in turns, so that both see the same machine
            chain_s = std::min(chain_s, best_s([&] { power = raise(Type::gf2, a, 8, {}, context); }));
            apart_s = std::min(apart_s, best_s([&] {
                                   multiply_bits(Type::gf2, a, a, square.view(), false, {}, context);
                                   multiply_bits(Type::gf2, square, square, fourth.view(), false, {}, context);
                                   multiply_bits(Type::gf2, fourth, fourth, eighth.view(), false, {}, context);
                               }));
        }
        const ChainPlan chain = make_chain_plan(Type::gf2, {n, n, n, n, n}, {}, threads);
        fmt::print("{}A^8, n = {}, {} threads, {} {}: {:.3f} ms, three products {:.3f} ms; predicted {:.3f} ms\n",
                   power == eighth ? "" : "WRONG: ", n, threads, chain.packed ? "packed" : "apart",
                   chain.plans[0].levels.empty() ? "classical" : chain.plans[0].levels[0].algorithm, 1e3 * chain_s,
                   1e3 * apart_s, 1e3 * chain.predicted_s);
    }
}

}  // namespace
}  // namespace heptad::bits

int main(int count, char** words) {
    const std::string what = count > 1 ? words[1] : "all";
    const int threads = count > 2 ? std::stoi(words[2]) : 1;
    std::vector<std::int64_t> sizes;
    for (int i = 3; i < count; ++i) {
        sizes.push_back(std::stoll(words[i]));
    }
    if (sizes.empty()) {
        sizes = {1024, 2048, 4096, 8192};
    }
    if (what == "leaf" || what == "all") {
        heptad::bits::print_leaves();
    }
    if (what == "boolean" || what == "all") {
        heptad::bits::print_boolean();
    }
    if (what == "sums" || what == "all") {
        heptad::bits::print_sums();
    }
    if (what == "pack" || what == "all") {
        heptad::bits::print_packing(threads, sizes);
    }
    if (what == "product" || what == "all") {
        heptad::bits::print_products(threads, sizes);
    }
    if (what == "power" || what == "all") {
        heptad::bits::print_powers(threads, sizes);
    }
    return 0;
}

// The residue kernels of a device, by loops on the host.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "algorithm/winograd_sums.hpp"
#include "base/device_layout.hpp"
#include "base/moduli.hpp"
#include "kernels/cuda/residue/residue_parts.hpp"
#include "kernels/guarded_matrix.hpp"
#include "kernels/reference/reference_backend.hpp"

namespace heptad::test {

/// Exact, in place of a device: planes hold residues of the integers that the matrices consist of, at most 5 in size.
class HostResidues final : public Backend, private DeferredGuard, private ResidueKernels {
public:
    std::string name() const override { return "cuda"; }
    void combine(const CombinePass& pass) override { loops_.combine(pass); }
    void multiply(std::span<const Product> batch, const std::string&) override { loops_.multiply(batch, "reference"); }
    ScanResult scan(const ConstView& view) override { return loops_.scan(view); }
    void copy(const ConstView& from, const View& to) override { loops_.copy(from, to); }
    std::vector<std::string> leaves(Type type) const override { return loops_.leaves(type); }
    DeferredGuard* deferred_guard() override { return this; }
    ResidueKernels* residue_kernels() override { return this; }
    void begin_product(void* memory, std::int64_t bytes) override { std::memset(memory, 0xee, checked_size(bytes)); }

    bool is_safe = true;
    GuardLimits limits;
    ResidueKernels::Choice choice;
    int products_of_planes = 0, passes_over_planes = 0, conversions[2] = {};
    std::optional<ResidueKernels::Norms> norms = ResidueKernels::Norms{9, 9};
    int taken() const { return taken_; }

private:
    static std::size_t checked_size(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }
    static double element(const ConstView& x, std::int64_t i, std::int64_t j) {
        return get_element(x.type, element_pointer(x, i, j));
    }
    void start(const GuardLimits& asked, std::int64_t m, std::int64_t k, std::int64_t n) override {
        EXPECT_TRUE(std::isinf(asked.a) && std::isinf(asked.product));
        limits = asked;
        size_ = {m, k, n};
    }
    ProductExponents judge_evenness(const ConstView&, const ConstView&) override { return {}; }
    void watch(int, const ConstView&) override {}
    void answer_if_unsafe(const Product& product, std::span<std::byte>) override {
        if (!is_safe) {
            loops_.multiply({&product, 1}, "reference");
        }
    }
    void finish() override {}

    void measure(const ConstView& a, const ConstView& b, const Choice& asked, void* notes) override {
        choice = asked;
        EXPECT_EQ(a.rows, size_.m);
        EXPECT_EQ(b.cols, size_.n);
        std::memset(notes, 0xdd, checked_size(residue_notes_bytes(a.rows, b.cols)));
        taken_ = is_safe ? choice.most : 0;
        a_ = a;
        b_ = b;
    }
    std::optional<Norms> measure_exactly(const ConstView& a, const ConstView& b, void* notes) override {
        std::memset(notes, 0xdd, checked_size(residue_notes_bytes(a.rows, b.cols)));
        size_ = {a.rows, a.cols, b.cols};
        a_ = a;
        b_ = b;
        return norms;
    }
    void take_moduli(int count, const std::optional<Norms>& known) override {
        EXPECT_EQ(known.has_value(), count == 0 || norms.has_value());
        taken_ = count;
        is_exact_ = true;
    }
    void convert(std::span<const Block> blocks) override {
        for (const Block& one : blocks) {
            convert(one.operand, one.block, one.first, one.to);
        }
    }
    void convert(int operand, const ConstView& block, std::int64_t first, const ResiduePlanes& to) {
        ++conversions[operand];
        const ConstView lines = operand == 0 ? block : transposed(block);
        const ConstView all = operand == 0 ? a_ : transposed(b_);
        const std::int64_t side = std::int64_t{1} << to.levels;
        EXPECT_GE(to.lines * side, lines.rows);
        EXPECT_GE(to.line_bytes * side, lines.cols);
        EXPECT_EQ(lines.data, element_pointer(all, first, 0));
        EXPECT_EQ(block.conjugate, (operand == 0 ? a_ : b_).conjugate);
        const auto number = [&](std::int64_t i, std::int64_t p, int part) {
            if (i >= lines.rows || p >= lines.cols) {
                return 0;
            }
            return to.parts == 1 ? static_cast<int>(element(lines, i, p))
                                 : part_of_number(lines, i, p, part, block.conjugate);
        };
        for (std::int64_t i = 0; i < to.lines; ++i) {
            for (std::int64_t p = 0; p < to.line_bytes; ++p) {
                std::vector<int> sums;
                for (int part = 0; part < to.parts; ++part) {
                    add_sums(
                        to.levels, operand,
                        [&](std::int64_t row, std::int64_t col) {
                            return operand == 0 ? number(row * to.lines + i, col * to.line_bytes + p, part)
                                                : number(col * to.lines + i, row * to.line_bytes + p, part);
                        },
                        sums);
                }
                for (std::size_t plane = 0; plane < sums.size() * static_cast<std::size_t>(taken_); ++plane) {
                    static_cast<std::int8_t*>(
                        to.data)[static_cast<std::int64_t>(plane) * to.plane_bytes + i * to.line_bytes + p] =
                        static_cast<std::int8_t>(sums[plane % sums.size()]);
                }
            }
        }
    }
    void add_planes(const PlaneSums& sums, const ResiduePlanes& from, const ResiduePlanes& to) override {
        ++passes_over_planes;
        const ResiduePlanes &products = sums.of_result ? from : to, &whole = sums.of_result ? to : from;
        const auto blocks = static_cast<std::size_t>(sums.rows) * static_cast<std::size_t>(sums.cols);
        EXPECT_EQ(sums.outputs.size(), sums.of_result ? blocks : static_cast<std::size_t>(products.products));
        EXPECT_EQ(whole.lines, sums.rows * products.lines);
        EXPECT_EQ(whole.line_bytes, sums.cols * products.line_bytes);
        for (int group = 0; group < taken_ * products.parts; ++group) {
            const auto byte_at = [&](bool in_whole, int number, std::int64_t line, std::int64_t p) -> std::uint8_t& {
                const std::int64_t at =
                    in_whole
                        ? group * whole.plane_bytes + (number / sums.cols * products.lines + line) * whole.line_bytes +
                              number % sums.cols * products.line_bytes + p
                        : (group * products.products + number) * products.plane_bytes + line * products.line_bytes + p;
                return static_cast<std::uint8_t*>(in_whole ? whole.data : products.data)[at];
            };
            const int modulus = kModuli[static_cast<std::size_t>(group / products.parts)];
            for (std::size_t r = 0; r < sums.outputs.size(); ++r) {
                for (std::int64_t i = 0; i < products.lines * products.line_bytes; ++i) {
                    const std::int64_t line = i / products.line_bytes, p = i % products.line_bytes;
                    int sum = 0, bytes = 0;
                    for (const PlaneSums::Term& term : sums.outputs[r]) {
                        const std::uint8_t byte = byte_at(!sums.of_result, term.input, line, p);
                        sum += term.coefficient * (sums.of_result ? byte : static_cast<std::int8_t>(byte));
                        bytes += std::abs(term.coefficient);
                    }
                    EXPECT_LE(bytes, kMostPlaneSum);
                    const int rest = (sum % modulus + modulus) % modulus;
                    byte_at(sums.of_result, static_cast<int>(r), line, p) =
                        static_cast<std::uint8_t>(!sums.of_result && rest > modulus / 2 ? rest - modulus : rest);
                }
            }
        }
    }
    /// Real part, imaginary part, or both together.
    static int part_of_number(const ConstView& x, std::int64_t i, std::int64_t j, int part, bool conjugate) {
        const auto number = *reinterpret_cast<const std::complex<float>*>(element_pointer(x, i, j));
        const int real = static_cast<int>(number.real());
        const int imaginary = static_cast<int>(number.imag()) * (conjugate ? -1 : 1);
        return part == 0 ? real : part == 1 ? imaginary : real + imaginary;
    }
    /// Sums of the blocks of a number's place, level by level.
    static void add_sums(int levels, int operand, const std::function<int(std::int64_t, std::int64_t)>& block,
                         std::vector<int>& sums) {
        if (levels == 0) {
            sums.push_back(block(0, 0));
            return;
        }
        const std::int64_t half = std::int64_t{1} << (levels - 1);
        for (std::size_t r = 0; r < kWinogradProducts; ++r) {
            add_sums(
                levels - 1, operand,
                [&](std::int64_t row, std::int64_t col) {
                    int of_level[kWinogradProducts];
                    const int x[4] = {block(row, col), block(row, half + col), block(half + row, col),
                                      block(half + row, half + col)};
                    if (operand == 0) {
                        winograd_sums_of_a(x[0], x[1], x[2], x[3], of_level);
                    } else {
                        winograd_sums_of_b(x[0], x[1], x[2], x[3], of_level);
                    }
                    return of_level[r];
                },
                sums);
        }
    }
    /// The blocks of C from products, by rows of blocks.
    static std::vector<int> blocks_of(int levels, const int* products) {
        if (levels == 0) {
            return {*products};
        }
        const int each = winograd_products(levels - 1);
        std::vector<std::vector<int>> inner;
        for (int r = 0; r < kWinogradProducts; ++r) {
            inner.push_back(blocks_of(levels - 1, products + r * each));
        }
        const std::size_t half = std::size_t{1} << (levels - 1);
        std::vector<int> blocks(4 * half * half);
        for (std::size_t i = 0; i < half * half; ++i) {
            int p[kWinogradProducts], c[4];
            for (std::size_t r = 0; r < kWinogradProducts; ++r) {
                p[r] = inner[r][i];
            }
            winograd_result(p, c);
            for (std::size_t q = 0; q < 4; ++q) {
                blocks[(q / 2 * half + i / half) * 2 * half + q % 2 * half + i % half] = c[q];
            }
        }
        return blocks;
    }
    void multiply_planes(const ResiduePlanes& a, const ResiduePlanes& b, const ResiduePlanes& c) override {
        ++products_of_planes;
        EXPECT_EQ(a.lines, c.lines);
        EXPECT_GE(c.line_bytes, b.lines);
        const int products = a.parts * a.products * winograd_products(a.levels);
        for (int plane = 0; plane < taken_ * products; ++plane) {
            const int p = kModuli[static_cast<std::size_t>(plane / products)];
            const auto* const left = static_cast<const std::int8_t*>(a.data) + plane * a.plane_bytes;
            const auto* const right = static_cast<const std::int8_t*>(b.data) + plane * b.plane_bytes;
            auto* const to = static_cast<std::uint8_t*>(c.data) + plane * c.plane_bytes;
            for (std::int64_t i = 0; i < a.lines; ++i) {
                for (std::int64_t j = 0; j < b.lines; ++j) {
                    int sum = 0;
                    for (std::int64_t l = 0; l < a.line_bytes; ++l) {
                        sum += left[i * a.line_bytes + l] * right[j * b.line_bytes + l];
                    }
                    to[i * c.line_bytes + j] = static_cast<std::uint8_t>((sum % p + p) % p);
                }
            }
        }
    }
    void rebuild(const ResiduePlanes& from, const Product& factors, const View& c, std::int64_t row,
                 std::int64_t col) override {
        if (from.parts > 1) {
            rebuild_complex(from, factors, c);
            return;
        }
        const double alpha = factors.alpha, beta = factors.beta;
        EXPECT_TRUE(row + c.rows <= size_.m || taken_ == 0);
        EXPECT_TRUE(col + c.cols <= size_.n || taken_ == 0);
        const int products = winograd_products(from.levels);
        const std::int64_t side = std::int64_t{1} << from.levels;
        const auto residue = [&](int t, std::int64_t i, std::int64_t j) {
            std::vector<int> of_products;
            for (int r = 0; r < products; ++r) {
                of_products.push_back(static_cast<const std::uint8_t*>(
                    from.data)[(t * products + r) * from.plane_bytes + i % from.lines * from.line_bytes +
                               j % from.line_bytes]);
            }
            const std::vector<int> blocks = blocks_of(from.levels, of_products.data());
            const int p = kModuli[static_cast<std::size_t>(t)];
            const int x = blocks[static_cast<std::size_t>(i / from.lines * side + j / from.line_bytes)];
            return (x % p + p) % p;
        };
        for (std::int64_t i = 0; i < c.rows && (taken_ > 0 || is_exact_); ++i) {
            for (std::int64_t j = 0; j < c.cols; ++j) {
                const int second = taken_ == 0 ? 0 : residue(1, i, j), first = taken_ == 0 ? 0 : residue(0, i, j);
                int value = std::numeric_limits<int>::max();  // sums here are small, so two moduli tell them
                for (int candidate = first - 256 * 100; candidate < 256 * 100; candidate += 256) {
                    const bool fits = (candidate % 255 + 255) % 255 == second;
                    value = fits ? candidate : value;
                }
                auto* const entry = element_pointer(c, i, j);
                set_element(c.type, entry, alpha * value + (beta == 0 ? 0 : beta * get_element(c.type, entry)));
            }
        }
    }

    void rebuild_complex(const ResiduePlanes& from, const Product& factors, const View& c) const {
        const std::complex<float> alpha(static_cast<float>(factors.alpha), static_cast<float>(factors.imaginary.alpha)),
            beta(static_cast<float>(factors.beta), static_cast<float>(factors.imaginary.beta));
        const auto bytes = [&](int t, std::int64_t i, std::int64_t j) {
            const auto product = [&](int part) {
                return std::uint32_t{static_cast<const std::uint8_t*>(
                    from.data)[(t * from.parts + part) * from.plane_bytes + i * from.line_bytes + j]};
            };
            const auto p = static_cast<std::uint32_t>(kModuli[static_cast<std::size_t>(t)]);
            return cuda::complex_bytes(product(0), product(1), product(2), p);
        };
        const auto integer = [](std::uint32_t first, std::uint32_t second) {
            int value = std::numeric_limits<int>::max();
            for (int candidate = static_cast<int>(first & 0xffU) - 256 * 100; candidate < 256 * 100; candidate += 256) {
                const bool fits = (candidate - static_cast<int>(second & 0xffU)) % 255 == 0;
                value = fits ? candidate : value;
            }
            return static_cast<float>(value);
        };
        for (std::int64_t i = 0; i < c.rows; ++i) {
            for (std::int64_t j = 0; j < c.cols; ++j) {
                const auto first = bytes(0, i, j), second = bytes(1, i, j);
                auto& entry = *reinterpret_cast<std::complex<float>*>(element_pointer(c, i, j));
                const std::complex<float> old = factors.reads_result() ? beta * entry : std::complex<float>();
                entry = alpha * std::complex<float>(integer(first.real, second.real),
                                                    integer(first.imaginary, second.imaginary)) +
                        old;
            }
        }
    }

    ReferenceBackend loops_;
    ProblemSize size_;
    ConstView a_, b_;
    int taken_ = 0;
    bool is_exact_ = false;
};

}  // namespace heptad::test

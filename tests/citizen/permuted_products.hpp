// Products of every kind whose right results are known without computing: B permutes the columns of A.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heptad/heptad.hpp"

namespace heptad::citizen {

class AnyProduct {
public:
    virtual ~AnyProduct() = default;
    /// Multiplies; false if the result is wrong.
    virtual bool is_right() = 0;
};

/// Entries are small integers, so that every algorithm is exact in every type.
template <class T>
class PermutedProduct final : public AnyProduct {
public:
    PermutedProduct(std::int64_t n, Options options, int threads)
        : n_(n), options_(std::move(options)), a_(size()), b_(size()), c_(size()) {
        context_.set_threads(threads);
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                a_[at(i, j)] = entry(i, j);
            }
            b_[at(permuted(i), i)] = T{1};
        }
    }

    bool is_right() override {
        using View = MatrixView<T>;
        multiply(View::row_major(a_.data(), n_, n_), View::row_major(b_.data(), n_, n_),
                 View::row_major(c_.data(), n_, n_), options_, context_);
        for (std::int64_t i = 0; i < n_; ++i) {
            for (std::int64_t j = 0; j < n_; ++j) {
                if (c_[at(i, j)] != entry(i, permuted(j))) {
                    return false;
                }
            }
        }
        return true;
    }

private:
    std::size_t size() const { return static_cast<std::size_t>(n_ * n_); }
    std::size_t at(std::int64_t i, std::int64_t j) const { return static_cast<std::size_t>(i * n_ + j); }
    std::int64_t permuted(std::int64_t i) const { return (i + n_ / 3) % n_; }
    static T entry(std::int64_t i, std::int64_t j) { return static_cast<T>((3 * i + 5 * j) % 7 - 3); }

    std::int64_t n_;
    Options options_;
    Context context_;
    std::vector<T> a_, b_, c_;
};

inline constexpr int kProductKinds = 7;

/// Small, by a library's threads, by its leaves on our threads, with levels, in integers, and by our own kernel.
inline std::unique_ptr<AnyProduct> make_product(int kind) {
    Options options;
    const auto with_leaf = [&](const char* leaf, std::int64_t n) -> std::unique_ptr<AnyProduct> {
        options.leaf = leaf;
        try {
            static_cast<void>(plan({n, n, n}, Type::f64, options));
        } catch (const Error&) {
            options.leaf = "auto";  // that library is not here
        }
        return std::make_unique<PermutedProduct<double>>(n, options, 3);
    };
    switch (kind % kProductKinds) {
        case 0:
            return std::make_unique<PermutedProduct<float>>(40, options, 0);
        case 1:
            return with_leaf("openblas-mt", 300);
        case 2:
            return with_leaf("openblas", 260);
        case 3:
            return with_leaf("blis-mt", 280);
        case 4:
            options.levels = 2;
            return std::make_unique<PermutedProduct<float>>(256, options, 3);
        case 5:
            options.levels = 1;
            return std::make_unique<PermutedProduct<std::int32_t>>(200, options, 2);
        default:
            return with_leaf("heptad", 240);
    }
}

}  // namespace heptad::citizen

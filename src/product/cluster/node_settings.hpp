// How a rank multiplies, and what becomes of what it must not.
#pragma once

#include <atomic>
#include <exception>

#include "product/memory/product.hpp"

namespace heptad {

/// Why data cannot be multiplied as asked, which only this rank knows. The stages go on without multiplying and write
/// nothing more, so that nobody waits for this rank in vain, and all ranks agree in the end.
struct Refusal {
    std::atomic<bool> happened{false};
    std::exception_ptr why;
};

/// The products inside a rank.
struct NodeSettings {
    Options options;
    int threads = 1;
    Factor alpha = 1, beta = 0;                     // complex only where the matrices are
    bool conjugate_a = false, conjugate_b = false;  // of complex matrices
    bool by_definition = false;                     // as the largest blocks are: bounds are told by those
    RunReport* products = nullptr;                  // told to the caller, if there is one; one thread multiplies
    Refusal* refusal = nullptr;                     // where Error(input) and Error(usage) go, if anywhere
    bool is_refused() const { return refusal != nullptr && refusal->happened; }
    void note(const RunReport& product) const {
        if (products != nullptr) {
            products->add(product);
        }
    }
    /// c = alpha * a * b + beta * c on the processor or the device; nothing once it was refused.
    void multiply(const ConstView& a, const ConstView& b, Factor factor_of_c, const View& c,
                  const ProductContext& context) const;
};

}  // namespace heptad

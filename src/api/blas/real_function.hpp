// The function that a call would have reached without us, found at the first call of each entry and kept:
//   1. after this library in the order of the dynamic linker (a program that was linked with a BLAS)
//   2. in any other object of the process, newest first: the libraries inside of NumPy's and SciPy's wheels are loaded
//      privately, so that no search by name alone meets them
//   3. a product of our own, where there is no BLAS
// As an alternative for libblas.so.3: in OpenBLAS, which that build needs.
#pragma once

#include <atomic>

#include "api/drop_in/loaded_function.hpp"

namespace heptad::blas {

using drop_in::AnyFunction;

/// Of one entry; all members are constant-initialised, so that an entry can be called before main().
class RealFunction {
public:
    /// `otherwise`: gives a function of the same signature, for a process without a BLAS.
    constexpr RealFunction(const char* name, AnyFunction (*otherwise)()) : name_(name), otherwise_(otherwise) {}
    RealFunction(const RealFunction&) = delete;
    RealFunction& operator=(const RealFunction&) = delete;

    template <class Function>
    Function get() {
        AnyFunction function = function_.load(std::memory_order_acquire);
        if (function == nullptr) [[unlikely]] {
            function = find();
        }
        return reinterpret_cast<Function>(function);
    }

    const char* name() const { return name_; }

    /// After get(): how many threads its library is set to use now, as that says itself; 0: it does not say.
    int library_threads() const;
    /// After get(): its library has 64-bit integers, whatever the name says.
    bool counts_in_64_bits() const { return counts_in_64_bits_.load(std::memory_order_relaxed); }

private:
    AnyFunction find() noexcept;

    const char* name_;
    AnyFunction (*otherwise_)();
    std::atomic<AnyFunction> function_{nullptr};
    std::atomic<AnyFunction> threads_getter_{nullptr};
    std::atomic<bool> counts_in_long_{false};  // threads: BLIS does
    std::atomic<bool> counts_in_64_bits_{false};
};

}  // namespace heptad::blas

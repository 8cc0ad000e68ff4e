// Where a product goes whose caller left the device open, and matrices that lie on another device than was asked for.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>

#include "product/memory/product.hpp"

namespace heptad {

struct NamedMatrix {
    const char* name;  // "A"
    const void* data;
    bool empty = false;
};

/// "cuda:1" where the device was left to "auto" and a matrix lies there. Throws Error(input) where one lies on a device
/// and something else than NVIDIA devices, or several of them, was asked for. A few nanoseconds where no CUDA driver is
/// loaded.
std::optional<std::string> device_of_matrices(const std::string& asked, std::initializer_list<NamedMatrix> matrices);
std::optional<std::string> device_of_matrices(const std::string& asked, const ConstView& a, const ConstView& b,
                                              const ConstView& c);

/// "cuda" where the first NVIDIA device is predicted to multiply matrices in host memory so much sooner than this
/// processor that starting it pays, transfers counted; else "auto", and where levels, algorithm, mode or leaf are
/// asked for. Asks no device about products that are short.
std::string device_that_pays(const ProblemSize& size, Type type, Type result_type, const Options& options,
                             const ProductContext& context);
/// The same for these matrices: devices read and write rows or columns that are contiguous.
std::string device_that_pays(const ConstView& a, const ConstView& b, double beta, const View& c, const Options& options,
                             const ProductContext& context);

}  // namespace heptad

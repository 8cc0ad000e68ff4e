#include "kernels/cuda/vendor/vendor_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace heptad::cuda {

std::vector<std::string> kernels_by_distance(const VendorKernels& kernels, Type type, KernelUse use,
                                             const LibrarySize& size) {
    const auto apart = [](std::int64_t x, std::int64_t y) {
        return std::abs(std::log2(static_cast<double>(x) / static_cast<double>(y)));
    };
    std::vector<std::pair<double, const KernelSample*>> found;
    for (const KernelSample& sample : kernels) {
        const double in_m = apart(size.m, sample.n), in_k = apart(size.k, sample.k), in_n = apart(size.n, sample.m);
        if (sample.type == type && sample.use == use && std::max({in_m, in_k, in_n}) <= 1) {
            found.emplace_back(in_m + in_k + in_n, &sample);
        }
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    std::vector<std::string> names;
    for (const auto& [distance, sample] : found) {
        if (std::find(names.begin(), names.end(), sample->kernel) == names.end()) {
            names.push_back(sample->kernel);
        }
    }
    return names;
}

}  // namespace heptad::cuda

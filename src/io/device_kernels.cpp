#include "io/device_kernels.hpp"

namespace heptad {

std::shared_ptr<const cuda::VendorKernels> vendor_kernels(const Machine& machine) {
    auto kernels = std::make_shared<cuda::VendorKernels>();
    for (const LeafProfile& profile : machine.leaves) {
        for (const LeafSample& sample : profile.samples) {
            if (!sample.kernel.empty()) {
                kernels->push_back(
                    {profile.type, sample.m, sample.k, sample.n, sample.kernel, cuda::kernel_use(profile.leaf)});
            }
        }
    }
    return kernels;
}

cuda::PassShapes pass_shapes(const Machine& machine) {
    cuda::PassShapes shapes;
    for (const PassProfile& profile : machine.passes) {
        for (const cuda::PassClass pass : cuda::kPassClasses) {
            const bool possible = profile.threads % 32 == 0 && profile.threads <= cuda::kMostPassThreads &&
                                  profile.places <= cuda::kMostPassPlaces;
            if (profile.pass == cuda::pass_class_name(pass) && possible) {
                shapes.of(profile.type, pass) = {profile.threads, profile.places};
            }
        }
    }
    return shapes;
}

}  // namespace heptad

#include "kernels/cuda/vendor/chosen_cublas.hpp"

#include "base/shared_state.hpp"

namespace heptad::cuda {
namespace {

constinit Guarded<std::string> chosen;

}  // namespace

void use_cublas(const std::string& path) {
    *chosen.lock() = path;
}

std::string chosen_cublas() {
    return *chosen.lock();
}

}  // namespace heptad::cuda

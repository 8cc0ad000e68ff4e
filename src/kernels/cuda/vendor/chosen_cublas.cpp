#include "kernels/cuda/vendor/chosen_cublas.hpp"

#include "base/shared_state.hpp"

namespace heptad::cuda {
namespace {

constinit Guarded<std::string> chosen_path;

}  // namespace

void use_cublas(const std::string& path) {
    *chosen_path.lock() = path;
}

std::string chosen_cublas() {
    return *chosen_path.lock();
}

}  // namespace heptad::cuda

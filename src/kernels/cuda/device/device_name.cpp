#include <algorithm>
#include <cctype>

#include "base/device_layout.hpp"
#include "base/error.hpp"
#include "kernels/cuda/device/device.hpp"

namespace heptad::cuda {

bool is_device_name(const std::string& name) {
    return name == "cuda" || name.starts_with("cuda:");
}

std::vector<std::string> device_leaves(Type type) {
    switch (type) {
        case Type::i32:
            return {kLimbLeaf, "heptad"};
        case Type::i64:
            return {kResidueLeaf};
        case Type::gf2:
        case Type::boolean:
            return {};
        case Type::c64:
        case Type::c128:
            return {"cublas", "cublas-batched", kResidueLeaf};
        case Type::f32:
        case Type::f64:
            return {"cublas", "cublas-batched", "cublaslt-batched", "cublaslt", "heptad", kResidueLeaf};
        default:
            return {"cublas", "cublas-batched", "cublaslt-batched", "cublaslt", "heptad"};
    }
}

int device_index(const std::string& name) {
    if (name == "cuda") {
        return 0;
    }
    const std::string number = name.starts_with("cuda:") ? name.substr(5) : "";
    const bool digits = !number.empty() && number.size() <= 3 &&
                        std::all_of(number.begin(), number.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (!digits) {
        fail(ErrorCode::usage, "'{}' is not a device; use cuda, or cuda: and a number", name);
    }
    return std::stoi(number);
}

}  // namespace heptad::cuda

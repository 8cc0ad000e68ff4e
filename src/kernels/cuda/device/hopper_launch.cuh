// How products of hopper_product.cuh are started.
#pragma once

#include <atomic>

#include "kernels/cuda/device/hopper_product.cuh"

namespace heptad::cuda {
namespace {

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

/// The driver's function that describes a matrix to the copy engine; null where the driver is too old.
inline EncodeTiled find_encoder() {
    void* function = nullptr;
    auto found = cudaDriverEntryPointSymbolNotFound;
    const cudaError_t status =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
    return status == cudaSuccess && found == cudaDriverEntryPointSuccess ? reinterpret_cast<EncodeTiled>(function)
                                                                         : nullptr;
}

/// Lines of bytes along k, in several blocks.
struct ByteBlocks {
    const void* data;
    std::int64_t line_bytes;  // that count; 16 bytes are counted together
    std::int64_t lines, blocks;
    std::int64_t line_distance, block_distance;  // in bytes, multiples of 16; the latter counts where there are several
};

/// What coordinates count.
struct Element {
    CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
    int bytes = 1;
};

/// Boxes of 128 bytes by `box_lines` lines; what lies outside of a block is fetched as zeros.
inline cudaError_t describe(EncodeTiled encode, const ByteBlocks& from, int box_lines, CUtensorMap& map,
                            const Element& element = {}) {
    const auto line_distance = static_cast<cuuint64_t>(from.line_distance);
    const auto block_distance = from.blocks > 1 ? static_cast<cuuint64_t>(from.block_distance)
                                                : line_distance * static_cast<cuuint64_t>(from.lines);
    const cuuint64_t size[3] = {static_cast<cuuint64_t>(from.line_bytes / element.bytes),
                                static_cast<cuuint64_t>(from.lines), static_cast<cuuint64_t>(from.blocks)};
    const cuuint64_t strides[2] = {line_distance, block_distance};
    const cuuint32_t box[3] = {static_cast<cuuint32_t>(kStepBytes / element.bytes), static_cast<cuuint32_t>(box_lines),
                               1};
    const cuuint32_t steps[3] = {1, 1, 1};
    const CUresult status = encode(&map, element.type, 3, const_cast<void*>(from.data), size, strides, box, steps,
                                   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return status == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

/// When a kernel may begin.
enum class Turn : std::uint8_t {
    after,   // when what was launched before it is complete
    beside,  // when all blocks of the kernel before it are running
};

/// A launch of so many clusters. The attributes lie beside the configuration that points to them.
template <class Shape>
struct LaunchShape {
    cudaLaunchAttribute attributes[2]{};
    cudaLaunchConfig_t config{};

    LaunchShape(std::int64_t clusters, cudaStream_t stream, Turn turn = Turn::after) {
        attributes[0].id = cudaLaunchAttributeClusterDimension;
        attributes[0].val.clusterDim = {Shape::cluster, 1, 1};
        attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[1].val.programmaticStreamSerializationAllowed = 1;
        config.gridDim = dim3(static_cast<unsigned>(Shape::cluster * clusters));
        config.blockDim = dim3(kThreads);
        config.dynamicSmemBytes = Shape::shared_bytes;
        config.stream = stream;
        config.attrs = attributes;
        config.numAttrs = turn == Turn::beside ? 2 : 1;
    }
    LaunchShape(const LaunchShape&) = delete;
    LaunchShape& operator=(const LaunchShape&) = delete;
};

/// How many clusters of a kernel a device can run at a time; asked once.
template <class Leaf, class Shape>
cudaError_t resident_clusters(int device, int& count) {
    constexpr int kMostDevices = 64;
    static std::atomic<int> known[kMostDevices];
    if (device < kMostDevices && (count = known[device].load()) > 0) {
        return cudaSuccess;
    }
    if (const cudaError_t status = cudaFuncSetAttribute(
            multiply_tiles<Leaf, Shape>, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::shared_bytes);
        status != cudaSuccess) {
        return status;
    }
    LaunchShape<Shape> shape(1, nullptr);
    const cudaError_t status = cudaOccupancyMaxActiveClusters(&count, multiply_tiles<Leaf, Shape>, &shape.config);
    if (status == cudaSuccess && device < kMostDevices) {
        known[device].store(count);
    }
    return status == cudaSuccess && count <= 0 ? cudaErrorInvalidConfiguration : status;
}

/// Was the kernel compiled for the device at hand, with Hopper's instructions?
template <class Leaf, class Shape = FlatTile>
cudaError_t is_compiled_for_hopper(bool& compiled) {
    cudaFuncAttributes attributes{};
    const cudaError_t status = cudaFuncGetAttributes(&attributes, multiply_tiles<Leaf, Shape>);
    // The real kernel has its barriers in shared memory; the one that stands in for it has nothing there.
    compiled = status == cudaSuccess && attributes.sharedSizeBytes > 0;
    return status;
}

}  // namespace
}  // namespace heptad::cuda

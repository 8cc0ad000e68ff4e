#include "kernels/cuda/residue/refused_replays.hpp"

#include <atomic>
#include <cstring>

#include "base/shared_state.hpp"
#include "kernels/cuda/device/status.hpp"

namespace heptad::cuda {
namespace {

constexpr int kMostDevices = 64;
constinit Guarded<std::uint32_t*> notes;  // null until a product was recorded

}  // namespace

std::uint32_t* refusal_note(int device) {
    const auto all = notes.lock();
    if (*all == nullptr) {
        constexpr std::size_t kBytes = kMostDevices * sizeof(std::uint32_t);
        void* memory = nullptr;
        check(cudaHostAlloc(&memory, kBytes, cudaHostAllocPortable | cudaHostAllocMapped), "allocate host memory");
        std::memset(memory, 0, kBytes);
        *all = static_cast<std::uint32_t*>(memory);
    }
    return *all + device % kMostDevices;
}

void raise_noted_refusal(int device) {
    const auto all = notes.lock();
    if (*all != nullptr && std::atomic_ref((*all)[device % kMostDevices]).exchange(0) != 0) {
        fail(ErrorCode::input,
             "an exact product of a recorded graph on cuda:{} met matrices that take more bits than its moduli hold, "
             "and its C is NaN; record it with accuracy strict. Nothing was done for the present call: repeat it",
             device);
    }
}

}  // namespace heptad::cuda

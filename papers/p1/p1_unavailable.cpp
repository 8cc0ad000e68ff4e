// P1's verbs of a build without CUDA: asking for the device says so.
#include "kernels/cuda/device/device.hpp"
#include "papers/p1/p1_verbs.hpp"

namespace heptad::cuda {

struct P1Verbs::State {};
P1Verbs::P1Verbs(int device, void*, P1Style) {
    require_device(device);
}
P1Verbs::~P1Verbs() = default;
void P1Verbs::add(const View&, double, const ConstView&, double, const ConstView&, double) {}
void P1Verbs::multiply(const ConstView&, const ConstView&, const View&) {}

}  // namespace heptad::cuda

// Where there is no nvcc: no device either, so nobody comes here.
#include "base/error.hpp"
#include "bench/suites/cublas_emulation.hpp"
#include "bench/suites/device_loop.hpp"
#include "bench/suites/pci_bus.hpp"

namespace heptad {
namespace {

[[noreturn]] void refuse() {
    fail(ErrorCode::internal, "this build has no code for devices");
}

}  // namespace

namespace cuda {

std::string pci_bus_id(int) {
    return "";
}

struct CublasEmulation::State {};
bool CublasEmulation::is_there() {
    return false;
}
CublasEmulation::CublasEmulation(int, void*, int, std::int64_t) {
    refuse();
}
CublasEmulation::~CublasEmulation() = default;
void CublasEmulation::multiply(const Product&) {}
int CublasEmulation::bits_used() {
    return 0;
}

}  // namespace cuda

namespace cli {

cuda::DeviceStatus launch_i64_loop(const cuda::DeviceMatrix&, const cuda::DeviceMatrix&, const cuda::DeviceMatrix&,
                                   cuda::StreamHandle) {
    refuse();
}

}  // namespace cli
}  // namespace heptad

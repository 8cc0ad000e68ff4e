// What programs above the library ask of this machine: its processor and libraries, its NVIDIA devices and their names.
#pragma once

#include "kernels/cpu/cpu_info.hpp"
#include "kernels/cpu/vendor_blas.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/device/device_list.hpp"
#include "product/device/device_product.hpp"

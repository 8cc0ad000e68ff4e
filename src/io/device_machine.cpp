#include "io/device_machine.hpp"

#include <algorithm>
#include <limits>

#include "base/embedded.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/fused/fused_product.hpp"

namespace heptad {
namespace {

/// Goes up when leaves or kernels change so much that old measurements mislead.
constexpr int kDeviceEdition = 9;

/// Name of the device, or empty where it cannot be used.
std::string device_name(const cuda::Report& report, int device) {
    const bool usable = report.available && device >= 0 && static_cast<std::size_t>(device) < report.devices.size();
    return usable ? report.devices[static_cast<std::size_t>(device)].name : "";
}

/// Nothing but the library and residues multiplies complex matrices on a device, so what was measured of real ones
/// decides where nobody measured complex ones: four real products of the library; by residues three products of bytes
/// beside conversions of twice the numbers, in as many launches (2.3 to 3.0 times the rest on an H200).
Machine with_complex_leaves(Machine machine) {
    constexpr double kOfLibrary = 4, kByResidues = 2.6;
    const std::vector<LeafProfile> measured = machine.leaves;
    if (std::any_of(measured.begin(), measured.end(), [](const LeafProfile& p) { return is_complex(p.type); })) {
        return machine;
    }
    for (LeafProfile profile : measured) {
        const bool by_residues = leaf_traits(profile.leaf).by_residues;
        const bool is_part = profile.type == Type::f32 || profile.type == Type::f64;
        if (!is_part || !(by_residues || leaf_traits(profile.leaf).is_whole_call)) {
            continue;
        }
        profile.type = profile.type == Type::f32 ? Type::c64 : Type::c128;
        double launches_s = by_residues ? std::numeric_limits<double>::infinity() : 0;
        for (const LeafSample& sample : profile.samples) {
            launches_s = std::min(launches_s, sample.seconds);
        }
        for (LeafSample& sample : profile.samples) {
            sample.seconds = launches_s + (by_residues ? kByResidues : kOfLibrary) * (sample.seconds - launches_s);
            sample.kernel.clear();
        }
        machine.leaves.push_back(std::move(profile));
    }
    return machine;
}

}  // namespace

Machine default_device_machine() {
    for (const EmbeddedFile& file : known_machine_files()) {
        if (file.file_name == "h200.json") {
            return with_complex_leaves(parse_machine(std::string(file.text)));
        }
    }
    fail(ErrorCode::internal, "machines/h200.json is not part of this library");
}

TuneFile device_tune_file(int device) {
    const cuda::Report& report = cuda::known_report();
    return tune_file_for(fmt::format("heptad device edition {}; {}; cuBLAS {}", kDeviceEdition,
                                     device_name(report, device), report.cublas),
                         "HEPTAD_DEVICE_TUNE_FILE");
}

Machine load_device_machine(int device, NamedFile missing) {
    const cuda::Report& report = cuda::known_report();
    const std::string name = device_name(report, device);
    if (!name.empty()) {
        const cuda::DeviceInfo& info = report.devices[static_cast<std::size_t>(device)];
        const std::vector<Machine> kept = read_machines(device_tune_file(device), missing);
        if (!kept.empty()) {
            Machine measured = with_complex_leaves(kept.front());
            measured.shared_bytes = info.shared_bytes;
            return measured;
        }
        Machine machine = with_shared_memory(default_device_machine(), info.shared_bytes);
        constexpr int kHopper = 9;  // whose kernel multiplies residues in the built-in figures; others must be measured
        if (info.major != kHopper) {
            std::erase_if(machine.leaves,
                          [](const LeafProfile& profile) { return leaf_traits(profile.leaf).by_residues; });
        }
        return machine;
    }
    return default_device_machine();
}

Machine with_shared_memory(Machine machine, int shared_bytes) {
    std::erase_if(machine.fused, [&](const FusedProfile& profile) {
        return !cuda::fused_tile_fits(profile.type, profile.tile, shared_bytes);
    });
    machine.shared_bytes = shared_bytes;
    return machine;
}

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

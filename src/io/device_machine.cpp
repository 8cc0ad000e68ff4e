#include "io/device_machine.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/embedded.hpp"
#include "base/error.hpp"
#include "base/shared_state.hpp"
#include "base/types.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/fused/fused_product.hpp"

namespace heptad {
namespace {

/// Goes up when leaves or kernels change so much that old measurements mislead.
constexpr int kDeviceEdition = 9;

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

std::string known_machine_text() {
    for (const EmbeddedFile& file : known_machine_files()) {
        if (file.file_name == "h200.json") {
            return std::string(file.text);
        }
    }
    fail(ErrorCode::internal, "machines/h200.json is not part of this library");
}

}  // namespace

Machine default_device_machine() {
    return with_complex_leaves(parse_machine(known_machine_text()));
}

const AssumedDevice& assumed_device() {
    static constinit Once<AssumedDevice> device;
    return device.get([] {
        const auto known = nlohmann::json::parse(known_machine_text()).at("device"), bits = known.at("bits");
        return AssumedDevice{known.at("name"),
                             known.at("memory_bytes"),
                             known.at("multiprocessors"),
                             known.at("link_bytes_per_s"),
                             known.at("transfer_bytes_per_s"),
                             known.at("locked_buffer_bytes_per_s"),
                             bits.at("leaf"),
                             bits.at("operations_per_s"),
                             bits.at("bytes_per_s"),
                             bits.at("launch_s")};
    });
}

TuneFile device_tune_file(int device) {
    const DeviceReport& report = cuda::known_report();
    const DeviceInfo* const info = report.find(device);
    return tune_file_for(fmt::format("heptad device edition {}; {}; cuBLAS {}", kDeviceEdition,
                                     info != nullptr ? info->name : "", report.cublas),
                         "HEPTAD_DEVICE_TUNE_FILE");
}

Machine load_device_machine(int device, NamedFile missing) {
    if (const DeviceInfo* const info = cuda::known_report().find(device)) {
        const std::vector<Machine> kept = read_machines(device_tune_file(device), missing);
        if (!kept.empty()) {
            Machine measured = with_complex_leaves(kept.front());
            measured.shared_bytes = info->shared_bytes;
            return measured;
        }
        Machine machine = with_shared_memory(default_device_machine(), info->shared_bytes);
        constexpr int kHopper = 9;  // whose kernel multiplies residues in the built-in figures; others must be measured
        if (info->major != kHopper) {
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

}  // namespace heptad

#include "kernels/cpu/vendor_blas.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <optional>
#include <system_error>
#include <thread>

#include "base/cores.hpp"
#include "base/error.hpp"
#include "base/free_memory.hpp"
#include "base/shared_state.hpp"
#include "kernels/cpu/vendor_blas_calls.hpp"
#include "kernels/cpu/vendor_blas_correction.hpp"

namespace heptad::cpu {
namespace {

#if defined(__x86_64__)
#define HEPTAD_DEBIAN_FOLDER "/usr/lib/x86_64-linux-gnu/"
#else
#define HEPTAD_DEBIAN_FOLDER "/usr/lib/aarch64-linux-gnu/"
#endif

constinit std::atomic<bool> may_correct{false};
constinit std::atomic<bool> may_load{true};

struct Loaded {
    std::optional<VendorLibrary> blas;
    std::string problem;
};

struct VendorFacts {
    const char* name;
    const char* variable;  // with a path, or "none"
    std::array<const char*, 6> files;
};

const VendorFacts& facts_of(Vendor vendor) {
    // OpenBLAS: the pthread build is safe to call from any thread. BLIS: the OpenMP build starts its threads faster.
    static constexpr std::array<VendorFacts, vendor_count> facts{
        {{"openblas",
          "HEPTAD_OPENBLAS",
          {HEPTAD_DEBIAN_FOLDER "openblas-pthread/libopenblas.so.0",
           HEPTAD_DEBIAN_FOLDER "openblas-openmp/libopenblas.so.0",
           HEPTAD_DEBIAN_FOLDER "openblas-serial/libopenblas.so.0", "libopenblasp.so.0", "libopenblas.so.0",
           "libopenblas.so"}},
         {"blis",
          "HEPTAD_BLIS",
          {HEPTAD_DEBIAN_FOLDER "blis-openmp/libblis.so.4", HEPTAD_DEBIAN_FOLDER "blis-pthread/libblis.so.4",
           HEPTAD_DEBIAN_FOLDER "blis-serial/libblis.so.4", "libblis-mt.so", "libblis.so.4", "libblis.so"}},
         {"mkl",
          "HEPTAD_MKL",
          {"libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so", "/opt/intel/oneapi/mkl/latest/lib/libmkl_rt.so.2",
           "/opt/intel/oneapi/mkl/latest/lib/intel64/libmkl_rt.so.2", "/opt/intel/mkl/lib/intel64/libmkl_rt.so"}}}};
    return facts[static_cast<std::size_t>(vendor)];
}

bool same_word(const std::string& x, const std::string& y) {
    return strcasecmp(x.c_str(), y.c_str()) == 0;
}

void search(Vendor vendor, Loaded& loaded) {
    const VendorFacts& facts = facts_of(vendor);
    VendorLibrary library;
    if (const std::int64_t left = free_address_bytes(), needed = reserved_address_bytes(); left < needed) {
        loaded.problem = fmt::format(
            "not used: the limit of address space leaves {} bytes, and libraries that find less than about {} end or "
            "hang; raise the limit (ulimit -v)",
            left, needed);
        return;
    }
    if (const char* path = std::getenv(facts.variable); path != nullptr && *path != '\0') {
        if (same_word(path, "none")) {
            loaded.problem = fmt::format("not used: {} is \"none\"", facts.variable);
            return;
        }
        const std::string problem = load_vendor_file(vendor, path, library);
        if (problem.empty()) {
            loaded.blas = library;
        } else {
            loaded.problem = fmt::format("{} names a library that cannot be used: {}", facts.variable, problem);
        }
        return;
    }
    for (const char* file : facts.files) {
        const std::string problem = load_vendor_file(vendor, file, library);
        if (problem.empty()) {
            loaded.blas = library;
            return;
        }
        // "No such file" is no news; anything else is.
        if (problem.find("No such file") == std::string::npos && loaded.problem.empty()) {
            loaded.problem = problem;
        }
    }
    if (loaded.problem.empty()) {
        loaded.problem = "not found";
    }
}

/// In a thread that may run wherever the process may: libraries count processors, and start threads that inherit the
/// affinity, when they are loaded, and the calling thread may be bound to a few.
void search_unbound(Vendor vendor, Loaded& loaded) {
    std::exception_ptr error;
    const auto run = [&](bool binds) {
        try {
            if (binds) {
                bind_thread(0, cpus_of(getpid()));
            }
            search(vendor, loaded);
        } catch (...) {
            error = std::current_exception();
        }
    };
    try {
        std::thread([&] { run(true); }).join();
    } catch (const std::system_error&) {
        run(false);  // there is no thread to be had
    }
    if (error) {
        std::rethrow_exception(error);
    }
}

const Loaded& load_once(Vendor vendor) {
    static constinit std::array<Once<Loaded>, vendor_count> all;
    if (vendor != Vendor::openblas) {
        load_once(Vendor::openblas);  // always first: see LibraryLoad
    }
    return all[static_cast<std::size_t>(vendor)].get([&] {
        Loaded loaded;
        if (!may_load.load()) {
            loaded.problem = "not used: this process has a BLAS of its own";
            return loaded;
        }
        const LibraryLoad load;
        if (barred_vendors[static_cast<std::size_t>(vendor)]) {
            loaded.problem = "not used: the process ends, or was forked while its parent was loading libraries";
            return loaded;
        }
        search_unbound(vendor, loaded);
        if (loaded.blas) {
            const VendorThreads here_only(*loaded.blas, 1);  // other threads come when they are asked for
            touch_packing_memory(*loaded.blas);
        }
        return loaded;
    });
}

}  // namespace

void allow_vendor_corrections() noexcept {
    may_correct.store(true);
}

void use_no_vendor_libraries() noexcept {
    may_load.store(false);
}

bool corrections_allowed() noexcept {
    return may_correct.load();
}

const char* vendor_name(Vendor vendor) noexcept {
    return facts_of(vendor).name;
}

const VendorLibrary* vendor_library(Vendor vendor) {
    const Loaded& loaded = load_once(vendor);
    return loaded.blas ? &*loaded.blas : nullptr;
}

std::string VendorReport::text() const {
    if (!found) {
        return problem;
    }
    std::string line = version;
    line += core.empty() ? "" : fmt::format(", {} kernels", core);
    line += fmt::format(" ({})", path);
    line += correction.empty() ? "" : fmt::format("; {}", correction);
    return line;
}

std::vector<VendorReport> vendor_reports() {
    std::vector<VendorReport> reports;
    for (const Vendor vendor : {Vendor::openblas, Vendor::blis, Vendor::mkl}) {
        const Loaded& loaded = load_once(vendor);
        VendorReport report{loaded.blas.value_or(VendorLibrary{}), loaded.blas.has_value(),
                            loaded.blas ? "" : loaded.problem};
        report.name = vendor_name(vendor);
        reports.push_back(report);
    }
    return reports;
}

}  // namespace heptad::cpu

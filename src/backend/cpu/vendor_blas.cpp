#include "backend/cpu/vendor_blas.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <vector>

#include "backend/cpu/vendor_blas_correction.hpp"
#include "backend/cpu/vendor_blas_memory.hpp"
#include "backend/cpu/vendor_blas_probe.hpp"
#include "base/error.hpp"

namespace heptad::cpu {
namespace {

#if defined(__x86_64__)
constexpr bool kMayPickPoorKernels = true;
#define HEPTAD_DEBIAN_FOLDER "/usr/lib/x86_64-linux-gnu/"
#else
constexpr bool kMayPickPoorKernels = false;
#define HEPTAD_DEBIAN_FOLDER "/usr/lib/aarch64-linux-gnu/"
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

struct Loaded {
    std::once_flag once;
    std::optional<VendorLibrary> blas;
    std::string problem;
};

struct VendorFacts {
    const char* name;
    const char* variable;  // with a path, or "none"
    std::vector<const char*> files;
};

const VendorFacts& facts_of(Vendor vendor) {
    // OpenBLAS: the pthread build is safe to call from any thread. BLIS: the OpenMP build starts its threads faster.
    static const std::array<VendorFacts, vendor_count> facts{
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

/// Symbols of one library must not mix with those of another: BLIS calls its own sgemm_ by name and would end up in a
/// BLAS the program was linked with (or in a drop-in of ours that calls it). Sanitizers do not allow that flag.
int open_flags() {
    const bool others = dlsym(RTLD_DEFAULT, "sgemm_") != nullptr || dlsym(RTLD_DEFAULT, "cblas_sgemm") != nullptr;
    return RTLD_NOW | RTLD_LOCAL | (others && !kSanitized ? RTLD_DEEPBIND : 0);
}

template <class Function>
Function symbol(void* handle, const char* name) {
    return reinterpret_cast<Function>(dlsym(handle, name));
}

std::string file_of(void* function, const char* otherwise) {
    Dl_info info;
    return dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : otherwise;
}

bool same_word(const std::string& x, const std::string& y) {
    return strcasecmp(x.c_str(), y.c_str()) == 0;
}

constexpr int kRowMajor = 101, kNoTranspose = 111;

/// 2 * 3 = 6 in both types, over a NaN that beta = 0 must not let through: whether the library works at all.
bool multiplies(CblasGemm<float> sgemm, CblasGemm<double> dgemm) {
    const float a = 2, b = 3;
    const double x = 2, y = 3;
    float c = std::numeric_limits<float>::quiet_NaN();
    double z = std::numeric_limits<double>::quiet_NaN();
    sgemm(kRowMajor, kNoTranspose, kNoTranspose, 1, 1, 1, 1, &a, 1, &b, 1, 0, &c, 1);
    dgemm(kRowMajor, kNoTranspose, kNoTranspose, 1, 1, 1, 1, &x, 1, &y, 1, 0, &z, 1);
    return c == 6 && z == 6;
}

/// The entry points common to all; false if they are not there.
bool bind_products(void* handle, const char* file, VendorLibrary& library) {
    library.sgemm = symbol<CblasGemm<float>>(handle, "cblas_sgemm");
    library.dgemm = symbol<CblasGemm<double>>(handle, "cblas_dgemm");
    if (library.sgemm == nullptr || library.dgemm == nullptr) {
        return false;
    }
    library.path = file_of(reinterpret_cast<void*>(library.sgemm), file);
    return true;
}

// ---------------------------------------------------------------- OpenBLAS

std::string openblas_core(void* handle) {
    const auto corename = symbol<char* (*)()>(handle, "openblas_get_corename");
    return corename != nullptr ? corename() : "";
}

/// The kernel OpenBLAS picks for itself when it is loaded with this OPENBLAS_CORETYPE (nullptr: none).
std::optional<std::string> openblas_pick(const char* file, const char* core_type) {
    return ask_child([&]() -> std::string {
        setenv("OPENBLAS_NUM_THREADS", "1", 1);  // no threads in the child
        core_type != nullptr ? setenv("OPENBLAS_CORETYPE", core_type, 1) : unsetenv("OPENBLAS_CORETYPE");
        void* handle = dlopen(file, open_flags());
        VendorLibrary probe;
        if (handle == nullptr || !bind_products(handle, file, probe) || !multiplies(probe.sgemm, probe.dgemm)) {
            fail(ErrorCode::resource, "{} does not work", file);
        }
        return openblas_core(handle);
    });
}

void* open_openblas(const char* file, VendorLibrary& library) {
    if (!kMayPickPoorKernels) {
        return dlopen(file, open_flags());
    }
    if (void* handle = dlopen(file, open_flags() | RTLD_NOLOAD)) {
        const std::string core = openblas_core(handle);
        const std::string better = better_openblas_core(cpu_info(), core);
        if (!better.empty()) {
            library.correction = fmt::format(
                "runs the slow {} kernel and was loaded before Heptad could correct it; start the program with "
                "OPENBLAS_CORETYPE={}",
                core, better);
        }
        return handle;
    }
    if (const char* set = std::getenv("OPENBLAS_CORETYPE")) {
        library.correction = fmt::format("left at OPENBLAS_CORETYPE={} as set in the environment", set);
        return dlopen(file, open_flags());
    }
    const std::string picked = openblas_pick(file, nullptr).value_or("");
    const std::string better = picked.empty() ? "" : better_openblas_core(cpu_info(), picked);
    if (better.empty()) {
        return dlopen(file, open_flags());
    }
    if (!same_word(openblas_pick(file, better.c_str()).value_or(""), better)) {
        library.correction =
            fmt::format("picked the slow {} kernel for itself and does not have the {} one", picked, better);
        return dlopen(file, open_flags());
    }
    library.correction = fmt::format("picked the slow {} kernel for itself; made to use {}", picked, better);
    const ScopedEnvironment core_type("OPENBLAS_CORETYPE", better.c_str());
    return dlopen(file, open_flags());
}

std::string load_openblas(const char* file, VendorLibrary& library) {
    void* handle = open_openblas(file, library);
    if (handle == nullptr) {
        return dlerror();
    }
    if (!bind_products(handle, file, library)) {
        return fmt::format("{} has no cblas_sgemm", file);
    }
    const auto config = symbol<char* (*)()>(handle, "openblas_get_config");
    const std::string text = config != nullptr ? config() : "OpenBLAS";
    if (text.find("USE64BITINT") != std::string::npos) {
        return fmt::format("{} takes 64-bit integers; Heptad needs the 32-bit build", library.path);
    }
    const std::size_t space = text.find(' ');
    library.version = space == std::string::npos ? "" : text.substr(space + 1, text.find(' ', space + 1) - space - 1);
    library.core = openblas_core(handle);
    library.get_threads = symbol<int (*)()>(handle, "openblas_get_num_threads");
    library.set_threads = symbol<void (*)(int)>(handle, "openblas_set_num_threads");
    const auto parallel = symbol<int (*)()>(handle, "openblas_get_parallel");
    if (library.get_threads == nullptr || (parallel != nullptr && parallel() == 0)) {
        library.set_threads = nullptr;
    }
    return "";
}

// ---------------------------------------------------------------- BLIS

struct BlisArchitecture {
    int (*query)() = nullptr;
    const char* (*name)(int) = nullptr;
    std::string current() const { return name(query()); }
};

/// The BLIS_ARCH_TYPE that makes this library pick `core`: its number, or its name. Empty: neither works.
std::string blis_word_for(const BlisArchitecture& arch, const VendorLibrary& library, const std::string& core) {
    const std::string number = ask_child([&]() -> std::string {
                                   for (int id = 0; id < 256; ++id) {
                                       const char* name = arch.name(id);  // may crash beyond the end of its table
                                       if (name != nullptr && core == name) {
                                           return std::to_string(id);
                                       }
                                   }
                                   fail(ErrorCode::resource, "no configuration {}", core);
                               }).value_or("");
    for (const std::string& word : {number, core}) {
        const auto picked = word.empty() ? std::nullopt : ask_child([&]() -> std::string {
            setenv("BLIS_ARCH_TYPE", word.c_str(), 1);
            return multiplies(library.sgemm, library.dgemm) ? arch.current() : "";
        });
        if (picked && *picked == core) {
            return word;
        }
    }
    return "";
}

/// Loading BLIS starts nothing; its first product reads BLIS_ARCH_TYPE and picks. That first product is made here, and
/// it must come before any question about the pick: asked earlier, BLIS 0.9 takes every BLIS_ARCH_TYPE for invalid.
/// Returns why the library cannot be used, or "".
std::string pick_blis_core(const BlisArchitecture& arch, VendorLibrary& library) {
    const auto pick = [&]() -> std::string {
        return multiplies(library.sgemm, library.dgemm) ? arch.current() : std::string();
    };
    const char* set = std::getenv("BLIS_ARCH_TYPE");
    if (kMayPickPoorKernels || set != nullptr) {
        const std::optional<std::string> picked = ask_child(pick);
        if (!picked) {
            return fmt::format("{} ends the process at its first product{}", library.path,
                               set != nullptr ? fmt::format(" with BLIS_ARCH_TYPE={}", set) : "");
        }
        const std::string better = set != nullptr ? "" : better_blis_core(cpu_info(), *picked);
        const std::string word = better.empty() ? "" : blis_word_for(arch, library, better);
        if (set != nullptr) {
            library.correction = fmt::format("left at BLIS_ARCH_TYPE={} as set in the environment", set);
        } else if (!word.empty()) {
            const ScopedEnvironment arch_type("BLIS_ARCH_TYPE", word.c_str());
            pick();
        }
        if (!better.empty()) {
            library.correction =
                pick() == better ? fmt::format("picked the slow {} kernel for itself; made to use {}", *picked, better)
                                 : fmt::format("runs the slow {} kernel and cannot be made to use {}", *picked, better);
        }
    }
    library.core = pick();
    return "";
}

std::string load_blis(const char* file, VendorLibrary& library) {
    void* handle = dlopen(file, open_flags());
    if (handle == nullptr) {
        return dlerror();
    }
    if (!bind_products(handle, file, library)) {
        return fmt::format("{} has no cblas_sgemm", file);
    }
    const auto int_bits = symbol<long (*)()>(handle, "bli_info_get_blas_int_type_size");
    if (int_bits != nullptr && int_bits() != 32) {
        return fmt::format("{} takes 64-bit integers; Heptad needs the 32-bit build", library.path);
    }
    const auto version = symbol<const char* (*)()>(handle, "bli_info_get_version_str");
    library.version = version != nullptr ? version() : "";
    const BlisArchitecture arch{symbol<int (*)()>(handle, "bli_arch_query_id"),
                                symbol<const char* (*)(int)>(handle, "bli_arch_string")};
    if (arch.query != nullptr && arch.name != nullptr) {
        if (std::string problem = pick_blis_core(arch, library); !problem.empty()) {
            return problem;
        }
    }
    // BLIS counts threads in 64 bits. Static, since it is loaded once per process.
    static long (*get)() = nullptr;
    static void (*set)(long) = nullptr;
    get = symbol<long (*)()>(handle, "bli_thread_get_num_threads");
    set = symbol<void (*)(long)>(handle, "bli_thread_set_num_threads");
    if (get != nullptr && set != nullptr) {
        library.get_threads = [] { return static_cast<int>(get()); };
        library.set_threads = [](int threads) { set(threads); };
        library.tell_every_thread = true;
        library.tiny_products_stay_single_threaded = library.get_threads() <= 1;
    }
    return "";
}

// ---------------------------------------------------------------- MKL

/// Opens MKL's single dynamic library with 32-bit integers. threading: MKL's number of a layer, -1 for its default.
/// It looks for its other files at the first product and ends the process where they are missing.
void* open_mkl(const char* file, int threading) {
    void* handle = dlopen(file, open_flags());
    if (handle == nullptr) {
        return nullptr;
    }
    constexpr int lp64 = 0;
    if (const auto set_interface = symbol<int (*)(int)>(handle, "MKL_Set_Interface_Layer")) {
        set_interface(lp64);
    }
    const auto set_threading = symbol<int (*)(int)>(handle, "MKL_Set_Threading_Layer");
    if (set_threading != nullptr && threading >= 0) {
        set_threading(threading);
    }
    return handle;
}

std::string load_mkl(const char* file, VendorLibrary& library) {
    if (const char* layer = std::getenv("MKL_INTERFACE_LAYER"); layer != nullptr && std::strstr(layer, "ILP64")) {
        return "MKL_INTERFACE_LAYER asks for 64-bit integers; Heptad needs LP64";
    }
    if (void* handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL)) {
        dlclose(handle);
    } else {
        return dlerror();
    }
    constexpr int own_default = -1, gnu = 3, sequential = 1;
    for (const int threading : {own_default, gnu, sequential}) {
        const auto works = ask_child([&]() -> std::string {
            void* handle = open_mkl(file, threading);
            VendorLibrary probe;
            const bool right =
                handle != nullptr && bind_products(handle, file, probe) && multiplies(probe.sgemm, probe.dgemm);
            return right ? "yes" : "no";
        });
        if (works != "yes") {
            continue;
        }
        void* handle = open_mkl(file, threading);
        if (handle == nullptr || !bind_products(handle, file, library)) {
            return fmt::format("{} has no cblas_sgemm", file);
        }
        if (threading != own_default) {
            library.correction = fmt::format("uses its {} threading layer; the default one does not load",
                                             threading == gnu ? "GNU" : "sequential");
        }
        if (const auto version = symbol<void (*)(char*, int)>(handle, "MKL_Get_Version_String")) {
            char text[200] = {};
            version(text, sizeof text - 1);
            library.version = text;
            while (!library.version.empty() && library.version.back() == ' ') {
                library.version.pop_back();
            }
        }
        library.set_threads_local = symbol<int (*)(int)>(handle, "MKL_Set_Num_Threads_Local");
        library.tiny_products_stay_single_threaded = false;
        return "";
    }
    return fmt::format("{} cannot multiply two numbers: its other files are missing", file);
}

// ---------------------------------------------------------------- the search

std::string load_file(Vendor vendor, const char* file, VendorLibrary& library) {
    library = VendorLibrary{};
    library.vendor = vendor;
    library.name = vendor_name(vendor);
    std::string problem = vendor == Vendor::openblas ? load_openblas(file, library)
                          : vendor == Vendor::blis   ? load_blis(file, library)
                                                     : load_mkl(file, library);
    if (problem.empty() && !multiplies(library.sgemm, library.dgemm)) {
        problem = fmt::format("{} does not compute 2 * 3 + 0 * NaN as BLAS defines it, 6", library.path);
    }
    return problem;
}

void search(Vendor vendor, Loaded& loaded) {
    const VendorFacts& facts = facts_of(vendor);
    VendorLibrary library;
    if (const char* path = std::getenv(facts.variable); path != nullptr && *path != '\0') {
        if (same_word(path, "none")) {
            loaded.problem = fmt::format("not used: {} is \"none\"", facts.variable);
            return;
        }
        const std::string problem = load_file(vendor, path, library);
        if (problem.empty()) {
            loaded.blas = library;
        } else {
            loaded.problem = fmt::format("{} names a library that cannot be used: {}", facts.variable, problem);
        }
        return;
    }
    for (const char* file : facts.files) {
        const std::string problem = load_file(vendor, file, library);
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

const Loaded& load_once(Vendor vendor) {
    // Never destroyed: products may still run in other threads while the process ends.
    static auto& all = *new std::array<Loaded, vendor_count>;
    Loaded& loaded = all[static_cast<std::size_t>(vendor)];
    std::call_once(loaded.once, [&] {
        search(vendor, loaded);
        if (loaded.blas) {
            const VendorThreads here_only(*loaded.blas, 1);  // other threads come when they are asked for
            touch_packing_memory(*loaded.blas);
        }
    });
    return loaded;
}

}  // namespace

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
        VendorReport report;
        report.name = vendor_name(vendor);
        report.found = loaded.blas.has_value();
        if (report.found) {
            report.version = loaded.blas->version;
            report.path = loaded.blas->path;
            report.core = loaded.blas->core;
            report.correction = loaded.blas->correction;
        } else {
            report.problem = loaded.problem;
        }
        reports.push_back(report);
    }
    return reports;
}

}  // namespace heptad::cpu

// How each library is opened, bound and, in programs of our own, made to use its right kernels.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>

#include "base/cores.hpp"
#include "base/fail_if.hpp"
#include "base/thread_pool.hpp"
#include "kernels/cpu/vendor_blas_correction.hpp"
#include "kernels/cpu/vendor_blas_probe.hpp"

namespace heptad::cpu {
namespace {

#if defined(__x86_64__)
constexpr bool kMayPickPoorKernels = true;
#else
constexpr bool kMayPickPoorKernels = false;
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
        fail_if(handle == nullptr || !bind_products(handle, file, probe) || !multiplies(probe.sgemm, probe.dgemm),
                ErrorCode::resource, "{} does not work", file);
        return openblas_core(handle);
    });
}

/// In somebody else's process a poor kernel stays, and the library is left alone.
void leave_slow_openblas(VendorLibrary& library, const std::string& better) {
    library.is_slow = true;
    library.best_core = better;
    library.correction = fmt::format(
        "runs the slow {} kernel and is not used; start the program with OPENBLAS_CORETYPE={}", library.core, better);
}

/// OpenBLAS starts its threads when it is loaded, one for every processor, and ends the process where it cannot.
bool can_start_its_threads() {
    const int wanted = cpus_of(0).count() - 1;
    return startable_threads(wanted) == wanted;
}

/// In a program of ours: makes OpenBLAS pick the right kernel, which it does when it is loaded.
void* open_corrected_openblas(const char* file, VendorLibrary& library) {
    const std::string picked = openblas_pick(file, nullptr).value_or("");
    const std::string better = picked.empty() ? "" : better_openblas_core(cpu_info(), picked);
    if (better.empty()) {
        return dlopen(file, open_flags());
    }
    if (strcasecmp(openblas_pick(file, better.c_str()).value_or("").c_str(), better.c_str()) != 0) {
        library.correction = fmt::format("chose the slow {} kernel and does not have the {} one", picked, better);
        return dlopen(file, open_flags());
    }
    library.correction = fmt::format("chose the slow {} kernel; switched to {}", picked, better);
    const ScopedEnvironment core_type("OPENBLAS_CORETYPE", better.c_str());
    return dlopen(file, open_flags());
}

std::string load_openblas(const char* file, VendorLibrary& library) {
    void* handle = dlopen(file, open_flags() | RTLD_NOLOAD);
    const char* const set = std::getenv("OPENBLAS_CORETYPE");
    const bool may_correct = kMayPickPoorKernels && corrections_allowed() && handle == nullptr && set == nullptr;
    if (handle == nullptr) {
        if ((std::strchr(file, '/') == nullptr || access(file, F_OK) == 0) && !can_start_its_threads()) {
            return fmt::format("{} would start a thread for every processor, which the system does not allow now",
                               file);
        }
        handle = may_correct ? open_corrected_openblas(file, library) : dlopen(file, open_flags());
    }
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
    library.core = library.best_core = openblas_core(handle);
    const std::string better = kMayPickPoorKernels ? better_openblas_core(cpu_info(), library.core) : "";
    if (set != nullptr) {
        library.correction = fmt::format("left at OPENBLAS_CORETYPE={} as set in the environment", set);
    } else if (!better.empty() && !may_correct) {
        leave_slow_openblas(library, better);
    }
    library.get_threads = symbol<int (*)()>(handle, "openblas_get_num_threads");
    library.set_threads = symbol<void (*)(int)>(handle, "openblas_set_num_threads");
    const auto parallel = symbol<int (*)()>(handle, "openblas_get_parallel");
    constexpr int serial = 0, with_pthreads = 1;
    if (library.get_threads == nullptr || (parallel != nullptr && parallel() == serial)) {
        library.set_threads = nullptr;
    } else {
        library.started_threads = library.get_threads();
    }
    library.threads_survive_fork = parallel != nullptr && parallel() == with_pthreads;
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
    if (!corrections_allowed()) {
        if (set != nullptr) {
            return fmt::format("{} is not used with BLIS_ARCH_TYPE={}: it ends the process where that does not suit it",
                               library.path, set);
        }
        library.core = library.best_core = pick();
        const std::string better = kMayPickPoorKernels ? better_blis_core(cpu_info(), library.core) : "";
        if (!better.empty()) {
            library.is_slow = true;
            library.best_core = better;
            library.correction = fmt::format("runs the slow {} kernel and is not used", library.core);
        }
        return "";
    }
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
                pick() == better ? fmt::format("chose the slow {} kernel; switched to {}", *picked, better)
                                 : fmt::format("runs the slow {} kernel and cannot be switched to {}", *picked, better);
        }
    }
    library.core = library.best_core = pick();
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

constexpr int own_default = -1, gnu = 3, sequential = 1;

bool mkl_works_in_child(const char* file, int threading) {
    return ask_child([&]() -> std::string {
               void* handle = open_mkl(file, threading);
               VendorLibrary probe;
               const bool right =
                   handle != nullptr && bind_products(handle, file, probe) && multiplies(probe.sgemm, probe.dgemm);
               return right ? "yes" : "no";
           }) == "yes";
}

/// Whether all files are beside MKL's router that it opens for a product: what a child process is asked elsewhere.
bool mkl_is_complete(void* router, int threading) {
    const std::string path = file_of(dlsym(router, "cblas_sgemm"), "");
    const std::size_t slash = path.rfind('/'), suffix = path.find(".so");
    if (slash == std::string::npos || suffix == std::string::npos) {
        return false;
    }
    const auto is_there = [&](const char* name) {
        return access((path.substr(0, slash + 1) + name + path.substr(suffix)).c_str(), R_OK) == 0;
    };
    const char* const layer = threading == own_default ? "libmkl_intel_thread"
                              : threading == gnu       ? "libmkl_gnu_thread"
                                                       : "libmkl_sequential";
    const char* const runtime = threading == own_default ? "libiomp5.so" : "libgomp.so.1";
    const bool has_runtime = threading == sequential || dlopen(runtime, RTLD_LAZY | RTLD_LOCAL) != nullptr;
    return has_runtime && is_there(layer) && is_there("libmkl_core") && is_there("libmkl_intel_lp64") &&
           is_there("libmkl_def") && is_there("libmkl_avx2") && is_there("libmkl_avx512");
}

std::string load_mkl(const char* file, VendorLibrary& library) {
    if (const char* layer = std::getenv("MKL_INTERFACE_LAYER"); layer != nullptr && std::strstr(layer, "ILP64")) {
        return "MKL_INTERFACE_LAYER asks for 64-bit integers; Heptad needs LP64";
    }
    void* const router = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (router == nullptr) {
        return dlerror();
    }
    for (const int threading : {own_default, gnu, sequential}) {
        if (!(corrections_allowed() ? mkl_works_in_child(file, threading) : mkl_is_complete(router, threading))) {
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

}  // namespace

std::string load_vendor_file(Vendor vendor, const char* file, VendorLibrary& library) {
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

}  // namespace heptad::cpu

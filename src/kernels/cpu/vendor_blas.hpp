// The BLAS libraries of this machine, opened at run time: OpenBLAS, BLIS and MKL. Heptad links none of them and works
// where none is there.
//
// Each library is looked for once per process, on first use, in this order: the path in HEPTAD_OPENBLAS, HEPTAD_BLIS or
// HEPTAD_MKL ("none": do not use it), the usual folders of Debian and Intel, the dynamic linker's path. Libraries with
// 64-bit integers are passed over.
//
// Some libraries pick a poor kernel silently. vendor_blas_correction.hpp says how that is found, and put right where
// this process is ours; elsewhere such a library is not used. The result is told in `core`, `correction` and
// vendor_reports().
#pragma once

#include <string>
#include <vector>

namespace heptad::cpu {

enum class Vendor : unsigned char { openblas, blis, mkl };
inline constexpr int vendor_count = 3;

/// "openblas", "blis", "mkl".
const char* vendor_name(Vendor vendor) noexcept;

/// The two C entry points, 32-bit integers. Layout 101 is row-major, transpose 111 none and 112 transposed.
template <class T>
using CblasGemm = void (*)(int layout, int transpose_a, int transpose_b, int m, int n, int k, T alpha, const T* a,
                           int lda, const T* b, int ldb, T beta, T* c, int ldc);

struct VendorLibrary {
    Vendor vendor = Vendor::openblas;
    std::string name;        // "openblas"
    std::string version;     // "0.3.21"
    std::string path;        // the file that was loaded
    std::string core;        // the kernel family it runs with: "SkylakeX", "skx", "neoversev1"; empty: it does not say
    std::string correction;  // what was put right, or why it could not be; empty: nothing to put right
    std::string best_core;   // the kernel family it ought to run with; the same as `core` where all is well
    CblasGemm<float> sgemm = nullptr;
    CblasGemm<double> dgemm = nullptr;
    /// A tiny product outside of a VendorThreads guard does not start threads.
    bool tiny_products_stay_single_threaded = true;
    /// The setting may belong to the calling thread (MKL, BLIS from 2.0 on): whoever runs a task must say it again.
    bool tell_every_thread = false;
    int started_threads = 1;  // OpenBLAS: as many as it has had since it was loaded
    /// Its own threads can be used in the child of a fork.
    bool threads_survive_fork = false;
    /// Runs a kernel below what the processor is able to, which could not be put right here: no leaf for anybody.
    bool is_slow = false;
    int (*get_threads)() = nullptr;
    void (*set_threads)(int) = nullptr;
    /// MKL: for the calling thread only; returns what a later call must be given to restore the setting.
    int (*set_threads_local)(int) = nullptr;
};

/// For programs of our own, before anything else is called: libraries may be tried in child processes, and environment
/// variables set for the moment in which a library reads them. In somebody else's process neither is done.
void allow_vendor_corrections() noexcept;

/// For a process that has its own BLAS and calls us in its place: none is ever loaded beside it, and our kernel does
/// everything. Before anything else is called.
void use_no_vendor_libraries() noexcept;

/// The library, or nullptr if this machine has none that works. Thread safe; the first call loads it.
const VendorLibrary* vendor_library(Vendor vendor);

/// What `heptad info` prints about one library, found or not.
struct VendorReport : VendorLibrary {
    bool found = false;
    std::string problem;  // why it was not found or not used
    std::string text() const;
};
std::vector<VendorReport> vendor_reports();

/// Holds a library at `threads` threads of its own while it lives, and puts the old setting back when the last holder
/// is gone, since others in this process (NumPy) may use the same library.
///
/// The rule: any number of single-threaded holders at a time, or one that uses the vendor's threads. Who wants what
/// cannot be had now waits, and who comes after him waits behind him; so a product that wants the vendor's threads
/// never changes the setting below running single-threaded leaves, is not starved by them, and two such products do not
/// fight for the cores. No holder may wait for another guard while it holds one (the backend takes one guard per call
/// and calls nothing but the library under it).
class VendorThreads {
public:
    VendorThreads(const VendorLibrary& library, int threads);
    ~VendorThreads();
    VendorThreads(const VendorThreads&) = delete;
    VendorThreads& operator=(const VendorThreads&) = delete;

private:
    const VendorLibrary& library_;
    int threads_;
    bool is_alone_ = false;   // came in without standing in line
    int setting_before_ = 0;  // then
};

/// Whether products may be given to the library now. Not in the child of a fork that came while another thread was
/// inside it, nor where it would start threads that the system does not give: libraries then end the process.
bool may_use_vendor(const VendorLibrary& library);

/// Whether such a product may use so many threads of the library's own. Not in the child of a fork, unless the library
/// knows of forks.
bool may_use_vendor_threads(const VendorLibrary& library, int threads);

/// To be held while a library is being loaded: knows of forks that happen meanwhile, and watches those after.
class LibraryLoad {
public:
    LibraryLoad();
    ~LibraryLoad();
    LibraryLoad(const LibraryLoad&) = delete;
    LibraryLoad& operator=(const LibraryLoad&) = delete;
};

}  // namespace heptad::cpu

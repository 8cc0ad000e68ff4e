#include "kernels/cpu/cpu_backend.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "base/cancel_scope.hpp"
#include "base/error.hpp"
#include "base/shared_state.hpp"
#include "base/size.hpp"
#include "base/view_copy.hpp"
#include "kernels/cpu/cpu_backend_blas.hpp"
#include "kernels/cpu/cpu_backend_tiles.hpp"
#include "kernels/cpu/cpu_info.hpp"
#include "kernels/cpu/cpu_kernels.hpp"
#include "kernels/reference/reference_backend.hpp"

namespace heptad::cpu {
namespace {

/// The numbers that leaf_id() gives out.
enum Leaf : int { automatic, openblas, blis, mkl, own, openblas_mt, blis_mt, mkl_mt, leaf_count };
constexpr std::array<const char*, leaf_count> kLeafNames{"",       "openblas",    "blis",    "mkl",
                                                         "heptad", "openblas-mt", "blis-mt", "mkl-mt"};

bool has_vendor_threads(int leaf) {
    return leaf >= openblas_mt;
}

/// The libraries by leaf, looked up once.
struct Libraries {
    std::array<const VendorLibrary*, leaf_count> of{};
    Leaf best = own;  // for f32 and f64, by default knowledge

    Libraries() {
        of[openblas] = of[openblas_mt] = usable(Vendor::openblas);
        of[blis] = of[blis_mt] = usable(Vendor::blis);
        of[mkl] = of[mkl_mt] = usable(Vendor::mkl);
        for (const Leaf leaf : preference()) {
            if (of[static_cast<std::size_t>(leaf)] != nullptr) {
                best = leaf;
                break;
            }
        }
    }

    static const VendorLibrary* usable(Vendor vendor) {
        const VendorLibrary* const library = vendor_library(vendor);
        return library != nullptr && library->is_slow ? nullptr : library;
    }

    /// MKL leads on Intel and throttles elsewhere. OpenBLAS has better kernels for small sizes than BLIS, and BLIS has
    /// only a generic kernel for newer Arm cores.
    static std::array<Leaf, 3> preference() {
        if (cpu_info().vendor == "GenuineIntel") {
            return {mkl, openblas, blis};
        }
        return {openblas, blis, mkl};
    }
};

const Libraries& libraries() {
    static constinit Once<Libraries> all;
    return all.get([] { return Libraries(); });
}

bool is_blas_type(Type type) {
    return type == Type::f32 || type == Type::f64;
}

[[noreturn]] void refuse_leaf(const std::string& leaf, Type type, const std::vector<std::string>& known) {
    fail(ErrorCode::usage, "the leaf '{}' cannot multiply {} here; leaves for it are {}", leaf, type_name(type),
         fmt::join(known, ", "));
}

/// The library of a leaf for a type; nullptr is our own kernel.
const VendorLibrary* library_for(int leaf, Type type) {
    if (!is_blas_type(type)) {
        if (leaf != automatic && leaf != own) {
            refuse_leaf(kLeafNames[static_cast<std::size_t>(leaf)], type, {"heptad"});
        }
        return nullptr;
    }
    const Libraries& all = libraries();
    return all.of[static_cast<std::size_t>(leaf == automatic ? all.best : leaf)];
}

/// alpha as the type's arithmetic sees it is zero, or there is nothing to sum: A and B are not to be read.
bool has_no_terms(const Product& p) {
    switch (p.c.type) {
        case Type::f64:
            return p.alpha == 0 || p.a.cols == 0;
        case Type::f32:
        case Type::tf32:
        case Type::bf16:
        case Type::f16:
            return static_cast<float>(p.alpha) == 0 || p.a.cols == 0;
        default:
            return p.a.cols == 0;  // i32, i64, gf2: a residue may be zero; our kernel and the plain loops look at it
    }
}

/// A few rows or columns, as they are peeled off for levels. Libraries add up all of k one by one there: positive
/// numbers had 67 u in the peeled-off row at k = 8193, and 7 u everywhere else.
bool is_long_and_thin(const Product& p) {
    constexpr std::int64_t kFew = 8, kLong = 512;
    return is_blas_type(p.a.type) && std::min(p.c.rows, p.c.cols) < kFew && p.a.cols >= kLong;
}

/// One tile by our kernel, or by plain loops for gf2 and boolean, which it does not know. And where a thread finds no
/// memory to pack in, when C, whose old values count, may be written in part: slowly is better than never.
void multiply_by_own_kernel(const Product& p) {
    if (gemm_supports(p.a.type)) {
        try {
            return gemm(p);
        } catch (const Error& error) {  // before it has written anything
            if (p.beta == 0 || error.code() != ErrorCode::resource) {
                throw;
            }
        }
    }
    ReferenceBackend().multiply({&p, 1}, "");
}

void multiply_tile(const VendorLibrary* library, const Product& p) {
    if (has_no_terms(p)) {
        scale_view(p.beta, p.c);
    } else if (library == nullptr || !multiply_by_blas(*library, p)) {
        multiply_by_own_kernel(p);
    }
}

void stop_if_cancelled(const CancelToken* cancel) {
    if (cancel != nullptr && cancel->cancelled()) {
        throw Error(ErrorCode::cancelled, "the product was cancelled; C is undefined");
    }
}

/// Rows of a view, or columns where those are the adjacent ones, in bands of about `bytes`.
struct Bands {
    bool by_rows = true;
    std::int64_t thickness = 1, count = 0, total = 0;

    Bands(const ConstView& v, std::int64_t bytes) {
        by_rows = v.cols <= 1 || (v.rows > 1 && std::abs(v.row_stride) >= std::abs(v.col_stride));
        total = by_rows ? v.rows : v.cols;
        const std::int64_t length = by_rows ? v.cols : v.rows;
        const std::int64_t line_bytes = length * static_cast<std::int64_t>(element_bytes(v.type));
        thickness = std::max<std::int64_t>(1, bytes / std::max<std::int64_t>(1, line_bytes));
        count = ceil_div(total, thickness);
    }

    template <class AnyKindOfView>
    AnyKindOfView of(const AnyKindOfView& v, std::int64_t band) const {
        const std::int64_t first = band * thickness;
        const std::int64_t here = std::min(thickness, total - first);
        return by_rows ? block(v, first, 0, here, v.cols) : block(v, 0, first, v.rows, here);
    }
};

constexpr std::int64_t kBandBytes = 256 << 10;       // a few tens of microseconds of memory traffic
constexpr std::int64_t kSmallPassBytes = 128 << 10;  // below this a second thread comes too late

std::int64_t traffic_bytes(const CombinePass& pass) {
    std::int64_t slots = 0;
    for (const View& slot : pass.slots) {
        slots += slot.data != nullptr ? 1 : 0;
    }
    const View& first = pass.slots.front();
    return slots * first.rows * first.cols * static_cast<std::int64_t>(element_bytes(first.type));
}

}  // namespace

CpuBackend::CpuBackend(ThreadPool& pool) : pool_(pool), residues_(pool) {}

int CpuBackend::leaf_id(const std::string& leaf) {
    for (int id = 0; id < leaf_count; ++id) {
        if (leaf == kLeafNames[static_cast<std::size_t>(id)]) {
            if (id != automatic && id != own && libraries().of[static_cast<std::size_t>(id)] == nullptr) {
                const int vendor = id < own ? id - openblas : id - openblas_mt;
                const VendorReport report = vendor_reports()[static_cast<std::size_t>(vendor)];
                fail(ErrorCode::usage, "the leaf '{}' cannot be used here ({}: {}); 'heptad' is always there", leaf,
                     report.name, report.text());
            }
            return id;
        }
    }
    fail(ErrorCode::usage, "there is no leaf '{}'; leaves are openblas, blis, mkl (each also with -mt) and heptad",
         leaf);
}

std::vector<std::string> CpuBackend::leaves(Type type) const {
    std::vector<std::string> names;
    if (is_blas_type(type)) {
        const auto preference = Libraries::preference();
        for (const int offset : {0, openblas_mt - openblas}) {
            for (const Leaf leaf : preference) {
                const int id = leaf + offset;
                const VendorLibrary* library = libraries().of[static_cast<std::size_t>(id)];
                const bool threaded = library != nullptr && (library->set_threads || library->set_threads_local);
                if (library != nullptr && (offset == 0 || threaded)) {
                    names.emplace_back(kLeafNames[static_cast<std::size_t>(id)]);
                }
            }
        }
    }
    names.emplace_back("heptad");
    return names;
}

void CpuBackend::multiply_one_small(const Product& product, int leaf) const {
    if (product.c.rows == 0 || product.c.cols == 0) {
        return;
    }
    const VendorLibrary* library = library_for(leaf, product.a.type);
    if (library == nullptr || library->tiny_products_stay_single_threaded) {
        multiply_tile(library, product);
    } else {
        const VendorThreads guard(*library, 1);
        const VendorThreadsHere here(*library, 1);
        multiply_tile(library, product);
    }
}

void CpuBackend::multiply(std::span<const Product> batch, const std::string& leaf) {
    multiply(batch, std::any_of(batch.begin(), batch.end(), is_long_and_thin) ? own : leaf_id(leaf));
}

void CpuBackend::multiply(std::span<const Product> batch, int leaf) {
    if (batch.empty()) {
        return;
    }
    if (batch.size() == 1 && is_small(batch[0].c.rows, batch[0].a.cols, batch[0].c.cols)) {
        return multiply_one_small(batch[0], leaf);
    }
    const CancelToken* const cancel = CancelScope::here();
    const auto multiply_tiles = [&](const VendorLibrary* library, std::span<const Product> products) {
        const BatchTiles tiles(products, pool_.threads());
        pool_.run(tiles.count(), [&](std::int64_t i) {
            stop_if_cancelled(cancel);
            std::optional<VendorThreadsHere> here;
            if (library != nullptr) {
                here.emplace(*library, 1);
            }
            multiply_tile(library, tiles.tile(i));
        });
    };
    const VendorLibrary* library = library_for(leaf, batch[0].a.type);
    if (library == nullptr || !may_use_vendor(*library)) {
        return multiply_tiles(nullptr, batch);
    }
    // No more threads of the library's than there are cores: its barriers spin.
    const int vendor_threads = has_vendor_threads(leaf) ? std::min(pool_.threads(), available_cores()) : 1;
    if (!has_vendor_threads(leaf) || !may_use_vendor_threads(*library, vendor_threads)) {
        const VendorThreads guard(*library, 1);
        return multiply_tiles(library, batch);
    }
    for (const Product& product : batch) {
        if (product.c.rows == 0 || product.c.cols == 0) {
            continue;
        }
        stop_if_cancelled(cancel);
        bool done = false;
        if (!has_no_terms(product)) {
            const VendorThreads guard(*library, vendor_threads);
            const VendorThreadsHere here(*library, vendor_threads);
            done = multiply_by_blas(*library, product);
        }
        if (!done) {
            multiply_tiles(nullptr, {&product, 1});
        }
    }
}

void CpuBackend::combine(const CombinePass& pass) {
    if (pass.slots.empty() || pass.statements.empty()) {
        return;
    }
    const std::int64_t bytes = traffic_bytes(pass);
    if (pool_.threads() == 1 || bytes <= kSmallPassBytes) {
        return cpu::combine(pass);
    }
    // At least 8 tasks per thread where they are not too small: the cores are not equally fast.
    const std::int64_t task_bytes =
        std::clamp<std::int64_t>(bytes / (std::int64_t{8} * pool_.threads()), kSmallPassBytes / 2, 512 << 10);
    const CombineTasks tasks(pass, task_bytes);
    const CancelToken* const cancel = CancelScope::here();
    pool_.run(tasks.count(), [&](std::int64_t i) {
        stop_if_cancelled(cancel);
        tasks.run(i);
    });
}

ScanResult CpuBackend::scan(const ConstView& view) {
    // A few bands for each thread: their columns are merged in the end.
    const std::int64_t bytes = view.rows * view.cols * static_cast<std::int64_t>(element_bytes(view.type));
    const Bands bands(view, std::max(kBandBytes, bytes / (std::int64_t{4} * pool_.threads())));
    if (bands.count <= 1) {
        return scan_view(view);
    }
    std::vector<ScanResult> parts(static_cast<std::size_t>(bands.count));
    pool_.run(bands.count, [&](std::int64_t i) { parts[static_cast<std::size_t>(i)] = scan_view(bands.of(view, i)); });
    return merge_scans(parts, bands.by_rows);
}

void CpuBackend::share(std::int64_t parts, const std::function<void(std::int64_t)>& work) {
    pool_.run(parts, work);
}

void CpuBackend::copy(const ConstView& from, const View& to) {
    const Bands bands(to, kBandBytes);
    pool_.run(bands.count, [&](std::int64_t i) { copy_view(bands.of(from, i), bands.of(to, i)); });
}

}  // namespace heptad::cpu

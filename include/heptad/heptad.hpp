// Heptad: matrix products with fewer multiplications.
//
//   C = alpha * A * B + beta * C        A is m x k, B is k x n, C is m x n
//
// This header is the whole C++ interface. It needs nothing but the standard library of C++20.
#pragma once

#if __cplusplus < 202002L
#error "heptad needs C++20: compile with -std=c++20 or later, or use the C interface, heptad/heptad.h"
#endif

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#if defined(__GNUC__)
#define HEPTAD_API __attribute__((visibility("default")))
#else
#define HEPTAD_API
#endif

namespace heptad {

// ---------------------------------------------------------------- element types

/// `tf32` is f32 data with products rounded as tensor cores do; `i32` is the ring of integers mod 2^32,
/// and `i64` mod 2^64; `c64` and `c128` are complex numbers, pairs of f32 and of f64; `gf2` the field of two elements
/// and `boolean` the (OR, AND) semiring, both one byte (0 or 1) per element.
enum class Type : std::uint8_t { f64, f32, tf32, bf16, f16, i32, gf2, boolean, i64, c64, c128 };

/// Storage of the two 16-bit float types and of one GF(2) element. Plain bits, no arithmetic.
struct bf16 {
    std::uint16_t bits;
};
struct f16 {
    std::uint16_t bits;
};
struct gf2 {
    std::uint8_t value;
};

template <class T>
struct TypeOf;
template <>
struct TypeOf<double> {
    static constexpr Type value = Type::f64;
};
template <>
struct TypeOf<float> {
    static constexpr Type value = Type::f32;
};
template <>
struct TypeOf<bf16> {
    static constexpr Type value = Type::bf16;
};
template <>
struct TypeOf<f16> {
    static constexpr Type value = Type::f16;
};
template <>
struct TypeOf<std::int32_t> {
    static constexpr Type value = Type::i32;
};
template <>
struct TypeOf<std::int64_t> {
    static constexpr Type value = Type::i64;
};
template <>
struct TypeOf<std::complex<float>> {
    static constexpr Type value = Type::c64;
};
template <>
struct TypeOf<std::complex<double>> {
    static constexpr Type value = Type::c128;
};
template <>
struct TypeOf<gf2> {
    static constexpr Type value = Type::gf2;
};
template <>
struct TypeOf<bool> {
    static constexpr Type value = Type::boolean;
};

HEPTAD_API const char* type_name(Type type) noexcept;
/// Throws Error(usage) with a list of the known names.
HEPTAD_API Type type_from_name(const std::string& name);
HEPTAD_API std::size_t element_bytes(Type type) noexcept;

// ---------------------------------------------------------------- errors

/// The numbers are the exit codes of the command line.
enum class ErrorCode : int {
    internal = 1,
    usage = 2,         // an invalid argument
    input = 3,         // data that is invalid or does not match
    resource = 4,      // memory, disk or device ran out
    verification = 5,  // the result was checked and is wrong
    cancelled = 130,   // the caller's cancel token was set
};

/// What every function of the library throws: a message that names the value, the limit and the way out.
class HEPTAD_API Error : public std::runtime_error {
public:
    Error(ErrorCode code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
    ErrorCode code() const noexcept { return code_; }

private:
    ErrorCode code_;
};

// ---------------------------------------------------------------- views

/// A window on memory that belongs to someone else: element (i, j) is data[i * row_stride + j * col_stride].
template <class T>
struct MatrixView {
    T* data = nullptr;
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::int64_t row_stride = 0;
    std::int64_t col_stride = 0;

    static MatrixView row_major(T* data, std::int64_t rows, std::int64_t cols) { return {data, rows, cols, cols, 1}; }
    static MatrixView row_major(T* data, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
        return {data, rows, cols, stride, 1};
    }
    static MatrixView column_major(T* data, std::int64_t rows, std::int64_t cols) {
        return {data, rows, cols, 1, rows};
    }
    static MatrixView column_major(T* data, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
        return {data, rows, cols, 1, stride};
    }

    T& operator()(std::int64_t i, std::int64_t j) const { return data[i * row_stride + j * col_stride]; }
    MatrixView transposed() const { return {data, cols, rows, col_stride, row_stride}; }
    MatrixView block(std::int64_t row, std::int64_t col, std::int64_t row_count, std::int64_t col_count) const {
        return {data + row * row_stride + col * col_stride, row_count, col_count, row_stride, col_stride};
    }
    operator MatrixView<const T>() const requires(!std::is_const_v<T>) {
        return {data, rows, cols, row_stride, col_stride};
    }
};

// ---------------------------------------------------------------- options

/// How much accuracy a float product may trade for speed.
enum class Accuracy : std::uint8_t {
    strict,    // errors relative to (|A||B|)_ij, as a classical product has them
    balanced,  // relative to row i of A and column j of B, usually within ten times the classical product's
    fast,      // relative to the largest entries; as many levels as save time
    exact,  // the exact product, rounded once: the same bits everywhere, or an error that says why it is not possible
};

/// Products over several devices, or of matrices too large for one: how the host cuts them up (docs/devices.md).
struct HostOptions {
    /// Maximum bytes on each device, and for buffers of the host in addition to the matrices.
    std::int64_t device_memory_bytes = std::numeric_limits<std::int64_t>::max();
    std::int64_t host_memory_bytes = std::numeric_limits<std::int64_t>::max();
    int levels = -1;                 ///< levels at the host; 0: segments of C, each a classical product; -1: automatic
    std::string algorithm = "auto";  ///< of those levels: a name from the catalogue
    int pipelines = 0;               ///< per device; 0: automatic
};

struct Options {
    std::string algorithm = "auto";  ///< a name from the catalogue, or "auto"
    int levels = -1;                 ///< -1: automatic; 0 and up: exactly this many, where the sizes allow it
    Accuracy accuracy = Accuracy::balanced;
    /// "auto", "cpu", "reference", "cuda", "cuda:1"; several devices: "cuda:0,1", or "cpu:4" for four cores as devices.
    /// auto: where the matrices are; from host memory to an NVIDIA device if that is predicted to be clearly faster
    std::string device = "auto";
    std::string leaf = "auto";  ///< "auto", or a leaf of this machine: "openblas", "blis", "mkl", "heptad"
    /// Mode of the levels: "auto", "serial" (little memory), "parallel", or "fused" (devices): the innermost level
    /// inside the kernel, without any memory, and parallel levels above it
    std::string mode = "auto";
    bool accumulate = false;  ///< for plan(): beta will not be zero; multiply() looks at beta itself
    /// A and B may be used as scratch where that saves workspace. Their contents are then lost, even after an error or
    /// a cancelled product, although the views are const: set this only for writable memory. Plans that use it say
    /// overwrite-inputs=yes and always overwrite A and B; no other plan does. A NaN, an infinity or a possible overflow
    /// still gives the classical result. A and B that overlap are never overwritten.
    bool overwrite_inputs = false;
    /// Maximum bytes of scratch memory for the product; 0 means none (then the product is classical, unless A and
    /// B may be overwritten or the device has kernels with sums inside). In any case products stay within a share of
    /// the free memory, within the limits of cgroups and the process (docs/process.md).
    std::int64_t workspace_limit_bytes = std::numeric_limits<std::int64_t>::max();
    HostOptions host = {};
};

/// Called from time to time by the calling thread during a long product.
struct Progress {
    double fraction = 0;  ///< 0 to 1, by predicted work
    const char* stage = "";
};
using ProgressCallback = std::function<void(const Progress&)>;

/// Any thread, or a signal handler, may set it. The product then ends with Error(cancelled) and C is undefined. So does
/// every later product, until reset() is called.
class HEPTAD_API CancelToken {
public:
    CancelToken();
    void cancel() const noexcept;
    void reset() const noexcept;
    bool cancelled() const noexcept;

private:
    std::shared_ptr<void> flag_;
};

// ---------------------------------------------------------------- plans

struct ProblemSize {
    std::int64_t m = 0, k = 0, n = 0;
};

/// What Heptad decided for a product. It prints as text that parses back; multiply() carries it out.
/// A plan that was moved from is empty: using it throws Error(usage) until another is assigned.
class HEPTAD_API Plan {
public:
    Plan();
    ~Plan();
    Plan(const Plan&);
    Plan& operator=(const Plan&);
    Plan(Plan&&) noexcept;
    Plan& operator=(Plan&&) noexcept;

    static Plan parse(const std::string& text);
    std::string to_string() const;
    ProblemSize size() const;
    Type type() const;
    int levels() const;                    ///< including those of a host that feeds devices
    std::int64_t workspace_bytes() const;  ///< for a host that feeds devices: its buffers
    double predicted_s() const;
    /// Bound on max|C - computed| / (max|A| * max|B|) for floats; 0 for exact types.
    double error_bound() const;

    struct Impl;
    const Impl& impl() const;
    explicit Plan(std::unique_ptr<Impl> impl);

private:
    std::unique_ptr<Impl> impl_;
};

/// Threads, device, scratch memory and callbacks for a series of products. Cheap to copy; copies share their state.
class HEPTAD_API Context {
public:
    Context();
    Context& set_threads(int threads);  ///< 0: HEPTAD_THREADS, OMP_NUM_THREADS, or all available cores
    /// The device of products whose options say "auto": a name as in Options. Setting "auto" undoes it.
    Context& set_device(const std::string& device);
    /// Use the caller's scratch memory and no other. It must not overlap A, B and C, or the gaps between their rows.
    Context& set_workspace(void* memory, std::int64_t bytes);
    /// Products on a device are enqueued on this stream (a cudaStream_t; null is its default stream). A workspace is
    /// device memory then. With a workspace of at least the plan's bytes, the stream may be captured into a graph.
    Context& set_stream(void* stream);
    Context& set_progress(ProgressCallback callback);
    Context& set_cancel(CancelToken token);
    /// Frees the scratch memory that is kept between products, in host memory and on devices. All contexts of the
    /// process share it; running products keep theirs.
    static void release() noexcept;
    int threads() const;
    /// The device that was set, or "auto".
    std::string device() const;

    struct Impl;
    const Impl* impl() const { return impl_.get(); }

private:
    std::shared_ptr<Impl> impl_;  // null: all defaults
};

/// What multiply() would do. Transposes and strides do not change the plan.
HEPTAD_API Plan plan(ProblemSize size, Type type, const Options& options = {}, const Context& context = {});

/// How multiply() would cut up a product of matrices in host memory and share it among the devices of the options, such
/// as "cuda:0,1" or "cpu:4". Needs no device: without one, it uses the figures of an H200.
HEPTAD_API Plan plan_over_devices(ProblemSize size, Type type, const Options& options, const Context& context = {});

// ---------------------------------------------------------------- products

/// Views whose element type is known only at run time.
struct ConstAnyView {
    const void* data = nullptr;
    Type type = Type::f32;
    std::int64_t rows = 0, cols = 0, row_stride = 0, col_stride = 0;
    bool conjugate = false;  ///< for complex types: use the conjugates of the elements
    ConstAnyView() = default;
    ConstAnyView(const void* d, Type t, std::int64_t r, std::int64_t c, std::int64_t rs, std::int64_t cs)
        : data(d), type(t), rows(r), cols(c), row_stride(rs), col_stride(cs) {}
    template <class T>
    ConstAnyView(const MatrixView<T>& v)
        : ConstAnyView(v.data, TypeOf<std::remove_const_t<T>>::value, v.rows, v.cols, v.row_stride, v.col_stride) {}
};
/// conjugated(a.transposed()) is the conjugate transpose of a. Real numbers do not change.
inline ConstAnyView conjugated(ConstAnyView view) {
    view.conjugate = !view.conjugate;
    return view;
}
struct AnyView {
    void* data = nullptr;
    Type type = Type::f32;
    std::int64_t rows = 0, cols = 0, row_stride = 0, col_stride = 0;
    AnyView() = default;
    AnyView(void* d, Type t, std::int64_t r, std::int64_t c, std::int64_t rs, std::int64_t cs)
        : data(d), type(t), rows(r), cols(c), row_stride(rs), col_stride(cs) {}
    template <class T>
    requires(!std::is_const_v<T>) AnyView(const MatrixView<T>& v)
        : AnyView(v.data, TypeOf<T>::value, v.rows, v.cols, v.row_stride, v.col_stride) {}
    operator ConstAnyView() const { return {data, type, rows, cols, row_stride, col_stride}; }
};

/// C = alpha * A * B + beta * C. beta = 0: C is not read. alpha = 0 or k = 0: A and B are not read.
/// A, B and C have one element type, or C is f32 where A and B are bf16 or f16 (then the product has no levels).
/// C must not overlap A or B.
HEPTAD_API void multiply(double alpha, const ConstAnyView& a, const ConstAnyView& b, double beta, const AnyView& c,
                         const Options& options = {}, const Context& context = {});

/// The same with complex factors, for matrices of c64 or c128; A and B may be conjugated views. Such a product is built
/// from real ones: see docs/accuracy.md.
HEPTAD_API void multiply(std::complex<double> alpha, const ConstAnyView& a, const ConstAnyView& b,
                         std::complex<double> beta, const AnyView& c, const Options& options = {},
                         const Context& context = {});

/// The same, by the given plan. Throws Error(usage) if the plan is for other sizes or another type, or not for matrices
/// in memory: heptad/files.hpp and `heptad-mpi` carry out plans for files and for a cluster.
HEPTAD_API void multiply(double alpha, const ConstAnyView& a, const ConstAnyView& b, double beta, const AnyView& c,
                         const Plan& plan, const Context& context = {});

/// `count` products in one call: the matrices of product i begin i * stride elements after `a`, `b` and `c`. A stride
/// of zero for A or B means one matrix for all; no C may overlap another C, nor any A or B. On a device that is a
/// single call of the library if the product has no levels.
HEPTAD_API void multiply_strided_batch(double alpha, const ConstAnyView& a, std::int64_t stride_a,
                                       const ConstAnyView& b, std::int64_t stride_b, double beta, const AnyView& c,
                                       std::int64_t stride_c, std::int64_t count, const Options& options = {},
                                       const Context& context = {});

/// C = A * B.
template <class TA, class TB, class TC>
void multiply(const MatrixView<TA>& a, const MatrixView<TB>& b, const MatrixView<TC>& c, const Options& options = {},
              const Context& context = {}) {
    multiply(1.0, ConstAnyView(a), ConstAnyView(b), 0.0, AnyView(c), options, context);
}

HEPTAD_API const char* version() noexcept;

}  // namespace heptad

/* Heptad for C: matrix products with fewer multiplications.
 *
 *   C = alpha * A * B + beta * C        A is m x k, B is k x n, C is m x n
 *
 * Every function returns a status; heptad_last_error() is the sentence of the calling thread's last failure. */
#ifndef HEPTAD_H
#define HEPTAD_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define HEPTAD_C_API __attribute__((visibility("default")))
#else
#define HEPTAD_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are the exit codes of the command line. */
typedef enum heptad_status {
    HEPTAD_OK = 0,
    HEPTAD_INTERNAL = 1,
    HEPTAD_USAGE = 2,
    HEPTAD_INPUT = 3,
    HEPTAD_RESOURCE = 4,
    HEPTAD_VERIFICATION = 5,
    HEPTAD_CANCELLED = 130
} heptad_status;

typedef enum heptad_type {
    HEPTAD_F64 = 0,
    HEPTAD_F32 = 1,
    HEPTAD_TF32 = 2,
    HEPTAD_BF16 = 3,
    HEPTAD_F16 = 4,
    HEPTAD_I32 = 5,
    HEPTAD_GF2 = 6,
    HEPTAD_BOOL = 7,
    HEPTAD_I64 = 8,
    HEPTAD_C64 = 9,  /* complex numbers: pairs of f32, */
    HEPTAD_C128 = 10 /* and of f64 */
} heptad_type;

typedef enum heptad_accuracy {
    HEPTAD_STRICT = 0,
    HEPTAD_BALANCED = 1,
    HEPTAD_FAST = 2,
    HEPTAD_EXACT = 3
} heptad_accuracy;

/* Element (i, j) is data[i * row_stride + j * col_stride]. */
typedef struct heptad_matrix {
    void* data;
    int64_t rows, cols;
    int64_t row_stride, col_stride;
} heptad_matrix;
typedef struct heptad_const_matrix {
    const void* data;
    int64_t rows, cols;
    int64_t row_stride, col_stride;
} heptad_const_matrix;

/* heptad_options_init sets the defaults; a null pointer stands for them. Strings need to live as long as the call. */
typedef struct heptad_options {
    size_t size;           /* bytes of this struct in the caller's header; later headers may have more fields */
    const char* algorithm; /* "auto" or a name from the catalogue */
    int levels;            /* -1: automatic */
    heptad_accuracy accuracy;
    const char* device;            /* "auto", "cpu", "reference", "cuda", "cuda:1"; several: "cuda:0,1", "cpu:4" */
    const char* leaf;              /* "auto" */
    const char* mode;              /* "auto", "serial", "parallel", "fused" */
    int accumulate;                /* for heptad_plan_create: beta will not be zero */
    int64_t workspace_limit_bytes; /* INT64_MAX: limited by free memory; 0: none */
    int overwrite_inputs;          /* not 0: A and B may be used as scratch where that saves workspace. Their contents
                                      are lost then, although the views are const. Set it only for writable memory.
                                      A and B that overlap are never overwritten. */
} heptad_options;

typedef struct heptad_context heptad_context; /* threads, device and scratch memory for a series of products */
typedef struct heptad_plan heptad_plan;       /* what Heptad decided for a product */

HEPTAD_C_API void heptad_options_init(heptad_options* options);
/* The same for a struct of `size` bytes. Programs call this one, so it fills only the fields that their header has. */
HEPTAD_C_API void heptad_options_init_size(heptad_options* options, size_t size);
#define heptad_options_init(options) heptad_options_init_size((options), sizeof(heptad_options))

HEPTAD_C_API heptad_status heptad_context_create(heptad_context** context);
HEPTAD_C_API void heptad_context_destroy(heptad_context* context);
HEPTAD_C_API heptad_status heptad_context_set_threads(heptad_context* context, int threads);
/* The device of products whose options say "auto"; setting "auto" undoes it. */
HEPTAD_C_API heptad_status heptad_context_set_device(heptad_context* context, const char* device);
/* The memory must not overlap A, B and C, or the gaps between their rows. */
HEPTAD_C_API heptad_status heptad_context_set_workspace(heptad_context* context, void* memory, int64_t bytes);
/* Products on a device are enqueued on this stream (a cudaStream_t; null is its default stream). A workspace is device
   memory then. */
HEPTAD_C_API heptad_status heptad_context_set_stream(heptad_context* context, void* stream);
/* Called from time to time by the thread that multiplies, with the fraction of the predicted work done; null: never. */
typedef void (*heptad_progress)(double fraction, const char* stage, void* user);
HEPTAD_C_API heptad_status heptad_context_set_progress(heptad_context* context, heptad_progress progress, void* user);
/* Frees the scratch memory that the process keeps between products, for all contexts. The context may be null. */
HEPTAD_C_API void heptad_context_release(heptad_context* context);
/* Any thread, or a signal handler, may call this while a product runs with this context. */
HEPTAD_C_API void heptad_context_cancel(heptad_context* context);
/* Lets products run with this context again. Until then, each one ends with HEPTAD_CANCELLED. */
HEPTAD_C_API void heptad_context_reset_cancel(heptad_context* context);

HEPTAD_C_API heptad_status heptad_plan_create(heptad_plan** plan, int64_t m, int64_t k, int64_t n, heptad_type type,
                                              const heptad_options* options, const heptad_context* context);
HEPTAD_C_API heptad_status heptad_plan_parse(heptad_plan** plan, const char* text);
HEPTAD_C_API void heptad_plan_destroy(heptad_plan* plan);
/* The text lives as long as the plan. */
HEPTAD_C_API const char* heptad_plan_text(const heptad_plan* plan);
HEPTAD_C_API int heptad_plan_levels(const heptad_plan* plan);
HEPTAD_C_API int64_t heptad_plan_workspace_bytes(const heptad_plan* plan);
HEPTAD_C_API double heptad_plan_predicted_s(const heptad_plan* plan);
HEPTAD_C_API double heptad_plan_error_bound(const heptad_plan* plan);

/* context and options may be null. */
HEPTAD_C_API heptad_status heptad_multiply(heptad_type type, double alpha, heptad_const_matrix a, heptad_const_matrix b,
                                           double beta, heptad_matrix c, const heptad_options* options,
                                           const heptad_context* context);
/* The same for HEPTAD_C64 or HEPTAD_C128 with complex factors, real part first. conjugate_a, conjugate_b: if not 0, use
   the conjugates of the elements. */
HEPTAD_C_API heptad_status heptad_multiply_complex(heptad_type type, const double alpha[2], heptad_const_matrix a,
                                                   int conjugate_a, heptad_const_matrix b, int conjugate_b,
                                                   const double beta[2], heptad_matrix c, const heptad_options* options,
                                                   const heptad_context* context);
HEPTAD_C_API heptad_status heptad_multiply_with_plan(heptad_type type, double alpha, heptad_const_matrix a,
                                                     heptad_const_matrix b, double beta, heptad_matrix c,
                                                     const heptad_plan* plan, const heptad_context* context);

/* A and B are bf16 or f16, as `type` says. C is f32. */
HEPTAD_C_API heptad_status heptad_multiply_into_f32(heptad_type type, double alpha, heptad_const_matrix a,
                                                    heptad_const_matrix b, double beta, heptad_matrix c,
                                                    const heptad_options* options, const heptad_context* context);
/* `count` products: the matrices of product i begin i * stride elements after a, b and c. A stride of 0 for A or B
   means one matrix for all; no C may overlap another C, nor any A or B. */
HEPTAD_C_API heptad_status heptad_multiply_strided_batch(heptad_type type, double alpha, heptad_const_matrix a,
                                                         int64_t stride_a, heptad_const_matrix b, int64_t stride_b,
                                                         double beta, heptad_matrix c, int64_t stride_c, int64_t count,
                                                         const heptad_options* options, const heptad_context* context);

/* Packed bit matrices over GF(2) (HEPTAD_GF2: XOR of ANDs) and for booleans (HEPTAD_BOOL: OR of ANDs). A row is a run
   of 64-bit words; column j is bit (offset + j) % 64 of word (offset + j) / 64, the lowest bit first. Bits outside
   the columns of a view are neither read nor written. */
typedef struct heptad_bits {
    uint64_t* words;
    int64_t rows, cols;
    int64_t stride; /* words from one row to the next */
    int offset;     /* the bit of words[0] that holds column 0: 0 to 63 */
} heptad_bits;
typedef struct heptad_const_bits {
    const uint64_t* words;
    int64_t rows, cols;
    int64_t stride;
    int offset;
} heptad_const_bits;

typedef struct heptad_bit_matrix heptad_bit_matrix; /* owns its words; its rows start at multiples of 64 bytes */

/* All zero. */
HEPTAD_C_API heptad_status heptad_bit_matrix_create(heptad_bit_matrix** matrix, int64_t rows, int64_t cols);
HEPTAD_C_API void heptad_bit_matrix_destroy(heptad_bit_matrix* matrix);
/* A view of the whole matrix, which must outlive it. For a null pointer: a view of 0 x 0 bits. */
HEPTAD_C_API heptad_bits heptad_bit_matrix_view(heptad_bit_matrix* matrix);
HEPTAD_C_API heptad_const_bits heptad_bit_matrix_const_view(const heptad_bit_matrix* matrix);

/* to = from, and to = the transpose of from. Either may be your own words. They must not overlap. */
HEPTAD_C_API heptad_status heptad_bits_copy(heptad_const_bits from, heptad_bits to);
HEPTAD_C_API heptad_status heptad_bits_transpose(heptad_const_bits from, heptad_bits to);
HEPTAD_C_API heptad_status heptad_bits_count_ones(heptad_const_bits a, int64_t* ones);

/* C = A * B; accumulate not 0: C ^= A * B over GF(2), C |= A * B for booleans. C must not overlap A or B. Of the
   options only algorithm ("auto", "classical", "winograd", "self-inverse", "chaining"), levels, leaf and device count.
   For an NVIDIA device ("cuda") the matrices may be in host memory or there. If the context has a workspace, nothing
   else is used, or HEPTAD_RESOURCE names the bytes needed; powers and closures allocate their own memory. */
HEPTAD_C_API heptad_status heptad_bits_multiply(heptad_type algebra, heptad_const_bits a, heptad_const_bits b,
                                                heptad_bits c, int accumulate, const heptad_options* options,
                                                const heptad_context* context);
/* power = A^exponent for a square matrix A. Both may be the same memory. */
HEPTAD_C_API heptad_status heptad_bits_power(heptad_type algebra, heptad_const_bits a, int64_t exponent,
                                             heptad_bits power, const heptad_options* options,
                                             const heptad_context* context);
/* Bit (i, j) of closure: is there a path of one or more edges from i to j? Both may be the same memory. */
HEPTAD_C_API heptad_status heptad_bits_closure(heptad_const_bits graph, heptad_bits closure,
                                               const heptad_context* context);
/* The same on the device of the options. Of the other options only leaf is used. */
HEPTAD_C_API heptad_status heptad_bits_closure_with(heptad_const_bits graph, heptad_bits closure,
                                                    const heptad_options* options, const heptad_context* context);

HEPTAD_C_API const char* heptad_status_string(heptad_status status);
HEPTAD_C_API const char* heptad_last_error(void);
HEPTAD_C_API const char* heptad_version(void);

#ifdef __cplusplus
}
#endif

#endif

// What this module uses of XLA's interface for foreign functions, as C lays it out: a call, its buffers and attributes,
// and three functions of the runtime. Declared here because jaxlib, which ships the header (xla/ffi/api/c_api.h), is
// not there when a wheel is built. Versions 0.1 to 0.4 have this layout (jaxlib 0.5.3, 0.7.2, 0.10.2 and 0.11.2 were
// tried); structs tell their size, and later versions append. tests/python/test_jax.py compares every offset with the
// header of the jaxlib that is installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heptad::python::xla {

constexpr int kMajorVersion = 0, kMinorVersion = 3;

struct Extension {
    std::size_t struct_size;
    int type;
    Extension* next;
};
constexpr int kMetadataExtension = 1;

struct Version {
    std::size_t struct_size;
    Extension* extensions;
    int major_version, minor_version;
};

struct Metadata {  // and more, of handlers with a state
    std::size_t struct_size;
    Version version;
    std::uint32_t traits;
};
struct MetadataExtension {
    Extension base;
    Metadata* metadata;
};

struct Error;
enum class ErrorKind : int { invalid_argument = 3, resource_exhausted = 8, unimplemented = 12, internal = 13 };
struct ErrorArguments {
    std::size_t struct_size;
    Extension* extensions;
    const char* message;
    ErrorKind kind;
};

struct Context;
struct StreamArguments {
    std::size_t struct_size;
    Extension* extensions;
    Context* context;
    void* stream;  // out
};
struct OrdinalArguments {
    std::size_t struct_size;
    Extension* extensions;
    Context* context;
    std::int32_t ordinal;  // out
};

struct Runtime {
    std::size_t struct_size;
    Extension* extensions;
    Version version;
    const void* internal;
    Error* (*create_error)(ErrorArguments*);
    void* unused_1[3];
    Error* (*get_stream)(StreamArguments*);
    void* unused_2[12];
    Error* (*get_ordinal)(OrdinalArguments*);  // of the device, in later versions
};

enum class DataType : int { i32 = 4, f16 = 10, f32 = 11, f64 = 12, bf16 = 16 };
struct Buffer {
    std::size_t struct_size;
    Extension* extensions;
    DataType type;
    void* data;
    std::int64_t rank;
    std::int64_t* sizes;
};

constexpr int kBuffer = 1;
constexpr int kScalarAttribute = 3, kStringAttribute = 4;
struct Text {
    const char* data;
    std::size_t size;
};
struct Scalar {
    DataType type;
    void* value;
};

struct Buffers {
    std::size_t struct_size;
    Extension* extensions;
    std::int64_t size;
    int* types;
    void** buffers;
};
struct Attributes {
    std::size_t struct_size;
    Extension* extensions;
    std::int64_t size;
    int* types;
    Text** names;
    void** values;
};

enum class Stage : int { instantiate = 0, prepare = 1, initialize = 2, execute = 3 };
struct Call {
    std::size_t struct_size;
    Extension* extensions;
    const Runtime* runtime;
    Context* context;
    Stage stage;
    Buffers arguments, results;
    Attributes attributes;
};

}  // namespace heptad::python::xla

// The product as a foreign function of XLA, which JAX registers (heptad/jax.py): C = A * B of row-major buffers, stacks
// of matrices among them, in host memory or on the stream of an NVIDIA device. XLA calls it without Python.
#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include <nanobind/nanobind.h>

#include "module.hpp"
#include "python_options.hpp"
#include "xla_call.hpp"

namespace nb = nanobind;

namespace heptad::python {
namespace {

/// What JAX names capsules with a handler.
constexpr const char* kCapsule = "xla._CUSTOM_CALL_TARGET";

Type type_of(xla::DataType type) {
    switch (type) {
        case xla::DataType::f64:
            return Type::f64;
        case xla::DataType::f32:
            return Type::f32;
        case xla::DataType::f16:
            return Type::f16;
        case xla::DataType::bf16:
            return Type::bf16;
        case xla::DataType::i32:
            return Type::i32;
    }
    throw Error(ErrorCode::usage,
                "heptad multiplies arrays of float64, float32, float16, bfloat16 and int32, not of XLA's type " +
                    std::to_string(static_cast<int>(type)) + "; convert them");
}

const xla::Buffer& buffer(const xla::Buffers& given, std::int64_t index) {
    if (index >= given.size || given.types[index] != xla::kBuffer) {
        throw Error(ErrorCode::internal, "XLA passed something else than two arrays and one for the result");
    }
    return *static_cast<const xla::Buffer*>(given.buffers[index]);
}

Options options_of_call(const xla::Call& call) {
    std::string accuracy = "balanced", algorithm = "auto";
    int levels = -1;
    for (std::int64_t i = 0; i < call.attributes.size; ++i) {
        const std::string_view name(call.attributes.names[i]->data, call.attributes.names[i]->size);
        const int type = call.attributes.types[i];
        if (type == xla::kStringAttribute && (name == "accuracy" || name == "algorithm")) {
            const auto& text = *static_cast<const xla::Text*>(call.attributes.values[i]);
            (name == "accuracy" ? accuracy : algorithm).assign(text.data, text.size);
        } else if (type == xla::kScalarAttribute && name == "levels") {
            const auto& scalar = *static_cast<const xla::Scalar*>(call.attributes.values[i]);
            std::int32_t value = -1;
            if (scalar.type != xla::DataType::i32) {
                throw Error(ErrorCode::usage, "levels is not an int32; call the function through heptad.jax");
            }
            std::memcpy(&value, scalar.value, sizeof value);
            levels = value;
        } else {
            throw Error(ErrorCode::usage, "heptad_product has no attribute '" + std::string(name) + "'");
        }
    }
    return options_of(accuracy, algorithm, levels, "cpu", -1);
}

/// The stream of the call, and in the options the device that it belongs to.
Context on_device(const xla::Call& call, Options& options) {
    const auto check = [](const xla::Error* error) {  // which cannot be destroyed here: this never happens twice
        if (error != nullptr) {
            throw Error(ErrorCode::internal, "XLA does not name the stream of the product");
        }
    };
    const xla::Runtime& runtime = *call.runtime;
    int ordinal = 0;
    if (runtime.struct_size >= offsetof(xla::Runtime, get_ordinal) + sizeof(runtime.get_ordinal)) {
        xla::OrdinalArguments asked{sizeof(xla::OrdinalArguments), nullptr, call.context, 0};
        check(runtime.get_ordinal(&asked));
        ordinal = asked.ordinal;
    }
    options.device = "cuda:" + std::to_string(ordinal);
    xla::StreamArguments asked{sizeof(xla::StreamArguments), nullptr, call.context, nullptr};
    check(runtime.get_stream(&asked));
    Context context;
    context.set_stream(asked.stream);
    return context;
}

void multiply_buffers(const xla::Call& call, bool device) {
    const xla::Buffer &a = buffer(call.arguments, 0), &b = buffer(call.arguments, 1), &c = buffer(call.results, 0);
    const std::int64_t rank = c.rank;
    if (a.type != b.type || a.type != c.type || rank < 2 || a.rank != rank || b.rank != rank) {
        throw Error(ErrorCode::usage, "heptad_product takes arrays of one type and rank; call it through heptad.jax");
    }
    std::int64_t count = 1;
    for (std::int64_t i = 0; i < rank - 2; ++i) {
        if (a.sizes[i] != c.sizes[i] || b.sizes[i] != c.sizes[i]) {
            throw Error(ErrorCode::usage, "the arrays are stacks of different shapes; broadcast them first");
        }
        count *= c.sizes[i];
    }
    const Type type = type_of(a.type);
    const std::int64_t m = c.sizes[rank - 2], n = c.sizes[rank - 1], k = a.sizes[rank - 1];
    const auto view = [type](const xla::Buffer& given) {
        const std::int64_t cols = given.sizes[given.rank - 1];
        return AnyView(given.data, type, given.sizes[given.rank - 2], cols, cols > 0 ? cols : 1, 1);
    };
    Options options = options_of_call(call);
    const Context context = device ? on_device(call, options) : Context();
    if (count == 1) {
        multiply(1, view(a), view(b), 0, view(c), options, context);
    } else {
        multiply_strided_batch(1, view(a), m * k, view(b), k * n, 0, view(c), m * n, count, options, context);
    }
}

xla::ErrorKind kind_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::usage:
        case ErrorCode::input:
            return xla::ErrorKind::invalid_argument;
        case ErrorCode::resource:
            return xla::ErrorKind::resource_exhausted;
        default:
            return xla::ErrorKind::internal;
    }
}

xla::Error* failure(const xla::Call& call, xla::ErrorKind kind, const char* sentence) {
    xla::ErrorArguments arguments{sizeof(xla::ErrorArguments), nullptr, sentence, kind};
    return call.runtime->create_error(&arguments);
}

/// Asked on registration: the version that this was written for, or the runtime's where that is older. The first ones
/// do not tell theirs.
xla::Error* tell_version(const xla::Call& call) {
    const int runtime = call.runtime == nullptr ? 1 : call.runtime->version.minor_version;
    xla::Metadata& metadata = *reinterpret_cast<xla::MetadataExtension*>(call.extensions)->metadata;
    metadata.version = {offsetof(xla::Version, minor_version) + sizeof(int), nullptr, xla::kMajorVersion,
                        std::min(runtime, xla::kMinorVersion)};
    metadata.traits = 0;
    return nullptr;
}

xla::Error* answer(xla::Call* call, bool device) noexcept {
    if (call->extensions != nullptr && call->extensions->type == xla::kMetadataExtension) {
        return tell_version(*call);
    }
    try {
        if (call->stage != xla::Stage::execute) {
            return failure(*call, xla::ErrorKind::unimplemented, "heptad_product has no stage but that of execution");
        }
        multiply_buffers(*call, device);
        return nullptr;
    } catch (const Error& error) {
        return failure(*call, kind_of(error.code()), error.what());
    } catch (const std::bad_alloc&) {
        return failure(*call, xla::ErrorKind::resource_exhausted, "memory ran out");
    } catch (const std::exception& error) {
        return failure(*call, xla::ErrorKind::internal, error.what());
    }
}

extern "C" {
xla::Error* heptad_xla_product_on_host(xla::Call* call) {
    return answer(call, false);
}
xla::Error* heptad_xla_product_on_device(xla::Call* call) {
    return answer(call, true);
}
}

}  // namespace

void bind_jax(nb::module_& module) {
    module.def(
        "xla_handler",
        [](bool device) {
            auto* const handler = device ? &heptad_xla_product_on_device : &heptad_xla_product_on_host;
            return nb::capsule(reinterpret_cast<const void*>(handler), kCapsule);
        },
        nb::arg("device"));
}

}  // namespace heptad::python

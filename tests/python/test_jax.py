"""heptad.jax.matmul, where JAX is installed: shapes, jit, grad, vmap, failures; and the layout of XLA's interface."""

import pathlib
import shutil
import subprocess

import heptad
import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy
import heptad.jax  # noqa: E402

SHAPES = [
    ((3, 4), (4, 5)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((4,), (4,)),
    ((2, 3, 4), (4, 5)),
    ((3, 4), (6, 4, 5)),
    ((2, 1, 3, 4), (6, 4, 2)),
    ((0, 4), (4, 5)),
    ((3, 0), (0, 5)),
    ((130, 67), (67, 129)),
]


def numbers(shape, dtype=np.float32, seed=1):
    return jnp.asarray(np.random.default_rng(seed).integers(-3, 4, shape)).astype(dtype)


@pytest.mark.parametrize("a_shape, b_shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, jnp.bfloat16, np.int32])
def test_shapes_and_types_equal_jax(a_shape, b_shape, dtype):
    a, b = numbers(a_shape, dtype), numbers(b_shape, dtype, 2)
    for function in (heptad.jax.matmul, jax.jit(heptad.jax.matmul)):
        found, expected = function(a, b), jnp.matmul(a, b)
        assert found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_array_equal(np.asarray(found, np.float64), np.asarray(expected, np.float64))


def test_float64_where_jax_has_it():
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        a, b = numbers((30, 40), np.float64), numbers((40, 50), np.float64, 2)
        assert a.dtype == np.float64
        np.testing.assert_array_equal(heptad.jax.matmul(a, b), np.asarray(a) @ np.asarray(b))


def test_levels_can_be_forced():
    a, b = numbers((37, 53)), numbers((53, 41), seed=2)
    for levels in (0, 1, 2):
        np.testing.assert_array_equal(heptad.jax.matmul(a, b, algorithm="strassen", levels=levels), np.asarray(a) @ np.asarray(b))


def test_gradients_equal_those_of_jax():
    for a_shape, b_shape in (((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((4,), (2, 4, 5)), ((3, 4), (4,))):
        a, b = numbers(a_shape), numbers(b_shape, seed=2)
        weight = numbers(jnp.matmul(a, b).shape, seed=3)

        def loss(product, a=a, b=b, weight=weight):
            return jax.jit(jax.grad(lambda x, y: (product(x, y) * weight).sum(), argnums=(0, 1)))(a, b)

        for found, expected in zip(loss(heptad.jax.matmul), loss(jnp.matmul)):
            np.testing.assert_array_equal(found, expected)


def test_vmap():
    a, b = numbers((6, 3, 4)), numbers((4, 5), seed=2)
    np.testing.assert_array_equal(jax.vmap(heptad.jax.matmul, (0, None))(a, b), jnp.matmul(a, b))
    np.testing.assert_array_equal(jax.vmap(heptad.jax.matmul, (1, None))(a, b), jnp.matmul(a.transpose(1, 0, 2), b))
    assert jax.vmap(jax.grad(lambda x: heptad.jax.matmul(x, b).sum()))(a).shape == a.shape


def test_what_cannot_be_multiplied_is_refused_in_a_sentence():
    a = numbers((3, 3))
    with pytest.raises(TypeError, match="one type"):
        heptad.jax.matmul(a, a.astype(jnp.bfloat16))
    with pytest.raises(TypeError, match="complex64"):
        heptad.jax.matmul(a.astype(np.complex64), a.astype(np.complex64))
    with pytest.raises(ValueError, match="inner sizes 3 and 4"):
        heptad.jax.matmul(a, numbers((4, 3)))
    with pytest.raises(Exception, match="'sloppy' is no accuracy"):
        jax.block_until_ready(heptad.jax.matmul(a, a, accuracy="sloppy"))
    with pytest.raises(Exception, match="no-such"):
        jax.block_until_ready(heptad.jax.matmul(a, a, algorithm="no-such", levels=1))


LAYOUT = {
    "Extension": ("XLA_FFI_Extension_Base", {"type": "type", "next": "next"}),
    "Version": ("XLA_FFI_Api_Version", {"major_version": "major_version", "minor_version": "minor_version"}),
    "Metadata": ("XLA_FFI_Metadata", {"version": "api_version", "traits": "traits"}),
    "MetadataExtension": ("XLA_FFI_Metadata_Extension", {"metadata": "metadata"}),
    "ErrorArguments": ("XLA_FFI_Error_Create_Args", {"message": "message", "kind": "errc"}),
    "StreamArguments": ("XLA_FFI_Stream_Get_Args", {"context": "ctx", "stream": "stream"}),
    "Runtime": (
        "XLA_FFI_Api",
        {"version": "api_version", "create_error": "XLA_FFI_Error_Create", "get_stream": "XLA_FFI_Stream_Get"},
    ),
    "Buffer": ("XLA_FFI_Buffer", {"type": "dtype", "data": "data", "rank": "rank", "sizes": "dims"}),
    "Text": ("XLA_FFI_ByteSpan", {"data": "ptr", "size": "len"}),
    "Scalar": ("XLA_FFI_Scalar", {"type": "dtype", "value": "value"}),
    "Buffers": ("XLA_FFI_Args", {"size": "size", "types": "types", "buffers": "args"}),
    "Attributes": ("XLA_FFI_Attrs", {"size": "size", "types": "types", "names": "names", "values": "attrs"}),
    "Call": (
        "XLA_FFI_CallFrame",
        {
            "runtime": "api",
            "context": "ctx",
            "stage": "stage",
            "arguments": "args",
            "results": "rets",
            "attributes": "attrs",
        },
    ),
}
SAME_VALUES = {
    "int(DataType::i32)": "XLA_FFI_DataType_S32",
    "int(DataType::f16)": "XLA_FFI_DataType_F16",
    "int(DataType::f32)": "XLA_FFI_DataType_F32",
    "int(DataType::f64)": "XLA_FFI_DataType_F64",
    "int(DataType::bf16)": "XLA_FFI_DataType_BF16",
    "int(ErrorKind::invalid_argument)": "XLA_FFI_Error_Code_INVALID_ARGUMENT",
    "int(ErrorKind::resource_exhausted)": "XLA_FFI_Error_Code_RESOURCE_EXHAUSTED",
    "int(ErrorKind::unimplemented)": "XLA_FFI_Error_Code_UNIMPLEMENTED",
    "int(ErrorKind::internal)": "XLA_FFI_Error_Code_INTERNAL",
    "int(Stage::execute)": "XLA_FFI_ExecutionStage_EXECUTE",
    "kMetadataExtension": "XLA_FFI_Extension_Metadata",
    "kBuffer": "XLA_FFI_ArgType_BUFFER",
    "kScalarAttribute": "XLA_FFI_AttrType_SCALAR",
    "kStringAttribute": "XLA_FFI_AttrType_STRING",
    "kMajorVersion": "XLA_FFI_API_MAJOR",
}


def test_layout_is_that_of_the_header_of_jaxlib(tmp_path):
    ours = pathlib.Path(__file__).parents[2] / "python/src/xla_call.hpp"
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    lines = ['#include "xla/ffi/api/c_api.h"', f'#include "{ours}"', "using namespace heptad::python::xla;"]
    for name, (theirs, fields) in LAYOUT.items():
        for own, other in fields.items():
            lines.append(f"static_assert(offsetof({name}, {own}) == offsetof({theirs}, {other}));")
            lines.append(f"static_assert(sizeof({name}::{own}) == sizeof({theirs}::{other}));")
    lines += [f"static_assert({own} == int({other}));" for own, other in SAME_VALUES.items()]
    lines.append("#if XLA_FFI_API_MINOR >= 3")
    lines.append("static_assert(offsetof(Runtime, get_ordinal) == offsetof(XLA_FFI_Api, XLA_FFI_DeviceOrdinal_Get));")
    lines.append("static_assert(offsetof(OrdinalArguments, ordinal) == offsetof(XLA_FFI_DeviceOrdinal_Get_Args, device_ordinal));")
    lines.append("#endif")
    source = tmp_path / "layout.cpp"
    source.write_text("\n".join(lines) + "\n")
    command = ["g++", "-std=c++20", "-fsyntax-only", "-Wno-invalid-offsetof", "-I", jax.ffi.include_dir(), str(source)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr

"""heptad.jax.matmul, where JAX is installed: shapes, jit, grad, vmap, failures; and the layout of XLA's interface. On an
NVIDIA device where JAX has one; runs without pytest too."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

import numpy as np

try:
    import jax
except ImportError:
    raise unittest.SkipTest("JAX is not installed") from None

import heptad.jax

jnp = jax.numpy

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
    return jnp.asarray(np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)).astype(dtype)


LAYOUT = {
    "Extension": ("TheirExtension", {"type": "type", "next": "next"}),
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


class JaxTest(unittest.TestCase):
    def assert_same(self, found, expected):
        self.assertEqual((found.dtype, found.shape), (expected.dtype, expected.shape))
        np.testing.assert_array_equal(np.asarray(found, np.float64), np.asarray(expected, np.float64))

    def test_shapes_and_types_equal_jax(self):
        for dtype in (np.float32, np.float16, jnp.bfloat16, np.int32):
            for a_shape, b_shape in SHAPES:
                a, b = numbers(a_shape, dtype), numbers(b_shape, dtype, 2)
                for function in (heptad.jax.matmul, jax.jit(heptad.jax.matmul)):
                    with self.subTest(dtype=dtype, a=a_shape, b=b_shape):
                        self.assert_same(function(a, b), jnp.matmul(a, b))

    def test_float64_where_jax_has_it(self):
        with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
            a, b = numbers((30, 40), np.float64), numbers((40, 50), np.float64, 2)
            self.assertEqual(a.dtype, np.float64)
            self.assert_same(heptad.jax.matmul(a, b), np.asarray(a) @ np.asarray(b))

    def test_levels_can_be_forced(self):
        a, b = numbers((37, 53)), numbers((53, 41), seed=2)
        for levels in (0, 1, 2):
            found = heptad.jax.matmul(a, b, algorithm="strassen", levels=levels)
            self.assert_same(found, np.asarray(a) @ np.asarray(b))

    def test_large_products_between_other_work_of_xla(self):
        a, b = numbers((1500, 1300)), numbers((1300, 1400), seed=2)
        function = jax.jit(lambda x, y: heptad.jax.matmul(x * 2, y, algorithm="winograd", levels=2) + 1)
        self.assert_same(function(a, b), np.asarray(a) * 2 @ np.asarray(b) + np.float32(1))

    def test_gradients_equal_those_of_jax(self):
        for a_shape, b_shape in (((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((4,), (2, 4, 5)), ((3, 4), (4,))):
            a, b = numbers(a_shape), numbers(b_shape, seed=2)
            weight = numbers(jnp.matmul(a, b).shape, seed=3)

            def gradients(product, a=a, b=b, weight=weight):
                return jax.jit(jax.grad(lambda x, y: (product(x, y) * weight).sum(), argnums=(0, 1)))(a, b)

            for found, expected in zip(gradients(heptad.jax.matmul), gradients(jnp.matmul)):
                self.assert_same(found, expected)

    def test_vmap(self):
        a, b = numbers((6, 3, 4)), numbers((4, 5), seed=2)
        self.assert_same(jax.vmap(heptad.jax.matmul, (0, None))(a, b), jnp.matmul(a, b))
        self.assert_same(jax.vmap(heptad.jax.matmul, (1, None))(a, b), jnp.matmul(a.transpose(1, 0, 2), b))
        self.assertEqual(jax.vmap(jax.grad(lambda x: heptad.jax.matmul(x, b).sum()))(a).shape, a.shape)

    def test_arrays_go_through_heptad_matmul_too(self):
        a, b = numbers((5, 6)), numbers((6, 7), seed=2)
        found = heptad.matmul(a, b)
        if jax.default_backend() == "gpu":  # borrowed by CuPy or PyTorch, and given back
            self.assertIsInstance(found, jax.Array)
        self.assert_same(found, np.asarray(a) @ np.asarray(b))

    def test_what_cannot_be_multiplied_is_refused_in_a_sentence(self):
        a = numbers((3, 3))
        with self.assertRaisesRegex(TypeError, "one type"):
            heptad.jax.matmul(a, a.astype(jnp.bfloat16))
        with self.assertRaisesRegex(TypeError, "complex64"):
            heptad.jax.matmul(a.astype(np.complex64), a.astype(np.complex64))
        with self.assertRaisesRegex(ValueError, "inner sizes 3 and 4"):
            heptad.jax.matmul(a, numbers((4, 3)))
        with self.assertRaisesRegex(Exception, "'sloppy' is not an accuracy"):
            jax.block_until_ready(heptad.jax.matmul(a, a, accuracy="sloppy"))
        with self.assertRaisesRegex(Exception, "no-such"):
            jax.block_until_ready(heptad.jax.matmul(a, a, algorithm="no-such", levels=1))

    @unittest.skipIf(shutil.which("g++") is None, "g++ is not installed")
    def test_layout_is_that_of_the_header_of_jaxlib(self):
        ours = pathlib.Path(__file__).parents[2] / "python/src/xla_call.hpp"
        lines = [
            '#include "xla/ffi/api/c_api.h"',
            f'#include "{ours}"',
            "using namespace heptad::python::xla;",
            "#if XLA_FFI_API_MINOR >= 4",
            "using TheirExtension = XLA_FFI_InternalExtension;",
            "#else",
            "using TheirExtension = XLA_FFI_Extension_Base;",
            "#endif",
        ]
        for name, (theirs, fields) in LAYOUT.items():
            for own, other in fields.items():
                lines.append(f"static_assert(offsetof({name}, {own}) == offsetof({theirs}, {other}));")
                lines.append(f"static_assert(sizeof({name}::{own}) == sizeof({theirs}::{other}));")
        lines += [f"static_assert({own} == int({other}));" for own, other in SAME_VALUES.items()]
        function, arguments = "XLA_FFI_DeviceOrdinal_Get", "XLA_FFI_DeviceOrdinal_Get_Args"
        lines += [
            "#if XLA_FFI_API_MINOR >= 3",
            f"static_assert(offsetof(Runtime, get_ordinal) == offsetof(XLA_FFI_Api, {function}));",
            f"static_assert(offsetof(OrdinalArguments, ordinal) == offsetof({arguments}, device_ordinal));",
            "#endif",
        ]
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "layout.cpp"
            source.write_text("\n".join(lines) + "\n")
            command = ["g++", "-std=c++20", "-fsyntax-only", "-Wno-invalid-offsetof", "-I", jax.ffi.include_dir()]
            told = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
        self.assertEqual(told.returncode, 0, told.stderr)


if __name__ == "__main__":
    unittest.main()

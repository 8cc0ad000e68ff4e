"""Arrays on a device: what is asked of their library, with one made up for the test whose "device" is host memory. CuPy
and PyTorch themselves are in test_cupy_arrays.py and test_torch_cuda.py."""

import sys
import types

import heptad
import numpy as np
import pytest

DEVICE = 2  # kDLCUDA


class Place:
    id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


class FakeArray:
    """As much of cupy.ndarray as heptad looks at."""

    __module__ = "cupy._core.core"

    def __init__(self, array):
        self.host = array
        self.data = types.SimpleNamespace(ptr=array.__array_interface__["data"][0])
        self.device = Place()

    def __dlpack_device__(self):
        return (DEVICE, 0)

    def __getattr__(self, name):
        if name in ("ndim", "shape", "strides", "itemsize", "dtype"):
            return getattr(self.host, name)
        raise AttributeError(name)

    def __getitem__(self, place):
        return FakeArray(self.host[place])

    def reshape(self, shape):
        return FakeArray(self.host.reshape(shape))


@pytest.fixture
def cupy(monkeypatch):
    made = types.ModuleType("cupy")
    made.asked = []
    made.ascontiguousarray = lambda x: made.asked.append("copy") or FakeArray(np.ascontiguousarray(x.host))
    made.broadcast_to = lambda x, shape: FakeArray(np.broadcast_to(x.host, shape))
    made.empty = lambda shape, dtype: FakeArray(np.full(shape, 77).astype(dtype))
    made.may_share_memory = lambda x, y: np.may_share_memory(x.host, y.host)
    made.copyto = lambda to, source: np.copyto(to.host, source.host)
    made.cuda = types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=0))
    monkeypatch.setitem(sys.modules, "cupy", made)
    return made


def numbers(shape, dtype=np.float32, seed=1):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


CASES = [
    ((3, 4), (4, 5)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((4,), (4,)),
    ((2, 3, 4), (4, 5)),
    ((3, 4), (6, 4, 5)),
    ((2, 1, 3, 4), (6, 4, 2)),
    ((1, 4), (4, 1)),
    ((0, 4), (4, 5)),
    ((2, 0, 4), (4, 5)),
]


@pytest.mark.parametrize("a_shape, b_shape", CASES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, bool])
def test_shapes_and_types_equal_numpy(cupy, a_shape, b_shape, dtype):
    a, b = numbers(a_shape, dtype, 1), numbers(b_shape, dtype, 2)
    result = heptad.matmul(FakeArray(a), FakeArray(b), device="cpu")
    assert isinstance(result, FakeArray)
    assert result.host.dtype == dtype
    np.testing.assert_array_equal(result.host, a @ b)


def test_views_are_copied_only_where_they_must(cupy):
    base = numbers((20, 30))
    for a, b in ((base.T, base), (base[::2, ::3], base[:10, :7]), (base[:, 3:9], base[4:10])):
        np.testing.assert_array_equal(heptad.matmul(FakeArray(a), FakeArray(b), device="cpu").host, a @ b)
    assert not cupy.asked
    np.testing.assert_array_equal(heptad.matmul(FakeArray(base[::-1]), FakeArray(base.T), device="cpu").host, base[::-1] @ base.T)
    assert cupy.asked == ["copy"]


def test_complex_arrays_are_multiplied(cupy):
    for dtype in (np.complex64, np.complex128):
        a = (numbers((5, 6)) + 1j * numbers((5, 6), seed=3)).astype(dtype)
        b = (numbers((6, 4), seed=2) - 1j * numbers((6, 4), seed=4)).astype(dtype)
        result = heptad.matmul(FakeArray(a), FakeArray(b), device="cpu").host
        assert result.dtype == dtype
        np.testing.assert_allclose(result, a @ b, rtol=1e-5)


def test_out_is_written_or_copied_to(cupy):
    a, b = numbers((6, 6)), numbers((6, 6), seed=2)
    out = FakeArray(np.zeros((6, 6), np.float32))
    assert heptad.matmul(FakeArray(a), FakeArray(b), out, device="cpu") is out
    np.testing.assert_array_equal(out.host, a @ b)
    expected = a @ b
    same = FakeArray(a)
    heptad.matmul(same, FakeArray(b), same, device="cpu")
    np.testing.assert_array_equal(a, expected)
    with pytest.raises(ValueError, match="out is"):
        heptad.matmul(FakeArray(a), FakeArray(b), FakeArray(np.zeros((6, 5), np.float32)))


def test_what_does_not_go_together_is_refused(cupy):
    a = FakeArray(numbers((4, 4)))
    with pytest.raises(TypeError, match="different libraries"):
        heptad.matmul(a, np.ones((4, 4), np.float32))
    with pytest.raises(TypeError, match="one type"):
        heptad.matmul(a, FakeArray(np.ones((4, 4))))
    with pytest.raises(TypeError, match="uint8"):
        heptad.matmul(FakeArray(np.ones((4, 4), np.uint8)), FakeArray(np.ones((4, 4), np.uint8)))
    with pytest.raises(ValueError, match="inner sizes"):
        heptad.matmul(a, FakeArray(np.ones((5, 4), np.float32)))
    with pytest.raises(ValueError, match="scalar"):
        heptad.matmul(a, FakeArray(np.float32(3).reshape(())))

    class Other(FakeArray):
        __module__ = "jaxlib.xla_extension"

    with pytest.raises(TypeError, match="not those of jaxlib.*DLPack"):
        heptad.matmul(Other(np.ones((2, 2))), Other(np.ones((2, 2))))

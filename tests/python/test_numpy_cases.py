"""NumPy's own test cases of matmul, and the parts of numpy.matmul that they leave out, through heptad.matmul."""

import itertools

import heptad
import numpy as np
import pytest

try:
    from numpy._core.tests import test_multiarray as numpy_tests  # NumPy 2
except ImportError:
    try:
        from numpy.core.tests import test_multiarray as numpy_tests
    except ImportError:
        numpy_tests = None

TYPES = "?ilefdFD"  # bool, int32, int64, float16, float32, float64, complex64, complex128


if numpy_tests is not None:

    class TestNumPysOwnCases(numpy_tests.MatmulCommon):
        types = TYPES
        matmul = staticmethod(heptad.matmul)


def integers(shape, dtype, seed=0):
    """Small, so that every product is exact in every type."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


SHAPES = [
    ((3, 4), (4, 5)),
    ((3, 4), (4,)),
    ((4,), (4, 5)),
    ((4,), (4,)),
    ((2, 3, 4), (4, 5)),
    ((3, 4), (2, 4, 5)),
    ((2, 3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (1, 5, 4, 2)),
    ((6, 2, 3, 4), (2, 4, 2)),
    ((2, 3, 4), (4,)),
    ((4,), (2, 4, 5)),
    ((1, 1), (1, 1)),
    ((70, 65), (65, 90)),
]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("a_shape, b_shape", SHAPES)
def test_every_shape_equals_numpy(a_shape, b_shape, dtype):
    a, b = integers(a_shape, dtype, 1), integers(b_shape, dtype, 2)
    expected = np.matmul(a, b)
    result = heptad.matmul(a, b)
    assert type(result) is type(expected)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)
    out = np.empty(expected.shape, dtype)
    assert heptad.matmul(a, b, out) is out
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "a_shape, b_shape",
    [
        ((0, 3), (3, 4)),
        ((3, 0), (0, 4)),
        ((3, 4), (4, 0)),
        ((0, 0), (0, 0)),
        ((0,), (0,)),
        ((0,), (0, 4)),
        ((3, 0), (0,)),
        ((0, 2, 3), (3, 4)),
        ((0, 2, 3), (0, 3, 4)),
        ((2, 3, 0), (2, 0, 4)),
        ((5, 0, 3), (3, 4)),
    ],
)
def test_sizes_of_zero_equal_numpy(a_shape, b_shape, dtype):
    a, b = np.ones(a_shape, dtype), np.ones(b_shape, dtype)
    expected = np.matmul(a, b)
    result = heptad.matmul(a, b)
    assert np.shape(result) == np.shape(expected)
    np.testing.assert_array_equal(result, expected)


M1 = np.arange(15.0).reshape(5, 3)
M2 = np.arange(21.0).reshape(3, 7)
M3 = np.arange(30.0).reshape(5, 6)[:, ::2]
VC, VR, M0 = np.arange(10.0), np.arange(6.0), np.zeros((3, 0))


@pytest.mark.parametrize(
    "args",
    [(M1, M2), (M2.T, M1.T), (M2.T.copy(), M1.T), (M2.T, M1.T.copy())]
    + [(M1, M1.T), (M1.T, M1), (M1, M3.T), (M3, M1.T), (M3, M3.T), (M3.T, M3)]
    + [(M3, M2), (M2.T, M3.T), (M2.T.copy(), M3.T)]
    + [(M1, VR[:3]), (VC[:5], M1), (M1.T, VC[:5]), (VR[:3], M1.T)]
    + [(M1, VR[::2]), (VC[::2], M1), (M1.T, VC[::2]), (VR[::2], M1.T)]
    + [(M3, VR[:3]), (VC[:5], M3), (M3.T, VC[:5]), (VR[:3], M3.T)]
    + [(M3, VR[::2]), (VC[::2], M3), (M3.T, VC[::2]), (VR[::2], M3.T)]
    + [(M0, M0.T), (M0.T, M0), (M1, M0), (M0.T, M1.T)],
)
def test_contiguous_or_not_equals_dot(args):
    np.testing.assert_array_equal(heptad.matmul(*args), np.dot(*args))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_every_mode_of_memory_for_all_three(dtype):
    def laid_out(matrix, order, is_contiguous):
        if is_contiguous:
            return matrix.copy(order)
        wide = np.zeros((matrix.shape[0] * 2, matrix.shape[1] * 2), matrix.dtype, order)[::2, ::2]
        wide[...] = matrix
        return wide

    a, b = M1.astype(dtype), M2.astype(dtype)
    expected = np.dot(a, b)
    modes = list(itertools.product("CF", (True, False)))
    for first, second, third in itertools.product(modes, repeat=3):
        out = laid_out(np.zeros_like(expected), *third)
        assert heptad.matmul(laid_out(a, *first), laid_out(b, *second), out=out) is out
        np.testing.assert_array_equal(out, expected)


def test_out_may_have_gaps_or_be_transposed():
    a = np.ones((5, 2))
    b = np.array([[1.0, 3], [5, 7]])
    v = np.array([1.0, 3])
    wide = np.full((5, 2, 2), 9.0)
    result = heptad.matmul(a, b, out=wide[..., 0])
    assert result.base is wide
    np.testing.assert_array_equal(result, a @ b)
    np.testing.assert_array_equal(wide[..., 1], 9)
    np.testing.assert_array_equal(heptad.matmul(a, v, out=wide[:, 0, 0]), a @ v)
    np.testing.assert_array_equal(heptad.matmul(v, a.T, out=wide[:, 0, 0]), a @ v)
    turned = np.ones((5, 2))
    heptad.matmul(b.T, a.T, out=turned.T)
    np.testing.assert_array_equal(turned, a @ b)


def test_out_of_another_type_is_cast_as_numpy_does():
    a, b = integers((5, 2), np.float32), integers((2, 2), np.float32)
    for dtype in (np.float64, np.complex128, np.float16):
        out = np.zeros((5, 2), dtype)
        assert heptad.matmul(a, b, out=(out,)) is out
        np.testing.assert_array_equal(out, a @ b)
    np.testing.assert_array_equal(heptad.matmul(a, b, out=(None,)), a @ b)
    with pytest.raises(TypeError, match="cannot be stored"):
        heptad.matmul(a, b, out=np.zeros((5, 2), np.int32))


def test_half_precision_into_float32_keeps_the_sums():
    a = np.full((1, 4096), 1.0, np.float16)
    out = np.empty((1, 1), np.float32)
    heptad.matmul(a, a.T + np.float16(2**-10), out=out)
    assert out[0, 0] == 4100


def test_subclasses_count_as_plain_arrays():
    a = integers((3, 3), np.float64)
    assert type(heptad.matmul(a.view(np.matrix), a)) is np.ndarray


def test_out_of_another_shape_is_refused():
    arr, out = np.ones((0, 1, 1)), np.ones((1, 1, 1))
    with pytest.raises(ValueError, match="out has the shape"):
        heptad.matmul(arr, arr, out=out)
    with pytest.raises(ValueError, match="out has the shape"):
        heptad.matmul(np.ones((2, 3)), np.ones((3, 4)), out=np.ones((1, 2, 4)))
    with pytest.raises(TypeError, match="NumPy array"):
        heptad.matmul(np.ones((2, 3)), np.ones((3, 4)), out=[[0.0] * 4] * 2)


def test_out_that_overlaps_an_input_is_right_all_the_same():
    a = integers((6, 6), np.float64)
    expected = a @ a
    for out in (a, a.T):
        x = a.copy()
        target = x if out is a else x.T
        heptad.matmul(x, x, out=target)
        np.testing.assert_array_equal(target, expected)
    stack = integers((4, 3, 3), np.float64)
    expected = stack[:-1] @ stack[:-1]
    heptad.matmul(stack[:-1], stack[:-1], out=stack[1:])
    np.testing.assert_array_equal(stack[1:], expected)


def test_types_are_promoted_as_numpy_does():
    for x, y in itertools.product(TYPES, repeat=2):
        a, b = integers((3, 4), x, 1), integers((4, 5), y, 2)
        expected = a @ b
        result = heptad.matmul(a, b)
        assert result.dtype == expected.dtype, (x, y)
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dtype", ["O", "U3", "S3", "G", "g", "b", "h", "B", "H", "I", "L", "M8[s]", "i4,i4"])
def test_other_types_are_refused_with_a_way_out(dtype):
    a = np.zeros((2, 2), dtype)
    with pytest.raises(TypeError, match="float64, float32, float16, bfloat16, complex64, complex128, int32, int64 and bool.*; .*"):
        heptad.matmul(a, a)
    with pytest.raises(TypeError):
        heptad.matmul(np.zeros((2, 2)), a)


def test_lists_are_arrays():
    np.testing.assert_array_equal(heptad.matmul([[1.0, 2], [3, 4]], [1.0, 1]), [3, 7])


def test_bytes_in_another_order_are_the_same_numbers():
    a = integers((3, 4), ">f8")
    np.testing.assert_array_equal(heptad.matmul(a, a.T), a @ a.T)
    out = np.empty((3, 3), ">f8")
    heptad.matmul(a, a.T, out=out)
    np.testing.assert_array_equal(out, a @ a.T)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("accuracy", ["strict", "balanced", "fast"])
def test_complex_products_have_the_errors_of_numpys(dtype, accuracy):
    rng = np.random.default_rng(4)
    a, b = ((rng.random((300, 300)) - 0.5 + 1j * (rng.random((300, 300)) - 0.5)).astype(dtype) for _ in range(2))
    exact = a.astype(np.clongdouble) @ b.astype(np.clongdouble)
    theirs = np.abs(a @ b - exact).max()
    for levels in (None, 0, 1):
        if accuracy == "strict" and levels == 1:
            continue
        for left, right, expected in ((a, b, exact), (a.T, b, None), (a.conj().T, b[:, ::2], None)):
            expected = left.astype(np.clongdouble) @ right.astype(np.clongdouble) if expected is None else expected
            result = heptad.matmul(left, right, accuracy=accuracy, levels=levels)
            assert np.abs(result - expected).max() < 30 * theirs
            assert heptad.verify(left, right, result, accuracy=accuracy)


def test_int64_wraps_as_in_numpy():
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-(2**63), 2**63 - 1, shape, np.int64, endpoint=True) for shape in ((129, 77), (77, 95)))
    for levels in (None, 0, 1, 2):
        np.testing.assert_array_equal(heptad.matmul(a, b, levels=levels), a @ b)


def test_int32_wraps_and_bool_is_zero_or_one():
    a = np.full((2, 2), 2**30, np.int32)
    np.testing.assert_array_equal(heptad.matmul(a, a), a @ a)
    big = np.array([[2**31 - 1, 3], [-(2**31), 7]], np.int32)
    np.testing.assert_array_equal(heptad.matmul(big, big), big @ big)
    ones = np.ones((3, 300), bool)
    assert heptad.matmul(ones, ones.T).view(np.uint8).max() == 1


def test_nan_and_infinity_spread_as_in_numpy():
    a, b = np.ones((300, 300), np.float32), np.ones((300, 300), np.float32)
    a[7, 3], b[3, 9] = np.nan, np.inf
    np.testing.assert_array_equal(heptad.matmul(a, b, levels=1), a @ b)


def test_bfloat16_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a, b = integers((70, 33), ml_dtypes.bfloat16, 1), integers((2, 33, 20), ml_dtypes.bfloat16, 2)
    expected = a.astype(np.float32) @ b.astype(np.float32)
    result = heptad.matmul(a, b)
    assert result.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(result.astype(np.float32), expected.astype(ml_dtypes.bfloat16).astype(np.float32))
    out = np.empty(expected.shape, np.float32)
    heptad.matmul(a[:, ::-1], b[:, ::-1], out=out)
    np.testing.assert_array_equal(out, expected)

"""Any layout in memory gives the same product, and nothing but the result is written."""

import itertools

import heptad
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

TYPES = [np.float64, np.float32, np.float16, np.int32, np.int64, np.complex64, np.complex128, np.bool_]


@st.composite
def laid_out(draw, shape):
    """An array of this shape inside a larger one: steps, reversals, transposed, repeated, misaligned."""
    dtype = draw(st.shared(st.sampled_from(TYPES), key="dtype"))
    steps = [draw(st.sampled_from([1, 1, 2, 3, -1, -2])) for _ in shape]
    begins = [draw(st.integers(0, 2)) for _ in shape]
    order = draw(st.permutations(range(len(shape))))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    sizes = [begin + max(size * abs(step), 1) for size, step, begin in zip(shape, steps, begins)]
    base = np.empty([sizes[i] for i in order], dtype)
    base[...] = rng.integers(-2, 3, base.shape)
    array = base.transpose(np.argsort(order))
    window = tuple(slice(begin, begin + size * abs(step)) for size, step, begin in zip(shape, steps, begins))
    array = array[window][tuple(slice(None, None, step) for step in steps)]
    assert array.shape == tuple(shape)
    kind = draw(st.sampled_from(["as is", "as is", "read-only", "repeated", "misaligned"]))
    if kind == "read-only":
        array.flags.writeable = False
    elif kind == "repeated" and shape[-1] > 0:
        array = np.broadcast_to(array[..., :1], shape)
    elif kind == "misaligned":
        room = np.zeros(array.nbytes + 1, np.uint8)[1:]
        moved = room[: array.nbytes].view(dtype).reshape(shape)
        moved[...] = array
        array = moved
    return array


@st.composite
def problems(draw):
    m, k, n = (draw(st.integers(0, 9)) for _ in range(3))
    stack = [draw(st.integers(1, 3)) for _ in range(draw(st.integers(0, 2)))]

    def part():
        kept = stack[draw(st.integers(0, len(stack))) :]
        return [1 if draw(st.booleans()) else size for size in kept]

    a_shape = [*part(), m, k] if draw(st.booleans()) or k == 0 else [k]
    b_shape = [*part(), k, n] if draw(st.booleans()) or k == 0 else [k]
    return draw(laid_out(a_shape)), draw(laid_out(b_shape))


@settings(max_examples=400, deadline=None)
@given(problems(), st.sampled_from([None, 0, 1, 2]))
def test_any_layout_equals_numpy(arrays, levels):
    a, b = arrays
    before = a.copy(), b.copy()
    expected = np.matmul(a, b)
    result = heptad.matmul(a, b, levels=levels)
    assert np.shape(result) == np.shape(expected)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(a, before[0])
    np.testing.assert_array_equal(b, before[1])


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_layout_of_out_is_written_and_nothing_else(data):
    m, k, n = (data.draw(st.integers(1, 8)) for _ in range(3))
    dtype = data.draw(st.sampled_from([np.float64, np.float32, np.int32]))
    a = np.random.default_rng(1).integers(-2, 3, (m, k)).astype(dtype)
    b = np.random.default_rng(2).integers(-2, 3, (k, n)).astype(dtype)
    row, col = data.draw(st.sampled_from([1, 2, -1])), data.draw(st.sampled_from([1, 2, -1]))
    order = data.draw(st.sampled_from("CF"))
    base = np.full((m * 2 + 2, n * 2 + 2), 77, dtype, order)
    out = base[1 : 1 + m * abs(row), 1 : 1 + n * abs(col)][::row, ::col]
    assert heptad.matmul(a, b, out=out) is out
    np.testing.assert_array_equal(out, a @ b)
    out[...] = 77
    np.testing.assert_array_equal(base, 77)


@pytest.mark.parametrize("dtype, accuracy", [(np.float64, "balanced"), (np.int32, "balanced"), (np.complex64, "exact")])
def test_matrices_of_out_may_be_interleaved_in_any_way(dtype, accuracy):
    rng = np.random.default_rng(3)
    for stack, m, n in itertools.product(((), (3,), (2, 3)), (1, 2, 4), (1, 3)):
        a = rng.integers(-2, 3, (*stack, m, 2)).astype(dtype)
        b = rng.integers(-2, 3, (2, n)).astype(dtype)
        expected = a @ b
        for axes, step in itertools.product(itertools.permutations(range(expected.ndim)), (1, 2)):
            base = np.full([step * expected.shape[axis] for axis in axes], 77, dtype)
            out = base[(slice(None, None, step),) * len(axes)].transpose(np.argsort(axes))
            assert heptad.matmul(a, b, out=out, accuracy=accuracy) is out
            np.testing.assert_array_equal(out, expected)
            out[...] = 77
            np.testing.assert_array_equal(base, 77)


def test_strided_views_are_not_copied():
    import heptad._core as core

    base = np.zeros((64, 48, 2), np.float32)
    for view in (base[:, :, 0], base[::2, ::3, 1], base[:, :, 0].T, base[1:, 5:, :], base[:, 3, :], base[:1, :1, 0]):
        assert core.is_representable("f32", view)
    for view in (base[::-1, :, 0], np.broadcast_to(np.float32(1), (3, 4))):
        assert not core.is_representable("f32", view)

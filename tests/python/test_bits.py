"""BitMatrix against NumPy."""

import copy
import pickle

import heptad
import numpy as np
import pytest
from heptad import BitMatrix
from hypothesis import given, settings
from hypothesis import strategies as st

RNG = np.random.default_rng(3)
SHAPES = [(1, 1), (3, 5), (8, 8), (64, 64), (65, 63), (100, 257), (0, 4), (4, 0), (0, 0)]


def bits(shape, density=0.5):
    return RNG.random(shape) < density


@pytest.mark.parametrize("shape", SHAPES)
def test_there_and_back(shape):
    array = bits(shape)
    matrix = BitMatrix(array)
    assert matrix.shape == shape
    result = matrix.to_numpy()
    assert result.dtype == bool
    np.testing.assert_array_equal(result, array)
    np.testing.assert_array_equal(np.asarray(matrix), array)
    np.testing.assert_array_equal(BitMatrix(array.astype(np.int64) * 7).to_numpy(), array)
    np.testing.assert_array_equal(matrix.T.to_numpy(), array.T)
    assert matrix.count() == array.sum()
    for order in ("big", "little"):
        packed = np.packbits(array, axis=1, bitorder=order).reshape(shape[0], -1 if shape[1] and shape[0] else (shape[1] + 7) // 8)
        np.testing.assert_array_equal(matrix.to_packed(bitorder=order), packed)
        assert BitMatrix.from_packed(packed, shape[1], bitorder=order) == matrix
    for made in (copy.copy(matrix), copy.deepcopy(matrix), pickle.loads(pickle.dumps(matrix))):
        assert made == matrix and made is not matrix


def test_layouts_of_numpy_are_read():
    array = bits((50, 70))
    for view in (array.T, array[::2, ::-1], np.asfortranarray(array), np.broadcast_to(array[0], (9, 70))):
        np.testing.assert_array_equal(BitMatrix(view).to_numpy(), view)
    packed = np.packbits(array, axis=1)[::3]
    np.testing.assert_array_equal(BitMatrix.from_packed(packed, 70).to_numpy(), array[::3])


def test_bits_beyond_the_last_column_are_dropped():
    packed = np.full((3, 2), 255, np.uint8)
    matrix = BitMatrix.from_packed(packed, 11)
    assert matrix.count() == 33
    assert (matrix ^ matrix).count() == 0


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 150), st.integers(0, 150), st.integers(0, 150), st.sampled_from(["gf2", "bool"]))
def test_products_equal_numpy(m, k, n, algebra):
    a, b = bits((m, k)), bits((k, n), 0.1)
    counts = a.astype(np.int64) @ b.astype(np.int64)
    expected = counts % 2 == 1 if algebra == "gf2" else counts > 0
    result = BitMatrix(a, algebra) @ BitMatrix(b, algebra)
    assert result.algebra == algebra
    np.testing.assert_array_equal(result.to_numpy(), expected)
    assert heptad.verify(BitMatrix(a, algebra), BitMatrix(b, algebra), result, all_rows=True)


def test_bit_by_bit():
    a, b = bits((40, 99)), bits((40, 99))
    np.testing.assert_array_equal((BitMatrix(a) ^ BitMatrix(b)).to_numpy(), a ^ b)
    np.testing.assert_array_equal((BitMatrix(a) | BitMatrix(b)).to_numpy(), a | b)
    np.testing.assert_array_equal((BitMatrix(a) & BitMatrix(b)).to_numpy(), a & b)
    x = BitMatrix(a)
    x ^= BitMatrix(b)
    np.testing.assert_array_equal(x.to_numpy(), a ^ b)
    with pytest.raises(ValueError, match="40 x 99 and 99 x 40"):
        BitMatrix(a) ^ BitMatrix(b).T


@pytest.mark.parametrize("algebra", ["gf2", "bool"])
def test_powers(algebra):
    a = BitMatrix(bits((70, 70), 0.05), algebra)
    expected = BitMatrix.identity(70, algebra)
    for exponent in range(6):
        assert a**exponent == expected
        expected = expected @ a
    for exponent in (-1, 2**70):
        with pytest.raises(ValueError, match=f"an exponent of {exponent} is not possible"):
            a**exponent
    with pytest.raises(TypeError):
        a**0.5
    with pytest.raises(ValueError):
        BitMatrix(bits((3, 4))) ** 2


def test_closure_and_triangles():
    graph = bits((90, 90), 0.015)
    reach = graph.copy()
    for middle in range(90):
        reach |= np.outer(reach[:, middle], reach[middle])
    closed = BitMatrix(graph).closure()
    assert closed.algebra == "bool"
    np.testing.assert_array_equal(closed.to_numpy(), reach)
    undirected = np.triu(bits((60, 60), 0.2), 1)
    both = (undirected | undirected.T).astype(np.int64)
    assert BitMatrix(undirected).triangles() == np.trace(both @ both @ both) // 6


def test_single_bits():
    matrix = BitMatrix.zeros(5, 70)
    matrix[2, 69] = True
    matrix[-1, -1] = True
    assert matrix[2, -1] and matrix[4, 69] and matrix.count() == 2
    matrix[2, 69] = 0
    assert not matrix[2, 69]
    for place in ((5, 0), (0, 70), (-6, 0)):
        with pytest.raises(IndexError):
            matrix[place]
    with pytest.raises(TypeError, match="row and column"):
        matrix[1]
    with pytest.raises(TypeError):
        hash(matrix)


def test_random_repeats_and_heeds_the_density():
    a = BitMatrix.random(200, 300, seed=4, density=0.1)
    assert a == BitMatrix.random(200, 300, 4, 0.1)
    assert a != BitMatrix.random(200, 300, 5, 0.1)
    assert 0.05 < a.count() / 60000 < 0.15
    for seed in (-1, 2**64):
        with pytest.raises(ValueError, match=f"a seed of {seed} is not possible"):
            BitMatrix.random(2, 2, seed)
    for make in (lambda size: BitMatrix.random(size, 2, 1), lambda size: BitMatrix.zeros(2, size), BitMatrix.identity):
        with pytest.raises(ValueError, match="a size of 9223372036854775808 is not possible"):
            make(2**63)
        with pytest.raises(TypeError, match="as an integer"):
            make(2.5)
    with pytest.raises(TypeError, match="device is a NoneType"):
        a.matmul(a, device=None)


def test_mixtures_are_refused():
    a = BitMatrix(bits((4, 4)))
    with pytest.raises(TypeError):
        a @ np.ones((4, 4), bool)
    with pytest.raises(TypeError):
        np.ones((4, 4), bool) @ a
    with pytest.raises(ValueError, match="over gf2.*over bool"):
        a @ a.over("bool")
    with pytest.raises(ValueError, match="algebra"):
        BitMatrix(bits((4, 4)), "reals")
    with pytest.raises(TypeError, match="compare first"):
        BitMatrix(np.ones((4, 4)))
    with pytest.raises(ValueError, match="two dimensions"):
        BitMatrix(bits((4,)))
    with pytest.raises(ValueError):
        a @ BitMatrix(bits((5, 4)))
    with pytest.raises(ValueError):
        BitMatrix.from_packed(np.zeros((3, 2), np.uint8), 17)
    with pytest.raises((ValueError, MemoryError)):
        BitMatrix.zeros(-1, 3)
    with pytest.raises(MemoryError):
        BitMatrix.zeros(1 << 30, 1 << 30)
    assert repr(a) == "<heptad.BitMatrix 4 x 4 over gf2>"

"""heptad.BitMatrix: packed bits, over GF(2) or the Boolean semiring."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Callable

from . import _core, _types
from ._options import Algebra, whole_number

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray


def _little(packed: Any, bitorder: str) -> Any:
    """Bytes with the lowest bit first, in rows without gaps."""
    np = _types.load()
    if bitorder not in ("little", "big"):
        raise ValueError(f"'{bitorder}' is not an order of bits; use little or big, as numpy.packbits does")
    packed = np.ascontiguousarray(packed)
    if bitorder == "big":
        packed = np.packbits(np.unpackbits(packed, axis=1), axis=1, bitorder="little")
    return packed


class BitMatrix:
    """A matrix of bits, 64 to a word. `@` and `**` are products over GF(2) (XOR of ANDs), or with algebra="bool" over
    the Booleans (OR of ANDs). `^`, `|` and `&` work bit by bit.

    BitMatrix(array, algebra="gf2"): a bit is 1 where the array is not zero.
    """

    __slots__ = ("_bits", "algebra")
    __array_ufunc__ = None  # array @ BitMatrix is not NumPy's
    __hash__ = None  # type: ignore[assignment]  # bits can be set

    algebra: Algebra

    def __init__(self, array: Any, algebra: Algebra = "gf2") -> None:
        np = _types.load()
        array = np.asarray(array)
        if array.ndim != 2:
            raise ValueError(f"a BitMatrix has two dimensions, not the shape {array.shape}")
        if array.dtype.kind not in "biu":
            raise TypeError(f"bits come from bool or integers, not from {array.dtype}; compare first, as in a != 0")
        rows, cols = array.shape
        packed = np.packbits(array.astype(bool, copy=False), axis=1, bitorder="little")
        packed = np.ascontiguousarray(packed.reshape(rows, (cols + 7) // 8))
        self._bits = _core.Bits.from_packed(packed, cols)
        self.algebra = _checked(algebra)

    @staticmethod
    def _of(bits: _core.Bits, algebra: Algebra) -> BitMatrix:
        made = BitMatrix.__new__(BitMatrix)
        made._bits = bits
        made.algebra = _checked(algebra)
        return made

    @staticmethod
    def from_packed(packed: Any, columns: int, algebra: Algebra = "gf2", *, bitorder: str = "big") -> BitMatrix:
        """From a uint8 array with 8 bits in a byte along each row, as numpy.packbits(a, axis=1) makes it."""
        np = _types.load()
        packed = np.asarray(packed)
        if packed.ndim != 2 or packed.dtype != np.uint8:
            raise TypeError(f"packed bits are a uint8 array of two dimensions, not {packed.dtype} of {packed.shape}")
        columns = whole_number("a number of columns", columns)
        if packed.shape[1] != (columns + 7) // 8:
            raise ValueError(f"{columns} columns take {(columns + 7) // 8} bytes in a row, not {packed.shape[1]}")
        return BitMatrix._of(_core.Bits.from_packed(_little(packed, bitorder), columns), algebra)

    @staticmethod
    def zeros(rows: int, columns: int, algebra: Algebra = "gf2") -> BitMatrix:
        return BitMatrix._of(_core.Bits.zeros(whole_number("a size", rows), whole_number("a size", columns)), algebra)

    @staticmethod
    def identity(size: int, algebra: Algebra = "gf2") -> BitMatrix:
        return BitMatrix._of(_core.Bits.identity(whole_number("a size", size)), algebra)

    @staticmethod
    def random(
        rows: int, columns: int, seed: int, density: float = 0.5, algebra: Algebra = "gf2"
    ) -> BitMatrix:
        """The same seed gives the same matrix on every machine."""
        rows, columns = whole_number("a size", rows), whole_number("a size", columns)
        seed = whole_number("a seed", seed, 64)
        return BitMatrix._of(_core.Bits.random(rows, columns, seed, float(density)), algebra)

    @property
    def shape(self) -> tuple[int, int]:
        return (self._bits.rows, self._bits.cols)

    @property
    def T(self) -> BitMatrix:
        return BitMatrix._of(self._bits.transposed(), self.algebra)

    def over(self, algebra: Algebra) -> BitMatrix:
        """The same bits (not a copy) in another algebra."""
        return BitMatrix._of(self._bits, algebra)

    def to_packed(self, *, bitorder: str = "big") -> NDArray[numpy.uint8]:
        """A uint8 array, 8 bits in a byte along each row; numpy.unpackbits(..., axis=1, count=columns) undoes it."""
        np = _types.load()
        packed = np.empty((self._bits.rows, (self._bits.cols + 7) // 8), np.uint8)
        self._bits.to_packed(packed)
        if bitorder == "little":
            return packed  # type: ignore[no-any-return]
        if bitorder != "big":
            raise ValueError(f"'{bitorder}' is not an order of bits; use little or big, as numpy.packbits does")
        return np.packbits(np.unpackbits(packed, axis=1, bitorder="little"), axis=1)  # type: ignore[no-any-return]

    def to_numpy(self) -> NDArray[numpy.bool_]:
        """A bool array."""
        np = _types.load()
        packed = self.to_packed(bitorder="little")
        bits = np.unpackbits(packed, axis=1, count=self._bits.cols, bitorder="little")
        return bits.view(bool)  # type: ignore[no-any-return]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if copy is False:
            raise ValueError("bits are unpacked, which makes a copy; leave copy=False out")
        array = self.to_numpy()
        return array if dtype is None else array.astype(dtype)

    def matmul(self, other: BitMatrix, *, device: str = "auto") -> BitMatrix:
        """self @ other, on a device."""
        if not isinstance(other, BitMatrix):
            raise TypeError(f"a BitMatrix is multiplied by another, not by {type(other).__name__}; make one of it first")
        if other.algebra != self.algebra:
            raise ValueError(f"one matrix is over {self.algebra}, the other over {other.algebra}; use .over() on one")
        return BitMatrix._of(_core.multiply_bits(self.algebra, self._bits, other._bits, device), self.algebra)

    def __matmul__(self, other: BitMatrix) -> BitMatrix:
        return self.matmul(other) if isinstance(other, BitMatrix) else NotImplemented

    def __pow__(self, exponent: int) -> BitMatrix:
        exponent = whole_number("an exponent", exponent)
        return BitMatrix._of(_core.power_of_bits(self.algebra, self._bits, exponent), self.algebra)

    def closure(self, *, device: str = "auto") -> BitMatrix:
        """Bit (i, j): is there a path of one or more edges from i to j? An edge is a 1 of this square matrix."""
        return BitMatrix._of(_core.closure_of_bits(self._bits, device), "bool")

    def triangles(self) -> int:
        """How many triangles an undirected graph has; only edges (i, j) with i < j count."""
        return self._bits.triangles()

    def count(self) -> int:
        """How many bits are 1."""
        return self._bits.count()

    def _bit_by_bit(self, other: object, combine: Callable[[_core.Bits, _core.Bits], _core.Bits]) -> Any:
        if not isinstance(other, BitMatrix):
            return NotImplemented
        return BitMatrix._of(combine(self._bits, other._bits), self.algebra)

    def __xor__(self, other: BitMatrix) -> BitMatrix:
        return self._bit_by_bit(other, _core.Bits.xor)  # type: ignore[no-any-return]

    def __or__(self, other: BitMatrix) -> BitMatrix:
        return self._bit_by_bit(other, _core.Bits.or_)  # type: ignore[no-any-return]

    def __and__(self, other: BitMatrix) -> BitMatrix:
        return self._bit_by_bit(other, _core.Bits.and_)  # type: ignore[no-any-return]

    def __eq__(self, other: object) -> bool:
        """Same shape, same bits."""
        return isinstance(other, BitMatrix) and self._bits.equals(other._bits)

    def _place(self, place: Any) -> tuple[int, int]:
        if not isinstance(place, tuple) or len(place) != 2:
            raise TypeError("a bit is named by its row and column, as in a[3, 4]; use to_numpy() for slices")
        i, j = (operator.index(x) for x in place)
        rows, cols = self.shape
        if not (-rows <= i < rows and -cols <= j < cols):
            raise IndexError(f"({i}, {j}) is outside a matrix of {rows} x {cols} bits")
        return i % rows, j % cols

    def __getitem__(self, place: tuple[int, int]) -> bool:
        return self._bits.get(*self._place(place))

    def __setitem__(self, place: tuple[int, int], value: bool) -> None:
        self._bits.set(*self._place(place), bool(value))

    def __repr__(self) -> str:
        rows, cols = self.shape
        return f"<heptad.BitMatrix {rows} x {cols} over {self.algebra}>"

    def __copy__(self) -> BitMatrix:
        return BitMatrix.from_packed(self.to_packed(bitorder="little"), self.shape[1], self.algebra, bitorder="little")

    def __deepcopy__(self, memo: Any) -> BitMatrix:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return (_unpickled, (self.to_packed(bitorder="little"), self.shape[1], self.algebra))


def _unpickled(packed: Any, columns: int, algebra: Algebra) -> BitMatrix:
    return BitMatrix.from_packed(packed, columns, algebra, bitorder="little")


def _checked(algebra: Algebra) -> Algebra:
    if algebra not in ("gf2", "bool"):
        raise ValueError(f"'{algebra}' is not an algebra of bits; use gf2 (XOR, AND) or bool (OR, AND)")
    return algebra

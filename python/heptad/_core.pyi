"""The compiled half of heptad. Its functions take every word; defaults and checks are in the Python files beside it."""

from typing import Any, Callable

version: str

def multiply(
    type: str,
    a: Any,
    b: Any,
    c_type: str,
    c: Any,
    c_is_new: bool,
    accuracy: str,
    algorithm: str,
    levels: int,
    device: str,
    workspace_limit: int,
) -> bool: ...
def is_representable(type: str, array: Any) -> bool: ...

def multiply_at(
    type: str,
    a: tuple[int, tuple[int, ...], tuple[int, ...]] | tuple[int, tuple[int, ...], tuple[int, ...], bool],
    b: tuple[int, tuple[int, ...], tuple[int, ...]] | tuple[int, tuple[int, ...], tuple[int, ...], bool],
    c_type: str,
    c: tuple[int, tuple[int, ...], tuple[int, ...]],
    alpha: float,
    beta: float,
    stream: int,
    workspace: int,
    workspace_bytes: int,
    threads: int,
    accuracy: str,
    algorithm: str,
    levels: int,
    device: str,
    workspace_limit: int,
) -> bool: ...
def seconds_of_multiply_at(
    type: str,
    a: tuple[int, tuple[int, ...], tuple[int, ...]],
    b: tuple[int, tuple[int, ...], tuple[int, ...]],
    c: tuple[int, tuple[int, ...], tuple[int, ...]],
    stream: int,
    threads: int,
    device: str,
    calls: int,
) -> float: ...

class TensorProducts:
    """Of plain matrices of PyTorch."""

    def __init__(
        self,
        tensor: type,
        names: dict[Any, str],
        allocators: dict[int, Any],
        thread_count: Any,
        least_with_scratch: int,
    ) -> None: ...
    def multiply(
        self, a: Any, b: Any, out: Any, accuracy: str, algorithm: str, levels: int, device: str, workspace_limit: int
    ) -> Any: ...

class Plan:
    @staticmethod
    def parse(text: str) -> Plan: ...
    @property
    def m(self) -> int: ...
    @property
    def k(self) -> int: ...
    @property
    def n(self) -> int: ...
    @property
    def type(self) -> str: ...
    @property
    def levels(self) -> int: ...
    @property
    def workspace_bytes(self) -> int: ...
    @property
    def predicted_s(self) -> float: ...
    @property
    def error_bound(self) -> float: ...
    @property
    def expected_error_growth(self) -> float: ...
    @property
    def typical_error(self) -> float: ...
    @property
    def guaranteed_bound(self) -> float: ...
    @property
    def guaranteed_bound_over(self) -> str: ...

def plan(
    m: int,
    k: int,
    n: int,
    type: str,
    accuracy: str,
    algorithm: str,
    levels: int,
    device: str,
    workspace_limit: int,
    accumulate: bool,
) -> Plan: ...

class Verification:
    """What heptad.verify found. True if the product is right."""

    @property
    def passed(self) -> bool: ...
    @property
    def decided(self) -> bool:
        """False: the check could not decide."""
    @property
    def miss_chance(self) -> float:
        """The chance that a wrong product passes."""
    @property
    def detectable_error(self) -> float:
        """Floats: the smallest error of an entry that is found with that chance."""
    @property
    def residual(self) -> float:
        """What was found, to compare with tolerance."""
    @property
    def tolerance(self) -> float: ...
    @property
    def bad_row(self) -> int:
        """Where it is wrong; -1: not known."""
    @property
    def bad_col(self) -> int: ...
    @property
    def explanation(self) -> str:
        """One sentence."""
    def __bool__(self) -> bool: ...

def verify(
    type: str, a: Any, b: Any, c: Any, accuracy: str, all_rows: bool, seed: int | None
) -> Verification: ...

class Bits:
    @staticmethod
    def zeros(rows: int, cols: int, /) -> Bits: ...
    @staticmethod
    def identity(size: int) -> Bits: ...
    @staticmethod
    def random(rows: int, cols: int, seed: int, density: float) -> Bits: ...
    @staticmethod
    def from_packed(bytes: Any, cols: int) -> Bits: ...
    def to_packed(self, bytes: Any) -> None: ...
    @property
    def rows(self) -> int: ...
    @property
    def cols(self) -> int: ...
    def get(self, i: int, j: int, /) -> bool: ...
    def set(self, i: int, j: int, value: bool, /) -> None: ...
    def count(self) -> int: ...
    def equals(self, other: Bits, /) -> bool: ...
    def transposed(self) -> Bits: ...
    def xor(self, other: Bits, /) -> Bits: ...
    def or_(self, other: Bits, /) -> Bits: ...
    def and_(self, other: Bits, /) -> Bits: ...
    def triangles(self) -> int: ...

def multiply_bits(algebra: str, a: Bits, b: Bits, device: str) -> Bits: ...
def power_of_bits(algebra: str, a: Bits, exponent: int) -> Bits: ...
def closure_of_bits(graph: Bits, device: str) -> Bits: ...
def verify_bits(algebra: str, a: Bits, b: Bits, c: Bits, all_rows: bool, seed: int | None) -> Verification: ...

class FileReport:
    """What a product from file to file did."""

    @property
    def type(self) -> str: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def plan(self) -> str: ...
    @property
    def multiply_s(self) -> float: ...
    @property
    def error_bound(self) -> float: ...
    @property
    def in_pieces(self) -> bool: ...
    @property
    def tiles(self) -> int: ...
    @property
    def resumed_tiles(self) -> int: ...
    @property
    def peak_resident_bytes(self) -> int: ...
    @property
    def fell_back(self) -> bool: ...
    @property
    def verified(self) -> bool: ...
    @property
    def miss_chance(self) -> float: ...

def multiply_files(
    a: bytes,
    transpose_a: bool,
    b: bytes,
    transpose_b: bool,
    c: bytes,
    type: str | None,
    columns: int | None,
    accuracy: str,
    algorithm: str,
    levels: int,
    device: str,
    memory_bytes: int | None,
    resume: bool,
    verify: bool,
    progress: Callable[[float, str], object] | None,
) -> FileReport: ...
def xla_handler(device: bool) -> Any: ...

"""heptad.open: matrices in files, multiplied from file to file, whatever the size."""

from __future__ import annotations

import os
from typing import Any, Callable, Union

from . import _core
from ._core import FileReport
from ._options import Accuracy, bytes_number, levels_number, whole_number
from ._program import PROGRAM

type_of = type  # `type` is a word of the products below
Progress = Union[bool, Callable[[float, str], object], None]
Path = Union[str, bytes, "os.PathLike[str]"]


class File:
    """A matrix in a file: .npy, file.h5:/dataset, .mtx, or bits in .pbm and .png. It is not loaded.

    a @ b is a product that needs a name to be computed: (a @ b).save("C.npy").
    """

    __slots__ = ("path", "shape", "type", "transposed")
    __array_ufunc__ = None  # file @ array is not NumPy's

    path: str
    shape: tuple[int, int]
    type: str | None
    """f64, f32, f16, i32, i64, bool ...: what the file holds. None: bits that say nothing about their algebra."""
    transposed: bool

    def __init__(self, path: str, shape: tuple[int, int], type: str | None, transposed: bool = False) -> None:
        self.path, self.shape, self.type, self.transposed = path, shape, type, transposed

    @property
    def T(self) -> File:
        return File(self.path, self.shape[::-1], self.type, not self.transposed)

    def numpy(self) -> Any:
        """A .npy file as a read-only array, mapped into memory."""
        import numpy

        array = numpy.load(self.path, mmap_mode="r", allow_pickle=False)
        return array.T if self.transposed else array

    def __matmul__(self, other: Any) -> FileProduct:
        return FileProduct(self, other) if isinstance(other, File) else NotImplemented

    def matmul(self, other: File, out_path: Path, **words: Any) -> File:
        """self @ other into a file. Keywords: see FileProduct.run."""
        return (self @ other).save(out_path, **words)

    def __repr__(self) -> str:
        rows, cols = self.shape
        turned = ", transposed" if self.transposed else ""
        return f"<heptad.File {self.path}: {rows} x {cols} {self.type or 'bits'}{turned}>"


class FileProduct:
    """a @ b of two files, not computed yet. Where they hold packed bits, shapes are counted in bytes."""

    __slots__ = ("a", "b")

    def __init__(self, a: File, b: File) -> None:
        # Bits may be packed, which only `columns` tells: the library compares their sizes.
        if a.type is not None and b.type is not None and a.shape[1] != b.shape[0]:
            raise ValueError(
                f"{a.path} is {a.shape[0]} x {a.shape[1]} and {b.path} is {b.shape[0]} x {b.shape[1]}: the inner sizes "
                f"{a.shape[1]} and {b.shape[0]} differ"
            )
        self.a, self.b = a, b

    @property
    def shape(self) -> tuple[int, int]:
        return (self.a.shape[0], self.b.shape[1])

    def save(self, out_path: Path, **words: Any) -> File:
        """Computes the product into a file. The file appears under its name when it is complete. Keywords: see run."""
        self.run(out_path, **words)
        return open(out_path)

    def run(
        self,
        out_path: Path,
        *,
        resume: bool = False,
        progress: Progress = None,
        verify: bool = False,
        memory_bytes: int | None = None,
        type: str | None = None,
        columns: int | None = None,
        accuracy: Accuracy = "balanced",
        algorithm: str = "auto",
        levels: int | None = None,
        device: str = "auto",
    ) -> FileReport:
        """Like save, but returns what was done: plan, times, pieces.

        resume: work piece by piece, and continue where an earlier run ended (also by Ctrl-C).
        progress: True for a tqdm bar, or a function of (fraction, stage).
        verify: check the result by a random test.
        memory_bytes: maximum memory for everything.
        type: f64 widens; gf2 or bool says how bits are multiplied.
        columns: the .npy files hold packed bits, and B has this many columns.

        Ctrl-C returns at once. The piece under way is finished in the background and kept for resume; if it is the last
        one, the file appears.
        """
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise TypeError(f"progress is a {type_of(progress).__name__}; use True, or give a function of (fraction, stage)")
        bar = _Bar() if progress is True else None
        listener = bar or (progress if callable(progress) else None)
        try:
            report = _core.multiply_files(
                os.fsencode(self.a.path),
                self.a.transposed,
                os.fsencode(self.b.path),
                self.b.transposed,
                os.fsencode(out_path),
                type,
                None if columns is None else whole_number("a number of columns", columns),
                accuracy,
                algorithm,
                levels_number(levels),
                device,
                None if memory_bytes is None else bytes_number("a memory", memory_bytes),
                bool(resume),
                bool(verify),
                listener,
            )
            if listener is not None:
                listener(1.0, "done")
            return report
        finally:
            if bar is not None:
                bar.close()

    def __repr__(self) -> str:
        return f"<heptad.FileProduct {self.shape[0]} x {self.shape[1]}: {self.a.path} @ {self.b.path}>"


class _Bar:
    """A tqdm bar for each stage."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            raise ImportError("progress=True needs tqdm: pip install tqdm, or give a function of (fraction, stage)") from None
        self._bar = tqdm(total=100, unit="%", bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}")

    def __call__(self, fraction: float, stage: str) -> None:
        if stage != self._bar.desc:
            self._bar.set_description_str(stage, refresh=False)
            self._bar.reset(total=100)
        self._bar.update(100 * fraction - self._bar.n)

    def close(self) -> None:
        self._bar.close()


def open(path: Path) -> File:
    """A matrix in a file, to multiply from file to file. Reads only the header (of a file of bits, everything)."""
    import json
    import subprocess

    name = os.fsdecode(path)
    file = name.split(":/", 1)[0] if ".h5:/" in name or ".hdf5:/" in name else name
    os.stat(file)  # a missing file is Python's own error
    if not os.access(file, os.R_OK):
        raise PermissionError(f"'{file}' may not be read")
    command = [PROGRAM, "info", "--json", "--", name]
    info = subprocess.run(command, capture_output=True, encoding="utf-8", errors="backslashreplace", check=False)
    if info.returncode != 0:
        sentence = info.stderr.strip().removeprefix("heptad: ")
        raise ValueError(sentence or f"'{name}' cannot be read as a matrix")
    facts = json.loads(info.stdout)
    return File(name, (facts["rows"], facts["cols"]), facts.get("type"))

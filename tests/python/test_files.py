"""heptad.open: from file to file, with progress, resume and Ctrl-C."""

import os
import signal
import time

import heptad
import numpy as np
import pytest
from test_interrupt import LATEST


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    np.save("A.npy", rng.integers(-3, 4, (200, 150)).astype(np.float64))
    np.save("B.npy", rng.integers(-3, 4, (150, 120)).astype(np.float64))
    return tmp_path


def test_product_of_two_files_is_a_file(folder):
    a, b = heptad.open("A.npy"), heptad.open(folder / "B.npy")
    assert a.shape == (200, 150) and a.type == "f64" and not a.transposed
    assert "200 x 150 f64" in repr(a)
    product = a @ b
    assert product.shape == (200, 120) and "A.npy" in repr(product)
    c = product.save("C.npy")
    assert isinstance(c, heptad.File) and c.shape == (200, 120)
    np.testing.assert_array_equal(np.load("C.npy"), np.load("A.npy") @ np.load("B.npy"))
    np.testing.assert_array_equal(c.numpy(), np.load("C.npy"))
    assert a.matmul(b, folder / "D.npy", verify=True).shape == (200, 120)
    np.testing.assert_array_equal(np.load("C.npy"), np.load("D.npy"))


def test_paths_may_be_bytes_and_memory_is_a_number_of_bytes(folder):
    product = heptad.open(b"A.npy") @ heptad.open("B.npy")
    assert product.save(b"C.npy", memory_bytes=1 << 70).path == "C.npy"
    with pytest.raises(TypeError, match="as an integer"):
        product.save("C.npy", memory_bytes=1e9)
    with pytest.raises(ValueError, match="not possible"):
        product.save("C.npy", memory_bytes=-1)


def test_paths_need_not_be_utf_8(folder):
    try:
        os.rename("A.npy", b"\xffA.npy")
    except OSError:
        pytest.skip("the file system takes names in UTF-8 only")
    a, b = heptad.open(bytes(folder) + b"/\xffA.npy"), heptad.open("B.npy")
    expected = np.load(os.fsdecode(b"\xffA.npy")) @ np.load("B.npy")
    np.testing.assert_array_equal((a @ b).save(b"\xfeC.npy", resume=True).numpy(), expected)
    np.testing.assert_array_equal(np.load(os.fsdecode(b"\xfeC.npy")), expected)
    with pytest.raises(OSError, match=r"\\xfe"):
        (a @ b).save(b"no/\xfe/C.npy")
    (folder / os.fsdecode(b"\xfdbad.npy")).write_text("hello")
    with pytest.raises(ValueError, match=r"\\xfdbad.npy' is not a .npy file"):
        heptad.open(b"\xfdbad.npy")


def test_transposed_files(folder):
    a = heptad.open("A.npy")
    assert a.T.shape == (150, 200) and a.T.T.shape == (200, 150)
    (a.T @ a).save("C.npy")
    array = np.load("A.npy")
    np.testing.assert_array_equal(np.load("C.npy"), array.T @ array)
    np.testing.assert_array_equal(a.T.numpy(), array.T)


def test_report_and_progress_and_pieces(folder):
    told = []
    report = (heptad.open("A.npy") @ heptad.open("B.npy")).run(
        "C.npy", progress=lambda fraction, stage: told.append((fraction, stage)), memory_bytes=1 << 24, resume=True
    )
    assert report.shape == (200, 120) and report.type == "f64" and report.plan and report.in_pieces
    assert told[-1] == (1.0, "done")
    assert all(0 <= fraction <= 1 and isinstance(stage, str) for fraction, stage in told)
    np.testing.assert_array_equal(np.load("C.npy"), np.load("A.npy") @ np.load("B.npy"))


def test_bar_of_tqdm(folder, capfd):
    pytest.importorskip("tqdm")
    (heptad.open("A.npy") @ heptad.open("B.npy")).save("C.npy", progress=True)
    assert "done: 100%" in capfd.readouterr().err


def test_bits_in_their_algebra(folder):
    array = np.random.default_rng(2).random((70, 70)) < 0.5
    np.save("G.npy", array)
    g = heptad.open("G.npy")
    counts = array.astype(int) @ array.astype(int)
    np.testing.assert_array_equal((g @ g).save("X.npy", type="gf2").numpy(), counts % 2 == 1)
    np.testing.assert_array_equal((g @ g).save("Y.npy", type="bool").numpy(), counts > 0)
    (g @ g).save("Z.pbm", type="gf2")
    assert heptad.open("Z.pbm").shape == (70, 70)


@pytest.mark.parametrize("algebra", ["gf2", "bool"])
def test_packed_bits(folder, algebra):
    rng = np.random.default_rng(3)
    a, b = rng.random((100, 200)) < 0.1, rng.random((200, 77)) < 0.1
    np.save("PA.npy", np.packbits(a, axis=1))
    np.save("PB.npy", np.packbits(b, axis=1))

    def product(x, y):
        counts = x.astype(int) @ y.astype(int)
        return counts % 2 == 1 if algebra == "gf2" else counts > 0

    def unpacked(file):
        return np.unpackbits(file.numpy(), axis=1, count=77)

    words = {"type": algebra, "columns": 77}
    first, second = heptad.open("PA.npy"), heptad.open("PB.npy")
    c = first.matmul(second, "PC.npy", **words)
    assert c.shape == (100, 10)
    np.testing.assert_array_equal(unpacked(c), product(a, b))
    np.testing.assert_array_equal(unpacked(c.T.matmul(c, "PD.npy", **words)), product(product(a, b).T, product(a, b)))
    assert (first @ second).save("C.pbm", **words).shape == (100, 77)
    with pytest.raises(ValueError, match="give columns"):
        (first @ second).save("X.npy", type=algebra)
    with pytest.raises(ValueError, match="check columns"):
        (second @ first).save("X.npy", type=algebra, columns=200)
    with pytest.raises(ValueError, match="a number of columns of -1 is not possible"):
        (first @ second).save("X.npy", type=algebra, columns=-1)
    with pytest.raises(TypeError, match="type is a int; give a word"):
        (first @ second).save("X.npy", type=2, columns=77)


def test_errors_are_pythons_own(folder):
    with pytest.raises(FileNotFoundError):
        heptad.open("missing.npy")
    (folder / "bad.npy").write_text("hello")
    with pytest.raises(ValueError, match="not a .npy file"):
        heptad.open("bad.npy")
    a, b = heptad.open("A.npy"), heptad.open("B.npy")
    with pytest.raises(ValueError, match="inner sizes 120 and 200 differ"):
        b @ a
    with pytest.raises(TypeError):
        a @ np.ones((150, 3))
    with pytest.raises(OSError):
        (a @ b).save("no/such/folder/C.npy")
    with pytest.raises(ValueError, match="sloppy"):
        (a @ b).save("C.npy", accuracy="sloppy")
    with pytest.raises(ValueError, match="2147483648 levels are not possible"):
        (a @ b).run("C.npy", levels=2**31)
    with pytest.raises(TypeError, match="accuracy is a NoneType; give a word"):
        (a @ b).run("C.npy", accuracy=None)
    with pytest.raises(TypeError, match="progress is a int"):
        (a @ b).save("C.npy", progress=5)
    (folder / "B.npy").unlink()
    with pytest.raises((OSError, ValueError)):
        (a @ b).save("C.npy")
    assert not (folder / "C.npy").exists()


def test_exception_of_the_listener_ends_the_product(folder):
    def refuse(fraction, stage):
        raise LookupError("enough")

    np.save("L.npy", np.ones((2000, 2000)))
    large = heptad.open("L.npy")
    with pytest.raises(LookupError, match="enough"):
        (large @ large).save("C.npy", progress=refuse)


def test_interrupted_product_is_resumed(folder):
    rng = np.random.default_rng(1)
    np.save("L.npy", rng.integers(-3, 4, (4000, 4000)).astype(np.float64))
    large = heptad.open("L.npy")
    words = {"memory_bytes": 20 << 20, "resume": True}
    sent = []

    def interrupt_in_the_middle(fraction, stage):
        if fraction > 0.4 and not sent:
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        (large @ large).save("C.npy", progress=interrupt_in_the_middle, **words)
    assert time.perf_counter() - sent[0] < LATEST
    assert not (folder / "C.npy").exists()
    report = (large @ large).run("C.npy", **words)
    assert 0 < report.resumed_tiles < report.tiles
    array = np.load("L.npy", mmap_mode="r")
    np.testing.assert_array_equal(np.load("C.npy", mmap_mode="r")[:3], array[:3] @ array)

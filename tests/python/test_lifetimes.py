"""Who owns what: read-only arrays, buffers under way, references."""

import gc
import sys
import threading
import time
import weakref

import heptad
import numpy as np
import pytest


def test_read_only_inputs_are_fine_and_read_only_out_is_refused():
    a = np.ones((3, 3))
    a.flags.writeable = False
    np.testing.assert_array_equal(heptad.matmul(a, a), np.full((3, 3), 3.0))
    with pytest.raises(ValueError, match="read-only"):
        heptad.matmul(np.ones((3, 3)), np.ones((3, 3)), out=a)
    np.testing.assert_array_equal(a, 1)


def test_memory_mapped_files_and_bytes_are_inputs(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(5))
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    np.testing.assert_array_equal(heptad.matmul(mapped, mapped), np.eye(5))
    frozen = np.frombuffer(np.eye(4, dtype=np.float32).tobytes(), np.float32).reshape(4, 4)
    np.testing.assert_array_equal(heptad.matmul(frozen, frozen), np.eye(4))


def test_nothing_is_kept_after_a_product():
    a, b = np.ones((40, 40)), np.ones((40, 40))
    for make in (lambda: heptad.matmul(a, b), lambda: heptad.matmul(a[::-1], b), lambda: heptad.matmul(a[:, 0], b)):
        make()
        before = sys.getrefcount(a), sys.getrefcount(b)
        for _ in range(10):
            make()
        assert (sys.getrefcount(a), sys.getrefcount(b)) == before
    with pytest.raises(ValueError):
        heptad.matmul(a, b, accuracy="sloppy")
    a.resize((20, 80), refcheck=False)  # refused while a buffer is held


def test_result_owns_its_memory():
    result = heptad.matmul(np.ones((50, 50)), np.ones((50, 50)))
    gc.collect()
    assert result.flags.owndata or result.base is not None
    watch = weakref.ref(result)
    del result
    gc.collect()
    assert watch() is None


def test_inputs_that_lose_their_last_name_live_until_the_product_ends():
    results = []

    def multiply():
        results.append(heptad.matmul(np.full((1500, 1500), 2.0), np.full((1500, 1500), 0.5)))

    thread = threading.Thread(target=multiply)
    thread.start()
    while thread.is_alive():
        gc.collect()
        time.sleep(0.001)
    np.testing.assert_array_equal(results[0], 1500)


def test_subclasses_and_other_sequences_of_numbers_are_taken():
    matrix = np.asmatrix(np.eye(3))
    np.testing.assert_array_equal(heptad.matmul(matrix, np.ones((3, 2))), np.ones((3, 2)))

    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return np.eye(3)

    np.testing.assert_array_equal(heptad.matmul(Wrapped(), Wrapped()), np.eye(3))

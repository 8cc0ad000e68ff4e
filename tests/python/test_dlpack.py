"""Arrays of any library that speak DLPack: in host memory here, and on devices that Heptad cannot reach."""

import gc
import weakref

import heptad
import numpy as np
import pytest


class Owner:
    """Tells of its array by DLPack and by nothing else."""

    def __init__(self, array, device=None):
        self.array = array
        self.device = device

    def __dlpack__(self, **words):
        return self.array.__dlpack__(**words)

    def __dlpack_device__(self):
        return self.device or self.array.__dlpack_device__()


def numbers(shape, dtype=np.float32, seed=1):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int32])
def test_host_arrays_are_multiplied_without_a_copy_of_their_own(dtype):
    a, b = numbers((5, 6), dtype), numbers((6, 7), dtype, 2)
    for left, right in ((Owner(a), Owner(b)), (Owner(a), b), (a, Owner(b)), (Owner(b.T), Owner(a.T))):
        found = heptad.matmul(left, right)
        assert type(found) is np.ndarray and found.dtype == dtype
        np.testing.assert_array_equal(found, np.from_dlpack(left) @ np.from_dlpack(right))
    out = np.zeros((5, 7), dtype)
    assert heptad.matmul(Owner(a), Owner(b), out) is out
    np.testing.assert_array_equal(out, a @ b)


def test_read_only_arrays_are_inputs_only():
    a = numbers((4, 4))
    a.flags.writeable = False
    np.testing.assert_array_equal(heptad.matmul(Owner(a), Owner(a)), a @ a)
    with pytest.raises((TypeError, ValueError), match="out is"):
        heptad.matmul(Owner(a), Owner(a), a)
    with pytest.raises(TypeError, match="out is a Owner"):
        heptad.matmul(Owner(a), Owner(a), Owner(np.zeros((4, 4), np.float32)))


def test_owners_live_until_the_product_is_made_and_no_longer():
    owner = Owner(numbers((30, 30)))
    watch = weakref.ref(owner)
    result = heptad.matmul(owner, owner)
    expected = owner.array @ owner.array
    del owner
    gc.collect()
    assert watch() is None
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("kind, name", [(10, "ROCm"), (8, "Metal"), (14, "oneAPI"), (4, "OpenCL"), (99, "kind 99")])
def test_other_devices_are_refused_in_a_sentence(kind, name):
    array = Owner(numbers((3, 3)), (kind, 0))
    for left, right in ((array, array), (array, np.ones((3, 3), np.float32)), (np.ones((3, 3), np.float32), array)):
        with pytest.raises(TypeError, match=f"{name}.*host memory and on NVIDIA devices"):
            heptad.matmul(left, right)


def test_jax_arrays_in_host_memory_are_inputs():
    jax = pytest.importorskip("jax")
    a, b = numbers((5, 6)), numbers((6, 7), seed=2)
    np.testing.assert_array_equal(heptad.matmul(jax.numpy.asarray(a), jax.numpy.asarray(b)), a @ b)

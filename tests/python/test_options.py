"""Words of matmul, and what is raised where they cannot be meant."""

import heptad
import numpy as np
import pytest

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("accuracy", ["exact", "strict", "balanced", "fast"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_accuracy_keeps_its_bound(accuracy, dtype):
    a, b = RNG.standard_normal((2, 300, 300)).astype(dtype)
    c = heptad.matmul(a, b, accuracy=accuracy)
    exact = a.astype(np.longdouble) @ b.astype(np.longdouble)
    norms = np.linalg.norm(a, axis=1)[:, None] * np.linalg.norm(b, axis=0)[None, :]
    error = float((np.abs(c - exact) / norms).max()) / np.finfo(dtype).eps
    assert error < {"exact": 1, "strict": 20, "balanced": 200, "fast": 2000}[accuracy]


def test_exact_has_the_same_bits_for_any_order_of_sums():
    a, b = RNG.standard_normal((2, 100, 100)).astype(np.float32)
    order = RNG.permutation(100)
    c = heptad.matmul(a, b, accuracy="exact")
    np.testing.assert_array_equal(c, heptad.matmul(a[:, order], b[order], accuracy="exact"))


@pytest.mark.parametrize("algorithm", ["strassen", "winograd"])
@pytest.mark.parametrize("levels", [0, 1, 2, 3])
def test_levels_are_exact_on_small_integers(algorithm, levels):
    a = RNG.integers(-3, 4, (65, 66)).astype(np.float64)
    b = RNG.integers(-3, 4, (66, 67)).astype(np.float64)
    np.testing.assert_array_equal(heptad.matmul(a, b, algorithm=algorithm, levels=levels), a @ b)


def test_no_workspace_and_several_devices():
    a = RNG.integers(-3, 4, (130, 130)).astype(np.float32)
    np.testing.assert_array_equal(heptad.matmul(a, a, workspace_limit=0), a @ a)
    np.testing.assert_array_equal(heptad.matmul(a, a, device="cpu:2"), a @ a)
    np.testing.assert_array_equal(heptad.matmul(a, a, device="reference"), a @ a)


SQUARE = np.ones((4, 4))


@pytest.mark.parametrize(
    "words, sentence",
    [
        ({"accuracy": "sloppy"}, "exact, strict, balanced or fast"),
        ({"algorithm": "magic"}, "magic"),
        ({"levels": -1}, "levels"),
        ({"levels": 1000}, "levels"),
        ({"levels": 2**31}, "2147483648 levels are not possible; use 0 to 20"),
        ({"device": "toaster"}, "toaster"),
        ({"workspace_limit": -5}, "workspace"),
    ],
)
def test_words_that_cannot_be_meant_are_value_errors(words, sentence):
    with pytest.raises(ValueError, match=sentence):
        heptad.matmul(SQUARE, SQUARE, **words)


def test_wrong_kinds_of_words_are_type_errors():
    for words in ({"accuracy": 3}, {"device": 1.5}, {"wings": 2}, {"levels": "two"}):
        with pytest.raises(TypeError):
            heptad.matmul(SQUARE, SQUARE, **words)


@pytest.mark.parametrize("name", ["accuracy", "algorithm", "device"])
def test_words_that_are_none_are_refused_in_a_sentence(name):
    for function, arguments in ((heptad.matmul, (SQUARE, SQUARE)), (heptad.plan, (4, 4, 4))):
        with pytest.raises(TypeError, match=f"^{name} is a NoneType; give a word, such as '"):
            function(*arguments, **{name: None})


def test_exact_refuses_what_it_cannot_do_with_a_sentence():
    a = np.array([[1e300, 1e-300], [1, 1]])
    try:
        heptad.matmul(a, a, accuracy="exact")
    except ValueError as error:
        assert len(str(error)) > 20


def test_missing_device_is_a_runtime_error_that_names_the_way_out():
    try:
        heptad.matmul(SQUARE, SQUARE, device="cuda")
    except RuntimeError as error:
        assert "cpu" in str(error)


def test_memory_that_is_not_there_is_a_memory_error():
    a = np.broadcast_to(np.float32(1), (1 << 22, 1))
    with pytest.raises(MemoryError):
        heptad.matmul(a, np.broadcast_to(np.float32(1), (1, 1 << 24)))


def test_masked_arrays_are_refused():
    with pytest.raises(TypeError, match="masks"):
        heptad.matmul(np.ma.masked_equal(np.ones((2, 2)), 1), np.ones((2, 2)))


def test_matrices_with_a_product_of_their_own_are_refused():
    bits = heptad.BitMatrix.identity(4)
    for a, b in ((bits, bits), (SQUARE, bits), (bits, SQUARE)):
        with pytest.raises(TypeError, match="use @"):
            heptad.matmul(a, b)

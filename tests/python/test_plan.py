"""Plans print, explain and come back; and verify tells right from wrong."""

import pickle

import heptad
import numpy as np
import pytest


def test_plan_is_readable_in_every_form():
    plan = heptad.plan(4096, 4096, 4096, "f32", algorithm="winograd", levels=2)
    assert (plan.m, plan.k, plan.n, plan.type, plan.levels) == (4096, 4096, 4096, "f32", 2)
    assert plan.workspace_bytes > 0 and plan.predicted_s > 0 and plan.error_bound > 0
    assert plan.expected_error_growth > 1
    assert "2 levels of winograd" in repr(plan) and "workspace" in repr(plan)
    explained = plan.explain()
    for word in ("product", "levels", "workspace", "predicted time", "expected error", "error bound"):
        assert word in explained
    assert plan._repr_html_().startswith("<table>") and "winograd" in plan._repr_html_()
    assert plan.words()["backend"] == "cpu"


def test_plan_by_residues_says_so():
    plan = heptad.plan(1000, 1000, 1000, "f64", accuracy="exact", device="cpu")
    assert "residues:24" in repr(plan) and "residues:24" in plan.explain()
    assert "classical" not in repr(plan) and "(classical)" not in plan.explain()


def test_plan_prints_and_parses_back():
    plan = heptad.plan(300, 200, 100, np.float64)
    assert heptad.Plan.parse(str(plan)) == plan
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert len({plan, heptad.Plan.parse(str(plan))}) == 1
    with pytest.raises(ValueError):
        heptad.Plan.parse("no plan at all")


@pytest.mark.parametrize("dtype", ["f64", "f32", "tf32", "bf16", "f16", "i32", "i64", "bool", "gf2", np.float32, "float64", bool, "bfloat16"])
def test_every_type_has_a_plan(dtype):
    plan = heptad.plan(100, 100, 100, dtype)
    assert plan.explain()
    if dtype in ("i32", "i64", "bool", "gf2", bool):
        assert plan.error_bound == 0 and "exact" in plan.explain()


def test_plan_over_several_devices_and_strict_ones():
    assert "cpu:2" in str(heptad.plan(3000, 3000, 3000, "f32", device="cpu:2"))
    assert heptad.plan(64, 64, 64, accuracy="strict").expected_error_growth == 1


def test_sizes_and_words_that_cannot_be_meant():
    for size in (-1, 1 << 63):
        with pytest.raises(ValueError, match=rf"a size of {size} is not possible; use 0 to 2\*\*63 - 1"):
            heptad.plan(1, size, 1)
    with pytest.raises(ValueError, match="2147483648 levels are not possible"):
        heptad.plan(3, 3, 3, levels=2**31)
    for args in ((-1, 2, 3), (1 << 62, 1 << 62, 1 << 62)):
        with pytest.raises((ValueError, MemoryError, OverflowError)):
            heptad.plan(*args)
    with pytest.raises(TypeError, match="complex256|clongdouble"):
        heptad.plan(3, 3, 3, np.clongdouble)
    with pytest.raises(TypeError):
        heptad.plan(3, 3, 3, "q7")
    for size in ("3", 3.0, None):
        with pytest.raises(TypeError, match="as an integer"):
            heptad.plan(size, 3, 3)
    assert heptad.plan(3, 3, 3, workspace_limit=1 << 70) == heptad.plan(3, 3, 3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int32, np.int64, np.complex64, np.complex128, bool])
def test_verify_tells_right_from_wrong(dtype):
    rng = np.random.default_rng(1)
    a, b = rng.integers(-9, 10, (120, 90)).astype(dtype), rng.integers(-9, 10, (90, 100)).astype(dtype)
    c = heptad.matmul(a, b)
    told = heptad.verify(a, b, c, all_rows=True)
    assert told and told.passed and told.decided and told.miss_chance < 0.5
    assert "passed" in repr(told)
    c[17, 23] = not c[17, 23] if dtype is bool else c[17, 23] + 100
    told = heptad.verify(a, b, c, all_rows=True)
    assert not told and told.decided and told.bad_row == 17
    assert "failed" in repr(told) and told.explanation


def test_verify_takes_any_seed_of_64_bits():
    bits = heptad.BitMatrix.identity(4)
    for x in (np.eye(4), bits):
        assert heptad.verify(x, x, x, seed=2**64 - 1)
        for seed in (-1, 2**64):
            with pytest.raises(ValueError, match=rf"a seed of {seed} is not possible; use 0 to 2\*\*64 - 1"):
                heptad.verify(x, x, x, seed=seed)
        with pytest.raises(TypeError, match="as an integer"):
            heptad.verify(x, x, x, seed=1.5)
    with pytest.raises(TypeError, match="accuracy is a NoneType"):
        heptad.verify(np.eye(4), np.eye(4), np.eye(4), accuracy=None)


def test_verify_takes_any_layout_and_refuses_other_things():
    a, b = np.random.default_rng(1).random((2, 60, 60))
    assert heptad.verify(a[::-1].T, b[:, ::2], a[::-1].T @ b[:, ::2])
    assert heptad.verify(a, b, a @ b, seed=7).residual == heptad.verify(a, b, a @ b, seed=7).residual
    with pytest.raises(ValueError):
        heptad.verify(a, b, a[:50])
    with pytest.raises(ValueError, match="one by one"):
        heptad.verify(a[None], b, a)
    with pytest.raises(TypeError, match="one type"):
        heptad.verify(a, b, (a @ b).astype(np.float32))
    with pytest.raises(TypeError, match="complex"):
        heptad.verify(*[x.astype(np.clongdouble) for x in (a, b, a)])
    with pytest.raises(TypeError, match="mixed"):
        heptad.verify(heptad.BitMatrix.identity(3), b, a)

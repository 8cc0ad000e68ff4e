"""PyTorch's products over the samples, references and tolerances of its own test suite: the database of operators that
its package brings (torch.testing._internal). The classes and tests have the names that they have there, by which the
database knows what to skip and where to be lenient. library_suites.py runs it with and without the drop-in."""

import os

import torch
from torch.testing._comparison import default_tolerances
from torch.testing._internal.common_device_type import OpDTypes, instantiate_device_type_tests, ops
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_utils import TestCase, TestGradients

NAMES = {
    "__rmatmul__", "addbmm", "addmm", "addmv", "baddbmm", "bmm", "einsum", "inner", "linalg.matrix_power",
    "linalg.multi_dot", "matmul", "mm", "mv", "nn.functional.linear", "tensordot",
}
PRODUCTS = [op for op in op_db if op.name in NAMES]
TYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.complex64, torch.complex128)


# With a forced level, so many unit roundoffs of |A||B| beside PyTorch's own tolerance (docs/accuracy.md): its tolerances
# are for the classical product, and next to nothing where terms cancel.
FORCED_ROUNDOFFS = 10 if int(os.environ.get("HEPTAD_LEVELS", "0")) > 0 else 0


def on_host(value):
    return value.cpu() if isinstance(value, torch.Tensor) else value


def magnitude(value):
    """In f64; of factors too, but not of whole numbers, which are axes and powers."""
    if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter) and value.dtype != torch.int64:
        return value.detach().cpu().abs().double()
    return abs(value) if isinstance(value, (float, complex)) else value


class TestCommon(TestCase):
    def expect_close(self, found, expected, sample, op):
        if FORCED_ROUNDOFFS == 0 or op.name == "linalg.matrix_power":  # which inverts for some of them
            self.assertEqual(found, expected)
            return
        of_magnitudes = sample.transform(magnitude)  # leaves keywords alone
        keywords = {name: magnitude(value) for name, value in sample.kwargs.items()}
        terms = op(of_magnitudes.input, *of_magnitudes.args, **keywords)
        rtol, atol = default_tolerances(expected.dtype)
        roundoff = torch.finfo(expected.dtype).eps / 2
        wide = torch.complex128 if expected.is_complex() else torch.float64
        found = found.cpu()
        error = (found.to(wide) - expected.to(wide)).abs().where(found != expected, 0)  # infinities may be equal
        allowed = atol + rtol * expected.to(wide).abs() + FORCED_ROUNDOFFS * roundoff * terms
        shares = (error / allowed).flatten().tolist()
        self.assertTrue(all(share <= 1 for share in shares), f"{max(shares, default=0):.3g} of what is allowed")

    @ops(PRODUCTS, allowed_dtypes=TYPES)
    def test_compare_cpu(self, device, dtype, op):
        """On the device and on the processor."""
        for sample in op.reference_inputs(device, dtype):
            there = sample.transform(on_host)
            found, expected = (op(each.input, *each.args, **each.kwargs) for each in (sample, there))
            self.expect_close(found, expected, there, op)

    @ops(PRODUCTS, allowed_dtypes=TYPES)
    def test_out(self, device, dtype, op):
        """Into memory that is given, of the right shape and with gaps between its rows."""
        if not op.supports_out:
            self.skipTest("takes no out")
        for sample in op.sample_inputs(device, dtype):
            expected = op(sample.input, *sample.args, **sample.kwargs)
            if isinstance(expected, torch.Tensor) and expected.dim() > 1:
                wide = expected.new_full((*expected.shape[:-1], expected.shape[-1] + 3), 7)
                out = wide[..., : expected.shape[-1]]
                op(sample.input, *sample.args, **sample.kwargs, out=out)
                self.assertEqual(out, expected)
                self.assertTrue((wide[..., expected.shape[-1] :] == 7).all())


class TestBwdGradients(TestGradients):
    @ops(PRODUCTS, dtypes=OpDTypes.supported_backward, allowed_dtypes=(torch.float64, torch.complex128))
    def test_fn_grad(self, device, dtype, op):
        self._grad_test_helper(device, dtype, op, op.get_op())


for tests in (TestCommon, TestBwdGradients):
    instantiate_device_type_tests(tests, globals())

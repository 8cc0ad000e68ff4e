"""PyTorch's products over the samples, references and tolerances of its own test suite: the database of operators that
its package brings (torch.testing._internal). The classes and tests have the names that they have there, by which the
database knows what to skip and where to be lenient. library_suites.py runs it with and without the drop-in."""

import torch
from torch.testing._internal.common_device_type import OpDTypes, instantiate_device_type_tests, ops
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_utils import TestCase, TestGradients

NAMES = {
    "__rmatmul__", "addbmm", "addmm", "addmv", "baddbmm", "bmm", "einsum", "inner", "linalg.matrix_power",
    "linalg.multi_dot", "matmul", "mm", "mv", "nn.functional.linear", "tensordot",
}
PRODUCTS = [op for op in op_db if op.name in NAMES]
TYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.complex64, torch.complex128)


class TestCommon(TestCase):
    @ops(PRODUCTS, allowed_dtypes=TYPES)
    def test_compare_cpu(self, device, dtype, op):
        """On the device and on the processor."""
        for sample in op.reference_inputs(device, dtype):
            there = sample.transform(lambda x: x.cpu() if isinstance(x, torch.Tensor) else x)
            found, expected = (op(each.input, *each.args, **each.kwargs) for each in (sample, there))
            self.assertEqual(sample.output_process_fn_grad(found), there.output_process_fn_grad(expected))

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

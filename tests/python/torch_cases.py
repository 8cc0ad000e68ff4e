"""What the tests with PyTorch share. They are unittest's, so that they run where there is no pytest:

    PYTHONPATH=DIR python3 tests/python/run_device_tests.py 'test_torch*.py'

HEPTAD_TEST_NO_COMPILER=1 leaves out those that wait a minute for Inductor's compilers.
"""

import os
import shutil
import unittest

try:
    import torch
except ImportError:
    raise unittest.SkipTest("PyTorch is not installed") from None

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
COMPLEX = (torch.complex64, torch.complex128)
HAS_COMPILER = shutil.which("g++") is not None and not os.environ.get("HEPTAD_TEST_NO_COMPILER")


def numbers(*shape, dtype=torch.float32, device="cpu", seed=1):
    """Small integers, of complex numbers both parts: every product of them is exact, in every type and by every
    algorithm."""
    generator = torch.Generator().manual_seed(seed)
    result = torch.randint(-3, 4, shape, generator=generator).to(dtype)
    if dtype.is_complex:
        result = result + 1j * torch.randint(-3, 4, shape, generator=generator).to(dtype)
    return result.to(device)


class TorchCase(unittest.TestCase):
    def assert_same(self, found, expected):
        self.assertEqual(found.dtype, expected.dtype)
        self.assertEqual(found.device, expected.device)
        self.assertEqual(found.shape, expected.shape)
        self.assertTrue(torch.equal(found, expected), f"{found} is not {expected}")

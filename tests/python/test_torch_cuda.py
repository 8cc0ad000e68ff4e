"""PyTorch's tensors on an NVIDIA device: streams, graphs, memory, errors. Runs where there is one."""

import gc
import unittest
import unittest.mock

from torch_cases import COMPLEX, FLOATS, TorchCase, numbers, torch

import heptad
import heptad.torch
from heptad import _torch_products

if not torch.cuda.is_available():
    raise unittest.SkipTest("PyTorch sees no NVIDIA device")


class CudaTest(TorchCase):
    def tearDown(self):
        heptad.torch.disable()
        torch.cuda.synchronize()

    def test_matmul_equals_torch_on_another_stream(self):
        for dtype in FLOATS + COMPLEX:
            for left, right in (((3, 4), (4, 5)), ((4,), (4, 5)), ((2, 1, 3, 4), (6, 4, 2)), ((300, 200), (200, 100))):
                a = numbers(*left, dtype=dtype, device="cuda")
                b = numbers(*right, dtype=dtype, device="cuda", seed=2)
                stream = torch.cuda.Stream()
                stream.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(stream):
                    self.assert_same(heptad.matmul(a, b), torch.matmul(a, b))

    def test_products_come_in_the_order_of_the_stream(self):
        stream = torch.cuda.Stream()
        n = 2048
        a, b = numbers(n, n, device="cuda"), numbers(n, n, device="cuda", seed=2)
        expected = a @ b
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            late = torch.zeros_like(a)
            torch.cuda._sleep(20_000_000)  # the input is there only after this
            late.copy_(a)
            found = heptad.torch.matmul(late, b, algorithm="strassen", levels=2)
            late.zero_()  # after the product
            self.assert_same(found, expected)

    def test_nothing_is_waited_for(self):
        a = numbers(1024, 1024, device="cuda")
        heptad.matmul(a, a)
        torch.cuda.synchronize()
        done = torch.cuda.Event()
        torch.cuda._sleep(400_000_000)
        heptad.matmul(a, a)
        done.record()
        self.assertFalse(done.query())
        torch.cuda.synchronize()

    def check_graph(self, words, **where):
        n = 2048
        a, b = numbers(n, n, device="cuda"), numbers(n, n, device="cuda", seed=2)
        side = where.get("stream") or torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            heptad.torch.matmul(a, b, **words)
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, **where):
            c = heptad.torch.matmul(a, b, **words)
        for seed in (3, 4):
            a.copy_(numbers(n, n, seed=seed))
            graph.replay()
            self.assert_same(c, a @ b)

    def test_graphs_capture_products_on_a_stream_that_is_known(self):
        for words in ({"levels": 0}, {"algorithm": "winograd", "levels": 1}, {}):
            with self.subTest(words=words):
                self.check_graph(words, stream=torch.cuda.Stream())

    def test_graphs_capture_products_on_a_new_stream(self):
        self.check_graph({"algorithm": "winograd", "levels": 1})

    def test_scratch_memory_is_of_pytorchs_allocator_and_goes_back(self):
        n = 4096
        a = numbers(n, n, device="cuda")
        words = {"algorithm": "strassen", "levels": 2}
        needed = heptad.plan(n, n, n, "f32", device="cuda", **words).workspace_bytes
        self.assertGreater(needed, _torch_products._LITTLE_BYTES)
        heptad.torch.matmul(a, a, **words)
        gc.collect()
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        c = heptad.torch.matmul(a, a, **words)
        self.assertGreaterEqual(torch.cuda.max_memory_allocated() - before, needed)
        del c
        self.assertEqual(torch.cuda.memory_allocated(), before)

    def test_products_end_well_where_pytorch_has_no_memory_left(self):
        n = 4096
        a = numbers(n, n, device="cuda")
        expected = a @ a
        real = torch.empty

        def empty(*shape, **words):
            if words.get("dtype") == torch.uint8:
                raise torch.cuda.OutOfMemoryError("made up for the test")
            return real(*shape, **words)

        with unittest.mock.patch.object(_torch_products.torch, "empty", empty):
            self.assert_same(heptad.torch.matmul(a, a, algorithm="strassen", levels=2), expected)

    def test_workspace_limit_of_zero_is_kept(self):
        a = numbers(2048, 2048, device="cuda")
        self.assert_same(heptad.matmul(a, a, workspace_limit=0), a @ a)

    def test_default_accuracy_is_within_ten_times_torchs_error(self):
        n = 8192
        torch.manual_seed(1)
        a, b = torch.randn(n, n, device="cuda"), torch.randn(n, n, device="cuda")
        exact = a.double() @ b.double()
        scale = a.double().abs() @ b.double().abs()
        classical = ((a @ b - exact).abs() / scale).max().item()
        with heptad.torch.enable() as routing:
            found = a @ b
        self.assertEqual(routing.taken, 1)
        ours = ((found - exact).abs() / scale).max().item()
        self.assertLessEqual(ours, 10 * max(classical, 2.0**-24))

    def test_large_complex_products_are_taken_with_smaller_errors(self):
        n = 4096
        torch.manual_seed(1)
        for dtype, wide in ((torch.complex64, torch.complex128), (torch.complex128, None)):
            a, b = (torch.randn(n, n, device="cuda", dtype=dtype) for _ in range(2))
            expected = a @ b.mH
            with heptad.torch.enable() as routing:
                found = a @ b.mH
            self.assertEqual(routing.taken, 1)
            self.assertLess(((found - expected).abs().max() / expected.abs().max()).item(), 1e-5 if wide else 1e-13)
            if wide is not None:
                exact = a.to(wide) @ b.to(wide).mH
                ours, theirs = ((each - exact).abs().max().item() for each in (found, expected))
                self.assertLessEqual(ours, theirs)

    def test_nan_and_infinity_are_where_pytorch_has_them(self):
        n = 4096
        a, b = torch.randn(n, n, device="cuda"), torch.randn(n, n, device="cuda")
        a[17, 5], b[9, 33] = float("nan"), float("inf")
        expected = a @ b
        with heptad.torch.enable(accuracy="fast"):
            found = a @ b
        self.assertTrue(torch.equal(found.isnan(), expected.isnan()))
        self.assertTrue(torch.equal(found.isinf(), expected.isinf()))

    def test_tf32_is_taken_only_where_pytorch_may(self):
        plan = _torch_products.plan
        before = torch.get_float32_matmul_precision()
        a = numbers(1024, 1024, device="cuda")
        try:
            for precision, may in (("highest", False), ("high", True)):
                seen = set()

                def watched(name, *rest, seen=seen):
                    seen.add(name)
                    return plan(name, *rest)

                torch.set_float32_matmul_precision(precision)
                with unittest.mock.patch.object(_torch_products, "plan", watched), heptad.torch.enable():
                    torch.mm(a, a)
                self.assertEqual("tf32" in seen, may)
        finally:
            torch.set_float32_matmul_precision(before)

    def test_tensors_on_host_and_device_do_not_mix(self):
        a = numbers(4, 4)
        with self.assertRaisesRegex(ValueError, "different devices"):
            heptad.matmul(a, a.cuda())
        with self.assertRaisesRegex(ValueError, "are on cpu and cuda:0"):
            heptad.torch.matmul(a, a.cuda())
        with self.assertRaisesRegex(TypeError, "different libraries"):
            heptad.matmul(a.numpy(), a.cuda())

    def test_out_is_written_in_place(self):
        a, b = numbers(64, 64, device="cuda"), numbers(64, 64, device="cuda", seed=2)
        out = torch.full((64, 64), float("nan"), device="cuda")
        self.assertIs(heptad.matmul(a, b, out), out)
        self.assert_same(out, a @ b)
        expected = a @ b
        heptad.matmul(a, b, a)
        self.assert_same(a, expected)

    def test_arrays_that_only_tell_an_interface_are_taken(self):
        class Interface:
            def __init__(self, tensor):
                self.tensor = tensor

            @property
            def __cuda_array_interface__(self):
                return self.tensor.__cuda_array_interface__

        class Capsule:
            def __init__(self, tensor):
                self.tensor = tensor

            def __dlpack__(self, **words):
                return self.tensor.__dlpack__(**words)

            def __dlpack_device__(self):
                return self.tensor.__dlpack_device__()

        a, b = numbers(5, 6, device="cuda"), numbers(6, 7, device="cuda", seed=2)
        for kind in (Interface, Capsule):
            found = torch.as_tensor(heptad.matmul(kind(a), kind(b)), device="cuda")
            self.assert_same(found, a @ b)
            with self.assertRaisesRegex(TypeError, "out of .* may not be written"):
                heptad.matmul(kind(a), kind(b), kind(a))


if __name__ == "__main__":
    unittest.main()

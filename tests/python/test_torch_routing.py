"""heptad.torch.enable: which of PyTorch's products Heptad takes, and that nothing else changes."""

import threading
import unittest
import unittest.mock
import warnings

from torch_cases import COMPLEX, DEVICES, FLOATS, HAS_COMPILER, TorchCase, numbers, torch

import heptad.torch
from heptad import _torch_routing
from heptad._torch_routing import Routing


def everything():
    """Takes products of every size, as if all of them paid."""
    return unittest.mock.patch.object(Routing, "_pays", lambda *_: True)


class RoutingTest(TorchCase):
    def tearDown(self):
        heptad.torch.disable()

    def calls(self, device, dtype):
        a, b = numbers(9, 8, dtype=dtype, device=device), numbers(8, 7, dtype=dtype, device=device, seed=2)
        c, bias = numbers(9, 7, dtype=dtype, device=device, seed=3), numbers(7, dtype=dtype, device=device, seed=4)
        stack, other = a.expand(3, 9, 8).contiguous(), b.expand(3, 8, 7).contiguous()
        linear = torch.nn.Linear(8, 7, device=device, dtype=dtype)
        with torch.no_grad():
            linear.weight.copy_(b.T)
            linear.bias.copy_(bias)
        return {
            "mm": lambda: torch.mm(a, b),
            "mm of views": lambda: torch.mm(b.T, a.T),
            "mm into": lambda: torch.mm(a, b, out=torch.empty_like(c)),
            "matmul": lambda: a @ b,
            "matmul of a stack": lambda: stack @ b,
            "addmm": lambda: torch.addmm(c, a, b, beta=2, alpha=-1),
            "addmm of a row": lambda: torch.addmm(bias, a, b),
            "addmm into": lambda: torch.addmm(c, a, b, out=torch.empty_like(c)),
            "bmm": lambda: torch.bmm(stack, other),
            "bmm into": lambda: torch.bmm(stack, other, out=torch.empty(3, 9, 7, device=device, dtype=dtype)),
            "baddbmm": lambda: torch.baddbmm(c, stack, other, beta=3),
            "einsum": lambda: torch.einsum("bij,bjk->bik", stack, other),
            "linear": lambda: linear(a),
            "linear of a stack": lambda: linear(stack),
            "linear without bias": lambda: torch.nn.functional.linear(a, linear.weight),
        }

    def test_each_product_is_taken_and_equal(self):
        for device in DEVICES:
            for dtype in FLOATS + COMPLEX:
                for name, call in self.calls(device, dtype).items():
                    with self.subTest(device=device, dtype=dtype, call=name):
                        expected = call()
                        with everything(), heptad.torch.enable(min_size=1) as routing:
                            found = call()
                        self.assertEqual(routing.taken, 1)
                        self.assert_same(found, expected)

    def test_backward_passes_are_taken_with_the_same_gradients(self):
        for device in DEVICES:
            def gradients():
                x = numbers(9, 8, device=device).requires_grad_()
                layer = torch.nn.Linear(8, 7, device=device)
                with torch.no_grad():
                    layer.weight.copy_(numbers(7, 8, device=device, seed=2))
                    layer.bias.zero_()
                (layer(x) * numbers(9, 7, device=device, seed=3)).sum().backward()
                return x.grad, layer.weight.grad, layer.bias.grad

            expected = gradients()
            with everything(), heptad.torch.enable(min_size=1) as routing:
                found = gradients()
            self.assertEqual(routing.taken, 3)
            for one, other in zip(found, expected):
                self.assert_same(one, other)

    def test_conjugates_and_complex_factors(self):
        for device in DEVICES:
            for dtype in COMPLEX:
                a, b = numbers(9, 8, dtype=dtype, device=device), numbers(8, 7, dtype=dtype, device=device, seed=2)
                c = numbers(9, 7, dtype=dtype, device=device, seed=3)
                calls = {
                    "conjugate": (lambda: torch.mm(a.conj(), b), 1),
                    "adjoints": (lambda: torch.mm(b.mH, a.mH), 1),
                    "real factors": (lambda: torch.addmm(c, a, b, beta=2 + 0j, alpha=-1), 1),
                    "complex factors": (lambda: torch.addmm(c, a, b, beta=1j, alpha=2), 0),
                }
                for name, (call, taken) in calls.items():
                    with self.subTest(device=device, dtype=dtype, call=name):
                        expected = call()
                        with everything(), heptad.torch.enable(min_size=1) as routing:
                            found = call()
                        self.assertEqual(routing.taken, taken)
                        self.assertTrue(torch.equal(found, expected))

    def test_gradcheck_of_torch_products_while_enabled(self):
        with everything(), heptad.torch.enable(min_size=1) as routing:
            a, b = (torch.rand(3, 3, dtype=torch.float64, requires_grad=True) for _ in range(2))
            self.assertTrue(torch.autograd.gradcheck(torch.mm, (a, b)))
            self.assertTrue(torch.autograd.gradgradcheck(torch.mm, (a, b)))
        self.assertGreater(routing.taken, 0)

    def test_large_products_are_taken_where_the_plan_says_so(self):
        for device in DEVICES:
            n = 2048 if device == "cpu" else 8192
            a, b = (numbers(n, n, device=device, seed=seed) for seed in (1, 2))
            expected = a @ b
            with heptad.torch.enable(accuracy="fast") as routing:
                found = a @ b
                pays = heptad.plan(n, n, n, "f32", accuracy="fast", device=device).levels > 0
                pays = pays or "arithmetic=" in str(heptad.plan(n, n, n, "f32", accuracy="fast", device=device))
            self.assertEqual(routing.taken, int(pays))
            self.assertTrue(torch.equal(found, expected))

    def test_small_calls_and_other_types_stay_with_pytorch(self):
        with everything(), heptad.torch.enable(min_size=10) as routing:
            torch.mm(numbers(9, 20), numbers(20, 20))
            torch.mm(numbers(20, 9), numbers(9, 20))
            torch.mm(numbers(20, 20), numbers(20, 9))
            for dtype in (torch.int64, torch.int32):
                torch.mm(numbers(20, 20, dtype=dtype), numbers(20, 20, dtype=dtype))
            torch.mm(numbers(1, 20).expand(20, 20), numbers(20, 20))  # strides of zero
            torch.mm(numbers(20, 20).to_sparse(), numbers(20, 20))
        self.assertEqual(routing.taken, 0)

    def test_what_does_not_pay_stays_with_pytorch(self):
        a = numbers(64, 64)
        with heptad.torch.enable(min_size=1) as routing:
            torch.mm(a, a)
        self.assertEqual(routing.taken, 0)

    def test_out_that_overlaps_or_has_another_shape_is_pytorchs_affair(self):
        with everything(), heptad.torch.enable(min_size=1) as routing, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            a, b = numbers(5, 5), numbers(5, 5, seed=2)
            expected, resized = a @ b, torch.empty(2, 2)
            before = routing.taken
            torch.mm(a, b, out=resized)
            self.assert_same(resized, expected)
            c = numbers(5, 5, seed=3)
            expected = c + a @ b
            before = routing.taken
            torch.addmm(c, a, b, out=c)
            self.assert_same(c, expected)
            self.assertEqual(routing.taken, before)

    def test_beta_zero_ignores_nan(self):
        a = numbers(5, 5)
        with everything(), heptad.torch.enable(min_size=1):
            self.assert_same(torch.addmm(torch.full((5, 5), float("nan")), a, a, beta=0), a @ a)

    def test_errors_stay_those_of_pytorch(self):
        calls = (
            lambda: torch.mm(numbers(3, 4), numbers(5, 3)),
            lambda: torch.mm(numbers(3, 4), numbers(4)),
            lambda: torch.mm(numbers(3, 4), numbers(4, 3).double()),
            lambda: torch.bmm(numbers(2, 3, 4), numbers(3, 4, 5)),
            lambda: torch.addmm(numbers(7), numbers(3, 4), numbers(4, 3)),
        )
        for call in calls:
            with self.assertRaises(RuntimeError) as plain:
                call()
            with everything(), heptad.torch.enable(min_size=1), self.assertRaises(RuntimeError) as routed:
                call()
            self.assertEqual(str(routed.exception), str(plain.exception))

    def test_disable_and_with_blocks_give_back_what_was_before(self):
        a = numbers(4, 4)
        with everything():
            outer = heptad.torch.enable(min_size=1)
            with heptad.torch.enable(min_size=1) as inner:
                torch.mm(a, a)
            torch.mm(a, a)
            self.assertEqual((outer.taken, inner.taken), (1, 1))
            heptad.torch.disable()
            torch.mm(a, a)
            heptad.torch.disable()
            self.assertEqual((outer.taken, inner.taken), (1, 1))

    def test_it_goes_about_its_work_quietly(self):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with heptad.torch.enable():
                torch.mm(numbers(4, 4), numbers(4, 4))
        self.assertEqual([str(one.message) for one in told], [])

    def test_wrong_words_are_refused(self):
        with self.assertRaisesRegex(ValueError, "min_size of 0"):
            heptad.torch.enable(min_size=0)
        with self.assertRaisesRegex(ValueError, "sloppy"):
            heptad.torch.enable(accuracy="sloppy")
        self.assertIsNone(_torch_routing._current)

    def test_a_device_that_fails_is_told_once_and_left_to_pytorch(self):
        a = numbers(4, 4)
        failing = unittest.mock.patch.object(_torch_routing._products, "multiply", side_effect=RuntimeError("no device"))
        with everything(), failing as multiply, heptad.torch.enable(min_size=1) as routing:
            with self.assertWarnsRegex(RuntimeWarning, "no device"):
                self.assert_same(torch.mm(a, a), torch.mm(a, a))
            torch.mm(a, a)
        self.assertEqual(multiply.call_count, 1)
        self.assertEqual(routing.taken, 0)

    def test_autocast_and_inference_mode_and_vmap_work_above_it(self):
        a, b = numbers(6, 5), numbers(5, 4, seed=2)
        with everything(), heptad.torch.enable(min_size=1) as routing:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                self.assertEqual((a @ b).dtype, torch.bfloat16)
            with torch.inference_mode():
                self.assert_same(a @ b, torch.mm(a, b))
            self.assert_same(torch.vmap(torch.mm, (0, None))(a.expand(2, 6, 5), b), (a @ b).expand(2, 6, 4))
        self.assertGreaterEqual(routing.taken, 4)

    def test_tf32_setting_is_heeded(self):
        before = torch.get_float32_matmul_precision()
        try:
            torch.set_float32_matmul_precision("highest")
            self.assertFalse(_torch_routing._tf32_is_allowed())
            torch.set_float32_matmul_precision("high")
            self.assertTrue(_torch_routing._tf32_is_allowed())
        finally:
            torch.set_float32_matmul_precision(before)

    def test_threads_may_multiply_at_any_time(self):
        a, b = numbers(60, 50), numbers(50, 40, seed=2)
        expected, wrong = a @ b, []

        def work():
            for _ in range(50):
                if not torch.equal(torch.mm(a, b), expected):
                    wrong.append(1)

        with everything(), heptad.torch.enable(min_size=1) as routing:
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertFalse(wrong)
        self.assertGreater(routing.taken, 50)

    @unittest.skipUnless(HAS_COMPILER, "Inductor needs a compiler")
    def test_compiled_code_is_taken_too(self):
        for device in DEVICES:
            a, b = numbers(32, 32, device=device), numbers(32, 32, device=device, seed=2)
            torch.compiler.reset()
            compiled = torch.compile(lambda x, y: torch.relu(x @ y) + 1)
            expected = torch.relu(a @ b) + 1
            with everything(), heptad.torch.enable(min_size=1) as routing:
                self.assert_same(compiled(a, b), expected)
            self.assertGreaterEqual(routing.taken, 1)


if __name__ == "__main__":
    unittest.main()

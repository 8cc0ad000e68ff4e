"""heptad.torch.matmul and addmm: PyTorch's operator checks, gradients, torch.compile, vmap and autocast."""

import unittest

from torch_cases import COMPLEX, DEVICES, FLOATS, HAS_COMPILER, TorchCase, numbers, torch

import heptad
import heptad.torch
from heptad import _torch_products

SHAPES = [
    ((3, 4), (4, 5)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((4,), (4,)),
    ((2, 3, 4), (4, 5)),
    ((3, 4), (6, 4, 5)),
    ((2, 1, 3, 4), (6, 4, 2)),
    ((1, 4), (4, 1)),
    ((0, 4), (4, 5)),
    ((3, 0), (0, 5)),
    ((2, 0, 4), (4, 5)),
    ((130, 67), (67, 129)),
]


class OperatorTest(TorchCase):
    def test_shapes_and_types_equal_torch_matmul(self):
        for device in DEVICES:
            for dtype in FLOATS + COMPLEX:
                for left, right in SHAPES:
                    with self.subTest(device=device, dtype=dtype, left=left, right=right):
                        a = numbers(*left, dtype=dtype, device=device)
                        b = numbers(*right, dtype=dtype, device=device, seed=2)
                        self.assert_same(heptad.torch.matmul(a, b), torch.matmul(a, b))
                        self.assert_same(heptad.matmul(a, b), torch.matmul(a, b))

    def test_views_need_no_contiguous_memory(self):
        for device in DEVICES:
            base = numbers(40, 60, device=device)
            pairs = ((base.T, base), (base[::2, ::3], base[:20, :7]), (base[:, 3:9], base[4:10]))
            repeated = ((base[:1].expand(5, 60), base.T), (base[:, :1].expand(40, 60), base.T))
            for a, b in pairs + repeated:
                with self.subTest(device=device, strides=(a.stride(), b.stride())):
                    self.assert_same(heptad.torch.matmul(a, b), a @ b)
                    self.assert_same(heptad.matmul(a, b), a @ b)

    def test_conjugated_and_negated_views_count_as_what_they_are(self):
        for device in DEVICES:
            for dtype in COMPLEX:
                a, b = numbers(5, 6, dtype=dtype, device=device), numbers(6, 4, dtype=dtype, device=device, seed=2)
                stack = numbers(3, 6, 4, dtype=dtype, device=device, seed=3)
                pairs = ((a.conj(), b), (a, b.conj()), (b.mH, a.mH), (b.T, a.conj().T), (a.conj(), stack))
                for left, right in pairs:
                    with self.subTest(device=device, dtype=dtype, conjugates=(left.is_conj(), right.is_conj())):
                        self.assert_same(heptad.matmul(left, right), left @ right)
                        self.assert_same(heptad.torch.matmul(left, right), left @ right)
                negated = a.conj().imag  # real numbers with a sign to come
                self.assertTrue(negated.is_neg())
                real = numbers(6, 4, dtype=negated.dtype, device=device)
                self.assert_same(heptad.matmul(negated, real), negated @ real)
                self.assert_same(heptad.matmul(real.T, negated.T), real.T @ negated.T)
                out = torch.zeros(5, 4, dtype=dtype, device=device).conj()
                heptad.matmul(a, b, out)
                self.assertTrue(torch.equal(out, a @ b))

    def test_out_may_be_interleaved_or_without_contiguous_rows(self):
        for device in DEVICES:
            a, b = numbers(3, 2, 2, device=device), numbers(2, 2, device=device, seed=2)
            for axes in ((2, 0, 1), (2, 1, 0), (1, 0, 2), (0, 2, 1)):
                shape = [(3, 2, 2)[axes.index(axis)] for axis in range(3)]
                out = torch.zeros(shape, device=device).permute(axes)
                self.assertIs(heptad.matmul(a, b, out), out)
                self.assert_same(out, a @ b)
        for dtype in COMPLEX:
            a = numbers(4, 4, dtype=dtype)
            for rows, cols in ((4, 4), (1, 4), (4, 1)):
                out = torch.zeros(8, 8, dtype=dtype)[: 2 * rows : 2, : 2 * cols : 2]
                self.assertIs(heptad.matmul(a[:rows], a[:, :cols], out, accuracy="exact"), out)
                self.assert_same(out, a[:rows] @ a[:, :cols])

    @unittest.skipUnless(hasattr(torch.Tensor, "__dlpack_c_exchange_api__"), "PyTorch before 2.10")
    def test_plain_matrices_take_the_short_way_and_all_others_the_general_one(self):
        def short(a, b, out=None):
            return _torch_products.plain_products.multiply(a, b, out, "balanced", "auto", -1, "auto", -1)

        for device in DEVICES:
            a, b = numbers(5, 6, device=device), numbers(6, 4, device=device, seed=2)
            self.assert_same(short(a, b), a @ b)
            self.assert_same(short(b.T, a.T), b.T @ a.T)
            others = (
                (a.clone().requires_grad_(), b),
                (a.double(), b),
                (a, b[:5]),
                (a[0], b),
                (a[:0], b),
                (a.expand(2, 5, 6), b),
                (a[:1].expand(5, 6), b),
                (a.to_sparse(), b),
                (torch.nn.Parameter(a, requires_grad=False), b),
                (a.to(torch.uint8), b.to(torch.uint8)),
                (a.to("meta"), b.to("meta")),
                (a.cpu().numpy(), b),
                (torch.complex(a, a).conj().imag, b),
            )
            for left, right in others:
                self.assertIsNone(short(left, right))
            out = torch.full((4, 5), float("nan"), device=device).T
            self.assertIs(short(a, b, out), out)
            self.assert_same(out, a @ b)
            shared = torch.zeros(60, device=device)
            c = shared[:30].view(5, 6).copy_(a)
            for left, into in (
                (a, torch.empty(4, 5, device=device)),
                (a, torch.empty(5, 4, device=device, dtype=torch.float64)),
                (a, torch.empty(5, 4, device=device, requires_grad=True)),
                (a, torch.empty(1, 4, device=device).expand(5, 4)),
                (a, torch.nn.Parameter(torch.empty(5, 4, device=device), requires_grad=False)),
                (a, torch.empty(5, 4, device="meta")),
                (a, a.new_empty(5, 4).cpu().numpy()),
                (c, shared[29:49].view(5, 4)),
                (c, shared[:20].view(5, 4)),
            ):
                self.assertIsNone(short(left, b, into))
            beside = shared[30:50].view(5, 4)
            self.assertIs(short(c, b, beside), beside)
            self.assert_same(beside, a @ b)

    def test_integers_wrap(self):
        for dtype in (torch.int32, torch.int64):
            most = torch.iinfo(dtype).max
            a, b = numbers(7, 9, dtype=dtype), torch.full((9, 5), most, dtype=dtype)
            for device in DEVICES:
                self.assert_same(heptad.matmul(a.to(device), b.to(device)).cpu(), a @ b)

    def test_levels_can_be_forced_at_small_sizes(self):
        for device in DEVICES:
            a, b = numbers(37, 53, device=device), numbers(53, 41, device=device, seed=2)
            for levels in (0, 1, 2, 3):
                self.assert_same(heptad.torch.matmul(a, b, algorithm="strassen", levels=levels), a @ b)

    def test_addmm_has_alpha_beta_and_broadcasts(self):
        for device in DEVICES:
            for dtype in FLOATS + COMPLEX:
                a, b = numbers(6, 7, dtype=dtype, device=device), numbers(7, 5, dtype=dtype, device=device, seed=2)
                for shape in ((6, 5), (5,), (1, 5), (6, 1), ()):
                    added = numbers(*shape, dtype=dtype, device=device, seed=3)
                    for beta, alpha in ((1, 1), (2, -1), (0, 3), (-1, 0)):
                        with self.subTest(device=device, dtype=dtype, shape=shape, beta=beta, alpha=alpha):
                            self.assert_same(
                                heptad.torch.addmm(added, a, b, beta=beta, alpha=alpha),
                                torch.addmm(added, a, b, beta=beta, alpha=alpha),
                            )

    def test_beta_zero_ignores_nan_in_input(self):
        for device in DEVICES:
            nan = torch.full((4, 4), float("nan"), device=device)
            a = numbers(4, 4, device=device)
            self.assert_same(heptad.torch.addmm(nan, a, a, beta=0), a @ a)

    def test_opcheck(self):
        for device in DEVICES:
            def made(*shape):
                return torch.rand(shape, device=device, requires_grad=True)

            words = ("balanced", "auto", -1)
            for operator, arguments in (
                (torch.ops.heptad.product.default, (made(5, 6), made(6, 7), *words)),
                (torch.ops.heptad.product.default, (made(2, 3, 4), made(2, 4, 3), *words)),
                (torch.ops.heptad.addmm.default, (made(7), made(5, 6), made(6, 7), 2.0, -1.0, *words)),
            ):
                told = torch.library.opcheck(operator, arguments)
                self.assertEqual(set(told.values()), {"SUCCESS"})

    def test_gradcheck_and_gradgradcheck(self):
        for device in DEVICES:
            def made(*shape):
                return torch.rand(shape, dtype=torch.float64, device=device, requires_grad=True)

            def complex_made(*shape):
                return torch.rand(shape, dtype=torch.complex128, device=device, requires_grad=True)

            for function, inputs in (
                (heptad.torch.matmul, (complex_made(3, 4), complex_made(4, 2))),
                (heptad.torch.addmm, (complex_made(2), complex_made(3, 4), complex_made(4, 2))),
                (heptad.torch.matmul, (made(3, 4), made(4, 2))),
                (heptad.torch.matmul, (made(2, 3, 4), made(4, 2))),
                (heptad.torch.matmul, (made(4), made(2, 4, 3))),
                (lambda x, a, b: heptad.torch.addmm(x, a, b, beta=0.5, alpha=-2), (made(2), made(3, 4), made(4, 2))),
            ):
                self.assertTrue(torch.autograd.gradcheck(function, inputs))
                self.assertTrue(torch.autograd.gradgradcheck(function, inputs))

    def test_only_asked_gradients_are_made(self):
        a, b = numbers(3, 4), numbers(4, 2).requires_grad_()
        heptad.torch.matmul(a, b).sum().backward()
        self.assertIsNone(a.grad)
        self.assert_same(b.grad, a.T @ torch.ones(3, 2))

    def test_compiled_functions_hold_the_operator_whole(self):
        def function(a, b, x):
            return torch.relu(heptad.torch.matmul(a, b) + heptad.torch.addmm(x, a, b, alpha=2))

        for device in DEVICES:
            for backend in ["aot_eager"] + (["inductor"] if HAS_COMPILER else []):
                for dynamic in (False, True):
                    with self.subTest(device=device, backend=backend, dynamic=dynamic):
                        torch.compiler.reset()
                        compiled = torch.compile(function, fullgraph=True, backend=backend, dynamic=dynamic)
                        for size in (6, 9):
                            a = numbers(size, 4, device=device).requires_grad_()
                            b, x = numbers(4, 5, device=device, seed=2), numbers(5, device=device, seed=3)
                            self.assert_same(compiled(a, b, x), function(a, b, x))
                            compiled(a, b, x).sum().backward()
                            found, a.grad = a.grad, None
                            function(a, b, x).sum().backward()
                            self.assert_same(found, a.grad)

    def test_vmap(self):
        a, b, x = numbers(3, 4, 5), numbers(5, 6), numbers(3, 6)
        self.assert_same(torch.vmap(heptad.torch.matmul, (0, None))(a, b), a @ b)
        self.assert_same(torch.vmap(heptad.torch.matmul, (1, None))(a, numbers(5, 6)), (a.movedim(1, 0)) @ b)
        self.assert_same(torch.vmap(heptad.torch.addmm, (0, 0, None))(x, a, b), x[:, None] + a @ b)

    def test_autocast_takes_the_type_of_the_region(self):
        for device in DEVICES:
            for dtype in (torch.bfloat16, torch.float16):
                with self.subTest(device=device, dtype=dtype), torch.autocast(device, dtype=dtype):
                    a, b = torch.rand(9, 8, device=device), torch.rand(8, 7, device=device)
                    found = heptad.torch.matmul(a, b)
                    self.assertEqual(found.dtype, dtype)
                    self.assert_same(found, heptad.torch.matmul(a.to(dtype), b.to(dtype)))
                    self.assertEqual(heptad.torch.addmm(a[0, :7], a, b).dtype, dtype)
                    wide = heptad.torch.matmul(a.double(), b.double())
                    self.assertEqual(wide.dtype, torch.float64)
            weight = torch.rand(8, 7, device=device, requires_grad=True)
            with torch.autocast(device, dtype=torch.bfloat16):
                heptad.torch.matmul(torch.rand(9, 8, device=device), weight).sum().backward()
            self.assertEqual(weight.grad.dtype, torch.float32)

    def test_what_cannot_be_multiplied_is_refused_in_a_sentence(self):
        a = numbers(3, 3)
        with self.assertRaisesRegex(TypeError, "one type.*convert one"):
            heptad.torch.matmul(a, a.double())
        with self.assertRaisesRegex(TypeError, "float64, float32, bfloat16, float16, complex64 or complex128"):
            heptad.torch.matmul(a.int(), a.int())
        with self.assertRaisesRegex(ValueError, "inner sizes 3 and 4"):
            heptad.torch.matmul(a, numbers(4, 3))
        with self.assertRaisesRegex(ValueError, "scalar"):
            heptad.torch.matmul(a, torch.tensor(1.0))
        with self.assertRaisesRegex(TypeError, "is on meta"):
            heptad.matmul(a.to("meta"), a.to("meta"))
        with self.assertRaisesRegex(RuntimeError, "gradients"):
            heptad.matmul(a.clone().requires_grad_(), a)
        with self.assertRaisesRegex(ValueError, "sloppy"):
            heptad.torch.matmul(a, a, accuracy="sloppy")

    @unittest.skipUnless(HAS_COMPILER, "Inductor needs a compiler")
    def test_inductor_takes_it_among_its_products(self):
        import torch._inductor.config as config

        calls = []

        def heptad_counted(a, b, *, out):
            calls.append(a.shape)
            heptad.torch.external_matmul(a, b, out=out)

        for device in DEVICES:
            calls.clear()
            torch.compiler.reset()
            with config.patch(
                external_matmul=[heptad_counted], max_autotune=True, max_autotune_gemm_backends="ATEN", fx_graph_cache=False
            ):
                a, b = numbers(64, 96, device=device), numbers(96, 80, device=device, seed=2)
                self.assert_same(torch.compile(torch.mm)(a, b), a @ b)
            self.assertTrue(calls, "Inductor did not time it")


if __name__ == "__main__":
    unittest.main()

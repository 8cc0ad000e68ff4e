"""Products from several threads, under asyncio and in forked children; the GIL is free meanwhile."""

import asyncio
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import heptad
import numpy as np


def right_product(seed):
    rng = np.random.default_rng(seed)
    m, k, n = rng.integers(1, 150, 3)
    a, b = rng.integers(-3, 4, (m, k)).astype(np.float32), rng.integers(-3, 4, (k, n)).astype(np.float32)
    return bool((heptad.matmul(a, b) == a @ b).all())


def test_many_threads_at_once():
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(right_product, range(400)))


def test_asyncio_goes_on_during_a_product():
    async def main():
        ticks = 0
        a = np.ones((2000, 2000))
        product = asyncio.create_task(asyncio.to_thread(heptad.matmul, a, a))
        while not product.done():
            await asyncio.sleep(0.001)
            ticks += 1
        np.testing.assert_array_equal((await product)[:3, :3], 2000)
        return ticks

    assert asyncio.run(main()) > 5


def test_other_threads_run_during_a_product_of_the_main_thread():
    counts, stop = [0], threading.Event()

    def count():
        while not stop.wait(0.001):
            counts[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    a = np.ones((2000, 2000))
    begin = time.perf_counter()
    heptad.matmul(a, a)
    elapsed = time.perf_counter() - begin
    stop.set()
    thread.join()
    assert counts[0] > elapsed / 0.001 / 50


def test_forked_child_multiplies():
    heptad.matmul(np.ones((600, 600)), np.ones((600, 600)))
    child = os.fork()
    if child == 0:
        ok = (heptad.matmul(np.ones((600, 600)), np.ones((600, 600))) == 600).all()
        os._exit(0 if ok else 1)
    assert os.waitpid(child, 0)[1] == 0

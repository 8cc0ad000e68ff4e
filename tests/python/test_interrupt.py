"""Ctrl-C ends products within 0.2 s; other signals are handled meanwhile, and threads are left alone."""

import os
import signal
import subprocess
import sys
import threading
import time

import heptad
import numpy as np
import pytest

# 0.2 s is the promise; machines that run other tests beside this one may be late by as much again.
SOON = 0.2
LATEST = 0.6


def seconds_to_interrupt(work, delay=0.15):
    sent = []

    def send():
        time.sleep(delay)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
            sender.join()
            time.sleep(0.05)
            pytest.skip("the product ended before the signal on this machine")
        return time.perf_counter() - sent[0]
    finally:
        sender.join()


def soonest(work):
    """The best of three: a busy machine may delay one."""
    best = min(seconds_to_interrupt(work, delay) for delay in (0.1, 0.15, 0.2))
    assert best < SOON
    return best


@pytest.mark.parametrize("words", [{}, {"levels": 0}, {"accuracy": "exact"}], ids=["default", "classical", "exact"])
def test_large_product_is_interrupted(words):
    a = np.random.default_rng(1).random((5000, 5000))
    soonest(lambda: heptad.matmul(a, a, **words))
    small = a[:100, :100]
    np.testing.assert_allclose(heptad.matmul(small, small), small @ small)


def test_reference_and_stacks_are_interrupted():
    a = np.ones((900, 900))
    soonest(lambda: heptad.matmul(a, a, device="reference"))
    stack = np.ones((3000, 300, 300))
    soonest(lambda: heptad.matmul(stack, stack))


def test_product_into_out_is_interrupted_and_writes_no_more():
    a = np.random.default_rng(1).random((5000, 5000), np.float32)
    out = np.zeros((5000, 5000), np.float32)
    seconds_to_interrupt(lambda: heptad.matmul(a, a, out=out, levels=3))
    after = out.copy()
    time.sleep(0.3)
    np.testing.assert_array_equal(out, after)


def test_what_was_left_is_freed():
    a = np.random.default_rng(1).random((5000, 5000))
    references = sys.getrefcount(a)
    seconds_to_interrupt(lambda: heptad.matmul(a, a, levels=0))
    while sys.getrefcount(a) > references:  # seconds, or minutes on a busy machine
        time.sleep(0.05)
    assert sys.getrefcount(a) == references


def test_closure_of_bits_is_interrupted():
    graph = heptad.BitMatrix.random(30000, 30000, 1, 0.0001)
    assert seconds_to_interrupt(graph.closure) < LATEST


def test_handler_that_does_not_raise_lets_the_product_end():
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(time.perf_counter()))
    a = np.ones((2500, 2500))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        begin = time.perf_counter()
        result = heptad.matmul(a, a)
        end = time.perf_counter()
        np.testing.assert_array_equal(result[:5], 2500)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if end - begin > 0.2:
        assert seen and seen[0] < end, "the handler ran during the product"


def test_exception_of_a_handler_is_raised():
    def refuse(*_):
        raise TimeoutError("enough")

    a = np.ones((6000, 6000))
    before = signal.signal(signal.SIGALRM, refuse)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(TimeoutError, match="enough"):
            heptad.matmul(a, a)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_interrupted_script_ends_as_python_scripts_do():
    script = "import heptad, numpy as np; a = np.ones((9000, 9000)); print('go', flush=True); heptad.matmul(a, a, levels=0)"
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "go\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    begin = time.perf_counter()
    _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert process.returncode in (-signal.SIGINT, 130, 1)
    assert time.perf_counter() - begin < 5


@pytest.mark.parametrize("delay", [0.1, 0.2, 0.3, 0.4])
def test_script_that_ends_while_work_goes_on_ends_quietly(delay):
    """The vendor's library is in the middle of a product when Python has ended, and comes back to us then."""
    script = f"""
import heptad, numpy as np, os, signal, threading
a = np.random.default_rng(1).random((4000, 4000))
threading.Timer({delay}, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True:
        heptad.matmul(a, a, levels=0)
except KeyboardInterrupt:
    print('interrupted')
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=100)
    assert (told.returncode, told.stdout, told.stderr) == (0, "interrupted\n", "")

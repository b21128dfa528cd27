"""How long the evidence for all claims takes, in a process of its own."""

from __future__ import annotations

import time

import pytest
from command import process


@pytest.mark.parametrize(("options", "most"), [(("--fast",), 20), ((), 240)], ids=["fast", "full"])
def test_all_claims(benchmark, options, most):
    started = time.perf_counter()
    result = benchmark.pedantic(lambda: process("verify", *options, timeout=2 * most), rounds=1)
    assert result.code == 0, result.out
    assert time.perf_counter() - started < most

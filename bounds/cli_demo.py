"""`pairbounds demo`: the main job on the example inside the package."""

from __future__ import annotations

import click

from bounds.cli import Verb, emit
from bounds.cli_options import json_text

__all__ = ["demo"]


@click.command(cls=Verb)
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON and nothing else.")
def demo(*, as_json: bool) -> None:
    """Intervals and an audit on a small real example inside the package."""
    from bounds import demo as example
    from bounds.auditing import audit

    intervals = example.intervals()
    if not as_json:
        emit(example.intervals_text(intervals) + "\n")
    gains = example.gains()
    if not as_json:
        emit(example.gains_text(gains) + "\n")
    with example.example(example.CLAIMS) as claims, example.example(example.RECORDS) as records:
        verdicts = audit(claims, records)
    if as_json:
        told = {
            "intervals": [i.to_dict() for i in intervals],
            "persistence": [gain.to_dict() for gain in gains],
            "verdicts": [v.to_dict() for v in verdicts],
        }
        emit(json_text(told))
    else:
        emit(example.claims_text(verdicts))

"""Certificates: time to check them beside the time to compute what they say, in the same run."""

from __future__ import annotations

import random
import time

import pytest
from strategies import evaluation

from bounds.knowledge import Level, know
from bounds.quantities import QUANTITIES
from bounds.solve import bound
from proofs import checker
from proofs.canonical import records_text
from proofs.certificates import Certificate


def records(classes, images, labels):
    """Random sides of several classes; a fifth of the correct probabilities are ties."""
    draw = random.Random(classes)

    def side(right):
        return [
            (
                0 if draw.random() < right else draw.randint(1, labels),
                draw.random() < 0.6,
                draw.randint(0, 5 * images) / 5 / images,
            )
            for _ in range(images)
        ]

    return evaluation(*((side(0.8), side(0.5)) for _ in range(classes)))


def seconds(job, *arguments):
    start = time.perf_counter()
    result = job(*arguments)
    return time.perf_counter() - start, result


def computed(found):
    """Every quantity over its first denominator, at every level, micro, with correspondences."""
    return [
        (known, bound(found, name, known, witness=True))
        for name in QUANTITIES
        for known in [know(found, level) for level in Level]
    ]


def written(found, answers):
    certificate = Certificate()
    for known, interval in answers:
        certificate.add(found, known, interval)
    return "".join(certificate.parts()).encode()


@pytest.mark.parametrize(("classes", "images", "labels"), [(10, 1_000, 7), (1_000, 50, 7)])
def test_checking_takes_less_than_computing(benchmark, classes, images, labels):
    found = records(classes, images, labels)
    compute, answers = seconds(computed, found)
    write, data = seconds(written, found, answers)
    check, report = seconds(checker.check, data, [records_text(found)])
    benchmark.extra_info.update(
        intervals=len(answers), megabytes=len(data) / 1e6, compute=compute, write=write, check=check
    )
    benchmark.pedantic(checker.check, (data,), rounds=1)
    assert {item.status for item in report.items} == {"certified"}
    assert check < compute

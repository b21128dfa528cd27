"""The checker of certificates: what it accepts is true, and every rule has a spoiled certificate that it rejects.

The certificates here are made by hand or from enumeration, not by the writer (`test_certificates.py` holds those).
"""

from __future__ import annotations

import ast
import copy
import hashlib
import json
import math
import random
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import pairwise, permutations, product
from pathlib import Path

import oracles
import polars as pl
import pytest
from command import Command, small_records, write_small
from strategies import evaluation as make

from bounds import printed
from bounds.errors import ClaimError
from bounds.knowledge import know
from bounds.solve import bound, per_class
from proofs import checker

LEVELS = ("marginals", "total-correct-correct", "correct-correct", "five-state")
NOTHING = {"value": None, "attained": None, "proof": None, "uncertified": None}


# --- certificates by hand ---------------------------------------------------------------------------------------------


def text(number):
    number = Fraction(number)
    return f"{number.numerator}/{number.denominator}"


def label(record):
    return None if record[0] else f"label{record[1]}"


def sides_of(records, c):
    """The clean and the perturbed records of a class, as `oracles.records` has them."""
    rows = slice(int(records.starts[c]), int(records.starts[c + 1]))
    return oracles.records(records.clean)[rows], oracles.records(records.perturbed)[rows]


def embedded(records, **changes):
    """The EVALUATION of small records, without tables."""
    classes = []
    for c, name in enumerate(records.classes):
        sides = dict(zip(("clean", "perturbed"), sides_of(records, c), strict=True))
        groups = {name: Counter((label(r), int(r[2])) for r in side) for name, side in sides.items()}
        values = {name: Counter(float(r[3]) for r in side if r[0]) for name, side in sides.items()}
        classes.append(
            {
                "name": name,
                **{side: [[*group, count] for group, count in found.items()] for side, found in groups.items()},
                "probabilities": {s: [[p.hex(), n] for p, n in sorted(found.items())] for s, found in values.items()},
                "tables": [],
            }
        )
    return {
        "model": "model",
        "clean": "clean",
        "perturbed": "fog/1",
        "paired": records.paired,
        "threshold": None,
        "acceptance": True,
        "records": hashlib.sha256(canonical(records).encode()).hexdigest(),
        "classes": classes,
    } | changes


FIRST_LINE = 'names\t"model"\t"clean"\t"fog/1"'


def canonical(records):
    """The canonical text of small records."""
    lines = []
    owners = [
        name
        for name, n in zip(
            records.classes, (b - a for a, b in zip(records.starts, records.starts[1:], strict=False)), strict=True
        )
        for _ in range(n)
    ]
    for side in ("clean", "perturbed"):
        for i, r in enumerate(oracles.records(getattr(records, side))):
            predicted = json.dumps(f"label{r[1]}")
            fields = [
                side,
                f'"{i}"',
                json.dumps(owners[i]),
                str(int(r[0])),
                predicted,
                str(int(r[2])),
                "-",
                float(r[3]).hex(),
            ]
            lines.append("\t".join(fields))
    return "".join(line + "\n" for line in (FIRST_LINE, *sorted(lines)))


def table(records, c, order, merged=False):
    """The TABLE of the correspondence that pairs clean record i of class c with perturbed record order[i]."""
    clean, perturbed = sides_of(records, c)
    keep = 0 if merged else 1
    pairs = Counter(
        (label(x), int(x[2]) * keep, label(perturbed[j]), int(perturbed[j][2]) * keep)
        for x, j in zip(clean, order, strict=True)
    )
    return [[*pair, count] for pair, count in pairs.items()]


def true_counts(records):
    """(k, s) of each class under the true pairing."""
    found = []
    for c in range(len(records.classes)):
        states = [oracles.state(x, y) for x, y in zip(*sides_of(records, c), strict=True)]
        found.append((states.count("CC"), states.count("WS")))
    return [k for k, _ in found], [s for _, s in found]


def knowledge(records, level):
    k, s = true_counts(records)
    return {"level": level} | {
        "marginals": {},
        "paired": {},
        "total-correct-correct": {"total": sum(k), "source": "pairing"},
        "correct-correct": {"retained_correct": k, "source": "pairing"},
        "five-state": {"retained_correct": k, "persistent": s, "source": "pairing"},
    }[level]


def certificate(evaluations, intervals, audits=()):
    return {
        "format": "pairbounds certificate",
        "version": 1,
        "tool": "by hand",
        "evaluations": evaluations,
        "intervals": intervals,
        "audits": list(audits),
    }


def run(whole, *texts):
    return checker.check(json.dumps(whole).encode(), texts)


def statuses(whole, *texts):
    return [item.status for item in run(whole, *texts).items]


def reasons(whole, *texts):
    return " | ".join(f"{item.status}: {item.reason}" for item in run(whole, *texts).items if item.reason)


def claim(stem, value):
    return {"rule": "claim", "claim": stem, "value": text(value)}


def rows(multipliers):
    return [[list(row), text(y)] for row, y in multipliers.items()]


def by_sum(*classes, multiplier=None):
    return {"rule": "sum", "multiplier": multiplier, "classes": list(classes)}


def end(value, attained, proof):
    return {"value": None if value is None else text(value), "attained": attained, "proof": proof, "uncertified": None}


def interval(quantity, denominator, known, lower, upper, average="micro", sharp=True, undefined=False, only=None):
    return {
        "evaluation": 0,
        "quantity": quantity,
        "denominator": denominator,
        "average": average,
        "class": only,
        "knowledge": known,
        "sharp": sharp,
        "undefined": undefined,
        "lower": lower,
        "upper": upper,
    }


# Two classes, worked out by hand. class0: clean 2 correct and accepted, 1 wrong; perturbed 1 correct and rejected, 1
# correct and accepted, 1 wrong. class1: one image, correct and accepted on both sides.
RECORDS = make(
    ([(0, True, 0.5), (0, True, 0.75), (1, False, 0.125)], [(0, False, 0.25), (2, True, 0.0), (0, True, 0.5)]),
    ([(0, True, 1.0)], [(0, True, 0.5)]),
)


def counted():
    """Lost acceptance as a count, and over retained-correct, micro and macro, at marginals; k is 1..2 and 1."""
    embed = embedded(RECORDS)
    first = [table(RECORDS, 0, order) for order in permutations(range(3))]
    embed["classes"][0]["tables"] = first
    embed["classes"][1]["tables"] = [table(RECORDS, 1, (0,))]
    pairs = [sum(e[4] for e in t if e[0] is None and e[2] is None and (e[1], e[3]) == (1, 0)) for t in first]
    retained = [sum(e[4] for e in t if e[0] is None and e[2] is None) for t in first]
    none, one, lost = (
        next(i for i, at in enumerate(zip(retained, pairs, strict=True)) if at == wanted)
        for wanted in ((1, 0), (2, 1), (1, 1))
    )
    name, known = "lost-acceptance", {"level": "marginals"}
    plain = interval(
        name,
        "none",
        known,
        end(0, [none, 0], by_sum(claim(name.replace("-", "_"), 0), claim("lost_acceptance", 0))),
        end(1, [one, 0], by_sum(claim("lost_acceptance", 1), claim("lost_acceptance", 0))),
    )
    # Micro: at most (1 + 0) / (1 + 1): t (N - V k) <= 1/2 and -1/2.
    micro = interval(
        name,
        "retained-correct",
        known,
        end(0, [none, 0], by_sum(claim("lost_acceptance", 0), claim("lost_acceptance", 0))),
        end(
            Fraction(1, 2),
            [lost, 0],
            by_sum(claim("lost_acceptance", Fraction(1, 2)), claim("lost_acceptance", Fraction(-1, 2))),
        ),
    )
    always = claim("plain", -1)

    def rate(r):
        return {"rate": text(r), "bound": claim("lost_acceptance", 0), "positive": always}

    macro = interval(
        name,
        "retained-correct",
        known,
        end(0, [none, 0], {"rule": "mean", "classes": [rate(0), rate(0)]}),
        end(Fraction(1, 2), [lost, 0], {"rule": "mean", "classes": [rate(1), rate(0)]}),
        average="macro",
    )
    return certificate([embed], [plain, micro, macro])


def of_total():
    """At a total of 3, which the pairing has not: lost acceptance by allocation, and a count with a multiplier."""
    whole = counted()
    known = {"level": "total-correct-correct", "total": 3, "source": "given"}
    tables = whole["evaluations"][0]["classes"][0]["tables"]
    two = next(i for i, t in enumerate(tables) if sum(e[4] for e in t if e[0] is None and e[2] is None) == 2)

    def rates(t):
        def one(r):
            return {"rate": text(r), "bound": claim("lost_acceptance", 0), "positive": claim("plain", -1)}

        of_first = (0, Fraction(-1, 2)) if t < 0 else (1, Fraction(1, 2))
        return {"rule": "allocation", "classes": [[one(r) for r in of_first], [one(0)]]}

    macro = interval(
        "lost-acceptance",
        "retained-correct",
        known,
        end(Fraction(1, 4), [two, 0], rates(-1)),
        end(Fraction(1, 4), [two, 0], rates(1)),
        average="macro",
    )
    count = interval(
        "retained-correct",
        "none",
        known,
        end(3, [two, 0], by_sum(claim("plain", 0), claim("plain", 0), multiplier="-1/1")),
        end(3, [two, 0], by_sum(claim("plain", 0), claim("plain", 0), multiplier="1/1")),
    )
    return certificate(whole["evaluations"], [macro, count])


# The hole of C7: k = 0 and s = 1 make the new accepted errors 2, where the relaxation has [1, 2].
HOLE = make(([(1, True), (2, False), (2, False)], [(2, True), (1, True), (0, False)]))


def branched():
    """New accepted errors of `HOLE` given k and s, lower end by branching on the persistent pairs of label 1."""
    embed = embedded(HOLE, paired=False)
    orders = {}
    for order in permutations(range(3)):
        t = table(HOLE, 0, order)
        k = sum(e[4] for e in t if e[0] is None and e[2] is None)
        s = sum(e[4] for e in t if e[0] is not None and e[0] == e[2])
        orders.setdefault((k, s), t)
    embed["classes"][0]["tables"] = [orders[0, 1]]
    known = {"level": "five-state", "retained_correct": [0], "persistent": [1], "source": "given"}
    one, two = ["label1", 1, 1], ["label2", 0, 1]
    # Without a persistent pair of label 1, that of label 2 takes its perturbed record, and none is left for ch[1, 1].
    down = {("V", 1): -1, ("vo", 1, 1): 1, ("v", "label2", 1): 1, ("s",): -1, ("wo", 1, 1): 1, ("z", *one): 1}
    # With one, no record of label 1 is left for a changed pair, and label 2 would meet itself.
    up = {("V", 1): -1, ("s",): 1, ("vo", 0, 1): 1, ("wo", 0, 1): 1, ("z", *two): 1, ("v", "label1", 1): 1}
    up |= {("wo", 1, 1): 1, ("w", "label1", 1): 1}
    leaves = {"down": {"rows": rows(down)}, "up": {"farkas": rows(up)}}
    return certificate(
        [embed],
        [
            interval(
                "new-accepted-error",
                "none",
                known,
                end(
                    2,
                    [0],
                    by_sum({"rule": "branch", "value": "-2/1", "tree": {"variable": ["st", *one], "at": 0, **leaves}}),
                ),
                end(2, [0], by_sum({"rule": "dual", "value": "2/1", "rows": [[["V", 1], "1/1"]]})),
            )
        ],
    )


def test_a_certificate_by_hand_is_certified():
    assert statuses(branched()) == ["certified for the embedded counts"]
    for whole in (counted(), of_total()):
        assert reasons(whole) == ""
        assert set(statuses(whole)) == {"certified for the embedded counts"}
        assert set(statuses(whole, canonical(RECORDS))) == {"certified"}


# --- certificates from enumeration ------------------------------------------------------------------------------------

DRAW_LABELS = 3


def drawn(draw, classes, images, labels=DRAW_LABELS):
    """Small random records; probabilities in quarters, so that ties occur."""

    def side(n):
        right = draw.choice((0.2, 0.5, 0.8))
        return [
            (0 if draw.random() < right else draw.randint(1, labels), draw.random() < 0.5, draw.randint(0, 4) / 4)
            for _ in range(n)
        ]

    return make(*((side(n), side(n)) for n in (draw.randint(1, images) for _ in range(classes))))


class Oracle:
    """A question on small records, answered by enumeration, and the certificate that follows from it."""

    def __init__(self, records, quantity, denominator, average, level):
        self.records, self.quantity, self.denominator = records, quantity, denominator
        self.average, self.level = average, level
        self.known = knowledge(records, level)
        self.k, self.s = true_counts(records)
        values = oracles.values(records, quantity, denominator, average, level, self.k, self.s)
        self.values = values - {None}
        self.classes = []
        for c in range(len(records.classes)):
            found = oracles.outcomes(records, c, quantity, denominator)
            if level in ("correct-correct", "five-state"):
                found = {o for o in found if o[0] == self.k[c]}
            if level == "five-state":
                found = {o for o in found if o[1] == self.s[c]}
            self.classes.append(found)
        if level == "total-correct-correct":
            choices = list(product(*({o[0] for o in found} for found in self.classes)))
            left = [set(ks) for ks in zip(*(ks for ks in choices if sum(ks) == sum(self.k)), strict=True)]
            self.left = [{o for o in found if o[0] in ks} for found, ks in zip(self.classes, left, strict=True)]
        else:
            self.left = self.classes

    @property
    def stem(self):
        if self.quantity == "kept-persistent-accepted-error" and self.level == "five-state":
            return "persistent_kept_errors"
        return checker.QUANTITIES[self.quantity][1]

    @property
    def varies(self):
        """Whether the denominator does."""
        marked = self.denominator in ("retained-correct-accepted", "retained-correct-rejected")
        return marked or (
            self.denominator == "retained-correct" and self.level in ("marginals", "total-correct-correct")
        )

    def bound(self, outcomes, n, d=0, k=0):
        """The BOUND of n N + d D + k k by its claim; the value is enumerated."""
        return claim(self.stem, max(n * o[2] + d * o[3] + k * o[0] for o in outcomes))

    def denominator_only(self, outcomes, sign):
        found = self.bound(outcomes, 0, sign)
        return found if self.denominator.startswith("retained-correct-") else found | {"claim": "plain"}

    def summed(self, factors, constant):
        """Rule `sum` with the best multiplier; `factors` are of N and D, a pair a class."""
        slopes = [Fraction(0)]
        total = sum(self.k)
        if self.level == "total-correct-correct":
            for (n, d), found in zip(factors, self.left, strict=True):
                best = {}
                for o in found:
                    best[o[0]] = max(best.get(o[0], n * o[2] + d * o[3]), n * o[2] + d * o[3])
                slopes += [(best[a] - best[b]) / (a - b) for a in best for b in best if a != b]

        def excess(m):
            return (
                sum(
                    max(n * o[2] + d * o[3] - m * o[0] for o in f) for (n, d), f in zip(factors, self.left, strict=True)
                )
                + m * total
            )

        m = min(slopes, key=excess)
        entries = [self.bound(found, n, d, -m) for (n, d), found in zip(factors, self.left, strict=True)]
        entries = [
            e if n else e | ({} if self.denominator.startswith("retained-correct-") else {"claim": "plain"})
            for e, (n, _) in zip(entries, factors, strict=True)
        ]
        return by_sum(*entries, multiplier=text(m) if self.level == "total-correct-correct" else None)

    def rate(self, outcomes, t):
        rates = [t * o[2] / o[3] for o in outcomes if o[3]]
        if not rates:
            return {"rate": None, "bound": self.denominator_only(outcomes, 1), "positive": None}
        positive = self.denominator_only(outcomes, -1) if all(o[3] for o in outcomes) else None
        return {"rate": text(max(rates)), "bound": self.bound(outcomes, t, -max(rates)), "positive": positive}

    def proof(self, t, value):
        size = len(self.classes)
        if self.denominator == "none":
            return self.summed([(t, 0)] * size, t * value)
        if self.average == "macro" and (self.varies or self.level == "marginals"):
            if self.level == "total-correct-correct":
                ks = [sorted({o[0] for o in found}) for found in self.classes]
                rates = [
                    [self.rate({o for o in found if o[0] == k}, t) for k in of]
                    for found, of in zip(self.classes, ks, strict=True)
                ]
                return {"rule": "allocation", "classes": rates}
            return {"rule": "mean", "classes": [self.rate(found, t) for found in self.left]}
        if self.varies:
            return self.summed([(t, -t * value)] * size, 0)
        fixed = [next(iter(found))[3] for found in self.classes]
        counting = sum(d > 0 for d in fixed)
        weights = [Fraction(1, sum(fixed))] * size
        if self.average == "macro":
            weights = [Fraction(1) / (d * counting) if d else Fraction(0) for d in fixed]
        return self.summed([(t * w, 0) for w in weights], t * value)

    def tables(self):
        """The different tables of each class, [(k, s, table)]."""
        merged = self.quantity == checker.DECREASE
        found = []
        for c in range(len(self.records.classes)):
            by_text = {}
            n = len(sides_of(self.records, c)[0])
            for order in permutations(range(n)):
                t = sorted(table(self.records, c, order, merged), key=str)
                k = sum(e[4] for e in t if e[0] is None and e[2] is None)
                s = sum(e[4] for e in t if e[0] is not None and e[0] == e[2])
                by_text[str(t)] = (k, s, t)
            found.append(list(by_text.values()))
        return found

    def certificate(self):
        """The certificate, its ends in `values`; None where there is none."""
        if not self.values:
            return None
        embed, tables = embedded(self.records), self.tables()
        ends = []
        for upper, value in enumerate((min(self.values), max(self.values))):
            attained = next(
                indices
                for indices in product(*(range(len(t)) for t in tables))
                if self.fits(tables, indices, bool(upper), value)
            )
            ends.append(end(value, list(attained), self.proof(1 if upper else -1, value)))
        for c, entry in enumerate(embed["classes"]):
            used = [ends[0]["attained"][c], ends[1]["attained"][c]]
            entry["tables"] = [tables[c][i][2] for i in sorted(set(used))]
            for e in ends:
                e["attained"][c] = sorted(set(used)).index(e["attained"][c])
        asked = interval(self.quantity, self.denominator, self.known, *ends, average=self.average)
        return certificate([embed], [asked])

    def fits(self, tables, indices, upper, value):
        """Whether tables have the counts known and the value; the probabilities being chosen for the end."""
        chosen = [t[i] for t, i in zip(tables, indices, strict=True)]
        ks = [k for k, _, _ in chosen]
        if self.level == "total-correct-correct" and sum(ks) != sum(self.k):
            return False
        if self.level in ("correct-correct", "five-state") and ks != self.k:
            return False
        if self.level == "five-state" and [s for _, s, _ in chosen] != self.s:
            return False
        pairs = []
        for c, (k, _, t) in enumerate(chosen):
            top = below = Fraction(0)
            for x, a, y, b, n in t:
                one, two = (x is None, x, bool(a), 0), (y is None, y, bool(b), 0)
                top += n * oracles.NUMERATORS[self.quantity](one, two)
                below += n * oracles.DENOMINATORS.get(self.denominator, lambda *_: 0)(one, two)
            if self.quantity == checker.DECREASE:
                clean, perturbed = ([r[3] for r in side if r[0]] for side in sides_of(self.records, c))
                top = sum(sorted(clean, reverse=upper)[:k]) - sum(sorted(perturbed, reverse=not upper)[:k])
            pairs.append((top, below))
        return oracles._value(tuple(pairs), self.denominator, self.average) == value


def covered(quantity, level):
    """Whether a claim gives the ends."""
    if level != "five-state" or checker.QUANTITIES[quantity][1] != "transition_counts":
        return True
    return quantity == "kept-persistent-accepted-error"


def questions():
    """Every quantity with its denominators, averages and levels that a claim covers."""
    for name, (_, _, offered) in checker.QUANTITIES.items():
        for denominator, level in product(offered, LEVELS):
            if covered(name, level):
                yield from (
                    (name, denominator, average, level) for average in ("micro", "macro")[: 1 + (denominator != "none")]
                )


SAMPLES = [drawn(random.Random(seed), 2, 3 + seed % 2) for seed in range(8)] + [
    drawn(random.Random(seed), 1, 5) for seed in range(20, 26)
]


@pytest.mark.parametrize("question", list(questions()), ids="-".join)
def test_what_enumeration_says_is_certified(question):
    """The closed forms of the checker are tight and its rules take what they should."""
    seen = 0
    for records in SAMPLES:
        whole = Oracle(records, *question).certificate()
        if whole is not None:
            seen += 1
            assert reasons(whole) == "", json.dumps(whole)
            assert statuses(whole, canonical(records)) == ["certified"]
    assert seen > 3


# --- what is false is not accepted ------------------------------------------------------------------------------------


def spoil_end(whole, upper, step):
    """The certificate with an end moved inwards by `step`, no longer said to be attained, and its bounds as helpful."""
    t = 1 if upper else -1
    changed = copy.deepcopy(whole)
    asked = changed["intervals"][0]
    at = asked["upper" if upper else "lower"]
    at["value"], at["attained"], asked["sharp"] = text(Fraction(at["value"]) - t * step), None, False
    yield changed

    def bounds(node):
        if isinstance(node, dict):
            if "claim" in node:
                yield node, "value"
            if "rate" in node and node["rate"] is not None:
                yield node, "rate"
            node = node.values()
        if isinstance(node, list | type({}.values())):
            for child in node:
                yield from bounds(child)

    for number in range(len(list(bounds(at["proof"])))):
        other = copy.deepcopy(changed)
        node, key = list(bounds(other["intervals"][0]["upper" if upper else "lower"]["proof"]))[number]
        for lower_by in (step, 2 * step, Fraction(1)):
            node[key] = text(Fraction(node[key]) - lower_by)
            yield copy.deepcopy(other)


def only_the_truth(whole):
    """Every better end is rejected; how many were tried."""
    tried = 0
    for upper, step in product((False, True), (Fraction(1, 60), Fraction(1))):
        for changed in spoil_end(whole, upper, step):
            tried += 1
            assert statuses(changed) == ["rejected"], json.dumps(changed)
    return tried


@pytest.mark.parametrize("question", list(questions()), ids="-".join)
def test_a_better_end_than_the_truth_is_never_certified(question):
    tried = 0
    for records in SAMPLES[::5]:
        oracle = Oracle(records, *question)
        whole = oracle.certificate()
        if whole is None:
            continue
        tried += only_the_truth(whole)
    assert tried > 20


HARD = [
    question
    for question in questions()
    if question[0].startswith("kept-")
    or (question[1].startswith("retained-correct") and question[3] == "total-correct-correct")
]


@pytest.mark.parametrize("seed", range(40))
def test_rare_cases(seed):
    """More records where few tell one formula from another: C13's with holes, C15, and denominators beside a total."""
    draw = random.Random(1000 + seed)
    for question in draw.sample(HARD, 8):
        one = question[0].startswith("kept-")
        whole = Oracle(drawn(draw, 1 if one else 2, 5, draw.choice((1, 3))), *question).certificate()
        if whole is not None:
            assert reasons(whole) == "", json.dumps(whole)
            only_the_truth(whole)


def test_a_multiplier_beside_an_accepted_denominator():
    """Each class alone would rather retain 1 image; together they retain 3."""
    clean = [(0, True), (0, True), (1, True), (1, True)]
    two, one = ([(0, False), (0, True), (1, True), (1, True)], [(0, False), (1, True), (0, True), (1, True)])
    question = "lost-acceptance", "retained-correct-accepted", "micro", "total-correct-correct"
    whole = Oracle(make((clean, two), (clean, one)), *question).certificate()
    assert at(whole, *UPPER, "value") == "2/3"
    assert at(whole, *UPPER, "proof", "multiplier") == "-2/3"
    assert reasons(whole) == ""
    only_the_truth(whole)


def counting_questions():
    """A checker's question of a single class, its objective and what enumeration says of it."""
    draw = random.Random(5)
    names = [name for name in checker.QUANTITIES if name != checker.DECREASE]
    for _ in range(60):
        records = drawn(draw, 1, 5)
        name = draw.choice(names)
        denominator = draw.choice(checker.QUANTITIES[name][2])
        level = draw.choice(LEVELS)
        k, s = true_counts(records)
        found = oracles.outcomes(records, 0, name, denominator)
        if level in ("correct-correct", "five-state"):
            found = {o for o in found if o[0] == k[0]}
        if level == "five-state":
            found = {o for o in found if o[1] == s[0]}
        parts = [Fraction(draw.randint(-3, 3), draw.choice((1, 1, 2, 5))) for _ in range(3)]
        if denominator == "none":
            parts[1] = Fraction(0)
        truth = max(sum(p * v for p, v in zip(parts, (o[2], o[3], o[0]), strict=True)) for o in found)
        whole = certificate([embedded(records)], [])
        asked = interval(
            name,
            denominator,
            knowledge(records, "marginals" if level == "total-correct-correct" else level),
            NOTHING,
            NOTHING,
        )
        if level == "total-correct-correct":
            truth = max(
                sum(p * v for p, v in zip(parts, (o[2], o[3], o[0]), strict=True))
                for o in oracles.outcomes(records, 0, name, denominator)
            )
        evaluation = checker.read_evaluation(checker.At(whole["evaluations"][0], "evaluation"), {})
        fields = checker.At(asked, "interval").object(*asked)
        yield checker.Question(fields, evaluation), tuple(parts), truth, draw


def all_rows(question):
    return [*question.strata[0].program.rows, ("k",), *([("s",)] if question.persistent[0] is not None else [])]


def descended(question, objective, draw, box=None, tries=150):
    """Multipliers found by random descent on the bound of the rows; no solver, and never wrong."""
    scale = math.lcm(*(part.denominator for part in objective))
    case = question.case(0, [int(part * scale) for part in objective], question.ks[0])
    y = {}

    def bound(y):
        return case.bound(checker.At(rows(y), "rows"), box or {})

    best = bound(y)
    choices = all_rows(question)
    for _ in range(tries):
        steps = draw.sample(choices, draw.randint(1, 2))
        trial = y | {
            row: y.get(row, Fraction(0)) + draw.choice((-1, 1, Fraction(1, 2), Fraction(-1, 2), -2, 2)) for row in steps
        }
        if bound(trial) <= best:
            y, best = trial, bound(trial)
    return {row: value for row, value in y.items() if value}


def accepted(question, objective, bound):
    """Whether the checker takes a BOUND of the first class."""
    try:
        question.bound(0, checker.At(bound, "bound"), objective, question.ks[0])
    except checker.Refused:
        return False
    return True


def test_dual_bounds_hold_whatever_the_multipliers():
    tight = 0
    for question, objective, truth, draw in counting_questions():
        scale = math.lcm(*(part.denominator for part in objective))
        below = text(truth - Fraction(1, scale))
        wild = {row: Fraction(draw.randint(-6, 6), draw.randint(1, 4)) for row in all_rows(question)}
        for y in (wild, descended(question, objective, draw)):
            assert not accepted(question, objective, {"rule": "dual", "value": below, "rows": rows(y)})
        tight += accepted(question, objective, {"rule": "dual", "value": text(truth), "rows": rows(y)})
    assert tight > 20


def grown(question, objective, draw, box, depth):
    """A random branching tree whose leaves have the best multipliers that descent finds."""
    limit = question.strata[0].program.limit
    if depth == 0 or not limit:
        return {"rows": rows(descended(question, objective, draw, box, 60))}
    variable = draw.choice(list(limit))
    low, high = box.get(variable, (0, limit[variable]))
    cut = draw.randint(low - 1, high)
    down, up = box | {variable: (low, min(high, cut))}, box | {variable: (max(low, cut + 1), high)}
    return {
        "variable": list(variable),
        "at": cut,
        "down": grown(question, objective, draw, down, depth - 1),
        "up": grown(question, objective, draw, up, depth - 1),
    }


def test_branching_trees_hold_whatever_the_branches():
    tight = 0
    for question, objective, truth, draw in counting_questions():
        tree = grown(question, objective, draw, {}, 2)
        scale = math.lcm(*(part.denominator for part in objective))
        assert not accepted(
            question, objective, {"rule": "branch", "value": text(truth - Fraction(1, scale)), "tree": tree}
        )
        tight += accepted(question, objective, {"rule": "branch", "value": text(truth), "tree": tree})
    assert tight > 15


# --- mutations --------------------------------------------------------------------------------------------------------


def nodes(value, path=()):
    """Every node of a JSON tree, as a path."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from nodes(child, (*path, key))


def altered(value, draw):
    """A node changed in every way that its kind allows; `draw` chooses the names that replace names."""
    if isinstance(value, bool):
        return [not value, int(value), None]
    if isinstance(value, int):
        return [value + 1, value - 1, -value, value + 7, bool(value % 2), str(value), None, [value]]
    if value is None:
        return [0, "0/1", [], False, "label1", {}]
    if isinstance(value, str):
        changes = [value + "x", "", None, 1, draw.choice(NAMES), draw.choice(NAMES), draw.choice(LEVELS)]
        if "/" in value and value[0] in "-0123456789":
            p, q = map(int, value.split("/"))
            changes += [
                f"{p + 1}/{q}",
                f"{p - 1}/{q}",
                f"{-p}/{q}",
                f"{2 * p}/{2 * q}",
                f"{p}/0",
                text(Fraction(p + 1, q)),
                text(Fraction(p - 1, q)),
                text(Fraction(p, q + 1)),
                text(Fraction(p, q) * 2),
            ]
        if value.startswith("0x"):
            changes += ["nan", "inf", "0x1.8p+0", (float.fromhex(value) / 2).hex(), "0x1.0000000000000p-1"]
        return changes
    if isinstance(value, list):
        turned = [value[::-1], value[:-1], value[1:], [*value, *value[-1:]], [], [*value, 0]]
        return [change for change in turned if change != value]
    keys = sorted(value)
    return [{k: v for k, v in value.items() if k != gone} for gone in keys] + [
        value | {"more": 1},
        {},
        None,
        [],
        *swapped(value),
    ]


def swapped(value):
    """An object with the values of two keys exchanged."""
    keys = sorted(value)
    return [value | {a: value[b], b: value[a]} for a, b in pairwise(keys) if value[a] != value[b]]


NAMES = (
    *checker.QUANTITIES,
    *checker.DENOMINATORS,
    "none",
    "micro",
    "macro",
    "plain",
    "paired",
    "class0",
    "class1",
    "label1",
    "label2",
    "mean",
    "sum",
)


def changed_at(whole, path, new):
    """The certificate with one node replaced."""
    if not path:
        return new
    other = copy.deepcopy(whole)
    node = other
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = new
    return other


def rebuilt(embed, only=None):
    """Small records with the groups of an EVALUATION; enumeration knows nothing of certificates."""
    entries = [e for e in embed["classes"] if only is None or e["name"] == only]
    names = {}
    for entry in entries:
        for side in ("clean", "perturbed"):
            for name, _, _ in entry[side]:
                names.setdefault(
                    ("" if name is None else type(name).__name__, name), 0 if name is None else len(names) + 1
                )
    classes = []
    for entry in entries:
        sides = []
        for side in ("clean", "perturbed"):
            values = [float.fromhex(p) for p, n in (entry["probabilities"] or {side: []})[side] for _ in range(n)]
            found = []
            for name, accepted, count in entry[side]:
                for _ in range(count):
                    code = names["" if name is None else type(name).__name__, name]
                    found.append((code, bool(accepted), values.pop() if name is None and values else 0.5))
            sides.append(found)
        classes.append(tuple(sides))
    return make(*classes, dtype="float64", paired=False)


def truth_of(whole, asked):
    """Every value (None: undefined) of an interval's question, by enumeration of what the certificate embeds."""
    embed, known, only = whole["evaluations"][asked["evaluation"]], asked["knowledge"], asked["class"]
    question = asked["quantity"], asked["denominator"], asked["average"], known["level"]
    if known["level"] == "total-correct-correct":
        records = rebuilt(embed)
        index = None if only is None else [e["name"] for e in embed["classes"]].index(only)
        return oracles.values(records, *question, [known["total"]], None, index)
    return oracles.values(rebuilt(embed, only), *question, known.get("retained_correct"), known.get("persistent"))


def paired_value(whole, asked):
    """The value of the pairing that an interval's tables give: what level `paired` says without records."""
    pairs = []
    classes = whole["evaluations"][asked["evaluation"]]["classes"]
    for entry, index in zip(
        [c for c in classes if asked["class"] in (None, c["name"])], asked["upper"]["attained"], strict=True
    ):
        top = below = Fraction(0)
        for x, a, y, b, n in entry["tables"][index]:
            one, two = (x is None, x, bool(a), 0), (y is None, y, bool(b), 0)
            top += n * oracles.NUMERATORS[asked["quantity"]](one, two)
            below += n * oracles.DENOMINATORS.get(asked["denominator"], lambda *_: 0)(one, two)
        pairs.append((top, below))
    return oracles._value(tuple(pairs), asked["denominator"], asked["average"])


def holds(whole, number):
    """Whether what interval `number` says is true, by enumeration."""
    asked = whole["intervals"][number]
    if any(sum(g[2] for g in e["clean"]) > 7 for e in whole["evaluations"][asked["evaluation"]]["classes"]):
        return False
    if asked["knowledge"]["level"] == "paired":
        values = {paired_value(whole, asked)} - {None}
    else:
        values = truth_of(whole, asked) - {None}
    if asked["undefined"]:
        return not values
    low, high = (Fraction(asked[name]["value"]) for name in ("lower", "upper"))
    if asked["sharp"]:
        return bool(values) and (min(values), max(values)) == (low, high)
    return all(low <= value <= high for value in values)


def fuzzed(whole, draw, share):
    """Counts of (rejected, accepted) mutations of a certificate; those accepted are judged true by enumeration."""
    seen = Counter()
    for path in nodes(whole):
        node = whole
        for key in path:
            node = node[key]
        for new in altered(node, draw):
            if draw.random() > share:
                continue
            other = changed_at(whole, path, new)
            try:
                report = run(other)
            except checker.Unreadable:
                seen["rejected"] += 1
                continue
            sound = [item for item in report.items if item.status.startswith("certified")]
            seen["rejected" if any(item.status == "rejected" for item in report.items) else "accepted"] += 1
            for item in sound:
                assert judge(other, item), f"{path}: {node!r} -> {new!r}: {item}\n{json.dumps(other)}"
    return seen


def judge(whole, item):
    """Whether a certified item is true."""
    kind, _, number = item.where.removesuffix("]").partition("[")
    if kind == "intervals":
        return holds(whole, int(number))
    audit = whole["audits"][int(number)]
    entry, verdict = whole["evaluations"][audit["evaluation"]], audit["verdict"]
    if verdict == "infeasible":
        return not feasible(entry, **audit["infeasible"])
    asked = whole["intervals"][audit["interval"]]
    values = truth_of(whole, asked) - {None}
    reported = audit["reported"]
    is_count = asked["denominator"] == "none" and reported["unit"] == "count"
    low, high = (
        printed.parse(reported[end] or reported["lower"], reported["unit"], reported["rounding"], whole=is_count)
        for end in ("lower", "upper")
    )
    inside = min(values) in low and max(values) in high if values else False
    contained = all(low.low <= value <= high.high for value in values)
    return {
        "undefined": lambda: not values,
        "sharp": lambda: inside,
        "loose": lambda: contained and not inside,
        "invalid": lambda: not contained,
        "possible": lambda: any(value in low for value in values),
        "impossible": lambda: not any(value in low for value in values),
    }[verdict]()


def feasible(entry, claim, retained_correct, persistent, **more):
    """Whether some correspondence has these counts."""
    records = rebuilt(entry)
    found = [oracles.outcomes(records, c, "lost", "none") for c in range(len(entry["classes"]))]
    if claim == "total_count_allocation":
        return any(sum(ks) == retained_correct for ks in product(*({o[0] for o in f} for f in found)))
    seen = found[more["class"]]
    return any(o[0] == retained_correct and persistent in (None, o[1]) for o in seen)


@pytest.mark.parametrize("seed", range(40))
def test_a_mutated_certificate_is_accepted_only_where_it_is_true(seed):
    draw = random.Random(seed)
    name, denominator, average, level = draw.choice(list(questions()))
    whole = Oracle(drawn(draw, draw.choice((1, 2)), 3), name, denominator, average, level).certificate()
    if whole is None:  # undefined for every correspondence
        return
    seen = fuzzed(whole, draw, 0.4)
    assert seen["rejected"] > 50
    assert seen["accepted"] < seen["rejected"]


def written(draw):
    """What the writer makes of random records: some quantities at every level, of all classes and of each."""
    from proofs.certificates import Certificate

    records = drawn(draw, draw.choice((1, 2)), 3)
    certificate = Certificate()
    for name in draw.sample(list(checker.QUANTITIES), 2):
        denominator = draw.choice(checker.QUANTITIES[name][2])
        average = "micro" if denominator == "none" else draw.choice(("micro", "macro"))
        for level in (*LEVELS, "paired"):
            known = know(records, level)
            found = bound(records, name, known, denominator=denominator, average=average, witness=True)
            certificate.add(records, known, found)
        for found in per_class(records, name, known, denominator=denominator, witness=True):
            certificate.add(records, known, found)
    return json.loads("".join(certificate.parts()))


@pytest.mark.parametrize("seed", range(12))
def test_what_the_writer_wrote_and_was_mutated_is_accepted_only_where_it_is_true(seed):
    draw = random.Random(100 + seed)
    whole = written(draw)
    assert set(statuses(whole)) <= {"certified for the embedded counts", "not certified"}
    seen = fuzzed(whole, draw, 0.08)
    assert seen["rejected"] > 50


@pytest.mark.parametrize("build", ["counted", "of_total", "branched", "audited", "excluding"])
def test_mutated_certificates_by_hand(build):
    whole = globals()[build]()
    seen = fuzzed(whole[1] if build == "excluding" else whole, random.Random(1), 0.15)
    assert seen["rejected"] > 2 * seen["accepted"] > 0


# --- every rule, spoiled ----------------------------------------------------------------------------------------------


def at(whole, *path):
    for key in path:
        whole = whole[key]
    return whole


def put(*path_and_value):
    """A change of a certificate: the value at a path."""
    *path, key, value = path_and_value
    return lambda whole: at(whole, *path).__setitem__(key, value)


UPPER = ("intervals", 0, "upper")
CLASS = ("evaluations", 0, "classes", 0)


def audited():
    """Verdicts on the count of `counted`, which runs from 0 to 1, and on its rates."""
    whole = counted()

    def audit(verdict, lower, upper="", unit="count", rounding="", number=0, **more):
        return {
            "claim_id": verdict,
            "evaluation": 0,
            "reported": {"lower": lower, "upper": upper, "unit": unit, "rounding": rounding},
            "verdict": verdict,
            "interval": number,
            "witness": None,
            "infeasible": None,
            "excluded": None,
            "uncertified": None,
        } | more

    nothing = {"rule": "infeasible", "class": None, "persistent": None}
    c1 = nothing | {"claim": "feasible_correct_correct", "class": 0, "retained_correct": 3}
    c5 = nothing | {"claim": "feasible_persistent", "class": 0, "retained_correct": 1, "persistent": 1}
    c11 = nothing | {"claim": "total_count_allocation", "retained_correct": 4}
    witness = {"value": "1/1", "attained": at(whole, *UPPER, "attained"), "knowledge": {"level": "marginals"}}
    whole["audits"] = [
        audit("sharp", "0", "1"),
        audit("sharp", "0%", "50.0%", "", number=1),
        audit("loose", "0", "2"),
        audit("invalid", "0", "0", witness=witness),
        audit("possible", "1", witness=witness),
        audit("impossible", "2"),
        audit("impossible", "0.3", "", "fraction", number=1),
        audit("infeasible", "0", "1", infeasible=c1, interval=None),
        audit("infeasible", "0", "1", infeasible=c5, interval=None),
        audit("infeasible", "0", "1", infeasible=c11, interval=None),
    ]
    # 0.3 of the total K = 2 is no whole number, which the ends do not tell.
    known = {"level": "total-correct-correct", "total": 2, "source": "given"}
    nothing = NOTHING | {"uncertified": "left out"}
    whole["intervals"].append(interval("lost-acceptance", "retained-correct", known, nothing, nothing))
    at(whole, "audits", 6)["interval"] = 3
    at(whole, "audits", 6)["excluded"] = {"tree": None}
    return whole


HALF = {"text": "0.5", "clean": (0.5).hex(), "perturbed": (0.5).hex()}


def bare():
    """Lost pairs of records without acceptance and without probabilities."""
    records = make(([(0, False), (1, False)], [(1, False), (1, False)]))
    whole = Oracle(records, "lost", "none", "micro", "marginals").certificate()
    whole["evaluations"][0]["acceptance"] = False
    whole["evaluations"][0]["classes"][0]["probabilities"] = None
    return whole, records


SPOILED = {
    # The layout.
    "a key more": (counted, put("intervals", 0, "more", 1), "'more' is unknown"),
    "a key less": (counted, lambda w: at(w, *UPPER).pop("uncertified"), "'uncertified' is missing"),
    "not in lowest terms": (counted, put(*UPPER, "value", "2/2"), "lowest terms"),
    "a denominator of 0": (counted, put(*UPPER, "value", "1/0"), "at least 1"),
    "minus zero": (counted, put("intervals", 0, "lower", "value", "-0/1"), "lowest terms"),
    "too many digits": (counted, put(*UPPER, "value", "9" * 4001 + "/1"), "4000 digits"),
    "not a rational": (counted, put(*UPPER, "value", "1e9/1"), "has to be a rational"),
    "a float": (counted, put(*UPPER, "value", 1), "has to be a rational"),
    "a bool for a bit": (counted, put(*CLASS, "clean", 0, 1, True), "has to be an integer"),
    "a bool for a flag": (counted, put("intervals", 0, "sharp", 1), "true or false"),
    "a bool for an index": (counted, put("intervals", 0, "evaluation", False), "has to be an integer"),
    # The two sides.
    "a group twice": (counted, lambda w: at(w, *CLASS, "clean").append(at(w, *CLASS, "clean", 0)), "listed twice"),
    "a count of 0": (counted, put(*CLASS, "clean", 0, 2, 0), "has to lie in 1"),
    "a negative count": (counted, put(*CLASS, "clean", 0, 2, -1), "has to lie in 1"),
    "too large a count": (counted, put(*CLASS, "clean", 0, 2, 10**8), "has to lie in 1"),
    "one side longer": (counted, put(*CLASS, "clean", 0, 2, 3), "4 clean records and 3 perturbed"),
    "a class twice": (counted, put("evaluations", 0, "classes", 1, "name", "class0"), "listed twice"),
    "accepted without acceptance": (counted, put("evaluations", 0, "acceptance", False), "has to lie in 0..0"),
    "NaN": (counted, put(*CLASS, "probabilities", "clean", 0, 0, "nan"), "float from 0 to 1"),
    "above 1": (counted, put(*CLASS, "probabilities", "clean", 1, 0, "0x1.8000000000000p+0"), "float from 0 to 1"),
    "not as hex writes it": (counted, put(*CLASS, "probabilities", "clean", 0, 0, "0x1p-1"), "as float.hex"),
    "descending": (counted, lambda w: at(w, *CLASS, "probabilities", "clean").reverse(), "not above"),
    "probabilities missing": (counted, lambda w: at(w, *CLASS, "probabilities", "clean").pop(), "1 probabilities of 2"),
    "no hash": (counted, put("evaluations", 0, "records", "0" * 63), "SHA-256"),
    "another threshold": (
        counted,
        put("evaluations", 0, "threshold", {"text": "0.5", "clean": "0x1.0000000000000p-1", "perturbed": (0.25).hex()}),
        "not the float32 or float64 nearest to 0.5",
    ),
    "a threshold that accepts nothing": (
        counted,
        lambda w: at(w, "evaluations", 0).update(acceptance=False, threshold=HALF),
        "makes acceptance known",
    ),
    "a threshold that is no decimal": (
        counted,
        put("evaluations", 0, "threshold", HALF | {"text": "1/2"}),
        "has to be a decimal",
    ),
    "too many records": (
        counted,
        lambda w: [group.__setitem__(2, 10**7) for group in at(w, *CLASS, "clean")],
        "more than",
    ),
    "a class without a name": (counted, put(*CLASS, "name", None), "has to be a name"),
    # What is asked.
    "a quantity of acceptance without it": (
        lambda: bare()[0],
        put("intervals", 0, "quantity", "lost-acceptance"),
        "needs acceptance",
    ),
    "no probabilities": (
        lambda: bare()[0],
        put("intervals", 0, "quantity", checker.DECREASE),
        "needs probabilities",
    ),
    "an unknown quantity": (counted, put("intervals", 0, "quantity", "lost-accept"), "has to be one of"),
    "a denominator not offered": (counted, put("intervals", 0, "denominator", "clean-correct"), "has to be one of"),
    "macro of a count": (counted, put("intervals", 0, "average", "macro"), "has to be one of micro"),
    "another class": (counted, put("intervals", 0, "class", "class2"), "no class of the evaluation"),
    "a class by its index": (counted, put("intervals", 0, "class", 0), "no class of the evaluation"),
    "no evaluation": (counted, put("intervals", 0, "evaluation", 1), "has to lie in 0..0"),
    "a total out of range": (of_total, put("intervals", 1, "knowledge", "total", 4), "(C11): 2 to 3"),
    "k out of range": (branched, put("intervals", 0, "knowledge", "retained_correct", [1]), "(C1): 0 to 0"),
    "an infeasible s": (branched, put("intervals", 0, "knowledge", "persistent", [3]), "(C5)"),
    "as many k as classes": (
        branched,
        put("intervals", 0, "knowledge", "retained_correct", [0, 0]),
        "1 entries, not 2",
    ),
    "pairing without pairs": (branched, put("intervals", 0, "knowledge", "source", "pairing"), "not paired"),
    # Rule table.
    "no such table": (counted, put(*UPPER, "attained", 0, 99), "has to lie in 0.."),
    "no list of tables": (counted, put(*UPPER, "attained", 5), "has to be a list"),
    "one table too few": (counted, put(*UPPER, "attained", [0]), "2 entries, not 1"),
    "a table of other margins": (
        counted,
        lambda w: at(w, *CLASS, "tables", at(w, *UPPER, "attained", 0)).pop(),
        "which has",
    ),
    "a pair of groups twice": (
        counted,
        lambda w: at(w, *CLASS, "tables", at(w, *UPPER, "attained", 0)).append(
            at(w, *CLASS, "tables", at(w, *UPPER, "attained", 0), 0)
        ),
        "listed twice",
    ),
    "another value": (counted, put(*UPPER, "value", "2/1"), "the tables give 1"),
    "a table of another k": (
        of_total,
        put("intervals", 1, "upper", "attained", 0, 0),
        "are not those known",
    ),
    "not attained": (counted, put(*UPPER, "attained", None), "said to be attained"),
    "exchanged ends": (
        counted,
        lambda w: at(w, "intervals", 0).update(lower=at(w, *UPPER), upper=at(w, "intervals", 0, "lower")),
        "add up to",
    ),
    # Rule sum.
    "a bound less than the closed form": (counted, put(*UPPER, "proof", "classes", 0, "value", "0/1"), "less than 1"),
    "bounds that add up to more": (counted, put(*UPPER, "proof", "classes", 1, "value", "1/2"), "add up to 3/2"),
    "a multiplier without a total": (counted, put(*UPPER, "proof", "multiplier", "1/1"), "has to be null"),
    "another multiplier": (of_total, put("intervals", 1, "upper", "proof", "multiplier", "2/1"), "add up to 6"),
    "a class missing": (counted, lambda w: at(w, *UPPER, "proof", "classes").pop(), "2 entries, not 1"),
    "another claim": (counted, put(*UPPER, "proof", "classes", 0, "claim", "transition_counts"), "one of lost_acc"),
    "plain for what k does not decide": (
        counted,
        put(*UPPER, "proof", "classes", 0, "claim", "plain"),
        "one of lost_acc",
    ),
    "sum for a varying macro": (
        counted,
        put("intervals", 2, "upper", "proof", by_sum(claim("lost_acceptance", 0), claim("lost_acceptance", 0))),
        "needs the rule mean",
    ),
    "no proof": (counted, put(*UPPER, "proof", None), "has to be text"),
    "an unknown rule": (counted, put(*UPPER, "proof", {"rule": "trust"}), "has to be one of sum"),
    "pairing of what is not paired": (counted, put(*UPPER, "proof", {"rule": "pairing"}), "has to be one of sum"),
    # Rules mean and allocation.
    "a rate too small": (counted, put("intervals", 2, "upper", "proof", "classes", 0, "rate", "1/2"), "less than 1/2"),
    "a rate that is not shown": (
        counted,
        lambda w: at(w, "intervals", 2, "upper", "proof", "classes", 0).update(
            rate="1/2", bound=claim("lost_acceptance", 1)
        ),
        "does not show the rate",
    ),
    "not always counted": (
        counted,
        put("intervals", 2, "upper", "proof", "classes", 1, "positive", None),
        "add up to more",
    ),
    "never a denominator": (
        counted,
        put(
            "intervals", 2, "upper", "proof", "classes", 1, {"rate": None, "bound": claim("plain", 1), "positive": None}
        ),
        "never has a denominator",
    ),
    "counted for nothing": (
        counted,
        put("intervals", 2, "upper", "proof", "classes", 1, "positive", claim("plain", 0)),
        "always has a denominator",
    ),
    "a rate for a k too few": (
        of_total,
        lambda w: at(w, "intervals", 0, "upper", "proof", "classes", 0).pop(),
        "2 entries, not 1",
    ),
    "allocated rates too small": (
        of_total,
        put("intervals", 0, "upper", "proof", "classes", 0, 1, "rate", "1/4"),
        "less than 1/2",
    ),
    "a mean below the best": (
        of_total,
        lambda w: (
            at(w, "intervals", 0).update(sharp=False),
            at(w, "intervals", 0, "upper").update(value="1/5", attained=None),
        ),
        "reach more than 0",
    ),
    # Bounds by rows and by trees.
    "no multipliers": (branched, put(*UPPER, "proof", "classes", 0, "rows", []), "the rows show"),
    "no such row": (branched, put(*UPPER, "proof", "classes", 0, "rows", [[["V", 2], "1/1"]]), "no row of this"),
    "a row twice": (branched, put(*UPPER, "proof", "classes", 0, "rows", [[["V", 1], "1/2"]] * 2), "listed twice"),
    "a value below the rows": (branched, put(*UPPER, "proof", "classes", 0, "value", "1/1"), "the rows show"),
    "a leaf that shows less": (
        branched,
        put("intervals", 0, "lower", "proof", "classes", 0, "tree", "down", {"rows": []}),
        "this leaf show more",
    ),
    "a leaf that is not empty": (
        branched,
        lambda w: at(w, "intervals", 0, "lower", "proof", "classes", 0, "tree", "up", "farkas").pop(),
        "leaf is empty",
    ),
    "branches exchanged": (
        branched,
        put("intervals", 0, "lower", "proof", "classes", 0, "tree", "at", 1),
        "this leaf show more",
    ),
    "no such variable": (
        branched,
        put("intervals", 0, "lower", "proof", "classes", 0, "tree", "variable", ["st", "label2", 1, 1]),
        "no variable",
    ),
    "a leaf missing": (
        branched,
        put("intervals", 0, "lower", "proof", "classes", 0, "tree", "up", None),
        "has to be an object",
    ),
    "rows for probabilities": (
        lambda: Oracle(RECORDS, checker.DECREASE, "none", "micro", "marginals").certificate(),
        put(*UPPER, "proof", "classes", 0, {"rule": "dual", "value": "9/1", "rows": []}),
        "does not read probabilities",
    ),
    # Audits.
    "a refused interval": (audited, put(*UPPER, "value", "9/1"), "the interval was refused"),
    "another evaluation's": (
        audited,
        lambda w: (w["evaluations"].append(copy.deepcopy(w["evaluations"][0])), put("audits", 0, "evaluation", 1)(w)),
        "not one of this evaluation",
    ),
    "undefined or not": (audited, put("audits", 0, "verdict", "undefined"), "undefined if and only if"),
    "excluded from what varies": (
        audited,
        put("intervals", 3, "knowledge", {"level": "marginals"}),
        "for counts over a fixed denominator",
    ),
    "excluded from what acceptance varies": (
        audited,
        put("intervals", 3, "denominator", "retained-correct-accepted"),
        "for counts over a fixed denominator",
    ),
    "excluded from a macro average": (audited, put("intervals", 3, "average", "macro"), "for micro averages"),
    "a tree for two classes": (audited, put("audits", 6, "excluded", "tree", {"farkas": []}), "for one class"),
    "not sharp": (audited, put("audits", 0, "reported", "upper", "2"), "does not follow"),
    "printed otherwise": (audited, put("audits", 1, "reported", "upper", "49.9%"), "does not follow"),
    "not loose": (audited, put("audits", 2, "reported", "upper", "1"), "does not follow"),
    "not invalid": (audited, put("audits", 3, "reported", "upper", "1"), "no attained value lies outside"),
    "not possible": (audited, put("audits", 4, "reported", "lower", "2"), "no attained value lies in"),
    "not impossible": (audited, put("audits", 5, "reported", "lower", "1"), "does not follow"),
    "not excluded": (audited, put("audits", 6, "reported", "lower", "0.5"), "1 over 2 is in the printed"),
    "feasible k": (audited, put("audits", 7, "infeasible", "retained_correct", 2), "not violated"),
    "feasible s": (audited, put("audits", 8, "infeasible", "persistent", 0), "not violated"),
    "feasible total": (audited, put("audits", 9, "infeasible", "retained_correct", 3), "not violated"),
    "a class too many": (audited, put("audits", 7, "infeasible", "class", 2), "has to lie in 0..1"),
    "a witness of another value": (audited, put("audits", 4, "witness", "value", "0/1"), "the tables give 1"),
    "a witness of another level": (
        audited,
        put("audits", 4, "witness", "knowledge", {"level": "paired"}),
        "not that of the interval",
    ),
    "the wrong unit": (audited, put("audits", 0, "reported", "unit", "percent"), "has to be count"),
    "a count of a half": (audited, put("audits", 0, "reported", "lower", "0.5e"), "not a plain decimal"),
    "a value for an interval": (audited, put("audits", 0, "reported", "upper", ""), "not a verdict on a value"),
    "no interval": (audited, put("audits", 0, "interval", 9), "has to lie in 0..3"),
    "an unknown verdict": (audited, put("audits", 0, "verdict", "fine"), "has to be one of"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_a_spoiled_certificate_is_rejected_with_its_reason(name):
    build, spoil, reason = SPOILED[name]
    whole = copy.deepcopy(build())
    allowed = {"not certified"} if build is audited else set()
    assert set(statuses(whole)) - allowed == {"certified for the embedded counts"}, reasons(whole)
    spoil(whole)
    rejected = [item.reason for item in run(whole).items if item.status == "rejected"]
    assert any(reason in line for line in rejected), rejected
    assert all("\n" not in line for line in rejected)


def test_a_total_of_other_tables_is_rejected():
    """Each class's k may be what the total leaves it, and the sum another."""
    records = make(([(0, True), (1, True)], [(0, False), (1, True)]), ([(0, True), (1, True)], [(0, False), (1, True)]))
    whole = Oracle(records, "lost-acceptance", "none", "micro", "total-correct-correct").certificate()
    whole["intervals"][0]["knowledge"] = {"level": "total-correct-correct", "total": 1, "source": "given"}
    assert "2 correct-correct pairs are not the total known" in reasons(whole)


# --- an excluded value, an undefined quantity, the pairing, the records -----------------------------------------------


def excluding():
    """Kept, persistent accepted errors of {1, 2} against {1, 2} are 0 or 2: the value 1 is impossible."""
    records = make(([(1, True), (2, True)], [(1, True), (2, True)]))
    left_out = NOTHING | {"uncertified": "left out"}
    asked = interval("kept-persistent-accepted-error", "images", {"level": "marginals"}, left_out, left_out)
    # If one label is persistent, the other label's two records are left for each other.
    both = {("W", 1): -1, ("wo", 1, 1): 1, ("vo", 1, 1): 1}
    down = both | {("n",): -1, ("z", "label1", 1, 1): 1, ("w", "label2", 1): 1, ("v", "label2", 1): 1}
    up = both | {("n",): 1, ("z", "label2", 1, 1): 1, ("w", "label1", 1): 1, ("v", "label1", 1): 1}
    tree = {"variable": ["st", "label1", 1, 1], "at": 0, "down": {"farkas": rows(down)}, "up": {"farkas": rows(up)}}
    audit = {
        "claim_id": "half",
        "evaluation": 0,
        "reported": {"lower": "0.5", "upper": "", "unit": "fraction", "rounding": ""},
        "verdict": "impossible",
        "interval": 0,
        "witness": None,
        "infeasible": None,
        "excluded": {"tree": tree},
        "uncertified": None,
    }
    return records, certificate([embedded(records)], [asked], [audit])


def test_a_value_in_a_hole_is_excluded_by_a_tree():
    records, whole = excluding()
    assert oracles.values(records, "kept-persistent-accepted-error", "images", "micro", "marginals", [0], None) == {
        0,
        1,
    }
    assert statuses(whole) == ["not certified", "certified for the embedded counts"]
    for leaf in ("down", "up"):
        other = copy.deepcopy(whole)
        other["audits"][0]["excluded"]["tree"][leaf]["farkas"].pop()
        assert "leaf is empty" in reasons(other)
    for lower in ("1.0", "0.0"):
        whole["audits"][0]["reported"]["lower"] = lower
        assert "leaf is empty" in reasons(whole)


def test_a_leaf_with_rows_excludes_nothing():
    _, whole = excluding()
    whole["audits"][0]["excluded"]["tree"]["up"] = {"rows": []}
    assert "every leaf has to be farkas" in reasons(whole)


def undefined(proof, level="marginals", attained=None):
    """No correspondence retains a correct image of the only class."""
    records = make(([(0, True), (1, True)], [(2, True), (2, True)]))
    embed = embedded(records)
    embed["classes"][0]["tables"] = [table(records, 0, (0, 1)), table(records, 0, (0, 1), merged=True)]
    upper = NOTHING | {"proof": proof, "attained": attained}
    return certificate(
        [embed],
        [
            interval(
                "lost-acceptance", "retained-correct", {"level": level}, NOTHING, upper, sharp=False, undefined=True
            )
        ],
    ), records


def test_an_undefined_quantity_needs_a_denominator_of_at_most_0():
    whole, _ = undefined(by_sum(claim("plain", 0)))
    assert reasons(whole) == ""
    assert "less than 0" in reasons(undefined(by_sum(claim("plain", -1)))[0])
    assert "add up to 1" in reasons(undefined(by_sum(claim("plain", 1)))[0])
    whole, _ = undefined(by_sum({"rule": "dual", "value": "0/1", "rows": []}))
    assert reasons(whole) == ""
    whole["intervals"][0]["sharp"] = True
    assert "is not sharp" in reasons(whole)
    records = make(([(0, True), (1, True)], [(0, True), (2, True)]))
    whole["evaluations"][0]["classes"] = embedded(records)["classes"]
    assert "rejected" in statuses(whole)
    whole["intervals"][0].update(sharp=False, upper=NOTHING | {"proof": by_sum(claim("plain", 0))})
    assert "less than 1" in reasons(whole)


def test_a_class_that_may_drop_out_does_not_always_count():
    records = make(([(0, True), (1, True)], [(0, True), (2, True)]))
    rate = {"rate": "0/1", "bound": claim("lost_acceptance", 0), "positive": claim("plain", -1)}
    proof = {"rule": "mean", "classes": [rate]}
    asked = interval(
        "lost-acceptance",
        "retained-correct",
        {"level": "marginals"},
        end(0, None, proof),
        end(0, None, proof),
        average="macro",
        sharp=False,
    )
    whole = certificate([embedded(records)], [asked])
    assert "less than 0" in reasons(whole)
    rate["positive"] = None
    assert reasons(whole) == ""


def test_an_undefined_paired_value():
    whole, records = undefined({"rule": "pairing"}, "paired", [0])
    assert statuses(whole) == ["certified for the embedded counts"]
    assert statuses(whole, canonical(records)) == ["certified"]
    assert "undefined interval" in reasons(undefined({"rule": "pairing"}, "marginals", [0])[0])


def paired(quantity="lost-acceptance", denominator="retained-correct", order=(0, 1, 2)):
    """The paired value on `RECORDS`."""
    embed = embedded(RECORDS)
    merged = quantity == checker.DECREASE
    embed["classes"][0]["tables"] = [table(RECORDS, 0, order, merged)]
    embed["classes"][1]["tables"] = [table(RECORDS, 1, (0,), merged)]
    (value,) = {
        "lost-acceptance": {Fraction(1, 2)},
        checker.DECREASE: {(Fraction(1, 4) + Fraction(1, 2)) / 2},
    }[quantity]
    ends = end(value, [0, 0], {"rule": "pairing"})
    return certificate([embed], [interval(quantity, denominator, {"level": "paired"}, ends, ends)])


def test_the_pairing_is_compared_with_the_records():
    assert statuses(paired()) == ["certified for the embedded counts"]
    assert statuses(paired(), canonical(RECORDS)) == ["certified"]
    other = paired(order=(0, 2, 1))
    for name in ("lower", "upper"):
        other["intervals"][0][name]["value"] = "1/3"
    assert reasons(other) == ""
    assert "not the pairing of the records" in reasons(other, canonical(RECORDS))


def test_the_report_says_what_each_interval_says():
    (item,) = run(paired()).items
    assert item.what == "model: clean -> fog/1 lost-acceptance retained-correct micro paired [1/2, 1/2] sharp"
    assert run(paired()).given == 1
    assert run(paired(), canonical(RECORDS)).given == 0
    whole = paired()
    whole["intervals"][0]["evaluation"] = 7
    assert run(whole).items[0].what == ""


def test_paired_probabilities_need_the_records():
    whole = paired(checker.DECREASE)
    assert statuses(whole) == ["not certified"]
    assert statuses(whole, canonical(RECORDS)) == ["certified"]
    for name in ("lower", "upper"):
        whole["intervals"][0][name]["value"] = "1/2"
    assert "the tables give 3/8" in reasons(whole, canonical(RECORDS))


def test_counts_of_the_pairing_are_compared_with_the_records():
    whole = of_total()
    assert run(whole).given == 2
    for asked in whole["intervals"]:
        asked["knowledge"]["source"] = "pairing"
    assert reasons(whole) == ""
    assert run(whole).given == 2, "without the records they are a premise all the same"
    assert "the records have 2" in reasons(whole, canonical(RECORDS))


RECORD_TEXTS = {
    "other names": (lambda lines: [line.replace("fog/1", "fog/2") for line in lines], "not the names"),
    "no names": (lambda lines: lines[1:], "not the names"),
    "a record less": (lambda lines: [lines[0], *lines[2:]], "groups"),
    "another prediction": (
        lambda lines: [*lines[:-1], lines[-1].replace('"label0"', '"label3"').replace("\t1\t", "\t0\t", 1)],
        "groups",
    ),
    "another probability": (lambda lines: [line.replace((0.75).hex(), (0.5).hex()) for line in lines], "probabilities"),
    "another class": (lambda lines: [line.replace("class1", "class2") for line in lines], "have the class 'class2'"),
    "an id twice": (lambda lines: [line.replace('"1"', '"0"') for line in lines], "stands twice"),
    "other ids": (lambda lines: [line.replace('clean\t"1"', 'clean\t"9"') for line in lines], "not the same ids"),
    "no acceptance": (lambda lines: [line.replace("\t1\t-\t", "\t-\t-\t") for line in lines], "ACCEPTED has to be"),
    "a field less": (lambda lines: [line.replace("\t-\t", "\t") for line in lines], "not SIDE"),
    "an id in two classes": (
        lambda lines: [
            line.replace('perturbed\t"1"', 'perturbed\t"*"')
            .replace('perturbed\t"3"', 'perturbed\t"1"')
            .replace('"*"', '"3"')
            for line in lines
        ],
        "in two classes",
    ),
    "no JSON": (lambda lines: [line.replace('"class1"', "class1") for line in lines], "not JSON"),
    "NaN": (lambda lines: [line.replace((0.75).hex(), "nan") for line in lines], "float from 0 to 1"),
}


@pytest.mark.parametrize("name", RECORD_TEXTS)
def test_records_that_say_something_else_are_refused(name):
    change, reason = RECORD_TEXTS[name]
    changed = "".join(f"{line}\n" for line in change(canonical(RECORDS).splitlines()))
    assert changed != canonical(RECORDS)
    whole = counted()
    assert "no records that were given have this hash" in reasons(whole, changed)
    whole["evaluations"][0]["records"] = hashlib.sha256(changed.encode()).hexdigest()
    assert reason in reasons(whole, changed)
    assert set(statuses(whole, changed)) == {"rejected"}


@pytest.mark.parametrize("text", ["e5", "E-1", "+", "+e1", ".", "", "0.8.1", "0,8", "nan", "1e9999"])
def test_a_threshold_that_is_no_decimal_is_refused(text):
    whole = counted()
    whole["evaluations"][0]["threshold"] = {"text": text, "clean": (0.8).hex(), "perturbed": (0.8).hex()}
    assert "has to be a decimal number" in reasons(whole)


def test_acceptance_is_checked_against_the_threshold():
    def line(side, image, accepted, confidence):
        return f'{side}\t"{image}"\t0\t1\t0\t{accepted}\t{confidence.hex()}\t-\n'

    in_32_bits = 0.800000011920929
    names = 'names\t"m"\t"clean"\t"fog/1"\n'
    good = names + line("clean", "a", 1, in_32_bits) + line("perturbed", "a", 0, 0.75)
    embed = {
        "model": "m",
        "clean": "clean",
        "perturbed": "fog/1",
        "paired": True,
        "threshold": {"text": "0.8", "clean": in_32_bits.hex(), "perturbed": (0.8).hex()},
        "acceptance": True,
        "records": hashlib.sha256(good.encode()).hexdigest(),
        "classes": [
            {"name": 0, "clean": [[None, 1, 1]], "perturbed": [[None, 0, 1]], "probabilities": None, "tables": []}
        ],
    }
    assert statuses(certificate([embed], []), good) == []
    bad = good.replace("\t0\t0x", "\t1\t0x")
    embed["records"] = hashlib.sha256(bad.encode()).hexdigest()
    embed["classes"][0]["perturbed"] = [[None, 1, 1]]
    assert "does not follow from CONFIDENCE" in reasons(certificate([embed], []), bad)


# --- the file, the command, the module --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not JSON"),
        (b"\xff", "not JSON in UTF-8"),
        (b"[]", "has to be an object"),
        (b"[" * 100_000, "not JSON"),
        (b'{"format": 1, "format": 1}', "stands twice"),
        (b'{"format": NaN}', "no integer"),
        (b'{"format": 1.0}', "no integer"),
        (b'{"format": 1e999999}', "no integer"),
        (b'{"format": 1234567890123456789}', "18 digits"),
        (json.dumps(counted() | {"version": 2}).encode(), "has to lie in 1..1"),
        (json.dumps(counted() | {"format": "x"}).encode(), "has to be one of pairbounds certificate"),
    ],
    ids=range(11),
)
def test_a_file_that_cannot_be_read(data, reason):
    with pytest.raises(checker.Unreadable, match=reason):
        checker.check(data)


def test_a_deep_tree_is_refused():
    whole = branched()
    tree = at(whole, "intervals", 0, "lower", "proof", "classes", 0, "tree")
    for _ in range(checker.DEEPEST_TREE):
        tree = {"variable": tree["variable"], "at": 0, "down": tree, "up": {"rows": []}}
    at(whole, "intervals", 0, "lower", "proof", "classes", 0)["tree"] = tree
    assert "deeper than 200" in reasons(whole)


def alone(tmp_path, *arguments):
    """The file run alone, from a folder where nothing of ours can be imported."""
    script = tmp_path / "checker_alone.py"
    script.write_bytes(Path(checker.__file__).read_bytes())
    command = [sys.executable, "-I", "-S", "-W", "error", str(script), *map(str, arguments)]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)


def test_the_file_runs_alone(tmp_path):
    (tmp_path / "c.json").write_text(json.dumps(counted()), encoding="utf-8")
    (tmp_path / "r.txt").write_text(canonical(RECORDS), encoding="utf-8")
    done = alone(tmp_path, "c.json", "--records", "r.txt")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == (
        "3 certified; closed forms relied on: lost_acceptance, plain; records given for 1 of 1 evaluations"
    )
    assert json.loads(alone(tmp_path, "c.json", "--json").stdout)["counts"]["certified for the embedded counts"] == 3
    (tmp_path / "c.json").write_text(json.dumps(counted()).replace('"1/1"', '"1/3"'), encoding="utf-8")
    assert alone(tmp_path, "c.json").returncode == 1
    (tmp_path / "c.json").write_text("{", encoding="utf-8")
    done = alone(tmp_path, "c.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert alone(tmp_path, "absent.json").returncode == 2


def test_the_checker_imports_the_standard_library_only():
    imported = set()
    for node in ast.walk(ast.parse(Path(checker.__file__).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(node.module.partition(".")[0])
    assert imported <= sys.stdlib_module_names
    assert "bounds" not in imported


def test_an_allocation_is_limited(monkeypatch):
    monkeypatch.setattr(checker, "MOST_CELLS", 5)
    assert "needs more than 5 cells" in reasons(of_total())
    monkeypatch.setattr(checker, "MOST_CELLS", 6)
    assert reasons(of_total()) == ""


def test_a_defined_paired_value_is_not_undefined():
    whole = paired()
    asked = whole["intervals"][0]
    asked.update(sharp=False, undefined=True, lower=NOTHING, upper=asked["upper"] | {"value": None})
    assert "has a denominator" in reasons(whole)


def test_a_fixed_denominator_of_0_has_no_value():
    records = make(([(0, True), (0, True)], [(0, True), (1, True)]))
    ends = end(0, None, by_sum(claim("transition_counts", 0)))
    asked = interval("new-accepted-error", "clean-accepted-errors", {"level": "marginals"}, ends, ends, sharp=False)
    assert "the denominator is 0" in reasons(certificate([embedded(records)], [asked]))


def test_ends_are_in_order():
    """Where no correspondence has a denominator every value is proved; ends the wrong way round are refused."""
    whole, _ = undefined(None)
    proof = by_sum(claim("lost_acceptance", 0))
    asked = whole["intervals"][0]
    asked.update(undefined=False, lower=end(0, None, proof), upper=end(1, None, proof))
    assert reasons(whole) == ""
    asked.update(lower=end(1, None, proof), upper=end(0, None, proof))
    assert "above the upper end" in reasons(whole)


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def command(capsys):
    """`pairbounds` in this process."""
    return Command(capsys)


def test_the_command_checks_what_the_command_wrote(command, tmp_path):
    path, out = write_small(tmp_path / "r.parquet"), tmp_path / "c.json"
    asked = ("--perturbed", "fog/1,snow/2", "--quantity", "all", "--knowledge", "all", "--threshold", "0.8")
    assert command("bounds", path, *asked, "--certificate", out).code == 0
    result = command("check", out, "--records", path)
    assert result.code == 0, result.out
    assert result.out.splitlines()[-1].endswith("records given for 2 of 2 evaluations")
    alone = command("check", out, "--json")
    assert alone.json["counts"]["rejected"] == alone.json["counts"]["certified"] == 0
    reasons = [item["reason"] for item in alone.json["items"] if item["status"] == "not certified"]
    assert len(reasons) == 2
    assert all("can be checked with the records only" in reason for reason in reasons)
    here = (pl.col("image_id") == "b") & (pl.col("condition") == "clean")
    lower = {name: pl.when(here).then(0.71).otherwise(name) for name in ("confidence", "true_probability")}
    small_records(**lower).write_parquet(tmp_path / "other.parquet")
    result = command("check", out, "--records", tmp_path / "other.parquet")
    assert result.code == 1
    assert "no records that were given have this hash" in result.out


def test_the_command_refuses_what_is_no_certificate(command, tmp_path):
    path = tmp_path / "c.json"
    assert "No such file" in command("check", path).refused()
    path.write_text("{}", encoding="utf-8")
    assert "'audits' is missing" in command("check", path).refused()
    path.write_text(json.dumps(counted()), encoding="utf-8")
    assert "add --records" in command("check", path, "--strata", "x").refused()
    assert "model" in command("check", path, "--records", write_small(tmp_path / "r.parquet")).refused()
    assert command("check", path).code == 0


def test_printed_numbers_are_read_as_the_audit_reads_them():
    """Two parsers that share no code; what one refuses, the other refuses too."""
    texts = [
        "0",
        "-0",
        "0.12",
        "-0.4",
        "12.5%",
        "−3",
        "1.2e-3",
        "3",
        "2.5",
        ".5",
        "5.",
        "+7",
        "1e2",
        "",
        ".",
        "x",
        "1,000",
        "1/3",
    ]
    seen = 0
    for text, unit, rounding in product(texts, ("", *printed.UNITS), ("", *printed.ROUNDINGS)):
        for whole in (False, True) if unit == "count" else (False,):
            try:
                expected = printed.parse(text, unit, rounding, whole=whole)
            except ClaimError as error:
                if "whole number" in error.rule:
                    low, high = checker.printed(checker.At(text, "here"), unit, rounding == "truncate", whole)
                    assert low > high
                    continue
                with pytest.raises(checker.Refused):
                    checker.printed(checker.At(text, "here"), unit, rounding == "truncate", whole)
                continue
            seen += 1
            read = checker.printed(checker.At(text, "here"), unit, rounding == "truncate", whole)
            assert read == (expected.low, expected.high), (text, unit, rounding, whole)
    assert seen > 100

"""C13 derived: accepted-error transitions given k, by the block lemma; kept-persistent and kept-changed by their cuts.

Statements about one wrong class l against all others together hold for any number of wrong classes.
"""

from __future__ import annotations

from functools import partial
from types import ModuleType

from proofs.evidence import Cell
from proofs.symbolic.derivation import SYMBOLS, Derivation, decide, integers, ranges
from proofs.symbolic.feasible_persistent import least_of, transport
from proofs.symbolic.lost_acceptance import derive_block

__all__ = ["check", "derive", "latex"]


def derive(forms: ModuleType, proof: Derivation, fast: bool = False) -> None:
    """First the blocks, then kept-persistent, then kept-changed."""
    n, a, b, k, a1, a0 = integers("n A B k A_1 A_0")
    m = forms.wrong_pairs(n, a, b, k)
    proof.equal("wrong clean records are wrong on both sides or recovered", m + (b - k), n - a)
    proof.equal("wrong perturbed records are wrong on both sides or lost", m + (a - k), n - b)
    e, e0, f, f0, m, p = integers("E E_0 E' E'_0 m p")
    both = [e, e0, f, f0, m, e + e0 - m, f + f0 - m]
    derive_block(forms, proof, "kept", (e, e0, f, f0), m, both)
    derive_block(forms, proof, "rejected wrong to accepted error", (e0, e, f, f0), m, both)
    lost = [f, f0, p, f + f0 - p]
    derive_block(forms, proof, "correct to accepted error", (a, 0, f, f0), p, [*lost, a, a - p])
    derive_block(forms, proof, "accepted correct to accepted error", (a1, a0, f, f0), p, [*lost, a1, a0, a1 + a0 - p])
    _kept_persistent(forms, proof)
    _kept_changed(forms, proof)
    for labels in (2,) if fast else (2, 3):
        _most_changed(forms, proof, labels)


def _kept_persistent(forms: ModuleType, proof: Derivation) -> None:
    """Label l, which attains the tightest cut, has e and e' accepted errors; W and W' are all wrong records."""
    w, v, e, f, m, t = integers("W W' e e' m t")
    same, right, down, rest = integers("x_{ll} x_{lo} x_{ol} x_{oo}")
    common = integers("C")[0]
    sides = [e, f, w - e, v - f, m, w - m, v - m]
    table = [same, right, down, rest, e - same - right, w - e - down - rest, f - same - down, v - f - right - rest]
    tightest = w - e + v - f
    low, high = forms.persistent_range(same + right + down + rest, tightest, common, SYMBOLS)
    proof.follows("kept persistent, valid below", [t - low], [*table, t - same, t])
    proof.follows("a label's pairs", [SYMBOLS.minimum(e, f) - same], table)
    proof.follows("kept persistent, valid above", [high - t], [*table, common - t, same + rest - t])
    low, high = forms.persistent_range(m, tightest, common, SYMBOLS)
    alone = {same: low, right: v - f, down: w - e, rest: 0}
    proof.equal("the cut is filled", low + v - f + w - e, m, [*sides, m - tightest])
    proof.follows("the cut is filled by a table", [g.xreplace(alone) for g in table], [*sides, m - tightest])
    proof.equal("all that can be kept", high, SYMBOLS.minimum(m, common), [*sides, common])
    kept = SYMBOLS.minimum(e, f)
    proof.equal("no label is left on both sides", SYMBOLS.minimum(e - kept, f - kept), 0, [e, f])


def _kept_changed(forms: ModuleType, proof: Derivation) -> None:
    e, f, e0, f0, m, common = integers("E E' E_0 E'_0 m C")
    e_l, f_l = integers("e e'")
    sides = [e0, f0, e_l, f_l, e - e_l, f - f_l, m, e + e0 - m, f + f0 - m, common, e - common, f - common]
    persistent, from_rejected, to_rejected, row, column, neither = parts = integers("p x_0 y_0 x_l y_l z")
    changed = row + column + neither
    held = [*sides, *parts, *(m - sum(parts), sum(parts) - m), common - persistent]
    held += [e0 - from_rejected, f0 - to_rejected, e_l - row, f_l - column]
    held += [e - e_l - column - neither, f - f_l - row - neither]
    low, high = forms.kept_changed_range(m, e, f, e0, f0, e - e_l + f - f_l, common, SYMBOLS)
    proof.follows("kept changed, valid", [changed - low, high - changed], held)
    few, _ = forms.block(e - common, e0, f - common, f0, m - common, SYMBOLS)
    proof.equal("kept changed, least: the rest as a block without common labels", low, few, [*sides, m - common])
    proof.equal("kept changed, least: no pair is needed", low, 0, [*sides, common - m])


def _most_changed(forms: ModuleType, proof: Derivation, labels: int) -> None:
    """The greatest number of pairs of accepted errors between labels, as far as m pairs go; other pairs are free."""
    m, e0, f0, common = integers("m E_0 E'_0 C")
    e, f, cuts, most = transport(proof, labels)
    sides = [*e, *f, e0, f0, m, sum(e) + e0 - m, sum(f) + f0 - m]
    _, high = forms.kept_changed_range(m, sum(e), sum(f), e0, f0, least_of(cuts), common, SYMBOLS)
    proof.equal("kept changed, greatest", high, SYMBOLS.minimum(m, most), sides)


def check(forms: ModuleType, fast: bool) -> Cell:
    """The cell of the register; `forms` holds the closed forms, as `bounds.closed_forms` does."""
    labels = "two" if fast else "two and three"
    return decide(
        partial(derive, fast=fast),
        forms,
        "all class sizes: the blocks with every integer between; for any number of wrong classes kept-persistent and "
        "kept-changed are valid, kept-persistent attains its upper end and a lower end above 0, kept-changed its lower "
        f"end; for {labels} wrong classes kept-changed attains its upper end, by elimination; not that kept-persistent "
        "attains 0 (SMT)",
    )


def latex(forms: ModuleType) -> str:
    """The closed forms."""
    a, a1, a0, w, v, e, f, m, k, common = integers("A A_1 A_0 W W' E E' m k C")
    tightest, within = integers("T T_E")
    kept = forms.block(e, w - e, f, v - f, m, SYMBOLS)
    return ranges(
        (r"\mathrm{kept}", kept),
        (r"\mathrm{new}", (f - kept[1], f - kept[0])),
        (r"\mathrm{resolved}", (e - kept[1], e - kept[0])),
        (r"\mathrm{rejected\ wrong}\to\mathrm{AE}", forms.block(w - e, e, f, v - f, m, SYMBOLS)),
        (r"\mathrm{correct}\to\mathrm{AE}", forms.block(a, 0, f, v - f, a - k, SYMBOLS)),
        (r"\mathrm{accepted\ correct}\to\mathrm{AE}", forms.block(a1, a0, f, v - f, a - k, SYMBOLS)),
        (r"\mathrm{kept\ persistent}", forms.persistent_range(m, tightest, common, SYMBOLS)),
        (r"\mathrm{kept\ changed}", forms.kept_changed_range(m, e, f, w - e, v - f, within, common, SYMBOLS)),
    )

"""The claims register: what `bounds` rests on, one row a claim, and which evidence is expected for it.

The counts are those of docs/theory.md: of a class of n images, A and B are correct clean and perturbed (A1, A0, B1, B0
accepted and rejected), W and W' wrong, E and E' accepted errors; w_l, w'_l, e_l, e'_l predict the wrong class l. Of a
correspondence, k are retained-correct pairs, s persistent-wrong ones, and m = n - A - B + k are wrong on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass

from proofs.evidence import KINDS, Kind

__all__ = ["CLAIMS", "Claim"]


@dataclass(frozen=True, slots=True)
class Claim:
    r"""One claim.

    Attributes:
        number: as in C1.
        stem: its name in code, proofs and tests.
        title: a few words.
        statement: in plain words.
        latex: the same for print, without the closed forms that are made from the code.
        evidence: the kinds expected; a kind that is not among them has nothing to say of the claim.
        forms: the functions of `bounds.closed_forms` that its evidence reads; none where the claim has no closed form.
        functions: the public functions that rest on it, by import path.
        tests: `file::test` of the tests of the package that are about it; the evidence itself is tested apart.
        theorems: the Coq theorems in `proofs/coq/<stem>.v`; none unless "coq" is expected.
        stated: what of the claim the theorems say, where that is not all of it.

    >>> CLAIMS[0].name, CLAIMS[0].expects("coq")
    ('C1', True)
    """

    number: int
    stem: str
    title: str
    statement: str
    latex: str
    evidence: tuple[Kind, ...]
    functions: tuple[str, ...]
    tests: tuple[str, ...]
    forms: tuple[str, ...] = ()
    theorems: tuple[str, ...] = ()
    stated: str = ""

    @property
    def name(self) -> str:
        """C and the number."""
        return f"C{self.number}"

    def expects(self, kind: Kind) -> bool:
        """Whether a kind of evidence is expected."""
        return kind in self.evidence


_WITHOUT_SYMBOLS: tuple[Kind, ...] = ("enumeration", "programs", "coq")

CLAIMS: tuple[Claim, ...] = (
    Claim(
        1,
        "feasible_correct_correct",
        "which k are feasible",
        "k is attained if and only if max(0, A + B - n) <= k <= min(A, B).",
        r"$k$ is attained by some correspondence if and only if $\max(0, A + B - n) \le k \le \min(A, B)$.",
        KINDS,
        ("bounds.closed_forms.feasible_correct_correct", "bounds.knowledge.check_retained_correct"),
        ("tests/bounds/test_knowledge.py::test_c1_and_c5_give_exactly_the_attained_counts",),
        ("correct_correct_range", "feasible_correct_correct"),
        ("feasible_correct_correct",),
    ),
    Claim(
        2,
        "correct_correct_suffices",
        "k is enough for retained-correct pairs",
        "For correspondences p and q with equal k there is one with the retained-correct pairs of p and the "
        "wrong-wrong pairs of q. So whatever is summed over retained-correct pairs attains the same set of values "
        "given k and given k and s, and so do several such sums together.",
        r"For correspondences $\pi, \sigma$ with equal $k$ there is a correspondence with exactly the retained-correct "
        r"pairs of $\pi$ and exactly the wrong--wrong pairs of $\sigma$. Hence for every $f$ into a commutative monoid "
        r"the set of attained $\sum_{\mathrm{CC}} f$ is the same given $k$ and given $(k, s)$.",
        _WITHOUT_SYMBOLS,
        ("bounds.solve.bound", "bounds.witness.complete"),
        (
            "tests/bounds/test_correspondences.py::test_correct_correct_suffices_by_enumeration",
            "tests/bounds/test_correspondences.py::test_correct_correct_suffices_by_integer_programs",
        ),
        theorems=(
            "correct_correct_suffices",
            "same_attained_values",
            "same_attained_sums",
            "family_correct_correct_suffices",
            "family_same_attained_sums",
            "family_same_attained_sums_five_states",
        ),
    ),
    Claim(
        3,
        "lost_acceptance",
        "lost and gained acceptance",
        "Given k, lost acceptance takes every integer from max(0, k - A0 - B1) to min(A1, B0, k), gained "
        "acceptance every one from max(0, k - A1 - B0) to min(A0, B1, k); their micro rates are greatest and "
        "least at explicit points.",
        r"Given $k$, lost acceptance takes exactly the integers from $\max(0, k - A_0 - B_1)$ to $\min(A_1, B_0, k)$; "
        r"gained acceptance those from $\max(0, k - A_1 - B_0)$ to $\min(A_0, B_1, k)$.",
        KINDS,
        ("bounds.closed_forms.block", "bounds.closed_forms.most_other_rows_ratio", "bounds.solve.bound"),
        (
            "tests/bounds/test_solve.py::test_retained_correct_quantities_and_counts",
            "tests/bounds/test_mutations.py::test_an_altered_closed_form_is_caught",
        ),
        ("block", "marked_row_range", "most_other_rows_ratio", "ratio_pairs", "correct_correct_range"),
        ("lost_acceptance", "gained_acceptance"),
        "counts of lost and gained acceptance, not their rates",
    ),
    Claim(
        4,
        "mean_probability_decrease",
        "sums of probability differences",
        "Given k, the greatest sum of p(x) - p'(y) over retained-correct pairs is that of the k largest p less the k "
        "smallest p', the least that of the k smallest p less the k largest p'; the mean is undefined for k = 0.",
        r"Given $k$, with $p$ and $p'$ sorted among the correct records of each side, the greatest "
        r"$\sum_{\mathrm{CC}} p(x) - p'(y)$ is the sum of the $k$ largest $p$ less that of the $k$ smallest $p'$; the "
        r"least, of the $k$ smallest $p$ less the $k$ largest $p'$. Both are attained.",
        KINDS,
        ("bounds.solve.bound",),
        ("tests/bounds/test_solve.py::test_retained_correct_quantities_and_counts",),
        theorems=("mean_probability_decrease",),
        stated="the sums, not that the mean is undefined for k = 0",
    ),
    Claim(
        5,
        "feasible_persistent",
        "which s are feasible given k",
        "Given k, s is attained if and only if 0 <= s <= m, L_l(s) <= U_l for every wrong class l, and sum L_l(s) "
        "<= s <= sum U_l, where L_l(s) = max(0, ceil((w_l + w'_l + m + s - W - W')/2)) and U_l = min(w_l, w'_l). "
        "The ceiling leaves holes.",
        r"Given $k$, $s$ is attained if and only if $0 \le s \le m$, $L_\ell(s) \le U_\ell$ for every wrong class "
        r"$\ell$, and $\sum_\ell L_\ell(s) \le s \le \sum_\ell U_\ell$, where "
        r"$L_\ell(s) = \max(0, \lceil (w_\ell + w'_\ell + m + s - W - W') / 2 \rceil)$ and "
        r"$U_\ell = \min(w_\ell, w'_\ell)$.",
        KINDS,
        ("bounds.knowledge.feasible_persistent", "bounds.knowledge.check_persistent"),
        (
            "tests/bounds/test_knowledge.py::test_c1_and_c5_give_exactly_the_attained_counts",
            "tests/bounds/test_knowledge.py::test_parity_leaves_a_hole",
        ),
        ("wrong_pairs", "persistent_range", "persistent_lower_share"),
        ("feasible_persistent", "holes"),
    ),
    Claim(
        6,
        "persistence_informs_errors",
        "s informs accepted errors",
        "Intervals of accepted-error transitions given k and s lie inside those given k, and can lie strictly inside.",
        r"The interval of an accepted-error transition given $(k, s)$ lies inside that given $k$, and can be strictly "
        r"inside it.",
        _WITHOUT_SYMBOLS,
        ("bounds.solve.bound", "bounds.persistence.persistence_gain"),
        ("tests/bounds/test_compact.py::test_persistence_informs_errors",),
        theorems=("five_state_inside", "persistence_informs_errors"),
    ),
    Claim(
        7,
        "integrality_matters",
        "relaxations can be too wide",
        "The linear relaxation can be strictly wider than what bijections attain, and rounding does not mend it: "
        "given k and s for accepted errors, given k alone for an arbitrary pair cost.",
        r"The linear relaxation can be strictly wider than what correspondences attain, and rounding does not repair "
        r"it: given $(k, s)$ for accepted-error transitions, given $k$ alone for an arbitrary pair cost.",
        _WITHOUT_SYMBOLS,
        ("bounds.correspondences.optimise", "bounds.compact.optimise_cells"),
        (
            "tests/bounds/test_correspondences.py::test_integrality_matters",
            "tests/bounds/test_own.py::test_integrality_matters_for_an_arbitrary_cost",
        ),
        theorems=("gap_of_new", "gap_of_kept_changed", "gap_given_k"),
    ),
    Claim(
        8,
        "cc_programs_are_integral",
        "retained-correct programs are integral",
        "For a sum of any f over retained-correct pairs, the relaxation given k has an attained value.",
        r"For every $f$, the linear relaxation of $\sum_{\mathrm{CC}} f$ given $k$ has the value of some "
        r"correspondence.",
        _WITHOUT_SYMBOLS,
        ("bounds.correspondences.optimise",),
        ("tests/bounds/test_correspondences.py::test_every_method_against_every_bijection",),
        theorems=("cc_programs_are_integral",),
    ),
    Claim(
        9,
        "shared_correspondence_orders_policies",
        "one correspondence orders policies",
        "The interval of a difference of two policies' costs lies inside the difference of their intervals, and "
        "can have one sign where these overlap.",
        r"The interval of $\mathrm{cost}(P) - \mathrm{cost}(Q)$ over the shared correspondence lies inside the "
        r"difference of the two intervals, and can have one sign where these overlap.",
        ("enumeration", "programs", "smt", "coq"),
        ("bounds.policies.evaluate_policies",),
        ("tests/bounds/test_policies.py::test_c9_is_ordered_by_the_shared_correspondence_alone",),
        theorems=("interval_of_difference", "shared_correspondence_orders_policies"),
    ),
    Claim(
        10,
        "compact_program",
        "the compact program is exact",
        "For weights on state and acceptance, a program with 20 variables a wrong class has the integer optimum of the "
        "program over all pairs of groups.",
        r"For weights on (state, acceptance) the program with 20 variables a wrong class has the integer optimum "
        r"of the program over all pairs of groups.",
        ("enumeration", "programs"),
        ("bounds.compact.optimise_cells",),
        (
            "tests/bounds/test_compact.py::test_random_weights_against_every_bijection",
            "tests/bounds/test_compact.py::test_against_the_full_integer_program",
        ),
    ),
    Claim(
        11,
        "total_count_allocation",
        "allocating a known total",
        "Given only K, the sum of k over the classes, a greedy merge of the classes' increments gives the ends of "
        "sums; a macro average over varying k needs a dynamic program.",
        r"Given only $K = \sum_c k_c$, the ends of a sum over classes are found by a greedy merge of the per-class "
        r"increments; a macro average over varying $k_c$ needs a dynamic program.",
        ("enumeration", "programs"),
        ("bounds.aggregate.best_sum", "bounds.aggregate.best_mean_given_total"),
        ("tests/bounds/test_aggregate.py::test_best_sum", "tests/bounds/test_aggregate.py::test_best_mean"),
    ),
    Claim(
        12,
        "more_knowledge_never_widens",
        "more knowledge never widens",
        "marginals, total, classwise and five-state knowledge give intervals each inside the one before, and the "
        "paired value lies inside them all, for every quantity.",
        r"marginals $\supseteq$ total $\supseteq$ classwise $\supseteq$ five-state $\ni$ paired value, for the sharp "
        r"interval of every quantity.",
        ("enumeration",),
        ("bounds.solve.bound",),
        ("tests/bounds/test_demo.py::test_more_knowledge_never_widens_and_the_truth_lies_inside",),
    ),
    Claim(
        13,
        "transition_counts",
        "accepted-error transitions given k",
        "Given k, every accepted-error transition has closed ends: blocks, where every integer between is "
        "attained, and for kept-persistent and kept-changed ends with holes between.",
        r"Given $k$, kept accepted errors are a block of $E$, $W - E$; $E'$, $W' - E'$ in $m$ pairs, new ones are $E'$ "
        r"and resolved ones $E$ less the kept; the other transitions are blocks likewise, and the ends of "
        r"kept-persistent and kept-changed ones are attained, with holes between.",
        KINDS,
        ("bounds.closed_forms.block", "bounds.closed_forms.kept_changed_range", "bounds.solve.bound"),
        (
            "tests/bounds/test_solve.py::test_transitions",
            "tests/bounds/test_mutations.py::test_an_altered_closed_form_is_caught",
        ),
        ("block", "wrong_pairs", "persistent_range", "kept_changed_range"),
        (
            "kept_accepted_errors",
            "new_accepted_errors",
            "resolved_accepted_errors",
            "rejected_wrong_to_accepted_error",
            "correct_to_accepted_error",
            "accepted_correct_to_accepted_error",
            "kept_persistent_accepted_errors",
            "kept_changed_accepted_errors",
            "holes_between",
        ),
    ),
    Claim(
        14,
        "four_block_integrality",
        "relaxations that are exact",
        "Where a pair cost is additive on one of the blocks CC, CW, WC, WW, the relaxation given k has attained "
        "ends; so every named quantity is concave (greatest) or convex (least) in k.",
        r"Where a pair cost vanishes, up to row and column potentials, on one of the blocks CC, CW, WC, WW, the linear "
        r"relaxation given $k$ has attained ends, concave (greatest) or convex (least) in $k$.",
        _WITHOUT_SYMBOLS,
        ("bounds.aggregate.best_sum",),
        ("tests/bounds/test_aggregate.py::test_best_sum",),
        theorems=("four_block_integrality", "one_block_both_ends"),
        stated="that the relaxation's ends are attained, not that they are concave or convex in k",
    ),
    Claim(
        15,
        "persistent_kept_errors",
        "kept-persistent errors given k and s",
        "Given k and s, kept-persistent accepted errors take every integer from sum (L_l - g_l)+ + (s - sum max(L_l, "
        "min(U_l, g_l)))+ to min(sum c_l, s - sum (L_l - c_l)+), with g_l = w_l - e_l + w'_l - e'_l and c_l = min(e_l, "
        "e'_l).",
        r"Given $(k, s)$, kept-persistent accepted errors take exactly the integers from "
        r"$\sum_\ell (L_\ell - g_\ell)^+ + (s - \sum_\ell \max(L_\ell, \min(U_\ell, g_\ell)))^+$ to "
        r"$\min(\sum_\ell c_\ell, s - \sum_\ell (L_\ell - c_\ell)^+)$, with "
        r"$g_\ell = w_\ell - e_\ell + w'_\ell - e'_\ell$ and $c_\ell = \min(e_\ell, e'_\ell)$.",
        ("enumeration", "programs", "symbolic", "smt"),
        ("bounds.closed_forms.persistent_kept_errors", "bounds.solve.bound"),
        ("tests/bounds/test_compact.py::test_persistent_kept_errors_takes_every_integer_between_its_ends",),
        ("wrong_pairs", "persistent_lower_share", "persistent_kept_errors"),
    ),
)
"""C1 to C15, in order."""

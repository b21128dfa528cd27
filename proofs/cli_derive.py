"""`pairbounds derive`: the closed form of an interval, derived and proved now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bounds.cli import Verb, emit
from bounds.cli_options import json_text
from bounds.errors import MissingExtraError, PairboundsError
from bounds.files import check_output

if TYPE_CHECKING:
    from proofs.derive.model import Model
    from proofs.derive.search import Derived

__all__ = ["derive"]

FORMATS = ("text", "latex", "python")
TOLD = {
    "exact": "exact: every correspondence lies inside, and some attain both ends",
    "relaxation": "outer: the linear relaxation's; every correspondence lies inside, the end may not be attained",
    "open": "open: every correspondence lies inside; whether the end is attained was not decided",
}


@click.command(cls=Verb)
@click.argument("quantity")
@click.option("--knowledge", required=True, metavar="K", help="marginals, correct-correct or five-state.")
@click.option("--labels", type=int, metavar="L", help="Wrong labels told apart, where they matter  [default: 2]")
@click.option(
    "--limit",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="For each end.",
)
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON and nothing else.")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write there instead.")
def derive(
    *,
    quantity: str,
    knowledge: str,
    labels: int | None,
    limit: float,
    as_json: bool,
    format_: str,
    out: Path | None,
) -> None:
    """The interval of a counted QUANTITY in one class, as max and min of linear expressions in the counts.

    Derived from the definitions alone and proved before it is shown. Exit code 1: an end is the linear relaxation's
    only, or was not decided.
    """
    if as_json and format_ != "text":
        raise PairboundsError("--format", format_, "cannot go with --json", "give one of the two")
    if out is not None:
        check_output("--out", out)

    from importlib.util import find_spec

    from proofs.derive.model import model_of
    from proofs.derive.search import derive as search

    model = model_of(quantity, knowledge, labels)
    if find_spec("z3") is None:
        raise MissingExtraError("derive", None, "needs Z3, which is absent", "pip install 'pairbounds[proofs]'")
    ends = [search(model, upper, limit) for upper in (False, True)]
    if as_json:
        text = json_text(derived_object(model, ends))
    else:
        text = {"text": derived_text, "latex": derived_latex, "python": derived_python}[format_](model, ends)
    if out is None:
        emit(text)
    else:
        from bounds.tables import write_text

        write_text(text if text.endswith("\n") else text + "\n", out)
    click.get_current_context().exit(0 if all(end.status == "exact" for end in ends) else 1)


def _parameters(model: Model, ends: list[Derived]) -> list[str]:
    """The symbols that the forms use, `n` first."""
    used = {name for end in ends if end.form for one in end.form.expressions for name in one.coefficients}
    return [name for name in ("n", *model.symbols) if name in used]


def _meanings(model: Model, names: list[str]) -> dict[str, str]:
    known = {"n": "images", "k": "retained-correct pairs", "s": "persistent-wrong pairs"}
    known |= {group.symbol: group.meaning for group in (*model.clean, *model.perturbed)}
    return {name: known[name] for name in names}


def derived_object(model: Model, ends: list[Derived]) -> dict[str, Any]:
    """The object of the JSON output."""
    return {
        "quantity": model.quantity.name,
        "knowledge": str(model.level),
        "labels": model.labels,
        "symbols": _meanings(model, _parameters(model, ends)),
        "ends": [
            {
                "end": "upper" if end.upper else "lower",
                "text": None if end.form is None else end.form.text(),
                "latex": None if end.form is None else end.form.latex(),
                "status": end.status,
                "how": list(end.how),
                "gap": None if end.gap is None else dict(end.gap),
                "seconds": round(end.seconds, 3),
            }
            for end in ends
        ],
    }


def derived_text(model: Model, ends: list[Derived]) -> str:
    """For people."""
    labels = f", {model.labels} wrong labels" if model.labels > 1 else ""
    lines = [f"{model.quantity.name} at {model.level}, one class{labels}, a count of pairs"]
    for end in ends:
        lines.append(f"{'greatest' if end.upper else 'least'} = {end.form.text() if end.form else 'not found'}")
        lines.append(f"  {TOLD[end.status]}")
        lines += [f"  {sentence}" for sentence in end.how]
        if end.gap is not None:
            lines.append("  not attained at " + ", ".join(f"{name} = {count}" for name, count in end.gap.items()))
    lines.append("where")
    lines += [f"  {name}: {meaning}" for name, meaning in _meanings(model, _parameters(model, ends)).items()]
    lines.append("for all counts that some correspondence has.")
    return "\n".join(lines)


def derived_latex(model: Model, ends: list[Derived]) -> str:
    """In LaTeX, a line an end."""
    return "\n".join(
        rf"\[ \{'max' if end.upper else 'min'} = {end.form.latex()} \] % {end.status}" for end in ends if end.form
    )


def derived_python(model: Model, ends: list[Derived]) -> str:
    """A function of the counts, in plain Python."""
    names = _parameters(model, ends)
    title = f"{model.quantity.name} at {model.level}".replace("-", "_").replace(" ", "_")
    lines = [f"def {title}({', '.join(f'{name}: int' for name in names)}) -> tuple[int, int]:"]
    labels = f", {model.labels} wrong labels" if model.labels > 1 else ""
    lines.append(f'    """Least and greatest {model.quantity.name} of one class at {model.level}{labels}.')
    lines.append("")
    for end in ends:
        lines.append(f"    {'Greatest' if end.upper else 'Least'}: {TOLD[end.status]}.")
    lines += ["", "    For counts that some correspondence has:", ""]
    lines += [f"    {name}: {meaning}" for name, meaning in _meanings(model, names).items()]
    lines.append('    """')
    shown = [end.form.text() if end.form else "None" for end in ends]
    lines.append(f"    return {shown[0]}, {shown[1]}")
    return "\n".join(lines)

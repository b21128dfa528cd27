"""What the verbs of ranking share: records, models, copies, targets, scores, budgets."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bounds.cli_options import chosen, is_all, note, progress, split
from bounds.errors import PairboundsError

if TYPE_CHECKING:
    from ranking.measures import Budget
    from ranking.pool import Pool, RankingRecords
    from ranking.scores import Score, Scored

__all__ = ["BUDGETS", "RankingChoice", "Work", "level_option", "ranking_options"]

BUDGETS = ("0.01", "0.05", "0.1", "0.2", "0.3", "0.5")
DEFAULT_SCORE = "mean_true_probability"


@dataclass(frozen=True, slots=True)
class RankingChoice:
    """What was asked for.

    Attributes:
        files, models, clean: the records.
        copies: sets of copies, as `ranking.conditions.copy_sets` gives them.
        targets: as typed.
        scores: as typed.
        budgets: read.
        budget_given: whether they were typed.
        failure: when an image with several captures fails.
        seed: of the random score and of the order of tied images in a plan.
    """

    files: Sequence[Path]
    models: Sequence[str]
    clean: str
    copies: Sequence[str]
    targets: Sequence[str]
    scores: Sequence[str]
    budgets: Sequence[Budget]
    budget_given: bool
    failure: str
    seed: int

    @property
    def inputs(self) -> list[tuple[str, Path | None]]:
        """The files, as `bounds.cli_options.Output.check` takes them."""
        return [("RECORDS", path) for path in self.files]

    def load(self) -> RankingRecords:
        """The records of all files."""
        from ranking.pool import RankingRecords

        return RankingRecords(list(self.files), self.clean)

    def chosen_models(self, source: RankingRecords) -> list[str]:
        """The models asked for.

        Raises:
            PairboundsError: if one is unknown, or there are several and none was named.
        """
        known = source.records.models
        if not self.models and len(known) > 1:
            way_out = f"choose among {', '.join(known)}, or all"
            raise PairboundsError("--model", None, f"the records hold {len(known)}", way_out)
        return chosen("--model", self.models or ("all",), known)

    def chosen_targets(self, source: RankingRecords, models: Sequence[str]) -> list[str]:
        """The targets asked for; `all` means every recaptured condition.

        Raises:
            PairboundsError: if there is none for `all`.
        """
        from ranking.conditions import target_names

        names = split(self.targets)
        if not names or not is_all("--targets", names):
            return names
        found = target_names(source.records, models)
        if not found:
            rule = "the records hold no condition of the kind recapture"
            raise PairboundsError("--targets", "all", rule, "name the conditions")
        return found

    def work(self, source: RankingRecords) -> Work:
        """What is to be ranked how.

        Raises:
            PairboundsError: if a model, score or target is unknown.
        """
        from ranking.conditions import NATURAL, held_out
        from ranking.scores import NATURAL_MEAN, scores_asked

        models = self.chosen_models(source)
        targets = self.chosen_targets(source, models)
        scores = scores_asked(self.scores or (DEFAULT_SCORE,))
        words, notes = list(self.copies), []
        if is_all("--score", split(self.scores)):
            scores, left_out = self._possible(source, models, scores)
            notes += [f"scores left out, {reason}: {', '.join(names)}" for reason, names in left_out.items()]
        for word in self.copies:
            if found := sorted({name for model in models for name in held_out(source.records, model, word)}):
                notes.append(f"{word} leaves out the held-out corruptions: {', '.join(found)}")
        if any(score.name == NATURAL_MEAN for score in scores) and NATURAL not in words:
            words.append(NATURAL)
        return Work(source, models, targets, scores, self.copies, words, self.seed, notes)

    def _possible(
        self, source: RankingRecords, models: Sequence[str], scores: Sequence[Score]
    ) -> tuple[list[Score], dict[str, list[str]]]:
        from ranking.conditions import NATURAL
        from ranking.scores import NATURAL_MEAN

        natural = all(
            any(source.records.kind(name) == NATURAL for name in source.records.conditions(model)) for model in models
        )
        kept: list[Score] = []
        left_out: dict[str, list[str]] = {}
        for score in scores:
            missing = [column for column in score.needs if column not in source.columns]
            if score.name == NATURAL_MEAN and (NATURAL in self.copies or not natural):
                reason = "being the mean on natural copies" if natural else "no natural copies"
            elif score.copies and not self.copies and score.name != NATURAL_MEAN:
                reason = "no --copies"
            elif missing:
                reason = f"no column {missing[0]!r}"
            elif score.whole and "probabilities" not in source.columns:
                reason = "no column 'probabilities'"
            else:
                kept.append(score)
                continue
            left_out.setdefault(reason, []).append(score.name)
        return kept, left_out


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be ranked how.

    Attributes:
        source: the records.
        models, targets, scores: those asked for.
        copies: the sets asked for; `needed` adds those that a score brings with it.
        seed: of the random score.
        notes: what is worth telling once all is done.
    """

    source: RankingRecords
    models: Sequence[str]
    targets: Sequence[str]
    scores: Sequence[Score]
    copies: Sequence[str]
    needed: Sequence[str]
    seed: int
    notes: Sequence[str]

    def rankings(self) -> Iterator[tuple[Pool, list[Scored]]]:
        """The pool of each model, and every ranking of it; one model at a time, with progress."""
        from ranking.scores import score_all

        for model in progress(self.models, lambda: len(self.models), "models"):
            pool = self.source.pool(model, self.needed, self.targets)
            yield pool, score_all(pool, self.scores, self.copies, self.seed)

    def tell(self) -> None:
        """The notes, on stderr."""
        for text in self.notes:
            note(text)


level_option = click.option(
    "--level", default="0.95", show_default=True, metavar="P", help="Of the intervals, a decimal."
)


def ranking_options(
    *, targets: bool, budgets: Sequence[str] = BUDGETS
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add RECORDS and the options of `RankingChoice`, handed to the verb as one `choice`.

    Args:
        targets: whether `--targets` must be given.
        budgets: those by default.
    """
    options = (
        click.argument("records", nargs=-1, required=True, type=click.Path(path_type=Path)),
        click.option("--model", "models", multiple=True, metavar="M", help="Models; needed where there are several."),
        click.option("--clean", default="clean", show_default=True, metavar="COND", help="The clean condition."),
        click.option(
            "--copies",
            multiple=True,
            metavar="SET",
            help="Copies that scores look at: corruptions, corruptions/3, natural, or COND,COND,...",
        ),
        click.option(
            "--targets",
            multiple=True,
            required=targets,
            metavar="T",
            help="Recaptures whose failures are to be found: T and T/*.",
        ),
        click.option(
            "--score",
            "scores",
            multiple=True,
            metavar="S",
            help=f"Scores, or package.module:function  [default: {DEFAULT_SCORE}]",
        ),
        click.option(
            "--budget",
            "asked",
            multiple=True,
            metavar="B",
            help=f"Images tested: a count, or a share such as 0.2 or 20%  [default: {', '.join(budgets)}]",
        ),
        click.option(
            "--failure",
            type=click.Choice(["any", "majority", "all", "rate"]),
            default="any",
            show_default=True,
            help="When an image with several captures fails.",
        ),
        click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of all that is drawn."),
    )

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(
            *args: Any,
            records: Sequence[Path],
            copies: Sequence[str],
            asked: Sequence[str],
            models: Sequence[str],
            clean: str,
            targets: Sequence[str],
            scores: Sequence[str],
            failure: str,
            seed: int,
            **kwargs: Any,
        ) -> Any:
            from ranking.conditions import copy_sets
            from ranking.measures import parse_budget

            choice = RankingChoice(
                files=records,
                models=models,
                clean=clean,
                copies=copy_sets(copies),
                targets=targets,
                scores=scores,
                budgets=[parse_budget(text) for text in split(asked) or budgets],
                budget_given=bool(asked),
                failure=failure,
                seed=seed,
            )
            return function(*args, choice=choice, **kwargs)

        return wrapped

    return lambda function: functools.reduce(
        lambda inner, option: option(inner), reversed(options), decorated(function)
    )

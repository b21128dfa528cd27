"""The door through which prediction records enter: read, checked and paired once, a bounded part of the file at a time.

Image ids are encoded once: the clean ids of a batch become the categories of an Enum, and everything after that works
on integer codes. A batch holds as many (model, condition) as fit in `ROW_BUDGET` rows and is read in one scan, so
memory grows with the largest condition and this budget, not with the file.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from bounds.errors import RecordError
from bounds.evaluation import Bools, Evaluation, Floats, Ints, Side
from bounds.records_source import ACCEPTED, NUMBERS, Source, collected, open_sources

__all__ = ["ABOVE_ONE", "CORRUPTIONS", "KINDS", "ROW_BUDGET", "ROW_SUM", "Records", "load_records"]

ROW_BUDGET = 8_000_000
"""Rows that one scan of the files may bring into memory, unless a single condition is larger."""

ABOVE_ONE = 1e-6
"""A probability may exceed 1 by this much (float32 softmax); it is kept as it is, and a note says so."""

ROUNDING = 1e-3
"""How far confidence and true_probability of one row may contradict each other: three printed decimals."""

ROW_SUM = 1e-3
"""How far the probabilities of one row may sum from 1; they are never renormalised."""

SHOWN = 5
"""How many offending ids a message lists."""

KINDS = ("clean", "corruption", "natural", "recapture", "other")
COMMON_CORRUPTIONS = (
    *("gaussian_noise", "shot_noise", "impulse_noise", "defocus_blur", "glass_blur", "motion_blur", "zoom_blur"),
    *("snow", "frost", "fog", "brightness", "contrast", "elastic_transform", "pixelate", "jpeg_compression"),
)
"""The 15 names that the benchmark's means are over."""
CORRUPTIONS = frozenset((*COMMON_CORRUPTIONS, "speckle_noise", "gaussian_blur", "spatter", "saturate"))
"""The 19 names of the common-corruptions benchmark; `fog/3` is fog at severity 3."""

Pair = tuple[str, str]
Codes = npt.NDArray[np.int32]


def load_records(source: Any, *, strata: str | None = None, accepted: str = ACCEPTED) -> Records:
    """Open prediction records and check their columns; rows are read when an evaluation is asked for.

    Args:
        source: a path to Parquet, CSV or gzipped CSV (told apart by content), a polars, pandas or pyarrow table, or
            a sequence of these, which is read as one set.
        strata: the column that defines classes; `label` if None.
        accepted: the column that says what is accepted; only `accepted` itself may be absent.

    Returns:
        The records; one row per (model, condition, image_id).

    Raises:
        RecordError: if a file cannot be read, has no rows, lacks a column, or has one of an unusable type; if labels
            are names and predictions are indices, or the reverse; or if a condition has an unknown kind or two.

    >>> table = pl.DataFrame({"condition": ["clean", "fog/1"], "image_id": ["a", "a"], "label": [3, 3],
    ...                       "predicted": [3, 5], "confidence": [0.9, 0.6]})
    >>> evaluation = load_records(table).evaluation()
    >>> evaluation.perturbed_condition, evaluation.images, evaluation.clean.correct.tolist()
    ('fog/1', 1, [True])
    """
    return Records(open_sources(source, strata, accepted), strata)


class Records:
    """Prediction records of some models under some conditions, not yet in memory.

    Attributes:
        models: names, sorted; `("model",)` where the files have no such column.
        provenance: file metadata (tool, versions, weights hash, ...); where files disagree, every value, with the
            name of its file.
    """

    models: tuple[str, ...]
    provenance: Mapping[str, str]

    def __init__(self, sources: Sequence[Source], strata: str | None) -> None:
        self._sources = tuple(sources)
        self._strata = strata
        self._rows: dict[Pair, list[int]] = {}
        self._labels = _Names(sources[0].columns["label"] == pl.Int64)
        self._classes = self._labels if strata is None else _Names(sources[0].columns["strata"] == pl.Int64)
        self._kinds: dict[str, str] = {}
        for index, source in enumerate(self._sources):
            keys = [key for key in ("model", "condition", "kind") if key in source.columns]
            for model, condition, *kinds, rows in collected(source.frame.group_by(keys).len(), source.name).iter_rows():
                if model is None or condition is None:
                    raise RecordError(
                        "model" if model is None else "condition",
                        None,
                        f"{_count(rows, 'row')} of {source.name} without one",
                        "fill the column in or leave these rows out",
                    )
                self._rows.setdefault((model, condition), [0] * len(self._sources))[index] += rows
                if kinds and kinds[0] is not None:
                    self._learn_kind(condition, kinds[0])
        if not self._rows:
            raise RecordError(
                "records",
                ", ".join(source.name for source in sources),
                "no rows",
                "give at least one record of each side",
            )
        self.models = tuple(sorted({model for model, _ in self._rows}))
        self.provenance = MappingProxyType(_provenance(sources))

    def __repr__(self) -> str:
        rows = sum(map(sum, self._rows.values()))
        return f"Records({len(self.models)} models, {len(self._rows)} (model, condition), {rows} rows)"

    def conditions(self, model: str) -> tuple[str, ...]:
        """The conditions of a model as in the file, sorted, clean ones included.

        Raises:
            RecordError: if there is no such model.
        """
        if model not in self.models:
            raise RecordError("model", model, "not in the records", f"choose among {_some(self.models)}")
        return tuple(sorted(condition for name, condition in self._rows if name == model))

    def kind(self, condition: str) -> str:
        """One of `KINDS`: the column `kind` where there is one, else told by the name."""
        if condition in self._kinds:
            return self._kinds[condition]
        if condition == "clean":
            return "clean"
        return "corruption" if condition.partition("/")[0] in CORRUPTIONS else "other"

    def evaluation(
        self, model: str | None = None, perturbed: str | None = None, *, clean: str = "clean", paired: bool = True
    ) -> Evaluation:
        """One paired evaluation, checked.

        Args:
            model, perturbed: may be left out where there is one.
            clean: the condition on the clean side.
            paired: match the sides by `image_id`; if False there are no common ids, and the sides only have to have
                as many images of each class.

        Raises:
            RecordError: if the model or condition does not exist, or its rows break a rule of the record format.
        """
        if model is None:
            if len(self.models) > 1:
                raise RecordError("model", None, "the records hold several", f"choose among {_some(self.models)}")
            model = self.models[0]
        if perturbed is None:
            others = [condition for condition in self.conditions(model) if condition != clean]
            if len(others) != 1:
                raise RecordError(
                    "perturbed",
                    None,
                    f"{model!r} has {len(others)} conditions besides {clean!r}",
                    f"choose among {_some(others)}" if others else "add records of one",
                )
            perturbed = others[0]
        return next(self.evaluations(model, perturbed, clean=clean, paired=paired))

    def evaluations(
        self,
        models: str | Sequence[str] | None = None,
        perturbed: str | Sequence[str] | None = None,
        *,
        clean: str = "clean",
        paired: bool = True,
    ) -> Iterator[Evaluation]:
        """Evaluations in (model, condition) order, read as they are consumed.

        Args:
            models: names; None or "all" for every model.
            perturbed: conditions; None or "all" for every condition of each model but `clean`.
            clean, paired: as in `evaluation`.

        Raises:
            RecordError: as `evaluation`; unknown names at once, faulty rows when their evaluation is reached.
        """
        wanted: list[Pair] = []
        for model in sorted(_listed(models, self.models)):
            conditions = self.conditions(model)
            for condition in (clean, *_listed(perturbed, ())):
                if condition not in conditions:
                    raise RecordError(
                        "condition", condition, f"not in the records of {model!r}", f"choose among {_some(conditions)}"
                    )
            others = tuple(condition for condition in conditions if condition != clean)
            wanted += [(model, condition) for condition in sorted(_listed(perturbed, others))]
        if not wanted:
            raise RecordError("perturbed", None, f"the records hold only {clean!r}", "add records of another condition")
        return self._stream(wanted, clean, paired)

    def _stream(self, wanted: list[Pair], clean: str, paired: bool) -> Iterator[Evaluation]:
        cleans: dict[str, _Table] = {}
        ids = _Ids.of([])
        seen: pl.DataFrame | None = None
        for batch in self._batches(wanted, clean):
            models = list(dict.fromkeys(model for model, _ in batch))
            if not set(models) <= set(cleans):
                tables = self._read([(model, clean) for model in models], None)
                if paired:
                    ids = _Ids.of([table.spelled(None) for table in tables.values()])
                    tables = {pair: table.encoded(ids) for pair, table in tables.items()}
                    seen = self._one_label(tables, ids, seen)
                cleans = {model: self._by_class(table, ids, paired) for (model, _), table in tables.items()}
            perturbed = self._read(batch, ids if paired else None)
            for model, condition in batch:
                build = self._paired if paired else self._unpaired
                yield build(cleans[model], perturbed.pop((model, condition)), ids)

    def _batches(self, wanted: list[Pair], clean: str) -> Iterator[list[Pair]]:
        batch: list[Pair] = []
        rows = 0
        for model, condition in wanted:
            new = not batch or batch[-1][0] != model
            more = sum(self._rows[model, condition]) + (sum(self._rows[model, clean]) if new else 0)
            if batch and rows + more > ROW_BUDGET:
                yield batch
                batch, rows = [], 0
            batch.append((model, condition))
            rows += more
        yield batch

    def _learn_kind(self, condition: str, kind: str) -> None:
        if kind not in KINDS:
            raise RecordError("kind", kind, f"unknown (condition {condition!r})", f"use {', '.join(KINDS)}")
        if self._kinds.setdefault(condition, kind) != kind:
            both = sorted([self._kinds[condition], kind])
            raise RecordError("condition", condition, f"has the kinds {both[0]!r} and {both[1]!r}", "keep one of them")

    def _read(self, pairs: list[Pair], ids: _Ids | None) -> dict[Pair, _Table]:
        """The rows of some (model, condition), in file order, read with one scan a file."""
        parts: dict[Pair, list[_Table]] = {pair: [] for pair in pairs}
        for index, source in enumerate(self._sources):
            present = [pair for pair in pairs if pair in self._rows and self._rows[pair][index]]
            if present:
                for pair, table in self._scan(source, present, ids):
                    parts[pair].append(table)
        return {pair: _joined(tables) for pair, tables in parts.items()}

    def _scan(self, source: Source, pairs: list[Pair], ids: _Ids | None) -> Iterator[tuple[Pair, _Table]]:
        models = {model: i for i, model in enumerate(sorted({model for model, _ in pairs}))}
        conditions = {condition: i for i, condition in enumerate(sorted({condition for _, condition in pairs}))}
        frame = source.frame.filter(_belongs(pairs))
        group = pl.col("condition").cast(pl.Enum(list(conditions))).to_physical().cast(pl.Int32)
        if len(models) > 1:
            group = group + pl.col("model").cast(pl.Enum(list(models))).to_physical().cast(pl.Int32) * len(conditions)
        raw = pl.col("image_id")
        columns = {"group": group, "raw": raw}
        if ids is not None:
            code = raw.cast(ids.dtype, strict=False).to_physical().cast(pl.Int32)
            columns |= {"code": code.fill_null(-1), "raw": pl.when(code.is_null()).then(raw.fill_null(""))}
        columns |= self._coded(source, frame)
        columns |= {name: pl.col(name) for name in (*NUMBERS, "accepted") if name in source.columns}
        if "probabilities" in source.columns:
            columns |= _probability_columns(self._labels.integers, source.columns)
        data = collected(frame.select(expression.alias(name) for name, expression in columns.items()), source.name)
        table = _Table.of(data, ids)
        groups = data["group"].to_numpy()
        order: Ints | None = None
        if (groups[1:] < groups[:-1]).any():
            order = np.argsort(groups.astype(np.uint16 if groups.max() < 1 << 16 else np.int32), kind="stable")
            groups = groups[order]
        keys = np.array(
            [models[model] * len(conditions) + conditions[condition] for model, condition in pairs],
            dtype=groups.dtype,
        )
        firsts, lasts = np.searchsorted(groups, keys), np.searchsorted(groups, keys, side="right")
        for (model, condition), first, last in zip(pairs, firsts, lasts, strict=True):
            part = table.part(slice(first, last) if order is None else order[first:last])
            yield (model, condition), replace(part, model=model, condition=condition).checked(ids)

    def _coded(self, source: Source, frame: pl.LazyFrame) -> dict[str, pl.Expr]:
        """Labels, predictions and strata as Int64: themselves, or the codes of names."""
        members = {"label": self._labels, "predicted": self._labels}
        if self._strata is not None:
            members["strata"] = self._classes
        for column, names in members.items():
            if not names.integers:
                names.learn(collected(frame.select(pl.col(column).unique()), source.name).to_series())
        return {column: names.encode(column) for column, names in members.items()}

    def _one_label(self, tables: dict[Pair, _Table], ids: _Ids, seen: pl.DataFrame | None) -> pl.DataFrame:
        """The label of every clean id so far.

        Raises:
            RecordError: if two models disagree on one, or an id occurs twice in one of `tables`.
        """
        label = np.zeros(len(ids.names), dtype=np.int64)
        known = np.zeros(len(ids.names), dtype=np.bool_)
        if seen is not None:
            earlier = ids.names.to_frame("id").join(seen, on="id", how="left", maintain_order="left")["label"]
            label, known = earlier.fill_null(0).to_numpy().copy(), earlier.is_not_null().to_numpy().copy()
        for table in tables.values():
            table.unique(ids)
            wrong = known[table.code] & (label[table.code] != table.label)
            if wrong.any():
                row = int(wrong.argmax())
                both = self._labels.texts([label[table.code[row]], table.label[row]])
                raise _two(table.id_at(row, ids), "label", both, f"in {table.where} and of another model")
            label[table.code], known[table.code] = table.label, True
        now = pl.DataFrame({"id": ids.names, "label": label})
        return now if seen is None else pl.concat([seen, now]).unique("id")

    def _by_class(self, table: _Table, ids: _Ids, paired: bool) -> _Table:
        """The rows by class name, then by image id."""
        if paired:
            rank = table.code
        else:
            table.unique(None)
            rank = table.spelled(None).rank("ordinal").to_numpy().astype(np.int32)
        stratum = self._stratum(table)
        _, (position,) = self._classes.positions([stratum], stratum)
        return table.part(np.lexsort((rank, position)))

    def _stratum(self, table: _Table) -> Ints:
        return table.label if table.strata is None else table.strata

    def _paired(self, clean: _Table, table: _Table, ids: _Ids) -> Evaluation:
        left, right, unmatched, notes = clean, table, (0, 0), []
        if not np.array_equal(clean.code, table.code):
            table.unique(ids)
            place = np.full(len(ids.names) + 1, -1, dtype=np.int64)
            place[clean.code.astype(np.int64)] = np.arange(len(clean))
            target = place[table.code.astype(np.int64)]
            partner = np.full(len(clean) + 1, -1, dtype=np.int64)
            partner[target] = np.arange(len(table))
            rows = np.flatnonzero(partner[:-1] >= 0)
            left = clean if len(rows) == len(clean) else clean.part(rows)
            right = table.part(partner[rows])
            unmatched = (len(clean) - len(rows), len(table) - len(rows))
            if unmatched != (0, 0):
                notes = _unmatched_notes(clean.part(partner[:-1] < 0), table.part(target < 0), ids)
        self._agree(left, right, "label", self._labels, left.label, right.label, ids)
        if left.strata is not None and right.strata is not None:
            self._agree(left, right, str(self._strata), self._classes, left.strata, right.strata, ids)
        usable = left.usable & right.usable
        unusable = len(usable) - int(usable.sum())
        if unusable:
            left, right = left.part(usable), right.part(usable)
        left_ids = left.spelled(None)
        right_ids = left_ids if right.raw is None and ids.exact else right.spelled(ids)
        respelled = 0 if right_ids is left_ids else int((left_ids != right_ids).sum())
        if respelled:
            are = _count(respelled, "id is", "ids are")
            notes.append(f"{are} spelled with other Unicode code points (NFC, NFD) on the two sides")
        return self._built(left, right, (left_ids, right_ids), True, unmatched, unusable, notes)

    def _agree(
        self, left: _Table, right: _Table, column: str, names: _Names, first: Ints, second: Ints, ids: _Ids
    ) -> None:
        wrong = first != second
        if wrong.any():
            row = int(wrong.argmax())
            both = names.texts([first[row], second[row]])
            raise _two(left.id_at(row, ids), column, both, f"in {left.where} and {right.where}")

    def _unpaired(self, clean: _Table, table: _Table, ids: _Ids) -> Evaluation:
        table = self._by_class(table, ids, paired=False)
        for side in (clean, table):
            if not side.usable.all():
                unusable = int((~side.usable).sum())
                raise RecordError(
                    "image_id",
                    side.id_at(int((~side.usable).argmax()), None),
                    f"no usable record (a null or NaN prediction, confidence or probability), as in "
                    f"{_count(unusable, 'row')} of {side.where}; without common ids the partner cannot be left out",
                    "complete the rows, or pair by image_id",
                )
        names, strata = self._classes.positions([self._stratum(clean), self._stratum(table)], self._stratum(clean))
        sizes = [np.bincount(stratum, minlength=len(names)) for stratum in strata]
        wrong = sizes[0] != sizes[1]
        if wrong.any():
            row = int(wrong.argmax())
            raise RecordError(
                "class",
                names[row],
                f"{_count(int(sizes[0][row]), 'image')} in {clean.where} but {sizes[1][row]} in {table.where}",
                "without common ids both sides need as many images of each class",
            )
        return self._built(clean, table, (clean.spelled(None), table.spelled(None)), False, (0, 0), 0, [])

    def _built(
        self,
        left: _Table,
        right: _Table,
        ids: tuple[pl.Series, pl.Series],
        paired: bool,
        unmatched: tuple[int, int],
        unusable: int,
        notes: list[str],
    ) -> Evaluation:
        if (left.accepted is None) != (right.accepted is None):
            raise RecordError(
                "accepted", None, f"only one of {left.where} and {right.where} has this column", "give it for both"
            )
        stratum = self._stratum(left)
        first = np.flatnonzero(np.diff(stratum, prepend=stratum[:1] - 1))
        labels, (predicted, other) = self._labels.positions([left.predicted, right.predicted], left.label)
        return Evaluation(
            model=left.model,
            clean_condition=left.condition,
            perturbed_condition=right.condition,
            classes=tuple(self._classes.texts(stratum[first])),
            starts=np.append(first, len(left)).astype(np.int64),
            labels=labels,
            clean=left.side(ids[0], predicted),
            perturbed=right.side(ids[1], other),
            paired=paired,
            unmatched=unmatched,
            unusable=unusable,
            notes=(*left.notes, *right.notes, *notes),
        )


class _Names:
    """Labels or strata as int64: integers stand for themselves, names are numbered as they are met."""

    def __init__(self, integers: bool) -> None:
        self.integers = integers
        self._names: list[str] = []
        self._read_as: dict[str, str] = {}

    def learn(self, names: pl.Series) -> None:
        """Number new names; two that a reader takes for one (`3` and `3.0`, a trailing space) are refused."""
        for name in sorted(set(names.drop_nulls().to_list()).difference(self._names)):
            twin = self._read_as.setdefault(_read_as(name), name)
            if twin != name:
                raise RecordError(
                    "class",
                    name,
                    f"cannot be told from the class {twin!r} (white space, zeros or Unicode code points)",
                    "write both in one way",
                )
            self._names.append(name)

    def encode(self, column: str) -> pl.Expr:
        if self.integers:
            return pl.col(column)
        return pl.col(column).cast(pl.Enum(self._names)).to_physical().cast(pl.Int64)

    def texts(self, values: Any) -> list[Any]:
        values = np.asarray(values).tolist()
        return values if self.integers else [self._names[value] for value in values]

    def sorted(self, values: Ints) -> tuple[tuple[str | int, ...], Ints]:
        """The names behind distinct values in order, and the values in that order."""
        names = self.texts(values)
        if self.integers:
            return tuple(names), values
        order = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
        return tuple(names[i] for i in order), values[order]

    def positions(self, arrays: list[Ints], others: Ints) -> tuple[tuple[str | int, ...], list[Ints]]:
        """The names that occur in `arrays` or `others`, sorted, and new arrays of positions among them."""
        filled = [array for array in (*arrays, others) if len(array)]
        if not filled:
            return (), arrays
        low, high = min(int(array.min()) for array in filled), max(int(array.max()) for array in filled)
        if high - low > 1024 + 4 * sum(map(len, filled)):
            names, values = self.sorted(np.unique(np.concatenate(filled)))
            ascending = np.argsort(values)
            return names, [ascending[np.searchsorted(values[ascending], array)] for array in arrays]
        present = np.zeros(high - low + 1, dtype=np.bool_)
        for array in filled:
            present[array - low if low else array] = True
        names, values = self.sorted(np.flatnonzero(present) + low)
        position = np.empty(len(present), dtype=np.int64)
        position[values - low] = np.arange(len(values))
        return names, [position[array - low if low else array] for array in arrays]


@dataclass(frozen=True, slots=True)
class _Ids:
    """The clean image ids of a batch, composed (NFC) and sorted; codes are positions in `names`."""

    names: pl.Series
    dtype: pl.Enum
    exact: bool

    @classmethod
    def of(cls, spelled: list[pl.Series]) -> _Ids:
        names = pl.concat(spelled).unique() if spelled else pl.Series([], dtype=pl.String)
        composed = _composed(names)
        exact = composed is names
        names = composed.unique().sort()
        return cls(names, pl.Enum(names), exact)

    def find(self, spelled: pl.Series) -> Codes:
        """int32 codes; -1 where an id is not among the names."""
        codes = _composed(spelled).cast(self.dtype, strict=False).to_physical().cast(pl.Int32)
        return codes.fill_null(-1).to_numpy()


@dataclass(frozen=True, slots=True)
class _Table:
    """Rows of one (model, condition), or of a whole scan.

    Attributes:
        code: positions in `_Ids.names`, -1 for other ids.
        raw: the ids that are not spelled as `_Ids.names[code]`, null elsewhere; None if there are none.
        usable: False where the prediction is missing, or a confidence or probability is missing or NaN.
        tied: rows with several largest probabilities; None if the file has no such column.
    """

    model: str
    condition: str
    code: Codes
    raw: pl.Series | None
    label: Ints
    predicted: Ints
    strata: Ints | None
    usable: Bools
    confidence: Floats | None
    true_probability: Floats | None
    accepted: Bools | None
    tied: Bools | None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, data: pl.DataFrame, ids: _Ids | None) -> _Table:
        """The rows as scanned, refused where a value is missing that has to be there."""
        raw: pl.Series | None = data["raw"]
        code = data["code"].to_numpy() if ids is not None else np.full(len(data), -1, dtype=np.int32)
        if (data["raw"] == "").any() or (ids is None and data["raw"].null_count()):
            raise RecordError("image_id", None, "missing in at least one row", "give every row its image_id")
        if data["raw"].null_count() == len(data):
            raw = None
        elif ids is not None:
            other = np.flatnonzero(code < 0)
            code = code.copy()
            code[other] = ids.find(data["raw"].gather(other))
        for column, rule in (
            ("label", "every row has a true class"),
            ("strata", "every row has a stratum"),
            ("accepted", "acceptance is true or false"),
        ):
            if column in data.columns and data[column].null_count():
                row = int(data[column].is_null().arg_max() or 0)
                name = ids.names[int(code[row])] if ids is not None and code[row] >= 0 else data["raw"][row]
                raise RecordError(
                    column, None, f"missing for image_id {name!r}, but {rule}", "fill it in or leave the row out"
                )
        if "fault" in data.columns and data["fault"].null_count() < len(data):
            row = int(data["fault"].is_not_null().arg_max() or 0)
            name = ids.names[int(code[row])] if ids is not None and code[row] >= 0 else data["raw"][row]
            raise RecordError(
                "probabilities",
                data["fault"][row],
                f"a row's negative entry or sum (image_id {name!r}); entries are >= 0 and sum to 1 within {ROW_SUM}",
                "give softmax outputs",
            )
        if "contradicted" in data.columns and data["contradicted"].null_count() < len(data):
            row = int(data["contradicted"].is_not_null().arg_max() or 0)
            column = data["contradicted"][row]
            name = ids.names[int(code[row])] if ids is not None and code[row] >= 0 else data["raw"][row]
            rule = (
                "not the class with the largest of the row's probabilities"
                if column == "predicted"
                else f"differs from the row's probabilities by more than {ROUNDING}"
            )
            raise RecordError(
                column, data[column][row], f"{rule} (image_id {name!r})", "write all columns from one softmax output"
            )
        usable = np.ones(len(data), dtype=np.bool_)
        for column in ("predicted", *NUMBERS):
            if column in data.columns and data[column].null_count():
                usable &= data[column].is_not_null().to_numpy()
        if "undefined" in data.columns:
            usable &= ~data["undefined"].fill_null(False).to_numpy()

        def floats(column: str) -> Floats | None:
            return data[column].fill_null(float("nan")).to_numpy() if column in data.columns else None

        def present(column: str) -> Any:
            return data[column].to_numpy() if column in data.columns else None

        return cls(
            model="",
            condition="",
            code=code,
            raw=raw,
            label=data["label"].to_numpy(),
            predicted=data["predicted"].fill_null(0).to_numpy(),
            strata=present("strata"),
            usable=usable,
            confidence=floats("confidence"),
            true_probability=floats("true_probability"),
            accepted=present("accepted"),
            tied=data["tied"].fill_null(False).to_numpy() if "tied" in data.columns else None,
        )

    def __len__(self) -> int:
        return len(self.label)

    @property
    def where(self) -> str:
        return f"({self.model}, {self.condition})"

    def part(self, rows: Any) -> _Table:
        """Some rows: a slice (a view), a mask, or positions in the order wanted."""
        if isinstance(rows, slice):
            raw = None if self.raw is None else self.raw[rows]
        else:
            if rows.dtype == np.bool_:
                rows = np.flatnonzero(rows)
            raw = None if self.raw is None else self.raw.gather(rows)

        def pick(values: Any) -> Any:
            return None if values is None else values[rows]

        return replace(
            self,
            code=self.code[rows],
            raw=None if raw is not None and raw.null_count() == len(raw) else raw,
            label=self.label[rows],
            predicted=self.predicted[rows],
            strata=pick(self.strata),
            usable=self.usable[rows],
            confidence=pick(self.confidence),
            true_probability=pick(self.true_probability),
            accepted=pick(self.accepted),
            tied=pick(self.tied),
        )

    def spelled(self, ids: _Ids | None) -> pl.Series:
        """The ids as in the file."""
        if ids is None:
            return pl.Series([], dtype=pl.String) if self.raw is None else self.raw
        known = pl.Series(np.where(self.code < 0, 0, self.code))
        names = ids.names.gather(known) if len(ids.names) else pl.repeat("", len(self), eager=True)
        return names if self.raw is None else self.raw.fill_null(names)

    def id_at(self, row: int, ids: _Ids | None) -> str:
        return str(self.part(slice(row, row + 1)).spelled(ids)[0])

    def encoded(self, ids: _Ids) -> _Table:
        """The clean rows with their codes, and a note on ids with white space around them."""
        names = self.spelled(None)
        spaced = int((names != names.str.strip_chars()).sum())
        end = "begins or ends" if spaced == 1 else "begin or end"
        note = f"{_count(spaced, 'id')} of {self.where} {end} with white space; ids pair only as they are"
        return replace(self, code=ids.find(names), notes=(*self.notes, note) if spaced else self.notes)

    def unique(self, ids: _Ids | None) -> None:
        """Refuses two rows of one image, also where only their spelling (NFC, NFD) differs."""
        found = self.code >= 0
        if ids is not None and found.any():
            counts = np.bincount(self.code[found])
            doubled = self.part(found & (counts[self.code] > 1)) if counts.max() > 1 else None
        else:
            doubled = None
        others = self.part(~found) if not found.all() else None
        if doubled is None and others is not None:
            composed = _composed(others.spelled(ids))
            again = composed.is_duplicated()
            if again.any():
                doubled = others.part(again.to_numpy())
        if doubled is None:
            return
        spelled = doubled.spelled(ids)
        names = spelled.unique().sort().to_list()
        if spelled.is_duplicated().any():
            occur = _count(_composed(spelled).n_unique(), "id occurs", "ids occur")
            rule = f"{occur} more than once in {self.where}: {_some(names)}"
            way_out = "keep one row for each image"
        else:
            rule = f"{len(names)} ids of {self.where} differ only in Unicode code points (NFC, NFD): "
            rule += _some(names, ascii)
            way_out = "rename one of each, or keep one row"
        raise RecordError("image_id", None, rule, way_out)

    def checked(self, ids: _Ids | None) -> _Table:
        """The rows with their probabilities checked, and notes on them.

        Raises:
            RecordError: if a probability lies outside [0, 1], or confidence and true_probability contradict.
        """
        notes, usable = [], self.usable
        for column in NUMBERS:
            values = getattr(self, column)
            if values is None or not len(values):
                continue
            if np.isnan(values.min()):
                missing = np.isnan(values)
                usable, values = usable & ~missing, np.where(missing, 0, values)
            low, high = float(values.min()), float(values.max())
            if low < 0 or high > 1 + ABOVE_ONE:
                row = int(values.argmin() if low < 0 else values.argmax())
                raise RecordError(
                    column,
                    float(values[row]),
                    f"outside [0, 1] (image_id {self.id_at(row, ids)!r} of {self.where})",
                    "give probabilities as fractions, not percent or logits",
                )
            if high > 1:
                count = int((values > 1).sum())
                exceed = "exceeds" if count == 1 else "exceed"
                above = f"{exceed} 1 by at most {ABOVE_ONE}, kept as is"
                notes.append(f"{_count(count, 'value')} of {column} in {self.where} {above}")
        if self.confidence is not None and self.true_probability is not None:
            self._agree(usable, ids)
        if self.tied is not None and self.tied.any():
            count = int(self.tied.sum())
            tie = f"{'ties' if count == 1 else 'tie'} at the largest probability; the lowest class index counts"
            notes.append(f"{_count(count, 'row')} of {self.where} {tie}")
        return replace(self, usable=usable, notes=tuple(notes))

    def _agree(self, usable: Bools, ids: _Ids | None) -> None:
        """confidence == true_probability where correct, >= elsewhere, up to `ROUNDING`."""
        assert self.confidence is not None
        assert self.true_probability is not None
        excess = self.true_probability - self.confidence
        wrong = usable & ((excess > ROUNDING) | ((excess < -ROUNDING) & (self.predicted == self.label)))
        if wrong.any():
            row = int(wrong.argmax())
            correct = self.predicted[row] == self.label[row]
            raise RecordError(
                "true_probability",
                float(self.true_probability[row]),
                f"{'differs from' if correct else 'exceeds'} confidence {float(self.confidence[row])!r} in a "
                f"{'correct' if correct else 'wrong'} row (image_id {self.id_at(row, ids)!r} of {self.where})",
                "confidence is the largest softmax probability, true_probability that of the label",
            )

    def side(self, image_id: pl.Series, predicted: Ints) -> Side:
        def own(values: Any) -> Any:
            return values if values is None or values.base is None else values.copy()

        return Side(
            image_id=image_id,
            correct=self.predicted == self.label,
            predicted=predicted,
            accepted=own(self.accepted),
            confidence=own(self.confidence),
            true_probability=own(self.true_probability),
        )


def _joined(tables: list[_Table]) -> _Table:
    """One condition's rows from several files."""
    first = tables[0]
    if len(tables) == 1:
        return first

    def join(column: str) -> Any:
        parts = [getattr(table, column) for table in tables]
        if len({None if part is None else part.dtype for part in parts}) > 1:
            kinds = ", ".join(sorted({"absent" if part is None else str(part.dtype) for part in parts}))
            raise RecordError(
                column, None, f"differs among the files that hold {first.where}: {kinds}", "write them with one type"
            )
        return None if parts[0] is None else np.concatenate(parts)

    raws = [pl.repeat(None, len(t), dtype=pl.String, eager=True) if t.raw is None else t.raw for t in tables]
    raw = pl.concat(raws)
    return replace(
        first,
        code=np.concatenate([table.code for table in tables]),
        raw=None if raw.null_count() == len(raw) else raw,
        label=np.concatenate([table.label for table in tables]),
        predicted=np.concatenate([table.predicted for table in tables]),
        strata=join("strata"),
        usable=np.concatenate([table.usable for table in tables]),
        confidence=join("confidence"),
        true_probability=join("true_probability"),
        accepted=join("accepted"),
        tied=None
        if all(t.tied is None for t in tables)
        else np.concatenate([np.zeros(len(t), dtype=np.bool_) if t.tied is None else t.tied for t in tables]),
        notes=tuple(note for table in tables for note in table.notes),
    )


def _composed(names: pl.Series) -> pl.Series:
    """The names in NFC; the very same series where all are."""
    if names.str.len_bytes().sum() == names.str.len_chars().sum():
        return names
    composed = names.str.normalize("NFC")
    return names if composed.equals(names) else composed


def _read_as(name: str) -> str:
    composed = unicodedata.normalize("NFC", name).strip()
    number = re.fullmatch(r"([+-]?)0*(\d+)(\.0*)?", composed)
    return f"{number[1].strip('+')}{number[2]}" if number else composed


def _belongs(pairs: Sequence[Pair]) -> pl.Expr:
    """Whether a row is of one of the pairs; models with the same conditions share one test."""
    by_model: dict[str, list[str]] = {}
    for model, condition in pairs:
        by_model.setdefault(model, []).append(condition)
    by_conditions: dict[tuple[str, ...], list[str]] = {}
    for model, conditions in by_model.items():
        by_conditions.setdefault(tuple(sorted(conditions)), []).append(model)
    return pl.any_horizontal(
        pl.col("model").is_in(models) & pl.col("condition").is_in(conditions)
        for conditions, models in by_conditions.items()
    )


def _probability_columns(index_labels: bool, others: Collection[str]) -> dict[str, pl.Expr]:
    """Checks of the column `probabilities`, a few values a row, so that the lists are never all in memory.

    `contradicted` names the column of `others` that they contradict first; names say not which entry is theirs.
    """
    row = pl.col("probabilities")
    total, low, top = row.list.sum(), row.list.min(), row.list.arg_max()
    tied = row.list.len() - 1 - row.list.reverse().list.arg_max() != top
    fault = pl.when(low < 0).then(low).when((total - 1).abs() > ROW_SUM).then(total)
    columns = {"fault": pl.when(total.is_not_nan()).then(fault), "undefined": total.is_nan(), "tied": tied}
    wrong: dict[str, pl.Expr] = {}

    def entry(column: str) -> pl.Expr:
        return row.list.get(pl.when(pl.col(column) >= 0).then(pl.col(column)), null_on_oob=True)

    def differs(column: str, value: pl.Expr) -> pl.Expr:
        return pl.col(column).is_not_nan() & ((value - pl.col(column)).abs() > ROUNDING)

    if index_labels:
        predicted = pl.col("predicted")
        largest = entry("predicted") == row.list.max()
        columns["predicted"] = pl.when(tied & largest).then(top.cast(pl.Int64)).otherwise(predicted)
        wrong["predicted"] = predicted.is_not_null() & ~largest.fill_null(False)
    if "confidence" in others:
        wrong["confidence"] = differs("confidence", row.list.max())
    if index_labels and "true_probability" in others:
        wrong["true_probability"] = differs("true_probability", entry("label"))
    names = [pl.when(total.is_not_nan() & flag).then(pl.lit(column)) for column, flag in wrong.items()]
    return columns | ({"contradicted": pl.coalesce(names)} if names else {})


def _unmatched_notes(clean: _Table, perturbed: _Table, ids: _Ids) -> list[str]:
    left, right = clean.spelled(None), perturbed.spelled(ids)
    are = "image is" if len(left) + len(right) == 1 else "images are"
    notes = [f"{len(left)} clean and {len(right)} perturbed {are} on one side only and left out"]
    spaced = sum(int((names != names.str.strip_chars()).sum()) for names in (left, right))
    if spaced:
        common = left.str.strip_chars().unique().is_in(right.str.strip_chars().unique().to_list()).sum()
        ends = "begins or ends" if spaced == 1 else "begin or end"
        more = _count(int(common), "more image")
        notes.append(f"{spaced} of their ids {ends} with white space; without it {more} would pair")
    return notes


def _two(image: str, column: str, both: Sequence[object], where: str) -> RecordError:
    return RecordError(
        "image_id",
        image,
        f"has the {column} {both[0]!r} and the {column} {both[1]!r} {where}",
        f"an image has one {column}; correct it",
    )


def _listed(asked: str | Sequence[str] | None, every: Sequence[str]) -> Sequence[str]:
    if asked is None or asked == "all":
        return every
    return [asked] if isinstance(asked, str) else list(dict.fromkeys(asked))


def _count(number: int, one: str, many: str | None = None) -> str:
    """A number and its noun: 1 row, 2 rows."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def _some(names: Sequence[object], spell: Callable[[object], str] = repr) -> str:
    shown = ", ".join(map(spell, names[:SHOWN]))
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"


def _provenance(sources: Sequence[Source]) -> dict[str, str]:
    values: dict[str, dict[str, list[str]]] = {}
    for source in sources:
        for key, value in source.metadata.items():
            values.setdefault(key, {}).setdefault(value, []).append(source.name)
    return {
        key: next(iter(found)) if len(found) == 1 else "; ".join(f"{v} ({', '.join(n)})" for v, n in found.items())
        for key, found in values.items()
    }

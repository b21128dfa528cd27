"""Small programs over tables, and all their tables by going through every one: slow and obvious."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from bounds.table_program import Row, TableProgram


def ways(images, cells):
    """Every way to put so many images into so many cells."""
    if cells == 1:
        yield (images,)
        return
    for first in range(images + 1):
        for rest in ways(images - first, cells - 1):
            yield (first, *rest)


def total(coefficients, x):
    return sum((Fraction(a) * x[i] for i, a in coefficients.items()), Fraction(0))


def tables(program, images):
    """Every table of a program whose counts add up to `images`, straight from the definition."""
    return [
        x
        for x in ways(images, len(program.variables))
        if all(
            (row.lower is None or row.lower <= total(row.coefficients, x))
            and (row.upper is None or total(row.coefficients, x) <= row.upper)
            for row in program.rows
        )
    ]


fractions = st.builds(Fraction, st.integers(-20, 20), st.integers(1, 12))

objectives = st.dictionaries(st.integers(0, 5), st.one_of(st.integers(-3, 3), fractions), max_size=6)


@st.composite
def programs(draw, most_cells=5, most_images=6):
    """(program, images): rows about a table that exists, some of them moved away from it."""
    cells = draw(st.integers(1, most_cells))
    images = draw(st.integers(0, most_images))
    x = draw(st.sampled_from(list(ways(images, cells))))
    rows = [Row("images", dict.fromkeys(range(cells), 1), images, images)]
    numbers = draw(
        st.sampled_from([st.sampled_from([0, 1]), st.integers(-2, 3), st.sampled_from([0, 2, 4]), fractions])
    )
    for number in range(draw(st.integers(0, 5))):
        coefficients = {i: draw(numbers) for i in range(cells)}
        value = total(coefficients, x) + draw(st.sampled_from([0, 0, 0, Fraction(1, 2), 1, -1, Fraction(-1, 2)]))
        width = draw(st.sampled_from([0, 0, Fraction(1, 3), Fraction(1, 2), 1]))
        sides = draw(st.sampled_from(["both", "both", "lower", "upper"]))
        rows.append(
            Row(
                f"s{number}",
                coefficients,
                None if sides == "upper" else value - width,
                None if sides == "lower" else value + width,
            )
        )
    return TableProgram(tuple(f"x{i}" for i in range(cells)), tuple(rows)), images

"""Z-sets in the driver: sums, parts and differences of rows that are at hand as Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from pgstream.engine.carriers import BIGINT, union_carrier
from pgstream.engine.rows import Rows, consolidated, one_spelling
from pgstream.errors import NumericRange


def total(parts: Sequence[Rows]) -> Rows:
    """The sum: equal rows once, with the sum of their weights; zeros dropped."""
    whole = concatenated(parts)
    return Rows(consolidated(whole.table), whole.carriers)


def concatenated(parts: Sequence[Rows]) -> Rows:
    """The rows of all parts, one after the other; decimals widen to the largest scale."""
    columns = zip(*(part.carriers for part in parts), strict=True)
    carriers = [reduce(union_carrier, column) for column in columns]
    fields = [(f"c{i}", carrier.arrow) for i, carrier in enumerate(carriers)]
    schema = pa.schema([*fields, ("w", pa.int64())])
    try:
        return Rows(pa.concat_tables([p.table.cast(schema) for p in parts]), tuple(carriers))
    except pa.ArrowInvalid as error:
        raise NumericRange(
            "A numeric value needs more than the 38 digits that Spark holds.", detail=str(error)
        ) from None


def each_once(parts: Sequence[Rows]) -> Rows:
    """The rows of all parts; one that stands at the same place in several of them, once."""
    found = [part for part in parts if part.table.num_rows] or parts[:1]
    if len(found) == 1:
        return found[0]
    places = [pa.table([part.places], names=["place"]) for part in found]
    whole = concatenated(found)
    numbers = pa.array(range(whole.table.num_rows), pa.int64())
    numbered = pa.concat_tables(places).append_column("row", numbers)
    first = numbered.group_by("place", use_threads=False).aggregate([("row", "min")])
    return Rows(whole.table.take(first.column("row_min")), whole.carriers)


def empty(rows: Rows) -> Rows:
    """No rows, of the same shape."""
    return Rows(rows.table.slice(0, 0), rows.carriers)


def with_sign(rows: Rows, sign: int) -> Rows:
    """Those whose weight has the sign."""
    signed = pc.equal(pc.sign(rows.table.column("w")), sign)
    return Rows(rows.table.filter(signed), rows.carriers)


def negated(rows: Rows) -> Rows:
    return weighed(rows, pc.negate(rows.table.column("w")))


def weighed(rows: Rows, weights: pa.Array | pa.ChunkedArray) -> Rows:
    last = rows.table.num_columns - 1
    return Rows(rows.table.set_column(last, "w", weights), rows.carriers)


def distinct(rows: Rows) -> Rows:
    """Each row once. Negative zero is zero, and there is one NaN, as PostgreSQL compares them."""
    columns = [one_spelling(column) for column in rows.table.columns[:-1]]
    names = rows.table.column_names[:-1]
    table = pa.table(columns, names=names).group_by(names, use_threads=False).aggregate([])
    return Rows(table.append_column("w", _ones(table.num_rows)), rows.carriers)


def ordered(rows: Rows) -> Rows:
    """The same rows in one order."""
    keys = [(name, "ascending") for name in rows.table.column_names]
    return Rows(rows.table.sort_by(keys), rows.carriers)


def without(rows: Rows, *others: Rows) -> Rows:
    """The distinct rows that none of the others has."""
    return _marked(rows, others, lambda low, high: pc.equal(high, 0))


def among(rows: Rows, *others: Rows) -> Rows:
    """The distinct rows that one of the others has too."""
    return _marked(rows, others, lambda low, high: pc.and_(pc.equal(low, 0), pc.equal(high, 1)))


def picked(rows: Rows, indexes: Sequence[int]) -> Rows:
    """These columns."""
    names = [*(f"c{i}" for i in range(len(indexes))), "w"]
    table = rows.table.select([*(f"c{i}" for i in indexes), "w"]).rename_columns(names)
    return Rows(table, tuple(rows.carriers[i] for i in indexes))


def by_keys(rows: Rows, indexes: Sequence[int], keys: pa.Table) -> Rows:
    """The rows whose columns at these indexes are among the keys, which are distinct. NULL is the
    same as NULL."""
    shown = one_spelled(picked(rows, indexes), len(indexes)).table
    plain = _plain(shown.column(0), keys.column(0)) if len(indexes) == 1 else None
    if plain is not None:
        return Rows(rows.table.filter(pc.is_in(plain[0], value_set=plain[1])), rows.carriers)
    known = set(as_tuples(keys))
    among = [each in known for each in as_tuples(shown.drop_columns(["w"]))]
    return Rows(rows.table.filter(pa.array(among, pa.bool_())), rows.carriers)


def can_pick(rows: Rows, indexes: Sequence[int], keys: pa.Table) -> bool:
    """Whether values of these types are the same in Python where they are so in PostgreSQL: a date
    and a timestamp are not."""
    types = zip((rows.table.column(f"c{i}").type for i in indexes), keys.schema.types, strict=True)
    return all(one == other or (_is_exact(one) and _is_exact(other)) for one, other in types)


def _is_exact(type_: pa.DataType) -> bool:
    return bool(pa.types.is_integer(type_) or pa.types.is_decimal(type_))


def as_tuples(table: pa.Table) -> Iterable[tuple[object, ...]]:
    """The rows of a table, as Python compares them."""
    return zip(*map(_hashable, table.columns), strict=True)


def _plain(
    column: pa.ChunkedArray, keys: pa.ChunkedArray
) -> tuple[pa.ChunkedArray, pa.Array] | None:
    """Both in one type whose values Arrow compares as PostgreSQL does."""
    if pa.types.is_integer(column.type) and pa.types.is_integer(keys.type):
        column, keys = column.cast(pa.int64()), keys.cast(pa.int64())
    is_known = any(
        is_(column.type) for is_ in (pa.types.is_int64, pa.types.is_string, pa.types.is_date32)
    )
    return (column, keys.combine_chunks()) if is_known and keys.type == column.type else None


def _hashable(column: pa.ChunkedArray) -> list[object]:
    """Values that are the same in Python where they are so in PostgreSQL: NaN is NaN."""
    values: list[object] = column.to_pylist()
    if not pa.types.is_floating(column.type):
        return values
    return ["NaN" if value is not None and value != value else value for value in values]


def without_nulls(rows: Rows) -> Rows:
    """The rows without a NULL."""
    return Rows(rows.table.drop_null(), rows.carriers)


def split_lowest(rows: Rows, column: int) -> tuple[Rows, Rows]:
    """The rows with the least value in the column, and the rest."""
    values = rows.table.column(f"c{column}")
    is_least = pc.equal(values, pc.min(values))
    return (
        Rows(rows.table.filter(is_least), rows.carriers),
        Rows(rows.table.filter(pc.invert(is_least)), rows.carriers),
    )


def _marked(
    rows: Rows, others: Sequence[Rows], keeps: Callable[[pa.Array, pa.Array], pa.Array]
) -> Rows:
    sides = [distinct(rows), *(distinct(other) for other in others)]
    counts = [side.table.num_rows for side in sides]
    whole = concatenated(sides)
    marks = pa.array([0] * counts[0] + [1] * sum(counts[1:]), pa.int8())
    names = whole.table.column_names[:-1]
    table = whole.table.drop_columns(["w"]).append_column("mark", marks)
    grouped = table.group_by(names, use_threads=False).aggregate([("mark", "min"), ("mark", "max")])
    kept = grouped.filter(keeps(grouped.column("mark_min"), grouped.column("mark_max")))
    found = kept.select(names).append_column("w", _ones(kept.num_rows))
    return Rows(found, whole.carriers)


def _ones(count: int) -> pa.Array:
    return pa.array([1] * count, pa.int64())


def one_spelled(rows: Rows, width: int) -> Rows:
    """The first columns as PostgreSQL compares them: −0 is 0, and there is one NaN."""
    table = rows.table
    columns = [one_spelling(c) if i < width else c for i, c in enumerate(table.columns)]
    return Rows(pa.table(columns, names=table.column_names), rows.carriers)


def moved_over(rows: Rows) -> Rows:
    """Per key, which all columns but the last are, the least and the greatest value of the last
    one; both NULL where a value came or went, or is NULL."""
    table = rows.table
    *keys, value = table.column_names[:-1]
    grouped = table.group_by(keys, use_threads=False).aggregate(
        [(value, "min"), (value, "max"), (value, "count"), ("w", "count"), ("w", "sum")]
    )
    has_ends = pc.and_(
        pc.equal(grouped.column("w_sum"), 0),
        pc.equal(grouped.column(f"{value}_count"), grouped.column("w_count")),
    )
    none = pa.scalar(None, table.column(value).type)
    ends = [pc.if_else(has_ends, grouped.column(f"{value}_{end}"), none) for end in ("min", "max")]
    names = [*keys, value, f"c{len(keys) + 1}", "w"]
    columns = [*(grouped.column(key) for key in keys), *ends, _ones(grouped.num_rows)]
    return Rows(pa.table(columns, names=names), (*rows.carriers, rows.carriers[-1]))


def counted(rows: Rows) -> Rows:
    """Each key once, with how many rows have it, whatever their sign."""
    table = rows.table.set_column(len(rows.carriers), "n", pc.abs(rows.table.column("w")))
    keys = table.column_names[:-1]
    grouped = table.group_by(keys, use_threads=False).aggregate([("n", "sum")])
    columns = [*(grouped.column(key) for key in keys), grouped.column("n_sum")]
    columns.append(_ones(grouped.num_rows))
    return Rows(pa.table(columns, names=[*keys, f"c{len(keys)}", "w"]), (*rows.carriers, BIGINT))

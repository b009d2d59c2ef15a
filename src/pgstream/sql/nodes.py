"""Nodes for what sqlglot has no node for, or none that says all that PostgreSQL's says."""

from __future__ import annotations

from sqlglot import exp

HOLE, ORDER = "\x00", "\x01"
"""In the words of a call: the place of a value, and that of an ORDER BY. No SQL has these signs."""


class Operation(exp.Expression, exp.Binary):
    """a ~ b, and a OPERATOR(public.=) b, which is no equality. `operator` is written so."""

    arg_types = {"this": True, "expression": True, "operator": True}  # noqa: RUF012


class Prefix(exp.Unary):
    """@ x, and OPERATOR(public.-) x."""

    arg_types = {"this": True, "operator": True}  # noqa: RUF012


class Worded(exp.Anonymous):
    """A construct whose values are connected by words.

        SUBSTRING(t.x FROM 2)                           words  SUBSTRING(␀ FROM 2)
        JSON_ARRAYAGG(t.x ORDER BY t.id RETURNING …)    words  JSON_ARRAYAGG(␀␁ RETURNING …)

    The words are PostgreSQL's; `expressions` are the values, and last an order, if there is one.
    Values that read no columns are among the words.
    """

    arg_types = {"this": True, "words": True, "expressions": False}  # noqa: RUF012
    _hash_raw_args = True  # the words hold constants: capitals count


class Described(exp.Expression):
    """f(x) AS (a integer, b text), in ROWS FROM."""

    arg_types = {"this": True, "words": True}  # noqa: RUF012


class Unread(exp.Expression):
    """A query inside of an expression or of FROM, which the query around it reads: so these need
    not know queries. `tree` is PostgreSQL's own."""

    arg_types = {"tree": True}  # noqa: RUF012


class Search(exp.Expression):
    """SEARCH DEPTH FIRST BY a, b SET this, of a CTE."""

    arg_types = {"this": True, "columns": True, "breadth": False}  # noqa: RUF012


class Cycle(exp.Expression):
    """CYCLE a, b SET this TO value DEFAULT default USING path, of a CTE."""

    arg_types = {  # noqa: RUF012
        "this": True, "columns": True, "value": True, "default": True, "path": True,
    }  # fmt: skip


class OwnAggregate(exp.Anonymous):
    """public.total(t.x), if public.total is an aggregate of the user's. `this` is written so."""

    _hash_raw_args = True  # capitals count

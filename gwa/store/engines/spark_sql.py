"""Translate DuckDB's dialect to Spark SQL, by sqlglot and rules for differences that it does not know."""

from collections.abc import Callable
from typing import Final

import sqlglot
from sqlglot import exp

from gwa.errors import EngineError


def to_spark_sql(sql: str) -> str:
    """
    Translate a query to Spark SQL; raise `EngineError` if it is not a query or cannot be translated.

    >>> to_spark_sql("select user_id, 7 // 2 from jobs order by 1")
    'SELECT user_id, 7 DIV 2 FROM jobs ORDER BY 1 NULLS LAST'
    """
    try:
        (parsed,) = sqlglot.parse(sql, read="duckdb")
        if not isinstance(parsed, exp.Query):
            raise EngineError(f"Spark is asked '{sql}', expected a query")
        for rule in RULES:
            parsed = parsed.transform(rule)
        return parsed.sql("spark", unsupported_level=sqlglot.ErrorLevel.RAISE)
    except (sqlglot.ParseError, sqlglot.UnsupportedError, sqlglot.TokenError, ValueError) as error:
        raise EngineError(f"has no counterpart in Spark: {sql}") from error


def referenced_tables(sql: str) -> set[str]:
    """
    Return the names of the tables that a query reads, except those that it defines itself.

    >>> sorted(referenced_tables("with a as (from jobs) select * from a join ran using (job_id)"))
    ['jobs', 'ran']
    """
    parsed = sqlglot.parse_one(sql, read="duckdb")
    defined = {expression.alias for expression in parsed.find_all(exp.CTE)}
    return {table.name for table in parsed.find_all(exp.Table)} - defined


def _parenthesize_window(node: exp.Expression) -> exp.Expression:
    """Put a function over a named window in parentheses: Spark reads ``over w - x`` as one name."""
    if isinstance(node, exp.Window) and node.args.get("alias") and isinstance(node.parent, exp.Binary):
        return exp.paren(node.copy())
    return node


RULES: Final[tuple[Callable[[exp.Expression], exp.Expression], ...]] = (_parenthesize_window,)

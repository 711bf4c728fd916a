"""
SQL that others wrote, restricted to the tables that it is about: no file is read, no setting changed.

Converters and conditions are checked before they run: `check_query` and `check_change` parse a statement,
without running any of it, and compare the tables and table functions in it with those that are allowed.
`lock` restricts a whole database instead, for as long as it is open, for what a user types.
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

import duckdb

from gwa.errors import DefinitionError
from gwa.store.engines.duckdb import literal

TABLE_FUNCTIONS: Final = frozenset({"unnest", "range", "generate_series", "json_each", "json_tree"})
"""Functions in FROM that read nothing but their arguments."""

RELATIONS: Final = frozenset(
    {"BASE_TABLE", "TABLE_FUNCTION", "SUBQUERY", "JOIN", "EXPRESSION_LIST", "EMPTY", "PIVOT"}
)
"""What may stand in FROM, as DuckDB's parser calls it; SHOW and DESCRIBE are not among them."""

QUERIES: Final = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
CHANGES: Final = frozenset({"INSERT_QUERY_NODE", "UPDATE_QUERY_NODE", "DELETE_QUERY_NODE"})

NAME: Final = re.compile(r"\w+")
"""Names of tables; DuckDB takes any other name, such as ``a.csv``, for that of a file."""

Node = dict[str, Any]


def parser() -> duckdb.DuckDBPyConnection:
    """Open a database that parses what is checked; that of a store would leave out parts of the tree."""
    return duckdb.connect(config={"threads": 1})


def check_query(parser: duckdb.DuckDBPyConnection, sql: str, tables: Collection[str]) -> None:
    """
    Check that *sql* is one query, which reads only *tables*.

    Raise `DefinitionError` if it is anything else, or no SQL.
    """
    tree = _parsed(parser, sql)
    if tree["error"]:
        error = DefinitionError(f"the SQL is not a query: {_reason(tree)}")
        error.add_note(_line_at(sql, tree))
        raise error
    _check_nodes(tree, tables, QUERIES)


def _line_at(sql: str, tree: Node) -> str:
    """Return the line of *sql* in which the parser found an error, empty where it does not say."""
    position = str(tree.get("position", ""))
    before, behind = (sql[: int(position)], sql[int(position) :]) if position.isdigit() else ("", "")
    return before.rpartition("\n")[2] + behind.partition("\n")[0]


def check_condition(parser: duckdb.DuckDBPyConnection, condition: str, tables: Collection[str]) -> None:
    """
    Check that *condition* is one condition on jobs, which reads only *tables*.

    Raise `DefinitionError` if it is anything else: an order, a grouping or a second query behind it, too.
    """
    tree = _parsed(parser, f"select 1 from jobs where ({condition}\n)")
    if tree["error"]:
        raise DefinitionError(_reason(tree))
    _check_nodes(tree, tables, QUERIES)
    query = tree["statements"][0]["node"]
    rest = ("modifiers", "group_expressions", "having", "qualify", "sample")
    if query["type"] != "SELECT_NODE" or any(query.get(part) for part in rest):
        raise DefinitionError("expected a condition and nothing else")


def check_change(parser: duckdb.DuckDBPyConnection, sql: str, tables: Collection[str]) -> None:
    """
    Check that *sql* is one query, INSERT, UPDATE or DELETE, which reads and changes only *tables*.

    Raise `DefinitionError` if it is anything else, or no SQL.
    """
    tree = _parsed(parser, sql)
    if tree["error"]:
        # Only queries can be parsed to a tree, but a query may contain a change.
        tree = _parsed(parser, f"with change as ({sql}\nreturning true) from change")
    if tree["error"]:
        raise DefinitionError(f"the SQL is not a query, INSERT, UPDATE or DELETE: {_reason(tree)}")
    _check_nodes(tree, tables, QUERIES | CHANGES)


def lock(database: duckdb.DuckDBPyConnection, files: Sequence[str] = ()) -> None:
    """
    Restrict *database* to its own tables and *files*, and lock its settings, until it is closed.

    Spilling to its temporary folder is not affected.
    """
    database.execute(f"set allowed_paths = [{', '.join(map(literal, files))}]")
    database.execute("set enable_external_access = false")
    database.execute("set lock_configuration = true")


def _parsed(parser: duckdb.DuckDBPyConnection, sql: str) -> Node:
    """Return the tree of a query; it has an ``error`` where *sql* is something else."""
    try:
        ((text,),) = parser.execute("select json_serialize_sql($sql)", {"sql": sql}).fetchall()
    except duckdb.Error as error:
        return {"error": True, "error_message": str(error)}
    tree: Node = json.loads(text)
    return tree


def _reason(tree: Node) -> str:
    return str(tree.get("error_message", "")).splitlines()[0]


def _check_nodes(tree: Node, tables: Collection[str], allowed: Collection[str]) -> None:
    """Raise `DefinitionError` for the first node of *tree* that is not allowed."""
    if len(tree["statements"]) != 1:
        raise DefinitionError(f"the SQL has {len(tree['statements'])} statements, expected one")
    nodes = list(_nodes(tree["statements"]))
    names = {name.lower() for name in tables} | {name.lower() for node in nodes for name in _defined(node)}
    for node in nodes:
        if "modifiers" in node and node["type"] not in allowed:
            raise DefinitionError("the SQL changes tables, expected a query")
        if foreign := _foreign(node, names):
            raise DefinitionError(f"the SQL uses {foreign}, expected only {', '.join(sorted(tables))}")


def _nodes(value: object) -> Iterator[Node]:
    """Yield all objects within *value*, from the outside in."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            yield item
            left.extend(item.values())
        elif isinstance(item, list):
            left.extend(item)


def _defined(query: Node) -> Iterator[str]:
    """Yield the names that a query gives to parts of itself."""
    for entry in (query.get("cte_map") or {}).get("map", ()):
        if NAME.fullmatch(entry["key"]):
            yield entry["key"]


def _foreign(node: Node, names: Collection[str]) -> str | None:
    """Return what a part of FROM, or an INSERT, uses that is none of the tables *names*; None if nothing."""
    match node.get("type"):
        case "BASE_TABLE" | "INSERT_QUERY_NODE":
            path = node["qualified_name"]["path"]
            return None if len(path) == 1 and path[0].lower() in names else ".".join(path)
        case "TABLE_FUNCTION":
            name = str(node["function"].get("function_name"))
            return None if name.lower() in TABLE_FUNCTIONS else f"{name}()"
        case kind:
            is_relation = "sample" in node and "modifiers" not in node
            return str(kind).lower() if is_relation and kind not in RELATIONS else None

"""
The door for SQL that others wrote: it reads the tables that it is about, no file is read, no setting changed.

Whatever comes from outside is checked before it runs: queries of an assistant, conditions such as
``--where``, converters, and what a user types after ``gwa sql``. A statement is parsed, without running any
of it, and each table, function and type in its tree is looked up among those that are allowed; what can be
used, and why, says `gwa.store.engines.functions`. Beside that, `lock` closes a whole database for as long
as it is open, and `gwa.store.engines.confined` runs in a process of its own what must not take the time or
the memory of others.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import duckdb

from gwa.errors import DefinitionError
from gwa.store.engines.duckdb import literal
from gwa.store.engines.functions import (
    AGGREGATES,
    BARE,
    BOUNDED,
    BY_NAME,
    CATALOG,
    FUNCTIONS,
    SCALARS,
    TABLE_FUNCTIONS,
    TYPES,
    refusal,
)

RELATIONS: Final = frozenset(
    {"BASE_TABLE", "TABLE_FUNCTION", "SUBQUERY", "JOIN", "EXPRESSION_LIST", "EMPTY", "PIVOT"}
)
"""What may stand in FROM, as DuckDB's parser calls it; SHOW and DESCRIBE are not among them."""

EXPRESSIONS: Final = frozenset({
    "BETWEEN", "CASE", "CAST", "COLLATE", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "DEFAULT",
    "FUNCTION", "LAMBDA", "OPERATOR", "PARAMETER", "POSITIONAL_REFERENCE", "STAR", "SUBQUERY", "TYPE",
    "WINDOW",
})  # fmt: skip
"""The kinds of expressions, as DuckDB's parser calls them; those of a later version are refused."""

OF_A_ROW: Final = EXPRESSIONS - {"COLLATE", "LAMBDA", "PARAMETER", "STAR", "SUBQUERY", "WINDOW"}
"""Expressions that see one job."""

QUERIES: Final = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
CHANGES: Final = frozenset({"INSERT_QUERY_NODE", "UPDATE_QUERY_NODE", "DELETE_QUERY_NODE"})

OWN_STATEMENTS: Final = re.compile(
    r"\s*(explain|pivot|pivot_wider|from|with|select|create\s+(or\s+replace\s+)?temp(orary)?\s+(table|view))\b",
    re.IGNORECASE,
)
"""Statements of which DuckDB gives no tree: it has none of a PIVOT that looks up its columns, either."""

CALL: Final = re.compile(r'(?:"([^"]+)"|(\w+))(?:\s|/\*.*?\*/|--[^\n]*\n)*\(', re.DOTALL)
"""A name before a parenthesis; comments may stand between them."""

NAME: Final = re.compile(r"\w+")
"""Names of tables; DuckDB takes any other name, such as ``a.csv``, for that of a file."""

Node = dict[str, Any]


def parser() -> duckdb.DuckDBPyConnection:
    """Connect to a database that parses what is checked; a store's would leave out parts of the tree."""
    return _empty().cursor()


@cache
def _empty() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


@dataclass(frozen=True)
class Scope:
    """What a statement may use: *tables*, and *functions* beside those that all may use."""

    tables: Collection[str]
    functions: Collection[str] = ()

    def __str__(self) -> str:
        return ", ".join(sorted(self.tables)) or "its arguments"


def check_query(
    parser: duckdb.DuckDBPyConnection, sql: str, tables: Collection[str], functions: Collection[str] = ()
) -> None:
    """
    Check that *sql* is one query, which reads only *tables*, by the functions of the list and *functions*.

    Raise `DefinitionError` if it is anything else, or no SQL.
    """
    tree = _parsed(parser, sql)
    if tree["error"]:
        error = DefinitionError(f"the SQL is not a query: {_reason(tree)}")
        error.add_note(_line_at(sql, tree.get("position")))
        raise error
    _check_nodes(tree, Scope(tables, functions), QUERIES, sql)


def _line_at(sql: str, place: object) -> str:
    """Return the line of *sql* with the *place* that the parser names, empty where it names none."""
    position = str(place)
    before, behind = (sql[: int(position)], sql[int(position) :]) if position.isdigit() else ("", "")
    return before.rpartition("\n")[2] + behind.partition("\n")[0]


def check_condition(parser: duckdb.DuckDBPyConnection, condition: str, tables: Collection[str]) -> None:
    """
    Check that *condition* is one condition on jobs, which reads only *tables*.

    Raise `DefinitionError` if it is anything else: an order, a grouping or a second query behind it, too.
    """
    tree = _parsed(parser, _of_condition(condition))
    if tree["error"]:
        raise DefinitionError(_reason(tree))
    _check_nodes(tree, Scope(tables), QUERIES, condition)
    query = tree["statements"][0]["node"]
    rest = ("modifiers", "group_expressions", "having", "qualify", "sample")
    if query["type"] != "SELECT_NODE" or any(query.get(part) for part in rest):
        raise DefinitionError("expected a condition and nothing else")


def is_bounded(parser: duckdb.DuckDBPyConnection, condition: str) -> bool:
    """
    Whether a *condition* that was checked takes no more time and memory than comparisons with literals do.

    It sees one job at a time, by functions whose results cannot grow.
    """
    return all(
        node.get("class", "FUNCTION" if "function_name" in node else "COLUMN_REF") in OF_A_ROW
        and _named(node, "function") <= BOUNDED
        and _named(node, "type") <= SCALARS
        for node in _nodes(_parsed(parser, _of_condition(condition))["statements"])
    )


def _of_condition(condition: str) -> str:
    """Return the query of which a *condition* is a part when it is parsed."""
    return f"select 1 from jobs where ({condition}\n)"


def check_change(
    parser: duckdb.DuckDBPyConnection, sql: str, tables: Collection[str], functions: Collection[str] = ()
) -> None:
    """
    Check that *sql* is one query, INSERT, UPDATE or DELETE, which reads and changes only *tables*.

    Its functions are as those of `check_query`.

    Raise `DefinitionError` if it is anything else, or no SQL.
    """
    tree = _parsed(parser, sql)
    if tree["error"]:
        # Only queries can be parsed to a tree, but a query may contain a change.
        tree = _parsed(parser, f"with change as ({sql}\nreturning true) from change")
    if tree["error"]:
        raise DefinitionError(f"the SQL is not a query, INSERT, UPDATE or DELETE: {_reason(tree)}")
    _check_nodes(tree, Scope(tables, functions), QUERIES | CHANGES, sql)


def check_statements(parser: duckdb.DuckDBPyConnection, sql: str) -> None:
    """
    Check what the owner of a trace types: queries of any of its tables, and temporary tables made of queries.

    Its functions are as those of `check_query`, and in FROM those that list tables and columns. Which tables
    there are says the engine, which `lock` keeps from files. Raise `DefinitionError` for anything else.
    """
    try:
        statements = parser.extract_statements(sql)
    except duckdb.Error as error:
        raise DefinitionError(str(error).strip()) from error
    if not statements:
        raise DefinitionError("it is empty, expected one such as select count(*) from jobs")
    for statement in statements:
        tree = _parsed(parser, statement.query)
        if not tree["error"]:
            _check_own(list(_nodes(tree["statements"])), statement.query)
        elif OWN_STATEMENTS.match(statement.query):
            _check_text(parser, statement.query)
        else:
            kind = str(statement.type).rpartition(".")[2].lower()
            raise DefinitionError(
                f"it has a statement that is none of the expected ones ({kind}): SELECT, FROM, VALUES, PIVOT,"
                " DESCRIBE, SUMMARIZE, SHOW, EXPLAIN or CREATE TEMP TABLE … AS"
            )


def _check_own(nodes: Sequence[Node], sql: str) -> None:
    """Raise `DefinitionError` for what a query of the owner of a trace may not use."""
    for node in nodes:
        if "modifiers" in node and node["type"] not in QUERIES:
            raise DefinitionError("the SQL changes tables, expected a query")
        if node.get("type") == "TABLE_FUNCTION":
            name = str(node["function"].get("function_name")).lower()
            if name not in TABLE_FUNCTIONS | CATALOG:
                raise DefinitionError(f"the SQL uses {refusal(name)}")
    _check_expressions(nodes, CATALOG, sql)


def _check_text(parser: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Raise `DefinitionError` where a name of a function that is not allowed stands before a parenthesis."""
    known = parser.execute("select distinct lower(function_name) from duckdb_functions()").fetchall()
    refused = {name for (name,) in known} - FUNCTIONS - TABLE_FUNCTIONS - CATALOG
    for match in CALL.finditer(sql):
        name = (match[1] or match[2]).lower()
        if name in refused or name in BY_NAME:
            raise DefinitionError(f"the SQL uses {refusal(name)}")


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


def _check_nodes(tree: Node, scope: Scope, allowed: Collection[str], sql: str) -> None:
    """Raise `DefinitionError` for the first node of the *tree* of *sql* that is not allowed."""
    if len(tree["statements"]) != 1:
        raise DefinitionError(f"the SQL has {len(tree['statements'])} statements, expected one")
    nodes = list(_nodes(tree["statements"]))
    names = {name.lower() for name in scope.tables} | {
        name.lower() for node in nodes for name in _defined(node)
    }
    for node in nodes:
        if "modifiers" in node and node["type"] not in allowed:
            raise DefinitionError("the SQL changes tables, expected a query")
        if foreign := _foreign(node, names):
            raise DefinitionError(f"the SQL uses {foreign}, expected only {scope}")
    _check_expressions(nodes, scope.functions, sql)


def _check_expressions(nodes: Iterable[Node], functions: Collection[str], sql: str) -> None:
    """Raise `DefinitionError` for the first expression in *sql* that is not allowed, but *functions*."""
    for node in nodes:
        if refused := _refused(node, functions):
            error = DefinitionError(f"the SQL uses {refused}")
            error.add_note(_line_at(sql, node.get("query_location")))
            raise error


def _refused(node: Node, functions: Collection[str]) -> str | None:
    """Return what an expression uses that is not allowed, and why; None if nothing."""
    kind = node.get("class", "FUNCTION" if "function_name" in node else "COLUMN_REF")
    if kind not in EXPRESSIONS:
        return f"an expression that is not known ({kind})"
    for name in _named(node, "function"):
        if name not in FUNCTIONS and name not in TABLE_FUNCTIONS and name not in functions:
            return refusal(name)
        if name in BY_NAME and _second_text(node) not in AGGREGATES:
            return f"{name}() without the name of an aggregate, expected one such as {name}(list, 'sum')"
    names = node.get("column_names") or []
    if len(names) == 1 and names[0].lower() in BARE:
        return refusal(names[0].lower())
    for name in _named(node, "type"):
        if name not in TYPES:
            return f"the type {name}, which is not on the list of allowed types"
    return None


def _named(node: Node, kind: str) -> set[str]:
    """Return the name of the function, or type, of a node, under each key that has it, in lower case."""
    if f"{kind}_name" not in node:
        return set()
    path = (node.get("qualified_name") or {}).get("path") or []
    return {str(name).lower() for name in (node[f"{kind}_name"], *path[-1:])}


def _second_text(call: Node) -> str | None:
    """Return the second argument of a *call*, where it is a text that stands there."""
    arguments = call.get("arguments") or []
    literal = arguments[1]["expression"].get("literal") if len(arguments) > 1 else None
    return str(literal["text"]).lower() if literal and literal["kind"] == "STRING" else None


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

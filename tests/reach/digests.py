"""
What a checkout says, in pieces: digests of functions, of what they mention, and of files.

A piece is ``gwa/store/queries.py:rows``, a function or a name of a module; ``templates/report.html``, a file;
``converters/``, the names in a folder; `ENVIRONMENT`, the interpreter and its libraries; `EVERYTHING`, all
files. The digest of a function covers its own code and each constant, class and import of a module that it
mentions, and what those mention in turn: a changed table changes the functions that look something up in it,
and an import that was added changes none. Comments and moved lines are no change.

What a test calls it enters, so that a function does not cover those that it calls. Compiled functions are
never entered as Python's are: who mentions one is taken to run it.
"""

import ast
import os
import pickle
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from types import CodeType
from typing import Final

ENVIRONMENT: Final = "environment"
EVERYTHING: Final = "everything"

CODE: Final = ("gwa", "tests", "benchmarks", "docs/_ext", ".ci")
"""Folders of modules."""

DATA: Final = (
    *CODE,
    "converters",
    "templates",
    "sample_traces",
    "site",
    "docs",
    "experiments",
    ".github",
    ".packaging",
)
"""Folders of which a program that is started may read anything."""

GENERATED: Final = frozenset({"__pycache__", "node_modules", "long_tests.txt"})
"""What lies there and is no source."""

LOCK: Final = ".ci/requirements.txt"
BYTES: Final = 8
MODULUS: Final = 1 << 8 * BYTES
FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPILED: Final = re.compile(r"\bcompiled\((\w+)\)")
REST: Final = "*"
"""The name of all that a module does outside of functions."""


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_bytes(content)
    part.replace(path)


def digest(content: bytes | str) -> int:
    """Return the digest of a text or of bytes as a number."""
    data = content.encode() if isinstance(content, str) else content
    return int.from_bytes(blake2b(data, digest_size=BYTES).digest())


@dataclass(frozen=True)
class Name:
    """A name of a module: its own *digest*, the names that it *mentions*, and whether a test can enter it."""

    digest: int
    mentions: frozenset[str]
    is_entered: bool = False


@dataclass
class Module:
    """
    The names of a module; for those that it imports the module and the name there, if it is one.

    It hands the names in *compiled* to `gwa.util.compiled.compiled`.
    """

    names: dict[str, Name] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    compiled: set[str] = field(default_factory=set)

    def bind(self, name: str, statement: ast.stmt, *, is_entered: bool = False) -> None:
        """Add a name that a statement binds, perhaps not the first: a property and its setter have one."""
        code = compile(ast.Module([statement], []), "", "exec", dont_inherit=True)
        before = self.names.get(name, Name(0, frozenset()))
        own = digest(f"{before.digest} {_said(code)}")
        mentions = {*_named(code)} - ({"__doc__"} if isinstance(statement, ast.ClassDef) else set())
        self.names[name] = Name(own, before.mentions | mentions, is_entered)


def _said(code: CodeType) -> str:
    """Return all that a code object says, but where it stands."""
    constants = [_said(one) if isinstance(one, CodeType) else _constant(one) for one in code.co_consts]
    layout = (
        code.co_code,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_flags,
    )
    arguments = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
    return f"{code.co_name} {arguments} {layout} {constants}"


def _constant(value: object) -> str:
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)


def _named(code: CodeType) -> Iterator[str]:
    """Yield the names of a module, and of attributes, that a code object mentions."""
    yield from code.co_names
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _named(one)


def parsed(source: bytes) -> Module:
    """Return the names of a module; raise `SyntaxError` where it is none."""
    module = Module()
    for statement in ast.parse(source).body:
        _add(module, statement, "")
    module.compiled |= set(COMPILED.findall(source.decode()))
    rest = sorted(one.digest for one in module.names.values() if not one.is_entered)
    module.names[REST] = Name(digest(repr(rest)), frozenset())
    return module


def _add(module: Module, statement: ast.stmt, prefix: str) -> None:
    """Add the names that a statement binds: what holds others binds each of theirs by all that it says."""
    if isinstance(statement, FUNCTIONS):
        decorators = " ".join(map(ast.unparse, statement.decorator_list))
        module.bind(f"{prefix}{statement.name}", statement, is_entered="jit" not in decorators)
    elif isinstance(statement, ast.ClassDef):
        for inner in statement.body:
            if isinstance(inner, (*FUNCTIONS, ast.ClassDef)):
                _add(module, inner, f"{prefix}{statement.name}.")
        statement.body = [one for one in statement.body if not isinstance(one, FUNCTIONS)] or [
            ast.copy_location(ast.Pass(), statement)
        ]
        module.bind(f"{prefix}{statement.name}", statement)
    else:
        for node in ast.walk(statement):
            if isinstance(node, ast.Import | ast.ImportFrom):
                module.imports |= dict(_imported_by(node))
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for name, source in _imported_by(statement):
                module.names[name] = Name(digest(repr(source)), frozenset())
        else:
            for name in sorted(_bound(statement)) or ["__doc__"]:
                module.bind(name, statement)


def _bound(statement: ast.stmt) -> set[str]:
    """Return the names that a statement of a module binds, those that it imports included."""
    names: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {name for name, _ in _imported_by(node)}
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            names.add(node.name)
    return names


def _imported_by(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the names that an import binds, each with the module and the name there, none for a module."""
    for alias in statement.names:
        if isinstance(statement, ast.ImportFrom):
            yield alias.asname or alias.name, (statement.module or "", alias.name)
        elif alias.asname:
            yield alias.asname, (alias.name, "")
        else:
            name = alias.name.partition(".")[0]
            yield name, (name, "")


def _sources(home: Path) -> list[Path]:
    """Return all files that a program may read, sorted."""
    found = (path for top in DATA for path in (home / top).rglob("*"))
    return sorted(
        path
        for path in (*found, *home.iterdir())
        if path.is_file() and not GENERATED & {*path.relative_to(home).parts}
    )


def _kept(memory: Path | None) -> dict[int, Module]:
    """Return the modules that were taken apart before, by the digests of their sources."""
    with suppress(OSError, pickle.UnpicklingError, AttributeError, EOFError):
        kept: dict[int, Module] = pickle.loads(memory.read_bytes()) if memory else {}  # noqa: S301 - ours
        return kept
    return {}


class Checkout:
    """The pieces of the checkout in the folder *home* when this is made; its modules are kept in *memory*."""

    def __init__(self, home: Path, memory: Path | None = None) -> None:
        self.files: dict[str, int] = {}
        self.folders: dict[str, set[str]] = defaultdict(set)
        self.modules: dict[str, Module] = {}
        self._covered: dict[tuple[str, str], frozenset[tuple[str, str]]] = {}
        self._digests: dict[str, int] = {}
        self._edges: dict[tuple[str, str], frozenset[tuple[str, str]]] = {}
        kept, now = _kept(memory), {}
        for path in _sources(home):
            name, content = path.relative_to(home), path.read_bytes()
            key = self.files[name.as_posix()] = digest(content)
            for one in (name, *name.parents[:-1]):
                self.folders[one.parent.as_posix()].add(one.name)
            if name.suffix == ".py" and name.as_posix().startswith(CODE):
                with suppress(SyntaxError):  # whoever imports it says so
                    now[key] = self.modules[name.as_posix()] = kept.get(key) or parsed(content)
        if memory and now.keys() != kept.keys():
            write_whole(memory, pickle.dumps(now))

    def digest(self, piece: str) -> int:
        """Return the digest of a piece; 0 if there is none of that name."""
        if piece not in self._digests:
            self._digests[piece] = self._digest(piece)
        return self._digests[piece]

    def signature(self, pieces: Iterable[str]) -> int:
        """Return one number for all that *pieces* say, in whatever order."""
        return sum(map(self.digest, pieces)) % MODULUS

    @cached_property
    def _compiled(self) -> frozenset[tuple[str, str]]:
        """The functions that are handed to what compiles them, so that they run without being entered."""
        return frozenset(
            one
            for file, module in self.modules.items()
            for name in module.compiled
            for one in self._meant(file, name)
        )

    def _digest(self, piece: str) -> int:
        if piece == ENVIRONMENT:
            return digest(f"{sys.version} {self.files.get(LOCK)}")
        if piece == EVERYTHING:
            return digest(repr(sorted(self.files.items())))
        file, colon, name = piece.partition(":")
        if colon:
            return self._digest_of_name(file, name)
        if piece.endswith("/"):
            return digest(repr(sorted(self.folders[piece[:-1]]))) if piece[:-1] in self.folders else 0
        return self.files.get(piece, 0)

    def _digest_of_name(self, file: str, name: str) -> int:
        """Return the digest of a name of a module and of all that it covers; 0 if there is none."""
        module = self.modules.get(file)
        if module is None or name not in module.names:
            return 0
        covered = {(file, name)}
        for one in self._targets((file, name)):
            if one in self._compiled or not self._name(one).is_entered:
                covered |= self._cover(one)
        return sum(self._name(one).digest for one in covered) % MODULUS

    def _name(self, place: tuple[str, str]) -> Name:
        file, name = place
        return self.modules[file].names[name]

    def _cover(self, start: tuple[str, str]) -> frozenset[tuple[str, str]]:
        """Return all names that one which is made at import mentions, directly or not."""
        if start not in self._covered:
            found, waiting = {start}, [start]
            while waiting:
                fresh = self._targets(waiting.pop()) - found
                found |= fresh
                waiting += fresh
            self._covered[start] = frozenset(found)
        return self._covered[start]

    def _targets(self, place: tuple[str, str]) -> frozenset[tuple[str, str]]:
        """Return the places of the names that one mentions, itself apart."""
        if place not in self._edges:
            file, name = place
            mentions = {*self._name(place).mentions, name}
            found = {one for mention in mentions for one in self._meant(file, mention, mentions)}
            self._edges[place] = frozenset(found - {place})
        return self._edges[place]

    def _meant(self, file: str, mention: str, others: Collection[str] = ()) -> Iterator[tuple[str, str]]:
        """Yield the places of a name that is mentioned beside *others*: its own, and where it comes from."""
        module = self.modules[file]
        if mention not in module.names:
            return
        yield file, mention
        if mention not in module.imports:
            return
        source, name = module.imports[mention]
        parts = [*source.split("."), *([name] if name else [])]
        if (imported := self._file_of(parts)) is not None:
            yield from ((imported, one) for one in others if one in self.modules[imported].names)
        elif (imported := self._file_of(source.split("."))) is not None:
            known = self.modules[imported].names
            yield from ((imported, one) for one in (name, "__getattr__") if one in known)

    def _file_of(self, parts: list[str]) -> str | None:
        path = "/".join(parts)
        return next((one for one in (f"{path}.py", f"{path}/__init__.py") if one in self.modules), None)

"""Commands that are found by looking, and how the first of them are listed: by who needs them."""

from collections.abc import Mapping
from copy import copy
from enum import StrEnum
from importlib import import_module
from types import ModuleType
from typing import Final

import click

from gwa.errors import DefinitionError
from gwa.util import plugins

GROUP: Final = "gwa.commands"
"""The entry points by which other packages add commands."""

MAXIMUM_WORD: Final = 40
"""No command has a longer name."""


class Purpose(StrEnum):
    """
    What a command is for: the headings of ``gwa --help``, in their order.

    The module of a command says it as ``PURPOSE``, a member or its value; all other commands are listed last.
    """

    READ = "Read"
    REPORT = "Report"
    PLAN = "Plan"
    MODEL = "Model"
    PUBLISH = "Publish"
    OTHER = "Others"


class Group(click.Group):
    """A group of commands that says which one was meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that *args* begin with; raise a usage error with the nearest ones for none."""
        name = args[0]
        if not name.startswith("-") and not ctx.resilient_parsing and self.get_command(ctx, name) is None:
            ctx.fail(f"No such command '{name[:MAXIMUM_WORD]}'.{self._meant(ctx, name)}")
        return super().resolve_command(ctx, args)

    def _meant(self, ctx: click.Context, name: str) -> str:
        """Return a question after the commands whose names are nearest to *name*, empty if none is."""
        from difflib import get_close_matches

        near = get_close_matches(name[:MAXIMUM_WORD].lower().replace("_", "-"), self.list_commands(ctx), 2)
        return f" Did you mean {' or '.join(near)}?" if near else ""


class Commands(Group):
    """The public modules of a package as commands; it is the package of the group's own function."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, sorted, those of commands that are not listed in help, too."""
        del ctx
        return sorted(name.replace("_", "-") for name in plugins.names(self._package()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None where there is none of that name."""
        del ctx
        module = self.module(cmd_name)
        return _command(module) if module else None

    def module(self, name: str) -> ModuleType | None:
        """Return the module of the command called *name*, None where there is none; no other is imported."""
        stem = name.replace("-", "_")
        # Of report-problem, report_problem is the file, not a second name.
        if "_" in name or stem not in plugins.names(self._package()):
            return None
        return import_module(f"{self._package()}.{stem}")

    def _package(self) -> str:
        return str(getattr(self.callback, "__module__", ""))


class FrontRow(Commands):
    """The commands of gwa itself and of packages with entry points in `GROUP`, listed by their purpose."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, sorted, those of commands that are not listed in help, too."""
        return sorted([*super().list_commands(ctx), *self._added()])

    def module(self, name: str) -> ModuleType | None:
        """Return the module of the command called *name*; others are imported if it is none of gwa's own."""
        return super().module(name) or self._added().get(name)

    def _added(self) -> Mapping[str, ModuleType]:
        """
        Return the modules that other packages add, by the names of their commands.

        Raise `DefinitionError` for one without a command, or with the name of one of gwa's own.
        """
        added = {str(_command(module).name): module for module in plugins.loaded(GROUP)}
        for name, module in added.items():
            if super().module(name):
                raise DefinitionError(
                    f"{module.__name__}: its command has the name of gwa's own '{name}', expected another"
                )
        return added

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a list of commands for each purpose."""
        modules = {name: module for name in self.list_commands(ctx) if (module := self.module(name))}
        listed = {name: module for name, module in modules.items() if not _command(module).hidden}
        longest = max(map(len, listed))
        for purpose in Purpose:
            rows = [
                (f"{name:<{longest}}", _command(module).get_short_help_str(formatter.width - longest - 4))
                for name, module in listed.items()
                if _purpose(module) is purpose
            ]
            if rows:
                with formatter.section(purpose.value):
                    formatter.write_dl(rows)


def former_name(name: str, command: click.Command) -> click.Command:
    """Return *command* under a *name* that it had: it does the same, and is not listed."""
    same = copy(command)
    same.name, same.hidden = name, True
    return same


def _purpose(module: ModuleType) -> Purpose:
    """Return what the command of a module is for."""
    said = getattr(module, "PURPOSE", Purpose.OTHER)
    return Purpose(said) if said in list(Purpose) else Purpose.OTHER


def _command(module: ModuleType) -> click.Command:
    """Return the command that a module defines; raise `DefinitionError` where it defines none."""
    command = getattr(module, "command", None)
    if not isinstance(command, click.Command):
        raise DefinitionError(f"{module.__name__}: has no command, expected one of click called 'command'")
    return command

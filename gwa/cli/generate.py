"""The former name of ``gwa model generate``."""

from gwa.cli._commands import former_name
from gwa.cli.model.generate import command as generate

command = former_name("generate", generate)

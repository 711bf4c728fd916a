"""The former name of ``gwa model score``."""

from gwa.cli._commands import former_name
from gwa.cli.model.score import command as score

command = former_name("score", score)

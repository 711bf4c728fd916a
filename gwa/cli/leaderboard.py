"""The former name of ``gwa model rank``."""

from gwa.cli._commands import former_name
from gwa.cli.model.rank import command as rank

command = former_name("leaderboard", rank)

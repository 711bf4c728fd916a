"""Complete commands in a shell."""

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command(name="completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """
    Print the completion script of a shell.

    \b
    To install it for good, once:
      bash   gwa completion bash > ~/.local/share/bash-completion/completions/gwa
      zsh    gwa completion zsh > "${fpath[1]}/_gwa"
      fish   gwa completion fish > ~/.config/fish/completions/gwa.fish

    \b
    Example:
      gwa completion bash
    """
    if kind := get_completion_class(shell):
        click.echo(kind(ctx.find_root().command, {}, "gwa", "_GWA_COMPLETE").source())

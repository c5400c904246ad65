"""tallymark completion: what makes a shell complete commands, options, columns and metrics."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from tallymark.cli.group import Command, commands
from tallymark.cli.output import write

_SHELLS = ("bash", "zsh", "fish")


@click.command("completion", cls=Command, short_help="Print a shell completion script.")
@click.argument("shell", type=click.Choice(_SHELLS))
def command(shell: str) -> None:
    """Print a script that makes a SHELL complete commands, options, metrics and columns.

    \b
    Put the script where the shell finds it:
      bash  tallymark completion bash > ~/.local/share/bash-completion/completions/tallymark
      zsh   tallymark completion zsh > ~/.zfunc/_tallymark, with ~/.zfunc in fpath
      fish  tallymark completion fish > ~/.config/fish/completions/tallymark.fish
    """
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion is known for {shell}")
    complete = found(commands, {}, "tallymark", "_TALLYMARK_COMPLETE")
    write(complete.source_template % complete.source_vars())

"""`duti completion`: what a shell needs to complete commands and options."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash: eval "$(duti completion bash)"  in ~/.bashrc
    zsh:  eval "$(duti completion zsh)"   in ~/.zshrc
    fish: duti completion fish > ~/.config/fish/completions/duti.fish
    """
    from click.shell_completion import get_completion_class

    kind, root = get_completion_class(shell), ctx.find_root()
    assert kind is not None
    click.echo(kind(root.command, {}, "duti", "_DUTI_COMPLETE").source())

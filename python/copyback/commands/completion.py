"""``copyback completion``."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

#: No space behind a key, as its value follows, or behind what may go on.
_BASH = """\
_copyback_completion() {
    local IFS=$'\\n'
    COMPREPLY=( $( env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD \\
        _COPYBACK_COMPLETE=complete_bash "$1" 2>/dev/null ) )
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
    return 0
}
complete -o default -F _copyback_completion copyback
"""


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(metavar="bash|zsh|fish")],
) -> None:
    """Print what makes TAB complete commands, presets, keys and values in a shell.

    For bash, add `eval "$(copyback completion bash)"` to ~/.bashrc; for zsh the same with zsh to
    ~/.zshrc, after compinit; for fish: `copyback completion fish >
    ~/.config/fish/completions/copyback.fish`.
    """
    if shell == "bash":
        print(_BASH, end="")
        return
    from typer._completion_shared import get_completion_script

    from copyback.commands.completing import VARIABLE

    print(get_completion_script(prog_name="copyback", complete_var=VARIABLE, shell=shell))

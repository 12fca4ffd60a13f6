"""Parsing and exit statuses of all commands, before their libraries load."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand

UNUSABLE = 2  # exit status when a file, an option or a configuration cannot be used


class RefusedCommand(typer.Exit):
    """The end of a command whose input cannot be used; the reason was printed.

    `Commands` sets the exit status: some commands use 2 for something else.
    """

    def __init__(self) -> None:
        super().__init__(UNUSABLE)


class OnceCommand(TyperCommand):
    """A command that refuses an option that is given twice but holds one value.

    The last one would count, and the others would be ignored in silence.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments of a command."""
        # Click keeps only the last value: a parser of our own sees every one.
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for param, n in Counter(order).items():
            if n > 1 and _holds_one_value(param):
                name = max(param.opts, key=len)
                ctx.fail(f"{name} is given {n} times; give it once.")
        return super().parse_args(ctx, args)


def _holds_one_value(param: Any) -> bool:
    is_option = param.param_type_name == "option"
    return is_option and param.nargs == 1 and not getattr(param, "multiple", False)


class CommandApp(typer.Typer):
    """A command or a group of commands; options of one value are given once."""

    def command(
        self, name: str | None = None, *, cls: Any = OnceCommand, **options: Any
    ) -> Callable[[Any], Any]:
        """Return the decorator that adds a command."""
        return super().command(name, cls=cls, **options)

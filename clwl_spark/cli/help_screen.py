"""How typer shows options in `--help`: flags without a type, numbers as MQ's manuals write them."""

from collections.abc import Mapping
from typing import Any, Final

from typer.core import TyperCommand, TyperGroup, TyperOption

_PLACEHOLDERS: Final[Mapping[str, str]] = {
    "<bool>": "",
    "<int>": "N",
    "<float>": "X",
    "<str>": "TEXT",
}


class Command(TyperCommand):
    """A command whose help looks so."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401  (typer does not export the type)
        """All parameters, `--help` among them."""
        return _shown(super().get_params(ctx), ctx)


class Group(TyperGroup):
    """The commands together; their help looks so, too."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401
        """The options of `clwl` itself."""
        return _shown(super().get_params(ctx), ctx)


def _shown(params: list[Any], ctx: Any) -> list[Any]:  # noqa: ANN401
    """Options that name no placeholder of their own get that of their type."""
    for param in params:
        if isinstance(param, TyperOption) and param.metavar is None:
            param.metavar = _PLACEHOLDERS.get(param.display_type(ctx))
    return params

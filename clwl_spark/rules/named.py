"""Functions that a setting names, `module:function` or `module:function:data`; no Spark."""

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

from clwl_spark.errors import ExitFunctionError


def named_function(reference: str, what: str, shape: str) -> Callable[[Any], Any] | None:
    """Import an exit; blank means none.

    With data, as a queue manager's CLWLDATA, the function gets it as its second argument.

    Args:
        reference: as the user wrote it.
        what: what it is for an error: `exit`, `message exit`.
        shape: what such a function is: `a function DataFrame -> DataFrame`.

    Raises:
        ExitFunctionError: there is no such module or function, or it takes other arguments.
    """
    if not reference:
        return None
    module_name, _, rest = reference.partition(":")
    function_name, _, data = rest.partition(":")
    try:
        function = getattr(import_module(module_name), function_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ExitFunctionError(
            f"{what} '{reference}' cannot be imported ({error}): write module:function, {shape} on "
            "the Python path"
        ) from error
    if not callable(function):
        raise ExitFunctionError(f"{what} '{reference}' is not a function: name one")
    given = (data,) if data else ()
    try:
        inspect.signature(function).bind(None, *given)
    except (TypeError, ValueError) as error:
        wanted = "no data" if given else "data, as in module:function:DATA"
        raise ExitFunctionError(
            f"{what} '{reference}' does not fit ({error}): it takes other arguments; give {wanted}"
        ) from error
    return lambda destinations: function(destinations, *given)

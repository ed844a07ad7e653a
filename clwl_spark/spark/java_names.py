"""What Java says of its classes and methods is asked once.

PySpark asks for `functions` and its methods with each column, and Java looks through all JARs for
some of these names: a seventh of the time of a small route.
"""

from typing import Any

from py4j.java_gateway import JavaClass, JavaMember, JVMView


def remember_java_names() -> None:
    """Keep classes and methods of Java as they are found, in this process, from now on."""
    _remember(JVMView, JavaClass)
    _remember(JavaClass, JavaMember)


def _remember(owner: type, kind: type) -> None:
    """Let instances of `owner` keep what they look up, where it is of a kind."""
    look_up = owner.__getattr__  # type: ignore[attr-defined]
    if getattr(look_up, "remembers", False):
        return

    def remembering(self: Any, name: str) -> Any:  # noqa: ANN401  (as py4j's)
        found = look_up(self, name)
        if isinstance(found, kind):
            vars(self)[name] = found
        return found

    remembering.remembers = True  # type: ignore[attr-defined]
    owner.__getattr__ = remembering  # type: ignore[attr-defined]

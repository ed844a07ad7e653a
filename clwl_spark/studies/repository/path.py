"""Where a definition stopped on its way from its owner by full repositories. Pure Python, no Spark.

Source: Hughson's deck, "WMQ Cluster Architecture" (an owner publishes to full repositories, which
pass it on to one another and to those that asked), "Implementation recommendations" (debug).
"""

from collections.abc import Mapping


def where_stopped(owner: str, path: Mapping[str, bool | None], viewer: str) -> str:
    """Between whom to look, in words.

    Args:
        owner: the queue manager that defines the object.
        path: full repository -> whether it knows the object; None = nothing tells.
        viewer: the queue manager that does not see it.
    """
    if not path:
        return f"no other full repository is known, so between {owner} and {viewer}"
    know = sorted(name for name, knows in path.items() if knows)
    not_know = sorted(name for name, knows in path.items() if knows is False)
    if not know and not not_know:
        return f"what {_listed(sorted(path))} know is not told: display their own views"
    if not know:
        return f"between {owner} and the full repositories: {_listed(not_know)} {_lacks(not_know)}"
    if not_know:
        return (
            f"between full repositories: {_listed(know)} {_has(know)} it, and {_listed(not_know)} "
            f"{_lacks(not_know)}"
        )
    return f"between the full repositories and {viewer}: {_listed(know)} {_has(know)} it"


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _has(names: list[str]) -> str:
    return "has" if len(names) == 1 else "have"


def _lacks(names: list[str]) -> str:
    return "does not have it" if len(names) == 1 else "do not have it"

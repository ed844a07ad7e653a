"""Names of places: folders of this machine, URIs of object stores, and other URIs."""

import re
from pathlib import Path, PurePosixPath
from typing import Final

_URI: Final = re.compile(r"\w[\w+.-]+:")
_SCHEMES: Final = {
    "s3": "s3",
    "s3a": "s3",
    "abfs": "azure",
    "abfss": "azure",
    "gs": "gs",
}
"""Object stores that delta-rs, Arrow and Sail all know, by the scheme of their URIs."""
_PLAIN: Final = re.compile(r"[\w./=@+:-]*", re.ASCII)


def is_uri(place: str) -> bool:
    """Whether a place is named by a URI; else it is a folder's path."""
    return _URI.match(place) is not None


def store_kind(place: str) -> str:
    """The kind of object store that a place is in: s3, azure, gs; '' = it is in none."""
    scheme, colon, _ = place.partition("://")
    return _SCHEMES.get(scheme.lower(), "") if colon else ""


def is_store(place: str) -> bool:
    """Whether a place is in an object store that this process reads and writes itself."""
    return store_kind(place) != ""


def is_plain_uri(place: str) -> bool:
    """Whether no character of a URI has a meaning for any of those who read it."""
    return _PLAIN.fullmatch(place) is not None


def joined(folder: str, *names: str) -> str:
    """The place of something below a folder."""
    if is_uri(folder):
        return "/".join([folder.rstrip("/"), *names])
    return str(Path(folder, *names))


def absolute(folder: str) -> str:
    """A folder in full; a URI is."""
    return folder if is_uri(folder) else str(Path(folder).absolute())


def name_of(place: str) -> str:
    """The last part of a place."""
    return PurePosixPath(place).name


def parts_of(place: str) -> tuple[str, str]:
    """The root of an object store and what is below it: (s3://bucket, folder/file)."""
    scheme, _, rest = place.partition("://")
    bucket, _, below = rest.partition("/")
    return f"{scheme}://{bucket}", below.strip("/")


def has_credentials(place: str) -> bool:
    """Whether a URI says who asks, or with what: user:password@, or anything after a `?`.

    What stands before the @ of `abfss://container@account…` is a container's name.
    """
    if not is_uri(place):
        return False
    rest = place.partition("://")[2]
    user, at, _ = rest.rpartition("@")
    is_asking = bool(at) and (":" in user or (store_kind(place) == "s3" and "/" not in user))
    return is_asking or "?" in rest or "#" in rest

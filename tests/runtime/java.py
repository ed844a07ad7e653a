"""A Java that is none, which any machine can start."""

from pathlib import Path


def fake_java(home: Path, version: str) -> Path:
    """A `bin/java` below `home` that tells a version and repeats its arguments."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    script = f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n"
    program.write_text(script + 'for word in "$@"; do echo "$word"; done\n')
    program.chmod(0o755)
    return program

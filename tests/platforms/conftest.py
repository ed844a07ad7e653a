"""Tests that need servers, or libraries of platforms, and longer than `make test` may take."""


def pytest_collection_modifyitems(items):
    """Whatever is in this folder is for `make platforms` alone."""
    for item in items:
        if "tests/platforms/" in item.path.as_posix():
            item.add_marker("platforms")

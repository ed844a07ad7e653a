"""Data Docs: Great Expectations' own pages about what expectations found, as an export.

The pages load styles from the network; the report of `page` does not.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from clwl_spark.checks.quality.expectations import OnValidated, keep_nothing
from clwl_spark.checks.quality.library import (
    ExpectationSuiteIdentifier,
    ExpectationSuiteValidationResult,
    RunIdentifier,
    ValidationResultIdentifier,
    gx,
    quiet,
)

_SITE: Final = "clwl"
_BATCH: Final = "rows"


@contextmanager
def data_docs(folder: Path | None) -> Iterator[OnValidated]:
    """Write what is kept within the block as Data Docs at its end, in place of an earlier run's.

    Args:
        folder: where to, its `index.html` first; None = nowhere.
    """
    found: list[ExpectationSuiteValidationResult] = []
    yield keep_nothing if folder is None else found.append
    if folder is not None:
        with quiet(), tempfile.TemporaryDirectory(prefix="clwl-docs-") as project:
            _write(found, folder, project)


def _write(found: Sequence[ExpectationSuiteValidationResult], folder: Path, project: str) -> None:
    """Render in a project of its own: what is on disk of another one is not touched."""
    context = gx.get_context(mode="file", project_root_dir=project)
    context.add_data_docs_site(_SITE, _site(folder))
    run = RunIdentifier(run_name=_SITE, run_time=datetime.now(UTC))
    for validation in found:
        name = str(validation.suite_name)
        context.suites.add(_suite(name, validation))
        validation.meta["run_id"] = run
        key = ValidationResultIdentifier(ExpectationSuiteIdentifier(name), run, _BATCH)
        context.validation_results_store.set(key, validation)
    context.build_data_docs(site_names=[_SITE])


def _suite(name: str, validation: ExpectationSuiteValidationResult) -> gx.ExpectationSuite:
    """The suite that was evaluated."""
    words: list[Any] = [x.expectation_config for x in validation.results]
    return gx.ExpectationSuite(name, expectations=[x.to_domain_obj() for x in words])


def _site(folder: Path) -> Any:  # noqa: ANN401  (its type is not exported)
    """A folder as Great Expectations describes it."""
    return {
        "class_name": "SiteBuilder",
        "store_backend": {
            "class_name": "TupleFilesystemStoreBackend",
            "base_directory": str(folder.absolute()),
        },
        "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
    }

"""Packages that are missing, too old or broken are named, with what to do about it."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

import tallymark as tm
from tallymark import optional_packages as packages
from tallymark.optional_packages import needed

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
PACKAGES = {
    "files": "pyarrow",
    "plots": "matplotlib",
    "cli": "click",
    "xgboost": "xgboost",
    "lightgbm": "lightgbm",
    "catboost": "catboost",
    "sklearn": "scikit-learn",
    "torch": "torch",
    "lightning": "lightning",
    "keras": "keras",
    "dask": "dask",
    "spark": "pyspark",
    "ray": "ray",
    "app": "fastapi",
    "postgres": "psycopg",
}


def floor_of(requirement):
    return re.fullmatch(r"([\w.-]+)(?:\[.*\])?>=([\d.]+).*", requirement)


def test_the_extra_all_is_what_a_user_of_any_interface_needs():
    parts = ("files", "plots", "cli", "app", "oidc", "postgres")
    assert sorted(EXTRAS["all"]) == sorted({requirement for part in parts for requirement in EXTRAS[part]})


@pytest.fixture
def installed(monkeypatch):
    """Says which versions are installed; other packages are not."""
    versions = {}
    monkeypatch.setattr(packages, "installed_version", versions.get)
    return versions


@pytest.mark.parametrize("extra", PACKAGES)
def test_a_package_that_is_too_old_is_named_with_both_versions(installed, extra):
    for requirement in EXTRAS[extra]:
        package, floor = floor_of(requirement).groups()
        installed.clear()
        installed[package] = "0.0.9rc1"
        told = rf'training needs {package} {re.escape(floor)} or later; 0.0.9rc1 is installed.*"tallymark\[{extra}\]"'
        with pytest.raises(tm.MissingPackageError, match=told), needed("training", PACKAGES[extra], extra=extra):
            pytest.fail("it was imported")
        for fine in (floor, f"{floor}.1", "9999.1.dev0+cpu"):
            installed[package] = fine
            with needed("training", PACKAGES[extra], extra=extra):
                pass


def test_a_package_without_an_extra_is_checked_by_itself(installed):
    installed["polars"] = "0.20.31"
    report = tm.evaluate([1.0, 2.0], [1.0, 3.0], ["rmse"])
    with pytest.raises(tm.MissingPackageError, match=r'polars 1\.0 or later; 0\.20\.31 .* --upgrade "polars>=1\.0"'):
        report.to_polars()


def test_a_frame_of_an_old_engine_is_refused_before_it_is_read(installed):
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    frame = dd.from_pandas(pd.DataFrame({"y": [1.0, 2.0], "p": [1.0, 3.0]}), npartitions=1)
    installed["dask"] = "2024.1.0"
    with pytest.raises(tm.MissingPackageError, match=r"a Dask frame needs dask 2026\.8 or later; 2024\.1\.0 is"):
        tm.evaluate_table(frame, truth="y", prediction="p", metrics=["rmse"])


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ModuleNotFoundError("No module named 'keras'", name="keras"), "training needs the package keras; install it"),
        (ModuleNotFoundError("No module named 'torch'", name="torch"), "training needs the package torch; install it"),
        (
            ImportError("cannot import name 'Callback'"),
            r"training needs the package keras, which could not be imported \(cannot import name 'Callback'\); install",
        ),
    ],
)
def test_an_import_that_fails_says_why(error, told):
    with pytest.raises(tm.MissingPackageError, match=told), needed("training", "keras", extra="keras"):
        raise error


def test_every_extra_has_the_same_oldest_version_of_a_package():
    floors = {}
    for requirement in (each for extra in EXTRAS.values() for each in extra):
        found = floor_of(requirement)
        if found is not None:
            assert floors.setdefault(found[1], found[2]) == found[2], found[1]


def test_the_metadata_has_the_floors_of_every_extra():
    for extra, package in PACKAGES.items():
        expected = [floor_of(requirement).groups() for requirement in EXTRAS[extra]]
        assert sorted(packages._floors(package, extra)) == sorted(expected)


def test_postgresql_without_its_driver_is_refused(monkeypatch):
    from tallymark.app.store.database import Database

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(tm.MissingPackageError, match=r'needs the package psycopg; .* "tallymark\[postgres\]"'):
        Database("postgresql+psycopg://name@localhost/rows")

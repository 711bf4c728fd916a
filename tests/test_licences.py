"""Everything that an installed gwa needs may be used and passed on with it."""

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from gwa.util.version import DISTRIBUTION

ALLOWED = re.compile(
    r"Apache-2\.0( WITH LLVM-exception)?|Apache Software License|0BSD|BSD( License|-[23]-Clause)|CC0-1\.0"
    r"|MIT(-0|-CMU)?( License)?|PSF-2\.0|Python Software Foundation License|Zlib"
)
"""Licences that ask for a notice at most."""

CHOSEN = {"pyphen": "Mozilla Public License 1.1 (MPL 1.1)"}
"""Of packages with a choice of licences, the one that is taken; it covers only files of that package."""


def dependencies(name: str, seen: set[str]) -> Iterator[Distribution]:
    """Yield all distributions that *name* needs without extras, and itself."""
    seen.add(canonicalize_name(name))
    found = distribution(name)
    yield found
    for text in found.requires or ():
        requirement = Requirement(text)
        is_new = canonicalize_name(requirement.name) not in seen
        if is_new and (not requirement.marker or requirement.marker.evaluate({"extra": ""})):
            yield from dependencies(requirement.name, seen)


def licences(package: Distribution) -> list[str]:
    """Return the licences of *package* that all apply, or those to choose from."""
    known = {name: package.metadata.get_all(name) or [] for name in ("License-Expression", "License")}
    for expression in known["License-Expression"]:
        return [part.strip("() ") for part in re.split(r"\bAND\b|\bOR\b", expression)]
    classifiers = package.metadata.get_all("Classifier") or []
    classified = [text.rpartition(" :: ")[2] for text in classifiers if text.startswith("License ::")]
    return classified or known["License"]


PACKAGES = {found.metadata["Name"].lower(): found for found in dependencies(DISTRIBUTION, set())}


@pytest.mark.parametrize("name", sorted(PACKAGES))
def test_the_licence_of_a_dependency_is_allowed(name):
    stated = licences(PACKAGES[name])

    assert stated, f"{name} does not state its licence"
    if name in CHOSEN:
        assert CHOSEN[name] in stated
    else:
        assert [licence for licence in stated if not ALLOWED.fullmatch(licence)] == []


@pytest.mark.parametrize(
    "licence", ["GPL-3.0-only", "AGPL-3.0-or-later", "LGPL-2.1", "Proprietary", "BSDish"]
)
def test_other_licences_are_not(licence):
    assert not ALLOWED.fullmatch(licence)


def test_what_is_needed_is_found():
    assert {DISTRIBUTION, "duckdb", "numpy", "weasyprint", "pydyf"} <= PACKAGES.keys()
    with pytest.raises(PackageNotFoundError):
        list(dependencies("gwa-of-no-index", set()))

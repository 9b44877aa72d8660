"""Print the licenses of the installed packages; `make lock` runs it where nothing else is."""

import re
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

LOCK = Path(__file__).parent.parent / "server/deploy/files/requirements.txt"

#: Licenses under which a program of the MIT license can be given away with the package, unchanged.
COMPATIBLE = {
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MPL-2.0",
    "PSF-2.0",
    "Public Domain",
    "Zlib",
}

#: The names that classifiers and the older field use.
_NAMES = {
    "Apache Software License": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "BSD": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "PSFL": "PSF-2.0",
    "Python Software Foundation License": "PSF-2.0",
}

_HEADER = """# Licenses

The table lists the packages that `deniable` needs to run, also for models and statistical formats,
and all packages that these need in turn. `make lock` reads their licenses from the packages. The
program itself has the MIT license. A test checks that these are the releases of
[`requirements.txt`](../server/deploy/files/requirements.txt), and that each license allows
distribution together with the program. If a package contains the work of others, it has their
licenses, too. Names, numbers and plurals of languages are from the Unicode CLDR, under the
[Unicode license](../server/languages/LICENSE.unicode).

| package | release | license |
|---|---|---|
"""


def pinned(lock: Path) -> dict[str, str]:
    """Return the release of each package in a file of requirements."""
    return dict(re.findall(r"^([a-z0-9-]+)==([^\s;]+)", lock.read_text(), re.M))


def license_of(package: Distribution) -> str:
    """Return the license that a package says it has, as an SPDX expression where it is known."""
    said = package.metadata.get_all("License-Expression")
    if said:
        return str(said[0])
    classifiers = package.metadata.get_all("Classifier") or []
    found = [one.rpartition(" :: ")[2] for one in classifiers if one.startswith("License ::")]
    found = [one for one in found if one != "OSI Approved"]
    found = found or (package.metadata.get_all("License") or [""])[0].strip().splitlines()[:1]
    found = found or [_in_its_file(package)]
    return " OR ".join(_NAMES.get(one, one) for one in found)


def _in_its_file(package: Distribution) -> str:
    """Return the license whose words the package's file has: some say it nowhere else."""
    files = [one for one in package.files or [] if one.name.upper().startswith("LICEN")]
    text = " ".join(" ".join(one.read_text() for one in files).split())
    if "Redistributions in binary form must reproduce the above copyright notice" in text:
        return "BSD-3-Clause" if "Neither the name" in text else "BSD-2-Clause"
    return "unknown"


def is_compatible(expression: str) -> bool:
    """Return whether an expression allows it, by each of its parts, or one of several choices."""
    parts = re.split(r"\s+AND\s+", expression.replace("(", "").replace(")", ""))
    return all(any(one in COMPATIBLE for one in re.split(r"\s+OR\s+", part)) for part in parts)


def main() -> None:
    """Print the list; fail if a license is not known to be compatible."""
    there = {one.metadata["Name"].lower().replace("_", "-"): one for one in distributions()}
    rows = []
    for name, release in sorted(pinned(LOCK).items()):
        if name not in there:
            sys.exit(f"{name}: expected {release} to be installed; run make lock")
        known = license_of(there[name])
        if not is_compatible(known):
            sys.exit(f"{name}: expected one of {', '.join(sorted(COMPATIBLE))}, got {known}")
        rows.append(f"| {name} | {release} | {known} |")
    print(_HEADER + "\n".join(rows))


if __name__ == "__main__":
    main()

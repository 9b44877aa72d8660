"""A study in one file: a zip with all that is needed to read, check and recompute its results."""

from analysis.study.bundle.archive import LARGEST, pack
from analysis.study.bundle.members import members
from analysis.study.bundle.study import BundledStudy
from analysis.study.bundle.verify import Verified, read_bundle, verify_bundle

__all__ = ["LARGEST", "BundledStudy", "Verified", "members", "pack", "read_bundle", "verify_bundle"]

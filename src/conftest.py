"""Doctests that need a package which is optional are left out where it is not installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("cleanlab") else ["duti/baselines/cleanlab.py"]

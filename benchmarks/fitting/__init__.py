"""Weights of the automatic recipe, fitted on tables with known bugs: `make fitting`."""

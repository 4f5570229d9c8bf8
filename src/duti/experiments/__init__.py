"""The experiments of the paper, reproduced: data, detectors, raw results, figures, one page."""

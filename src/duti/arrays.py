"""Names for the arrays that flow through the package."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Array: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
Labels: TypeAlias = NDArray[Any]
"""Labels as the user gave them: strings, integers, booleans or floats."""
Targets: TypeAlias = NDArray[Any]
"""What a learner is trained on: codes of classes (integers), or the values of a regression."""
Matrix: TypeAlias = Array | csr_array
"""A feature matrix, dense or sparse by rows."""

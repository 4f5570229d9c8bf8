"""Errors a user can act on: each message names the thing, what was seen and the remedy."""


class DutiError(ValueError):
    """Base of every error that duti raises about its input."""


class ProblemError(DutiError):
    """The rows, labels, trusted items or options cannot be debugged as given."""


class LearnerError(DutiError):
    """The learner does not fit the problem, or a hyperparameter is missing or impossible."""


class FileError(DutiError):
    """A file cannot be written."""


class ResourceError(DutiError):
    """The work needs more memory than there is.

    >>> error = ResourceError("it is too large", "use some of the rows", rows=1000)
    >>> str(error), error.rows
    ('it is too large; use some of the rows.', 1000)
    """

    def __init__(self, problem: str, remedy: str, rows: int | None = None) -> None:
        super().__init__(f"{problem}; {remedy}.")
        self.problem = problem
        self.rows = rows
        """How many rows would fit, if that is known."""

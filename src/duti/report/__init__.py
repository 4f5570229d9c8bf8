"""One self-contained HTML page about a debugging run, for whoever gets it.

- case: all that a report is made of
- text: how words, numbers and hostile characters are shown
- summary: the sentences at the top, which the command line says too
- flagged, thumbnails: the rows to look at, and why
- trusted: the trusted items before and after the repair
- bias: where flags are frequent
- marks, svg: which colour and shape a label has, and how it is drawn
- view (with layers and projection), path_chart: the pictures
- page: everything put together
"""

from duti.report.case import Case
from duti.report.page import html

__all__ = ["Case", "html"]

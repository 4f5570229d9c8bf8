"""`python -m duti` is the command `duti`."""

from duti.cli import main

main()

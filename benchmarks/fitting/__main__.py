"""`python -m benchmarks.fitting`."""

from benchmarks.fitting.run import main

if __name__ == "__main__":
    main()

"""Runs from files to files: what the command line does.

- settings: what was asked for
- inputs: files → the problem
- folder: where a run keeps everything, and how far it got
- outputs: findings, the corrected table
- run: all of it, in stages that survive a crash
- exchange: flagged rows out to people who check them, answers back in
"""

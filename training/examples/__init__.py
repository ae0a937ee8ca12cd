"""One short file for each library that people train with: what a user of it would write.

Each runs as `python -m training.examples.NAME` in an environment with `requirements/NAME.txt`; docs/libraries.md says
how masks travel in each, how fast it is and how far it comes. Nothing else of the project imports them.
"""

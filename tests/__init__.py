"""The tests; they mirror the modules. `python3 -m tests` runs them on a fresh machine."""

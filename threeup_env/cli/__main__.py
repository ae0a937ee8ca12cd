"""`python -m threeup_env.cli`: the command `threeup` where it is not on the path."""

from . import main

if __name__ == "__main__":  # processes of a tournament import this module again, under another name
    main()

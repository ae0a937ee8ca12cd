"""`python -m threeup_env.cli`: the command `threeup` where it is not on the path."""

from . import main

main()

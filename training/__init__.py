"""Train, evaluate and report on agents for `threeup_env`; `python3 -m training` is the way in on a fresh machine."""

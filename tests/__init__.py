"""The tests; they mirror the modules. `python3 -m tests` runs them on a fresh machine."""

import os

# Windows are opened where nobody sees them.
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

"""One page of a record: the replay viewer with its style, its scripts and the game inside, for any browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from .frames import Json

STATIC: Final = Path(__file__).with_name("static")
_MODULES: Final = ("cards.js", "board.js", "api.js", "replay.js")
"""In this order each uses only what stands before it."""
_SERVED: Final = re.compile(r"<!-- begin: served -->.*<!-- end: served -->", re.DOTALL)
_IMPORT: Final = re.compile(r"^import .*;\n", re.MULTILINE)
_EXPORT: Final = re.compile(r"^export ", re.MULTILINE)


def write_page(games: Iterable[Json]) -> str:
    """The page, as HTML; it loads nothing and may not send anything.

    Args:
        games: What `frames.replay_frames` gives for each game.
    """
    style = (STATIC / "style.css").read_text("utf-8") + ".served { display: none; }\n"
    # One script instead of modules: a page from a file may not load others.
    modules = [(STATIC / name).read_text("utf-8") for name in _MODULES]
    script = "\n".join(_EXPORT.sub("", _IMPORT.sub("", module)) for module in modules)
    # `<` is written so that no text in a record can end the script.
    data = json.dumps({"games": list(games)}, separators=(",", ":")).replace("<", "\\u003c")
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:"
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}" />\n'
        f"    <style>{style}</style>\n"
        f'    <script type="application/json" id="embedded">{data}</script>\n'
        f'    <script type="module">{script}</script>'
    )
    return _SERVED.sub(lambda _: head, (STATIC / "replay.html").read_text("utf-8"))


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"

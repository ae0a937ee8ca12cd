"""Cards, fonts and colours of pictures, drawn by Pillow and kept once they are drawn.

Shapes are drawn `SMOOTH` times as large and scaled down, since Pillow draws shapes without smooth edges. The font is
the one that Pillow carries (Aileron), so a picture needs no file and no font of the system.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

from PIL import Image, ImageChops, ImageDraw, ImageFont

Color = tuple[int, int, int]
Color4 = tuple[int, int, int, int]
Font = ImageFont.FreeTypeFont

SMOOTH: Final = 4
CARD_SHAPE: Final = 0.7
"""Width of a card over its height."""

CARD_COLORS: Final[dict[str, Color]] = {"g": (38, 150, 84), "r": (208, 49, 58), "b": (36, 98, 196), "": (112, 118, 130)}
"""The faces, by colour; `""` is a card whose colour nobody keeps or knows."""
PAPER: Final[Color] = (250, 249, 244)
BACK: Final[Color] = (38, 42, 66)
BACK_LINE: Final[Color] = (88, 96, 140)
GOLD: Final[Color] = (255, 205, 86)
WHITE: Final[Color] = (255, 255, 255)
FAINT: Final[Color] = (190, 214, 201)
SHADE: Final[Color4] = (4, 22, 16, 120)
"""What lies over cards that may not be played."""
UP_ARROW: Final[Color] = (120, 214, 150)
DOWN_ARROW: Final[Color] = (240, 118, 110)


@lru_cache(maxsize=256)
def font(size: int) -> Font:
    """The font at a size in pixels, at least 6."""
    loaded = ImageFont.load_default(max(size, 6))
    if not isinstance(loaded, ImageFont.FreeTypeFont):
        raise ImportError("this Pillow was built without FreeType, which pictures need: pip install pillow")
    return loaded


@lru_cache(maxsize=4096)
def text_width(text: str, size: float) -> float:
    """How wide a line of text is, in pixels."""
    return font(round(size * SMOOTH)).getlength(text) / SMOOTH


@lru_cache(maxsize=2048)
def line(text: str, size: float, bold: bool = False) -> Image.Image:
    """A line of text as a mask, L; its middle lies in the middle of the small letters, whatever letters there are.

    Written large and scaled down: at its own size, the rounding of each letter's width would run words together.
    """
    chosen = font(round(size * SMOOTH))
    stroke = size * SMOOTH / 44 if bold else 0
    room = round(size * SMOOTH * 1.5)
    width = math.ceil(chosen.getlength(text) / SMOOTH + 2) * SMOOTH
    mask = Image.new("L", (width, -(-room // SMOOTH) * SMOOTH), 0)
    middle = mask.height / 2 + size * SMOOTH * 0.36
    ImageDraw.Draw(mask).text((SMOOTH, middle), text, 255, chosen, "ls", stroke_width=stroke)
    return mask.resize((width // SMOOTH, mask.height // SMOOTH), Image.Resampling.BOX)


@lru_cache(maxsize=256)
def panel(width: int, height: int, radius: int, fill: Color4, line: Color4 | None, thickness: int) -> Image.Image:
    """A rectangle with round corners, RGBA, with a line around it if one is given."""
    image = Image.new("RGBA", (width * 2, height * 2), (0, 0, 0, 0))
    ImageDraw.Draw(image).rounded_rectangle(
        (0, 0, width * 2 - 1, height * 2 - 1), radius * 2, fill=fill, outline=line, width=thickness * 2
    )
    return image.resize((width, height), Image.Resampling.LANCZOS)


@lru_cache(maxsize=1024)
def card(kind: str, colors: str, height: int) -> Image.Image:
    """The face of a card, RGBA.

    Args:
        kind: `"1"` to `"10"`, `"C"`, `"C+1"` or `"C+2"`.
        colors: Its colour, `""` for none; several letters for cards of several colours that lie together.
        height: In pixels.
    """
    face = _blank(height)
    width, high = face.size
    bands = colors or " "
    inset, radius = round(width * 0.055), round(width * 0.11)
    colored = Image.new("RGBA", face.size)
    draw = ImageDraw.Draw(colored)
    for number, color in enumerate(bands):
        left, right = (round(inset + (width - 2 * inset) * edge / len(bands)) for edge in (number, number + 1))
        draw.rectangle((left, 0, right, high), fill=CARD_COLORS[color.strip()])
    inner = Image.new("L", face.size, 0)
    ImageDraw.Draw(inner).rounded_rectangle((inset, inset, width - inset - 1, high - inset - 1), radius, fill=255)
    face.paste(colored, (0, 0), inner)
    draw = ImageDraw.Draw(face)
    small = height < DETAILED
    _write_kind(draw, kind, width / 2, high * (0.5 if small else 0.53), width * (0.62 if small else 0.56))
    if not small:
        _write_kind(draw, kind, width * (0.2 if len(kind) < 3 else 0.24), high * 0.13, width * 0.25, one_line=True)
    if len(colors) == 1:
        _draw_mark(draw, colors, width * (0.5 if small else 0.81), high * (0.87 if small else 0.89), width * 0.085)
    return _smaller(face)


DETAILED: Final = 44
"""From this height on, in pixels, a card has its kind in the corner too."""


def _blank(height: int) -> Image.Image:
    """White paper with round corners and a dark edge, SMOOTH times as large."""
    width, high = round(height * CARD_SHAPE) * SMOOTH, height * SMOOTH
    paper = Image.new("RGBA", (width, high), (0, 0, 0, 0))
    ImageDraw.Draw(paper).rounded_rectangle(
        (0, 0, width - 1, high - 1), round(width * 0.14), fill=PAPER, outline=(20, 30, 28), width=max(2, SMOOTH // 2)
    )
    return paper


def _smaller(image: Image.Image) -> Image.Image:
    return image.resize((image.width // SMOOTH, image.height // SMOOTH), Image.Resampling.LANCZOS)


def _write_kind(draw: ImageDraw.ImageDraw, kind: str, x: float, y: float, size: float, one_line: bool = False) -> None:
    """The kind around (x, y), `size` pixels high; `C+1` in two lines where there is room."""
    letter, _, bonus = kind.partition("+")
    if bonus and not one_line:
        _write(draw, letter, x, y - size * 0.3, size * 0.82)
        _write(draw, f"+{bonus}", x, y + size * 0.42, size * 0.56)
    else:
        _write(draw, kind, x, y, size * {1: 1.0, 2: 0.86}.get(len(kind), 0.62))


def _write(draw: ImageDraw.ImageDraw, text: str, x: float, y: float, size: float) -> None:
    stroke = max(1, round(size / 16))
    shadow = max(1, round(size / 14))
    chosen = font(round(size))
    draw.text((x + shadow, y + shadow), text, (0, 0, 0, 90), chosen, "mm", stroke_width=stroke)
    draw.text((x, y), text, WHITE, chosen, "mm", stroke_width=stroke, stroke_fill=WHITE)


def _draw_mark(draw: ImageDraw.ImageDraw, color: str, x: float, y: float, r: float) -> None:
    """A shape for each colour, for eyes that do not tell green from red: disc, triangle, square."""
    if color == "g":
        draw.ellipse((x - r, y - r, x + r, y + r), fill=PAPER)
    elif color == "r":
        draw.polygon(((x - r, y + r * 0.9), (x + r, y + r * 0.9), (x, y - r)), fill=PAPER)
    else:
        draw.rectangle((x - r * 0.88, y - r * 0.88, x + r * 0.88, y + r * 0.88), fill=PAPER)


@lru_cache(maxsize=64)
def back(height: int, seen: bool = False) -> Image.Image:
    """A card face down, RGBA; with an eye where its owner has seen it."""
    face = _blank(height)
    width, high = face.size
    draw = ImageDraw.Draw(face)
    inset = round(width * 0.055)
    radius = round(width * 0.11)
    draw.rounded_rectangle((inset, inset, width - inset - 1, high - inset - 1), radius, fill=BACK)
    ring = round(width * 0.13)
    line = max(2, round(width * 0.02))
    draw.rounded_rectangle((ring, ring, width - ring - 1, high - ring - 1), radius, outline=BACK_LINE, width=line)
    x, y, r = width / 2, high / 2, width * 0.19
    draw.polygon(((x - r, y - r * 0.35), (x + r, y - r * 0.35), (x, y - r * 1.7)), fill=UP_ARROW)
    draw.polygon(((x - r, y + r * 0.35), (x + r, y + r * 0.35), (x, y + r * 1.7)), fill=DOWN_ARROW)
    if seen:
        _draw_eye(draw, width * 0.5, high * 0.5, width * 0.27)
    return _smaller(face)


def _draw_eye(draw: ImageDraw.ImageDraw, x: float, y: float, r: float) -> None:
    draw.ellipse(
        (x - r, y - r * 0.62, x + r, y + r * 0.62), fill=PAPER, outline=(20, 24, 40), width=max(1, round(r / 8))
    )
    draw.ellipse((x - r * 0.42, y - r * 0.42, x + r * 0.42, y + r * 0.42), fill=(30, 60, 120))


@lru_cache(maxsize=64)
def gap(height: int) -> Image.Image:
    """The place of a card that is not there, RGBA."""
    width, high = round(height * CARD_SHAPE) * SMOOTH, height * SMOOTH
    image = Image.new("RGBA", (width, high), (0, 0, 0, 0))
    edge = max(2, round(width * 0.03))
    ImageDraw.Draw(image).rounded_rectangle(
        (edge, edge, width - 1 - edge, high - 1 - edge),
        round(width * 0.14),
        fill=(0, 0, 0, 34),
        outline=(255, 255, 255, 66),
        width=edge,
    )
    return _smaller(image)


@lru_cache(maxsize=1024)
def shaded(kind: str, colors: str, height: int) -> Image.Image:
    """The face of a card that may not be played now."""
    image = card(kind, colors, height).copy()
    shade = Image.new("RGBA", image.size, SHADE)
    shade.putalpha(ImageChops.multiply(image.getchannel("A"), shade.getchannel("A")))
    image.alpha_composite(shade)
    return image


@lru_cache(maxsize=64)
def shadow(height: int) -> Image.Image:
    """What a card of this height throws on the table, RGBA."""
    width = round(height * CARD_SHAPE)
    return panel(width, height, round(width * 0.14), (0, 0, 0, 70), None, 1)


@lru_cache(maxsize=8)
def felt(width: int, height: int) -> Image.Image:
    """The table: green felt, lighter in the middle, with a wooden rim, RGB."""
    middle = Image.new("RGB", (width, height), (31, 116, 82))
    edge = Image.new("RGB", (width, height), (12, 62, 46))
    light = Image.radial_gradient("L").resize((width, height), Image.Resampling.BICUBIC)
    table = Image.composite(edge, middle, light)
    rim = max(2, round(min(width / 640, height / 480) * 4))
    draw = ImageDraw.Draw(table)
    draw.rectangle((0, 0, width - 1, height - 1), outline=(82, 52, 32), width=rim)
    draw.rectangle((rim, rim, width - 1 - rim, height - 1 - rim), outline=(44, 27, 16), width=max(1, rim // 3))
    return table

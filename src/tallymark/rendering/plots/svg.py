"""SVG as it can stand in a page: named, small, of its own, and in colours that a style sheet can change.

Only tags are changed: what stands between them can be a label of the user's.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping
from itertools import groupby

from tallymark.rendering.plots.theme import Theme

FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif"
_NUMBER = re.compile(r"-?\d+\.\d+")
_SIZE = re.compile(r'<svg [^>]*?viewBox="0 0 ([\d.]+) ([\d.]+)"[^>]*>')
_REFERENCE = re.compile(r'(url\(#|href="#)([^)"]+)')
_ALONE = re.compile(r"<g>(<(?:path|text|use)[^>]*(?:/>|>[^<]*</text>))?</g>|<g/>")
_TEXT = re.compile(r'<text style="([^"]*)"([^>]*>[^<]*</text>)')
_TEXTS = re.compile(rf"(?:{_TEXT.pattern}){{2,}}")
_PATH = re.compile(r' d="([MLz\d.\s-]*)"')
_UNREAD = re.compile(r"<metadata>.*?</metadata>|<style.*?</style>|<defs>\s*</defs>", re.DOTALL)


def tidy_svg(drawn: str, title: str, description: str, theme: str, full_texts: Mapping[str, str]) -> str:
    """What matplotlib wrote, without what nobody reads, and with a name and a description. The pointer shows the full
    texts of those that are shortened."""
    from html import escape  # its table of entities takes a while to load

    svg = _UNREAD.sub("", drawn[drawn.index("<svg ") :])
    size = _SIZE.search(svg)
    if size is None:
        raise ValueError("matplotlib wrote no size")
    width, height = map(float, size.groups())
    prefix = f"tm{zlib.crc32((theme + title + description + svg).encode()):08x}"
    used = {name for _, name in _REFERENCE.findall("".join(re.findall(r"<[^>]*>", svg)))}
    body = _in_tags(svg[size.end() :], lambda tag: _tidy_tag(tag, prefix, used))
    body = re.sub(r">[ \n]+<", "><", body)
    for _ in range(3):  # groups of one, within each other
        body = _ALONE.sub(r"\1", body)
    body = _TEXTS.sub(lambda texts: _share_styles(texts.group()), body)
    for shown, full in full_texts.items():
        end = f">{escape(shown, quote=False)}</text>"
        body = body.replace(end, f"><title>{escape(full, quote=False)}</title>{end[1:]}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 {width:g} '
        f'{height:g}" width="{width * 4 / 3:.0f}" height="{height * 4 / 3:.0f}" role="img" '
        f'aria-labelledby="{prefix}-title {prefix}-text" font-family="{FONT}" stroke-linejoin="round" '
        f'style="max-width:100%;height:auto;font-variant-numeric:tabular-nums">'
        f'<title id="{prefix}-title">{escape(title)}</title><desc id="{prefix}-text">{escape(description)}</desc>'
        f"{body.strip()}"
    )


def use_css_variables(svg: str, theme: Theme) -> str:
    """The colours of a theme as variables of the style sheet around; where it has none, they are those of the theme."""
    names = {colour: name for name, colour in theme.colours().items()}
    colour = re.compile("|".join(names))
    return _in_tags(svg, lambda tag: colour.sub(lambda hit: f"var(--{names[hit.group()]},{hit.group()})", tag))


def _in_tags(svg: str, change: Callable[[str], str]) -> str:
    return re.sub(r"<[^>]*>", lambda tag: change(tag.group()), svg)


def _tidy_tag(tag: str, prefix: str, used: set[str]) -> str:
    """Two decimals, since a hundredth of a point is less than a screen shows; no name that nothing refers to, and the
    others told apart from those of other plots in the page; the font of the whole."""
    tag = _PATH.sub(lambda path: f' d="{_relative(path[1])}"', tag)
    tag = _NUMBER.sub(lambda number: f"{float(number.group()):.2f}".rstrip("0").rstrip("."), tag)
    tag = re.sub(r' id="([^"]*)"', lambda id_: f' id="{prefix}-{id_[1]}"' if id_[1] in used else "", tag)
    tag = _REFERENCE.sub(rf"\g<1>{prefix}-\g<2>", tag)
    tag = re.sub(r"font-family: [^;\"]*(; )?", "", tag)
    tag = re.sub(r' transform="rotate\(-0 [^"]*"', "", tag)
    return re.sub(r"\s*\n\s*", " ", tag)


def _share_styles(texts: str) -> str:
    """Texts of one style, one after the other, in a group that has it."""
    out = ""
    for style, same_style in groupby(_TEXT.findall(texts), key=lambda text: text[0]):
        texts_inside = [rest for _, rest in same_style]
        alone = len(texts_inside) == 1
        out += (
            f'<text style="{style}"{texts_inside[0]}'
            if alone
            else f'<g style="{style}"><text{"<text".join(texts_inside)}</g>'
        )
    return out


def _relative(path: str) -> str:
    """The same path in steps from point to point, in hundredths: a third of the bytes. Rounding does not add up."""
    out: list[str] = []
    at = (0, 0)
    tokens = iter(path.split())
    for command in tokens:
        if command == "z":
            out.append("z")
            continue
        to = round(float(next(tokens)) * 100), round(float(next(tokens)) * 100)
        if command == "M":
            out.append(f"M{_hundredths(to[0])} {_hundredths(to[1])}")
        else:
            across, up = to[0] - at[0], to[1] - at[1]
            if up == 0:
                out.append(f"h{_hundredths(across)}")
            else:
                out.append(f"v{_hundredths(up)}" if across == 0 else f"l{_hundredths(across)} {_hundredths(up)}")
        at = to
    return "".join(out)


def _hundredths(value: int) -> str:
    """A whole number of hundredths as a decimal, as short as it can be."""
    whole, part = divmod(abs(value), 100)
    digits = f"{whole or ''}" + (f".{part:02d}".rstrip("0") if part else "") or "0"
    return f"-{digits}" if value < 0 else digits

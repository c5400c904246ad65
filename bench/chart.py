"""A bar chart as a small SVG file that follows the reader's light or dark theme."""

from __future__ import annotations

from pathlib import Path

WIDTH, ROW, LEFT, TOP = 720, 38, 190, 56


def write_chart(path: Path, title: str, groups: dict[str, list[tuple[str, float]]]) -> None:
    """Groups of bars, each group to its own scale, with its name above."""
    y = TOP
    parts = []
    for name, bars in groups.items():
        parts.append(f'<text class="name" x="16" y="{y + 18}">{name}</text>')
        y += 34
        longest = max(value for _, value in bars)
        for label, value in bars:
            length = (WIDTH - LEFT - 90) * value / longest
            parts.append(
                f'<text class="quiet" x="{LEFT - 14}" y="{y + 18}" text-anchor="end">{label}</text>'
                f'<rect x="{LEFT}" y="{y}" width="{length:.0f}" height="26" rx="4"/>'
                f'<text class="value" x="{LEFT + length + 10:.0f}" y="{y + 18}">{value:.0f}×</text>'
            )
            y += ROW
        y += 12
    described = "; ".join(
        f"{name}: {', '.join(f'{label} {value:.0f}×' for label, value in bars)}" for name, bars in groups.items()
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" role="img" '
        f'aria-label="{title}. {described}">'
        "<style>text{font:15px system-ui,sans-serif;fill:#1a1d23}.quiet{fill:#5b6472}.value,.name{font-weight:600}"
        ".title{font-weight:600;font-size:17px}rect{fill:#2f6f9f}"
        "@media(prefers-color-scheme:dark){text{fill:#e6e8ec}.quiet{fill:#a3abb8}rect{fill:#6fb1e0}}</style>"
        f'<text class="title" x="16" y="30">{title}</text>{"".join(parts)}</svg>\n'
    )

"""Plots as inline SVG: grouped bars and curves. No scripts, fonts or requests. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

COLOURS = ("#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#0891b2", "#be185d", "#4b5563")
WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 12, 34


def colour(index: int) -> str:
    """Return the colour of a series; colours repeat from the ninth on."""
    return COLOURS[index % len(COLOURS)]


def bars(series: Mapping[str, Mapping[str, float]], title: str) -> str:
    """Plot values in 0..1, grouped by label: `series` by name, all with the same labels."""
    labels = list(next(iter(series.values())))
    group = (WIDTH - LEFT - RIGHT) / len(labels)
    width = min(48.0, 0.8 * group / len(series))
    parts = _axes()
    for place, label in enumerate(labels):
        middle = LEFT + group * (place + 0.5)
        parts.append(_text(middle, HEIGHT - 12, label, "middle"))
        begin = middle - width * len(series) / 2
        for index, (name, values) in enumerate(series.items()):
            value = values[label]
            x, y = begin + index * width, _y(value)
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{width - 2:.1f}" '
                f'height="{HEIGHT - BOTTOM - y:.1f}" fill="{colour(index)}">'
                f"<title>{escape(name)}: {escape(label)} {value:.3f}</title></rect>"
            )
            parts.append(_text(x + width / 2 - 1, y - 3, f"{value:.2f}", "middle"))
    return _svg(parts, title) + legend(list(series))


def curves(series: Mapping[str, Sequence[float]], first: int, title: str) -> str:
    """Plot values in 0..1 over the integers from `first` on, one line per series."""
    count = max(len(values) for values in series.values())
    step = (WIDTH - LEFT - RIGHT) / max(1, count - 1)
    parts = _axes()
    for place in range(count):
        if place == 0 or (place + first) % 5 == 0:
            parts.append(_text(LEFT + place * step, HEIGHT - 12, str(place + first), "middle"))
    for index, (name, values) in enumerate(series.items()):
        points = " ".join(
            f"{LEFT + i * step:.1f},{_y(value):.1f}" for i, value in enumerate(values)
        )
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour(index)}" stroke-width="2">'
            f"<title>{escape(name)}</title></polyline>"
        )
    return _svg(parts, title) + legend(list(series))


def legend(names: Sequence[str]) -> str:
    """Return the names of the series next to their colours."""
    items = "".join(
        f'<li><span style="background:{colour(index)}"></span>{escape(name)}</li>'
        for index, name in enumerate(names)
    )
    return f'<ul class="legend">{items}</ul>'


def _y(value: float) -> float:
    return TOP + (1 - min(1.0, max(0.0, value))) * (HEIGHT - TOP - BOTTOM)


def _axes() -> list[str]:
    parts = []
    for tenths in range(0, 11, 2):
        y = _y(tenths / 10)
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e5e7eb"/>'
        )
        parts.append(_text(LEFT - 6, y + 4, f"{tenths / 10:.1f}", "end"))
    return parts


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(parts: Sequence[str], title: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg>"
    )

"""What a notebook shows of a model or a result: HTML of plain data, without scripts or files.

A :class:`Glance` says what a model is, how large it is, what it learned, what is wrong with it and
what to call next. :func:`page` writes it. Each room describes its models in its module `glances`.
Everything that is shown is escaped, because words may look like markup. Colors are those of the
page, and a few that can be read on light and on dark ground.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Protocol

ACCENT = "#4c8ed9"
_SEVERITIES = {"problem": "#d64545", "warning": "#d0871c", "note": "#8a8f98"}
_LINE = "rgba(128,128,128,0.35)"
_FAINT = "opacity:0.7"
_CELL = "padding:1px 12px 1px 0;text-align:left;border:none;background:none;vertical-align:top"
_NUMBER = _CELL.replace("left", "right")
_CODE = "background:rgba(128,128,128,0.15);color:inherit;padding:0 4px;border-radius:3px"
_BOX = (
    f"border:1px solid {_LINE};border-radius:6px;padding:8px 12px;max-width:62em;"
    "font-size:13px;line-height:1.5;overflow-x:auto"
)
_LONGEST = 120  # characters of a value
_MOST_ROWS = 60


class Page(Protocol):
    """The explorer, served in the background. In a notebook it shows itself."""

    url: str

    def close(self) -> None:
        """End the server."""
        ...


Fact = tuple[str, Any]
Call = tuple[str, str]


@dataclass(frozen=True)
class Glance:
    """A fitted model at a glance.

    Attributes
    ----------
    what
        The model in a few words.
    facts
        Names and values: sizes, and how it was learned.
    picture
        SVG of :func:`spectrum`, :func:`curve` or :func:`bars`.
    parts
        HTML of :func:`table`: what was learned.
    calls
        What to call next, and what that gives.
    """

    what: str = ""
    facts: Sequence[Fact] = ()
    picture: str = ""
    parts: Sequence[str] = ()
    calls: Sequence[Call] = ()


def page(
    name: str,
    glance: Glance,
    *,
    findings: Iterable[tuple[str, str, str]] = (),
    parameters: Mapping[str, Any] | None = None,
    changed: Iterable[str] = (),
    state: str = "",
) -> str:
    """The HTML of a model.

    Parameters
    ----------
    name : str
        The name of the class.
    glance : Glance
        What it is.
    findings : iterable of (severity, sentence, remedy)
        What the model says about itself.
    parameters : mapping, optional
        The parameters. Those in `changed` are shown, the others on a click.
    changed : iterable of str
        The names of the parameters that are not the defaults.
    state : str
        Something behind the name, such as "not fitted".
    """
    head = f"<b>{escape(name)}</b>"
    if state:
        head += f' <span style="{_FAINT}">({escape(state)})</span>'
    if glance.what:
        head += f' <span style="{_FAINT}">&nbsp;{escape(glance.what)}</span>'
    beside = [part for part in (pairs(glance.facts), glance.picture) if part]
    middle = ""
    if beside:
        cells = "".join(f"<div>{part}</div>" for part in beside)
        flex = "display:flex;flex-wrap:wrap;gap:6px 32px;align-items:flex-start;margin:6px 0"
        middle = f'<div style="{flex}">{cells}</div>'
    return _box(
        f"<div>{head}</div>",
        middle,
        *glance.parts,
        _findings(findings),
        _parameters(parameters or {}, set(changed)),
        _calls(glance.calls),
    )


def result(title: str, *parts: str) -> str:
    """The HTML of a result: a title, and its tables."""
    return _box(f"<div><b>{escape(title)}</b></div>" if title else "", *parts)


def table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str = "", last: str = ""
) -> str:
    """A table. Numbers are at the right of their columns; `last` is a line below it."""
    rows = [tuple(row) for row in rows]
    right = [
        bool(rows) and all(_is_number(row[place]) for row in rows) for place in range(len(columns))
    ]
    head = "".join(
        f'<th style="{_NUMBER if to_right else _CELL};{_FAINT};font-weight:normal">'
        f"{escape(name)}</th>"
        for name, to_right in zip(columns, right)
    )
    body = "".join(f"<tr>{_cells(row, right)}</tr>" for row in rows[:_MOST_ROWS])
    if len(rows) > _MOST_ROWS:
        more = f"and {len(rows) - _MOST_ROWS:,} more"
        body += f'<tr><td colspan="{len(columns)}" style="{_CELL};{_FAINT}">{more}</td></tr>'
    above = f'<div style="{_FAINT};margin-top:6px">{escape(title)}</div>' if title else ""
    below = f'<div style="{_FAINT}">{escape(last)}</div>' if last else ""
    head = f"<thead><tr>{head}</tr></thead>" if any(columns) else ""
    return (
        f'{above}<table style="border-collapse:collapse;margin:2px 0 6px 0;font-size:13px">'
        f"{head}<tbody>{body}</tbody></table>{below}"
    )


def pairs(facts: Iterable[Fact]) -> str:
    """Names with their values, as a table of two columns."""
    rows = "".join(
        f'<tr><td style="{_CELL};{_FAINT}">{escape(name)}</td>'
        f'<td style="{_CELL}">{escape(shown(value))}</td></tr>'
        for name, value in facts
    )
    style = "border-collapse:collapse;margin:0;font-size:13px"
    return f'<table style="{style}"><tbody>{rows}</tbody></table>' if rows else ""


class Number(str):
    """A cell of a table that is a number, written already."""

    __slots__ = ()


class Markup(str):
    """A cell of a table that is HTML already."""

    __slots__ = ()


def words(some: Iterable[Any]) -> str:
    """Words with wide blanks between them: commas may be words."""
    return "\u2003".join(map(str, some))


def share(part: float, *, most: float = 1.0, width: int = 60) -> Markup:
    """A share in percent after its bar, which is full for the share `most`."""
    filled = round(width * min(max(part / most, 0.0), 1.0)) if most > 0 else 0
    bar = (
        f'<span style="display:inline-block;vertical-align:middle;width:{width}px;height:7px;'
        f'background:rgba(128,128,128,0.2);border-radius:2px">'
        f'<span style="display:block;width:{filled}px;height:7px;background:{ACCENT};'
        f'border-radius:2px"></span></span>'
    )
    return Markup(f'<span style="white-space:nowrap">{bar} {part:.1%}</span>')


# -- pictures --------------------------------------------------------------------------------------


def spectrum(
    kept: Sequence[float], dropped: Sequence[float] = (), *, title: str = "singular values"
) -> str:
    """Bars of the values that were kept, and of the next ones, which are pale."""
    values = [*map(float, kept), *map(float, dropped)]
    top = max(values, default=0.0)
    if not top > 0:
        return ""
    if len(values) > 150:  # more bars than pixels
        step = -(-len(kept) // 120)
        kept, values = kept[::step], [*map(float, kept[::step]), *map(float, dropped)]
    width, height = 240, 64
    each = width / len(values)
    marks = "".join(
        f'<rect x="{place * each:.1f}" y="{height - height * max(value, 0) / top:.1f}" '
        f'width="{max(each - (0.8 if each > 2 else 0), 0.5):.1f}" '
        f'height="{height * max(value, 0) / top:.1f}" fill="{ACCENT}" '
        f'opacity="{1 if place < len(kept) else 0.35}"/>'
        for place, value in enumerate(values)
    )
    pale = f"; pale: the next {len(dropped)}, left out" if len(dropped) else ""
    return _svg(width, height, marks, f"{title}, largest {shown(top)}{pale}")


def curve(values: Sequence[float], *, title: str) -> str:
    """A line over the steps of learning, and its first and last value."""
    points = [float(value) for value in values if value - value == 0]
    if len(points) < 2:
        return ""
    low, high = min(points), max(points)
    width, height, edge = 240, 64, 3
    span = (high - low) or 1.0
    step = (width - 2 * edge) / (len(points) - 1)
    line = " ".join(
        f"{edge + place * step:.1f},{height - edge - (height - 2 * edge) * (y - low) / span:.1f}"
        for place, y in enumerate(points)
    )
    marks = f'<polyline points="{line}" fill="none" stroke="{ACCENT}" stroke-width="1.6"/>'
    told = f"{title}: {shown(points[0])} to {shown(points[-1])} in {len(points):,} steps"
    return _svg(width, height, marks, told)


def bars(values: Mapping[str, float], *, title: str = "") -> str:
    """A bar with a name for each value."""
    most = max(map(float, values.values()), default=0.0)
    if not most > 0:
        return ""
    rows = [(name, share_of(float(value) / most), shown(value)) for name, value in values.items()]
    return table(("", "", ""), rows, title=title)


def share_of(part: float, *, width: int = 90) -> Markup:
    """A bar alone, as long as the part of the width."""
    filled = round(width * min(max(part, 0.0), 1.0))
    return Markup(
        f'<span style="display:inline-block;vertical-align:middle;width:{max(filled, 1)}px;'
        f'height:7px;background:{ACCENT};border-radius:2px"></span>'
    )


# -- values ----------------------------------------------------------------------------------------


def shown(value: Any) -> str:
    """A value as people read it: 34,091, 0.1234, a list of words."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"
    if isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value):
        value = ", ".join(value)
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def percent(part: float) -> Number:
    """A share in percent, without the sign: 91.27."""
    return rounded(100 * part)


def rounded(value: float, digits: int = 2) -> Number:
    """A number with so many digits after the point; a dash if it is not defined."""
    return Number(f"{value:.{digits}f}" if value == value else "–")


def _is_number(value: Any) -> bool:
    return isinstance(value, Number) or (
        not isinstance(value, (str, bool))
        and (isinstance(value, (int, float)) or hasattr(value, "item"))
    )


def _cells(row: Sequence[Any], right: Sequence[bool]) -> str:
    return "".join(
        f'<td style="{_NUMBER if to_right else _CELL}">'
        f"{value if isinstance(value, Markup) else escape(shown(value))}</td>"
        for value, to_right in zip(row, right)
    )


# -- parts of a page -------------------------------------------------------------------------------


def _box(*parts: str) -> str:
    return f'<div style="{_BOX}">{"".join(part for part in parts if part)}</div>'


def _svg(width: int, height: int, marks: str, caption: str) -> str:
    base = (
        f'<line x1="0" y1="{height}" x2="{width}" y2="{height}" stroke="currentColor" '
        'stroke-opacity="0.4"/>'
    )
    return (
        f'<svg width="{width}" height="{height + 1}" viewBox="0 0 {width} {height + 1}" '
        f'role="img" aria-label="{escape(caption)}">{marks}{base}</svg>'
        f'<div style="{_FAINT};font-size:11px">{escape(caption)}</div>'
    )


def _findings(findings: Iterable[tuple[str, str, str]]) -> str:
    lines = []
    for severity, sentence, remedy in findings:
        color = _SEVERITIES.get(severity, _SEVERITIES["note"])
        advice = f" <b style='font-weight:600'>{escape(remedy)}</b>" if remedy else ""
        lines.append(
            f'<div style="border-left:3px solid {color};padding-left:8px;margin:3px 0">'
            f'<span style="color:{color}">{escape(severity)}</span> {escape(sentence)}{advice}'
            "</div>"
        )
    return f'<div style="margin:6px 0">{"".join(lines)}</div>' if lines else ""


def _parameters(parameters: Mapping[str, Any], changed: set[str]) -> str:
    if not parameters:
        return ""
    given = ", ".join(
        f"{escape(name)}={escape(shown_as_code(value))}"
        for name, value in parameters.items()
        if name in changed
    )
    rows = [(name, shown_as_code(value)) for name, value in parameters.items()]
    return (
        f'<details style="margin:4px 0"><summary style="cursor:pointer">Parameters'
        f'<span style="{_FAINT}">: {given or "the defaults"}</span></summary>'
        f"{pairs(rows)}</details>"
    )


def shown_as_code(value: Any) -> str:
    """A value as Python writes it, if that is short."""
    text = getattr(value, "__name__", None) or repr(value)  # a function has a name
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _calls(calls: Sequence[Call]) -> str:
    rows = "".join(
        f'<tr><td style="{_CELL}"><code style="{_CODE}">{escape(call)}</code></td>'
        f'<td style="{_CELL};{_FAINT}">{escape(gives)}</td></tr>'
        for call, gives in calls
    )
    style = "border-collapse:collapse;margin:0;font-size:12px"
    above = f'<div style="{_FAINT};margin-top:6px">Next</div>'
    return f'{above}<table style="{style}"><tbody>{rows}</tbody></table>' if rows else ""

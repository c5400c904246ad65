"""Tables as HTML for a notebook: self-contained, in light and dark."""

from __future__ import annotations

from tallymark.rendering.table import Table, Verdict, show_cell
from tallymark.rendering.text import printable

STYLE = """
.tallymark{--ink:#1a1d23;--quiet:#5b6472;--line:#d9dde3;--stripe:#f5f6f8;--good:#1b7838;
--poor:#b3261e;font:14px/1.5 system-ui,sans-serif;color:var(--ink);max-width:100%;overflow-x:auto}
.tallymark table{border-collapse:collapse;margin:.4em 0;color:inherit;font:inherit;font-variant-numeric:tabular-nums}
.tallymark caption{text-align:left;font-weight:600;padding:.2em 0 .5em;color:inherit}
.tallymark th,.tallymark td{padding:.3em .7em;text-align:left;border:0;color:inherit;vertical-align:top}
.tallymark td{white-space:nowrap}
.tallymark td:last-child,.tallymark td:first-child{white-space:normal}
.tallymark td:first-child{min-width:9em;overflow-wrap:anywhere}
.tallymark thead th{border-bottom:1px solid var(--line);color:var(--quiet);font-weight:500}
.tallymark tbody tr:nth-child(even){background:var(--stripe)}
.tallymark tbody tr:nth-child(odd){background:transparent}
.tallymark .number{text-align:right}
.tallymark .good{color:var(--good);font-weight:600}.tallymark .poor{color:var(--poor);font-weight:600}
.tallymark tbody th{font-weight:600;min-width:9em;overflow-wrap:anywhere}
.tallymark ul{margin:.3em 0;padding-left:1.2em;color:var(--quiet)}
@media (prefers-color-scheme:dark){.tallymark{--ink:#e6e8ec;--quiet:#a3abb8;--line:#3a404a;--stripe:#22262d;
--good:#6cc58a;--poor:#ff8a80}}
[data-jp-theme-light=false] .tallymark,.vscode-dark .tallymark,[data-theme=dark] .tallymark{--ink:#e6e8ec;
--quiet:#a3abb8;--line:#3a404a;--stripe:#22262d;--good:#6cc58a;--poor:#ff8a80}
[data-jp-theme-light=true] .tallymark,.vscode-light .tallymark,[data-theme=light] .tallymark{--ink:#1a1d23;
--quiet:#5b6472;--line:#d9dde3;--stripe:#f5f6f8;--good:#1b7838;--poor:#b3261e}
""".strip()


def to_html(table: Table) -> str:
    """The table as a fragment of HTML with its own style. Every cell is escaped."""
    from html import escape  # its table of entities takes a while to load

    def escaped(text: str) -> str:
        return escape(printable(text))

    def css_class(number: bool, value: object = None) -> str:
        names = " ".join(filter(None, ("number" * number, value.band if isinstance(value, Verdict) else "")))
        return f' class="{names}"' if names else ""

    numbers = [heading in table.numbers for heading in table.headings]
    head = "".join(
        f'<th scope="col"{css_class(n)}>{escaped(h)}</th>' for h, n in zip(table.headings, numbers, strict=True)
    )
    body = ""
    for row in table.rows:
        cells = [f"<td{css_class(n, v)}>{escaped(show_cell(v))}</td>" for v, n in zip(row, numbers, strict=True)]
        if table.named_rows:
            cells[0] = f'<th scope="row">{escaped(show_cell(row[0]))}</th>'
        body += f"<tr>{''.join(cells)}</tr>"
    caption = f"<caption{css_class(False, table.title)}>{escaped(table.title)}</caption>" if table.title else ""
    notes = "".join(f"<li>{escaped(note)}</li>" for note in table.notes)
    return (
        f'<div class="tallymark"><style>{STYLE}</style><table>{caption}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>{f'<ul>{notes}</ul>' if notes else ''}</div>"
    )

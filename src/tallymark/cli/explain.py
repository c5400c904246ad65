"""tallymark explain: a metric in words."""

from __future__ import annotations

import click

from tallymark.cli.group import Command
from tallymark.cli.options import complete_metrics
from tallymark.cli.output import write


@click.command("explain", cls=Command, short_help="Explain a metric and how to read it.")
@click.argument("metric", metavar="METRIC", shell_complete=complete_metrics)
@click.option("--value", type=float, help="A value of the metric to interpret.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(metric: str, value: float | None, as_json: bool) -> None:
    """Explain a METRIC: its meaning, how to read its values, when it is undefined, and its pitfalls.

    \b
    Examples:
      tallymark explain r2
      tallymark explain "fscore(beta=2)" --value 0.7
    """
    from tallymark.guidance.explain import explain
    from tallymark.rendering.exports import to_json

    explanation = explain(metric)
    if value is not None and as_json:
        write(f"{to_json({'metric': str(explanation.metric), 'value': value, 'place': explanation.place(value)})}\n")
    elif value is not None:
        write(f"{explanation.place(value)}\n")
    else:
        write(f"{explanation.to_json() if as_json else explanation}\n")

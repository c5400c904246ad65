"""tallymark metrics: the listing."""

from __future__ import annotations

import click

from tallymark.cli import options
from tallymark.cli.group import Command
from tallymark.cli.output import print_tables, write
from tallymark.rendering.exports import to_json


@click.command("metrics", cls=Command, short_help="List the metrics.")
@click.argument("only", metavar="[FAMILY]", required=False)
@click.option("--family", help="Only one family, such as regression.")
@options.output_options()
def command(only: str | None, family: str | None, format: str | None) -> None:
    """List the metrics, with what they measure and which values are better.

    \b
    Examples:
      tallymark metrics
      tallymark metrics ranking --json
    """
    from tallymark.metrics.listing import list_metrics

    found = list_metrics(family or only)
    table = found.table()
    if format == "json":
        write(f"{to_json(found.to_dicts())}\n")
    elif format == "csv":
        from tallymark.rendering.exports import to_csv

        write(to_csv({heading: [row[k] for row in table.rows] for k, heading in enumerate(table.headings)}))
    elif format == "markdown":
        from tallymark.rendering.markdown import table_to_markdown

        write(f"{table_to_markdown(table)}\n")
    else:
        print_tables([table])

"""Rendering: tables, pages, Markdown, data frames and plots of plain data. Nothing here knows what a metric is."""

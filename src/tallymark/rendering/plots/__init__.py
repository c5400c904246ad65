"""Plots of plain data: one module for each kind of plot. Only this package loads matplotlib, when a plot is drawn.

A `Plot` is a title, a sentence, a table, and a function that draws into a matplotlib figure. Figures are made without
pyplot, so that no window opens and no state of other code changes. `evaluation/plots.py` and `comparison/plots.py`
pass the numbers: they read them from the states of a report, or from its rows where a state does not hold them.

Layout is in inches and follows from the widths of the texts, in the font that comes with matplotlib, which is wider
than those of browsers. An SVG keeps text as text, in the font of the page. With ``theme="auto"`` its colours are
variables of the style sheet (`theme.theme_style`), so one drawing serves the light and the dark theme.
"""

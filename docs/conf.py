"""How the site is built: Sphinx reads the Markdown pages as they are. Nothing is fetched, when built or when read."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from site_pages import install

import tallymark
from tallymark.rendering.plots.theme import DARK, LIGHT, Theme


def colours(theme: Theme) -> dict[str, str]:
    """The colours of plots and reports, by the names that the theme has for them."""
    link, code = theme.series[0], theme.stripe
    return {
        "color-background-primary": theme.paper,
        "color-background-secondary": theme.stripe,
        "color-foreground-primary": theme.ink,
        "color-foreground-secondary": theme.quiet,
        "color-foreground-muted": theme.quiet,
        "color-brand-primary": link,
        "color-brand-content": link,
        "color-brand-visited": link,
        "color-code-background": code,
        "color-code-foreground": theme.ink,
    }


project = "tallymark"
author = "the tallymark authors"
release = version = tallymark.__version__

extensions = ["myst_parser", "sphinx_copybutton"]
myst_enable_extensions = ["attrs_block", "attrs_inline"]
myst_heading_anchors = 3
exclude_patterns = ["**/.*"]
nitpicky = True
smartquotes = False  # quotes belong to code as a rule

html_theme = "furo"
html_title = f"tallymark {version}"  # beside the mark, and in the titles of pages
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_favicon = "static/mark.svg"
html_logo = "static/mark.svg"
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": colours(LIGHT),
    "dark_css_variables": colours(DARK),
}
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_show_search_summary = False  # would fetch pages, which browsers refuse for files
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def setup(app: object) -> None:
    install(app)

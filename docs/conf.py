"""The documentation: pages in MyST Markdown, and a reference that is made from the code when it is built."""

import sys
from pathlib import Path

from gwa.util.version import __version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "gwa"
author = "the authors of gwa"
copyright = "the authors of gwa"  # noqa: A001 - as Sphinx calls it
release = version = __version__

extensions = [
    "from_code",
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_click",
    "sphinx_design",
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE.parent / "build" / "notebooks")
nb_execution_raise_on_error = True
nb_execution_timeout = 300

exclude_patterns = ["_ext", "_static"]
suppress_warnings = ["autodoc.mocked_object"]
nitpicky = False  # docstrings name internal classes, which have no page

default_role = "code"
smartquotes_action = "qe"  # two hyphens begin an option
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = "gwa"
html_static_path = ["_static"]
html_css_files = ["gwa.css"]
html_js_files = [("formats.js", {"defer": "defer"})]
html_show_sourcelink = False
html_copy_source = False
html_show_copyright = False
html_theme_options = {
    "show_prev_next": False,
    "navbar_end": ["theme-switcher"],
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["sphinx-version"],
    "footer_end": [],
}
html_sidebars = {"index": []}

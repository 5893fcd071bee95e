"""How the site is made of the pages: python -m sphinx -n -W --keep-going docs build/site

Nothing is fetched, neither while it is built nor by whoever reads it: no fonts, no scripts, no styles of other hosts.
"""

import gc
import sys
from pathlib import Path

from arena.version import __version__

gc.disable()  # a fifth of the time of a build, which takes 200 MB more without it
sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "stratego-arena"
author = "the authors of stratego-arena"
version = release = __version__
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "arena_commands"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_ext", "_static"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", r".*")]  # types in signatures are written as the source has them, and lead nowhere

myst_heading_anchors = 4
myst_links_external_new_tab = False
suppress_warnings: list[str] = []

smartquotes = False  # they would make dashes of options
default_role = "code"
"""Docstrings name things in single backticks."""
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
add_module_names = False

html_theme = "furo"
html_title = f"stratego-arena {__version__}"
html_theme_options: dict[str, object] = {"footer_icons": [], "top_of_page_buttons": []}
html_static_path = ["_static"]
html_css_files = ["wrap.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
pygments_style = "default"
pygments_dark_style = "github-dark"

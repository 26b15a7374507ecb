"""How the documentation is built; `make docs` calls it."""

import sys
from pathlib import Path

import textodds

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_extensions"))

project = "textodds"
version = release = textodds.__version__
copyright = "the authors of textodds, Apache 2.0"  # noqa: A001
language = "en_GB"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "mathematics",
    "commands",
    "references",
    "signatures",
    "source",
]
exclude_patterns = ["_build"]
nitpicky = True
# Types of NumPy, SciPy and scikit-learn have their pages on the network, of which this build knows nothing,
# and a word in backticks is often no more than a word. Links between pages are held to lead somewhere.
nitpick_ignore_regex = [("py:.*", ".*")]

myst_enable_extensions = ["dollarmath", "deflist"]
myst_dmath_double_inline = True
myst_heading_anchors = 3

default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_class_signature = "mixed"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 120
smartquotes = False
napoleon_google_docstring = False
napoleon_use_param = False  # several parameters that share a line keep sharing it
napoleon_use_rtype = False
napoleon_custom_sections = ["Model", "Method", "Differs", ("Attributes", "params_style")]

html_theme = "furo"
html_title = "textodds"
html_static_path = ["_static"]
html_css_files = ["textodds.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0b5c8a",
        "color-brand-content": "#0b5c8a",
        "font-stack": "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif",
        "font-stack--monospace": "ui-monospace, 'Cascadia Code', Menlo, 'DejaVu Sans Mono', monospace",
    },
    "dark_css_variables": {"color-brand-primary": "#7cc4f0", "color-brand-content": "#7cc4f0"},
}
pygments_style = "tango"
pygments_dark_style = "monokai"

"""Settings of the documentation site; `make docs` builds it."""

from __future__ import annotations

import copyback

project = "Copyback"
release = copyback.__version__
html_title = f"Copyback {release}"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_external_toc",
]
external_toc_path = "_toc.yml"

# Pages are read on their own too, so links go to files and their headings.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

# Notebooks are kept with their outputs, for who reads them in the repository: `make notebooks`
# writes them, and a test executes and compares them. They are shown as they are kept.
nb_execution_mode = "off"

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
add_module_names = False
napoleon_google_docstring = False

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_sourcelink = False
copyright = "the Copyback authors, Apache-2.0"  # noqa: A001 - Sphinx's name

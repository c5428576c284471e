"""Sphinx: the pages beside this file, with what reference.py and pictures.py write. Nothing is fetched from a network."""
import manual

project = 'vpatchdg'
author = 'the vpatchdg authors'
version = release = manual.version()
html_title = f'vpatchdg {version}, discontinuous Galerkin multigrid for PETSc'
html_short_title = f'vpatchdg {version}'
extensions = ['mathml']
html_math_renderer = 'mathml'
html_theme = 'alabaster'
html_theme_options = {'description': f'Discontinuous Galerkin methods on boxes, with multigrid on vertex patches, for PETSc. Version {version}',
                      'show_relbars': True,
                      'font_size': '15px',
                      'sidebar_width': '230px', 'fixed_sidebar': False, 'show_powered_by': False,
                      'font_family': 'system-ui, "Segoe UI", "Helvetica Neue", "DejaVu Sans", Arial, sans-serif',
                      'head_font_family': 'system-ui, "Segoe UI", "Helvetica Neue", "DejaVu Sans", Arial, sans-serif'}
html_sidebars = {'**': ['about.html', 'searchbox.html', 'navigation.html']}
html_static_path = ['style']
html_css_files = ['vpatchdg.css']
html_copy_source = False
html_show_copyright = False
highlight_language = 'none'
smartquotes = False
primary_domain = 'c'
# the types of PETSc and MPI have no page here
nitpick_ignore_regex = [('c:identifier', 'Petsc.*|DM|Vec|Mat|KSP|PC|MPI_Comm|VECCUDA')]

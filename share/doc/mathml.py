"""Sphinx: formulas become MathML, by docutils' own converter, which browsers typeset without a script or a network."""
import re

from docutils import nodes
from docutils.core import publish_from_doctree
from docutils.utils import new_document


def mathml(node):
    """Requires: node is a formula in LaTeX. Ensures: its <math> element, or an error if docutils does not understand it."""
    document = new_document('formula')
    document += node.deepcopy() if isinstance(node, nodes.math_block) else nodes.paragraph('', '', node.deepcopy())
    html = publish_from_doctree(document, writer_name='html5', settings_overrides={'math_output': 'MathML', 'output_encoding': 'unicode'})
    found = re.search('<math.*</math>', html, re.S)
    if not found:
        raise ValueError(f'not a formula that docutils turns into MathML: {node.astext()}')
    return found[0]


def inline(self, node):
    self.body.append(mathml(node))
    raise nodes.SkipNode


def block(self, node):
    self.body.append(f'<div class="formula">{mathml(node)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer('mathml', (inline, None), (block, None))
    return {'parallel_read_safe': True}

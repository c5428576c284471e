#!/usr/bin/env -S python3 -B
"""reference.py FOLDER: writes functions.rst and a page for every entry of the manual, functions/*.rst, for Sphinx."""
import os
import re
import sys
import textwrap

import manual

ROLES = {'function': 'c:func', 'object': 'c:macro', 'callback': 'c:type', 'enum': 'c:enum'}
OPTION = re.compile(r'(?<![\w`(])(-[a-z]+_\w+\b(?!\())')  # every option that pages name has an underscore, unlike -div


class Writer:
    def __init__(self, pages):
        self.roles = {p.name: ROLES[p.kind] for p in pages}
        self.roles.update((value, 'c:enumerator') for p in pages for value, _ in p.values)

    def name(self, text):
        role = self.roles.get(text.replace('()', ''))
        return f':{role}:`{text.replace("()", "")}`' if role else f'``{text}``'

    def inline(self, text):
        out = []
        for i, part in enumerate(text.split('`')):
            if i % 2:
                out.append(self.name(part) + '\\ ')
            else:
                words = OPTION.split(part)  # every second one is an option
                out += [f'``{word}``\\ ' if j % 2 else re.sub(r'([\\*_|])', r'\\\1', word) for j, word in enumerate(words)]
        return ''.join(out)

    def items(self, pairs, indent='   '):
        return ''.join(f'{indent}``{what}``\n{indent}   {self.inline(meaning)}\n\n' for what, meaning in pairs)

    def note(self, text):
        if isinstance(text, manual.Verbatim):
            return '.. code-block:: none\n\n' + textwrap.indent(text, '   ')
        return self.inline(text)

    def directive(self, page):
        if page.kind == 'enum':
            lines = [f'.. c:enum:: {page.name}', '']
            for value, name in page.values:
                lines += [f'   .. c:enumerator:: {value}', '', f'      In options: ``{name}``.', '']
            return '\n'.join(lines)
        if page.kind == 'object':
            return f'.. c:macro:: {page.name}\n\n   .. code-block:: c\n\n      {page.signature}\n'
        kind = 'c:function' if page.kind == 'function' else 'c:type'
        return f'.. {kind}:: {page.signature.replace("typedef ", "").rstrip(";")}\n'

    def page(self, page):
        out = [page.name, '=' * len(page.name), '', self.inline(page.purpose.rstrip('.')) + '.', '', self.directive(page)]
        if page.calling:
            out += [f'   *{page.calling}*', '']
        for section in page.sections:
            if section.title == 'Level':
                continue
            out += [f'.. rubric:: {section.title}', '', self.items(section.items, ''), self.inline(section.text), '']
            out += [part for note in section.notes for part in (self.note(note), '')]
        if page.seealso:
            out += ['.. rubric:: See also', '', ', '.join(self.name(name) for name in page.seealso), '']
        level = page.section('Level')
        source = page.where.split(':')[0]
        out += [f'.. container:: source\n\n   {"Level: " + level.text + ". " if level else ""}Source: ``{source}``\n']
        return '\n'.join(out)

    def index(self, pages):
        out = ['.. title:: Functions and types of DMVPATCHDG and PCVPATCHDG in C', '', 'Functions and types', '===================', '',
               'Every entry also has a manual page: ``man DMVPatchDGCreate``. Setters are called before the object is set up, unless their '
               'page says otherwise. All functions return a ``PetscErrorCode``.', '']
        for group in manual.GROUPS:
            members = [p for p in pages if p.group == group]
            out += [group, '-' * len(group), '', '.. list-table::', '   :class: functions', '   :widths: 35 65', '']
            for p in members:
                out += [f'   * - {self.name(p.name)}', f'     - {self.inline(p.purpose)}']
            out += ['']
        out += ['.. toctree::', '   :hidden:', ''] + [f'   functions/{p.name}' for p in pages]
        return '\n'.join(out) + '\n'


def main(folder):
    pages = manual.manual()
    writer = Writer(pages)
    os.makedirs(os.path.join(folder, 'functions'), exist_ok=True)
    for page in pages:
        with open(os.path.join(folder, 'functions', page.name + '.rst'), 'w', encoding='utf-8') as f:
            f.write(writer.page(page))
    with open(os.path.join(folder, 'functions.rst'), 'w', encoding='utf-8') as f:
        f.write(writer.index(pages))


if __name__ == '__main__':
    sys.exit(__doc__ if len(sys.argv) != 2 else main(sys.argv[1]))

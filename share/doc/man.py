#!/usr/bin/env -S python3 -B
"""man.py FOLDER: writes the manual pages man3/*.3 and man7/vpatchdg.7 there."""
import os
import re
import sys

import manual


def escape(text):
    text = text.replace('\\', '\\e').replace('-', '\\-')
    return '\\&' + text if text[:1] in ".'" else text


def inline(text):
    """`name` in bold; hyphens of plain words stay hyphens, those of options, numbers and formulas do not."""
    parts = []
    for i, part in enumerate(text.split('`')):
        if i % 2:
            parts.append('\\fB' + escape(part) + '\\fP')
        else:
            plain = part.replace('\\', '\\e')
            parts.append(re.sub(r'(?<![A-Za-z])-|(?<=\de)-', r'\\-', plain))
    text = ''.join(parts)
    return '\\&' + text if text[:1] in ".'" else text


def note(text):
    if isinstance(text, manual.Verbatim):
        return '.PP\n.nf\n' + '\n'.join(map(inline, text.split('\n'))) + '\n.fi\n'
    return f'.PP\n{inline(text)}\n'


def head(name, section):
    """names are not hyphenated, lines not stretched"""
    return f'.TH {name} {section} "" "vpatchdg {manual.version()}" "vpatchdg"\n.nh\n.ad l\n'


def items(pairs):
    return ''.join(f'.TP\n.B {escape(what)}\n{inline(meaning)}\n' for what, meaning in pairs)


def synopsis(page):
    head = '.nf\n.B #include <vpatchdg.h>\n.PP\n'
    text = page.signature
    if len(text) > 76 and '(' in text:  # one argument a line
        start = text.index('(', text.index('*')) if page.kind == 'callback' and '(*' in text else text.index('(')
        start = text.index(')(') + 1 if page.kind == 'callback' else start
        text = text[:start + 1] + '\n    ' + text[start + 1:].replace(', ', ',\n    ')
    elif page.kind == 'enum':
        text = text.replace('{', '{\n    ').replace(', ', ',\n    ').replace('}', '\n}')
    return head + '\n'.join('.B "' + escape(line).replace('"', '\\(dq') + '"' for line in text.split('\n')) + '\n.fi\n'


def roff(page):
    out = [head(page.name, 3) + f'.SH NAME\n{page.name} \\- {inline(page.purpose)}\n.SH SYNOPSIS\n',
           synopsis(page)]
    if page.calling:
        out.append(f'.PP\n{inline(page.calling)}.\n')
    if page.values:
        out.append('.SH VALUES\n' + items((value, f'In options: {name}.') for value, name in page.values))
    for section in page.sections:
        if section.title != 'Level':
            out.append(f'.SH {section.title.upper()}\n{inline(section.text)}\n' if section.text else f'.SH {section.title.upper()}\n')
            out.append(items(section.items))
            out.append(''.join(map(note, section.notes)))
    level = page.section('Level')
    if level:
        out.append(f'.SH LEVEL\n{level.text.capitalize()}\n')
    if page.seealso:
        out.append('.SH SEE ALSO\n' + ', '.join(f'\\fB{escape(name.rstrip("()"))}\\fP(3)' for name in page.seealso) + '\n')
    return ''.join(out)


def overview(pages):
    out = [head('vpatchdg', 7) + '.SH NAME\nvpatchdg \\- discontinuous Galerkin methods on boxes and '
           'multigrid with vertex patches, for PETSc\n.SH DESCRIPTION\n',
           inline('Solves -div(a grad u) + c u = f on domains made of boxes. A program links the library, or PETSc loads it: '
                  '`-dll_append /path/to/libvpatchdg.so`. Options are listed by `-help` and in `DMVPATCHDG`(3), `PCVPATCHDG`(3) and '
                  '`PCVPATCH`(3).') + '\n']
    for group in manual.GROUPS:
        out.append(f'.SH {group.upper()}\n' + items((p.name + '(3)', p.purpose) for p in pages if p.group == group))
    return ''.join(out)


def main(folder):
    pages = manual.manual()
    for section in ('man3', 'man7'):
        os.makedirs(os.path.join(folder, section), exist_ok=True)
    for page in pages:
        with open(os.path.join(folder, 'man3', page.name + '.3'), 'w', encoding='utf-8') as f:
            f.write(roff(page))
    with open(os.path.join(folder, 'man7', 'vpatchdg.7'), 'w', encoding='utf-8') as f:
        f.write(overview(pages))


if __name__ == '__main__':
    sys.exit(__doc__ if len(sys.argv) != 2 else main(sys.argv[1]))

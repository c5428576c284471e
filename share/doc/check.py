#!/usr/bin/env -S python3 -B
"""check.py [HELP]: says what the manual misses, and fails if it misses anything: a page for every public function and type with all its
parameters, every option on the page options.rst with its function and its words, on errors.rst messages as the sources have them, and on
glossary.rst the words of types. HELP is a file with what a program printed for -help: its defaults have to be those of options.rst."""
import glob
import os
import re
import sys

import manual

COLUMNS = ('option', 'meaning', 'default', 'function')


def missing_pages(pages):
    """The header's functions and types, and what their pages have to have."""
    header = manual.read(manual.HEADER)
    names = {p.name: p for p in pages}
    public = list(manual.prototypes()) + list(manual.object_names())
    public += [name for alias in re.findall(r'^typedef (?!enum).*?;', header, re.M) for name in re.findall(r'\(\*(\w+)\)', alias)]
    for name in public:
        if name not in names:
            yield f'{name} has no page: a comment /*@ ... @*/ above its definition'
    for page in pages:
        yield from (f'{page.where}: {page.name}: {fault}' for fault in faults(page, names))


def faults(page, names):
    if page.kind in ('function', 'callback'):
        described = [what for what, _ in page.items('Parameter')]
        if sorted(described) != sorted(page.arguments):
            yield f'describes the parameters {described}, has {page.arguments}'
        if page.kind == 'function' and not page.calling:
            yield 'does not say whether it is collective'
    if page.kind == 'enum':
        meaning = page.sections[0].notes[0]
        yield from (f'{value} is not explained by {page.purpose}' for value, _ in page.values if f'`{value}`' not in meaning)
    elif not page.section('Level') or not page.section('Level').text:
        yield 'has no level'
    if not page.purpose:
        yield 'does not say what it does: NAME - purpose'
    yield from (f'{what} is not described' for s in page.sections for what, meaning in s.items if not meaning)
    if not page.seealso:
        yield 'has no .seealso'
    ours = re.compile(r'(DM|PC|PCDG|V|KSP)?V?PatchD?G?[A-Z]|[A-Z]*VPATCH')
    yield from (f'names {name}, which does not exist' for name in page.seealso if ours.match(name) and name.rstrip('()') not in names)


def asking():
    """the files that may ask PETSc for options: all of src, and the header"""
    return sorted(os.path.relpath(path, manual.ROOT) for path in glob.glob(os.path.join(manual.ROOT, 'src/**/*.c'), recursive=True)) + [manual.HEADER]


def wrong_words(rows):
    """Values in options.rst that the enumeration of a setting does not have."""
    for setting in manual.settings():
        said = re.match(rf'``{setting.option} (\S*\|\S*)``', rows.get(setting.option, {}).get('option', ''))
        for word in said.group(1).split('|') if said and '|' in setting.values else []:
            if word not in setting.values.split('|'):
                yield f'options.rst: {setting.option} is never {word}'


def registered():
    """option -> (function that its help text names, file) of all options that src asks PETSc for"""
    found = {setting.option: (setting.setter, setting.where) for setting in manual.settings()}
    for path in asking():
        for call in re.findall(r'PetscOptions(?:Get)?[A-Z]\w*\((.*?)\)\)?;', manual.read(path), re.S):
            strings = re.findall(r'"((?:[^"\\]|\\.)*)"', call)
            if strings and re.match(r'-(dm|pc|ksp|vpatchdg)_\w+$', strings[0]):
                found[strings[0]] = (strings[2] if len(strings) > 2 else '', path)
    return found


def page_rows():
    """option -> row of the tables in options.rst (list-table: option, meaning, default, function)"""
    rows = {}
    for row in re.split(r'^   \* - ', manual.read('share/doc/options.rst'), flags=re.M)[1:]:
        cells = [manual.squeeze(cell) for cell in re.split(r'^     -(?: |$)', row.split('\n\n')[0], flags=re.M)]
        if len(cells) == len(COLUMNS):
            for name in re.findall(r'``(-\w+)', cells[0]):
                rows[name] = dict(zip(COLUMNS, cells))
    return rows


def missing_options(rows):
    known = registered()
    for name, (function, path) in known.items():
        if name not in rows:
            yield f'{path} asks for {name}, which options.rst does not have'
        elif function and function not in rows[name]['function']:
            yield f'options.rst: {name} belongs to {function}(), not {rows[name]["function"]}'
    text = '\n'.join(manual.read(path) for path in asking())
    for name in rows:
        if name not in known and 'vpatch' in name and f'"{name}"' not in text and not name.startswith('-vpatchdg_coarse_'):
            yield f'options.rst has {name}, which nothing in src asks for'


def wrong_defaults(rows, text):
    """PETSc prints -name <now value : formerly default>, -name: <value : default> or -name <value>, and what it means"""
    for name, default in re.findall(r'^ *(-\w*vpatch\w*):? <(?:now )?([^ >]+)', text, re.M):
        default = {'FALSE': 'off', 'TRUE': 'on', 'string1,string2,...': ''}.get(default, default.rstrip('.'))
        said = rows.get(name, {}).get('default', '').strip('`')
        if default and said and default != said.split('`')[0]:
            yield f'options.rst: the default of {name} is {default}, not {said}'


def stale_messages():
    """The first table of errors.rst: what a message says between the places that are filled in stands in the sources."""
    text = ''
    for folder in ('src', 'cuda'):
        for path, _, files in sorted(os.walk(os.path.join(manual.ROOT, folder))):
            text += ''.join(manual.read(os.path.relpath(os.path.join(path, name), manual.ROOT)) for name in sorted(files))
    text = re.sub(r'"\s*(PetscInt_FMT|PCVPATCHDG)?\s*"', '', text)
    for message in re.findall(r'^   \* - ``(.*)``$', manual.read('share/doc/errors.rst').split('From PETSc')[0], re.M):
        yield from (f'errors.rst: no message in src has "{part}"' for part in message.split('…') if part.strip() not in text)


def undefined_words():
    """The words of the names of types, VpPatchView for instance, that glossary.rst does not have."""
    terms = re.findall(r'^   \* - ([A-Z].*)$', manual.read('share/doc/glossary.rst'), re.M)
    known = {word.lower() for term in terms for word in re.findall(r'\w+', term)}
    for path in sorted(glob.glob(os.path.join(manual.ROOT, 'src/**/*.h'), recursive=True)):
        path = os.path.relpath(path, manual.ROOT)
        for names in re.findall(r'\bVp([A-Z]\w*?)_?;$|^typedef .*\(\*Vp(\w+)\)', manual.read(path), re.M):
            for word in re.findall(r'[A-Z]+(?![a-z])|[A-Z][a-z]+', ''.join(names)):
                if not {re.sub(ending + '$', '', word.lower()) for ending in ('', 's', 'es')} & known:
                    yield f'glossary.rst lacks "{word}" of Vp{"".join(names)} ({path})'


def main(arguments):
    pages, rows = manual.manual(), page_rows()
    wrong = list(missing_pages(pages)) + list(missing_options(rows)) + list(wrong_words(rows)) + list(stale_messages()) + list(undefined_words())
    if arguments:
        with open(arguments[0], encoding='utf-8') as f:
            wrong += wrong_defaults(rows, f.read())
    print('\n'.join(wrong) or f'{len(pages)} pages, {len(rows)} options: nothing is missing')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

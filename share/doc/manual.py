"""The manual, read from the sources: blocks /*@ ... @*/ (functions), /*MC ... M*/ (types of PETSc objects) and /*S ... S*/ (types of
functions), signatures, enumerations and tables of settings. man.py and reference.py write it, check.py looks for what is missing."""
import glob
import os
import re
import textwrap
from dataclasses import dataclass, field

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADER = 'include/vpatchdg.h'
SECTION = re.compile(r' {0,3}(Input Parameters?|Input/Output Parameters?|Output Parameters?|Parameters|Options Database Keys?|Level|Notes?|Values):(.*)$')
GROUPS = ('The mesh and the equation', 'Data and results', 'The preconditioner', 'Types', 'The library')


@dataclass
class Section:
    title: str
    text: str = ''                             # of a section with one line of its own, as "Level: beginner"
    items: list = field(default_factory=list)  # (what, meaning)
    notes: list = field(default_factory=list)  # paragraphs


@dataclass
class Page:
    name: str
    kind: str  # function, object, callback or enum
    purpose: str
    where: str
    signature: str = ''
    arguments: list = field(default_factory=list)  # names
    calling: str = ''                              # Collective, ...
    sections: list = field(default_factory=list)
    seealso: list = field(default_factory=list)
    values: list = field(default_factory=list)     # of an enumeration: (name in C, name in options)

    def items(self, word):
        return [item for s in self.sections if word in s.title for item in s.items]

    def section(self, word):
        return next((s for s in self.sections if s.title.startswith(word)), None)

    def add_options(self, items):
        """before those of its own"""
        if not self.section('Options'):
            self.sections.insert([s.title for s in self.sections].index('Level'), Section('Options Database Keys'))
        self.section('Options').items[:0] = items

    @property
    def group(self):
        if self.kind != 'function':
            return GROUPS[3]
        if self.name.startswith('PCVPatchDG'):
            return GROUPS[2]
        if not self.name.startswith('DMVPatchDG'):
            return GROUPS[4]
        return GROUPS[1] if re.search('RHS|Interpolate|Errors|Point', self.name) else GROUPS[0]


@dataclass
class Setting:
    """a row of a table of settings"""
    option: str
    values: str   # 'v|w|f', n, x, or nothing
    meaning: str
    default: str
    setter: str   # '': it is set by option only
    has: str      # the type of objects that have it
    where: str


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        return f.read()


def sources():
    return sorted(os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, 'src/petsc/**/*.c'), recursive=True)) + [HEADER]


def version():
    return re.search(r'VPATCHDG_VERSION "(.*)"', read(HEADER)).group(1)


def squeeze(text):
    return ' '.join(text.split())


class Verbatim(str):
    """a note whose lines stay as they are"""


def parse_section(title, rest, lines):
    """Items begin with +, . or - in the first column; what follows them belongs to them up to an empty line. Lines between .vb and .ve stay lines."""
    section, paragraph, inside, verbatim = Section(title, rest.strip()), [], False, None
    for line in lines + ['']:
        mark = re.match(r'[+.-]\s+(\S.*)$', line)
        if verbatim is not None and line.strip() != '.ve':
            verbatim.append(line)
        elif line.strip() in ('.vb', '.ve'):
            section.notes += [squeeze(' '.join(paragraph))] if paragraph else []
            section.notes += [Verbatim(textwrap.dedent('\n'.join(verbatim)))] if verbatim else []
            paragraph, verbatim = [], [] if line.strip() == '.vb' else None
        elif mark:
            what, _, meaning = mark.group(1).partition(' - ')
            section.items.append((squeeze(what), meaning.strip()))
            inside = True
        elif not line.strip():
            if paragraph:
                section.notes.append(squeeze(' '.join(paragraph)))
            paragraph, inside = [], False
        elif inside:
            what, meaning = section.items[-1]
            section.items[-1] = (what, squeeze(meaning + ' ' + line))
        else:
            paragraph.append(line)
    return section


def parse_block(text, kind, where):
    lines = text.strip('\n').split('\n')
    end = next((i for i, line in enumerate(lines) if not line.strip()), len(lines))
    head, _, purpose = squeeze(' '.join(lines[:end])).partition(' - ')
    page = Page(head.split()[0].rstrip('='), kind, purpose, where)
    current, collected = None, []

    def close():
        if current:
            page.sections.append(parse_section(current[0], current[1], collected))
        elif any(line.strip() for line in collected):
            page.calling = squeeze(' '.join(collected))

    for line in lines[end:]:
        seealso, start = re.match(r' {0,3}\.seealso:(.*)$', line), SECTION.match(line)
        if seealso or start:
            close()
            collected = []
            current = ('See also', seealso.group(1)) if seealso else start.groups()
        else:
            collected.append(line)
    close()
    for section in page.sections:
        if section.title == 'See also':
            page.seealso = re.findall(r'`([^`]*)`', ' '.join([section.text] + section.notes))
    page.sections = [s for s in page.sections if s.title != 'See also']
    return page


def prototypes():
    """name -> [(type, name of the argument or '')] of all functions that the header declares"""
    found = {}
    for name, arguments in re.findall(r'PETSC_EXTERN PetscErrorCode (\w+)\((.*?)\);', read(HEADER), re.S):
        found[name] = [split_argument(a) for a in arguments.split(',')] if arguments != 'void' else []
    return found


def split_argument(text):
    text = squeeze(text)
    declared = re.match(r'(.*?[\s*])(\w+)((?:\[\w*\])*)$', text)
    if not declared or text.split()[-1].strip('*') in ('PetscInt', 'PetscReal') or ' ' not in text.replace('const ', ''):
        bare = re.match(r'(.*?)((?:\[\w*\])*)$', text)
        return bare.group(1), '', bare.group(2)
    return declared.groups()


def add_signature(page, declared, definitions):
    """The definition's names where there is one; those of functions that a macro makes are the block's."""
    if page.name in definitions:
        arguments = [split_argument(a) for a in definitions[page.name].split(',')] if definitions[page.name] != 'void' else []
    else:
        names = [what for what, _ in page.items('Parameter')]
        arguments = [(kind, name or (names[i] if i < len(names) else ''), shape) for i, (kind, name, shape) in enumerate(declared)]
    page.arguments = [name for _, name, _ in arguments]
    written = [kind.strip() + ('' if kind.strip().endswith('*') else ' ') + name + shape for kind, name, shape in arguments]
    page.signature = f'PetscErrorCode {page.name}({", ".join(written) or "void"})'


def word_lists():
    """name of an array -> its strings, of an enumeration's the words in options, its name and a prefix"""
    arrays = [found for path in sources() for found in re.findall(r'const char \*const (\w+)\[\] = \{(.*?)\};', read(path), re.S)]
    return {name: re.findall(r'"([^"]*)"', body) for name, body in arrays}


def settings():
    """the rows VP_SETTING(type, data, member, default, option, setter, noun, meaning, ...) of all tables in src/petsc"""
    presets = {'PETSC_FALSE': 'off', 'PETSC_TRUE': 'on', 'PETSC_DECIDE': '-1'}
    values = {'BOOL': '', 'INT': 'n', 'REAL': 'x'}
    lists = word_lists()
    for path in sources():
        text = read(path)
        for row in text.split('VP_SETTING(')[1:]:
            kind, preset = re.match(r'\s*(\w+),[^"]*?(\w+),\s*"', row).groups()
            option, setter, _, meaning = re.findall(r'"([^"]*)"', row.replace('NULL', '""', 1))[:4]
            words = values.get(kind)
            if kind == 'ENUM':
                *names, _, prefix = lists[re.search(r'\.names = (\w+)', row).group(1)]
                words, preset = '|'.join(names), preset.replace(prefix, '').lower()
            has = re.search(r'const VpSettings \w+ = \{(\w+),', text).group(1)
            yield Setting(option, words, meaning, presets.get(preset, preset), setter, has, path)


def add_settings(pages):
    """The options of tables, on the pages of their setters and of the types of objects."""
    items = {}
    for s in settings():
        what, meaning = f'{s.option} {s.values}'.rstrip(), f'{s.meaning} ({s.default} by default)'
        items.setdefault(s.setter, []).append((what, meaning))
        items.setdefault(s.has, []).append((what, f'{meaning}, `{s.setter}()`' if s.setter else f'{meaning}, by option only'))
    for page in pages:
        if page.name in items:
            page.add_options(items[page.name])


def enumerations(pages):
    """A page for every enumeration: its values mean what the function says that takes them."""
    names = {words[-2]: words[:-2] for array, words in word_lists().items() if array.startswith('VPatchDG')}
    for body, name in re.findall(r'typedef enum \{(.*?)\} (\w+);', read(HEADER), re.S):
        users = [p for p in pages if p.kind == 'function' and re.search(rf'\b{name}\b', p.signature)]
        users.sort(key=lambda p: ('Set' not in p.name, p.group, 'Get' in p.name))
        values = [value.strip() for value in body.split(',')]
        page = Page(name, 'enum', f'The values of `{users[0].name}()`', HEADER, f'typedef enum {{{", ".join(values)}}} {name};')
        page.values = list(zip(values, names.get(name, [''] * len(values))))
        meaning = [text for _, text in users[0].items('Parameter') if any(f'`{value}`' in text for value in values)]
        page.sections = [Section('Meaning', notes=[meaning[0] if meaning else ''])]
        page.seealso = [user.name + '()' for user in users]
        yield page


def manual():
    """all pages, in the order of the header"""
    pages, definitions = [], {}
    for path in sources():
        text = read(path)
        for found in re.finditer(r'/\*(@C?|MC|S)\n(.*?)\n(?:@|M|S)\*/', text, re.S):
            where = f'{path}:{text[:found.start()].count(chr(10)) + 1}'
            page = parse_block(found.group(2), {'MC': 'object', 'S': 'callback'}.get(found.group(1), 'function'), where)
            if page.kind == 'callback':
                page.signature = squeeze(re.match(r'[^;]*;', text[found.end():]).group())
                page.arguments = [split_argument(a)[1] for a in re.search(r'\)\((.*)\);', page.signature).group(1).split(',')]
            elif page.kind == 'object':
                page.signature = f'#define {page.name} "{object_names()[page.name]}"'
            pages.append(page)
        definitions.update(re.findall(r'^PetscErrorCode (\w+)\(([^)]*)\)\s*\{', text, re.M))
    declared = prototypes()
    for page in pages:
        if page.kind == 'function':
            add_signature(page, declared.get(page.name, []), definitions)
    pages += enumerations(pages)
    add_settings(pages)
    place = {name: i for i, name in enumerate(re.findall(r'\w+', read(HEADER)))}
    return sorted(pages, key=lambda page: place.get(page.name, 0))


def object_names():
    return dict(re.findall(r'#define (\w+) +"(\w+)" +/\*', read(HEADER)))

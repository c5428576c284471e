"""The page: HTML from what items show."""
import html
import os

from machine import OPTIONS

BODY = '''body { font-family: system-ui, "Segoe UI", "DejaVu Sans", Arial, sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em;
line-height: 1.45 }'''
STYLE = '''.paper table { border-collapse: collapse; margin: 1em 0 }
.paper th, .paper td { padding: .15em .7em; text-align: right; border-bottom: 1px solid #dfe5ea }
.paper th:first-child, .paper td:first-child { text-align: left } .paper tr.theirs td { color: #6b7884 }
.paper tr.group td { border-top: 2px solid #8a97a3; color: #6b7884 } .paper small { color: #6b7884 }
.paper figure { display: inline-block; margin: 1em 1em 1em 0 }
.paper details { margin: .5em 0 } .paper pre { overflow-x: auto; background: #f4f6f8; padding: .5em }'''


def words(text):
    return html.escape(str(text), quote=False)


def paragraph(text):
    return '<p>%s</p>' % text


def span(values):
    """from where to where they go; nothing of none"""
    ends = ['%.2g' % end if end < 10 else '%.0f' % end for end in (min(values), max(values))] if values else []
    return ' to '.join(dict.fromkeys(ends))


def not_on_gpus(name, several):
    text = 'Not run on several GPUs yet; where they are, <code>make paper OPTIONS="--only %s"</code> does.' % name
    return [] if several else [paragraph(text)]


class Cell:
    """a number of a run, with what it is of, by which tests find it; small: what stands behind it"""

    def __init__(self, text, of='', small=''):
        self.text, self.of, self.small = text, of, small

    def __str__(self):
        of = ' data-of="%s"' % html.escape(self.of) if self.of else ''
        return '<td%s>%s%s</td>' % (of, words(self.text), ' <small>%s</small>' % words(self.small) if self.small else '')


def table(header, rows):
    """rows: lists of texts or cells; ('theirs', row) is of the paper, ('group', row) begins something new"""
    lines = ['<table>', '<tr>%s</tr>' % ''.join('<th>%s</th>' % words(entry) for entry in header)]
    for row in rows:
        kind, row = row if isinstance(row, tuple) else ('', row)
        cells = ''.join(str(entry) if isinstance(entry, Cell) else '<td>%s</td>' % words(entry) for entry in row)
        lines.append('<tr%s>%s</tr>' % (' class="%s"' % kind if kind else '', cells))
    return '\n'.join(lines + ['</table>'])


def figure(picture):
    return '<figure>%s</figure>' % picture.svg()


def options_file(name):
    with open(os.path.join(OPTIONS, name + '.opts'), encoding='utf-8') as file:
        return file.read()


def commands(records):
    """what was run where and when, and the options files that it names"""
    lines = ['%s  %-24s  %s' % (r['date'], r['machine']['name'], r['command']) for r in records]
    files = sorted({r['about']['config'] for r in records if 'config' in r['about']})
    lines += ['\n%s.opts\n%s' % (name, options_file(name)) for name in files]
    return '<details><summary>what was run: %d commands</summary><pre>%s</pre></details>' % (len(records), words('\n'.join(lines)))


def section(item, records):
    used = [r for r in item.records(records) if 'report' in r]
    shown = item.show(records) if used else []
    parts = ['<section id="%s">' % item.name, '<h2>%s</h2>' % words(item.text['title']), paragraph(words(item.text['paper']))]
    if shown:
        parts += [*shown, paragraph(words(item.text['difference'])), commands(used)]
    else:
        parts.append(paragraph('Not run yet: it needs %s.' % words(item.text['needs'])))
    return '\n'.join(parts + ['</section>'])


def body(items, records, introduction):
    made = ['<li>%s: <code>%s</code>, %s, version %s</li>' % tuple(words(text) for text in (h['machine']['name'], h['command'], h['date'],
            h['version'])) for h in records.headers]
    parts = ['<div class="paper">', '<style>%s</style>' % STYLE, *introduction, '<ul>%s</ul>' % '\n'.join(made)]
    return '\n'.join(parts + [section(item, records) for item in items] + ['</div>'])


def document(content):
    title = 'vpatchdg beside the paper'
    head = '<head><meta charset="utf-8"><title>%s</title>\n<style>%s</style></head>' % (title, BODY)
    return '<!DOCTYPE html>\n<html lang="en">%s\n<body>\n<h1>%s</h1>\n%s\n</body></html>\n' % (head, title, content)

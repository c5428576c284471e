"""The items of the page. An item says what the paper shows, what is run, and shows what the records hold of it."""
import configparser
import os

import drawings
import iterations
import scaling
import speed
from machine import HERE


class Item:
    """name: for --only and in texts.ini. runs(machine, most): what is run; kinds: what it reads of the records. show(records): parts of the
    page. text: title, paper, difference, needs of texts.ini"""

    def __init__(self, text, name, runs, kinds, show):
        self.text, self.name, self.runs, self.kinds, self.show = text, name, runs, kinds, show

    def records(self, records):
        return [r for kind, facts in self.kinds for r in records.of(kind, **facts)]


def texts():
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(os.path.join(HERE, 'texts.ini'), encoding='utf-8')
    return parser


def every():
    text = texts()
    return [Item(text[entry['name']], **entry) for module in (drawings, iterations, speed, scaling) for entry in module.ITEMS]

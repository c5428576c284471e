"""The items of the page. An item says what the paper shows, what is run, and shows what the records hold of it."""
import drawings
import iterations
import scaling
import speed


class Item:
    """name: for --only. paper: what the paper shows there. runs(machine, most): what is run; kinds: what it reads of the records.
    show(records): parts of the page. difference: why ours differs. needs: what it cannot be run without"""

    def __init__(self, name, title, paper, runs, kinds, show, difference, needs='a run'):
        self.name, self.title, self.paper, self.runs, self.kinds = name, title, paper, runs, kinds
        self.show, self.difference, self.needs = show, difference, needs

    def records(self, records):
        return [r for kind, facts in self.kinds for r in records.of(kind, **facts)]


def every():
    return [Item(**entry) for module in (drawings, iterations, speed, scaling) for entry in module.ITEMS]

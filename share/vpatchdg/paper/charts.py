"""Curves as SVG, on both axes logarithmic or not, with Picture of share/doc/pictures.py."""
import math
import os
import sys

from machine import HERE

sys.path.append(os.path.join(HERE, '..', '..', 'doc'))
from pictures import COLOURS, GREY, INK, LIGHT, Picture  # noqa: E402

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 430, 330, 62, 34, 190, 48
MORE = (*COLOURS, '#7f6a4a', '#c0392b', '#5c7cfa', '#00a6a6')


class Axis:
    """Numbers to places between two ends. Few whole numbers, degrees say, have ticks of their own; a linear axis begins with 0 else."""

    def __init__(self, values, ends, log):
        self.log, self.ends = log, ends
        self.whole = not log and all(isinstance(value, int) for value in values) and sorted(set(values))
        low, high = min(values), max(values)
        if log:
            low, high = math.log10(low), math.log10(high)
        elif not self.whole:
            low = min(low, 0)
        room = (high - low) * 0.05 or 0.5
        self.low, self.high = low - room * (log or bool(self.whole)), high + room

    def at(self, value):
        part = ((math.log10(value) if self.log else value) - self.low) / (self.high - self.low)
        return self.ends[0] + part * (self.ends[1] - self.ends[0])

    def ticks(self):
        if self.whole:
            return self.whole
        if self.log:
            powers = range(math.floor(self.low), math.ceil(self.high) + 1)
            steps = (1, 2, 5) if self.high - self.low < 2.5 else (1,)
            found = [step * 10.0**power for power in powers for step in steps]
            return [tick for tick in found if self.low <= math.log10(tick) <= self.high]
        step = 10**math.floor(math.log10(self.high - self.low))
        step = next(s for s in (step / 5, step / 2, step, 2 * step) if (self.high - self.low) / s <= 7)
        return [i * step for i in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]


def short(value):
    for least, sign in ((1e9, 'G'), (1e6, 'M'), (1e3, 'k')):
        if value >= least:
            return '%g%s' % (value / least, sign)
    return '%g' % float('%.6g' % value)


def chart(title, xlabel, ylabel, series, logs=(False, False)):
    """series: (name, points) or (name, points, True) for a dashed line in the colour of the one before"""
    series = [s for s in series if s[1]]
    picture = Picture(WIDTH + RIGHT, HEIGHT)
    every = [point for s in series for point in s[1]]
    x = Axis([p[0] for p in every], (LEFT, WIDTH), logs[0])
    y = Axis([p[1] for p in every], (HEIGHT - BOTTOM, TOP), logs[1])
    for tick in x.ticks():
        picture.line([(x.at(tick), TOP), (x.at(tick), HEIGHT - BOTTOM)], LIGHT, 1)
        picture.text(x.at(tick), HEIGHT - BOTTOM + 16, short(tick), 11, fill=GREY)
    for tick in y.ticks():
        picture.line([(LEFT, y.at(tick)), (WIDTH, y.at(tick))], LIGHT, 1)
        picture.text(LEFT - 6, y.at(tick) + 4, short(tick), 11, 'end', GREY)
    picture.rect(LEFT, TOP, WIDTH - LEFT, HEIGHT - BOTTOM - TOP, 'none', GREY)
    picture.text(LEFT, TOP - 14, title, 13, 'start')
    picture.text((LEFT + WIDTH) / 2, HEIGHT - 12, xlabel, 12, fill=INK)
    picture.text(LEFT, TOP - 2, ylabel, 11, 'start', GREY)
    number = -1
    for name, points, *dashed in series:
        number += not dashed
        colour = MORE[number % len(MORE)]
        picture.line([(x.at(a), y.at(b)) for a, b in points], colour, 1.2 if dashed else 2, '4 4' if dashed else '')
        if not dashed:
            for a, b in points:
                picture.dot(x.at(a), y.at(b), 3, colour)
            picture.line([(WIDTH + 12, TOP + 8 + 17 * number), (WIDTH + 30, TOP + 8 + 17 * number)], colour, 2)
            picture.text(WIDTH + 35, TOP + 12 + 17 * number, name, 11, 'start')
    return picture

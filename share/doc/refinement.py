#!/usr/bin/env -S python3 -B
"""refinement.py [PROGRAM]: errors of build/bin/adapt, or of this PROGRAM, on meshes refined where the error seems large and on uniform ones, into
refinement.json, which pictures.py draws."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DEGREES, MOST = (2, 3, 4), 20000


def errors(program, degree, *options):
    """of grad u, with the unknowns of every step"""
    command = [program, '-tolerance', '1e-9', '-most', str(MOST), '-dm_vpatchdg_degree', str(degree), *options]
    rows = [line.split() for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()]
    return [(int(row[2]), float(row[5])) for row in rows if row and row[0].isdigit()]


def main(program):
    curves = {}
    for degree in DEGREES:
        curves[f'degree {degree}'] = errors(program, degree)
        curves[f'degree {degree}, uniform'] = errors(program, degree, '-uniform')
    with open(os.path.join(HERE, 'refinement.json'), 'w', encoding='utf-8') as f:
        json.dump(curves, f)
    for name, points in curves.items():
        print(f'{name}: {points[-1][0]} unknowns, {points[-1][1]:.1e}')


if __name__ == '__main__':
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, '..', '..', 'build', 'bin', 'adapt'))

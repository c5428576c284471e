"""notebook.py FILE.ipynb: runs the code cells of a notebook one after the other, as Jupyter does, without its commands (%...)."""
import json
import os
import sys

os.environ.setdefault('MPLBACKEND', 'Agg')
with open(sys.argv[1], encoding='utf-8') as file:
    cells = [cell for cell in json.load(file)['cells'] if cell['cell_type'] == 'code']
names = {'__name__': '__main__'}
for number, cell in enumerate(cells, 1):
    source = ''.join(line for line in cell['source'] if not line.startswith('%'))
    exec(compile(source, f'{sys.argv[1]}, code cell {number}', 'exec'), names)
print(f'{len(cells)} cells')

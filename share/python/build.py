"""The build of the Python package, as pip asks for it (PEP 517), with Python's standard library alone: `make` builds libvpatchdg.so with petsc4py's
PETSc, and the package and that library become a wheel.

  CUDA=0 pip install .                        variables of make, in the environment
  pip install . --config-settings=CUDA=0      or so
  python3 build.py FOLDER LIBRARY           writes a wheel with that library (make wheel)
"""
import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

TOP = Path(__file__).absolute().parents[2]
NAME = 'vpatchdg'
SUMMARY = 'Discontinuous Galerkin methods on boxes with vertex-patch multigrid, for PETSc'


def version():
    return re.search(r'VPATCHDG_VERSION "(.*)"', (TOP / 'include/vpatchdg.h').read_text())[1]


def petsc():
    """PETSC_DIR and PETSC_ARCH: those given, else petsc4py's. pip hides petsc4py from this process, but not from another one."""
    if os.environ.get('PETSC_DIR'):
        return {}
    ask = 'import json, petsc4py; print(json.dumps(petsc4py.get_config()))'
    said = subprocess.run([sys.executable, '-I', '-c', ask], capture_output=True, text=True)
    found = json.loads(said.stdout) if said.returncode == 0 else {}
    return {key: found[key] for key in ('PETSC_DIR', 'PETSC_ARCH') if found.get(key)}


def terminal():
    """Where progress is shown: the terminal of whoever waits, since pip shows what a build prints only after it failed, or with -v. None if there is none."""
    try:
        return None if sys.stdout.isatty() else open('/dev/tty', 'w')
    except OSError:
        return None


def show(screen, line):
    """A step of make, "CC file", replaces the last one. The blank at its end is where pip's spinner turns."""
    step = line.startswith(('CC ', 'NVCC ', 'LD ', 'AR '))
    screen.write('\r\033[K' + (line.rstrip() + ' ' if step else '\n' + line if line.startswith('#') else ''))
    screen.flush()


def run_make(variables, target):
    command = [os.environ.get('MAKE', 'make'), '-C', str(TOP), '--no-print-directory', f'-j{os.cpu_count()}', *(f'{key}={value}' for key, value in variables.items())]
    screen = terminal()
    with subprocess.Popen([*command, target], stdout=subprocess.PIPE, text=True, env={**os.environ, **petsc()}) as process:
        for line in process.stdout:
            print(line, end='', flush=True)
            if screen:
                show(screen, line)
    if screen:
        show(screen, '')
        screen.close()
    if process.returncode:
        sys.exit(f'vpatchdg: make failed: {" ".join(command)} {target}')


def build_folder(settings):
    """That of `make`, which has compiled there what is needed, unless with another PETSc or other flags; then one of its own."""
    mine, made = 'build/python', TOP / 'build/config.mk'
    if not made.exists():
        return 'build'
    run_make({**settings, 'BUILD': mine, 'CUDA': 0, 'NCCL': 0}, f'{mine}/config.mk')
    return 'build' if (TOP / mine / 'config.mk').read_text() == made.read_text() else mine


def make(settings):
    """The library, made with these variables of make."""
    settings = dict(settings or {})
    settings['BUILD'] = settings.get('BUILD') or build_folder(settings)
    library = f'{settings["BUILD"]}/lib/libvpatchdg.so'
    run_make(settings, library)
    return TOP / library


def metadata():
    """petsc4py is not among what is required: which one fits is the user's choice, and pip would build another PETSc for it."""
    return (f'Metadata-Version: 2.1\nName: {NAME}\nVersion: {version()}\nSummary: {SUMMARY}\nLicense: BSD-2-Clause\n'
            f'Requires-Python: >=3.9\nRequires-Dist: numpy\n')


def tag():
    return f'py3-none-{re.sub("[^A-Za-z0-9]", "_", sysconfig.get_platform())}'


def wheel_file():
    return f'Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: false\nTag: {tag()}\n'


class Wheel:
    """A wheel: files, and the list of them with their hashes."""

    def __init__(self, folder):
        self.info = f'{NAME}-{version()}.dist-info'
        self.path = Path(folder) / f'{NAME}-{version()}-{tag()}.whl'
        self.record = ''

    def __enter__(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.archive = zipfile.ZipFile(self.path, 'w', zipfile.ZIP_DEFLATED)
        return self

    def add(self, name, content):
        entry = zipfile.ZipInfo(name)  # of 1980, so that the same files make the same wheel
        entry.external_attr, entry.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
        self.archive.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()
        self.record += f'{name},sha256={digest},{len(content)}\n'

    def __exit__(self, *failure):
        self.add(f'{self.info}/METADATA', metadata().encode())
        self.add(f'{self.info}/WHEEL', wheel_file().encode())
        self.archive.writestr(f'{self.info}/RECORD', f'{self.record}{self.info}/RECORD,,\n')
        self.archive.close()


def pack(folder, library):
    """The wheel of the package with that library. Returns its path."""
    with Wheel(folder) as wheel:
        for source in sorted((TOP / 'share/python' / NAME).glob('*.py')):
            wheel.add(f'{NAME}/{source.name}', source.read_bytes())
        wheel.add(f'{NAME}/py.typed', b'')
        wheel.add(f'{NAME}/libvpatchdg.so', Path(library).read_bytes())
        wheel.add(f'{wheel.info}/LICENSE', (TOP / 'LICENSE').read_bytes())
    return wheel.path


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Without this pip builds the library to find name and version."""
    info = Path(metadata_directory) / f'{NAME}-{version()}.dist-info'
    info.mkdir()
    (info / 'METADATA').write_text(metadata())
    (info / 'WHEEL').write_text(wheel_file())
    return info.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return pack(wheel_directory, make(config_settings)).name


def build_sdist(sdist_directory, config_settings=None):
    base = f'{NAME}-{version()}'
    info = Path(sdist_directory) / 'PKG-INFO'
    info.write_text(metadata())
    with tarfile.open(Path(sdist_directory) / f'{base}.tar.gz', 'w:gz') as archive:
        for name in ('pyproject.toml', 'makefile', 'README.md', 'LICENSE', 'src', 'include', 'cuda', 'examples', 'tests', 'share'):
            archive.add(TOP / name, f'{base}/{name}', filter=lambda entry: None if '__pycache__' in entry.name else entry)
        archive.add(info, f'{base}/PKG-INFO')
    info.unlink()
    return f'{base}.tar.gz'


if __name__ == '__main__':
    print(pack(*sys.argv[1:]))

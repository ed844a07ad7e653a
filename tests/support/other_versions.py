"""Pythons and PySparks that are not this process's, with the package in them."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from clwl_spark.spark.runtime import cache_folder

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements.txt"
_VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"


def python_of(version):
    """A Python of this version: one on PATH, or of pyenv's; None = there is none."""
    installed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for program in filter(None, [shutil.which(f"python{version}"), *map(str, installed)]):
        done = subprocess.run(
            [program, "-c", _VERSION], capture_output=True, text=True, check=False
        )
        if done.stdout.strip() == version:
            return program
    return None


def wheel_of_this(folder):
    """A wheel of this checkout."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def python_with(program, wheel):
    """A Python with the lock's libraries, which are installed once, and a wheel."""
    name = hashlib.sha256(LOCK.read_bytes() + program.encode()).hexdigest()[:12]
    folder = cache_folder(os.environ) / "platforms" / f"python-{name}"
    python, done = folder / "bin" / "python", folder / "installed"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if not done.exists():
        subprocess.run([program, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([*pip, "--require-hashes", "-r", LOCK], check=True)
        done.touch()
    subprocess.run([*pip, "--no-deps", "--force-reinstall", wheel], check=True)
    return python


def pyspark_of(version):
    """A folder with a PySpark and nothing else, for PYTHONPATH; it is fetched once."""
    folder = cache_folder(os.environ) / "platforms" / f"pyspark-{version}"
    if not folder.exists():
        made = folder.with_suffix(".new")
        shutil.rmtree(made, ignore_errors=True)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", made]
        subprocess.run([*pip, f"pyspark=={version}"], check=True)
        made.replace(folder)
    return folder

"""The built distribution: what it holds, and that it works outside a checkout."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_pipeline.store import embedded
from tests.conftest import PROJECT_DIR, SAMPLES_DIR

FOLDERS = ("rag_pipeline", "assets", "resources", "sql", "samples")
FILES = ("pyproject.toml", "README.md", "LICENSE")
OTHERS = ("assets", "resources", "sql")
DATA_SUFFIXES = {".sql", ".toml", ".jinja", ".css", ".js", ".html", ".typed"}
BUILD = "import sys; from setuptools import build_meta as b; getattr(b, sys.argv[1])(sys.argv[2])"


def run(command: list[str], folder: Path, **environment: str) -> str:
    """Run a command without the checkout on its path; return what it printed."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command,
        cwd=folder,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(kind: str, source: Path, target: Path) -> Path:
    run([sys.executable, "-c", BUILD, f"build_{kind}", str(target)], source)
    (built,) = target.glob("*.tar.gz" if kind == "sdist" else "*.whl")
    return built


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a distribution is built from, links kept as links."""
    folder = tmp_path_factory.mktemp("source")
    for name in FOLDERS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PROJECT_DIR / name, folder / name, symlinks=True, ignore=ignored)
    for name in FILES:
        shutil.copy(PROJECT_DIR / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", source, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def fresh_bin(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs of a fresh environment: the wheel, our dependencies, and packages of others.

    A path in a .pth file brings the dependencies without the editable install, since .pth files
    in the folder it names are not read.
    """
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    for name in OTHERS:
        (packages / name).mkdir()
        (packages / name / "__init__.py").write_text(f'OWNER = "someone else\'s {name}"\n')
    python = str(folder / "bin" / "python")
    install = ["pip", "install", "--quiet", "--offline", "--no-deps", "--python", python]
    run([sys.executable, "-m", "uv", *install, str(wheel)], folder)
    return folder / "bin"


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder outside the checkout and pytest's own: Postgres may run under another account."""
    folder = Path(tempfile.mkdtemp(prefix="rag-test-wheel-"))
    folder.chmod(0o755)
    yield folder
    embedded.stop(folder / ".rag")
    shutil.rmtree(folder, ignore_errors=True)


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_owns_one_package_and_holds_its_data(source: Path, wheel: Path) -> None:
    names = names_in(wheel)
    assert {name.split("/")[0] for name in names} == {
        "rag_pipeline",
        "rag_pipeline-0.1.0.dist-info",
    }
    expected = {
        path
        for folder, _, files in os.walk(source / "rag_pipeline", followlinks=True)
        for path in (Path(folder, name).relative_to(source) for name in files)
        if "samples" not in path.parts
        and (path.suffix in DATA_SUFFIXES | {".py"} or path.name.startswith("NOTICE"))
    }
    assert {path.suffix for path in expected} >= DATA_SUFFIXES
    assert {str(path) for path in expected} - names == set()
    samples = {name for name in names if name.startswith("rag_pipeline/samples/")}
    wanted = {*SAMPLES_DIR.glob("*.pdf"), *SAMPLES_DIR.glob("*.json*"), SAMPLES_DIR / ".ragignore"}
    assert samples == {f"rag_pipeline/samples/{path.name}" for path in wanted}


def test_a_wheel_from_the_source_distribution_is_the_same(
    source: Path, wheel: Path, tmp_path: Path
) -> None:
    with tarfile.open(build("sdist", source, tmp_path)) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    assert names_in(build("wheel", unpacked, tmp_path)) == names_in(wheel)


def test_packages_of_the_same_names_are_left_alone(fresh_bin: Path, tmp_path: Path) -> None:
    code = (
        "import assets, resources, sql, rag_pipeline.definitions as ours\n"
        "import rag_pipeline.assets, rag_pipeline.resources, rag_pipeline.sql\n"
        "print(assets.OWNER, resources.OWNER, sql.OWNER, sep='|')\n"
        "print(ours.__file__)\n"
        "print(len(ours.defs.resolve_all_asset_specs()) > 0)"
    )
    owners, file, has_assets = run([str(fresh_bin / "python"), "-c", code], tmp_path).splitlines()
    assert owners == "|".join(f"someone else's {name}" for name in OTHERS)
    assert Path(file).is_relative_to(fresh_bin.parent)
    assert has_assets == "True"
    module = [str(fresh_bin / "python"), "-m", "rag_pipeline.cli", "--help"]
    assert "search" in run(module, tmp_path)


def test_the_demonstration_runs_outside_a_checkout(fresh_bin: Path, outside: Path) -> None:
    rag, home = str(fresh_bin / "rag"), str(outside)
    printed = run([rag, "demo"], outside, RAG_HOME=home, COLUMNS="200")
    assert "service-manual-en.pdf" in printed
    assert "service-manual-ko.pdf" in printed
    assert "E-07" in printed
    assert "some documents failed" not in printed
    assert "4 of 4 documents ready, 63 pages" in run([rag, "status"], outside, RAG_HOME=home)

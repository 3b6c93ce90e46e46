"""The notebooks run, and make pictures."""

import base64
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).parent.parent / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))

EXECUTE = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(
    notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": sys.argv[2]}}
).execute()
nbformat.write(notebook, sys.argv[3])
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A process for each notebook, all side by side, and the files that they write."""
    folder = tmp_path_factory.mktemp("notebooks")
    processes = {}
    for name in NAMES:
        written = folder / f"{name}.ipynb"
        command = [sys.executable, "-c", EXECUTE, FOLDER / f"{name}.ipynb", FOLDER, written]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        processes[name] = (process, written)
    yield processes
    for process, _ in processes.values():
        if process.poll() is None:
            process.kill()
            process.communicate()


def outputs(notebook):
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def test_all_are_there():
    assert NAMES == ["kmeans", "mandelbrot", "sobel"]


@pytest.mark.parametrize("name", NAMES)
def test_notebook(running, name):
    process, written = running[name]
    printed, _ = process.communicate()
    assert process.returncode == 0, printed
    notebook = nbformat.read(written, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    found = outputs(notebook)
    pictures = [output["data"]["image/png"] for output in found if "image/png" in output.get("data", {})]
    pictures = [base64.b64decode(picture) for picture in pictures]
    assert pictures and all(picture[:8] == b"\x89PNG\r\n\x1a\n" for picture in pictures)
    assert all(1000 < len(picture) < 200_000 for picture in pictures)
    assert not any(output.get("name") == "stderr" for output in found)


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_are_kept_without_outputs(name):
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    assert outputs(notebook) == []

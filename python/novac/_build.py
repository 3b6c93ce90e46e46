"""Packages of compiled programs, which need no compiler of NOVA."""

from __future__ import annotations

import importlib.util
import json
import keyword
import os
import pprint
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import _novac
from ._compile import identifier, settings, signature_of
from ._errors import CompileWarning, ToolchainError, UnsupportedError

_TARGETS = ("seq", "pthreads")

_MARK = "Made by novac.build"
"""What stands in the first line of each package."""

_COPIED = ("_arrays.py", "_calls.py", "_errors.py", "_values.py")
"""The modules that a package shares with this one."""

_OWN_NAMES = ("Error", "ExecutionError", "MemoryExhausted", "Nested", "_entries", "_native", "_calls", "_program")


def build(
    program: str | os.PathLike,
    *,
    name: str | None = None,
    directory: str | os.PathLike = ".",
    target: str = "seq",
    optimization: int = 2,
    strict: bool = False,
    disabled: Iterable[str] = (),
    link: Iterable[str | os.PathLike] = (),
    folder: str | os.PathLike | None = None,
    flags: Iterable[str] = (),
) -> Path:
    """Writes a package with the entries of a program as functions, and returns its folder.

    The package is an extension in C. It needs NumPy and cffi, but not novac. `import NAME` finds it where
    `directory` is on the path of Python. `pip install` of the folder compiles its C anew, on any machine.

    program: the text of a program, or a path. A text that ends in `.nova` is a path.
    name: the name of the package, by default that of the file.
    directory: the folder that the package's folder is made in. A package that was made before is replaced.
    target: `seq` or `pthreads`.
    link: C sources with the program's foreign functions. They are copied.
    flags: further flags of the C compiler, such as `-march=native`.
    optimization, strict, disabled, folder: as in `compile`.

    Raises CompileError for a program with errors, UnsupportedError for an entry whose values have no form in a
    package, such as sums, and ToolchainError without cffi, setuptools or a C compiler.
    """
    if target not in _TARGETS:
        raise ValueError(f"a package is for the targets {' and '.join(_TARGETS)}, not {target!r}")
    options = settings(program, None, folder, target, optimization, strict, disabled)
    name = identifier(options.name, set()) if name is None else name
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"a package needs a name that Python can import, and {name!r} is none: pass name=…")
    if options.text is not None:
        options.name = name
    sources = [Path(path) for path in link]
    for path in sources:
        if path.suffix != ".c":
            raise ValueError(f"a package is compiled from C sources (.c), and {path} is none")
        if not path.exists():
            raise FileNotFoundError(f"there is no file {path}")
    missing = [module for module in ("cffi", "setuptools") if importlib.util.find_spec(module) is None]
    if missing:
        raise ToolchainError(f"novac.build needs {' and '.join(missing)}: pip install 'novac[build]'")
    made = Path(directory) / name
    _check_place(made)
    generated = _novac.generate(options)
    for text, _ in generated.warnings:
        warnings.warn(text, CompileWarning, stacklevel=2)
    manifest = json.loads(generated.manifest)
    if manifest["foreign"] and not sources:
        named = ", ".join(function["name"] for function in manifest["foreign"])
        raise UnsupportedError(f"the program has foreign functions ({named}): pass their C sources as link=[…]")
    made.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=made.parent) as temporary:
        work = Path(temporary) / name
        work.mkdir()
        _write(work, name, options, generated, manifest, sources, list(flags))
        _compile(work, Path(temporary) / "build")
        if made.exists():
            shutil.rmtree(made)
        work.rename(made)
    return made


def _check_place(made: Path) -> None:
    """Raises FileExistsError where something else than a package of this function would be replaced."""
    if not made.exists():
        return
    first = made / "__init__.py"
    if not (first.is_file() and _MARK in first.read_text(encoding="utf-8").partition("\n")[0]):
        raise FileExistsError(f"{made} is there, and novac.build has not made it: choose another name or directory")


def _write(
    work: Path, name: str, options: Any, generated: Any, manifest: dict, link: list[Path], flags: list[str]
) -> None:
    """Writes all files of a package but the extension."""
    here = Path(__file__).parent
    for module in _COPIED:
        shutil.copyfile(here / module, work / module)
    for path in link:
        shutil.copyfile(path, work / path.name)
    files = {
        manifest["header"]: generated.header,
        manifest["source"]: generated.source,
        "__init__.py": _module(generated, manifest),
        "_program.py": _tables(generated),
        "interface.py": _interface(name, options, manifest, link, flags),
        "setup.py": 'from setuptools import setup\n\nsetup(cffi_modules=["interface.py:builder"])\n',
        "MANIFEST.in": "include *.c *.h *.py\n",
        "pyproject.toml": _PROJECT.format(name=name, version=_novac.__version__),
    }
    for file, text in files.items():
        (work / file).write_text(text, encoding="utf-8")


_PROJECT = """\
[build-system]
requires = ["setuptools>=70.1", "cffi>=1.15"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "{version}"
requires-python = ">=3.10"
dependencies = ["numpy>=1.23", "cffi>=1.15"]

[tool.setuptools]
packages = ["{name}"]
package-dir = {{ "{name}" = "." }}
"""


def _module(generated: Any, manifest: dict) -> str:
    """Returns the text of `__init__.py`: a function for each entry."""
    taken = set(_OWN_NAMES)
    entries, functions, names = [], [], []
    for position, (entry, described) in enumerate(zip(manifest["entries"], generated.entries)):
        documentation, inputs, (_, result, form) = described
        listed = ", ".join(f"({n!r}, {text!r}, {json.loads(f)})" for n, text, f in inputs)
        entries.append(
            f"    _program.entry({entry['name']!r}, {entry['symbol']!r}, [{listed}], ({result!r}, {json.loads(form)})),\n"
        )
        called = identifier(entry["name"], taken)
        names.append(called)
        within = {"out", "cast"}
        parameters = [(identifier(n, within), text) for n, text, _ in inputs]
        typed = "".join(f"{parameter}: {text!r}, " for parameter, text in parameters)
        passed = "".join(f"{parameter}, " for parameter, _ in parameters)
        signature = signature_of(entry["name"], [text for _, text, _ in inputs], result)
        text = "\n\n".join(part for part in [documentation, signature] if part)
        functions.append(
            f"\n\ndef {called}({typed}*, out=None, cast=False) -> {result!r}:\n"
            f"    {_quoted(text)}\n    return _entries[{position}](({passed}), out, cast)\n"
        )
    exported = [*names, "Error", "ExecutionError", "MemoryExhausted", "Nested"]
    return (
        f'"""The entries of {_escaped(manifest["program"])}.nova as functions of NumPy arrays. {_MARK}.\n\n'
        "Each function takes `out`, an array for its result, and `cast`. With `cast=True` arrays of another type or\n"
        'order are converted; otherwise they are errors.\n"""\n\n'
        "from . import _calls, _native\n"
        "from ._errors import Error, ExecutionError, MemoryExhausted\n"
        "from ._program import KINDS, SOURCES\n"
        "from ._values import Nested\n\n"
        f"__all__ = {exported!r}\n\n"
        "_program = _calls.Program(_native.ffi, _native.lib, SOURCES, KINDS)\n"
        "_entries = [\n" + "".join(entries) + "]\n" + "".join(functions)
    )


def _quoted(text: str) -> str:
    """Returns a text as a string of Python over several lines."""
    return '"""' + re.sub("\n(?=.)", "\n    ", _escaped(text)) + '"""'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _tables(generated: Any) -> str:
    """Returns the text of the module with the sources, for messages, and with the kinds of run-time errors."""
    sources: dict[str, str] = {}
    for path, text in generated.sources:
        if text:
            sources.setdefault(path.rpartition("/")[2], text)
    return (
        '"""The sources of the program, and the messages of run-time errors."""\n\n'
        f"SOURCES = {pprint.pformat(sources, sort_dicts=False)}\n\n"
        f"KINDS = {pprint.pformat(dict(generated.kinds), sort_dicts=False)}\n"
    )


def _interface(name: str, options: Any, manifest: dict, link: list[Path], flags: list[str]) -> str:
    """Returns the text of the module that describes the C to cffi."""
    level = ["-O" + str(options.optimization)]
    if options.optimization >= 2:
        # Loops are written for vectorisation, which some compilers restrict at this level.
        level.append("-ftree-vectorize")
    if options.strict:
        level.append("-ffp-contract=off")
    compiled = ["-std=c11", *level, "-w", "-fvisibility=hidden"]
    threads = ["-pthread"] if options.target == "pthreads" else []
    preamble = f'#include <stdlib.h>\n#include "{manifest["header"]}"\n'
    sources = [manifest["source"], *(path.name for path in link)]
    return (
        '"""Describes the C of this package to cffi."""\n\n'
        "from cffi import FFI\n\n"
        f'builder = FFI()\nbuilder.cdef("""\n{_declarations(manifest)}""")\n'
        "builder.set_source(\n"
        f"    {name + '._native'!r},\n"
        f"    {preamble!r},\n"
        f"    sources={sources!r},\n"
        '    include_dirs=["."],\n'
        f"    extra_compile_args={compiled + threads + flags!r},\n"
        f"    extra_link_args={threads!r},\n"
        '    libraries=["m"],\n'
        ")\n"
    )


def _declarations(manifest: dict) -> str:
    """Returns the declarations of the entries, and of the structures that they use."""
    functions, wanted = [], set()
    for entry in manifest["entries"]:
        parameters = list(entry["result"]["parameters"])
        for given in entry["inputs"]:
            parameters += given["parameters"]
        types = [parameter["type"] for parameter in parameters]
        wanted.update(_structures(types))
        functions.append(f"int {entry['symbol']}({', '.join(types) or 'void'});\n")
        functions.append(f"const char *{entry['error']}(void);\n")
    structures = []
    # A structure comes after those that it contains.
    for structure in reversed(manifest["types"]):
        if structure["name"] in wanted:
            fields = structure["fields"]
            wanted.update(_structures([field["type"] for field in fields]))
            members = "".join(f" {field['type']} {field['name']};" for field in fields)
            structures.append(f"typedef struct {structure['name']} {{{members} }} {structure['name']};\n")
    return "".join([*reversed(structures), *functions, "void free(void *);\n"])


def _structures(types: list[str]) -> set[str]:
    return {name for text in types for name in re.findall(r"\bnova_\w+", text)}


def _compile(work: Path, temporary: Path) -> None:
    """Builds the extension in its folder, as pip does elsewhere."""
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace", "--build-temp", str(temporary.absolute())]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise ToolchainError(f"the C compiler failed\n{(done.stderr or done.stdout).strip()}")
    for rest in ("build", "__pycache__"):
        shutil.rmtree(work / rest, ignore_errors=True)

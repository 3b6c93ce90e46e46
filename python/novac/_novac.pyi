"""The native module. The package `novac` is what to use."""

from pathlib import Path
from typing import Any

__version__: str

class Memory:
    """Memory that a program allocated."""

class Program:
    def entries(self) -> list[tuple[str, list[tuple[str, str]], str, str]]: ...
    def call(self, position: int, arguments: tuple, out: Any, cast: bool) -> Any: ...

def compile(settings: Any, link: list[Path]) -> tuple[Program, list[tuple[str, str]]]: ...

class Generated:
    """The C of a program, and what calls it needs."""

    header: str
    source: str
    manifest: str
    entries: list[tuple[str, list[tuple[str, str, str]], tuple[str, str, str]]]
    sources: list[tuple[str, str]]
    kinds: list[tuple[str, str]]
    warnings: list[tuple[str, str]]

def generate(settings: Any) -> Generated: ...

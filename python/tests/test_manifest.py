"""Manifests of all examples against the schema in the documentation, for each target."""

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

ROOT = Path(__file__).resolve().parents[2]
NOVAC = Path(os.environ.get("NOVAC", ROOT / "target/debug/novac"))
PROGRAMS = sorted([*ROOT.glob("nova-examples/*/*.nova"), *ROOT.glob("tests/classes/*.nova")])


def forms(part):
    """Yields the types as data in a part of a manifest."""
    if isinstance(part, dict):
        if "kind" in part and "parameters" not in part:
            yield part
        for inner in part.values():
            yield from forms(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from forms(inner)


@pytest.mark.skipif(not NOVAC.exists(), reason=f"there is no {NOVAC}; NOVAC names another")
@pytest.mark.parametrize("target", ["seq", "cuda"])
def test_manifests_have_their_schema(target, tmp_path):
    schema = json.loads((ROOT / "docs/manifest.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    kinds, checked = set(), 0

    def is_compiled(program):
        command = [NOVAC, "--manifest", "--target", target, "-o", tmp_path, program]
        return subprocess.run(command, capture_output=True).returncode == 0

    with ThreadPoolExecutor() as pool:
        compiled = list(pool.map(is_compiled, PROGRAMS))
    for program, is_there in zip(PROGRAMS, compiled):
        if not is_there:
            continue  # A strategy that this target cannot honour.
        manifest = json.loads((tmp_path / f"{program.stem}.json").read_text())
        assert [error.message for error in validator.iter_errors(manifest)] == [], program
        assert manifest["target"] == target
        structures = {structure["name"] for structure in manifest["types"]}
        for form in forms(manifest["entries"]):
            kinds.add(form["kind"])
            assert form.get("structure") is None or form["structure"] in structures, program
            assert ("structure" in form) == (form["kind"] in ("sum", "data")), program
        checked += 1
    assert checked > 0.9 * len(PROGRAMS)
    assert kinds >= {"scalar", "tuple", "vector", "array", "sum", "data"}

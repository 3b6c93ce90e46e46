"""The benchmark of the applications: all peers that are installed agree with the interpreter, on tiny inputs."""

import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).resolve().parents[1] / "benchmarks" / "applications.py"


def test_peers_agree_with_the_interpreter():
    run = subprocess.run(
        [sys.executable, BENCHMARK, "--check", "--target", "eval"], capture_output=True, text=True, timeout=1800
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "skipped: numpy" not in run.stdout and "covariance" in run.stdout

"""Compares programs of `nova-examples/applications` with what users of Python would take instead.

NOVA's side is the program itself, as `novac.compile` loads it. The peers are in the folder `peers`, one file for
each library: NumPy and SciPy, Numba, JAX, Taichi, Halide, DaCe. A library that is not installed, or has no form of
a program, is skipped. All sides run in turn, in one process, with the same number of threads, on the same data in
the layout that each likes best. Each result is compared with NOVA's before anything is timed.

The table has the median time of each side in milliseconds, the ratio of NOVA's time to that of the best peer (the
median over the rounds, with quartiles), and the seconds from the first call of each side to its result,
compilation included.

    pip install scipy threadpoolctl numba jax
    python python/benchmarks/applications.py [--rounds 11] [--small] [--json FILE] [PROGRAMS]

The status is 1 if a side fails or returns another result. `--check` only compares results, on tiny inputs.
"""

import argparse
import importlib
import json
import os
import pathlib
import platform
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE.parents[1] / "nova-examples" / "applications"
PEERS = {
    "numpy": "with_numpy",
    "numba": "with_numba",
    "jax": "with_jax",
    "taichi": "with_taichi",
    "halide": "with_halide",
    "dace": "with_dace",
}
"""The peers' libraries, and the module of each in `peers`."""

WARM_UP = 0.05
"""The seconds for which a side runs before it is timed: threads of others that wait awake fall asleep meanwhile."""

LONG = 0.2
"""A call of so many seconds needs no other one before it."""

SHORT = 0.01
"""Calls are repeated until so many seconds have passed."""

# NumPy and all that uses it are imported in functions, when the process has its number of threads.


def prepare_process(threads):
    """Sets the number of threads of all libraries, before they are imported, and how memory is kept."""
    processors = sorted(os.sched_getaffinity(0))[:threads]
    os.sched_setaffinity(0, processors)
    for variable in ["NOVA_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"]:
        os.environ[variable] = str(threads)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    keep_memory()


def keep_memory():
    """Lets the process keep memory that is freed, so that no side waits for new pages of the system."""
    import ctypes

    trim_threshold, mmap_threshold, all_ = -1, -3, 1 << 30
    c = ctypes.CDLL(None)
    if hasattr(c, "mallopt"):
        c.mallopt(mmap_threshold, all_)
        c.mallopt(trim_threshold, all_)


def keep_denormals():
    """Undoes that a library, once loaded, lets the process flush denormal numbers, which would help all sides."""
    import ctypes

    c = ctypes.CDLL("libm.so.6") if sys.platform == "linux" else None
    if c is not None and platform.machine() == "x86_64":
        default = ctypes.c_void_p(-1)
        c.fesetenv(default)


def peers():
    """Returns the modules of the peers that can be imported, and why the others cannot."""
    sys.path.insert(0, str(HERE / "peers"))
    found, skipped = {}, {}
    for name, module in PEERS.items():
        try:
            found[name] = importlib.import_module(module)
        except ImportError as error:
            skipped[name] = str(error)
    keep_denormals()
    return found, skipped


def flat(result):
    """Returns the numbers of a result as arrays of one dimension, so that results of all forms compare."""
    import numpy as np

    if isinstance(result, (tuple, list)):
        return [array for part in result for array in flat(part)]
    if hasattr(result, "offsets"):  # A nested vector of NOVA's.
        return flat(result.data)
    array = np.asarray(result)
    if array.dtype.names:
        columns = [array[name] for name in array.dtype.names]
        # Columns of one type are the rows of a peer's array.
        return flat(np.stack(columns) if len({column.dtype for column in columns}) == 1 else columns)
    return [array.ravel()]


def compare(found, expected, tolerance):
    """Raises ValueError for a result that differs from NOVA's. Floats differ by a part of the largest."""
    import numpy as np

    found, expected = flat(found), flat(expected)
    if len(found) != len(expected):
        raise ValueError(f"{len(found)} arrays instead of {len(expected)}")
    for part, (a, b) in enumerate(zip(found, expected)):
        if a.size != b.size:
            raise ValueError(f"part {part}: {a.size} elements instead of {b.size}")
        a, b = a.astype(np.float64), b.astype(np.float64)
        allowed = tolerance.relative * np.abs(b).max(initial=0)
        wrong = int(np.count_nonzero(~(np.abs(a - b) <= allowed)))
        if wrong > tolerance.outliers * b.size:
            at = int(np.argmax(~(np.abs(a - b) <= allowed)))
            raise ValueError(f"part {part}: {wrong} of {b.size} differ, the first at {at}: {a[at]} instead of {b[at]}")


def sides(name, application, given, modules, target="pthreads"):
    """Returns a call without arguments for each side that has the program."""
    import inputs
    import novac

    program = novac.compile(PROGRAMS / f"{name}.nova", target=target)
    own = {key: inputs.as_nova(key, value, application) for key, value in given.items()}
    calls = {"nova": lambda: program(**own)}
    for side, module in modules.items():
        function = module.SIDES.get(name)
        if function is not None:
            calls[side] = module.prepare(function, given)
    return calls


def timed(call):
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def time_of(call):
    """Returns the seconds of a call: after calls that are not timed, the mean of short calls."""
    begin = time.perf_counter()
    while time.perf_counter() - begin < WARM_UP:
        seconds, _ = timed(call)
        if seconds > LONG:
            return seconds
    count, total = 0, 0.0
    while total < SHORT:
        seconds, _ = timed(call)
        count, total = count + 1, total + seconds
    return total / count


def measure(name, size, rounds, modules, target):
    """Returns the first and all later times in seconds, by side, and the errors of sides that were left out."""
    import inputs

    application = inputs.APPLICATIONS[name]
    given = inputs.draw(name, size)
    start = time.perf_counter()
    calls = sides(name, application, given, modules, target)
    compiled = time.perf_counter() - start
    first, errors, expected = {}, {}, None
    for side in list(calls):
        try:
            first[side], result = timed(calls[side])
            if side == "nova":
                first[side] += compiled
                expected = result
            else:
                compare(result, expected, application.tolerance)
        except Exception as error:  # A peer that fails is reported, and the others go on.
            if side == "nova":
                raise
            errors[side] = f"{type(error).__name__}: {error}"
            del calls[side]
        result = None
    expected = None
    keep_denormals()
    times = {side: [] for side in calls}
    order = list(calls)
    for _ in range(rounds):
        for side in order:
            times[side].append(time_of(calls[side]))
        order = order[1:] + order[:1]
    return {"size": size, "first_s": first, "times_s": times, "errors": errors}


def summary(times):
    """Returns the best peer, and the quartiles of NOVA's time over that of the peer in the same round."""
    best = min((side for side in times if side != "nova"), key=lambda side: statistics.median(times[side]))
    ratios = [nova / peer for nova, peer in zip(times["nova"], times[best])]
    return best, statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3


def row(name, found, order):
    """Returns a line of the table, and the ratio to the best peer if there is one."""
    times, first = found["times_s"], found["first_s"]
    line = f"{name:16}{found['size']:>9}"
    for side in order:
        line += f"{1000 * statistics.median(times[side]):10.2f}" if side in times else f"{'–':>10}"
    ratio = None
    if len(times) > 1:
        best, (low, ratio, high) = summary(times)
        found["best"], found["ratio"] = best, ratio
        line += f"{ratio:7.2f} ({low:.2f}–{high:.2f}) {best:7}"
    return line + "".join(f"{first[side]:11.2f}" if side in first else f"{'–':>11}" for side in order), ratio


def processor():
    with open("/proc/cpuinfo") as lines:
        return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--target", default="pthreads", help="the target of NOVA's side; `eval` needs no C compiler")
    parser.add_argument("--small", action="store_true", help="the smaller size of each program")
    parser.add_argument("--check", action="store_true", help="only compares the results, on tiny inputs")
    parser.add_argument("--without", action="append", default=[], choices=list(PEERS), help="a peer to leave out")
    parser.add_argument("--json")
    return parser.parse_args()


def main():
    chosen = options()
    cache = tempfile.TemporaryDirectory()
    os.environ["NOVA_CACHE"] = cache.name  # First calls compile, whatever earlier runs have left.
    prepare_process(chosen.threads)
    import inputs

    unknown = set(chosen.programs) - set(inputs.APPLICATIONS)
    if unknown:
        sys.exit(f"no program {', '.join(sorted(unknown))}; there are {', '.join(inputs.APPLICATIONS)}")
    for side in chosen.without:
        del PEERS[side]
    modules, skipped = peers()
    versions = {side: module.VERSION for side, module in modules.items()}
    named = ", ".join(f"{side} {version}" for side, version in versions.items())
    print(f"{processor()}; Python {platform.python_version()}, {named}; {chosen.threads} threads")
    for side, why in skipped.items():
        print(f"skipped: {side} ({why})")
    order = ["nova", *modules]
    if not chosen.check:
        print(f"{'program':16}{'size':>9}" + "".join(f"{side + ' ms':>10}" for side in order)
              + f"{'nova/best':>21} {'best':7}" + "".join(f"{side + ' 1st':>11}" for side in order))  # fmt: skip
    record, ratios, failed = {}, {}, False
    for name in chosen.programs or list(inputs.APPLICATIONS):
        application = inputs.APPLICATIONS[name]
        size = application.tiny if chosen.check else application.sizes[0 if chosen.small else 1]
        found = record[name] = measure(name, size, 0 if chosen.check else chosen.rounds, modules, chosen.target)
        if chosen.check:
            print(f"{name}: {', '.join(found['times_s'])} agree", flush=True)
        else:
            line, ratio = row(name, found, order)
            print(line, flush=True)
            ratios |= {name: ratio} if ratio is not None else {}
        for side, error in found["errors"].items():
            failed = True
            print(f"  {side} is left out: {error}", flush=True)
    if chosen.json:
        with open(chosen.json, "w") as out:
            json.dump({"processor": processor(), "threads": chosen.threads, "versions": versions,
                       "skipped": skipped, "programs": record}, out, indent=1)  # fmt: skip
    if ratios:
        worst = max(ratios, key=ratios.get)
        print(f"geometric mean of nova/best {statistics.geometric_mean(ratios.values()):.2f} (wanted at most 0.90), "
              f"worst {worst} {ratios[worst]:.2f} (wanted at most 1.20)")  # fmt: skip
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

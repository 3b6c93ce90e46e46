#!/usr/bin/env python3
"""Compares the profile of five.nova with the samples of Linux perf: beside_perf.py TARGET [N M CALLS].

Prints for each row of the profile its own time, its share of the time, and its share of the samples that
perf takes of the calls of the same run. A sample belongs to the row whose
marks stand around the innermost line of its call chain that has such marks. A chunk of a parallel region
belongs to the row that runs the region; there the shares of perf are of processor time.

Needs novac, gcc, perf and addr2line.
"""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile

HOST = """
#include "five.h"
#include <stdlib.h>
int main(int count, char **arguments)
{
    for (int k = 0; count == 4 && k < atoi(arguments[3]); k++) {
        nova_tuple4_vector_float_vector_int_vector_float_vector2_float result;
        if (five(&result, atoi(arguments[1]), atoi(arguments[2])) != 0)
            return 1;
        five_free_result(result);
    }
    return 0;
}
"""

MARK = re.compile(r'nova_(begin|end)_loop\((\d+)(?:, "(.*?)", "(.*?)")?')
REGION = re.compile(r"nova_profiled_parallel\([^;]*?, (\w+_chunk\w*), ")
FUNCTION = re.compile(r"^[A-Za-z][\w *]*?[ *](\w+)\(")


def rows_of_lines(source):
    """The row of each line of the C, the operation and place of each row, and the function of each line."""
    names, rows, chunks, functions, open_rows = {}, {}, {}, {}, []
    function = None
    for number, line in enumerate(source.splitlines(), 1):
        if found := FUNCTION.match(line):
            function, open_rows = found[1], []
        if open_rows:
            rows[number] = open_rows[-1]
        for kind, row, what, place in MARK.findall(line):
            if kind == "begin":
                names[int(row)] = (what, place)
                open_rows.append(int(row))
            elif open_rows:
                open_rows.pop()
        functions[number] = function
        if open_rows:
            rows[number] = open_rows[-1]
        if (found := REGION.search(line)) and open_rows:
            chunks[found[1]] = open_rows[-1]
    for number, function in functions.items():
        if function in chunks:
            rows.setdefault(number, chunks[function])
    return rows, names, functions


def samples(host, arguments, folder, environment):
    """The call chains of the samples of a run, innermost first: addresses in the program."""
    data = os.path.join(folder, "perf.data")
    record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "1999", "--call-graph", "dwarf,4096", "-o", data, host, *arguments]
    subprocess.run(record, check=True, env=environment, stderr=subprocess.DEVNULL)
    script = ["perf", "script", "-i", data, "-F", "comm,ip,dso"]
    text = subprocess.run(script, check=True, capture_output=True, text=True).stdout
    for block in text.split("\n\n"):
        if block.strip():
            yield [line.split()[0] for line in block.splitlines()[1:] if line.endswith("/host)")]


def lines_of(host, addresses):
    """The lines of the source at each address, with those of calls around inlined code."""
    addresses = sorted(addresses)
    command = ["addr2line", "-a", "-i", "-e", host]
    text = subprocess.run(command, input="\n".join(addresses), capture_output=True, text=True).stdout
    lines, last = {}, None
    for line in text.splitlines():
        if line.startswith("0x"):
            last = int(line, 16)
            lines[last] = []
        elif found := re.match(r".*/five\.c:(\d+)", line):
            lines[last].append(int(found[1]))
    return lines


def main():
    target = sys.argv[1]
    arguments = sys.argv[2:] or ["4000000", "400", "10"]
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "five.nova")
    plain = {key: value for key, value in os.environ.items() if key != "NOVA_PROFILE"}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["novac", "--profile", "--target", target, "-o", folder, program], check=True)
        source, host = os.path.join(folder, "five.c"), os.path.join(folder, "host")
        with open(os.path.join(folder, "host.c"), "w") as file:
            file.write(HOST)
        flags = ["-std=c11", "-O2", "-march=native", "-g", "-fno-omit-frame-pointer", "-pie", "-fPIE", "-pthread"]
        gcc = ["gcc", *flags, "-DNOVA_NARROW_MOVES", "-mmove-max=128", "-mstore-max=128"]
        subprocess.run([*gcc, "-o", host, os.path.join(folder, "host.c"), source, "-lm"], check=True)
        trace = os.path.join(folder, "trace.json")
        with open(source) as file:
            rows, names, functions = rows_of_lines(file.read())
        chains = list(samples(host, arguments, folder, {**plain, "NOVA_PROFILE": trace}))
        with open(trace) as file:
            profile = json.load(file)["loops"]
        lines = lines_of(host, {address for chain in chains for address in chain})
    counts = collections.Counter()
    for chain in chains:
        places = [line for address in chain for line in lines.get(int(address, 16), [])]
        found = next((rows[line] for line in places if line in rows), None)
        # What is outside of calls is the start of the program, its report, the release of results, and
        # threads that wait for work.
        if found is not None or any(functions[line] == "five_run" for line in places):
            counts[names.get(found)] += 1
    total = sum(row["own_ns"] for row in profile)
    print(f"{target}, {counts.total()} samples in calls, {len(chains) - counts.total()} others")
    print(f"{'operation':12} {'place':16} {'own, ms':>9} {'profile':>8} {'perf':>8}")
    for row in sorted(profile, key=lambda row: -row["own_ns"]):
        key = (row["operation"], row["place"]) if row["place"] else None
        share, other = row["own_ns"] / total, counts[key] / counts.total()
        name, place, own = row["operation"], row["place"] or "-", row["own_ns"] / 1e6
        print(f"{name:12} {place:16} {own:9.1f} {share:8.1%} {other:8.1%}")


main()

"""The operations by element that `jit` knows, by NumPy's names: what NOVA writes for the elements {0}, {1}, {2}."""

import numpy as np

TYPES = dict(float32="float", float64="double", int32="int", bool="bool")
"""NOVA's names of NumPy's types."""
TYPES |= {name: name for name in "int8 int16 int64 uint8 uint16 uint32 uint64".split()}

FLOATING = {name: f"({name} {{0}})" for name in "sqrt exp exp2 log log2 log10 sin cos tan sinh cosh tanh".split()}
"""Operations on floats; integers become doubles."""
FLOATING |= {f"arc{name}": f"(a{name} {{0}})" for name in ["sin", "cos", "tan"]}
FLOATING |= {"arctan2": "(atan2 {0} {1})", "true_divide": "(/ {0} {1})", "divide": "(/ {0} {1})"}
SAME = {
    "add": "(+ {0} {1})", "subtract": "(- {0} {1})", "multiply": "(* {0} {1})", "negative": "(neg {0})",
    "absolute": "(abs {0})", "fabs": "(abs {0})", "fmax": "(max {0} {1})", "fmin": "(min {0} {1})",
    "square": "(* {0} {0})", "positive": "{0}", "clip": "(min (max {0} {1}) {2})",
    "maximum": "(if (or (> {0} {1}) (~= {0} {0})) then {0} else {1})",
    "minimum": "(if (or (< {0} {1}) (~= {0} {0})) then {0} else {1})",
    "sign": "(if (> {0} 0) then 1 else (if (< {0} 0) then -1 else {0}))",
    "floor": "(floor {0})", "ceil": "(ceil {0})", "trunc": "(trunc {0})", "power": "(pow {0} {1})",
    "floor_divide": "(floor (/ {0} {1}))", "remainder": "(- {0} (* {1} (floor (/ {0} {1}))))",
}  # fmt: skip
"""Operations on floats, and on integers if they are not among the next; the result has the operands' type."""
INTEGER = {
    "bitwise_and": "(& {0} {1})", "bitwise_or": "(| {0} {1})", "bitwise_xor": "(^ {0} {1})",
    "invert": "(~ {0})", "left_shift": "(<< {0} {1})", "right_shift": "(>> {0} {1})",
    "floor": "{0}", "ceil": "{0}", "trunc": "{0}",
    "floor_divide": "(let (q (/ {0} {1})) in "
        "(if (and (~= (* q {1}) {0}) (~= (< {0} 0) (< {1} 0))) then (- q 1) else q))",
    "remainder": "(let (r (% {0} {1})) in "
        "(if (and (~= r 0) (~= (< r 0) (< {1} 0))) then (+ r {1}) else r))",
}  # fmt: skip
LOGICAL = {
    "logical_and": "(and {0} {1})", "logical_or": "(or {0} {1})", "logical_not": "(not {0})",
    "logical_xor": "(~= {0} {1})",
}  # fmt: skip
"""Operations on truth values, to which numbers are converted."""
BITS = {"bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "logical_xor", "invert": "logical_not"}
"""What operations on bits are on truth values."""
TRUTHS = {
    "equal": "(= {0} {1})", "not_equal": "(~= {0} {1})", "less": "(< {0} {1})", "greater": "(> {0} {1})",
    "less_equal": "(<= {0} {1})", "greater_equal": "(>= {0} {1})", "isnan": "(~= {0} {0})",
}  # fmt: skip
REDUCTIONS = {
    "add": ("+", "0"), "multiply": ("*", "1"), "logical_and": ("and", "true"), "logical_or": ("or", "false"),
    "maximum": (f"(lambda (x y) {SAME['maximum'].format('x', 'y')})", None),
    "minimum": (f"(lambda (x y) {SAME['minimum'].format('x', 'y')})", None),
}  # fmt: skip
"""Reductions: the function, and what it starts with; without that it is the first element."""


def chosen(name: str, common: np.dtype) -> tuple[str, np.dtype, np.dtype]:
    """Returns what NOVA writes, the type that operands of this common type become, and that of the result."""
    truth = np.dtype(bool)
    if common.kind == "b" or name.startswith("logical"):
        form = LOGICAL.get(BITS.get(name, name))
        if form:
            return form, truth, truth
    if name in FLOATING:
        common = common if common.kind == "f" else np.dtype(float)
        return FLOATING[name], common, common
    if name in TRUTHS:
        return TRUTHS[name], common, truth
    forms = SAME | INTEGER if common.kind in "iu" else SAME if common.kind == "f" else {}
    if name not in forms:
        raise TypeError(f"jit has no numpy.{name} of {common}")
    return forms[name], common, common


def literal(value) -> str:
    """Returns a scalar of NumPy as NOVA writes it."""
    kind, type_ = value.dtype.kind, TYPES[value.dtype.name]
    if kind == "b":
        return "true" if value else "false"
    if kind in "iu":
        return f"({int(value)} : {type_})"
    if not np.isfinite(value):
        return f"((/ {'0.0' if np.isnan(value) else '1.0' if value > 0 else '-1.0'} 0.0) : {type_})"
    return f"({float(value)!r} : {type_})"


def convert(text: str, old: np.dtype, new: np.dtype) -> str:
    """Returns an element as another type, as NumPy's astype does."""
    if old == new:
        return text
    if old.kind == "b":
        return f"((if {text} then 1 else 0) : {TYPES[new.name]})"
    if new.kind == "b":
        return f"(~= {text} 0)"
    return f"({'wrap' if old.kind in 'iu' and new.kind in 'iu' else 'to'}_{TYPES[new.name]} {text})"

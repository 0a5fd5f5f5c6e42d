"""Attributes as numbers, taken literally or refused: what `float()` would forgive is an error with its line."""

import math
import re

from kinetree.io.report import Report, shown
from kinetree.io.xml import Element

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INFINITE = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
_LONGEST = 400


def number(report: Report, element: Element, where: str, attribute: str, default: float | None = None) -> float:
    """The attribute as one finite number; `default` where it is absent, an error where there is no default."""
    text = element.get(attribute)
    if text is None:
        if default is None:
            report.fail(element, f'{where} has no attribute "{attribute}"; give it one finite number')
        return default
    return numbers(report, element, where, attribute, 1)[0]


def numbers(report: Report, element: Element, where: str, attribute: str, count: int) -> tuple[float, ...]:
    """The attribute as exactly `count` finite numbers separated by spaces."""
    text = element.get(attribute, "")
    words = text.split()
    allowed = "one finite number" if count == 1 else f"{count} finite numbers separated by spaces"
    if len(words) != count:
        found = f"holds {len(words)} values: {shown(text)}" if words else "is empty"
        report.fail(element, f'{where} attribute "{attribute}" {found}; allowed: {allowed}')
    return tuple(_finite(report, element, where, attribute, word, allowed) for word in words)


def limit(report: Report, element: Element, where: str, attribute: str, default: float) -> float:
    """The attribute as one number, which may be infinite: a limit that is not there."""
    text = element.get(attribute)
    if text is not None and _INFINITE.fullmatch(text.strip()):
        return float(text)
    return number(report, element, where, attribute, default)


def _finite(report: Report, element: Element, where: str, attribute: str, word: str, allowed: str) -> float:
    value = float(word) if len(word) <= _LONGEST and _NUMBER.fullmatch(word) else math.nan
    if math.isfinite(value):
        return value
    hint = ""
    if "," in word:
        hint = "; write a decimal point, not a comma"
    elif "${" in word or "$(" in word:
        hint = "; this is a xacro expression: expand the file with xacro first"
    elif math.isinf(value):
        hint = "; it is too large for a floating-point number"
    report.fail(element, f'{where} attribute "{attribute}" is {shown(word)}; allowed: {allowed}{hint}')

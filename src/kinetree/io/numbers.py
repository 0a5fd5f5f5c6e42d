"""Attributes as numbers, taken literally or refused: what `float()` would forgive is an error with its line."""

import math
import re

from kinetree.io.report import Report, shown
from kinetree.io.xml import Element

_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBERS = re.compile(rf"\s*{_NUMBER}(?:\s+{_NUMBER})*\s*")
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
    if len(words) == count and len(text) <= _LONGEST and _NUMBERS.fullmatch(text):
        values = tuple(map(float, words))
        if all(map(math.isfinite, values)):
            return values
    allowed = "one finite number" if count == 1 else f"{count} finite numbers separated by spaces"
    what = f'{where} attribute "{attribute}"'
    wrong = next((word for word in words if not _is_finite(word)), None)
    if wrong is not None:
        report.fail(element, f"{what} holds {shown(wrong)}; allowed: {allowed}{_hint(wrong)}")
    found = f"holds {len(words)} values: {shown(text)}" if words else "is empty"
    report.fail(element, f"{what} {found}; allowed: {allowed}")


def limit(report: Report, element: Element, where: str, attribute: str, default: float) -> float:
    """The attribute as one number, which may be infinite: a limit that is not there."""
    text = element.get(attribute)
    if text is not None and _INFINITE.fullmatch(text.strip()):
        return float(text)
    return number(report, element, where, attribute, default)


def _is_finite(word: str) -> bool:
    return len(word) <= _LONGEST and _NUMBERS.fullmatch(word) is not None and math.isfinite(float(word))


def _hint(word: str) -> str:
    if "," in word:
        return "; write a decimal point, not a comma"
    if "${" in word or "$(" in word:
        return "; this is a xacro expression: expand the file with xacro first"
    if _NUMBERS.fullmatch(word):
        return "; it is too large or too long for a floating-point number"
    return ""

"""XML read with nothing trusted: no DTD, no entity, no network, bounded size and depth, few encodings."""

import codecs
import re
from collections.abc import Iterator
from typing import TypeAlias

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from kinetree.io.report import Report, shown

Element: TypeAlias = etree._Element

MAX_DEPTH = 256  # libxml2's own bound while huge_tree is off
MAX_ELEMENTS = 1_000_000
ENCODINGS = ("utf-8", "us-ascii", "iso-8859-1", "iso-8859-15", "windows-1252")
_CODECS = {codecs.lookup(name).name for name in ENCODINGS}
_DECLARATION = re.compile(r"""\A<\?xml\s[^>]*?\?>""")
_DECLARED_ENCODING = re.compile(r"""\sencoding\s*=\s*["']([^"']{1,40})["']""")

_NO_DTD = "<!DOCTYPE> and entities are not read, for safety; remove them and write the values out"
_MARKUP = re.compile(r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|(?P<tag><[^/!?])", re.DOTALL)


def xml_document(data: bytes, report: Report) -> "tuple[Element, Lines]":
    """The root of a document without DTD, nested at most `MAX_DEPTH` deep, and the lines of its elements."""
    text = _text(data, report)
    if not text.strip():
        report.fail(1, "the file is empty; a URDF holds one <robot> element")
    _refuse_doctype(text, report)
    if text.count("<") > 2 * MAX_ELEMENTS:
        report.fail(1, f"holds more than {MAX_ELEMENTS} elements, the most that are read; is it a model file?")
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(text.encode("utf-8"), parser)
    except etree.XMLSyntaxError as error:
        report.fail(error.lineno or 1, _syntax_message(error.msg or "malformed"))
    if root is None:
        report.fail(1, "not well-formed XML: there is no element; a URDF holds one <robot> element")
    if root.getroottree().docinfo.internalDTD is not None:
        report.fail(1, _NO_DTD)
    _drop_namespace(root)
    return root, Lines(text, root)


def _drop_namespace(root: Element) -> None:
    """Elements of the root's own namespace lose it; elements of others keep theirs, so they are passed over."""
    namespace = etree.QName(root).namespace
    if namespace:
        for element in root.iter(f"{{{namespace}}}*"):
            element.tag = etree.QName(element).localname


def only_children(report: Report, element: Element, where: str, wanted: frozenset[str]) -> dict[str, Element]:
    """The children with the wanted tags, each at most once; others are passed over."""
    found: dict[str, Element] = {}
    for child in element:
        tag = child.tag
        if tag in wanted:
            if tag in found:
                report.fail(child, f"{where} has a second <{tag}>; allowed: at most one, remove the other")
            found[tag] = child
    return found


def name_of(report: Report, element: Element, attribute: str, where: str) -> str:
    """The attribute as a name that is not empty."""
    name = element.get(attribute)
    if name is None:
        report.fail(element, f'{where} has no attribute "{attribute}"; give it a name')
    if not name.strip():
        report.fail(element, f'{where} attribute "{attribute}" is {shown(name)}; allowed: a name that is not empty')
    return name


def _syntax_message(parser_message: str) -> str:
    message = re.sub(r", line \d+, column \d+.*\Z", "", parser_message, flags=re.DOTALL)
    if "xcessive depth" in message:
        return f"elements are nested more than {MAX_DEPTH} deep; a URDF needs fewer than ten levels, correct the file"
    if "prefix xacro" in message:
        return "this is a xacro file, not a URDF: expand it with xacro first"
    return f"not well-formed XML: {message[:200]}; correct the file at this line"


def _text(data: bytes, report: Report) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in data:
        line = data[: max(data.find(b"\0"), 0)].count(b"\n") + 1
        report.fail(line, f"not text in an encoding that is read ({', '.join(ENCODINGS)}); save the file as UTF-8")
    data = data.removeprefix(codecs.BOM_UTF8)
    declaration = _DECLARATION.match(data[:1000].decode("latin-1"))
    declared = _DECLARED_ENCODING.search(declaration[0]) if declaration else None
    encoding = declared[1] if declared else "utf-8"
    try:
        known = codecs.lookup(encoding).name in _CODECS
    except (LookupError, ValueError):
        known = False
    if not known:
        report.fail(1, f"encoding is {shown(encoding)}; allowed: {', '.join(ENCODINGS)}; save the file as UTF-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        found = data[error.start : error.start + 1].hex()
        report.fail(line, f"byte 0x{found} is not {encoding} text; save the file as UTF-8 or declare its encoding")
    # Already decoded: the declaration goes, its line breaks stay so that line numbers stay right.
    return _DECLARATION.sub(lambda found: "\n" * found[0].count("\n"), text)


def _refuse_doctype(text: str, report: Report) -> None:
    """A document type can only stand before the first element: step over white space, comments and instructions."""
    at = 0
    while True:
        at += len(text[at : at + 4096]) - len(text[at : at + 4096].lstrip())
        if text[at : at + 1].isspace():
            continue
        for start, end in (("<!--", "-->"), ("<?", "?>")):
            if text.startswith(start, at):
                stop = text.find(end, at + len(start))
                if stop < 0:
                    return  # unterminated: the parser says so, with its line
                at = stop + len(end)
                break
        else:
            break
    if text.startswith("<!", at):
        line = text.count("\n", 0, at) + 1
        report.fail(line, _NO_DTD)


class Lines:
    """The line on which an element's tag opens, right for files of any length.

    libxml2 keeps 16 bits of it, and beyond line 65,535 answers with the line of some later text. In a well-formed
    document without a DTD every `<` outside comments, instructions and CDATA opens or closes a tag, so the n-th
    opening one belongs to the n-th element. Counted when first asked for: most files have nothing to say.
    """

    def __init__(self, text: str, root: Element):
        self._text, self._root = text, root
        self._lines: dict[Element, int] = {}

    def __call__(self, element: Element) -> int:
        if not self._lines:
            self._lines = dict(zip(self._root.iter("*"), _opening_lines(self._text), strict=True))
        return self._lines[element]


def _opening_lines(text: str) -> Iterator[int]:
    line, counted = 1, 0
    for found in _MARKUP.finditer(text):
        if found.lastgroup == "tag":
            line += text.count("\n", counted, found.start())
            counted = found.start()
            yield line

"""Bytes to a document: encoding, byte order mark, language."""

from __future__ import annotations

import codecs

from statecli.text.document import MAX_BYTES, Document, Problem

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def document(path: str, content: bytes) -> Document:
    """The document of a file's content. The byte order mark is no part of its text."""
    if len(content) > MAX_BYTES:
        text = content[:1000].decode("utf-8", "replace")
        message = f"the file is larger than {MAX_BYTES // 1_000_000} MB, more than is read"
        return Document(path, text, "yaml", None, (Problem("parse-error", message, 0, 1),))
    text, problem = decode(content)
    if problem is not None:
        return Document(path, text, language_of(path, text), None, (problem,))
    return parse(path, text)


def parse(path: str, text: str) -> Document:
    """The document of a text; JSON or YAML by the file's suffix, else by how it begins."""
    newline = "\r\n" if "\r" in text and "\r\n" in text else "\n"
    language = language_of(path, text)
    if language == "json":
        from statecli.text import json_text

        result = json_text.read(path, text, newline)
        if result.value is not None or path.endswith(".json"):
            return result
    from statecli.text import yaml_text

    result = yaml_text.read(path, text, newline)
    if result.problems and result.value is None and text.lstrip()[:1] in ("{", "["):
        # JSON in a YAML file: libyaml refuses what json.dumps makes of an emoji.
        from statecli.text import json_text

        as_json = json_text.read(path, text, newline)
        return as_json if as_json.value is not None else result
    return result


def language_of(path: str, text: str) -> str:
    """ "json" or "yaml"."""
    if path.endswith((".yaml", ".yml")):
        return "yaml"
    return "json" if path.endswith(".json") or text.lstrip()[:1] in ("{", "[") else "yaml"


def decode(content: bytes) -> tuple[str, Problem | None]:
    """The text of a file, and what is wrong with its encoding. UTF-8 unless a mark says more."""
    encoding = "utf-8"
    for mark, name in _MARKS:
        if content.startswith(mark):
            content, encoding = content[len(mark) :], name
            break
    try:
        return content.decode(encoding), None
    except UnicodeDecodeError as error:
        text = content.decode(encoding, "replace")
        good = len(content[: error.start].decode(encoding, "replace"))
        byte = content[error.start]
        hint = "save the file as UTF-8"
        if encoding == "utf-8":
            message = f"the byte 0x{byte:02X} is not UTF-8"
            if _looks_utf16(content):
                message = "this looks like UTF-16 without a byte order mark"
            elif byte >= 0xA0 and b"\0" not in content:
                message += f"; in Latin-1 it would be '{bytes([byte]).decode('latin-1')}'"
        else:
            message = f"the text is not {encoding.upper()}, as its byte order mark says"
        return text, Problem("parse-error", message, good, good + 1, hint)


def encode(text: str, like: bytes) -> bytes:
    """A text as the bytes of a file that was `like` this: with its byte order mark and encoding."""
    for mark, name in _MARKS:
        if like.startswith(mark):
            return mark + text.encode(name)
    return text.encode("utf-8")


def _looks_utf16(content: bytes) -> bool:
    head = content[:200]
    return head.count(0) > len(head) // 3

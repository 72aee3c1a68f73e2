"""Text on a terminal: its width, and the escaping of unsafe characters."""

from __future__ import annotations

import re

UNPRINTABLE = "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
"""Control characters, line separators, bidirectional overrides (they reorder what follows) and lone surrogates."""

_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}


def display_width(text: str) -> int:
    """The number of terminal cells of `text`: 2 for East Asian wide characters and emoji, 0 for combining marks."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def pad(text: str, width: int, *, right: bool = False) -> str:
    """`text` padded to `width` cells; `right` aligns it to the right."""
    if text.isascii():
        return text.rjust(width) if right else text.ljust(width)
    blanks = " " * (width - display_width(text))
    return blanks + text if right else text + blanks


def printable(text: str) -> str:
    r"""`text` on one line, with control characters escaped (`\n`, `\x1b`, `\u202e`)."""
    return text if text.isprintable() else re.sub(UNPRINTABLE, _spell_out, text)


def printable_lines(text: str) -> str:
    """Multi-line `text` with control characters escaped, except line ends and tabs."""
    return "".join(part if part in ("\n", "\t") else printable(part) for part in re.split(r"([\n\t])", text))


def json_printable(text: str) -> str:
    """JSON on one line with the same characters as JSON escapes (`\\u009b`), which does not change its meaning."""
    return text if text.isprintable() else re.sub(UNPRINTABLE, lambda match: f"\\u{ord(match[0]):04x}", text)


def _spell_out(match: re.Match[str]) -> str:
    character = match[0]
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"

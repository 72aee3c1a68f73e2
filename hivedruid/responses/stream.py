"""Incremental JSON decoding: at most one item of an array is in memory."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from hivedruid.errors import DruidError

MOST_SHOWN = 400
_LITTLE = 4096
_ENDS = tuple(",]} \t\r\n")
_BETWEEN = {"[": "],[", "{": "},{"}
"""What separates two items of an array, by the first character of the first one."""
_NOWHERE = "\0"
"""Not part of any JSON text."""


class TruncatedError(DruidError):
    """The text ended before the JSON did."""


class MalformedError(DruidError):
    """The response is not valid; `text` is the text at that position."""

    def __init__(self, message: str, text: str) -> None:
        super().__init__(message)
        self.text = text


class JsonStream:
    """A JSON text that arrives in chunks of bytes. Raises TruncatedError if it ends early, MalformedError if it is not
    JSON.

    If a query fails midway, Druid ends the HTTP 200 response cleanly: only the missing `]` shows it.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._utf8 = codecs.getincrementaldecoder("utf-8")()
        self._decode = json.JSONDecoder().raw_decode
        self._text = ""
        self._place = 0
        self._ended = False

    def array(self) -> Iterator[Any]:
        """The items of the array at the current position, each decoded when complete."""
        self.expect("[")
        if self.peek() == "]":
            self._place += 1
            return
        decode = self._decode
        while True:
            yield from self._buffered()
            text, place = self._text, self._place
            while True:  # fast path: a complete item and the next character are available
                try:
                    item, end = decode(text, place)
                except (ValueError, RecursionError):  # `value` reports JSON that is nested too deeply
                    break
                if text[end : end + 1] != ",":
                    break
                place = end + 1
                yield item
            self._place = place
            item = self.value()
            following = self.peek()
            self._place += 1
            yield item
            if following == "]":
                return
            if following != ",":
                raise self._malformed()

    def _buffered(self) -> list[Any]:
        """The next items of an array of arrays or objects that are complete, decoded at once; all but the last one.

        Text that ends within an item, for example at such characters in a string, is not valid.
        """
        text, place = self._text, self._place
        end = text.rfind(_BETWEEN.get(text[place : place + 1], _NOWHERE), place)
        if end < 0:
            return []
        try:
            items: list[Any] = json.loads(f"[{text[place : end + 1]}]")
        except (ValueError, RecursionError):  # the items are decoded one by one
            return []
        self._place = end + 2
        return items

    def object(self) -> Iterator[str]:
        """The keys of the object at the current position; the caller must read the value of each."""
        self.expect("{")
        if self.peek() == "}":
            self._place += 1
            return
        while True:
            self.peek()
            key = self.value()
            if not isinstance(key, str):
                raise self._malformed()
            self.expect(":")
            yield key
            following = self.peek()
            self._place += 1
            if following == "}":
                return
            if following != ",":
                raise self._malformed()

    def value(self) -> Any:
        """The value at the current position, within an array or object."""
        self.peek()
        while True:
            try:
                value, end = self._decode(self._text, self._place)
            except ValueError:
                self._need_more()
                continue
            except RecursionError:
                raise self._malformed() from None
            is_over = isinstance(value, (list, dict, str)) or self._text[end : end + 1] in _ENDS
            if not is_over:  # a number may continue in the next chunk
                self._need_more()
                continue
            self._place = end
            return value

    def expect(self, character: str) -> None:
        if self.peek() != character:
            raise self._malformed()
        self._place += 1

    def peek(self) -> str:
        """The next character that is not whitespace, without consuming it."""
        while True:
            while self._place < len(self._text):
                character = self._text[self._place]
                if character not in " \t\r\n":
                    return character
                self._place += 1
            self._need_more()

    def take(self, size: int) -> bytes:
        """The text from the current position in UTF-8: `size` bytes or more, fewer at the end, or before an error of
        the chunks, which is raised where more is read. It is consumed."""
        unfinished, _ = self._utf8.getstate()
        taken = [self._text[self._place :].encode() + unfinished]
        length = len(taken[0])
        self._utf8.reset()
        self._text, self._place = "", 0
        try:
            while length < size and (chunk := next(self._chunks, None)) is not None:
                taken.append(chunk)
                length += len(chunk)
        except DruidError as error:
            self._chunks = _failing(error)
        return b"".join(taken)

    def give_back(self, text: bytes) -> None:
        """Continue with the text that was taken last, and not used. Little of it is decoded at once: more of it may be
        taken soon."""
        self._chunks = chain((text[:_LITTLE], text[_LITTLE:]), self._chunks)
        self._ended = False

    def end(self) -> None:
        """Read to the end; only whitespace may follow."""
        while self._more():
            pass
        if self._text[self._place :].strip():
            raise self._malformed()

    def _need_more(self) -> None:
        """Double the buffered text, so that a long item is not decoded again for each of its chunks."""
        wanted = 2 * (len(self._text) - self._place)
        if not self._more():
            raise TruncatedError("the answer ended early")
        while len(self._text) < wanted and self._more():
            pass

    def _more(self) -> bool:
        if self._ended:
            return False
        chunk = next(self._chunks, None)
        self._ended = chunk is None
        try:
            self._text = self._text[self._place :] + self._utf8.decode(chunk or b"", self._ended)
        except UnicodeDecodeError:
            if self._ended:
                raise TruncatedError("the answer ends in the middle of a UTF-8 character") from None
            raise MalformedError("not UTF-8", (chunk or b"").decode("utf-8", "replace")) from None
        self._place = 0
        return not self._ended

    def _malformed(self) -> MalformedError:
        return MalformedError("not JSON rows", self._text[self._place : self._place + MOST_SHOWN])


def _failing(error: DruidError) -> Iterator[bytes]:
    yield from ()
    raise error

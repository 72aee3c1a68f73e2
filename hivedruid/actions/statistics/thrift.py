"""Reads values of Thrift's compact protocol, which Parquet's footers are, without a library.

pyarrow ends the process when it reads statistics of some damaged footers; here every damage is a ValueError.
"""

from __future__ import annotations

from struct import unpack_from
from typing import Any

from hivedruid.byte_reader import ByteReader

_DEEPEST = 30
"""The maximum depth of structs in structs; Parquet's have fewer than ten."""

Struct = dict[int, Any]
"""The values of a struct by the ids of their fields."""


class CompactReader(ByteReader):
    def struct(self, last: int | None = None, depth: int = 0) -> Struct:
        """A struct, or its fields up to the one with the id `last`."""
        fields: Struct = {}
        id_ = 0
        while (head := self.byte()) & 0x0F:
            id_ = id_ + (head >> 4) if head >> 4 else self.zigzag()
            kind = head & 0x0F
            fields[id_] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth + 1)
            if id_ == last:
                break
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError("the structs are too deep")
        if kind in (_I16, _I32, _I64):
            return self.zigzag()
        if kind == _BINARY:
            return self.take(self.varint())
        if kind == _STRUCT:
            return self.struct(depth=depth)
        if kind in (_LIST, _SET):
            return self._list(depth)
        if kind in (_TRUE, _FALSE, _BYTE):
            return self.byte()
        if kind == _DOUBLE:
            return unpack_from("<d", self.take(8))[0]
        if kind == _MAP:
            return self._map(depth)
        if kind == _UUID:
            return self.take(16)
        raise ValueError("the data are damaged")

    def _list(self, depth: int) -> list[Any]:
        head = self.byte()
        size = self.varint() if head >> 4 == 15 else head >> 4
        return [self._value(head & 0x0F, depth + 1) for _ in range(size)]

    def _map(self, depth: int) -> list[tuple[Any, Any]]:
        size = self.varint()
        kinds = self.byte() if size else 0
        return [(self._value(kinds >> 4, depth + 1), self._value(kinds & 0x0F, depth + 1)) for _ in range(size)]


_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = range(1, 14)

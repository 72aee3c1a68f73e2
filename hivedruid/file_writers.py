"""How the values of a Parquet or Avro file were stored. Hive notes the time zone and calendar of times in the file's
metadata."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hivedruid.byte_reader import ByteReader
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import BinaryIO

_MAGIC, _AVRO_MAGIC = b"PAR1", b"Obj\x01"
_ZONE, _LEGACY = "writer.time.zone", "writer.zone.conversion.legacy"
_DATES = {"parquet": "writer.date.proleptic", "avro": "writer.proleptic"}
_UTC = frozenset({"UTC", "Etc/UTC", "GMT", "Etc/GMT", "UCT", "Z", "Zulu", "Universal"})
_ENTRY = re.compile(
    rb"\x18[\x01-\x7f](" + b"|".join(re.escape(key.encode()) for key in (_ZONE, _LEGACY, _DATES["parquet"])) + rb")\x18"
)
"""A key of Parquet's metadata, in Thrift's compact protocol, and the type of its value."""
_HEADER = 1 << 16
"""The bytes of an Avro file that are read at first."""


@dataclass(frozen=True)
class Writer:
    """`zone` is the one in which Hive moved times to UTC, None for files of others. `is_legacy`: as java.util.TimeZone
    does, which has no changes of offsets before 1900. `is_julian`: days before 1582-10-15 are those of the Julian
    calendar. `splits_bytes`: numbers are in Parquet's encoding BYTE_STREAM_SPLIT."""

    zone: str | None = None
    is_legacy: bool = False
    is_julian: bool = False
    splits_bytes: bool = False

    @property
    def moves_times(self) -> bool:
        return self.zone is not None and self.zone not in _UTC


UNKNOWN: Mapping[str, Writer] = {"orc": Writer(), "parquet": Writer(), "avro": Writer(is_julian=True)}
"""The writers of files without notes, by their format."""


def parquet_footer(file: BinaryIO) -> bytes:
    """The metadata at the end of a Parquet file. Raises ValueError."""
    size = file.seek(0, 2)
    file.seek(max(0, size - 8))
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or length > size - 8 - len(_MAGIC):
        raise ValueError("not a Parquet file")
    file.seek(size - 8 - length)
    return file.read(length)


def parquet_writer(footer: bytes) -> Writer:
    """The writer by the metadata. Only the keys are searched: parsing all of it would take a hundred times as long."""
    return writer_by(dict(_entries(footer)), "parquet") if _ZONE.encode() in footer else UNKNOWN["parquet"]


def _entries(footer: bytes) -> list[tuple[str, str]]:
    entries = []
    for match in _ENTRY.finditer(footer):
        reader = ByteReader(footer)
        reader.at = match.end()
        entries.append((match[1].decode(), reader.take(reader.varint()).decode(errors="replace")))
    return entries


def writer_by(notes: Mapping[str, str], form: str) -> Writer:
    """The writer by the keys and values of a file's metadata."""
    if _ZONE not in notes:
        return UNKNOWN[form]
    is_proleptic = notes.get(_DATES[form], "").lower() == "true"
    return Writer(notes[_ZONE], notes.get(_LEGACY, "").lower() == "true", not is_proleptic)


def avro_writer(file: BinaryIO) -> Writer:
    """The writer of an Avro file. Raises ValueError for other files."""
    return writer_by(_notes_of(file), "avro")


def avro_schema(file: BinaryIO) -> str:
    """The schema of the records of an Avro file. Raises ValueError for other files."""
    notes = _notes_of(file)
    if "avro.schema" not in notes:
        raise ValueError("not an Avro file: it has no schema")
    return notes["avro.schema"]


def _notes_of(file: BinaryIO) -> Mapping[str, str]:
    size, wanted = file.seek(0, 2), _HEADER
    while True:
        file.seek(0)
        try:
            return _avro_notes(file.read(wanted))
        except ValueError:  # the header may be longer
            if wanted >= size:
                raise
            wanted *= 16


def _avro_notes(header: bytes) -> dict[str, str]:
    if not header.startswith(_AVRO_MAGIC):
        raise ValueError("not an Avro file")
    reader, notes = ByteReader(header), dict[str, str]()
    reader.at = len(_AVRO_MAGIC)
    while count := reader.zigzag():
        if count < 0:  # the size of the block follows
            reader.zigzag()
        for _ in range(abs(count)):
            key = reader.take(reader.zigzag()).decode(errors="replace")
            notes[key] = reader.take(reader.zigzag()).decode(errors="replace")
    return notes

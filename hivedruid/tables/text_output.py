"""How INSERT writes text files and SequenceFiles: their compression by the settings of Hive and Hadoop, and the
zone."""

from __future__ import annotations

from collections.abc import Mapping

from hivedruid.errors import UnsupportedError, did_you_mean
from hivedruid.lazy_dataclass import dataclass
from hivedruid.setting_types import resolve_zone

ENABLED = "hive.exec.compress.output"
CODECS = "mapreduce.output.fileoutputformat.compress.codec", "mapred.output.compression.codec"
TYPES = "mapreduce.output.fileoutputformat.compress.type", "mapred.output.compression.type"
"""Hadoop's settings, and their old names, which count if the new ones are not set."""
DEFAULT = "org.apache.hadoop.io.compress.DefaultCodec"
SHORT = {
    "DefaultCodec": "deflate", "DeflateCodec": "deflate", "GzipCodec": "gzip", "BZip2Codec": "bzip2",
    "SnappyCodec": "snappy", "Lz4Codec": "lz4",
}  # fmt: skip
"""Spark's names of the compressions, by Hadoop's classes."""


@dataclass(frozen=True)
class TextOutput:
    """`codec` is Hadoop's class, empty without compression. `is_block`: a SequenceFile has many values in a compressed
    block, otherwise each one is compressed. `zone` is that of TIMESTAMP WITH LOCAL TIME ZONE."""

    codec: str = ""
    is_block: bool = False
    zone: str = "UTC"

    @property
    def compression(self) -> str:
        """Spark's name of the compression."""
        return SHORT[self.codec.rpartition(".")[2]] if self.codec else "none"


PLAIN = TextOutput()


def text_output(settings: Mapping[str, str]) -> TextOutput:
    """Raises UnsupportedError for a compression that cannot be written."""
    zone = resolve_zone(settings.get("hive.local.time.zone") or "LOCAL")
    if settings.get(ENABLED, "").lower() != "true":
        return TextOutput(zone=zone)
    key = next((key for key in CODECS if settings.get(key)), CODECS[0])
    codec = settings.get(key) or DEFAULT
    name = codec.rpartition(".")[2]
    if name not in SHORT:
        known = (DEFAULT.replace("DefaultCodec", each) for each in SHORT)
        raise UnsupportedError(
            f"the compression {codec} of {key} is not supported",
            hint=did_you_mean(codec, known) or "use org.apache.hadoop.io.compress.GzipCodec, or another table format",
        )
    type_ = next((settings[key] for key in TYPES if settings.get(key)), "RECORD").upper()
    return TextOutput("" if type_ == "NONE" else codec, type_ == "BLOCK", zone)

"""The clauses of Hive's CREATE TABLE, and a table of rules that convert them."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import TokenType

from hivedruid.catalog.kinds import DRUID_STORAGE_HANDLER, KAFKA_STORAGE_HANDLER, TableKind
from hivedruid.catalog.properties import has_ingestion
from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.errors import ParseError
from hivedruid.hive_ddl.avro import avro_columns
from hivedruid.hive_ddl.draft import Draft, Pair
from hivedruid.hive_ddl.properties import revised
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.table_clauses import INPUT_FORMATS, STORAGE_HANDLERS
from hivedruid.tables.hive_tables import KAFKA_COLUMNS, OTHER_SERDES, SERDE_FORMATS

_CLAUSES = (
    "COMMENT", "PARTITIONED BY", "CLUSTERED BY", "SKEWED BY", "ROW FORMAT", "STORED BY", "STORED AS",
    "WITH SERDEPROPERTIES", "LOCATION", "TBLPROPERTIES", "LIKE", "AS",
)  # fmt: skip
_FORMATS = (
    "", "ORC", "ORCFILE", "PARQUET", "PARQUETFILE", "TEXTFILE", "JSONFILE", "AVRO", "SEQUENCEFILE", "RCFILE",
)  # fmt: skip
_DRUID_HANDLER = re.compile(r"org\.apache\.hadoop\.hive\.druid\.\w*DruidStorageHandler\w*")
"""The storage handler, and the wrappers in Hive's own tests."""


@dataclass(frozen=True)
class Clause:
    """A clause: its start and end in the text, and the token after its keywords."""

    start: int
    end: int
    index: int


@dataclass
class Shape:
    """The parts of a CREATE TABLE that the rules use; `table`, `name` and `columns` are token indices."""

    draft: Draft
    table: int
    name: int
    external: bool
    columns: list[tuple[int, int]]
    clauses: dict[str, Clause]

    @property
    def kind(self) -> TableKind | None:
        """The kind of the table; None for an unsupported storage handler."""
        handler = self.value("STORED BY")
        handler_kind = STORAGE_HANDLERS.get(handler.lower(), handler)
        if handler_kind:
            druid = _DRUID_HANDLER.fullmatch(handler_kind)
            return "druid" if druid else "kafka" if handler_kind == KAFKA_STORAGE_HANDLER else None
        return "files" if self.external else "iceberg"

    def value(self, clause: str) -> str:
        """The word or string after a clause's keywords; empty if there is none."""
        position = self.clauses.get(clause)
        tokens = self.draft.tokens
        return tokens[position.index].text if position and position.index < len(tokens) else ""

    @property
    def properties(self) -> list[Pair]:
        position = self.clauses.get("TBLPROPERTIES")
        pairs = self.draft.pairs(position.index) if position else None
        return pairs[0] if pairs else []

    def drop(self, clause: str, why: str) -> None:
        if position := self.clauses.get(clause):
            self.draft.remove(position.start, position.end)
            self.draft.say("dropped", f"{clause} ({why})")


def read_shape(draft: Draft) -> Shape | None:
    """The parts of a CREATE TABLE; None for other statements and for unparsable text."""
    cursor = draft.cursor()
    if not cursor.accept("CREATE"):
        return None
    cursor.accept("MANAGED")
    external = cursor.accept("EXTERNAL")
    table = cursor.index
    if not cursor.accept("TABLE"):
        return None
    cursor.accept("IF", "NOT", "EXISTS")
    try:
        cursor.table_name()
    except ParseError:
        return None
    columns = _columns(draft, cursor.index)
    start = columns[-1][1] + 2 if columns else cursor.index
    return Shape(draft, table, cursor.index - 1, external, columns, _clauses(draft, start))


def _columns(draft: Draft, index: int) -> list[tuple[int, int]]:
    """First and last token of each column, up to the closing parenthesis."""
    cursor = draft.cursor(index)
    if not cursor.accept("("):
        return []
    result: list[tuple[int, int]] = []
    start, depth = cursor.index, 0
    while not cursor.at_end:
        word = cursor.word()
        if depth == 0 and word in (",", ")"):
            result.append((start, cursor.index - 1))
            start = cursor.index + 1
            if word == ")":
                return result
        depth += {"(": 1, "<": 1, ")": -1, ">": -1}.get(word, 0)
        cursor.index += 1
    return []


def _clauses(draft: Draft, index: int) -> dict[str, Clause]:
    """The clauses from token `index`, each up to the next; AS extends to the end."""
    cursor = draft.cursor(index)
    clauses: list[tuple[str, int, int]] = []
    depth = 0
    while not cursor.at_end:
        start = cursor.index
        before = draft.tokens[start - 1].text.upper()
        words = next((w for w in _CLAUSES if depth == 0 and before != "DEFINED" and cursor.accept(*w.split())), None)
        if words == "STORED AS" and cursor.word() == "DIRECTORIES":  # of SKEWED BY
            words = None
        if words is not None:
            clauses.append((words, start, cursor.index))
            if words == "AS":
                break
            continue
        depth += {"(": 1, ")": -1}.get(cursor.word(), 0)
        cursor.index = max(cursor.index, start + 1)
    ends = [*(start for _, start, _ in clauses[1:]), len(draft.tokens)][: len(clauses)]
    tokens = draft.tokens
    return {
        words: Clause(tokens[start].start, tokens[end - 1].end + 1, inner)
        for (words, start, inner), end in zip(clauses, ends, strict=True)
    }


def revise_table(shape: Shape) -> None:
    """Apply the rules to a CREATE TABLE."""
    for rule in RULES:
        rule(shape)


# --- rules --------------------------------------------------------------------------------------------------------


def _handler(shape: Shape) -> None:
    handler = shape.value("STORED BY")
    if shape.kind != "druid" or handler.lower() in STORAGE_HANDLERS:
        return
    token = shape.draft.tokens[shape.clauses["STORED BY"].index]
    shape.draft.replace(token.start, token.end + 1, f"'{DRUID_STORAGE_HANDLER}'")
    shape.draft.say(
        "changed",
        f"STORED BY '{handler}' is now '{DRUID_STORAGE_HANDLER}': the former is a wrapper in Hive's own tests",
    )


def _external(shape: Shape) -> None:
    """EXTERNAL, as the keyword or (in SHOW CREATE TABLE of older Hive versions) as a property."""
    flag = next((pair.value for pair in shape.properties if pair.key.upper() == "EXTERNAL"), "")
    if shape.external:
        return
    if (flag.upper() == "TRUE" and (shape.kind == "druid" or "LOCATION" in shape.clauses)) or shape.kind == "kafka":
        why = "it has the property EXTERNAL" if flag else "Kafka tables are always external"
        _make_external(shape, why)
    elif shape.kind == "druid":
        shape.draft.say(
            "note", "without EXTERNAL, DROP TABLE deletes the data source; Hive 3 and later only allow EXTERNAL"
        )


def _make_external(shape: Shape, why: str) -> None:
    shape.draft.replace(shape.draft.tokens[shape.table].start, shape.draft.tokens[shape.table].start, "EXTERNAL ")
    shape.draft.say("changed", f"the table is EXTERNAL: {why}")
    shape.external = True


def _kafka_columns(shape: Shape) -> None:
    """Remove the columns that the handler adds and SHOW CREATE TABLE lists."""
    if shape.kind != "kafka":
        return
    added = {column.name for column in KAFKA_COLUMNS}
    tokens = shape.draft.tokens
    gone = [pair for pair in shape.columns if tokens[pair[0]].text.lower() in added]
    kept = [pair for pair in shape.columns if pair not in gone]
    if not gone or not kept:
        return
    text = ", ".join(shape.draft.source.text[tokens[first].start : tokens[last].end + 1] for first, last in kept)
    start, end = tokens[shape.columns[0][0]].start, tokens[shape.columns[-1][1]].end + 1
    shape.draft.replace(start, end, text)
    shape.draft.say("dropped", "columns __key, __partition, __offset and __timestamp (added to every Kafka table)")


def _avro_columns(shape: Shape) -> None:
    """Hive takes a Kafka table's columns from the Avro schema if none are declared."""
    schema = next((pair.value for pair in shape.properties if pair.key == "avro.schema.literal"), None)
    if shape.kind == "kafka" and not shape.columns and schema and (columns := avro_columns(schema)):
        end = shape.draft.tokens[shape.name].end + 1
        text = ", ".join(f"`{name}` {kind}" for name, kind in columns)
        shape.draft.replace(end, end, f" ({text})")
        shape.draft.say("changed", "the columns are taken from avro.schema.literal")


def _handler_clauses(shape: Shape) -> None:
    """Remove the clauses that SHOW CREATE TABLE prints for tables with a handler and CREATE TABLE does not accept."""
    if shape.kind in ("druid", "kafka"):
        shape.drop("ROW FORMAT", "the storage handler defines the SerDe")
        shape.drop(
            "LOCATION",
            "deep storage is configured in Druid" if shape.kind == "druid" else "a Kafka topic has no LOCATION",
        )
        clause = shape.clauses.get("WITH SERDEPROPERTIES")
        read = shape.draft.pairs(clause.index) if clause else None
        if read and all(pair.key == "serialization.format" for pair in read[0]):
            shape.drop("WITH SERDEPROPERTIES", "the storage handler defines the SerDe")


def _file_format(shape: Shape) -> None:
    """STORED AS. Managed tables are Iceberg tables with ORC files; their former format is that of files that LOAD DATA
    reads, and is dropped if it is not supported."""
    if shape.kind not in ("files", "iceberg") or "LIKE" in shape.clauses:
        return
    name = _format_name(shape)
    if shape.kind == "iceberg" and not (name in _FORMATS and _has_serde(shape)):
        why = "managed tables are Iceberg tables with ORC files; use EXTERNAL and LOCATION to read existing files"
        shape.drop("ROW FORMAT", why)
        shape.drop("WITH SERDEPROPERTIES", why)
        if name not in ("ORC", "ORCFILE", ""):
            shape.drop("STORED AS", why)
            return


def _format_name(shape: Shape) -> str:
    """The format after STORED AS, also if SHOW CREATE TABLE prints it as INPUTFORMAT 'class' OUTPUTFORMAT 'class'."""
    word = shape.value("STORED AS").upper()
    if word != "INPUTFORMAT":
        return word
    index = shape.clauses["STORED AS"].index + 1
    tokens = shape.draft.tokens[index : index + 1]
    if not tokens or tokens[0].token_type != TokenType.STRING:
        return word
    name = INPUT_FORMATS.get(tokens[0].text.rpartition(".")[2], word)
    clause = shape.clauses.get("ROW FORMAT")
    serde = shape.draft.tokens[clause.index + 1].text if clause and clause.index + 1 < len(shape.draft.tokens) else ""
    return "JSONFILE" if name == "TEXTFILE" and SERDE_FORMATS.get(serde) == "jsonfile" else name


def _has_serde(shape: Shape) -> bool:
    """Whether the SerDe of ROW FORMAT is supported."""
    clause = shape.clauses.get("ROW FORMAT")
    if clause is None or shape.value("ROW FORMAT").upper() != "SERDE":
        return True
    following = shape.draft.tokens[clause.index + 1 : clause.index + 2]
    return any(token.text in SERDE_FORMATS or token.text in OTHER_SERDES for token in following)


def _file_location(shape: Shape) -> None:
    """A transactional table with a LOCATION is managed here, and other ones with a LOCATION are external, as in
    Hive's metastore (`tables/placement.py`)."""
    transactional = any(pair.key == "transactional" and pair.value.lower() == "true" for pair in shape.properties)
    if shape.kind == "iceberg" and "LOCATION" in shape.clauses:
        if transactional:
            shape.drop(
                "LOCATION", "the table starts empty because files of Hive's ACID tables cannot be read; copy the rows"
            )
        else:
            shape.draft.say("note", "the table is external because it has a LOCATION; DROP TABLE deletes its files")
            shape.external = True


def _time_alias(shape: Shape) -> None:
    """Fix a typo in the Hive documentation page."""
    if shape.kind == "druid" and (clause := shape.clauses.get("AS")):
        for token in shape.draft.tokens[clause.index :]:
            if token.text == "___time" and token.token_type != TokenType.STRING:
                shape.draft.replace(token.start, token.end + 1, "`__time`")
                shape.draft.say("changed", "`___time` is now `__time`, the name of Druid's time column")


def _properties(shape: Shape) -> None:
    clause = shape.clauses.get("TBLPROPERTIES")
    read = shape.draft.pairs(clause.index) if clause else None
    if clause is None or read is None:
        return
    pairs, end = read
    rest = [pair for pair in pairs if pair.key.upper() != "EXTERNAL"]
    kept, findings = revised(rest, shape.kind)
    if len(rest) < len(pairs):
        shape.draft.say("dropped", "'EXTERNAL' (use CREATE EXTERNAL TABLE)")
    shape.draft.findings += findings
    if not kept:
        shape.draft.remove(clause.start, clause.end)
    elif kept != pairs:
        shape.draft.replace_pairs(clause.index, end, kept)


def _field_names(shape: Shape) -> None:
    """Hive lower-cases column names, so JSON fields with capitals never matched."""
    given = {pair.key: pair.value for pair in shape.properties}
    if (
        shape.kind != "druid"
        or not has_ingestion(given)
        or given.get("druid.parseSpec.format", "json").lower() != "json"
    ):
        return
    names = [shape.draft.tokens[first].text for first, _ in shape.columns]
    mapping = ", ".join(f"{n}:{n.lower()}" for n in names if n != n.lower() and n.lower() != TIME_COLUMN)
    if mapping and "druid.columns.mapping" not in given:
        shape.draft.say(
            "note",
            "column names are lower case, JSON fields are case-sensitive, so Hive never matched a field with capitals:"
            f" add 'druid.columns.mapping' = '{mapping}' if the records have such fields",
        )


Rule = Callable[[Shape], None]
RULES: tuple[Rule, ...] = (
    _handler, _external, _kafka_columns, _avro_columns, _handler_clauses, _file_location, _file_format,
    _time_alias,
    _properties, _field_names,
)  # fmt: skip
"""In this order: later rules depend on the changes of earlier ones, such as EXTERNAL."""

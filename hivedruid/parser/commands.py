"""Statements other than queries, by their first word."""

from __future__ import annotations

from collections.abc import Callable

from hivedruid.errors import ParseError, did_you_mean
from hivedruid.parser.statements import Statement
from hivedruid.parser.tokens import Cursor, next_sign, tokenize, unset_variable
from hivedruid.script import SourceStatement

Parser = Callable[[SourceStatement, Cursor], Statement]

INGESTION_VERBS = ("START", "STOP", "SUSPEND", "RESUME", "HANDOFF", "WAIT")
STREAM_VERBS = ("PAUSE", "RUN")
"""Those that are not verbs of ingestions, too."""

# First word -> (module below hivedruid.parser, function).
_PARSERS: dict[str, tuple[str, str]] = {
    "CREATE": ("create", "parse_create"),
    "DROP": ("alter", "parse_drop"),
    "ALTER": ("alter", "parse_alter"),
    "TRUNCATE": ("alter", "parse_truncate"),
    "USE": ("alter", "parse_use"),
    "INSERT": ("insert", "parse_insert"),
    "LOAD": ("loading", "parse_load"),
    "DELETE": ("row_changes", "parse_delete"),
    "UPDATE": ("row_changes", "parse_update"),
    "MERGE": ("merge", "parse_merge"),
    "DESCRIBE": ("utility", "parse_describe"),
    "DESC": ("utility", "parse_describe"),
    "MSCK": ("partitions", "parse_repair"),
    "SHOW": ("utility", "parse_show"),
    "KILL": ("ingestion", "parse_kill"),
    "ANALYZE": ("analyze", "parse_analyze"),
    "CANCEL": ("jobs", "parse_cancel"),
    "ARCHIVE": ("tiering", "parse_archive"),
    "UNARCHIVE": ("tiering", "parse_unarchive"),
    "VERIFY": ("tiering", "parse_verify"),
    **dict.fromkeys(INGESTION_VERBS, ("ingestion", "parse_ingestion")),
    "RESUME": ("jobs", "parse_resume"),
    "CHECKPOINT": ("streaming", "parse_checkpoint"),
    "ROLLBACK": ("streaming", "parse_rollback"),
    **dict.fromkeys(STREAM_VERBS, ("streaming", "parse_change")),
}
_FROM_FIRST_WORD = ("INSERT", *INGESTION_VERBS, *STREAM_VERBS)
"""Their parsers also read the first word."""
# These parse the raw text: their values are not SQL.
_RAW: dict[str, tuple[str, str]] = {
    "SET": ("utility", "parse_set"),
    "RESET": ("utility", "parse_reset"),
    "SOURCE": ("utility", "parse_source"),
}
_OTHERS = ("SELECT", "WITH", "FROM", "VALUES", "EXPLAIN", "ADD", "LIST")
FIRST_WORDS = tuple(dict.fromkeys((*_PARSERS, *_RAW, *_OTHERS)))
"""The first words of statements."""
STARTS = frozenset(FIRST_WORDS) - {"ADD", "FROM", "LIST", "SET", "VALUES", "WITH"}
"""Those with which no line inside a statement usually begins."""
_INSTEAD = {
    "TERMINATE": "use STOP INGESTION table to stop an ingestion",
    "ADD": "use ADD JAR path or ADD FILE path",
    "LIST": "use LIST JARS or LIST FILES",
}


def parse_command(source: SourceStatement, word: str, start: int, end: int) -> Statement:
    """The statement at `start`, whose first `word` ends at `end`."""
    from importlib import import_module

    if word == "RESET":
        from hivedruid.parser.ingestion import is_reset, parse_ingestion

        if is_reset(source, end):
            cursor = Cursor(source, tokenize(source, start))
            if cursor.word(1) == "STREAM":
                from hivedruid.parser.streaming import parse_reset

                return parse_reset(source, cursor)
            return parse_ingestion(source, cursor)
    if word in _RAW:
        module, function = _RAW[word]
        return getattr(import_module(f"hivedruid.parser.{module}"), function)(source, end)  # type: ignore[no-any-return]
    if word != "INSERT":
        from hivedruid.parser.refused import refuse, resources, without_effect

        if (changed := resources(source, word, end)) is not None:
            return changed
        if (accepted := without_effect(source, word, end)) is not None:
            return accepted
        refuse(source, word, start, end)
    if word in _PARSERS:
        module, function = _PARSERS[word]
        # sqlglot's tokenizer swallows what follows a SHOW or EXPLAIN as one string, so the first word stays outside.
        offset = start if word in _FROM_FIRST_WORD else end
        cursor = Cursor(source, tokenize(source, offset))
        return getattr(import_module(f"hivedruid.parser.{module}"), function)(source, cursor)  # type: ignore[no-any-return]
    raise _no_statement(source, word, start, end)


def _no_statement(source: SourceStatement, word: str, start: int, end: int) -> ParseError:
    if not word:
        sign, offset = next_sign(source.text, start)
        if (unset := unset_variable(source, offset)) is not None:
            return unset
        shown = f"'{sign}'" if sign else "the end of the statement"
        return ParseError(f"expected a statement, found {shown}", span=source.span(offset))
    begin = source.text.upper().rfind(word, start, end)
    begin = begin if begin >= 0 else start
    hint = _INSTEAD.get(word) or did_you_mean(word, FIRST_WORDS)
    return ParseError(
        f"expected a statement, found '{source.text[begin:end]}'", span=source.span(begin, end), hint=hint
    )

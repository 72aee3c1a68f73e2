"""The completions at the cursor: from the capability tables, and the names of the catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hivedruid.repl import vocabulary
from hivedruid.repl.commands import COMMANDS, DOTTED, FILE, find
from hivedruid.repl.places import Place, place
from hivedruid.repl.vocabulary import Candidate

if TYPE_CHECKING:
    from hivedruid.catalog.functions import UserFunction
    from hivedruid.catalog.iceberg_place import IcebergPlace
    from hivedruid.catalog.table import Table
    from hivedruid.repl.elsewhere import NamesElsewhere
    from hivedruid.session import Session

Read = TypeVar("Read")


class Names:
    """The names of a session's catalog. Each is read once, without a request to Druid or Spark. If the catalog cannot
    be read, there are none: the next statement reports it. `elsewhere` has those of other catalogs that are known."""

    def __init__(self, session: Session, elsewhere: NamesElsewhere | None = None) -> None:
        self._catalog = session.catalog
        self._elsewhere = elsewhere
        self._temporary = session.temporary_functions
        self.database = session.database
        self._tables: dict[str, tuple[str, ...]] = {}
        self._places: dict[str, IcebergPlace | None] = {}
        self._views: dict[str, tuple[str, ...]] = {}
        self._found: dict[tuple[str, str], Table | None] = {}

    @cached_property
    def _of_home(self) -> tuple[str, ...]:
        return _read(self._catalog.databases, ())

    @property
    def databases(self) -> tuple[str, ...]:
        return _merged(self._of_home, self._elsewhere.databases()) if self._elsewhere is not None else self._of_home

    @cached_property
    def streams(self) -> tuple[str, ...]:
        """With their databases."""
        return _read(self._stream_names, ())

    def _stream_names(self) -> tuple[str, ...]:
        from hivedruid.catalog.streams import Streams

        return tuple(record.stream.full_name for record in Streams(self._catalog).all())

    @cached_property
    def functions(self) -> tuple[Candidate, ...]:
        """Those that users created."""
        from hivedruid.catalog.functions import all_functions

        none: dict[tuple[str, str], UserFunction] = {}
        known = {**_read(partial(all_functions, self._catalog), none), **self._temporary}.values()
        names = [each.name if each.database in ("", self.database) else each.full_name for each in known]
        return tuple(
            Candidate(name, "function", each.help, each.signature) for name, each in zip(names, known, strict=True)
        )

    def tables(self, database: str) -> tuple[str, ...]:
        if database not in self._tables:
            self._tables[database] = _read(partial(self._catalog.table_names, database), ())
        if self._elsewhere is None:
            return self._tables[database]
        return _merged(self._tables[database], self._elsewhere.tables(database, self._place(database)))

    def _place(self, database: str) -> IcebergPlace | None:
        if database not in self._places:
            from hivedruid.catalog.resolution import Names as AllNames

            self._places[database] = _read(partial(AllNames(self._catalog, None).iceberg_place, database), None)
        return self._places[database]

    def views(self, database: str) -> tuple[str, ...]:
        if database not in self._views:
            self._views[database] = _read(partial(self._catalog.view_names, database), ())
        return self._views[database]

    def table(self, database: str, name: str) -> Table | None:
        if (database, name) not in self._found:
            self._found[database, name] = _read(partial(self._catalog.resolve, database, name), None)
        return self._found[database, name]


def _merged(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({*first, *second}))


def _read(read: Callable[[], Read], default: Read) -> Read:
    try:
        return read()
    except Exception:  # noqa: BLE001 - an error of the catalog, of any kind, must not end a prompt
        return default


def complete(text: str, cursor: int, names: Names) -> tuple[str, list[Candidate]]:
    """What is typed of the name at the cursor, and the candidates that replace it: those that begin with it, else keys
    with a part that does."""
    if text.lstrip().startswith(("\\", ".")):
        return _of_command(text[:cursor].lstrip(), names)
    at = place(text, cursor)
    prefix = at.prefix.lower().lstrip("`")
    ahead, inside = [], []
    for candidate in _candidates(at, names):
        name = candidate.text.lower().lstrip("'`")
        if name.startswith(prefix):
            ahead.append(candidate)
        elif prefix and f".{prefix}" in name:
            inside.append(candidate)
    found = ahead or inside
    if at.prefix.startswith("`"):
        found = [replace(each, text=f"`{each.text}`") if "`" not in each.text else each for each in found]
    elif at.prefix.islower():
        found = [_lower(each) for each in found]
    return at.prefix, found


def _of_command(before: str, names: Names) -> tuple[str, list[Candidate]]:
    """The completions of a command of the prompt: its name, or its argument."""
    name, space, argument = before.partition(" ")
    if not space:
        found = [Candidate(each.name, "command", each.doc, each.usage) for each in COMMANDS.values()]
        found += [Candidate(dotted, "command", COMMANDS[name].doc) for dotted, name in DOTTED.items()]
        return name, [each for each in found if each.text.startswith(name)]
    command = find(name)
    if command is None:
        return argument, []
    if command.completes and command.completes != FILE:
        text = command.completes + argument.lstrip()
        return complete(text, len(text), names)
    return argument, [Candidate(value, "value") for value in command.values if value.startswith(argument.lower())]


def _lower(candidate: Candidate) -> Candidate:
    if candidate.kind not in ("keyword", "statement"):
        return candidate
    return replace(candidate, text=candidate.text.lower())


def _candidates(at: Place, names: Names) -> Iterator[Candidate]:
    if at.kind == "statement":
        yield from vocabulary.statements()
    elif at.kind == "setting":
        yield from vocabulary.settings()
        if at.first == "RESET":
            yield from (Candidate(word, "keyword") for word in ("INGESTION", "STREAM"))
    elif at.kind == "setting value":
        yield from vocabulary.setting_values(at.key)
    elif at.kind == "show":
        yield from vocabulary.shown_kinds()
    elif at.kind == "handler":
        yield from _quoted(vocabulary.handlers(), at)
    elif at.kind == "property":
        yield from _quoted(_properties(at, names), at)
    elif at.kind == "property value":
        yield from _quoted(vocabulary.property_values(at.key) or _table_values(at, names), at)
    elif at.kind == "database":
        yield from _databases(names)
    elif at.kind == "stream":
        yield from (Candidate(name, "stream") for name in _of_database(names.streams, at, names))
    elif at.kind == "table":
        yield from _tables(at, names)
    elif at.kind == "view":
        yield from (Candidate(name, "table", "view") for name in names.views(at.qualifier or names.database))
    elif at.kind in ("file", "keyword"):
        yield from _files(at.prefix) if at.kind == "file" else vocabulary.keywords()
    elif at.kind == "column":
        yield from _expression(at, names)


def _quoted(candidates: Iterable[Candidate], at: Place) -> Iterator[Candidate]:
    """Text of a string: with its quotes if the cursor is not in one."""
    if at.is_quoted:
        return iter(candidates)
    return (Candidate(f"'{each.text}'", each.kind, each.help, each.text) for each in candidates)


def _properties(at: Place, names: Names) -> Iterable[Candidate]:
    if at.family == "PROPERTIES":
        return vocabulary.stream_properties()
    named = next(iter(at.tables.values()), "")
    table = names.table(*_split(named, names)) if named and not at.handler else None
    return vocabulary.properties(table.kind if table else _kind(at.handler))


def _kind(handler: str) -> str:
    """The kind of table of STORED BY; "" for an unknown one."""
    from hivedruid.catalog.kinds import KINDS

    return next((name for name, kind in KINDS.items() if handler and handler in (name, kind.handler)), "")


def _table_values(at: Place, names: Names) -> Iterator[Candidate]:
    from hivedruid.catalog.properties import PROPERTIES

    item = PROPERTIES.get(at.key)
    return _tables(at, names) if item is not None and item.type == "table" else iter(())


def _files(prefix: str) -> Iterator[Candidate]:
    """The files and folders whose paths begin like this, hidden ones excluded."""
    from hivedruid.actions.loose_files import ending_of

    folder = prefix[: prefix.rfind("/") + 1]
    try:
        found = sorted(Path(folder or ".").iterdir())
    except OSError:
        return
    for each in found:
        if each.name.startswith("."):
            continue
        if each.is_dir():
            yield Candidate(f"{folder}{each.name}/", "value", "folder")
        elif (ending := ending_of(each.name)) is not None:
            yield Candidate(f"{folder}{each.name}", "value", ending)


def _split(name: str, names: Names) -> tuple[str, str]:
    database, _, table = name.rpartition(".")
    return database or names.database, table


def _databases(names: Names) -> Iterator[Candidate]:
    return (Candidate(name, "database") for name in names.databases)


def _of_database(full_names: Iterable[str], at: Place, names: Names) -> Iterator[str]:
    """The names of one database without it."""
    database = at.qualifier or names.database
    return (name.removeprefix(f"{database}.") for name in full_names if name.startswith(f"{database}."))


def _tables(at: Place, names: Names) -> Iterator[Candidate]:
    database = at.qualifier or names.database
    if not at.qualifier:
        yield from (Candidate(name, "table", "of WITH") for name in at.subqueries)
    prefix = at.prefix.lower().lstrip("`")  # before a value is made for each of thousands
    yield from (Candidate(name, "table") for name in names.tables(database) if name.startswith(prefix))
    if not at.qualifier:
        yield from _databases(names)


def _expression(at: Place, names: Names) -> Iterator[Candidate]:
    """Columns of the tables of the statement first, then their names, functions and keywords."""
    if at.qualifier:
        named = at.tables.get(at.qualifier)
        if named is not None:
            yield from _columns(named, names)
        elif at.qualifier in names.databases:
            yield from _tables(at, names)
        return
    columns = {each.text: each for named in dict.fromkeys(at.tables.values()) for each in _columns(named, names)}
    yield from columns.values()
    yield from (Candidate(alias, "table", named) for alias, named in at.tables.items())
    if at.prefix or not columns:
        yield from names.functions
        yield from vocabulary.functions()
        yield from vocabulary.keywords()


def _columns(named: str, names: Names) -> Iterator[Candidate]:
    table = names.table(*_split(named, names))
    for column in table.columns if table else ():
        text = column.name if column.name.isidentifier() and not column.name.startswith("_") else f"`{column.name}`"
        yield Candidate(text, "column", f"{column.type} of {named}")

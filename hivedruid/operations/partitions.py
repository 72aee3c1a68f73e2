"""Operations that move staged files into the folders of external tables."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from hivedruid.lazy_dataclass import dataclass
from hivedruid.operations.operation import Operation, Transitions


@dataclass(frozen=True, kw_only=True)
class PartitionJob(Operation):
    """An INSERT into an external table with partitions, or LOAD DATA, all of whose files are staged: what remains is to
    move them, and to add new partitions to the catalog. It begins when the files are complete, and can be repeated.
    EXCHANGE PARTITION moves whole folders of another table. DROP PARTITION removes partitions from the catalog, and
    deletes their folders.

    `staged` is the folder with a folder for each partition. `moves` are the values of each partition, the name of its
    staged folder, and the folder that receives its files; there are no values for a table without partitions.
    `overwrites`: the files replace those that are there. `sources` are deleted at the end. `giver` are the database,
    the name and the id of the table that loses its partitions to this one; the moves have the paths of its folders.
    `drops`: the folders of the moves are deleted.
    """

    kind: ClassVar[str] = "partitions"
    transitions: ClassVar[Transitions] = {"moving": ("done", "cancelled"), "done": (), "cancelled": ()}

    state: Literal["moving", "done", "cancelled"] = "moving"
    staged: str = ""
    moves: tuple[tuple[tuple[str, ...], str, str], ...] = ()
    overwrites: bool = False
    sources: tuple[str, ...] = ()
    giver: tuple[str, ...] = ()
    drops: bool = False

    def notes(self) -> dict[str, Any]:
        moves = [[list(values), name, folder] for values, name, folder in self.moves]
        notes = {"staged": self.staged, "moves": moves, "overwrites": self.overwrites}
        more = {"sources": list(self.sources), "giver": list(self.giver), "drops": self.drops}
        return notes | {key: value for key, value in more.items() if value}

    @classmethod
    def of_notes(cls, notes: Any, **common: Any) -> PartitionJob:
        moves = tuple((tuple(values), name, folder) for values, name, folder in notes.get("moves", ()))
        sources, giver = (tuple(notes.get(key, ())) for key in ("sources", "giver"))
        common |= {"staged": notes["staged"], "overwrites": notes["overwrites"]}
        return cls(**common, moves=moves, sources=sources, giver=giver, drops=bool(notes.get("drops")))

"""The Spark views for the tables of a job: one for all scans that read the same files of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hivedruid.catalog.table import Table
from hivedruid.parser.loose_files import stem
from hivedruid.plan.ctes import table_scans
from hivedruid.plan.nodes import Node, TableScan
from hivedruid.plan.physical import TableInput
from hivedruid.plan.spark_pruning import Pruning


def view_name(table: Table) -> str:
    """The first part of the names of views with rows of a table."""
    return stem(table.name) if table.is_loose else table.name.replace("@", "_")


class TableViews:
    """Spark lists the files of a view once, however often a query reads it, and computes what is read twice of one view
    once. So scans that differ only in their columns read one view, which has the columns of all of them.
    """

    def __init__(self, node: Node, described: Callable[[TableScan], TableInput]) -> None:
        """`described` is the input of a scan; its view is not read."""
        self._groups: list[TableInput] = []
        self._numbers: dict[int, int] = {}
        places: dict[tuple[str, str], list[int]] = {}
        for scan in table_scans(node):
            if id(scan) in self._numbers:
                continue
            item = described(scan)
            there = places.setdefault((scan.table.database, scan.table.name), [])
            number = next((n for n in there if _reads_the_same(self._groups[n], item)), None)
            if number is None:
                number = len(self._groups)
                there.append(number)
                self._groups.append(item)
            else:
                group = self._groups[number]
                self._groups[number] = replace(group, columns=tuple(dict.fromkeys((*group.columns, *item.columns))))
            self._numbers[id(scan)] = number
        self.pruning = Pruning.of(group.table for group in self._groups)

    def number(self, scan: TableScan) -> int:
        """The number of the input that the scan reads."""
        return self._numbers[id(scan)]

    def input(self, number: int, view: str) -> TableInput:
        """The input with this number, as a view of this name."""
        return replace(self._groups[number], view=view)

    def has_more(self, scan: TableScan) -> bool:
        """Whether the view has columns that the scan does not read."""
        return len(self._groups[self.number(scan)].columns) > len(scan.columns)


def _reads_the_same(a: TableInput, b: TableInput) -> bool:
    return a.topic is None and not a.is_whole and a == replace(b, columns=a.columns)

"""The jars of Spark's Kafka connector have different versions: each class, method and field that one uses of another
exists there."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from zipfile import ZipFile

from hivedruid.local.artifacts import Artifact, locked_group, resolve

CONNECTOR, TOKENS, CLIENTS = "spark-sql-kafka-0-10_2.13", "spark-token-provider-kafka-0-10_2.13", "kafka-clients"
Member = tuple[str, str, str]
"""Class, name, descriptor."""


@dataclass(frozen=True)
class ClassFile:
    """What a class inherits from, declares, and uses of others."""

    parents: tuple[str, ...]
    members: frozenset[tuple[str, str]]
    classes: frozenset[str]
    uses: frozenset[Member]


def parsed(data: bytes) -> ClassFile:
    """By the Java Virtual Machine Specification, chapter 4."""
    count = struct.unpack_from(">H", data, 8)[0]
    pool: dict[int, tuple[int, tuple[int, ...] | str]] = {}
    at, number = 10, 1
    sizes = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
    while number < count:
        tag = data[at]
        if tag == 1:
            (length,) = struct.unpack_from(">H", data, at + 1)
            pool[number] = (tag, data[at + 3 : at + 3 + length].decode("utf-8", "replace"))
            at += 3 + length
        else:
            pool[number] = (tag, struct.unpack_from(f">{sizes[tag] // 2}H", data, at + 1))
            at += 1 + sizes[tag]
        number += 2 if tag in (5, 6) else 1

    def text(index: int) -> str:
        value = pool[index][1]
        return value if isinstance(value, str) else text(value[0])

    def shorts() -> Iterator[int]:
        nonlocal at
        while True:
            at += 2
            yield struct.unpack_from(">H", data, at - 2)[0]

    read = shorts()
    _access, _this, parent, interfaces = (next(read) for _ in range(4))
    parents = [text(parent)] if parent else []
    parents += [text(next(read)) for _ in range(interfaces)]
    members = set()
    for _ in range(2):  # fields, then methods
        for _ in range(next(read)):
            _access, name, descriptor, attributes = (next(read) for _ in range(4))
            members.add((text(name), text(descriptor)))
            for _ in range(attributes):
                next(read)
                (length,) = struct.unpack_from(">I", data, at)
                at += 4 + length
    uses = set()
    for tag, value in pool.values():
        if tag in (9, 10, 11):
            assert not isinstance(value, str)
            _, pair = pool[value[1]]
            assert not isinstance(pair, str)
            uses.add((text(value[0]), text(pair[0]), text(pair[1])))
    classes = frozenset(text(number) for number, (tag, _) in pool.items() if tag == 7)
    return ClassFile(tuple(parents), frozenset(members), classes, frozenset(uses))


def artifact(name: str) -> Artifact:
    return next(one for one in locked_group("spark") if one.name == name)


@cache
def classes(name: str) -> dict[str, bytes]:
    (path,) = resolve((artifact(name),), lambda _: None)
    with ZipFile(path) as jar:
        return {
            entry.removesuffix(".class"): jar.read(entry)
            for entry in jar.namelist()
            if entry.endswith(".class") and not entry.startswith("META-INF/")
        }


def missing(user: str, used: str) -> set[str]:
    """What the classes of one jar use of the classes of another, and is not there."""
    known = classes(used)
    own = classes(user)
    packages = {name.rpartition("/")[0] for name in known} - {name.rpartition("/")[0] for name in own}

    def has(owner: str, member: tuple[str, str]) -> bool:
        if owner not in known:
            return True  # inherited from Java or another library
        found = parsed(known[owner])
        return member in found.members or any(
            has(parent, member) for parent in found.parents if parent != "java/lang/Object"
        )

    lost: set[str] = set()
    for data in own.values():
        file = parsed(data)
        lost |= {name for name in file.classes if name.rpartition("/")[0] in packages and name not in known}
        for owner, name, descriptor in file.uses:
            if owner in known and not has(owner, (name, descriptor)):
                lost.add(f"{owner}.{name}{descriptor}")
    return lost


def uses(user: str, used: str) -> int:
    known = classes(used)
    return len({use for data in classes(user).values() for use in parsed(data).uses if use[0] in known})


def test_what_the_connector_uses_exists() -> None:
    for user, used in ((CONNECTOR, TOKENS), (CONNECTOR, CLIENTS), (TOKENS, CLIENTS)):
        assert uses(user, used) > 5, f"{user} uses {used}"
        assert missing(user, used) == set(), f"{user} does not fit {used}"


def test_the_connector_is_of_the_installed_spark() -> None:
    from pyspark.version import __version__ as spark

    assert artifact(CONNECTOR).rev.split(".")[:2] == spark.split(".")[:2]

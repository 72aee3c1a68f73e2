"""Class files and their code, on files that an assembler here makes; and the cases of Druid's tests in them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.suites import druidsql
from tests.suites.bytecode import NotConstant, calls, milliseconds
from tests.suites.cases import Table
from tests.suites.classfile import Float, Member, read_class
from tests.suites.comparison import ValueRows
from tests.suites.running import Runner

LISTS = "com/google/common/collect/ImmutableList"
MAPS = "com/google/common/collect/ImmutableMap$Builder"
OBJECT = "Ljava/lang/Object;"
BUILDER = f"L{MAPS};"


class Assembler:
    """A class file with some methods; the methods here return the bytes of instructions."""

    def __init__(self) -> None:
        self._pool: list[bytes] = [b""]
        self._methods: list[bytes] = []
        self._recipes: list[int] = []

    def _add(self, entry: bytes) -> int:
        if entry not in self._pool:
            self._pool += [entry, b""] if entry[0] in (5, 6) else [entry]
        return self._pool.index(entry)

    def _utf8(self, text: str) -> int:
        return self._add(struct.pack(">BH", 1, len(text.encode())) + text.encode())

    def _pair(self, kind: int, first: int, second: int) -> int:
        return self._add(struct.pack(">BHH", kind, first, second))

    def _class(self, name: str) -> int:
        return self._add(struct.pack(">BH", 7, self._utf8(name)))

    def _named(self, name: str, descriptor: str) -> int:
        return self._pair(12, self._utf8(name), self._utf8(descriptor))

    def ldc(self, value: str | int | float | Float) -> bytes:
        if isinstance(value, Float):
            return struct.pack(">BH", 0x13, self._add(struct.pack(">Bf", 4, value.value)))
        if isinstance(value, str):
            return struct.pack(">BH", 0x13, self._add(struct.pack(">BH", 8, self._utf8(value))))
        form = (5, "q") if isinstance(value, int) else (6, "d")
        return struct.pack(">BH", 0x14, self._add(struct.pack(f">B{form[1]}", form[0], value)))

    def call(self, code: int, owner: str, name: str, descriptor: str) -> bytes:
        member = self._pair(11 if code == 0xB9 else 10, self._class(owner), self._named(name, descriptor))
        return struct.pack(">BH", code, member) + (b"\x01\x00" if code == 0xB9 else b"")

    def field(self, code: int, name: str) -> bytes:
        return struct.pack(">BH", code, self._pair(9, self._class("T"), self._named(name, OBJECT)))

    def of_class(self, code: int, name: str) -> bytes:
        return struct.pack(">BH", code, self._class(name))

    def concatenation(self, recipe: str, descriptor: str) -> bytes:
        self._recipes.append(self._add(struct.pack(">BH", 8, self._utf8(recipe))))
        return struct.pack(">BHH", 0xBA, self._pair(18, len(self._recipes) - 1, self._named("concat", descriptor)), 0)

    def array(self, *values: bytes) -> bytes:
        """`new Object[]{…}`"""
        stores = (b"\x59" + bytes([3 + place]) + value + b"\x53" for place, value in enumerate(values))
        return bytes([3 + len(values)]) + self.of_class(0xBD, "java/lang/Object") + b"".join(stores)

    def boxed(self, value: int | float | Float) -> bytes:
        name, letter = {int: ("Long", "J"), float: ("Double", "D"), Float: ("Float", "F")}[type(value)]
        return self.ldc(value) + self.call(0xB8, f"java/lang/{name}", "valueOf", f"({letter})Ljava/lang/{name};")

    def list_of(self, *values: bytes) -> bytes:
        return b"".join(values) + self.call(0xB8, LISTS, "of", f"({OBJECT * len(values)})L{LISTS};")

    def map_of(self, **values: bytes) -> bytes:
        puts = (
            self.ldc(name) + value + self.call(0xB6, MAPS, "put", f"({OBJECT}{OBJECT}){BUILDER}")
            for name, value in values.items()
        )  # fmt: skip
        made = self.call(0xB8, MAPS.removesuffix("$Builder"), "builder", f"(){BUILDER}")
        return made + b"".join(puts) + self.call(0xB6, MAPS, "build", f"()L{MAPS};")

    def method(self, name: str, code: bytes, returns: bytes = b"\xb1") -> None:
        body = struct.pack(">HHI", 9, 9, len(code) + 1) + code + returns + b"\0\0\0\0"
        head = struct.pack(">HHHH", 1, self._utf8(name), self._utf8("()V"), 1)
        self._methods.append(head + struct.pack(">HI", self._utf8("Code"), len(body)) + body)

    def bytes(self) -> bytes:
        sites = b"".join(struct.pack(">HHH", 0, 1, recipe) for recipe in self._recipes)
        sites = struct.pack(">H", len(self._recipes)) + sites
        attribute = struct.pack(">HI", self._utf8("BootstrapMethods"), len(sites)) + sites
        pool = struct.pack(">H", len(self._pool)) + b"".join(self._pool)
        methods = struct.pack(">H", len(self._methods)) + b"".join(self._methods)
        interfaces = struct.pack(">HH", 1, self._class("I"))
        return b"\xca\xfe\xba\xbe\0\0\0\x37" + pool + b"\0" * 6 + interfaces + b"\0\0" + methods + b"\0\1" + attribute


@pytest.fixture
def java() -> Assembler:
    made = Assembler()
    made._class("I")
    made._utf8("BootstrapMethods")
    return made


def test_a_method_that_passes_a_query_and_its_rows(java: Assembler) -> None:
    rows = java.list_of(
        java.array(java.boxed(7), java.ldc("x")), java.array(b"\x01", java.boxed(2.5)), java.array(java.boxed(Float(0.5)))
    )  # fmt: skip
    passes = java.call(0xB6, "T", "testQuery", "(Ljava/lang/String;Ljava/util/List;Ljava/util/List;)V")
    java.method("testIt", b"\x2a" + java.ldc("SELECT 1") + java.list_of() + rows + passes)
    (call,) = calls(read_class(java.bytes()), "testIt()V")
    assert call.member == Member("T", "testQuery", "(Ljava/lang/String;Ljava/util/List;Ljava/util/List;)V")
    assert call.arguments == ["SELECT 1", [], [[7, "x"], [None, 2.5], [Float(0.5)]]]


def test_values_of_instructions(java: Assembler) -> None:
    takes = java.call(0xB6, "T", "take", "(J)V")
    both = java.call(0xB6, "T", "take", f"({OBJECT})V")
    text = java.ldc("a") + java.ldc(3) + java.concatenation("\x01-\x01!", f"({OBJECT}J)Ljava/lang/String;")
    java.method("sum", java.ldc(40) + b"\x05\x85\x61\x40" + b"\x2a\x1f" + takes)  # a sum in a variable
    java.method("choice", b"\x04\x99\x00\x07\x2a\x04" + takes)  # `if (1 == 0)` over a call
    java.method("text", b"\x2a" + text + both)
    java.method(
        "new",
        b"\x2a" + java.of_class(0xBB, "P") + b"\x59" + java.ldc(5) + java.call(0xB7, "P", "<init>", "(J)V") + both,
    )
    java.method(
        "time", b"\x2a" + java.ldc("2001-02") + java.call(0xB8, "T", "timestamp", "(Ljava/lang/String;)J") + takes
    )
    file = read_class(java.bytes())
    values = {
        name: [call.arguments for call in calls(file, f"{name}()V")] for name in ("sum", "choice", "text", "time")
    }
    assert values == {"sum": [[42]], "choice": [[1]], "text": [["a-3!"]], "time": [[milliseconds("2001-02-01")]]}
    (call,) = calls(file, "new()V")
    assert (call.arguments[0].member.owner, call.arguments[0].arguments) == ("P", [5])


@pytest.mark.parametrize(
    ("code", "reason"),
    [(b"\xa7\x00\x00", "a loop"), (b"\xbe", "the instruction 0xbe")],
)
def test_what_is_not_constant(java: Assembler, code: bytes, reason: str) -> None:
    java.method("loop", code)
    with pytest.raises(NotConstant, match=reason):
        calls(read_class(java.bytes()), "loop()V")


def test_a_condition_of_a_call_is_not_constant(java: Assembler) -> None:
    java.method("ask", java.call(0xB8, "T", "isOld", "()Z") + b"\x99\x00\x03")
    with pytest.raises(NotConstant, match="a condition of a call"):
        calls(read_class(java.bytes()), "ask()V")


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    runner = Runner(tmp_path / "home", spark=False)
    yield runner
    runner.close()


def test_druids_tests(java: Assembler, runner: Runner) -> None:
    """A table of maps, and tests of the forms of Druid's: `testQuery(…)` and `testBuilder().sql(…)….run()`."""
    day = java.map_of(
        t=java.ldc("2020-01-02"), dim1=java.ldc("x"), m1=java.ldc("2.5"), dim2=java.list_of(java.ldc("a"))
    )
    other = java.map_of(t=java.ldc("2020-01-02T03:04:05Z"), dim1=java.ldc(""), dim2=java.list_of())
    java.method("<clinit>", java.list_of(day, other) + java.field(0xB3, "RAW_ROWS1"))
    builder = "Lorg/apache/druid/QueryTestBuilder;"
    name = builder[1:-1]
    passes = java.call(0xB6, "T", "testQuery", "(Ljava/lang/String;Ljava/util/List;Ljava/util/List;)V")

    def query(method: str, sql: str, *rows: bytes) -> None:
        java.method(method, b"\x2a" + java.ldc(sql) + java.list_of() + java.list_of(*rows) + passes)

    query("testTime", 'SELECT "__time", SUM(m1) FROM druid.foo GROUP BY 1', java.array(java.boxed(1577923200000), java.boxed(2.5)),
          java.array(java.boxed(1577934245000), b"\x01"))  # fmt: skip
    query("testText", "SELECT dim1 FROM foo WHERE dim2 IS NULL AND dim1 <> 'it''s'", java.array(java.ldc("")))
    query("testOther", "SELECT COUNT(*) FROM foo", java.array(java.boxed(3)))
    query("testSeveral", "SELECT dim3 FROM foo", java.array(java.ldc("a")))
    query("testParameter", "SELECT dim1 FROM foo WHERE m1 = ?", java.array(java.ldc("a")))
    query("testFirst", "SELECT dim1 FROM foo LIMIT 1", java.array(java.ldc("x")))
    query("testUnlike", "SELECT LATEST(dim1) FROM foo", java.array(java.ldc("x")))
    built = (
        java.call(0xB8, "T", "testBuilder", f"(){builder}")
        + java.ldc("SELECT MAX(m1) FROM foo")
        + java.call(0xB6, name, "sql", f"(Ljava/lang/String;){builder}")
        + java.list_of(java.array(java.boxed(2.5)))
        + java.call(0xB6, name, "expectedResults", f"(Ljava/util/List;){builder}")
        + java.call(0xB6, name, "run", "()V")
    )
    java.method("testBuilt", built)
    java.method("lambda$testError$0", b"")
    file = read_class(java.bytes())
    stored = {
        call.arguments[0]: call.arguments[1] for call in calls(file, "<clinit>()V") if call.member.name == "putstatic"
    }
    foo = druidsql.table("foo", druidsql.TABLES["foo"][1], stored["RAW_ROWS1"])
    assert foo.rows == (
        (1577923200000, "x", "a", None, 1, 2.5, None), (1577934245000, "", None, None, 1, None, None),
    )  # fmt: skip
    outcomes = {outcome.case.place: outcome for outcome in runner.run(druidsql.of_class("T", file, [foo]))}
    assert {place.removeprefix("T.test"): (one.verdict, one.reason) for place, one in outcomes.items()} == {
        "Time": ("equal", ""),
        "Text": ("equal", ""),
        "Other": ("wrong", "other rows"),
        "Several": (
            "not comparable",
            "dim3 is a column of several values, of a sketch or of JSON, or a table that is not in the jar",
        ),
        "Parameter": ("not comparable", "a query with parameters"),
        "First": ("not comparable", "LIMIT without ORDER BY returns any rows"),
        "Unlike": ("not Hive's SQL", "unknown function 'latest'"),
        "Built": ("equal", ""),
    }


def test_rows_of_values() -> None:
    listed = ValueRows(((1, None), (Float(0.1), "a")))
    assert listed.matches([(0.10000000149011612, "a"), (1.0, None)])
    assert not listed.matches([(0.1001, "a"), (1, None)])
    assert not listed.matches([(0.1, "a"), (1, 0)])
    assert not ValueRows(((1,),)).matches([(True,), (1,)])


def test_a_table_without_a_time_has_a_constant(runner: Runner) -> None:
    some = Table("t", (("a", "int"),), ((1,),))
    case = druidsql.case("T.a", "SELECT a FROM t", [[1]], (), [some])
    assert runner.outcome(case).verdict == "equal"

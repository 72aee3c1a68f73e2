"""hivedruid.toml, HIVEDRUID_… variables, named clusters, and `hivedruid config`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import hivedruid
from hivedruid import configuration, defaults
from hivedruid.cli import main
from hivedruid.configuration import CONNECTION, VARIABLES, Configured, values, variable
from hivedruid.configuration_file import ConfigurationFile
from hivedruid.errors import UsageError
from hivedruid.settings import SETTINGS

PRODUCTION = """\
[clusters.prod]
druid = "https://prod:8888"
hive.local.time.zone = "US/Pacific"
"druid.auth.username" = "reader"
"druid.auth.password" = "env:PROD_PASSWORD"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder without a file; the user's file is below `config`."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "hivedruid").mkdir(parents=True)
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def user(home: Path, text: str) -> Path:
    path = home.parent / "config" / "hivedruid" / "hivedruid.toml"
    path.write_text(text, encoding="utf-8")
    return path


def own(home: Path, text: str) -> Path:
    path = home / "hivedruid.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_each_layer_replaces_those_before_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert values(home) == {}
    user(home, '[settings]\ndruid.url = "http://user:1"\nhivedruid.join.max.rows = 7\n')
    assert values(home) == {"druid.url": "http://user:1", "hivedruid.join.max.rows": "7"}
    own(home, '[settings]\ndruid.url = "http://own:1"\n[clusters.test]\ndruid.url = "http://test:1"\n')
    assert values(home)["druid.url"] == "http://own:1"
    defaults.write(home, {"druid.url": "local"})
    assert values(home)["druid.url"] == "local"
    monkeypatch.setenv("HIVEDRUID_DRUID_URL", "http://variable:1")
    assert values(home)["druid.url"] == "http://variable:1"
    assert values(home, "test")["druid.url"] == "http://test:1"
    monkeypatch.setenv("HIVEDRUID_CLUSTER", "test")
    assert values(home)["druid.url"] == "http://test:1"
    assert values(home, "")["druid.url"] == "http://variable:1"
    assert values(home, druid="http://option:1")["druid.url"] == "http://variable:1"
    assert values(home)["hivedruid.join.max.rows"] == "7"


def test_every_setting_has_a_variable_of_its_own() -> None:
    assert len(VARIABLES) == len(SETTINGS)
    assert variable("druid.url") == "HIVEDRUID_DRUID_URL"
    assert variable("hivedruid.kafka.check") == "HIVEDRUID_KAFKA_CHECK"
    assert variable("hive.druid.maxTries") == "HIVEDRUID_HIVE_DRUID_MAXTRIES"
    others = {"HOME", "CLUSTER", "DEBUG", "SPARK_HOME", "TEST_CLUSTER", "CASES", "HIVE", "EQUIVALENCE"}
    assert not VARIABLES.keys() & {f"HIVEDRUID_{name}" for name in others}


def test_a_cluster_has_the_connection_to_its_druid_alone(home: Path) -> None:
    everything = "".join(f'"{key}" = "{_example(key)}"\n' for key in CONNECTION)
    user(home, f"[settings]\nhivedruid.join.max.rows = 7\n{everything}[clusters.same]\nhivedruid.join.max.rows = 8\n")
    own(home, PRODUCTION)
    assert values(home, "prod") == {
        "druid.url": "https://prod:8888",
        "druid.auth.username": "reader",
        "druid.auth.password": "env:PROD_PASSWORD",
        "hive.local.time.zone": "US/Pacific",
        "hivedruid.join.max.rows": "7",
    }
    assert values(home, "same")["druid.auth.token"] == "env:OTHER"


def test_another_druid_gets_no_password_of_the_configured_one(home: Path) -> None:
    password = 'druid.auth.password = "env:PASSWORD"\ndruid.coordinator.url = "http://own:2"\n'
    user(home, f'[settings]\ndruid.url = "http://own:1"\n{password}')
    assert values(home, druid="http://other:1") == {"druid.url": "http://own:1"}
    assert values(home, druid="http://own:1")["druid.auth.password"] == "env:PASSWORD"
    user(home, f"[settings]\n{password}")
    assert values(home, druid="http://other:1")["druid.auth.password"] == "env:PASSWORD"


def _example(key: str) -> str:
    return "http://other:1" if key.endswith("url") else "env:OTHER"


def test_the_connection_has_every_setting_of_authentication() -> None:
    keys = [
        key for key in SETTINGS if key.startswith(("druid.auth.", "druid.tls.")) or key.endswith(("or.url", "rd.url"))
    ]
    assert {*keys} - {*CONNECTION} == {"druid.tls.ca.file"}


def test_the_cluster_of_the_home_comes_first(home: Path) -> None:
    user(home, '[clusters.prod]\ndruid = "http://user:1"\n')
    own(home, PRODUCTION)
    assert values(home, "prod")["druid.url"] == "https://prod:8888"
    assert configuration.cluster_names(home) == ["prod"]


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        ("[settings]\n\ndruid.ulr = 'http://x:1'\n", 3, "unknown setting 'druid.ulr'", "druid.url"),
        ("[settings.druid]\nurl = 'local'\nulr = 'x'\n", 3, "unknown setting 'druid.ulr'", "druid.url"),
        ("[settings]\nmy.own = 1\n", 2, "unknown setting 'my.own'", "hivedruid config"),
        ("[settings]\nspark.executor.memory = ['1g']\n", 2, "must be a string, a number, or true or false", None),
        ("[settings]\na = '''\n\n'''\nhive.druid.rollup = 'perhaps'\n", 2, "unknown setting 'a'", None),
        ("[settings]\nhive.druid.rollup = 'perhaps'\n", 2, "must be true or false", None),
        ("[setings]\n", 1, "unknown key 'setings'", "settings"),
        ("druid.url = 'x'\n", 1, "unknown key 'druid'", "[settings] or [clusters.NAME]"),
        ("clusters = 3\n", 1, "'clusters' must be a table", "[clusters]"),
        ("[clusters]\nprod = 'http://x:1'\n", 2, "'clusters.prod' must be a table", "[clusters.prod]"),
        ("[clusters.p]\ndruid = 'local'\n'druid.url' = 'local'\n", 3, "'druid.url' is given twice", "remove"),
        ("[clusters.p]\ndruid = 'local'\ndruid.auth.username = 'x'\n\n[settings]\n", 3, "invalid TOML", "druid.url"),
        ("[settings]\n\n[clusters\n", 3, "invalid TOML: expected ']'", None),
        ('[settings]\ndruid.url = "x\n', 2, "invalid TOML", None),
        ("[settings]\ndruid.auth.password = 'hunter2'\n", 2, "not the secret itself", "environment variable"),
    ],
)
def test_errors_have_the_file_and_the_line(home: Path, text: str, line: int, message: str, hint: str | None) -> None:
    path = own(home, text)
    with pytest.raises(UsageError) as error:
        values(home)
    assert message in error.value.message
    assert error.value.span is not None
    assert (error.value.span.file, error.value.span.line) == (str(path), line)
    assert hint is None or hint in str(error.value.hint)
    assert "hunter2" not in error.value.message + error.value.span.source_line


def test_the_underlined_part_is_the_key(home: Path) -> None:
    own(home, "[settings]\nhive.druid.rolup = true\n")
    with pytest.raises(UsageError) as error:
        values(home)
    span = error.value.span
    assert span is not None
    assert span.source_line[span.column - 1 :][: span.length] == "rolup"


def test_values_of_toml(home: Path) -> None:
    file = ConfigurationFile.read(
        own(home, "[settings]\nhive.druid.rollup = false\nhive.druid.maxTries = 3\nspark.executor.memory = '1g'\n")
    )
    assert file is not None
    assert {key: entry.value for key, entry in file.settings.items()} == {
        "hive.druid.rollup": "false",
        "hive.druid.maxTries": "3",
        "spark.executor.memory": "1g",
    }
    assert file.place(file.settings["hive.druid.maxTries"]).endswith("hivedruid.toml:3")


def test_files_that_cannot_be_read(home: Path) -> None:
    (home / "hivedruid.toml").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="is not UTF-8 text"):
        values(home)
    (home / "hivedruid.toml").unlink()
    (home / "hivedruid.toml").mkdir()
    with pytest.raises(UsageError, match="Is a directory"):
        values(home)


def test_variables(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HIVEDRUID_JOIN_MAX_ROWS", "")
    monkeypatch.setenv("HIVEDRUID_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("HIVEDRUID_DRUID_ULR", "local")
    assert main(["config", "--home", str(home), "--changed", "--format", "tsv"]) == 0
    assert capsys.readouterr() == (
        "setting\tvalue\tsource\tplace\n",
        "note: HIVEDRUID_DRUID_ULR is not the variable of a setting; did you mean HIVEDRUID_DRUID_URL?\n",
    )
    monkeypatch.setenv("HIVEDRUID_JOIN_MAX_ROWS", "many")
    with pytest.raises(UsageError, match=r"^HIVEDRUID_JOIN_MAX_ROWS: 'hivedruid.join.max.rows' must be an integer"):
        values(home)


def test_the_example_of_the_page(home: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    user(home, example)
    assert values(home, "prod")["druid.query.priority"] == "10"
    assert values(home, "test")["druid.url"] == "http://localhost:8888"
    rows = re.findall(r"^\| `([a-z.]+)` \| `(HIVEDRUID_\w+)` \|$", page, re.MULTILINE)
    assert len(rows) == 3
    assert all(variable(key) == name for key, name in rows)


def test_unknown_clusters(home: Path) -> None:
    with pytest.raises(UsageError, match="unknown cluster 'prod'") as error:
        values(home, "prod")
    assert "[clusters.prod]" in str(error.value.hint)
    own(home, PRODUCTION)
    with pytest.raises(UsageError) as error:
        values(home, "prodd")
    assert error.value.hint == "did you mean 'prod'?"
    with pytest.raises(UsageError, match="exclude each other"):
        values(home, "prod", "local")


def rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Configured]:
    assert main(["config", "--format", "json", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return {row["setting"]: Configured(row["value"], row["source"], row["place"]) for row in json.loads(out)}


def test_the_command(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    users, homes = user(home, "[settings]\n# a comment\nhive.druid.rollup = false\n"), own(home, PRODUCTION)
    defaults.write(home, {"druid.url": "local", "spark.master": "yarn"})
    monkeypatch.setenv("HIVEDRUID_SPARK_REMOTE", "sc://host:1/;token=hunter2")
    monkeypatch.setenv("HIVEDRUID_CLUSTER", "prod")
    shown = rows(
        capsys, "--home", str(home), "--hiveconf", "hive.druid.maxTries=2", "--hiveconf", "my.password=hunter2"
    )
    assert shown.keys() == {*SETTINGS, "my.password"}
    assert "hunter2" not in str(shown)
    assert shown["hivedruid.now"] == Configured("", "default")
    assert shown["hive.druid.rollup"] == Configured("false", "file", f"{users}:3")
    assert shown["spark.master"] == Configured("yarn", "saved", str(home / "defaults.json"))
    assert shown["spark.remote"].source == "environment"
    assert shown["druid.url"] == Configured("https://prod:8888", "cluster", f"{homes}:2")
    assert shown["druid.auth.password"] == Configured("env:PROD_PASSWORD", "cluster", f"{homes}:5")
    assert shown["hive.druid.maxTries"] == Configured("2", "option", "--hiveconf")
    assert shown["my.password"] == Configured("******", "option", "--hiveconf")
    changed = rows(capsys, "--home", str(home), "--changed", "--druid", "http://option:1")
    assert changed.keys() == {"druid.url", "hive.druid.rollup", "spark.master", "spark.remote"}
    assert changed["druid.url"] == Configured("http://option:1", "option", "--druid")


def test_statements_run_with_the_settings(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own(home, PRODUCTION)
    show = ["-e", "SET hive.local.time.zone; SET druid.url"]
    assert main(["--cluster", "prod", "sql", "--home", str(home), *show]) == 0
    assert capsys.readouterr().out == "hive.local.time.zone=US/Pacific\ndruid.url=https://prod:8888\n"
    assert main(["sql", "--cluster", "prod", "--druid", "local", "--home", str(home), *show]) == 2
    assert "exclude each other" in capsys.readouterr().err
    own(home, "[settings]\nhive.druid.rolup = true\n")
    assert main(["sql", "--home", str(home), *show]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "error: unknown setting 'hive.druid.rolup'",
        f"  --> {home}/hivedruid.toml:2:12",
        "    hive.druid.rolup = true",
        "               ^^^^^",
        "hint: did you mean 'hive.druid.rollup'?",
    ]


def test_the_python_api(home: Path) -> None:
    own(home, PRODUCTION)
    with hivedruid.connect(home, cluster="prod") as connection:
        assert connection.sql("SET hive.local.time.zone").fetchall() == [("hive.local.time.zone=US/Pacific",)]
    with hivedruid.connect(home) as connection:
        assert connection.sql("SET druid.url").fetchall() == [("druid.url=embedded:",)]
    with pytest.raises(UsageError, match="unknown cluster"):
        hivedruid.connect(home, cluster="test")


def test_scripts_of_tests_run_without_the_settings_of_the_machine(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HIVEDRUID_HIVE_DRUID_ROLLUP", "false")
    (home / "a.q").write_text("SET hive.druid.rollup;\n")
    assert main(["test", str(home), "--update"]) == 0
    assert "hive.druid.rollup=true" in (home / "a.q.out").read_text()
    assert capsys.readouterr().err == ""

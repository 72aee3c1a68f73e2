"""The configuration that is written."""

from __future__ import annotations

import subprocess
from pathlib import Path

from hivedruid.commands import local
from hivedruid.local.artifacts import GROUPS
from hivedruid.local.java import java_command
from hivedruid.local.services import HEAPS, SERVICES, Service, properties, write_configuration
from hivedruid.local.state import HOST, arguments_file, folder

PORTS = {port: 20000 + number for number, port in enumerate(p for s in SERVICES.values() for p in s.ports)}


def test_names_written_out_elsewhere() -> None:
    assert tuple(SERVICES) == local.NAMES
    assert tuple(HEAPS) == local.HEAPS
    assert {service.part for service in SERVICES.values()} < set(GROUPS)
    for name, service in SERVICES.items():
        assert service.ports[0] == name


def test_every_service_has_its_memory() -> None:
    for heap in HEAPS.values():
        assert heap.sizes.keys() == SERVICES.keys() == heap.resident.keys()
    assert sum(HEAPS["small"].resident.values()) < 3500


def test_properties() -> None:
    written = properties({"a": "x y", "b": r"c:\d", "c": "wohnung ä\U0001f600", "d": "[1]", "e": "one\ntwo"})
    assert written == "a=x y\nb=c:\\\\d\nc=wohnung \\u00e4\\ud83d\\ude00\nd=[1]\ne=one\\u000atwo\n"


def test_arguments_are_read_back_as_they_are(tmp_path: Path) -> None:
    """The file as Java parses it, for a home whose name has characters that are special for shells or Java."""
    home = tmp_path / "my \"own\" 'ö' \\ $HOME #1"
    write_configuration(home, HEAPS["small"], PORTS, {"kafka": [tmp_path / "some jar.jar"]})
    file = arguments_file(home, "kafka")
    lines = file.read_text(encoding="utf-8").splitlines()
    before_class_path = lines[: lines.index('"-cp"')]
    file.write_text("\n".join([*before_class_path, "-XshowSettings:properties", "-version"]), encoding="utf-8")
    command = [str(java_command()), f"@{file}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"LC_ALL": "C.UTF-8"})
    assert f"derby.system.home = {folder(home)}/data/metadata" in done.stderr
    assert "user.timezone = UTC" in done.stderr


def test_folders_follow_the_jars(tmp_path: Path) -> None:
    """A class-data archive requires it. Kafka and ZooKeeper need no folder."""
    jars = [tmp_path / "a.jar", tmp_path / "b.jar"]

    def options(service: Service, name: str) -> list[str]:
        return [f"-Dtold={service.part} {name}"]

    write_configuration(tmp_path, HEAPS["small"], PORTS, {"druid": jars, "kafka": jars}, options)
    conf = folder(tmp_path) / "conf"
    for name, folders in {"broker": [conf / "common", conf / "broker"], "zookeeper": [], "kafka": []}.items():
        lines = arguments_file(tmp_path, name).read_text(encoding="utf-8").splitlines()
        assert lines[lines.index('"-cp"') + 1] == f'"{":".join(map(str, [*jars, *folders]))}"'
        assert f'"-Dtold={SERVICES[name].part} {name}"' in lines


def test_only_what_is_started_is_configured(tmp_path: Path) -> None:
    write_configuration(tmp_path, HEAPS["small"], PORTS, {"kafka": []})
    assert [path.name for path in (folder(tmp_path) / "conf").iterdir()] == ["kafka"]


def test_everything_listens_here_only(tmp_path: Path) -> None:
    write_configuration(tmp_path, HEAPS["default"], PORTS, {"kafka": [], "druid": []})
    conf = folder(tmp_path) / "conf"
    common = (conf / "common" / "common.runtime.properties").read_text()
    assert f"druid.host={HOST}\ndruid.bindOnHost=true\n" in common
    assert f"druid.metadata.storage.connector.host={HOST}\n" in common
    assert f"clientPortAddress={HOST}\n" in (conf / "zookeeper" / "zoo.cfg").read_text()
    kafka = (conf / "kafka" / "server.properties").read_text()
    assert f"listeners=PLAINTEXT://{HOST}:{PORTS['kafka']},CONTROLLER://{HOST}:{PORTS['controller']}\n" in kafka

"""A real Druid and a real Kafka on this machine, a set of processes below a home folder.

cluster = LocalCluster(home, heap="small")
services = cluster.up()          # LocalServices: URLs
cluster.down()                   # data stays; down(clean=True) removes it
"""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from hivedruid import defaults
from hivedruid.catalog.failures import read_only_home
from hivedruid.errors import ExecutionError, UsageError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.local import artifacts, processes
from hivedruid.local.class_data import ClassData
from hivedruid.local.health import ready, serves_all
from hivedruid.local.java import java_command
from hivedruid.local.services import HEAPS, SERVICES, Heap, data, kafka_format_settings, properties, write_configuration
from hivedruid.local.state import (
    ClusterState,
    LocalServices,
    Started,
    folder,
    keep_cluster_id,
    read_state,
    running,
    runs,
    strays,
    write_state,
)
from hivedruid.locks import Lock
from hivedruid.private import is_read_only, private_folder, private_home

START_SECONDS = 300.0
"""Seconds to wait for a start, which takes 20 s on an idle machine with two cores, and minutes on a busy one."""
STOP_SECONDS = 20.0
"""Seconds to wait for a process to stop before it is killed."""
ATTEMPTS = 3
"""The number of attempts if a port is taken between the check and the start, or a class-data archive is damaged."""

_NOT_IN_PATHS = (":", ",")
"""The separators of class paths, and of Kafka's log.dirs."""
_PORT_TAKEN = ("Address already in use", "BindException", "Failed to bind")


@dataclass(frozen=True)
class ServiceStatus:
    """One process of a cluster. `state` is stopped, not ready, up or dead; `since` in seconds since 1970; sizes in
    bytes."""

    name: str
    state: str
    port: int | None
    pid: int | None
    memory: int | None
    since: float | None
    log: Path


class LocalCluster:
    """The cluster of a home. `heap` is a key of HEAPS; None is the home's previous one, or `default`."""

    def __init__(self, home: Path, heap: str | None = None, progress: Callable[[str], None] | None = None) -> None:
        if not Path("/proc/self/stat").exists():
            raise ExecutionError("a local cluster requires Linux (it uses /proc)")
        if heap is not None and heap not in HEAPS:
            raise UsageError(f"'{heap}' is not a valid heap size", hint=f"known: {', '.join(HEAPS)}")
        self.home = home.expanduser().resolve()
        for character in _NOT_IN_PATHS:
            if character in str(self.home):
                raise UsageError(
                    f"a local cluster cannot run in {self.home}: Java treats '{character}' as a path separator",
                    hint="choose another folder with --home",
                )
        self._heap = heap
        self._progress = progress or (lambda _: None)
        self._class_data: Mapping[str, ClassData] = {}

    def up(self, *, druid: bool = True, kafka: bool = True) -> LocalServices:
        """Start the processes that do not run yet, wait until they are ready, and make the cluster this home's default.

        If it fails or is interrupted, the processes that it started are stopped. Raises ConnectError (no Java, no
        repository), ExecutionError (a process exited or does not become ready, no memory, no disk space), UsageError
        (another heap than that of the running cluster).
        """
        java_command()
        parts = {part for part, wanted in (("druid", druid), ("kafka", kafka)) if wanted}
        wanted = [name for name, service in SERVICES.items() if service.part in parts]
        with self._exclusive():
            self._repair()
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    self._start(wanted)
                    break
                except _AgainError:
                    if attempt == ATTEMPTS:
                        raise
            for part in sorted(self._class_data, reverse=True):  # Kafka's first, which takes a quarter of the time
                self._class_data[part].write()
            if druid:
                keep_cluster_id(self.home)
                defaults.write(self.home, {"druid.url": "local"})
        services = running(self.home)
        if services is None:
            raise ExecutionError(
                "the local cluster stopped immediately after startup", hint=processes.see_log("coordinator")
            )
        return services

    def down(self, *, clean: bool = False) -> list[str]:
        """Stop every process of this home's cluster; returns the names of those that ran. `clean` also deletes their
        data."""
        if not self.home.exists() and not self._strays():
            return []
        with self._exclusive():
            stopped = self._stop_strays()
            alive = self._alive()
            self._stop(list(alive))
            if clean:
                if folder(self.home).exists():
                    shutil.rmtree(folder(self.home))
                self._forget_default()
            else:
                self._forget_processes(list(read_state(self.home).processes))
        return [name for name in SERVICES if name in alive or name in stopped]

    def _forget_default(self) -> None:
        if defaults.read(self.home).get("druid.url") == "local":
            defaults.write(self.home, {"druid.url": None})

    def status(self) -> list[ServiceStatus]:
        """The current status of every process."""
        state = read_state(self.home)
        return [self._status(name, state) for name in SERVICES]

    def _status(self, name: str, state: ClusterState) -> ServiceStatus:
        process = state.processes.get(name)
        log = processes.log_file(self.home, name)
        if process is None:
            return ServiceStatus(name, "stopped", None, None, None, None, log)
        port = state.ports[SERVICES[name].ports[0]]
        if not runs(self.home, name, process):
            return ServiceStatus(name, "dead", port, None, None, None, log)
        word = "up" if ready(name, state.ports) else "not ready"
        memory = processes.resident_bytes(process.pid)
        return ServiceStatus(name, word, port, process.pid, memory, process.since, log)

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """One `up` or `down` of this home at a time."""
        if is_read_only(self.home):
            raise read_only_home(self.home)
        try:
            private_home(self.home)
            private_folder(self.home / "locks")
            try:
                with Lock(self.home / "locks" / "cluster") as lock:
                    lock.wait(
                        on_wait=lambda: self._progress("Waiting for another hivedruid local command in this home")
                    )
                    yield
            finally:
                self._progress("")
        except OSError as error:
            where = error.filename or self.home
            raise ExecutionError(
                f"cannot write {where}: {error.strerror or error}", hint="free some space, or set --home"
            ) from error

    def _repair(self) -> None:
        """Reconcile the recorded state with the running processes: stop unrecorded ones, remove dead ones from the
        state."""
        self._stop_strays()
        private_folder(folder(self.home))
        for name in ("conf", "data/tmp", "data/extensions", "logs"):
            (folder(self.home) / name).mkdir(parents=True, exist_ok=True)
        alive = self._alive()
        if not alive:
            shutil.rmtree(data(self.home, "tmp"))
            data(self.home, "tmp").mkdir()
        if alive and self._heap not in (None, read_state(self.home).heap):
            raise UsageError(
                f"the local cluster in {self.home} is running with --heap {read_state(self.home).heap}",
                hint=f"run hivedruid local down, then hivedruid local up --heap {self._heap}",
            )
        if "zookeeper" not in alive:
            # Without ZooKeeper the other Druid services lose their registrations. It stores only these; after a restart
            # the
            # others would wait for the old registrations to expire.
            self._stop([name for name in alive if SERVICES[name].part == "druid"])
            shutil.rmtree(data(self.home, "zookeeper"), ignore_errors=True)
        state = read_state(self.home)
        heap = self._heap or state.heap or "default"
        write_state(self.home, ClusterState(heap, state.ports, self._alive()))

    def _alive(self) -> dict[str, Started]:
        state = read_state(self.home)
        return {name: process for name, process in state.processes.items() if runs(self.home, name, process)}

    def _start(self, wanted: list[str]) -> None:
        """Start those of `wanted` that do not run, and wait for all; on failure, stop the processes started here."""
        missing = [name for name in wanted if name not in self._alive()]
        started: list[str] = []
        self._class_data = {}
        try:
            if missing:
                self._configure(missing)
            for name in missing:
                if name == "kafka":
                    self._format_kafka()
                process = processes.start(self.home, name)
                started.append(name)
                state = read_state(self.home)
                write_state(self.home, replace(state, processes={**state.processes, name: process}))
            self._await(wanted)
        except BaseException:
            self._stop(started)
            self._stop_strays()  # the one whose start was interrupted by Ctrl-C
            raise

    def _configure(self, missing: list[str]) -> None:
        """Download the artifacts of the `missing` services, choose their ports and write their configuration."""
        state = read_state(self.home)
        groups = {part: artifacts.locked_group(part) for part in sorted({SERVICES[name].part for name in missing})}
        every = [jar for group in groups.values() for jar in group]
        artifacts.resolve(every, self._progress)
        artifacts.check(every)
        _check_memory(missing, HEAPS[state.heap])
        ports = dict(state.ports)
        for port in (port for name in missing for port in SERVICES[name].ports):
            others = {number for other, number in ports.items() if other != port}
            ports[port] = processes.choose_port(ports.get(port), others)
        write_state(self.home, replace(state, ports=ports))
        # A class is searched in the jars in their order, so the largest are first.
        by_size = {part: sorted(group, key=lambda jar: -jar.size) for part, group in groups.items()}
        jars = {part: [artifacts.cache_path(jar) for jar in group] for part, group in by_size.items()}
        partial = {service.part for name, service in SERVICES.items() if name not in missing}
        lists = data(self.home, "tmp")
        known = {part: ClassData(paths, lists, complete=part not in partial) for part, paths in jars.items()}
        self._class_data = known
        write_configuration(
            self.home, HEAPS[state.heap], ports, jars, lambda service, name: known[service.part].options(name)
        )

    def _format_kafka(self) -> None:
        """Create Kafka's folder, once; it is renamed when it is complete."""
        target, unfinished = data(self.home, "kafka"), data(self.home, "kafka.unformatted")
        if target.exists():
            return
        shutil.rmtree(unfinished, ignore_errors=True)
        settings = folder(self.home) / "conf" / "kafka" / "format.properties"
        values = kafka_format_settings(self.home, read_state(self.home).ports, unfinished)
        settings.write_text(properties(values), encoding="ascii")
        class_data = self._class_data["kafka"]
        options = ["-XX:TieredStopAtLevel=1", *class_data.options("kafka.format"), "-cp", class_data.class_path]
        command = [str(java_command()), *options, "kafka.tools.StorageTool"]
        command += ["format", "-t", _random_uuid(), "-c", str(settings)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode != 0:
            output = done.stderr + done.stdout
            lines = output.strip().splitlines() or ["no output"]
            error = _AgainError if class_data.is_dropped(output) else ExecutionError
            raise error(f"cannot format Kafka's folder {unfinished}: {lines[-1]}")
        unfinished.replace(target)

    def _await(self, wanted: list[str]) -> None:
        """Wait until all of `wanted` are ready and, with Druid, all existing segments are loaded.

        Raises ExecutionError if a process exits or on timeout, _AgainError if it may start the next time.
        """
        started = time.monotonic()
        waiting = list(wanted)
        while True:
            state = read_state(self.home)
            for name in wanted:
                if not runs(self.home, name, state.processes.get(name)):
                    raise self._exit_error(name)
            waiting = [name for name in waiting if not ready(name, state.ports)]
            seconds = time.monotonic() - started
            if not waiting and ("broker" not in wanted or serves_all(state.ports)):
                return
            if seconds > START_SECONDS:
                raise self._timeout_error(waiting, seconds)
            self._progress(f"Starting {', '.join(waiting) or 'Druid: loading segments'} ({seconds:.0f} s)")
            time.sleep(0.2)

    def _exit_error(self, name: str) -> ExecutionError:
        log = processes.log_file(self.home, name)
        words = processes.last_words(log)
        class_data, end = self._class_data.get(SERVICES[name].part), processes.end_of(log)
        may_start = any(text in end for text in _PORT_TAKEN) or (class_data is not None and class_data.is_dropped(end))
        error = _AgainError if may_start else ExecutionError
        return error(f"{name} exited during startup: {words}", hint=processes.see_log(name))

    def _timeout_error(self, waiting: list[str], seconds: float) -> ExecutionError:
        if not waiting:
            message = f"timed out after {seconds:.0f} s waiting for existing segments to be loaded"
            return ExecutionError(message, hint=processes.see_log("historical"))
        return ExecutionError(
            f"timed out after {seconds:.0f} s waiting for {', '.join(waiting)} to be ready",
            hint=f"{processes.see_log(waiting[0])}; is the machine very busy?",
        )

    def _stop(self, names: list[str]) -> None:
        """Stop these services and record it."""
        state = read_state(self.home)
        self._end([(name, state.processes[name]) for name in names if name in state.processes])
        self._forget_processes(names)

    def _forget_processes(self, names: list[str]) -> None:
        state = read_state(self.home)
        left = {name: process for name, process in state.processes.items() if name not in names}
        if left != state.processes:
            with contextlib.suppress(OSError):  # a full disk: the processes are stopped anyway, which is detected later
                write_state(self.home, replace(state, processes=left))

    def _end(self, started: list[tuple[str, Started]]) -> None:
        """The order to stop services: ZooKeeper last, because the others deregister from it."""
        for is_last in (False, True):
            if group := [(name, process) for name, process in started if (name == "zookeeper") is is_last]:
                self._progress(f"Stopping {', '.join(name for name, _ in group)}")
                processes.stop(self.home, group, STOP_SECONDS)

    def _strays(self) -> list[tuple[str, Started]]:
        """Processes of this home that a killed launcher started but did not record."""
        return list(strays(self.home, read_state(self.home), tuple(SERVICES)))

    def _stop_strays(self) -> list[str]:
        strays = self._strays()
        self._end(strays)
        return [name for name, _ in strays]


class _AgainError(ExecutionError):
    """A service exited because its port is in use, or it crashed with a class-data archive, which was removed."""


def _check_memory(missing: list[str], heap: Heap) -> None:
    needed = sum(heap.resident[name] for name in missing) * 1_000_000
    available = processes.available_bytes()
    if available < needed:
        smaller = "" if heap.name == "small" else ", or use --heap small"
        raise ExecutionError(
            f"{', '.join(missing)} need {needed / 1e9:.1f} GB of memory, {available / 1e9:.1f} GB are free",
            hint=f"close other programs{smaller}",
        )


def _random_uuid() -> str:
    """A cluster id as Kafka writes it: 16 random bytes in URL-safe base 64, without a leading dash."""
    while True:
        text = base64.urlsafe_b64encode(os.urandom(16)).decode().rstrip("=")
        if not text.startswith("-"):
            return text

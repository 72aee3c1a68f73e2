"""Types of responses, first used by several threads at once: the client queries several services concurrently."""

from __future__ import annotations

import subprocess
import sys

MANY_TIMES = """
import sys
from importlib import reload
from threading import Barrier, Thread
from hivedruid.clients import fitting, wire

sys.setswitchinterval(1e-6)
for _ in range(300):
    reload(wire)  # types that nobody has met yet
    barrier = Barrier(6)
    inner = {"dataSchema": {"dataSource": "d"}, "ioConfig": {"topic": "t", "consumerProperties": {}}}
    one = {"id": "d", "spec": {"type": "kafka", "spec": inner}}
    answers = [([one], list[wire.Supervisor]), (one, wire.Supervisor), ({"a": one}, dict[str, wire.Supervisor])]
    answers += [(inner, wire.InnerSpec), ([one["spec"]], list[wire.SupervisorSpec]), (one, wire.Supervisor)]

    def fit(value, shape):
        barrier.wait()
        fitting.fitted(value, shape)

    threads = [Thread(target=fit, args=answer) for answer in answers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print("done")
"""


def test_threads_may_meet_a_type_at_the_same_time() -> None:
    """Without a lock, msgspec ends the whole process with a segmentation fault."""
    run = subprocess.run([sys.executable, "-c", MANY_TIMES], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.strip()) == (0, "done"), run.stderr[-2000:]

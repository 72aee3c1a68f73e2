#!/usr/bin/env bash
# pyarrow 26.0.1 beside pandas 3.1.1: the first pa.array() or pa.scalar() of plain Python values, also with their type
# given, imports all of pandas, although no value is one of pandas. A command that writes a few numbers pays for it. The
# same values read by pyarrow.csv, or built by Array.from_buffers, leave pandas alone.
#
# Seen: pandas is imported by array([1], int64()), and by scalar(1); not by csv.read_csv(), nor by
# Array.from_buffers(), which gives an equal array.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'pyarrow==26.0.1' 'pandas==3.1.1' 'numpy==2.4.6'
"$folder/venv/bin/python" - <<'PYTHON'
import subprocess
import sys

WAYS = {
    "array": "pa.array([1], pa.int64())",
    "scalar": "pa.scalar(1)",
    "csv": "csv.read_csv(io.BytesIO(b'a\\n1\\n'))['a'].to_pylist() == [1] or sys.exit('other values')",
    "buffers": "pa.Array.from_buffers(pa.int64(), 1, [None, pa.py_buffer(struct.pack('q', 1))])[0].as_py() == 1"
    " or sys.exit('other values')",
}


def imports_pandas(way: str) -> bool:
    program = f"import io, struct, sys\nimport pyarrow as pa\nfrom pyarrow import csv\n{way}\nprint('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip() == "True"


seen = {name: imports_pandas(way) for name, way in WAYS.items()}
print(seen)
assert seen == {"array": True, "scalar": True, "csv": False, "buffers": False}, "the behaviour has changed"
PYTHON

"""Loads the Python functions of users. Loading a module runs its code in this process."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from hashlib import sha256
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from hivedruid.errors import ExecutionError, HiveDruidError, SemanticError


def load(code: str, file: str = "") -> tuple[ModuleType, Callable[..., Any]]:
    """The function `module.function`, and its module: that of a Python file, which is loaded anew, or one that can be
    imported. Raises SemanticError if there is none, and ExecutionError if the module's code fails."""
    name, _, function = code.rpartition(".")
    if not name:
        raise SemanticError(f"'{code}' is not the name of a Python function", hint="use AS 'module.function'")
    try:
        module = _module_of_file(name, file) if file else importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
            raise _failed(name, error) from error
        raise SemanticError(
            f"no Python module '{error.name}'",
            hint="add USING FILE 'path of its .py file', or its folder to the environment variable PYTHONPATH",
        ) from None
    except HiveDruidError:
        raise
    except Exception as error:
        raise _failed(name, error) from error
    found = getattr(module, function, None)
    if not callable(found):
        reason = "has no function" if found is None else "has no callable"
        raise SemanticError(f"the Python module '{name}' {reason} '{function}'", hint="use AS 'module.function'")
    return module, found


def _failed(name: str, error: Exception) -> ExecutionError:
    return ExecutionError(f"the Python module '{name}' cannot be loaded: {type(error).__name__}: {error}")


def _module_of_file(name: str, file: str) -> ModuleType:
    """Not added to sys.modules: pickle then copies its functions by value. Python's cached bytecode is not used: it may
    be that of an earlier file of the same second and size."""
    if not Path(file).is_file():
        raise SemanticError(f"no file {file}", hint="USING FILE takes the path of a Python file")
    if Path(file).suffix != ".py":
        raise SemanticError(f"{file} is not a Python file", hint="USING FILE takes the path of a .py file")
    loader = SourceFileLoader(name, file)
    module = module_from_spec(ModuleSpec(name, loader, origin=file))
    module.__file__ = file
    exec(loader.source_to_code(loader.get_data(file), file), module.__dict__)  # noqa: S102
    return module


def stamp(module: ModuleType) -> str:
    """A hash of the module's file, "" if it has none."""
    try:
        path = inspect.getsourcefile(module)
        return sha256(Path(path).read_bytes()).hexdigest()[:16] if path else ""
    except (OSError, TypeError):
        return ""

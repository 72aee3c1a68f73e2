"""Plain-text secrets (hivedruid.clear.text.secrets): kept in the memory of a session, and replaced by references
elsewhere.

Plans, output, comparisons and the catalog use the reference. Only requests to Druid or Kafka contain the secret.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.properties import CONSUMER_PREFIX
from hivedruid.errors import SemanticError
from hivedruid.secrets import SESSION_PREFIX, is_kept, is_secret, masked, referenced

if TYPE_CHECKING:
    from hivedruid.parser.statements import Statement
    from hivedruid.parser.statements.ddl import Property


class KeptSecrets:
    """The secrets of one session by reference: `session:` and a random number."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    def keep(self, value: str) -> str:
        """The reference to a secret: the same for the same secret within a session."""
        for reference, known in self._values.items():
            if known == value:
                return reference
        reference = SESSION_PREFIX + secrets.token_hex(6)
        self._values[reference] = value
        return reference

    def without_secrets(self, statement: Statement) -> Statement:
        """The statement with references in place of the Kafka consumer secrets in its properties. Raises
        SemanticError, at the value, for a JAAS configuration with a login module that is not allowed.
        """
        inner = getattr(statement, "statement", None)
        if inner is not None:
            return replace(statement, statement=self.without_secrets(inner))  # type: ignore[call-arg]
        properties: tuple[Property, ...] = getattr(statement, "properties", ())
        if not any(map(_is_clear_secret, properties)):
            return statement
        kept = tuple(self._kept(item) if _is_clear_secret(item) else item for item in properties)
        return replace(statement, properties=kept)  # type: ignore[call-arg]

    def _kept(self, item: Property) -> Property:
        if item.key == CONSUMER_PREFIX + "sasl.jaas.config":
            from hivedruid.jaas import login_module

            try:
                login_module(item.value)
            except SemanticError as error:
                raise error.at(item.value_span) from None
        return replace(item, value=self.keep(item.value))

    def filled(self, spec: Any) -> Any:
        """A spec with secrets in place of references. Raises SemanticError for references of another session."""
        missing: list[str] = []

        def fill(key: str, text: str) -> str:
            if is_kept(text) and text not in self._values:
                missing.append(key)
            return self._values.get(text, text)

        result = _mapped(spec, fill, "")
        if missing:
            names = ", ".join(f"'{CONSUMER_PREFIX}{key}'" for key in sorted(set(missing)))
            raise SemanticError(
                f"the value of {names} was given in plain text in another session and was not stored",
                hint="set it again with ALTER TABLE … SET TBLPROPERTIES, or permanently as env:NAME_OF_THE_VARIABLE",
            )
        return result

    def hidden(self, spec: Any) -> Any:
        """A spec from Druid, with references in place of the consumer secrets that this session knows."""
        if isinstance(spec, list):
            return [self.hidden(item) for item in spec]
        if not isinstance(spec, Mapping) or not self._values:
            return spec
        references = {value: reference for reference, value in self._values.items()}

        def hide(_: str, text: str) -> str:
            return references.get(text, text)

        return {
            key: _mapped(item, hide, key) if key == "consumerProperties" else self.hidden(item)
            for key, item in spec.items()
        }


def _is_clear_secret(item: Property) -> bool:
    if not item.key.startswith(CONSUMER_PREFIX) or not item.value or is_kept(item.value):
        return False
    return referenced(item.value) is None and (is_secret(item.key) or masked(item.key, item.value) != item.value)


def _mapped(value: Any, change: Callable[[str, str], str], key: str) -> Any:
    """`value` with every string mapped by `change`, which also receives the key of the string."""
    if isinstance(value, Mapping):
        return {name: _mapped(item, change, name) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(item, change, key) for item in value]
    return change(key, value) if isinstance(value, str) else value

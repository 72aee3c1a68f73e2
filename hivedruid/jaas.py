"""Parses JAAS configurations (sasl.jaas.config) and rejects login modules that are not on the allow list."""

from __future__ import annotations

import re
from dataclasses import field
from typing import NoReturn

from hivedruid.errors import SemanticError
from hivedruid.lazy_dataclass import dataclass

LOGIN_MODULES = (
    "org.apache.kafka.common.security.plain.PlainLoginModule",
    "org.apache.kafka.common.security.scram.ScramLoginModule",
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule",
    "com.sun.security.auth.module.Krb5LoginModule",
    "software.amazon.msk.auth.iam.IAMLoginModule",
)
"""Login modules that only authenticate. Others execute code from their options, such as JndiLoginModule
(CVE-2023-25194)."""

_TOKEN = re.compile(r"""\s+|(?P<quoted>"(?:[^"\\\n]|\\["\\])*")|(?P<word>[A-Za-z0-9_.$-]+)|(?P<sign>[=;])""", re.ASCII)
_FLAGS = ("required", "requisite", "sufficient", "optional")


@dataclass(frozen=True)
class LoginModule:
    """One `class flag option=value …;`. `class_name` is the full name; options contain secrets and are not shown."""

    class_name: str
    options: dict[str, str] = field(repr=False)


def login_module(text: str) -> LoginModule:
    """The login module of a configuration; Kafka allows exactly one (JaasContext.load).

    Stricter than Kafka's parser, so that both agree: no comments, and special characters only in double quotes. Raises
    SemanticError, without quoting the text, if it cannot be parsed or the module is not allowed.
    """
    tokens = _tokens(text)
    if len(tokens) < 3 or tokens[1].lower() not in _FLAGS or tokens[-1] != ";" or tokens.count(";") != 1:
        _refuse('does not have the form `class required option="value" …;`')
    name = tokens[0]
    if name not in LOGIN_MODULES:
        shown = name if re.fullmatch(r"[\w.$]+", name) else "given"
        modules = ", ".join(LOGIN_MODULES)
        _refuse(f"names the login module {shown}, which is not allowed", f"allowed login modules: {modules}")
    rest = tokens[2:-1]
    triples = list(zip(rest[::3], rest[1::3], rest[2::3], strict=False))
    if len(rest) != 3 * len(triples) or any(sign != "=" for _, sign, _ in triples):
        _refuse("has an option without a value")
    return LoginModule(name, {key: _plain(value) for key, _, value in triples})


def _tokens(text: str) -> list[str]:
    tokens, end = [], 0
    while end < len(text):
        match = _TOKEN.match(text, end)
        if match is None:
            _refuse("has characters that must be in double quotes")
        if match.lastgroup:
            tokens.append(match[0])
        end = match.end()
    return tokens


def _plain(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value


def _refuse(problem: str, hint: str | None = None) -> NoReturn:
    raise SemanticError(f"sasl.jaas.config {problem}", hint=hint)

"""Defines which names belong to secrets, and how their values are masked.

`secret_text` finds secrets in text by these names; `redaction` hides them in external messages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

MASK = "******"

ENVIRONMENT_PREFIX = "env:"
"""The prefix of a secret property's value: the rest is the name of the environment variable with the secret."""

SESSION_PREFIX = "session:"
"""The prefix of a reference to a secret in a session's memory (`kept_secrets`)."""

_KEPT = re.compile(SESSION_PREFIX + r"[0-9a-f]{12}")
_REFERENCE = re.compile(r"env:([A-Za-z_]\w*)|\$\{env:([A-Za-z_]\w*)\}", re.ASCII)
_NAMED = re.compile(r"env:\w*|file:\S+|\$\{[^{}'\"]*\}", re.ASCII)
_NO_SECRETS = frozenset(("", "true", "false", "null", "none", MASK))
"""Values that are not secret, regardless of their key."""
_SECRET_KEY = re.compile(
    r"passw|passphrase|passkey|kennwort|contrase[nñ]a|mot[._-]?de[._-]?passe|secret(?!ar)|token(?!i[sz])|ja[as]s|credential|auth\.user\.info|signature|cookie|bearer"
    r"|authorization([._-]header)?$|(^|[._-])(jwt|auth|otp|j?session[._-]?id|phpsessid|pass|passcode|pw|pwd|sas|sig)([._-]?(header|value))?$"
    r"|(^|[._-])(pass|passcode|pw|pwd|sas|sig)[._-]"
    r"|(?<!by)(?<!com)(?<!over)(?<!under)(?<!sur)(?<!tres)(?<!en)pass$|[a-z]pwd$"
    r"|(^|[._-])(aes|api|app|access|account|auth|cipher|decryption|deploy|encryption|function|functions|hmac|keystore|license|master|private|pvt|sas|shared|signing"
    r"|ssh|storage|subscription|truststore|webhook)[._-]?key(id)?([._-]|$)"
    r"|^key[._-]id$|client[._-]key[._-]data$"
    r"|^(druid|hive\.kafka|kafka|spark)\..*\.key$",
    re.IGNORECASE,
)
_NOT_SECRET = re.compile(
    r"sasl\.oauthbearer\.token\.endpoint\.url$"
    r"|[._-](algorithm|at|class|column|columns|count|counts|created|date|enabled|endpoint|expired|expires|expiry|field|format"
    r"|interval|length|limit|location|manager|max|min|name|names|policy|provider|providers|rate|ratio|ref|required|retries|rotation|size|state|status"
    r"|timeout|ttl|type|types|updated|uri|url|version)$"
    r"|[._-]base[._-]key$"
    r"|^(max|min|num|n|total|sum|avg|count|is|has|needs)[._-](of[._-])?(new[._-])?(secret|token|password|cookie)s?$",
    re.IGNORECASE,
)
"""Keys that are not secret, although they contain the name of one: `token_count`, `credentials.provider`, Druid's
`druid.storage.baseKey`."""
_MECHANISM_KEY = re.compile(r"(^|[._-])auth$", re.IGNORECASE)
_MECHANISMS = frozenset(
    (
        "basic", "custom", "delegationtoken", "digest", "gssapi", "jwt", "kerberos", "ldap", "negotiate", "nosasl",
        "none", "oauth", "oauth2", "pam", "plain", "saml", "sasl", "simple", "token",
    )
)  # fmt: skip
"""Values of a key such as `auth` that name how to authenticate."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z]{2})(?=[A-Z][a-z])")
_WORD = re.compile(r"[A-Za-z]{4,40}")
_MISSPELT = ("password", "secret", "token", "credential")


def is_secret(key: str) -> bool:
    """Whether a setting, table property or variable contains a secret, judging by its name, even if misspelled."""
    return _is_secret(key) if len(key) <= 500 else _SECRET_KEY.search(key) is not None


@lru_cache(maxsize=8192)
def _is_secret(key: str) -> bool:
    parted = _CAMEL.sub(".", key)
    if _NOT_SECRET.search(parted) is not None:
        return False
    return _SECRET_KEY.search(parted) is not None or any(map(_is_misspelt, _WORD.findall(parted.lower())))


@lru_cache(maxsize=8192)
def _is_misspelt(word: str) -> bool:
    """Whether a word is a misspelling of a secret's name, with a missing, doubled, wrong or swapped letter: `pasword`,
    `tokne`, `dbpasswrd`. Two words with edit distance one become equal after removing one letter from one or both.
    """
    if word in ("taken", "woken"):
        return False
    for right, variants in _VARIANTS:
        if abs(len(word) - len(right)) <= 1 and (word in variants or not variants.isdisjoint(_shortened(word))):
            return True
        if right == "password" and any(
            not variants.isdisjoint(_shortened(word[-n:])) for n in (7, 8, 9) if n < len(word)
        ):
            return True
    return False


def _shortened(word: str) -> frozenset[str]:
    return frozenset(word[:i] + word[i + 1 :] for i in range(len(word)))


_VARIANTS = tuple((word, _shortened(word) | {word}) for word in _MISSPELT)


def referenced(value: str) -> str | None:
    """The environment variable that a value refers to, as `env:NAME` or `${env:NAME}`; None if it is not a
    reference."""
    match = _REFERENCE.fullmatch(value)
    return (match[1] or match[2]) if match else None


def is_kept(value: str) -> bool:
    """Whether a value refers to a secret in the memory of a session."""
    return _KEPT.fullmatch(value) is not None


def is_shown(value: str) -> bool:
    """Whether the value of a secret key may be shown: it is empty, a boolean, stars, or a reference."""
    return value.lower() in _NO_SECRETS or is_kept(value) or _NAMED.fullmatch(value) is not None


def hides(key: str, value: str) -> bool:
    """Whether the value of a key must be hidden."""
    if not is_secret(key) or is_shown(value):
        return False
    return _MECHANISM_KEY.search(key) is None or value.lower() not in _MECHANISMS


def secret_in(text: str) -> str | None:
    """The first key in a JSON text with a plain-text secret (an object is a reference), or None."""
    import json

    try:
        todo = [("", json.loads(text))]
    except (ValueError, RecursionError):
        return None
    while todo:
        key, item = todo.pop()
        if isinstance(item, dict):
            todo += item.items()
        elif isinstance(item, list):
            todo += [(key, inner) for inner in item]
        elif isinstance(item, str) and masked(key, item) != item:
            return key
    return None


def masked(key: str, value: str) -> str:
    """The displayable value of a key: a secret as stars, other text without its secrets. References to environment
    variables or to a session's secrets are kept.
    """
    if hides(key, value):
        return MASK
    if is_secret(key):
        return value
    from hivedruid.secret_text import redact

    return redact(value)


def masked_all(values: Mapping[str, str]) -> dict[str, str]:
    return {key: masked(key, value) for key, value in values.items()}

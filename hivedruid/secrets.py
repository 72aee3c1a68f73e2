"""Defines which names belong to secrets, and how their values are masked.

`secret_text` finds secrets in text by these names; `redaction` hides them in external messages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from unicodedata import combining, normalize

from hivedruid.lazy_regex import regex

MASK = "******"

ENVIRONMENT_PREFIX = "env:"
"""The prefix of a secret property's value: the rest is the name of the environment variable with the secret."""

SESSION_PREFIX = "session:"
"""The prefix of a reference to a secret in a session's memory (`kept_secrets`)."""

_KEPT = regex(SESSION_PREFIX + r"[0-9a-f]{12}")
_REFERENCE = regex(r"env:([A-Za-z_]\w*)|\$\{env:([A-Za-z_]\w*)\}", re.ASCII)
_NAMED = regex(
    r"env:\w*|file:\S+|\$\{[^{}'\"]*\}"
    r'|\{"type": ?"environment", ?"variable": ?"[A-Za-z_]\w*"\}',  # Druid's reference in JSON
    re.ASCII,
)
_NO_SECRETS = frozenset(("", "true", "false", "null", "none", MASK))
"""Values that are not secret, regardless of their key."""
_HOLDERS = (
    "aes|api|app|access|account|auth|cipher|decryption|deploy|encryption|fernet|functions?|hmac|keystore|license|master"
    "|private|pvt|sas|shared|signing|ssh|storage|subscription|truststore|unseal|webhook"
)
"""What a secret key belongs to; the name of a place may follow it, as in `fs.azure.account.key.me`."""
_ENDS = "admin|application|ca|client|consumer|dsa|ec|ed25519|gpg|pgp|rsa|server|ssl|tls"
"""What a key belongs to that is a secret only as the last word: `consumer.key.deserializer` has none."""
_OF_ROWS = (
    "bucket", "cluster", "foreign", "group", "item", "join", "message", "partition", "primary", "record", "shard",
    "sort", "timestamp", "unique", "version",
)  # fmt: skip
"""Keys of rows, tables and messages."""
_CONTENT = "base64|b64|bytes|contents?|data|encoded|inline|pem"


def _folded(text: str) -> str:
    """A text without accents, and with the plain variants of its letters: `pässword`, letters of full width."""
    if text.isascii():
        return text
    return "".join(character for character in normalize("NFKD", text) if not combining(character))


_ELSEWHERE = _folded(
    r"|kennwort|contrase[nñ]a|mot\.?de\.?passe|пароль|密码|密碼|口令|パスワード|비밀번호|암호|סיסמה|كلمة.?المرور"
    r"|(^|\.)(senha|parola|parool|has[lł]o|heslo|jelszo|wachtwoord|losenord|adgangskode|salasana|sifre)\d*(\.|$)"
)
"""Passwords in other languages."""
_HOLDS_KEY = regex(
    rf"(^|\.)(({_HOLDERS})\.?key(id)?(\.|$)|({_ENDS})\.?key(\.?({_CONTENT}))?$)|^key\.id$|(^|\.)pem$"
    rf"|(^|\.)(keytab|keystore|pkcs\.?12|p12|pfx|jks|kubeconfig|wallet|pem)\.?({_CONTENT})$"
    r"|(^|\.)key\.(base64|b64|pem)$"
    r"|(^|\.)sensitive\.(\w+\.)?key$"
    rf"|^(druid|hive\.kafka|kafka|spark)\..*{''.join(rf'(?<!{word})' for word in _OF_ROWS)}\.key$",
)
"""Keys of ciphers and services, and the contents of the files with them."""
_SECRET_KEY = regex(
    r"passw|passphrase|passkey|secret(?!ar)|token(?!i[sz])|ja[as]s|credential|auth\.user\.info|signature|cookie|bearer"
    r"|authorization(\.header)?$|(^|\.)(seed\.phrase|mnemonic|string\.data)$"
    r"|(^|\.)(auth|jwt|otp|j?session\.?id|phpsessid|passcode|pw|pwd|sas|sig|creds?|psk)(\.?(assertion|header|value))?$"
    r"|(^|\.)(passcode|pw|pwd|sas|sig)\."
    r"|(^|(?<!first)(?<!second)(?<!single)(?<!multi)(?<!one)(?<!two)\.)pass(\.|$)"
    r"|(?<!by)(?<!com)(?<!over)(?<!under)(?<!sur)(?<!tres)(?<!en)(?<!\.)pass$|[a-z]pwd$"
    r"|(^|\.)((totp|otp|mfa|wallet|master|key)\.seed|(git\w*|gh|azure|databricks|personal|access)\.pat)$"
    r"|(client|jwt|saml)\.?assertion$" + _ELSEWHERE,
)
_NOT_SECRET = regex(
    r"sasl\.oauthbearer\.token\.endpoint\.url$"
    r"|\.(acl|age|algorithms?|allowed|always|at|attempts|binding|bitlength|bits|cancel|charset|class|columns?|context"
    r"|counts?|created|date|days|delimiter|deserializer|domain|enable|enabled|encoding|endpoint|expired|expires|expiry"
    r"|fallback|fields?|format|httponly|ids|impl|index|interval|ip|length|lifetime|limit|location|manager|max|mechanism"
    r"|millis|min|mode|ms|names?|only|period|policy|port|providers?|rate|ratio|realm|ref|regex|remaining|required"
    r"|retries|rotation|scope|seconds|secs|secure|separator|serializer|signing|size|spec|state|status|strategy|suffix"
    r"|support|timeout|ttl|types?|updated|uri|url|use|validity|version|znode)$"
    r"|\.base\.key$|\.provider\.path$"
    r"|^(max|min|num|n|total|sum|avg|count|is|has|needs)\.(of\.)?(new\.)?(secret|token|password|cookie)s?$",
)
"""Keys that are not secret, although they contain the name of one: `token_count`, `credentials.provider`, Druid's
`druid.storage.baseKey`."""
_PART_OF_SPEC = "druid.spec."
"""The prefix of properties whose values are JSON."""
_PLACE_KEY = regex(r"(^|\.)(files?|path|dir|directory|folder)$")
_PLACE = regex(r"(?:[\w+.-]+:)?(?:[/~\\]|\.{1,2}[/\\]|[A-Za-z]:\\).*", re.S)
_FILE = regex(r"(?:file:|~|\.{1,2})?/[\w./@~-]*\.\w{2,10}")
_MECHANISM_KEY = regex(r"(^|\.)auth$")
_MECHANISMS = frozenset(
    (
        "basic", "custom", "delegationtoken", "digest", "gssapi", "jwt", "kerberos", "ldap", "negotiate", "nosasl",
        "none", "oauth", "oauth2", "pam", "plain", "saml", "sasl", "simple", "token",
    )
)  # fmt: skip
"""Values of a key such as `auth` that name how to authenticate."""
_CAMEL = regex(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z]{2})(?=[A-Z][a-z])")
_SEPARATOR = regex(r"[\W_]+")
_WORD = regex(r"[a-z]{4,40}")
_MISSPELT = ("password", "secret", "token", "credential")


@lru_cache(maxsize=8192)
def is_secret(key: str) -> bool:
    """Whether a setting, table property or variable contains a secret, judging by its name, even if misspelled."""
    return _is_secret(_words(key))


@lru_cache(maxsize=8192)
def _words(key: str) -> str:
    """The words of a key in lower case, separated by dots: `db.api.key` of `db_apiKey`."""
    return _SEPARATOR.sub(".", _CAMEL.sub(".", _folded(key))).strip(".").lower()


@lru_cache(maxsize=8192)
def _is_secret(words: str) -> bool:
    if _NOT_SECRET.search(words) is not None:
        return False
    if _SECRET_KEY.search(words) is not None or _HOLDS_KEY.search(words) is not None:
        return True
    return len(words) <= 500 and any(map(_is_misspelt, _WORD.findall(words)))


@lru_cache(maxsize=8192)
def _is_misspelt(word: str) -> bool:
    """Whether a word is a misspelling of a secret's name, with a missing, doubled, wrong or swapped letter: `pasword`,
    `tokne`, `dbpasswrd`. Two words with edit distance one become equal after removing one letter from one or both.
    """
    if word in ("taken", "woken", "secure"):
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
    """Whether the value of a key must be hidden: it is no mechanism of authentication, no place of a file with the
    secret, and no number in a column such as `client_key`. JSON is hidden if a value in it is.
    """
    if not is_secret(key) or is_shown(value):
        return False
    words = _words(key)
    is_of_cipher = _SECRET_KEY.search(words) is None and _HOLDS_KEY.search(words) is not None
    if key.startswith(_PART_OF_SPEC):
        return _hides_json(value, numbers=not is_of_cipher)
    if _PLACE_KEY.search(words) is not None:
        return _PLACE.fullmatch(value) is None
    if is_of_cipher:
        return not value.isdigit() and _FILE.fullmatch(value) is None
    return _MECHANISM_KEY.search(words) is None or value.lower() not in _MECHANISMS


def _hides_json(text: str, *, numbers: bool) -> bool:
    """Whether JSON below a secret's name must be hidden; what is cut off, or is no JSON, must be."""
    import json

    from hivedruid.redaction import redact_below

    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return True
    return bool(redact_below(value, numbers=numbers) != value)


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

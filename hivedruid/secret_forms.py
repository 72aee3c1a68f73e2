"""Finds secrets whose place shows what they are: in URLs, headers, commands, XML, SQL's users, keys of PEM files.

`secret_text` finds those that follow their key with a sign. Every search takes time linear in the text: the repetitions
of the patterns are possessive or bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from hivedruid import secret_commands
from hivedruid.lazy_regex import regex
from hivedruid.secrets import hides, is_shown

Spans = Iterator[tuple[int, int]]

_QUOTED = r"""\\*+(?P<quote>['"`]).*?(?P=quote)"""

# --- URLs ------------------------------------------------------------------------------------------------------------

_SCHEME = regex(r"(?<![A-Za-z0-9+.-])(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{0,40}+):\\?/\\?/")
_AUTHORITY = regex(r"""(?:(?!://)[^\s'"`<>]|['"`](?![\s,;:)}\]&>+|]|$))*+""")
"""The rest of a URL up to a blank, the closing quote, or the next URL. A quote in a password is followed by more of
the URL."""
_PLAIN_USER = regex(r"[\w.~%+$!*-]*+", re.ASCII)
_PORT = regex(r"(?:\[[0-9A-Fa-f:.]*+\]|[^:/?#]*+):\d*+(?=[/?#,]|$)")
_PLACES = frozenset(
    (
        "abfs",
        "abfss",
        "adl",
        "file",
        "ftp",
        "git",
        "hdfs",
        "postgres",
        "postgresql",
        "scp",
        "sftp",
        "ssh",
        "swebhdfs",
        "viewfs",
        "wasb",
        "wasbs",
        "webhdfs",
    )
)
"""Schemes whose user without a password is a container, or a name that is no secret."""


def _user_info(text: str) -> Spans:
    """User and password of a URL, up to the last @, since a password may contain @; or a user alone, which may be a
    token."""
    for match in _SCHEME.finditer(text):
        start = match.end()
        url = _AUTHORITY.match(text, start)
        assert url is not None
        rest = url[0]
        end = rest.rfind("@")
        if end < 0:
            continue
        authority = re.match(r"[^/?#\\]*+", rest)
        assert authority is not None
        at = authority[0].rfind("@")
        if ":" not in authority[0][: at if at >= 0 else None]:
            if at > 0 and match["scheme"].lower() not in _PLACES and _PLAIN_USER.fullmatch(rest, 0, at):
                yield start, start + at
        elif _PORT.match(rest) is None:
            yield start, start + end


# --- headers ---------------------------------------------------------------------------------------------------------

_HEADER = regex(
    r"""(?<![\w.$-])-?(?P<key>[\w.$-]++)(?:(?<=authorization)|(?<=cookie)|(?<=cookie2))\s{0,20}+(?P<sign>:|=)\s{0,20}+
    (?=[^\s'"`\\\[{(])(?P<value>(?:[A-Za-z][\w-]*+[ \t]++(?=\S))?[^\s'"`]++)""",
    re.I | re.X,
)


def _headers(text: str) -> Spans:
    """The values of HTTP's headers Authorization and Cookie: a scheme and a word, and parameters separated by commas
    or semicolons; all up to the closing quote if the header is in quotes."""
    for match in _HEADER.finditer(text):
        if is_shown(match["value"]):
            continue
        before = text[match.start() - 1 : match.start()]
        end = match.end("value")
        while text[end - 1] in ",;=" and (more := _MORE.match(text, end)):
            end = more.end()
        while more := _PARAMETERS.match(text, end):
            end = more.end()
        if before and before in "'\"`":
            close = text.find(before, match.start("value"))
            end = max(end, close) if close >= 0 else len(text)
        yield match.start("value"), end


_MORE = regex(r"""[ \t]*+(?:"[^"\n]*+"|[^\s'"`])++""")
_PARAMETERS = regex(r"""(?:"[^"\n]*+"|'[^'\n]*+')[^\s'"`]*+(?:[ \t]++[\w-]++=(?:"[^"\n]*+"|[^\s'"`]++)[,;]?)*+""")

_CREDENTIAL = regex(r"\b(?P<scheme>Basic|Bearer|Negotiate|ApiKey|Api-Key)\s++(?P<value>[\w+/=.~:-]{3,}+)", re.I)
_PROSE = frozenset(
    """
    access algorithm and are auth authentication authorization can cannot check column config configuration credential
    credentials data error failed field for from has header headers http https in info information instance invalid is
    key knowledge login method missing mode must not of or password queries query request requests required scheme
    schemes security setting statistics stats support syntax than that the this to token tokens type types unit usage
    use user was which with without
    """.split()  # noqa: SIM905 - a list of words reads better as words
)
"""What follows such a word in a sentence."""


def _schemes(text: str) -> Spans:
    """The credentials after the scheme of HTTP's Authorization, without the header."""
    for match in _CREDENTIAL.finditer(text):
        scheme, value = match["scheme"], match["value"].rstrip(".:-")
        if value.lower() in _PROSE or value.endswith(":") or (value.isdigit() and len(value) < 5):
            continue
        if scheme.lower() == "basic" and re.fullmatch(r"[a-z_]*|[A-Z_]*", value):
            continue
        yield match.start("value"), match.start("value") + len(value)


# --- other languages -------------------------------------------------------------------------------------------------

_ELEMENT = regex(
    r"<(?:[\w.-]{1,100}:)?(?P<key>[A-Za-z][\w.-]{0,200}+)(?:\s[^<>]{0,500}+)?>(?:<!\[CDATA\[)?+(?P<value>[^<]++)<"
)
_ENTRY = regex(
    r"""\b(?:name|key)(?:>|[\\"']*+\s{0,20}+[:=]\s{0,20}+[\\"']*+)(?P<key>[A-Za-z_$][\w.$-]*+)(?:
        (?:</\w{1,40}>|\\*["']\s{0,20}>)\s{0,200}+(?:<(?!/|val|string|data)[^<>]{0,100}+>[^<]{0,100}+</[^<>]{0,100}+>\s{0,200}+){0,2}+
        <(?:val|value|string|data)>(?:<!\[CDATA\[)?+(?P<xml>[^<]++)
      | \\*["'](?:\s[^<>]{0,100}+)?>(?:<!\[CDATA\[)?+(?P<text>[^<\s][^<]*+)</
      | (?:[\s,;\\"'{}]|-\s){1,100}+val(?:ue)?[\\"']*+\s{0,100}+[=:]\s{0,100}+
        (?P<value>\\*+"[^"]*+|\\*+'[^']*+|[^\s'"\\]++)
    )""",
    re.X | re.I,
)
_DEFAULT = regex(
    r"""\bvariable\s++\\*["'](?P<key>[\w.-]{1,300})\\*["']\s*+\{[^{}]{0,500}?\bdefault\s*+=\s*+\\*["'](?P<value>[^"'\n]++)"""
)
"""Terraform's `variable "password" { default = "x" }`."""
_SECTION = regex(
    r"""(?:^|(?<=['"`:=])[ ]?|--[ ]?)\[[ ]?(?:[\w-]++\.)*+(?:secret|credential|password|token)s[ ]?\][ \t]*+\n"""
    r"(?P<lines>(?:(?!\[).*\n?)*+)",
    re.M | re.I,
)
_SETTING = regex(r"""^[ \t]*+["']?[\w.-]++["']?[ \t]*+=[ \t]*+(?P<value>"[^"\n]*+|'[^'\n]*+|[^\s'"][^\n'"]*+)""", re.M)
"""A section of TOML or an ini file, and a line there."""
_KEY_TYPE = regex(r"""["']kty\\*["']""")
_JWK = regex(r"""["'](?:d|p|q|dp|dq|qi|k)\\*["']\s{0,20}+:\s{0,20}+\\*["'](?P<value>[\w=-]++)""")
"""The private members of a JSON Web Key."""
_OPTION = regex(rf"(?<![\w.$'\"])(?P<key>[A-Z]{{2,40}}+(?:_[A-Z]{{1,40}}+){{1,9}}+)\s++(?P<value>{_QUOTED})", re.S)
_SET_TO = regex(
    r"""\bSET\s++(?:(?:LOCAL|SESSION|GLOBAL)\s++)?(?P<key>[\w.$]++)\s++TO\s++(?P<value>\\*"[^"\n]++|\\*'[^'\n]++|[\w./+=-]++)""",
    re.I,
)
_PRAGMA = regex(
    r"""\b(?:PRAGMA\s++(?:\w++\.)?(?:hex|text)?(?:re)?key\s*+=|CREATE\s++SECRET\s++\S++\s++AS)\s*+"""
    r"""\\*["'](?P<value>[^"'\n]++)""",
    re.I,
)
_CONNECT = regex(
    r"""\b(?:getConnection|connect)\((?:\s*+\\*(?:"[^"\n]*+"|'[^'\n]*+')\s*+,){2}\s*+\\*["'](?P<value>[^"'\n]++)"""
)
_CALL = regex(
    r"""(?<!\w)(?P<function>\w++)\(\s{0,100}+\\*+["'](?P<key>[\w.$-]{1,300}+)\\*+["']\s{0,100}+,\s{0,100}+\\*+["'](?P<value>[^"'\n]++)""",
    re.I | re.X,
)
_OF_SETTERS = ("option", "config", "conf", "property", "header", "setting", "credential", "env")
_SETTERS = regex(rf"(?:.*(?:{'|'.join(_OF_SETTERS)})s?|set|put|setstring)", re.I)
_CALL_SIGNS = ("set(", "put(", "setstring(", *(f"{word}{end}" for word in _OF_SETTERS for end in ("(", "s(")))
_CREATED = regex(
    rf"\b(?:IDENTIFIED\s++(?:(?:WITH|VIA)\s++\S++\s++)?(?:BY|AS|USING)(?:\s++(?:PASSWORD|VALUES))?|"
    rf"(?<![\w.$-])(?:PASSWORD|PASSWD|PASSPHRASE|PWD)(?:\s++FOR\s++\S++)?)"
    rf"(?:\s++(?:(?:is|was|of|=)\s++)?|\s*+[=(]\s*+)(?P<value>{_QUOTED})",
    re.I | re.S,
)
_IDENTIFIED = regex(
    r"""\b(?:USER|ROLE|LOGIN|EXISTS|TO)\s++\S++\s++IDENTIFIED\s++BY\s++(?:VALUES\s++)?(?P<value>[^\s'"`;]++(?:\s++REPLACE\s++[^\s'"`;]++)?+)""",
    re.I,
)
_CIPHER = regex(r"\b(?:try_)?(?:aes|pgp_sym)_(?:en|de)crypt\s*+\(|\bhmac\w{0,20}\s*+\(", re.I)
_LITERAL = regex(r"""'(?P<single>(?:[^'\\]|\\.)*+)'|"(?P<double>(?:[^"\\]|\\.)*+)"|(?P<sign>[(),])""", re.S)


def _elements(text: str) -> Spans:
    """`<password>x</password>`."""
    return _named(_ELEMENT, text)


def _entries(text: str) -> Spans:
    """`<name>a.password</name><value>x</value>`, `name: PASSWORD, value: x`."""
    return _named(_ENTRY, text)


def _calls(text: str) -> Spans:
    """`option("password", "x")`."""
    return _named(_CALL, text)


def _named(pattern: re.Pattern[str], text: str) -> Spans:
    """The values of a pattern whose keys are secret."""
    for match in pattern.finditer(text):
        if pattern is _CALL and _SETTERS.fullmatch(match["function"]) is None:
            continue
        group = match.lastgroup or "value"
        value = match[group].strip(" \n\\'\"")
        if value and hides(match["key"], value):
            yield match.start(group) + len(match[group]) - len(match[group].lstrip("\\\"'")), match.end(group)


def _users(text: str) -> Spans:
    """`CREATE USER u PASSWORD 'x'`, `IDENTIFIED BY 'x'`."""
    for match in _CREATED.finditer(text):
        start, end = match.span("value")
        inner = text[start:end].lstrip("\\")[1:-1]
        if not is_shown(inner.strip("\\")):
            yield end - 1 - len(inner), end - 1
    yield from (match.span("value") for match in _IDENTIFIED.finditer(text))


def _settings(text: str) -> Spans:
    """`SET a.token TO 'x'`, `SECRET_ACCESS_KEY 'x'`, `PRAGMA key = 'x'`, `CREATE SECRET s AS 'x'`,
    `connect('h', 'me', 'x')`, and a default in Terraform."""
    for pattern in (_SET_TO, _OPTION, _DEFAULT):
        for match in pattern.finditer(text):
            start, end = match.span("value")
            start += len(match["value"]) - len(match["value"].lstrip("\\'\""))
            value = text[start:end].rstrip("\\'\"")
            if hides(match["key"], value) and not (
                pattern is _SET_TO and start == match.start("value") and value.islower()
            ):
                yield start, start + len(value)
    yield from (*_matched(_PRAGMA, text), *_matched(_CONNECT, text))


def _sections(text: str) -> Spans:
    """The values of `[secrets]` in TOML or an ini file."""
    for section in _SECTION.finditer(text):
        for match in _SETTING.finditer(text, *section.span("lines")):
            if not is_shown(match["value"].strip("'\" ")):
                yield match.start("value") + (match["value"][0] in "'\""), match.end("value")


def _web_keys(text: str) -> Spans:
    """The private members of a JSON Web Key."""
    return _matched(_JWK, text) if _KEY_TYPE.search(text) else iter(())


def _table_functions(text: str) -> Spans:
    """The user and password among the arguments of ClickHouse's table functions and engines: after the URL of a store
    of objects, after the fourth argument of a database."""
    end = 0
    for match in _TABLE_FUNCTION.finditer(text):
        if match.start() < end:
            continue
        place, depth = 0, 1
        first = next(least for name, least in _FIRST_SECRET.items() if match["function"].lower().startswith(name))
        for piece in _LITERAL.finditer(text, match.end(), match.end() + 5000):
            end = piece.end()
            depth += {"(": 1, ")": -1}.get(piece["sign"] or "", 0)
            place += piece["sign"] == "," and depth == 1
            if depth == 0:
                break
            value = piece["single"] or piece["double"] or ""
            if depth == 1 and place >= first and value and _NO_CREDENTIAL.fullmatch(value.rstrip("\\")) is None:
                yield piece.span("single" if piece["single"] is not None else "double")


_FIRST_SECRET = {
    "s3": 1,
    "gcs": 1,
    "oss": 1,
    "cosn": 1,
    "azureblob": 3,
    "mysql": 4,
    "postgresql": 4,
    "mongodb": 4,
    "remote": 2,
}
"""The first argument that may be a secret, by the beginning of the function's name."""
_TABLE_FUNCTION = regex(
    r"\b(?P<function>(?:s3|gcs|oss|cosn|azureBlobStorage)(?:Cluster|Queue)?|mysql|postgresql|mongodb|remote(?:Secure)?)\s?\((?=\s{0,20}\\*['\"])",
    re.I,
)
_NO_CREDENTIAL = regex(
    r"(?i:auto|gzip|none|zstd|br|xz|lz4|nosign)|[A-Z][A-Za-z]*+|[\w`]++ .*|[a-z]\w{0,15}|https?:.*", re.S
)
"""A format, a compression, the columns, or a name."""


def _cipher_keys(text: str) -> Spans:
    """The literals among the arguments of a cipher function after the first one, which is data."""
    end = 0
    for match in _CIPHER.finditer(text):
        if match.start() < end:
            continue
        depth, is_key = 1, False
        for piece in _LITERAL.finditer(text, match.end()):
            end = piece.end()
            depth += {"(": 1, ")": -1}.get(piece["sign"] or "", 0)
            is_key = is_key or (piece["sign"] == "," and depth == 1)
            if depth == 0:
                break
            if piece["sign"] is None and is_key:
                yield piece.span("single" if piece["single"] is not None else "double")


# --- the form of the secret itself -----------------------------------------------------------------------------------

_LOGIN_MODULE = regex(r"LoginModule\s++(?:required|requisite|sufficient|optional)\b(?P<value>[^;]*+)", re.I)
_PRIVATE_KEY = regex(r"-----BEGIN [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?-----(?P<value>(?:[^-]|-(?!----))*+)", re.I)
_PARAMETER = regex(
    r"(?:[?&;](?:sig|signature|sas|pwd|code|sessionid|sid|hmac)=|hooks\.slack\.com/(?:services|workflows)/|/webhooks/\d++/"
    r"|/webhookb2/|[?&]key=(?=[A-Za-z_-]*+\d)(?=[^&\s]*[A-Z])(?=[\w-]{12})|api\.telegram\.org/bot\d++:)"
    r"(?P<value>[^&\s'\"`;,)]++)",
    re.I,
)
_PARAMETER_SIGNS = (
    "sig=", "signature=", "sas=", "pwd=", "code=", "sessionid=", "sid=", "hmac=", "key=", "hook", "telegram",
)  # fmt: skip
_SHAPE = regex(
    r"(?<![\w/+])(?P<value>(?:AKIA|ASIA)[A-Z0-9]{12,16}|gh[pousr]_\w{16,}+|github_pat_\w{16,}+|glpat-[\w-]{16,}+"
    r"|xox[abeprs]-[\w-]{10,}+|[rs]k_(?:live|test)_\w{10,}+|AIza[\w-]{30,}+|ya29\.[\w-]{16,}+|dapi[0-9a-f]{32}"
    r"|hv[sb]\.[\w-]{16,}+|npm_\w{30,}+|pypi-[\w-]{30,}+|SG\.[\w-]{16,}\.[\w-]{16,}+|sk-[\w-]{30,}+"
    r"|eyJ[\w-]{5,}\.eyJ[\w-]{5,}\.[\w-]*+|\$(?:apr1|2[aby]|5|6)\$[\w./$]{20,}+)",
    re.ASCII,
)
"""The tokens of well-known services, and hashes of passwords."""
_BEGINNINGS = (
    "akia", "asia", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "k_live_", "k_test_",
    "aiza", "ya29.", "dapi", "hvs.", "hvb.", "npm_", "pypi-", "sg.", "sk-", "eyj", "$apr1$", "$2", "$5$", "$6$",
)  # fmt: skip


def _login_modules(text: str) -> Spans:
    """The options in a JAAS configuration."""
    return _matched(_LOGIN_MODULE, text)


def _private_keys(text: str) -> Spans:
    """The content of a PEM file."""
    return _matched(_PRIVATE_KEY, text)


def _parameters(text: str) -> Spans:
    """Signatures and codes in a URL."""
    return _matched(_PARAMETER, text)


def _shapes(text: str) -> Spans:
    """Tokens that are known by their beginning."""
    return _matched(_SHAPE, text)


def _matched(pattern: re.Pattern[str], text: str) -> Spans:
    for match in pattern.finditer(text):
        if not is_shown(match["value"].strip()):
            yield match.span("value")


_FORMS: tuple[tuple[Callable[[str], Spans], tuple[str, ...]], ...] = (
    (_user_info, ("@",)),
    (_headers, ("authorization", "cookie")),
    (_schemes, ("basic", "bearer", "negotiate", "api")),
    (secret_commands.flags, ("-",)),
    (secret_commands.set_by, ("env ", "setenv", "setx", "config")),
    *secret_commands.COMMANDS,
    (secret_commands.authentications, ("auth", "pass")),
    (secret_commands.assignments, ("--from-literal", "vault", "secrets")),
    (secret_commands.oracle_users, ("oracle", "sqlplus", "sqlldr", "dp", "rman", "userid", "conn")),
    (secret_commands.lines, (".",)),
    (secret_commands.pgpass, (":",)),
    (_elements, ("</",)),
    (_entries, ("value", 'val"', "val'", "name=", "key=", "key>", "name>")),
    (_calls, _CALL_SIGNS),
    (_users, ("pass", "pwd", "identified")),
    (_settings, (" to ", "key", "token", "secret", "pass", "connect")),
    (_sections, ("secrets", "credentials", "passwords", "tokens")),
    (_web_keys, ("kty",)),
    (_table_functions, ("s3", "gcs", "oss", "cosn", "azureblob", "mysql", "postgresql", "mongodb", "remote")),
    (_cipher_keys, ("crypt", "hmac")),
    (_login_modules, ("loginmodule",)),
    (_private_keys, ("private",)),
    (_parameters, _PARAMETER_SIGNS),
    (_shapes, _BEGINNINGS),
)
"""Each form, and the texts in lower case, at most one word each, of which it has one."""


def spans(text: str) -> Spans:
    """The ranges of the secrets in a text, unsorted; they may overlap."""
    words = f" {' '.join(set(text.lower().split()))} "
    for form, signs in _FORMS:
        if any(sign in words for sign in signs):
            yield from form(text)

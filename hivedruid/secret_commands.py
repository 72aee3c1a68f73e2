"""Finds the secrets in command lines: options, words after a command, assignments that a command stores as secrets, and
lines of the files that such programs read.

Every search takes time linear in the text: the repetitions of the patterns are possessive or bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from hivedruid.lazy_regex import regex
from hivedruid.secrets import hides, is_secret, is_shown

Spans = Iterator[tuple[int, int]]

_WORD = r"""(?:\\?+"[^"\n]*+"|\\?+'[^'\n]*+'|[^\s'"`;|&]++)"""
_ANY_FLAG = regex(r"(?<![\w-])-{1,2}[A-Za-z]")
_FLAG = regex(rf"(?<![\w-])-{{1,2}}(?P<key>[A-Za-z][\w.-]*+)[ \t]++(?!-)(?P<value>{_WORD})")
_KEY_FLAG = regex(rf"(?<![\w-])--?key(?:-value)?(?:=|[ \t]++)(?!-)(?P<value>{_WORD})")
_NO_KEY = regex(r"[\d.,]*+|(?:file:|~|\.{1,2})?/.*|[\w./-]*\.[a-z]\w{1,7}|[{\[].*|[a-z_]{1,15}")
"""What follows `--key` if it is no secret: the number of a field, a file, an object, a name."""
_USER_FLAG = regex(
    r"""(?<![\w-])(?:-[uUE]|--(?:proxy-)?user|--cert|--auth)(?:[ \t]*+=?[ \t]*+)\\?["']?+(?!jdbc:)"""
    r"""[^\s:'"/@]{0,200}+:(?!/)(?P<value>[^\s'"]++)"""
)
_PROXY_FLAG = regex(r"""(?<![\w-])(?:-x|--(?:pre)?proxy)[ \t=]++\\?["']?+[^\s:'"/@]{0,200}+:(?P<value>[^\s'"/@]++)@""")
_PERCENT_USER = regex(r"""(?<![\w-])(?:-U|--user)[ \t=]*+\\?["']?+[^\s%'"/@]{1,200}+%(?P<value>[^\s'"]++)""")
_USER_AND_PASSWORD = regex(
    rf"(?<!\S)(?:-[uU]|--?user(?:name)?)[ \t=]++(?!-)[^\n;|&]{{1,200}}?(?<=\s)-(?:p|P|pw)(?:[ \t]++(?!-)|(?=\\?['\"]))"
    rf"(?!\$|\d++(?::\d++)?(?:/\w++)?(?!\S))(?P<value>{_WORD})"
)
"""A user, and an option that then means a password, unless it looks like a port."""
_TOOLS = regex(
    r"\b(?P<tool>beeline|mysql\w*+|mariadb\w*+|mongo\w*+|sshpass|redis-cli|curl|ldap\w++|clickhouse-client|snowsql|bcp|"
    r"sqlcmd|impala-shell|(?:docker|podman|az)\s++login|https?(?=\s++-)|mosquitto_\w++|vsql|zip|unzip|7za?|ssh-keygen"
    r"|openssl\s++enc)(?=\s)(?P<options>[^\n;]{0,4000}+)"
)
_SHORT = {
    "sshpass": "-p", "redis-cli": "-a", "curl": "-b", "http": "-a", "ldap": "-[wx]", "sqlcmd": "-P", "bcp": "-P",
    "mosquitto": "-P", "vsql": "-w", "zip": "-P", "unzip": "-P", "ssh-keygen": "-[NP]", "openssl": "-[kK]",
}  # fmt: skip
"""The options of programs that are followed by a secret; `-p` of all others."""
_GLUED = ("mysql", "mariadb", "sshpass", "sqlcmd", "beeline", "7z")
"""Programs whose option and secret may be one word."""
_LINE = regex(
    r"""(?:^|['"`]|[:=][ ]?|--)[ \t]*+(?P<key>[A-Za-z][\w.-]*+)[ \t]++(?P<value>[^\s'"`]++)(?=[ \t]*+(?:$|['"`]))""",
    re.M,
)
"""A line of a properties file: `spark.ssl.keyPassword x`."""
_SET_BY = regex(
    rf"(?<![\w.-])(?P<command>configure\s++set|setx|setenv|ENV|config(?:\s++--?[\w-]++)*+(?:\s++set|\s++create\s++\S++\s++\S++)?+)"
    rf"[ \t]++(?P<key>[\w.:/-]++)[ \t]++(?P<value>{_WORD})",
    re.I,
)
_ASSIGNED = regex(
    rf"(?:\bvault\s++kv\s++(?:put|patch)\s++(?:-\S++\s++)*+\S++|\bsecrets\s++set)(?P<pairs>(?:\s++['\"]?[\w.-]++={_WORD})++)"
    rf"|(?<!configmap )(?<![\w-])--from-literal[= ]\\?['\"]?(?P<pair>[\w.-]++=[^\s'\"]++)"
)
_PAIR = regex(rf"=(?P<value>{_WORD})")
_CONFIG_MAP = regex(r"\bcreate\s++(?:configmap|cm)\b[^\n;|&]*+\Z")
_AFTER_COMMAND = tuple(
    (regex(pattern.format(word=_WORD), re.I), tuple(signs.split()))
    for signs, pattern in (
        ("connect", r"!\s{{0,9}}connect\s++\S++\s++{word}\s++(?P<value>{word})"),
        ("vault", r"\bvault\s++login\s++(?!-)(?P<value>{word})"),
        ("login", r"\blogin\s++\S++\s++(?:account\s++\S++\s++)?password\s++(?P<value>{word})"),
        ("mysqladmin", r"\bmysqladmin\s[^\n;|&]{{0,500}}?\spassword\s++(?P<value>{word})"),
        ("isql", r"\bisql\s++(?:-\w++\s++)*+[^\s-]\S*+\s++\S++\s++(?!-)(?P<value>{word})"),
        ("alias config", r"\bmc\s++(?:alias\s++set|config\s++host\s++add)\s++\S++\s++\S++\s++"
            r"(?P<value>\S++(?:[ \t]++{word})?+)"),
        ("/user:", r"\s/user:\S++[ \t]++(?!/)(?P<value>{word})"),
        (".logon", r"(?<!\w)\.logon\s++[^\s,]++,(?P<value>[^\s;'\"]++)"),
        ("connect", r"\bconnect\s++to\s++\S++\s++user\s++\S++\s++using\s++(?P<value>{word})"),
        ("user", r"\b(?:setuser|user)\s++\S++\s++(?:(?:on|off|reset\w*+|[~+&%-]\S++)\s++)++>(?P<value>[^\s'\"]++)"),
        ("requirepass masterauth", r"\b(?:requirepass|masterauth)\s++(?P<value>{word})"),
        ("secret credential securestring",
            r"\b(?:(?:secrets?|credential)\s++(?:set|create|put|add|update)|SecureString)\b"
            r"[^\n;|&]{{0,500}}?\s--?(?:value|string-value|data|body|b)[ =](?P<value>{word})"),
        ("rabbitmqctl htpasswd api-key", r"\b(?:rabbitmqctl\s++(?:add_user|change_password)|htpasswd\s++-b\w*+\s++\S++"
            r"|api-key\s++store)\s++\S++\s++(?P<value>{word})"),
        ("openssl encrypt_string user",
            r"\b(?:openssl\s++passwd|encrypt_string|user(?:add|mod)\s++-p)\s++(?:-\w++\s++)*+(?P<value>{word})"),
        ("lftp", r"\blftp\s++-u\s*+[^\s,]++,(?P<value>{word})"),
        ("<<<", r"(?:token|stdin|passwd|kinit)[^\n;|&<]{{0,200}}+<<<\s*+(?P<value>{word})"),
        ("echo printf", r"\b(?:echo|printf)\s++(?:-\w++\s++|['\"]?%s(?:\\n)?['\"]?\s++)*+(?P<value>{word})\s*+\|\s*+"
            r"(?=[^\n|]{{0,300}}?(?:stdin|sudo\s++-S|kinit|passwd|secrets?\s++(?:create|versions|set|put)|with-token))"),
    )
)  # fmt: skip
"""Commands, and the words in lower case of which a text with one of them has one."""
_AUTH = regex(
    r"""(?:^|['"`>]|[:=][ ]?|--|-cli\s[^\n'"]{0,200}?\s|HELLO\s\d\s|-\w\s)[ \t]*+(?:AUTH|PASS)[ \t]++"""
    r"""(?:[\w.-]++[ \t]++)?(?P<value>[^\s'"`]++)(?=[ \t]*+(?:$|['"`]))""",
    re.M,
)
"""A command of Redis, FTP or POP3."""
_NO_SECRET_AFTER_AUTH = regex(r"[a-z]{1,20}[.:,]?|[A-Z]{1,20}", re.ASCII)
_ORACLE = regex(
    r"""\b(?:jdbc:oracle:\w{1,20}:|(?:(?:sqlplus|sqlldr|expdp|impdp)\s++(?:-\w{1,8}\s++)*+|rman\s++target\s++|userid=)"""
    r"""(?:userid=)?+\\*+["']?+)[\w.$#"]{0,128}+/(?P<rest>[^\s'`]++)"""
    r"""|\bconn(?:ect)?\s++[\w.$#]{1,128}+/(?P<connected>[^\s'"`@]++)(?:@|\s++as\s++sys)""",
    re.I,
)
_PGPASS = regex(
    r"(?<![\w.*:/-])(?![0-9a-fA-F:]++(?![\w.]))(?:[A-Za-z][\w.-]*+|[\d.]++|\*):(?:\d{4,5}|\*):(?:[\w-]++|\*):(?:[\w-]++|\*)"
    r":(?P<value>[^\s'\"`:]++)"
)
"""A line of `.pgpass`: host, port, database, user, password."""
_PGPASS_PORT = regex(r":(?:\d{4,5}|\*):[\w*-]")


def flags(text: str) -> Spans:
    """`--password x`, `-u me:x`, `mysql -px`."""
    if _ANY_FLAG.search(text) is None:
        return
    for match in _FLAG.finditer(text):
        if hides(match["key"], match["value"].strip("\\'\"")):
            yield match.span("value")
    for match in _KEY_FLAG.finditer(text):
        if _NO_KEY.fullmatch(match["value"].strip("\\'\"")) is None:
            yield match.span("value")
    for pattern in (_USER_FLAG, _PROXY_FLAG, _PERCENT_USER, _USER_AND_PASSWORD):
        yield from (match.span("value") for match in pattern.finditer(text))
    for tool in _TOOLS.finditer(text):
        name = tool["tool"].lower()
        option = next((flag for word, flag in _SHORT.items() if name.startswith(word)), "-p")
        gap = r"[ \t]*+" if name.startswith(_GLUED) else r"(?:[ \t]++|(?=\\?['\"]))"
        option_value = regex(rf"(?<!\S){option}{gap}(?!-)(?P<value>{_WORD})")
        yield from (match.span("value") for match in option_value.finditer(text, *tool.span("options")))


def set_by(text: str) -> Spans:
    """`aws configure set aws_secret_access_key x`, `ENV DB_PASSWORD x`."""
    for match in _SET_BY.finditer(text):
        value = match["value"].strip("\\'\"")
        is_prose = value.isalpha() and value.islower() and match["command"].lower() == "config"
        if hides(match["key"].rpartition(":")[2].rpartition("/")[2], value) and not is_prose:
            yield match.span("value")


def _after(pattern: re.Pattern[str], text: str) -> Spans:
    """`!connect url user x`, `mysqladmin password x`, `echo x | docker login --password-stdin`."""
    for match in pattern.finditer(text):
        if not is_shown(match["value"].strip("\\'\"")):
            yield match.span("value")


COMMANDS = tuple((partial(_after, pattern), signs) for pattern, signs in _AFTER_COMMAND)
"""A form for each command, and its signs."""


def authentications(text: str) -> Spans:
    """`AUTH x`."""
    for match in _AUTH.finditer(text):
        if _NO_SECRET_AFTER_AUTH.fullmatch(match["value"]) is None:
            yield match.span("value")


def assignments(text: str) -> Spans:
    """The values that a command stores as secrets: `--from-literal=a=x`, `vault kv put secret/a b=x`."""
    for match in _ASSIGNED.finditer(text):
        group = "pairs" if match["pairs"] is not None else "pair"
        if group == "pair" and _CONFIG_MAP.search(text, max(0, match.start() - 300), match.start()):
            continue
        for pair in _PAIR.finditer(text, *match.span(group)):
            if not is_shown(pair["value"].strip("\\'\"")):
                yield pair.span("value")


def oracle_users(text: str) -> Spans:
    """`jdbc:oracle:thin:user/password@host`; `sqlplus user/password@host`."""
    for match in _ORACLE.finditer(text):
        if match["connected"] is not None:
            yield match.span("connected")
            continue
        end = match["rest"].rfind("@")
        yield match.start("rest"), match.start("rest") + (end if end >= 0 else len(match["rest"]))


def lines(text: str) -> Spans:
    """The values of a properties file without signs."""
    for match in _LINE.finditer(text):
        value = match["value"]
        is_word = value.rstrip(".:,").isalpha() and value.islower()
        if (
            "." in match["key"]
            and is_secret(match["key"])
            and not is_word
            and not is_shown(value)
            and value[0] not in "=:"
        ):
            yield match.span("value")


def pgpass(text: str) -> Spans:
    """The passwords in a file `.pgpass`."""
    if _PGPASS_PORT.search(text) is not None:
        yield from (match.span("value") for match in _PGPASS.finditer(text))

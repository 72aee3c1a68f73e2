"""Finds the values of secret keys in text without parsing it: a word that looks like a secret's key, a sign such as
`=`, and the value after it, in any quoting.

`secret_forms` finds secrets in other places. Every search takes time linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hivedruid.lazy_regex import regex
from hivedruid.secrets import hides, is_secret, is_shown

_SINGLE = "'`´‘’‚‛′＇"
_DOUBLE = '"“”„‟«»″＂'
QUOTES = _SINGLE + _DOUBLE
GAP = r"(?:\s|/\*[^*]{0,500}+\*/|--[^\r\n]{0,1000}+[\r\n])*+"
_SIGN = r"(?:[=:]{1,2}>?|[!+?~^]=|<>|=~|＝|：|→|->|%3[ADad])"
_KEY = regex(
    rf"(?<![\w.$])(?<!\w-)(?P<key>(?:[^\W\d]|\$)(?:[\w.$]|-(?!-))*+)(?P<mark>(?:%(?!3[ADad])|\*){{1,2}}+|[ ]?\}}\}})?+"
    rf"(?P<close>[\\{QUOTES}\]]++)?{GAP}(?P<sign>(?:{_SIGN}{GAP}){{1,4}}+"
    rf"|(?(mark)(?!)|(?(close)(?=[\w\\{QUOTES}])|(?<=\s)(?=['\"]))))(?:\*\*(?!\*){GAP})?+"
    rf"(?:\w{{1,40}}+\({GAP}(?=[\[{{]))?+(?P<bracket>(?:[(\[{{]{GAP})*+)"
)
"""A word, the marks of a template or of Markdown, its closing quotes, an operator such as `=` (optional after a quote),
and the start of a value, which may be in a call, as in `jsonencode({`."""
_LITERAL = rf"(?P<quote>['\"])(?:(?!(?P=quote))[^\\\n]|\\.){{0,300}}+(?P=quote){GAP}"
_PARTS = regex(rf"(?:{_LITERAL}(?:[+|]{{1,2}}{GAP})?){{1,20}}+{_SIGN}{GAP}")
"""String literals that may be the parts of one key, and an operator."""
_ADJACENT = regex(rf"concat\s{{0,20}}+\(|['\"]{GAP}(?:[+|]{{1,2}}{GAP})?(?<!''|\"\")['\"]", re.I)
_CONCAT = regex(rf"\bconcat\s{{0,20}}+\({GAP}(?:{_LITERAL},?{GAP}){{1,20}}+\){GAP}{_SIGN}{GAP}", re.I)
_PART = regex(r"""'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)\"""", re.S)
_OPEN = regex(rf"(?P<quote>\\*+[{QUOTES}])")
_BARE = regex(
    rf"(?:(?:Basic|Bearer|Digest|OAuth|Negotiate|Token|ApiKey|![\w!/-]+|&\w+)\s+)?[^\s{QUOTES}]+"
    rf"(?:(?<=\\)\r?\n[ \t]*+[^\s{QUOTES}]++)*+",
    re.I,
)
"""A word, which a backslash at the end of its line continues."""
_BLOCK = regex(
    r"(?:[|>][+-]?\d?|!(?!=)[\w!/-]*+|&\w++|-)?[ \t]*+(?P<block>(?:(?<=[|>+\w-])(?:[ \t]*+\n[ \t]++[^\n]++)++"
    r"|(?:(?:^|(?<=\s))-[ \t][^\n]++\s*+)++))",
    re.M,
)
"""A value of YAML on the lines after its key: a block, or a list."""
_HEREDOC = regex(r"<<[-~]?['\"]?(?P<tag>\w{1,40})['\"]?\n(?P<block>.{0,4000}?)(?:\n\s*(?P=tag)\b|\Z)", re.S)
_COLLECTION = regex(r"(?:secret|credential|token|password)s$|^(?:string)?data$", re.I)
_MANIFEST = regex(r"\bkind\W{1,8}Secret\b|\bpatch\s{1,9}secret\b")
"""A Secret of Kubernetes, whose `data` is secret."""
_MAPPED = regex(rf"[\w.-]++[{QUOTES}]?:(?=[ \t\n])")
_MAPPED_VALUE = regex(rf":[ \t]++(?P<value>\"[^\"\n]*+|'[^'\n]*+|[^\s{QUOTES}][^\n{QUOTES}]*+)")
"""An entry of a mapping in YAML."""
_PREFIX = regex(r"^[A-Za-z]$|\w\($")
"""`N'…'`, `concat('…'`."""
_PARAMETER = regex(rf"[^\s;&{QUOTES}]+")
_END = regex(r"[\s,;:)}\]&>]|$|/\*|--|\.(?:\s|$)")
"""What may follow the closing quote of a value; quotes inside a value, as in `user='me'`, are followed by something
else."""
_AGAIN = regex(rf"{GAP}(?:[+|]+{GAP})?(?P<quote>\\*[{QUOTES}])")
_KEYWORDS = frozenset(
    """
    and as asc between comment desc else end except for from group having in intersect is join like limit location not
    null
    on or order rows stored tblproperties then union when where with
    """.split()  # noqa: SIM905 - a list of words reads better as words
)
"""What may follow a string in well-formed SQL."""
_TYPE = regex(
    r"(?:string|(?:tiny|small|big)?int|integer|boolean|double|float|date|timestamp|binary|decimal|varchar|char|array|map"
    r"|struct|uniontype)(?![\w.-])",
    re.I,
)
"""`struct<token:string>`."""
_VARIABLES = regex(r'"variables\\*"\s*:\s*\{[^{}]*\Z')
_PROSE = regex(
    r"\b(?:bad|current|expected|expecting|extra|extraneous|first|illegal|input|invalid|last|mismatched|missing|near|next"
    r"|offending|the|unexpected|unknown|unrecognized)\s\Z",
    re.I,
)
_AFTER_WORD = regex(r"\w\s\Z")
_SENTENCE = regex(
    r"(?:a|an|and|as|at|both|but|by|each|for|he|if|in|is|it|its|no|not|of|on|one|only|or|she|that|the|then|they|this|to|use|"
    r"what|when|where|which|who|with|you)\s"
)
"""The beginning of a sentence."""
_ITEM = regex(
    rf"(?P<quote>\\*+[{QUOTES}])|(?P<open>[(\[{{])|(?P<close>[)\]}}])|(?P<bare>[^\s,;:=(){{}}\[\]\\{QUOTES}]++)"
)
_AFTER_KEY = regex(r"\s*+[:=]")
_ENVIRONMENT = regex(r"""\btype\W{1,9}environment\b""")
_LINES = 200
"""Lines of a mapping that are searched."""
_LONGEST = 5000
"""Characters of a list or object under a secret key that are searched for its items; a longer one is hidden whole."""

Span = tuple[int, int]


def assigned(text: str, *, statement: bool) -> Iterator[Span]:
    """The values after secret keys; values of other keys are searched, too. In a `statement`, a quoted key may be
    followed by its value without an operator."""
    position = 0
    is_manifest = "ecret" in text and _MANIFEST.search(text) is not None
    while match := _KEY.search(text, position):
        position = match.end("key")  # a comment after it may contain another
        if not (is_secret(match["key"]) or (is_manifest and match["key"] == "data")):
            continue
        sign = match["sign"].strip()
        if (
            _is_prose(text, match)
            or not (sign or (statement and _is_whole(text, match)))
            or (sign in ("==", "!=", "<>") and not match["close"] and (sign == "==" or not statement))  # an expression
        ):
            continue
        spans, end = _values(text, match, sign)
        if spans:
            position = max(end, position)
            yield from spans


def assigned_by_parts(text: str) -> Iterator[Span]:
    """The values after keys that consist of several literals."""
    if _ADJACENT.search(text) is None:
        return
    for match in (*_PARTS.finditer(text), *_CONCAT.finditer(text)):
        parts = [single or double for single, double in _PART.findall(match[0])]
        if len(parts) < 2:
            continue
        key = "".join(parts)
        if is_secret(key) or is_secret(parts[-1]):
            start, end = _value(text, match.end(), parameter=False)
            if start < end and hides(key, text[start:end]):
                yield start, end


def _values(text: str, match: re.Match[str], sign: str) -> tuple[list[Span], int]:
    """The ranges of the values after a key, and where the search goes on; no ranges if they are no secrets."""
    if match["bracket"]:
        start = match.start("bracket")
        if sign.lower().startswith("%3"):
            return [], start
        return _items(text, start, match)
    if sign and (block := _BLOCK.match(text, match.end())) is not None and block["block"].strip():
        return [block.span("block")], block.end()
    if sign and (heredoc := _HEREDOC.match(text, match.end())) is not None:
        return [heredoc.span("block")], heredoc.end()
    if sign == ":" and _COLLECTION.search(match["key"]) and (mapping := _mapping(text, match.end())):
        return mapping, mapping[-1][1]
    start, end = _value(text, match.end(), parameter=text[match.start() - 1 : match.start()] in ("?", "&", ";"))
    value = text[start:end]
    if not _is_value(match, sign, value) or _names_variable(text, match.start(), value):
        return [], start
    return [(start, end)], end


def _mapping(text: str, start: int) -> list[Span]:
    """The values in a mapping of YAML whose first key is at `start`, on a line of its own."""
    indent = text[text.rfind("\n", 0, start) + 1 : start]
    if not indent.isspace() or _MAPPED.match(text, start) is None:
        return []
    spans = []
    for _ in range(_LINES):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if (match := _MAPPED_VALUE.search(text, start, end)) and not is_shown(match["value"].strip("'\" ")):
            spans.append((match.end("value") - len(match["value"].lstrip("'\"")), match.end("value")))
        start = end + 1
        if not text.startswith(indent, start):
            break
    return spans


def _is_whole(text: str, match: re.Match[str]) -> bool:
    """Whether a key is completely quoted, or not quoted, so that a value may follow without an operator."""
    if match["close"] is None:
        return True  # CREATE SECRET s (KEY_ID 'x')
    before = text[match.start() - 1 : match.start()]
    return before != "" and before in QUOTES and before != "`" and match["close"][-1] not in "\\`]"


def _is_prose(text: str, match: re.Match[str]) -> bool:
    """`unexpected token: 'FROM'`, `it contains a token: its value is displayed`."""
    if match["sign"].strip() != ":" or match["sign"] == ":" or match["close"]:
        return False
    if _AFTER_WORD.search(text, max(0, match.start() - 2), match.start()) and _SENTENCE.match(text, match.end()):
        return True
    return (
        match["key"].lower() in ("token", "tokens", "secret")
        and _PROSE.search(text, max(0, match.start() - 20), match.start()) is not None
    )


def _is_value(match: re.Match[str], sign: str, value: str) -> bool:
    if not value or not hides(match["key"], value.strip("'\"")):
        return False
    if sign:
        if sign == ":" and not match["close"] and _TYPE.match(value):
            return False
        name = match["key"].rpartition(".")[2]
        return not re.fullmatch(rf"[\w`]+\.`?{re.escape(name)}`?", value)  # a.token = b.token compares columns
    return value.lower() not in _KEYWORDS


def _names_variable(text: str, start: int, value: str) -> bool:
    """Whether the key at `start` is in Druid's `"variables": {…}`, whose values are names of environment variables."""
    return value.isidentifier() and _VARIABLES.search(text, max(0, start - 500), start) is not None


def _items(text: str, start: int, key: re.Match[str]) -> tuple[list[Span], int]:
    """The ranges of the strings and words in a list, object or parentheses at `start`, and its end. Keys of an object
    stay, and so do types and references. What does not end is hidden up to the end of the text.
    """
    limit = min(len(text), start + _LONGEST)
    spans: list[Span] = []
    depth, position, name = 0, start, ""
    while match := _ITEM.search(text, position, limit):
        position = match.end()
        if match["open"]:
            depth += 1
        elif match["close"]:
            depth -= 1
            if depth == 0:
                break
        else:
            first, last = match.span()
            if match["quote"]:
                first, (last, position) = match.end(), _closing(text, match)
            item = text[first:last]
            if not spans and match["bare"] and item.lower() in ("select", "with", "from") and text[start] == "(":
                return [], start + 1
            if _AFTER_KEY.match(text, position) and text[start] == "{":
                name = item
            elif not (is_shown(item) or (name == "type" and item.isidentifier())):
                spans.append((first, last))
                name = ""
    if depth:
        return [(start + 1, len(text))], len(text)
    if _ENVIRONMENT.search(text, start, position):
        return [], position
    column = key["key"].rpartition(".")[2]
    compares = len(spans) == 1 and re.fullmatch(rf"[\w`]+\.`?{re.escape(column)}`?", text[slice(*spans[0])])
    return ([] if compares else spans), position


def _value(text: str, start: int, *, parameter: bool) -> Span:
    """The range of the value at `start`, without its quotes; the value of a URL `parameter` ends at the next
    parameter."""
    opened = _OPEN.match(text, start)
    if opened is None:
        bare = (_PARAMETER if parameter else _BARE).match(text, start)
        if bare is None or bare[0][0] in "{,":
            return start, start
        opened = _OPEN.match(text, bare.end()) if _PREFIX.search(bare[0]) else None
        if opened is None:
            return start, start + len(bare[0].rstrip(",;)}]>").rstrip("."))
    else:
        start = opened.end()
    end, after = _closing(text, opened)
    while again := _AGAIN.match(text, after):  # 'adjacent' 'texts'
        end, after = _closing(text, again)
    if opened.start() > 0 and text[opened.start() - 1] == "(" and start < opened.start():  # concat('…', '…')
        bracket = text.find(")", after)
        end = bracket if bracket >= 0 else len(text)
    return start, end


def _closing(text: str, opened: re.Match[str]) -> Span:
    """The position of the closing quote and the position after it; the end of the text if there is none."""
    quote = opened["quote"][-1]
    depth = len(opened["quote"]) - 1
    position = opened.end()
    for match in _CLOSERS[quote in _SINGLE].finditer(text, position):
        backslashes = len(match[0]) - 1
        is_escaped = backslashes > depth if depth else backslashes % 2 == 1
        if match.start() < position or is_escaped:
            continue
        if text[match.end() : match.end() + 1] == match[0][-1] == quote and not depth and match.start() > opened.end():
            position = match.end() + 1  # doubled
        elif _END.match(text, match.end()) or text[match.end()] in QUOTES + "\\":
            return match.start(), match.end()
    return len(text), len(text)


_CLOSERS = {True: regex(rf"\\*[{_SINGLE}]"), False: regex(rf"\\*[{_DOUBLE}]")}

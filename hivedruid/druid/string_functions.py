"""Functions of strings in Druid's expression language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hivedruid.druid.arrays import array
from hivedruid.druid.exactness import NotExact
from hivedruid.druid.syntax import NO_STRING, int_constant, str_constant, string_literal
from hivedruid.plan.rex import Call, Literal, Rex, refs

if TYPE_CHECKING:
    from hivedruid.druid.expressions import DruidExpressions, Translate


def _strings(name: str, most: int = 1) -> Translate:
    """A function with only string arguments."""

    def translate(d: DruidExpressions, rex: Call) -> str:
        if len(rex.args) > most or not all(a.type.is_string for a in rex.args):
            raise NotExact(f"{rex.op}() with these arguments")
        return f"{name}({','.join(d.text(a) for a in rex.args)})"

    return translate


def _empty(text: str) -> str:
    return f"if(notnull({text}),'',{NO_STRING})"


_ASTRAL = string_literal(r"[\x{10000}-\x{10FFFF}]")
"""Characters above U+FFFF. Java counts two code units for each, a high and a low surrogate."""
_HALVES = string_literal(r"[\x{D800}-\x{DFFF}]")
"""An unpaired surrogate, which Druid cannot serialize; Hive writes a question mark."""


def _characters(text: str) -> str:
    """The number of characters of a text."""
    return f"strlen(regexp_replace({text},{_ASTRAL},'.'))"


def _length(d: DruidExpressions, rex: Call) -> str:
    return _characters(d.text(rex.args[0]))


def _cut(text: str, rex: Rex) -> str:
    """A string that may have been cut inside a surrogate pair of `rex`."""
    is_ascii = isinstance(rex, Call) and (
        rex.op in ("date_format", "from_unixtime") or (rex.op == "cast" and not rex.args[0].type.is_string)
    )
    return text if is_ascii else f"regexp_replace({text},{_HALVES},'?')"


def characters_left(text: str, count: int) -> str:
    """The first characters of a text."""
    pattern = string_literal(rf"^([\s\S]{{0,{count}}})")
    return f"regexp_extract({text},{pattern},1)"


def _substring(d: DruidExpressions, rex: Call) -> str:
    """1-based, or from the end; out of range Hive returns '', Druid null or an error."""
    if not refs(rex.args[0]):
        raise NotExact("Druid evaluates substring() of a constant before its enclosing condition")
    if not all(isinstance(a, Literal) and isinstance(a.value, int) for a in rex.args[1:]):
        return _computed_substring(d, rex)
    start = int_constant(rex.args[1], "the start of substring()")
    length = int_constant(rex.args[2], "the length of substring()") if len(rex.args) > 2 else -1
    text = d.text(rex.args[0])
    if len(rex.args) > 2 and length < 1:
        return _empty(text)
    if start < 0:
        result = _cut(f"substring({text},strlen({text}) - {-start},{length})", rex.args[0])
        return f"case_searched(strlen({text}) >= {-start},{result},notnull({text}),'')"
    start = max(start - 1, 0)
    result = _cut(f"substring({text},{start},{length})", rex.args[0])
    return f"case_searched(strlen({text}) > {start},{result},notnull({text}),'')"


def _computed_substring(d: DruidExpressions, rex: Call) -> str:
    """For non-constant start or length: each part is evaluated only if it is in range."""
    if not all(a.type.is_integer for a in rex.args[1:]):
        raise NotExact("substring() with non-integer positions")
    text, start = d.text(rex.args[0]), d.text(rex.args[1])
    length = d.text(rex.args[2]) if len(rex.args) > 2 else ""
    known = " && ".join(f"notnull({x})" for x in (text, start, length) if x)
    many = f"min({length},strlen({text}))" if length else "-1"
    nothing = f"{length} < 1,''," if length else ""
    behind = f"{start} > strlen({text}) || {start} < 0 - strlen({text}),''"
    place = f"case_searched({start} > 0,{start} - 1,{start} < 0,strlen({text}) + {start},0)"
    result = _cut(f"substring({text},{place},{many})", rex.args[0])
    return f"case_searched(!({known}),null,{nothing}{behind},nvl({result},''))"


def _pad(d: DruidExpressions, rex: Call) -> str:
    length, fill = (
        int_constant(rex.args[1], f"the length of {rex.op}()"),
        str_constant(rex.args[2], f"the padding of {rex.op}()") if len(rex.args) > 2 else " ",
    )
    if not fill:
        raise NotExact(f"{rex.op}() with an empty string")
    text = d.text(rex.args[0])
    if length <= 0:
        return _empty(text)
    padded = f"{rex.op}({text},{length},{string_literal(fill)})"
    return _cut(padded, rex.args[0]) if fill.isascii() else f"regexp_replace({padded},{_HALVES},'?')"


def _repeat(d: DruidExpressions, rex: Call) -> str:
    times = int_constant(rex.args[1], "the count of repeat()")
    text = d.text(rex.args[0])
    return f"repeat({text},{times})" if times > 0 else _empty(text)


def _replace(d: DruidExpressions, rex: Call) -> str:
    if not str_constant(rex.args[1], "the search string of replace()"):
        raise NotExact("replace() of the empty string")
    return f"replace({','.join(d.text(a) for a in rex.args)})"


def _instr(d: DruidExpressions, rex: Call) -> str:
    if len(rex.args) > 2 or not str_constant(rex.args[1], "the search string of instr()"):
        raise NotExact("instr() of the empty string, or with a start position")
    return f"(strpos({d.text(rex.args[0])},{d.text(rex.args[1])}) + 1)"


def _locate(d: DruidExpressions, rex: Call) -> str:
    """locate(sought, text, from): `from` counts code units, the result characters (observed on Hive 4.0.1)."""
    sought, start = str_constant(rex.args[0], "the search string of locate()"), 1
    if len(rex.args) > 2:
        start = int_constant(rex.args[2], "the start of locate()")
    if not sought or start < 1:
        raise NotExact("locate() of the empty string, or with a start below 1")
    text = d.text(rex.args[1])
    if start == 1 and max(sought) < "\ud800":  # the search string is at the same distance in single-unit characters
        return f"(strpos(regexp_replace({text},{_ASTRAL},{string_literal(chr(0xFFFF))}),{string_literal(sought)}) + 1)"
    position = f"strpos({text},{string_literal(sought)},{start - 1})"
    return f"case_searched({position} < 0,0,{position} == 0,1,{_characters(f'substring({text},0,{position})')} + 1)"


def _concat_ws(d: DruidExpressions, rex: Call) -> str:
    """Skips nulls: each string is prefixed with the separator, then the first separator is removed."""
    separator = str_constant(rex.args[0], "the separator of concat_ws()")
    if not all(a.type.is_string for a in rex.args) or len(rex.args) == 1:
        raise NotExact("concat_ws() of non-strings")
    before = string_literal(separator)
    parts = [f"concat({before},{d.text(a)})" if separator else d.text(a) for a in rex.args[1:]]
    joined = "concat(" + ",".join(f"nvl({part},'')" for part in parts) + ")"
    if not separator:
        return joined
    width = len(separator.encode("utf-16-le")) // 2
    return f"case_searched(strlen({joined}) > {width},substring({joined},{width},-1),'')"


def _translate(d: DruidExpressions, rex: Call) -> str:
    """Successive replacements, if none produces a character that a later one replaces."""
    old, new = (str_constant(a, "the characters of translate()") for a in rex.args[1:])
    pairs = {char: new[place : place + 1] for place, char in reversed(list(enumerate(old)))}
    if set(pairs) & set(pairs.values()):
        raise NotExact("translate() to characters that it also replaces")
    text = d.text(rex.args[0])
    for char in dict.fromkeys(old):
        text = f"replace({text},{string_literal(char)},{string_literal(pairs[char])})"
    return text


def _delimiter(text: str) -> str:
    if len(text) != 1 or not text.isascii():
        raise NotExact("a delimiter that is not a single character")
    return re.escape(text)


def _substring_index(d: DruidExpressions, rex: Call) -> str:
    """The part before the nth delimiter, or after the nth from the end."""
    c = _delimiter(str_constant(rex.args[1], "the delimiter of substring_index()"))
    count, text = int_constant(rex.args[2], "the count of substring_index()"), d.text(rex.args[0])
    if not count:
        return _empty(text)
    many = f"{{0,{abs(count) - 1}}}"
    pattern = rf"^((?:[^{c}]*{c}){many}[^{c}]*)" if count > 0 else rf"([^{c}]*(?:{c}[^{c}]*){many})\z"
    return f"if(notnull({text}),nvl(regexp_extract({text},{string_literal(pattern)},1),''),{NO_STRING})"


def _element(d: DruidExpressions, rex: Call) -> str:
    """split(text, 'delimiter')[n], or an element of an array column; NULL if there are fewer elements."""
    parts, n = rex.args[0], int_constant(rex.args[1], "the array index")
    if n < 0:
        raise NotExact("an array index below 0")
    if not isinstance(parts, Call) or parts.op != "split":
        return f"array_offset({array(d, parts)},{n})"
    pattern = str_constant(parts.args[1], "the delimiter of split()")
    escaped = re.fullmatch(r"\\([^a-zA-Z0-9])|\[([^\]^\\])\]|([^.$|()\[{^?*+\\])", pattern)
    if escaped is None:
        raise NotExact("split() by a delimiter that is not a single character")
    c = _delimiter(next(group for group in escaped.groups() if group))
    text = d.text(parts.args[0])
    behind = rf"^(?:[^{c}]*{c}){{{n}}}"
    element = f"nvl(regexp_extract({text},{string_literal(rf'{behind}([^{c}]*)')},1),'')"
    return f"case_searched(regexp_like({text},{string_literal(behind)}),{element})"


_SAFE_REGEX = re.compile(r"(?:[^\\(]|\((?!\?)|\\[dDwWsSbnt.\\\[\](){}*+?|^$/-])*")


def regex_of(rex: Rex) -> str:
    """A constant regular expression in the subset that all regular expression engines agree on."""
    pattern = str_constant(rex, "the regular expression")
    if not pattern:
        raise NotExact("an empty regular expression")
    if not _SAFE_REGEX.fullmatch(pattern) or re.search(r"[*+?}]\+|&&|\[\[|\[:", pattern):
        raise NotExact("a regular expression with lookaround, backreferences or possessive quantifiers")
    return pattern


def regex_literal(rex: Rex) -> str:
    return string_literal(regex_of(rex))


def _rlike(d: DruidExpressions, rex: Call) -> str:
    text = d.text(rex.args[0])
    return f"if(notnull({text}),regexp_like({text},{regex_literal(rex.args[1])}),null)"


def _regexp_extract(d: DruidExpressions, rex: Call) -> str:
    group = int_constant(rex.args[2], "the group of regexp_extract()") if len(rex.args) > 2 else 1
    text = d.text(rex.args[0])
    return f"if(notnull({text}),nvl(regexp_extract({text},{regex_literal(rex.args[1])},{group}),''),{NO_STRING})"


def _regexp_replace(d: DruidExpressions, rex: Call) -> str:
    replacement = str_constant(rex.args[2], "the replacement of regexp_replace()")
    groups = len(re.findall(r"\((?!\?)", re.sub(r"\\.|\[[^\]]*\]", "x", regex_of(rex.args[1]))))
    if not re.fullmatch(r"(?:[^\\$]|\$\d(?!\d))*", replacement):
        raise NotExact("escapes in the replacement of regexp_replace()")
    if any(int(number) > groups for number in re.findall(r"\$(\d)", replacement)):
        raise NotExact("a replacement that refers to a missing group")
    return f"regexp_replace({d.text(rex.args[0])},{regex_literal(rex.args[1])},{string_literal(replacement)})"


def like_pattern(rex: Call) -> tuple[str, str | None]:
    """Pattern and escape of LIKE; Hive's escape is the backslash."""
    pattern = str_constant(rex.args[1], "the pattern of LIKE")
    escape = str_constant(rex.args[2], "the escape of LIKE") if len(rex.args) > 2 else "\\"
    if escape and escape not in pattern:
        return pattern, None
    if re.search(re.escape(escape) + r"(?![%_" + re.escape(escape) + "])", pattern.replace(escape * 2, "")):
        raise NotExact("a LIKE pattern that escapes an ordinary character")
    return pattern, escape


def _like(d: DruidExpressions, rex: Call) -> str:
    pattern, escape = like_pattern(rex)
    extra = f",{string_literal(escape)}" if escape else ""
    return f"like({d.text(rex.args[0])},{string_literal(pattern)}{extra})"


STRINGS: dict[str, Translate] = {
    "like": _like,
    "rlike": _rlike,
    "concat": lambda d, rex: f"concat({','.join(d.text(a) for a in rex.args)})",
    "upper": _strings("upper"),
    "lower": _strings("lower"),
    "trim": _strings("trim", 2),
    "ltrim": _strings("ltrim", 2),
    "rtrim": _strings("rtrim", 2),
    "reverse": _strings("reverse"),
    "length": _length,
    "substring": _substring,
    "lpad": _pad,
    "rpad": _pad,
    "repeat": _repeat,
    "replace": _replace,
    "instr": _instr,
    "locate": _locate,
    "concat_ws": _concat_ws,
    "translate": _translate,
    "substring_index": _substring_index,
    "element": _element,
    "regexp_extract": _regexp_extract,
    "regexp_replace": _regexp_replace,
}

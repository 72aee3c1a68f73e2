"""Druid's expression language, text to tree: a tokenizer and a precedence parser (Druid's `Expr.g4`).

`grammar/druid_expression.lark` is the normative grammar; tests compare the two.
"""

from __future__ import annotations

import re
from typing import Any

from hivedruid.errors import DruidError, ResourceError


class ExpressionSyntaxError(DruidError):
    """Text that is no expression; `position` is the place of the first character that does not fit, from 0."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position

    @property
    def kind(self) -> str:
        return DruidError.__name__


class Node:
    """One node of an expression tree.

    | kind                       | value            | children  |
    |----------------------------|------------------|-----------|
    | null                       | None             |           |
    | long, double, string       | the constant     |           |
    | identifier                 | the column       |           |
    | unary (`-` `!`), binary    | the operator     | operands  |
    | call                       | the function     | arguments |
    | lambda                     | its parameters   | the body  |
    | array                      | the element type | constants |
    """

    __slots__ = ("children", "kind", "value")

    def __init__(self, kind: str, value: Any = None, children: tuple[Node, ...] = ()) -> None:
        self.kind = kind
        self.value = value
        self.children = children

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Node):
            return NotImplemented
        return (self.kind, self.value, self.children) == (other.kind, other.value, other.children)

    def __hash__(self) -> int:
        return hash((self.kind, self.value, self.children))

    def __repr__(self) -> str:
        inner = ", ".join(map(repr, self.children))
        return f"{self.kind}:{self.value!r}({inner})" if inner else f"{self.kind}:{self.value!r}"


BINARY_LEVELS: dict[str, int] = {
    **dict.fromkeys(("&&", "||"), 1),
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), 2),
    **dict.fromkeys(("+", "-"), 3),
    **dict.fromkeys(("*", "/", "%"), 4),
    "^": 5,
}
"""How tightly each binary operator binds. Druid gives `&&` and `||` the same level; `^` groups to the right."""

_ESCAPE = r"\\(?:['\"\\/bfnrt]|u[0-9a-fA-F]{4})"
_TOKEN = rf"""(?xa)[ \t\r\n]*(?:
      (?P<double>\d+\.\d*(?:[eE]-?\d+)?|\d+[eE]-?\d+)
    | (?P<long>\d+)
    | (?P<typed>(?:ARRAY)?<(?:LONG|DOUBLE|STRING)>(?=[ \t\r\n]*\[))
    | (?P<identifier>[_$a-zA-Z][_$a-zA-Z0-9]*)
    | (?P<quoted>"(?:{_ESCAPE}|[^"\\])*")
    | (?P<string>'(?:{_ESCAPE}|[^'\\])*')
    | (?P<operator>&&|\|\||<=|>=|==|!=|->|[-!^*/%+<>(),\[\]])
    )"""
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPED = r"(?s)\\(?:u([0-9a-fA-F]{4})|(.))"


def parse(text: str) -> Node:
    """Parse an expression. Raises ExpressionSyntaxError for invalid text."""
    return _Parser(text).parse()


def _unescape(quoted: str) -> str:
    body = quoted[1:-1]
    if "\\" not in body:
        return body
    plain = re.sub(_ESCAPED, lambda m: chr(int(m[1], 16)) if m[1] else _ESCAPES.get(m[2], m[2]), body)
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._tokenize()
        self._next = 0

    def _tokenize(self) -> list[tuple[str, str, int]]:
        text = self._text
        end = len(text.rstrip(" \t\r\n"))
        position = 0
        tokens = []
        pattern = re.compile(_TOKEN)
        while position < end:
            match = pattern.match(text, position)
            if match is None or match.lastgroup is None:
                raise self._error("cannot read", position)
            tokens.append((match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)))
            position = match.end()
        tokens.append(("end", "", end))
        return tokens

    def _error(self, what: str, position: int) -> ExpressionSyntaxError:
        rest = self._text[position:].lstrip()
        position = len(self._text) - len(rest)
        rest = rest.rstrip()
        near = f"'{rest[:20]}'" if rest else "the end"
        message = f"{what} in expression [{self._text}] at position {position + 1}, near {near}"
        return ExpressionSyntaxError(message, position)

    def _unexpected(self) -> ExpressionSyntaxError:
        return self._error("syntax error", self._tokens[self._next][2])

    def _take(self, operator: str) -> bool:
        kind, text, _ = self._tokens[self._next]
        if kind == "operator" and text == operator:
            self._next += 1
            return True
        return False

    def _expect(self, operator: str) -> None:
        if not self._take(operator):
            raise self._unexpected()

    def parse(self) -> Node:
        try:
            tree = self._binary(1)
        except RecursionError as error:
            raise ResourceError("the expression is nested too deeply") from error
        if self._tokens[self._next][0] != "end":
            raise self._unexpected()
        return tree

    def _binary(self, level: int) -> Node:
        left = self._unary()
        while True:
            kind, operator, _ = self._tokens[self._next]
            binds = BINARY_LEVELS.get(operator, 0) if kind == "operator" else 0
            if binds < level:
                return left
            self._next += 1
            right = self._binary(binds if operator == "^" else binds + 1)
            left = Node("binary", operator, (left, right))

    def _unary(self) -> Node:
        for operator in ("-", "!"):
            if self._take(operator):
                return Node("unary", operator, (self._unary(),))
        return self._primary()

    def _primary(self) -> Node:
        kind, text, _ = self._tokens[self._next]
        if kind == "operator":
            if self._take("("):
                inner = self._binary(1)
                self._expect(")")
                return inner
            return self._array(None)
        self._next += 1
        if kind in ("identifier", "quoted"):
            if text in ("null", "NaN", "Infinity"):
                return Node("null") if text == "null" else Node("double", float(text))
            if self._take("("):
                return self._call(text)
            return Node("identifier", text if kind == "identifier" else _unescape(text))
        if kind == "typed":
            return self._array(text[text.index("<") + 1 : -1])
        self._next -= 1
        return self._constant()

    def _call(self, name: str) -> Node:
        if self._take(")"):
            return Node("call", name)
        parameters = self._parameters()
        arguments = [self._binary(1) if parameters is None else Node("lambda", parameters, (self._binary(1),))]
        if parameters is not None:  # a lambda is the first of at least two arguments
            self._expect(",")
            arguments.append(self._binary(1))
        while self._take(","):
            arguments.append(self._binary(1))
        self._expect(")")
        return Node("call", name, tuple(arguments))

    def _parameters(self) -> tuple[str, ...] | None:
        """The parameters before `->`: `x`, `(x, y)` or `()`. None, and nothing is read, if no lambda follows."""
        start = self._next
        names: list[str] = []
        if self._take("("):
            while (name := self._name()) is not None:
                names.append(name)
                if not self._take(","):
                    break
            is_whole = self._tokens[self._next - 1][1] != "," and self._take(")")
        else:
            name = self._name()
            names, is_whole = [name or ""], name is not None
        if is_whole and self._take("->"):
            return tuple(names)
        self._next = start
        return None

    def _name(self) -> str | None:
        kind, text, _ = self._tokens[self._next]
        if kind not in ("identifier", "quoted") or text in ("null", "NaN", "Infinity"):
            return None
        self._next += 1
        return text if kind == "identifier" else _unescape(text)

    def _constant(self) -> Node:
        kind, text, _ = self._tokens[self._next]
        self._next += 1
        if kind == "long":
            return Node("long", int(text))
        if kind == "double":
            return Node("double", float(text))
        if kind == "string":
            return Node("string", _unescape(text))
        if kind == "identifier" and text in ("null", "NaN", "Infinity"):
            return Node("null") if text == "null" else Node("double", float(text))
        self._next -= 1
        raise self._unexpected()

    def _array(self, element: str | None) -> Node:
        start = self._next
        self._expect("[")
        elements: list[Node] = []
        if not self._take("]"):
            elements.append(self._constant())
            while self._take(","):
                elements.append(self._constant())
            self._expect("]")
        kinds = {node.kind for node in elements} - {"null"}
        if "string" in kinds and ((len(kinds) > 1 and element != "STRING") or element in ("LONG", "DOUBLE")):
            self._next = start
            raise self._unexpected()
        inferred = "DOUBLE" if "double" in kinds else "LONG" if "long" in kinds else "STRING"
        return Node("array", element or inferred, tuple(elements))

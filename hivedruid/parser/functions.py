"""Keep function calls as written.

sqlglot turns the functions it knows into cross-dialect nodes (`date_format` becomes TimeToStr with a strftime pattern,
`day` wraps its argument), which loses their Hive semantics. Unknown functions become `exp.Anonymous` with unchanged
arguments, so known function names get a prefix in the token stream that makes them unknown. Names with special
argument syntax are kept.
"""

from __future__ import annotations

from functools import cache

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

_RESERVED = frozenset(
    """
    ALL ALTER AND ANY APPLICATION ARRAY AS AUTHORIZATION BETWEEN BIGINT BINARY BOOLEAN BOTH BY CASE CAST CHAR COLUMN
    COMMIT CONF CONSTRAINT CONVERT CREATE CROSS CUBE CURRENT CURRENT_DATE CURRENT_TIMESTAMP CURSOR DATABASE DATE DDL DEC
    DECIMAL DELETE DESCRIBE DISTINCT DIV DOUBLE DROP ELSE END EXCEPT EXCHANGE EXISTS EXTENDED EXTERNAL EXTRACT FALSE
    FETCH FLOAT FLOOR FOLLOWING FOR FORCE FOREIGN FROM FULL FUNCTION GRANT GROUP GROUPING HAVING IF IMPORT IN INNER
    INSERT INT INTEGER INTERSECT INTERVAL INTO IS JOIN LATERAL LEADING LEFT LESS LIKE LOCAL MACRO MAP MERGE MINUS MORE
    NONE NOT NULL NUMERIC OF OLDER ON ONLY OR ORDER OUT OUTER OVER PARTITION PERCENT PKFK_JOIN PRECEDING PRECISION
    PREPARE PRESERVE PRIMARY PROCEDURE QUALIFY RANGE READS REAL REDUCE REFERENCES REGEXP REVOKE RIGHT RLIKE ROLLBACK
    ROLLUP ROW ROWS SELECT SET SMALLINT SOME START SYNC TABLE TABLESAMPLE THAN THEN TIME TIMESTAMP TIMESTAMPLOCALTZ TO
    TRAILING TRANSFORM TRIGGER TRUE TRUNCATE UNBOUNDED UNION UNIQUE UNIQUEJOIN UPDATE USER USING VALUES VARCHAR WHEN
    WHERE WINDOW WITH
    """.split()  # noqa: SIM905 - a list of words reads better as words
)
"""The words that Hive reserves."""

PREFIX = "$"
"""The prefix of a kept name; no Hive identifier starts with it."""

_OWN_SYNTAX = frozenset(
    """
    ALL AND ANY ARRAY CASE CAST CEIL CEILING CURRENT_DATE CURRENT_TIMESTAMP EXISTS EXTRACT FLOOR IN INSERT INTERVAL LIKE
    MAP NOT OR POSITION REGEXP RLIKE SOME SUBSTRING TRIM TRY_CAST VALUES
    """.split()  # noqa: SIM905 - a list of words reads better as words
)
_AFTER_OPERAND = frozenset({"FILTER", "ILIKE", "OVERLAPS", "XOR"})
"""Words with their own syntax only after an operand: count(*) FILTER (WHERE …)."""
_OPERATORS = frozenset({"ALL", "AND", "ANY", "CASE", "EXISTS", "IN", "INSERT", "LIKE", "NOT", "OR", "REGEXP", "RLIKE"})
_OPERATORS |= {"SOME", "VALUES"}
"""Words that Hive reserves: in backquotes they are names of functions, too."""
BEFORE_CALL = frozenset(
    {
        TokenType.AMP, TokenType.AND, TokenType.BETWEEN, TokenType.CARET, TokenType.CASE, TokenType.COMMA,
        TokenType.DASH, TokenType.DISTINCT, TokenType.DIV, TokenType.DPIPE, TokenType.ELSE, TokenType.EQ,
        TokenType.GROUP_BY, TokenType.GT, TokenType.GTE, TokenType.HAVING, TokenType.LIKE, TokenType.LT, TokenType.LTE,
        TokenType.L_BRACKET, TokenType.L_PAREN, TokenType.MOD, TokenType.NEQ, TokenType.NOT, TokenType.NULLSAFE_EQ,
        TokenType.ON, TokenType.OR, TokenType.ORDER_BY, TokenType.PARTITION_BY, TokenType.PIPE, TokenType.PLUS,
        TokenType.RLIKE, TokenType.SELECT, TokenType.SLASH, TokenType.STAR, TokenType.THEN, TokenType.TILDE,
        TokenType.WHEN, TokenType.WHERE,
    }
)  # fmt: skip
"""The tokens after which a name and a parenthesis are a call, whatever else the name may mean."""


def called_name(call: exp.Expr) -> str:
    """The name of a called function as it is written, in lower case."""
    return str(call.this.name if isinstance(call.this, exp.Expr) else call.this).removeprefix(PREFIX).lower()


@cache
def _known_functions() -> frozenset[str]:
    from sqlglot.dialects.dialect import Dialect

    parser = Dialect.get_or_raise("hive").parser_class
    return (
        frozenset({*parser.FUNCTIONS, *parser.FUNCTION_PARSERS, *parser.NO_PAREN_FUNCTION_PARSERS})
        - _OWN_SYNTAX
        - _AFTER_OPERAND
    )


@cache
def _unreserved_words() -> frozenset[str]:
    """The words of sqlglot's grammar that Hive does not reserve."""
    from sqlglot.dialects.dialect import Dialect

    dialect = Dialect.get_or_raise("hive")
    keywords = [word for word in dialect.tokenizer_class.KEYWORDS if " " not in word]  # not GROUPING SETS
    words = frozenset({*keywords, *dialect.parser_class.FUNCTIONS})
    return (words | _AFTER_OPERAND) - _OWN_SYNTAX - _RESERVED


def keep_function_names(tokens: list[Token]) -> list[Token]:
    """The same tokens, with the names in calls of known functions prefixed so that sqlglot keeps the calls as
    they are."""
    known = _known_functions()
    tokens = _without_table_word(tokens)
    kept = _with_text_lengths(tokens)
    for position in range(len(tokens) - 1):
        token = tokens[position]
        if (
            tokens[position + 1].token_type == TokenType.L_PAREN
            and token.token_type != TokenType.STRING
            and kept[position] is token
            and (token.text.upper() in known or _is_plain_position(tokens, position) or _is_call(tokens, position))
            and not _is_new_name(tokens, position)
            and not _is_script(tokens, position)
        ):
            kept[position] = Token(
                TokenType.VAR, PREFIX + token.text, token.line, token.col, token.start, token.end, token.comments
            )
    return kept


def _is_call(tokens: list[Token], position: int) -> bool:
    """Whether a word with a meaning in sqlglot's grammar is the name of a called function."""
    word, before = tokens[position].text.upper(), tokens[position - 1].token_type if position else None
    is_quoted = tokens[position].token_type == TokenType.IDENTIFIER
    if before not in BEFORE_CALL or word not in (_OPERATORS | _AFTER_OPERAND if is_quoted else _unreserved_words()):
        return word == "TRY_CAST" and not _has_at_top(tokens, position, TokenType.ALIAS)
    return True


def _end_of_call(tokens: list[Token], position: int) -> int:
    """The position of the parenthesis that closes the call; the number of tokens without one."""
    depth = 0
    for place in range(position + 1, len(tokens)):
        kind = tokens[place].token_type
        depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
        if depth == 0:
            return place
    return len(tokens)


def _has_at_top(tokens: list[Token], position: int, kind: TokenType) -> bool:
    """Whether the arguments of a call contain such a token outside further parentheses."""
    depth = 0
    for token in tokens[position + 1 : _end_of_call(tokens, position)]:
        depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
        if depth == 1 and token.token_type == kind:
            return True
    return False


def _is_script(tokens: list[Token], position: int) -> bool:
    """Whether it is SELECT TRANSFORM (…) USING."""
    is_first = position > 0 and tokens[position - 1].token_type == TokenType.SELECT
    return is_first and tokens[position].token_type == TokenType.VAR and tokens[position].text.upper() == "TRANSFORM"


_BEFORE_PLAIN_NAME = {TokenType.ALIAS, TokenType.WITH, TokenType.R_PAREN}
_BEFORE_QUOTED_NAME = _BEFORE_PLAIN_NAME | {
    TokenType.INTO, TokenType.TABLE, TokenType.DOT, TokenType.IDENTIFIER, TokenType.VAR,
}  # fmt: skip


def _is_new_name(tokens: list[Token], position: int) -> bool:
    """Whether a name is that of a table or alias, whose columns follow in parentheses."""
    is_quoted = tokens[position].token_type == TokenType.IDENTIFIER
    before = tokens[position - 1].token_type if position > 0 else None
    if before == TokenType.COMMA:
        return _is_later_cte(tokens, position)
    return before in (_BEFORE_QUOTED_NAME if is_quoted else _BEFORE_PLAIN_NAME)


def _is_later_cte(tokens: list[Token], position: int) -> bool:
    """Whether it is the name of another CTE: `, name (columns) AS (query)`; the columns have no parentheses."""
    end = position + 2
    while end < len(tokens) and tokens[end].token_type not in (TokenType.L_PAREN, TokenType.R_PAREN):
        end += 1
    after = [token.token_type for token in tokens[end : end + 4]]
    return after[:3] == [TokenType.R_PAREN, TokenType.ALIAS, TokenType.L_PAREN] and after[3:] in _QUERIES


_QUERIES = ([TokenType.SELECT], [TokenType.WITH], [TokenType.FROM], [TokenType.VALUES], [TokenType.L_PAREN])


def _is_plain_position(tokens: list[Token], position: int) -> bool:
    """Whether it is a call of position(a, b), not position(a IN b)."""
    return tokens[position].text.upper() == "POSITION" and not _has_at_top(tokens, position, TokenType.IN)


_LENGTH_CARRIERS = {TokenType.VARCHAR: TokenType.BINARY, TokenType.CHAR: TokenType.VARBINARY}


def _with_text_lengths(tokens: list[Token]) -> list[Token]:
    """CAST(… AS varchar(n)) keeps its n: sqlglot converts it to a plain string, so the type is encoded as binary(n),
    char as varbinary(n)."""
    kept = list(tokens)
    for position in range(1, len(tokens) - 1):
        token = tokens[position]
        carrier = _LENGTH_CARRIERS.get(token.token_type)
        if (
            carrier is not None
            and tokens[position - 1].token_type == TokenType.ALIAS
            and tokens[position + 1].token_type == TokenType.L_PAREN
        ):
            kept[position] = Token(carrier, token.text, token.line, token.col, token.start, token.end, token.comments)
    return kept


def _without_table_word(tokens: list[Token]) -> list[Token]:
    """`FROM TABLE (VALUES …) AS t (a, b)` is `FROM (VALUES …) AS t (a, b)`."""
    return [
        token
        for position, token in enumerate(tokens)
        if not (
            token.token_type == TokenType.TABLE
            and [t.token_type for t in tokens[position + 1 : position + 3]] == [TokenType.L_PAREN, TokenType.VALUES]
        )
    ]

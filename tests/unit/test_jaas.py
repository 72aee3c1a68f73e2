"""JAAS configurations: parsing, and refusal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivedruid.errors import SemanticError
from hivedruid.jaas import LOGIN_MODULES, login_module

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


@pytest.mark.parametrize("name", LOGIN_MODULES)
def test_known_modules(name: str) -> None:
    module = login_module(f' {name} required\n username="me"  password="a \\"b\\" \\\\ ;=c" debug=true ;\n')
    assert module.class_name == name
    assert module.options == {"username": "me", "password": 'a "b" \\ ;=c', "debug": "true"}
    assert "username" not in repr(module)


def test_no_options() -> None:
    assert login_module(f"{PLAIN} REQUIRED;").options == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "does not have the form"),
        (";", "does not have the form"),
        (PLAIN, "does not have the form"),
        (f"{PLAIN} required", "does not have the form"),
        (f"{PLAIN} maybe;", "does not have the form"),
        (f"{PLAIN} required a=b; {PLAIN} required;", "does not have the form"),
        ("com.sun.security.auth.module.JndiLoginModule required;", "module.JndiLoginModule"),
        ("com.sun.security.auth.module.LdapLoginModule required;", "module.LdapLoginModule"),
        ("PlainLoginModule required;", "names the login module PlainLoginModule, which is not allowed"),
        (f'"{PLAIN}" required;', "names the login module given, which is not allowed"),
        (f"{PLAIN} required password;", "an option without a value"),
        (f"{PLAIN} required password =;", "an option without a value"),
        (f"{PLAIN} required password b c;", "an option without a value"),
        (f"{PLAIN} /* x */ required;", "characters that must be in double quotes"),
        (f"{PLAIN} required password='hunter2';", "characters that must be in double quotes"),
        (f'{PLAIN} required password="hunter2;', "characters that must be in double quotes"),
        (f'{PLAIN} required password="hunter\n2";', "characters that must be in double quotes"),
        (f"{PLAIN} required\u0000;", "characters that must be in double quotes"),
    ],
)
def test_refused(text: str, problem: str) -> None:
    with pytest.raises(SemanticError) as error:
        login_module(text)
    assert problem in error.value.message
    assert "hunter2" not in str(error.value)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    found = ""
    try:
        found = login_module(text).class_name
    except SemanticError as error:
        found = error.message
    assert found in LOGIN_MODULES or found.startswith("sasl.jaas.config ")


@given(st.dictionaries(st.from_regex(r"[a-zA-Z_]\w{0,8}", fullmatch=True).filter(str.isascii), st.text()))
def test_quoted_values_come_back(options: dict[str, str]) -> None:
    readable = {key: value.replace("\n", "") for key, value in options.items()}
    text = " ".join(
        '{}="{}"'.format(key, value.replace("\\", "\\\\").replace('"', '\\"')) for key, value in readable.items()
    )
    assert login_module(f"{PLAIN} required {text};").options == readable

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hivedruid.clients.failures import first_line, is_busy, refusal
from hivedruid.errors import DruidError, ResourceError

DRUID_37 = Path(__file__).parent / "druid37"


def druid(code: str, message: str, **more: object) -> bytes:
    return json.dumps({"error": code, "errorMessage": message, "errorCode": "legacyQueryException", **more}).encode()


@pytest.mark.parametrize(
    "message",
    [
        "Not enough merge buffer memory to execute this query.",
        "Cannot issue the query, subqueries generated results beyond maximum[100000] rows.",
        "Query needs 4 merge buffers, but only 2 merge buffers were configured",
    ],
)
def test_limits_of_resources_are_errors_of_their_own(message: str) -> None:
    error = refusal(400, druid("Resource limit exceeded", message), "Druid")
    assert isinstance(error, ResourceError)
    assert error.message == message


def test_a_value_too_long_for_its_aggregator_is_a_resource_error() -> None:
    message = "Exceeded memory usage when aggregating type [STRING], size [1033] is larger than max [1024]"
    assert isinstance(refusal(500, druid("Unknown exception", message), "Druid"), ResourceError)


@pytest.mark.parametrize("java_class", ["java.lang.StackOverflowError", "com.x.ValueInstantiationException"])
def test_an_expression_that_overflows_the_stack_is_a_resource_error(java_class: str) -> None:
    body = druid("Unknown exception", "Unhandled exception made it to the top", errorClass=java_class)
    assert isinstance(refusal(500, body, "Druid"), ResourceError)


def test_other_refusals_name_the_service_and_the_status() -> None:
    error = refusal(
        500,
        druid("Unknown exception", "org.apache.druid.java.util.common.ISE: no such thing\n\tat x.y(Z.java:1)"),
        "Druid",
    )
    assert type(error) is DruidError
    assert error.message == "Druid returned 500 Internal Server Error: no such thing"


def test_the_class_says_more_than_unhandled() -> None:
    body = druid("Unknown exception", "Unhandled exception made it to the top", errorClass="a.b.InvalidTypeIdException")
    assert refusal(500, body, "Druid").message == (
        "Druid returned 500 Internal Server Error: Unhandled exception made it to the top (InvalidTypeIdException)"
    )


def test_a_query_that_takes_too_long() -> None:
    error = refusal(504, druid("Query timeout", "Query [x] timed out!"), "Druid", 300)
    assert (error.message, error.hint) == (
        "the query took longer than 300 s",
        "SET druid.query.timeout=PT1H gives queries more time",
    )


def test_html_is_its_status_and_title() -> None:
    page = b"<!DOCTYPE html><html><head><title>502 Bad\n Gateway &amp; more</title></head><body>" + b"x" * 9999
    error = refusal(502, page, "Druid's broker at http://b")
    assert error.message == "Druid's broker at http://b returned 502 Bad Gateway: 502 Bad Gateway & more"


@pytest.mark.parametrize("status", [401, 403])
def test_who_is_not_let_in(status: int) -> None:
    error = refusal(status, b"", "Druid")
    assert error.message.startswith("Druid refused the request: ")
    assert "druid.auth" in (error.hint or "")


def test_a_service_that_is_elsewhere() -> None:
    assert "druid.overlord.url" in (refusal(404, b"", "Druid").hint or "")


def test_long_messages_are_cut_at_a_sentence() -> None:
    message = "It is too much. " * 100
    shown = refusal(400, druid("Resource limit exceeded", message), "Druid").message
    assert len(shown) <= 400
    assert shown.endswith("much.")


@pytest.mark.parametrize(
    ("status", "body", "busy"),
    [
        (503, b"", True),
        (502, b"<html>", True),
        (429, druid("Query capacity exceeded", "Too many concurrent queries"), True),
        (429, b"", False),
        (500, b"", False),
        (504, druid("Query timeout", "x"), False),
    ],
)
def test_what_may_succeed_a_moment_later(status: int, body: bytes, busy: bool) -> None:
    assert is_busy(status, body) == busy


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("java.lang.RuntimeException: it broke\n\tat a.b(C.java:1)", "it broke"),
        ("org.apache.druid.java.util.common.RE: Max parse exceptions[0] exceeded", "Max parse exceptions[0] exceeded"),
        ("plain words: with a colon", "plain words: with a colon"),
        ("", ""),
    ],
)
def test_the_first_line_of_a_stack_trace(text: str, line: str) -> None:
    assert first_line(text) == line


def test_a_query_that_a_rule_of_the_broker_blocks() -> None:
    error = refusal(403, (DRUID_37 / "blocked_query.json").read_bytes(), "Druid's broker")
    assert error.message == (
        "Druid's broker refused the query: blocked by rule[no scans of wiki] of the broker's configuration"
    )
    assert "/druid/coordinator/v1/broker/config" in (error.hint or "")


def test_a_path_that_a_strict_jetty_refuses() -> None:
    error = refusal(400, (DRUID_37 / "ambiguous_path.html").read_bytes(), "Druid's overlord")
    assert error.message == ("Druid's overlord refused the path of the request: Error 400 Ambiguous URI path encoding")
    assert "druid.server.http.uriCompliance=LEGACY" in (error.hint or "")

"""The records of a batch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivedruid.errors import KafkaError
from hivedruid.streams.admission import check_available, end_offsets, with_new_partitions

lags = st.dictionaries(st.integers(0, 20), st.integers(0, 10_000), min_size=1)


@given(lags, st.integers(1, 5_000))
def test_a_batch_is_full_and_within_the_limit(lag: dict[int, int], limit: int) -> None:
    start = {partition: partition * 7 for partition in lag}
    latest = {partition: start[partition] + many for partition, many in lag.items()}
    ends = end_offsets(start, latest, limit)
    assert ends.keys() == latest.keys()
    assert all(start[p] <= end <= latest[p] for p, end in ends.items())
    records = sum(ends.values()) - sum(start.values())
    assert records <= limit
    assert records == sum(lag.values()) if sum(lag.values()) <= limit else records > 0


@given(lags, st.integers(1, 100))
def test_every_record_is_read_at_last(lag: dict[int, int], limit: int) -> None:
    at = dict.fromkeys(lag, 0)
    lag = {partition: many % 500 for partition, many in lag.items()}
    for _ in range(sum(lag.values()) + 1):
        at = end_offsets(at, lag, limit)
        if at == lag:
            return
    raise AssertionError("the stream does not end")


def test_partitions() -> None:
    assert with_new_partitions({0: 5}, {0: 0, 1: 3}, {0: 9, 1: 9}) == {0: 5, 1: 3}
    check_available("t", {0: 5}, {0: 5}, {0: 5})
    for start, message in (
        ({0: 4}, "Kafka deleted 1 records"),
        ({0: 10}, "ends at offset 9"),
        ({1: 0}, "no partition 1"),
    ):
        with pytest.raises(KafkaError, match=message):
            check_available("t", start, {0: 5}, {0: 9})

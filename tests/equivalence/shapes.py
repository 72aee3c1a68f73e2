"""Shapes of queries beyond one SELECT over one table, as texts with holes: the possible structures of a plan.

A hole `{name}` or `{name2}` is replaced by a part of that name (`parts`); equal holes get the same text. The sweep
fills each text once with `DEFAULTS`, the generator of random queries with random parts.
"""

from __future__ import annotations

import re
from string import Formatter
from typing import NamedTuple


class Shape(NamedTuple):
    """A query with holes; `ordered` if its ORDER BY is unique."""

    name: str
    text: str
    ordered: bool

    @property
    def holes(self) -> list[str]:
        return list(dict.fromkeys(name for _, name, _, _ in Formatter().parse(self.text) if name))


def kind_of(hole: str) -> str:
    """`g2` and `g` are parts of one kind."""
    return re.sub(r"\d+$", "", hole)


_TOP = "(SELECT w AS k, b AS k2, count(*) AS c, sum(l) AS s, min(s) AS m FROM {t}{where} GROUP BY w, b"
_COUNTS = "SELECT w, count(*) AS c, max(l) AS m FROM {t}{where} GROUP BY w"

TEXTS: dict[str, list[str]] = {
    "COUNT(DISTINCT), several": [
        "SELECT count(DISTINCT {v}) AS c0, count(DISTINCT {v2}) AS c1, {agg} AS c2 FROM {t}{where}",
        "SELECT {g} AS c0, count(DISTINCT {v}) AS c1, count(DISTINCT {v2}) AS c2, {agg} AS c3 FROM {t}{where} GROUP BY {g}",
        "SELECT {g} AS c0, {g2} AS c1, count(DISTINCT {v}) AS c2, count(DISTINCT {v2}) AS c3, count(DISTINCT {v3}) AS c4 FROM t GROUP BY {g}, {g2}",
        "SELECT {g} AS c0, count(DISTINCT {v}) AS c1, count(DISTINCT w, b) AS c2, count(*) AS c3 FROM t{where} GROUP BY {g} ORDER BY c0{dir}!",
        "SELECT {g} AS c0, count(DISTINCT {v}) FILTER (WHERE {cond}) AS c1, count(DISTINCT {v2}) AS c2 FROM t GROUP BY {g}",
        "SELECT {g} AS c0, count(DISTINCT {v}) AS c1 FROM {t}{where} GROUP BY {g} HAVING count(DISTINCT {v2}) > 1",
        "SELECT {g} AS c0, count(DISTINCT {v}) AS c1, max({v2}) AS c2 FROM t{where} GROUP BY {g} ORDER BY c1{dir}, c0{dir} LIMIT {lim}!",
    ],
    "SUM and AVG DISTINCT": [
        "SELECT sum(DISTINCT {x}) AS c0, avg(DISTINCT {x}) AS c1, {agg} AS c2 FROM {t}{where}",
        "SELECT {g} AS c0, sum(DISTINCT {x}) AS c1, sum({x2}) AS c2, avg({x}) AS c3 FROM {t}{where} GROUP BY {g}",
        "SELECT {g} AS c0, sum(DISTINCT {x}) AS c1, count(DISTINCT {v}) AS c2, avg(DISTINCT {x2}) AS c3 FROM t GROUP BY {g}",
    ],
    "ROLLUP, CUBE, GROUPING SETS": [
        "SELECT {g} AS c0, {g2} AS c1, {agg} AS c2, grouping__id AS c3 FROM {t}{where} GROUP BY {g}, {g2} WITH ROLLUP",
        "SELECT {g} AS c0, {g2} AS c1, {agg} AS c2, grouping__id AS c3 FROM {t}{where} GROUP BY {g}, {g2} WITH CUBE",
        "SELECT {g} AS c0, {agg} AS c1, grouping__id AS c2 FROM t{where} GROUP BY {g}, {g2}, {g3} GROUPING SETS (({g}, {g2}), ({g3}), ())",
        "SELECT {g} AS c0, {g2} AS c1, count(*) AS c2 FROM t{where} GROUP BY {g}, {g2} GROUPING SETS (({g}), ({g2}))",
        "SELECT {g} AS c0, {g2} AS c1, count(*) AS c2, grouping({g}) AS c3, grouping({g2}) AS c4 FROM t{where} GROUP BY {g}, {g2} WITH ROLLUP",
        "SELECT {g} AS c0, {g2} AS c1, {agg} AS c2 FROM t GROUP BY {g}, {g2} WITH ROLLUP HAVING grouping__id {op} 1",
        "SELECT {g} AS c0, {g2} AS c1, count(*) AS c2 FROM {t} GROUP BY {g}, {g2} WITH CUBE HAVING count(*) > 1 OR grouping({g}) = 1",
        "SELECT {g} AS c0, {g2} AS c1, grouping__id AS c2, {exact} AS c3 FROM t{where} GROUP BY {g}, {g2} WITH CUBE ORDER BY c2, c0{dir}, c1{dir2} LIMIT {lim}!",
        "SELECT {g} AS c0, count(DISTINCT {v}) AS c1, count(*) AS c2 FROM t{where} GROUP BY {g}, {g2} WITH ROLLUP",
        "SELECT c0, count(*) AS c1, sum(c2) AS c2 FROM (SELECT {g} AS c0, {g2} AS c1, count(*) AS c2 FROM t{where} GROUP BY {g}, {g2} WITH ROLLUP) x GROUP BY c0",
        "SELECT c0, c2 FROM (SELECT {g} AS c0, {g2} AS c1, {exact} AS c2 FROM t{where} GROUP BY {g}, {g2} WITH CUBE) x WHERE c0 IS NULL",
    ],
    "grouping sets over nothing": [
        "SELECT {g} AS c0, {agg} AS c1, {exact} AS c2, grouping__id AS c3 FROM {t} WHERE id < 0 GROUP BY {g} WITH ROLLUP",
        "SELECT {g} AS c0, {g2} AS c1, {agg} AS c2, grouping({g}) AS c3 FROM t WHERE {false} GROUP BY {g}, {g2} WITH CUBE",
        "SELECT {g} AS c0, {agg} AS c1, count(*) AS c2 FROM t WHERE {cond} AND {false} GROUP BY {g}, {g2} GROUPING SETS (({g}, {g2}), ())",
        "SELECT {g} AS c0, {exact} AS c1 FROM t WHERE {false} GROUP BY {g}, {g2} GROUPING SETS (({g}, {g2}), ({g2}))",
        "SELECT w AS c0, count(*) AS c1, sum(l) AS c2, max(d) AS c3 FROM {u} WHERE id < 0 GROUP BY w WITH ROLLUP",
        "SELECT {agg} AS c0, count(DISTINCT {v}) AS c1 FROM t WHERE {false} GROUP BY ()",
        "SELECT {g} AS c0, count(DISTINCT {v}) AS c1, {exact} AS c2 FROM t WHERE {false} GROUP BY {g} WITH ROLLUP",
        "SELECT {g} AS c0, coalesce({agg}, 0) AS c1 FROM t WHERE {false} GROUP BY {g} WITH ROLLUP HAVING {have}",
        "SELECT {g} AS c0, count(*) AS c1 FROM t WHERE {false} GROUP BY {g} WITH CUBE HAVING count(*) = 0 ORDER BY c0{dir}, c1 LIMIT {lim}!",
        "SELECT {g} AS c0, {exact} AS c1 FROM t WHERE {false} GROUP BY {g} WITH ROLLUP ORDER BY c1{dir} LIMIT {lim} OFFSET {off}!",
        "SELECT count(*) AS c0, max(c1) AS c1 FROM (SELECT {g} AS k, count(*) AS c1 FROM t WHERE {false} GROUP BY {g} WITH ROLLUP) x",
        "SELECT k AS c0, c1 FROM (SELECT {g} AS k, {exact} AS c1 FROM t WHERE {false} GROUP BY {g} WITH ROLLUP) x WHERE k IS NULL",
        "SELECT 'a' AS c0, count(*) AS c1 FROM t WHERE {false} GROUP BY {g} WITH ROLLUP UNION ALL SELECT 'b', count(*) FROM t WHERE {false} GROUP BY {g}",
        "SELECT t.id AS c0, x.c AS c1 FROM t CROSS JOIN (SELECT w, count(*) AS c FROM {u} WHERE id < 0 GROUP BY w WITH ROLLUP) x",
        "SELECT u.w AS c0, count(*) AS c1, max(t.l) AS c2 FROM {t} JOIN {u} ON t.w = u.w WHERE t.id < 0 GROUP BY u.w WITH ROLLUP",
    ],
    "lists with NULL": [
        "SELECT id AS c0, w IN (s, n, NULL) AS c1, l NOT IN (i, ti, NULL) AS c2, {v} IN ({v}, NULL) AS c3 FROM {t}{where}",
        "SELECT id AS c0, w IN ('x', NULL) AS c1, w NOT IN ('x', NULL) AS c2, i IN (1, NULL, 2) AS c3, b IN (NULL, true) AS c4, d NOT IN (0, NULL) AS c5 FROM t{where}",
        "SELECT id AS c0 FROM t WHERE (w IN ('x', NULL)) IS NULL{and}",
        "SELECT id AS c0 FROM t WHERE NOT (i IN (1, NULL) AND {cond}) OR w NOT IN ('y', NULL)",
        "SELECT id AS c0, CASE WHEN {n} IN (1, NULL) THEN 'in' WHEN {n} NOT IN (1, NULL) THEN 'out' ELSE 'open' END AS c1 FROM {t}{where}",
        "SELECT id AS c0, w IN (SELECT w FROM {u}) AS c1, w NOT IN (SELECT w FROM {u2}) AS c2 FROM {t}{where}",
        "SELECT id AS c0, l IN (SELECT l FROM {u}) AS c1 FROM t WHERE (w NOT IN (SELECT w FROM {u2})) IS NULL",
        "SELECT id AS c0, w IN (SELECT CASE WHEN l > 0 THEN w END FROM {u}) AS c1, w IN (SELECT w FROM u WHERE id < 0) AS c2 FROM t",
        "SELECT id AS c0, w IN (SELECT w FROM {u} WHERE u.l = t.l) AS c1 FROM t{where}",
        "SELECT id AS c0 FROM {t} WHERE NOT (w IN (SELECT w FROM {u})) OR {cond}",
        "SELECT id AS c0 FROM t WHERE CASE WHEN w IN (SELECT w FROM {u}) THEN false WHEN w NOT IN (SELECT w FROM {u}) THEN true ELSE {b} END",
        "SELECT c0, count(*) AS c1, max(id) AS c2 FROM (SELECT id, w IN (SELECT w FROM {u}) AS c0 FROM t{where}) x GROUP BY c0",
        "SELECT {g} AS c0, {agg} AS c1 FROM t WHERE w NOT IN (SELECT w FROM {u}) AND l NOT IN (SELECT l FROM {u2}) GROUP BY {g}",
        "SELECT id AS c0, l > ANY (SELECT l FROM {u}) AS c1, l <= ALL (SELECT l FROM {u2}) AS c2 FROM t{where}",
        "SELECT {g} AS c0, count(*) AS c1 FROM t GROUP BY {g} HAVING max(l) NOT IN (SELECT l FROM {u})",
    ],
    "COUNT(DISTINCT) with grouping sets": [
        "SELECT {g} AS c0, count(DISTINCT {v}) AS c1, {agg} AS c2, grouping__id AS c3 FROM {t}{where} GROUP BY {g}, {g2} WITH CUBE",
        "SELECT {g} AS c0, {g2} AS c1, count(DISTINCT {v}) AS c2, count(DISTINCT {v2}) AS c3, {exact} AS c4 FROM t{where} GROUP BY {g}, {g2} WITH ROLLUP",
        "SELECT {g} AS c0, sum(DISTINCT {x}) AS c1, avg(DISTINCT {x2}) AS c2, count(*) AS c3 FROM t{where} GROUP BY {g}, {g2} GROUPING SETS (({g}), ({g2}), ())",
        "SELECT {g} AS c0, count(DISTINCT {v}) FILTER (WHERE {cond}) AS c1, grouping({g}) AS c2 FROM t GROUP BY {g} WITH ROLLUP",
        "SELECT {g} AS c0, count(DISTINCT {v}) AS c1, stddev_pop(ti) AS c2 FROM t{where} GROUP BY {g} WITH ROLLUP HAVING count(DISTINCT {v}) {op} 2",
        "SELECT {g} AS c0, {g2} AS c1, grouping__id AS c2, count(DISTINCT {v}) AS c3 FROM t{where} GROUP BY {g}, {g2} WITH CUBE ORDER BY c3{dir}, c2, c0, c1 LIMIT {lim}!",
    ],
    "one row of constants": [
        "WITH p AS (SELECT interval '3' month AS ago, timestamp '2020-06-15 10:15:00' AS at) SELECT id AS c0, {v} AS c1 FROM t, p WHERE `__time` > at - ago{and}",
        "WITH p AS (SELECT date '2020-03-08' AS lo, date_add(date '2020-03-08', 240) AS hi) SELECT {g} AS c0, {agg} AS c1 FROM t JOIN p ON `__time` >= lo AND `__time` < hi GROUP BY {g}",
        "SELECT id AS c0, (SELECT date '2020-03-08') AS c1 FROM {t} WHERE `__time` >= (SELECT interval '-1' day + date '2020-03-08'){and}",
        "WITH p AS (SELECT 'x' AS word, NULL AS nil, 2 AS two) SELECT {g} AS c0, word AS c1, two AS c2, count(*) AS c3 FROM {t} CROSS JOIN p WHERE w = word OR i > two OR i = nil GROUP BY {g}, word, two",
        "SELECT t.id AS c0, p.two AS c1 FROM {t} {kind} (SELECT 2 AS two, 'y' AS word) p ON t.w = p.word AND t.i > p.two",
    ],
    "aggregate over aggregate": [
        f"SELECT count(*) AS c0, sum(c) AS c1, avg(c) AS c2, max(m) AS c3, min(s) AS c4 FROM {_TOP}) x",
        f"SELECT k AS c0, count(*) AS c1, max(c) AS c2, sum(s) AS c3 FROM {_TOP}) x GROUP BY k ORDER BY c0{{dir}}!",
        f"SELECT c AS c0, count(*) AS c1, min(m) AS c2 FROM {_TOP} HAVING {{have}}) x GROUP BY c ORDER BY c0{{dir}}!",
        f"SELECT max(c2) AS c0, sum(c1) AS c1 FROM (SELECT k, count(*) AS c1, max(c) AS c2 FROM {_TOP}) x GROUP BY k) y",
        f"SELECT count(DISTINCT k) AS c0, count(DISTINCT c) AS c1, sum(c) AS c2 FROM {_TOP}) x WHERE c > 1 OR k2",
        "SELECT c0, sum(c1) AS c1 FROM (SELECT {g} AS c0, {g2} AS c2, {whole} AS c1 FROM {t}{where} GROUP BY {g}, {g2}) x GROUP BY c0 HAVING count(*) > 1",
        "SELECT c0 IS NULL AS c0, count(*) AS c1 FROM (SELECT {g} AS c0, {agg} AS c1 FROM {t}{where} GROUP BY {g}) x GROUP BY c0 IS NULL",
        "SELECT c0, c1 + 1 AS c1 FROM (SELECT {g} AS c0, count(*) AS c1 FROM t GROUP BY {g} ORDER BY c1 DESC, c0 LIMIT {lim}) x WHERE c1 > 1",
    ],
    "aggregate over LIMIT": [
        "SELECT count(*) AS c0, sum(id) AS c1, max(s) AS c2 FROM (SELECT id, s FROM {t}{where} ORDER BY id{dir} LIMIT {lim}) x",
        f"SELECT sum(c) AS c0, count(*) AS c1, max(m) AS c2 FROM ({_COUNTS} ORDER BY w{{dir}} LIMIT {{lim}}) x",
        f"SELECT c AS c0, count(*) AS c1 FROM ({_COUNTS} ORDER BY c DESC, w LIMIT {{lim}} OFFSET 1) x GROUP BY c",
        "SELECT min(d) AS c0, count(*) AS c1 FROM (SELECT floor_month(`__time`) AS d, {exact} AS c FROM t{where} GROUP BY floor_month(`__time`) ORDER BY d{dir} LIMIT {lim}) x",
        "SELECT count(*) AS c0, max(l) AS c1, size(collect_set(w)) AS c2 FROM (SELECT l, w FROM t{where} LIMIT 0) x",
        "SELECT count(`__time`) AS c0, min(`__time`) AS c1 FROM (SELECT `__time` FROM {t}{where} ORDER BY `__time`{dir} LIMIT {lim}) x",
    ],
    "COUNT(*) of a subquery": [
        "SELECT count(*) AS c0 FROM (SELECT DISTINCT {g} AS k, {g2} AS k2 FROM {t}{where}) x",
        "SELECT count(*) AS c0 FROM (SELECT id FROM t{where} LIMIT {lim}) x",
        "SELECT count(*) AS c0 FROM (SELECT {g} AS k, {agg} AS a FROM {t}{where} GROUP BY {g} HAVING {have}) x",
        "SELECT count(*) AS c0, count(k) AS c1 FROM (SELECT {g} AS k, {exact} AS a FROM {t}{where} GROUP BY {g} ORDER BY a, k LIMIT {lim}) x",
        "SELECT count(*) AS c0 FROM (SELECT {g} AS k FROM t{where} UNION ALL SELECT {g} AS k FROM t) x",
    ],
    "ORDER BY and OFFSET": [
        "SELECT `__time` AS c0 FROM {t}{where} ORDER BY `__time`{dir} LIMIT {lim} OFFSET {off}!",
        "SELECT `__time` AS c0, year(`__time`) AS c1 FROM t{where} ORDER BY c0{dir} LIMIT {lim}!",
        "SELECT c0, c1 FROM (SELECT `__time` AS c0, hour(`__time`) AS c1 FROM t{where}) x ORDER BY c0{dir} LIMIT {lim} OFFSET {off}!",
        "SELECT {floor} AS c0, {agg} AS c1 FROM {t}{where} GROUP BY {floor} ORDER BY c0{dir} LIMIT {lim} OFFSET {off}!",
        "SELECT {floor} AS c0, {agg} AS c1, {agg2} AS c2 FROM {t}{where} GROUP BY {floor} ORDER BY c0{dir} LIMIT {lim}!",
        "SELECT {floor} AS c0, {exact} AS c1 FROM t{where} GROUP BY {floor} ORDER BY c1{dir}, c0{dir2} LIMIT {lim}!",
        "SELECT {g} AS c0, {exact} AS c1 FROM {t}{where} GROUP BY {g} ORDER BY c0{dir} LIMIT {lim} OFFSET {off}!",
        "SELECT {g} AS c0, {agg} AS c1 FROM {t}{where} GROUP BY {g} ORDER BY {exact}{dir}, c0{dir2} LIMIT {lim}!",
        "SELECT {exact} AS c0 FROM {t}{where} GROUP BY {part} ORDER BY c0{dir} LIMIT {lim}!",
        "SELECT {exact} AS c0 FROM {t}{where} GROUP BY {g} ORDER BY c0{dir} LIMIT {lim}!",
        "SELECT {part} AS c0, {agg} AS c1, {exact} AS c2 FROM t{where} GROUP BY {part} ORDER BY c0{dir} LIMIT {lim}!",
        "SELECT id AS c0, {v} AS c1 FROM t{where} ORDER BY {v2}{dir}, id LIMIT {lim} OFFSET {off}!",
        "SELECT {g} AS c0, count(*) AS c1 FROM t GROUP BY {g} ORDER BY c0 IS NULL{dir}, c0{dir2}!",
    ],
    "first rows in any order": [
        "SELECT id AS c0, {v} AS c1, {v2} AS c2 FROM {t}{where} ORDER BY {v3}{dir}, c0{dir2} LIMIT {lim} OFFSET {off}!",
        "SELECT w AS c0, b AS c1 FROM {t}{where} ORDER BY c0{dir}, c1{dir2} LIMIT {lim} OFFSET {off}!",
        "SELECT d AS c0, s AS c1, `__time` AS c2 FROM t{where} ORDER BY c1{dir}, c2{dir2}, c0 LIMIT {lim}",
        "SELECT count(*) AS c0, min(c0) AS c1 FROM (SELECT l AS c0, w AS c1 FROM {t}{where} ORDER BY l{dir} LIMIT {lim}) x",
        "SELECT {floor} AS c0, 'x' AS c1 FROM {t}{where} ORDER BY c0{dir} LIMIT {lim}!",
        "SELECT t.id AS c0, u.id AS c1, u.d AS c2 FROM {t} {kind} {u} ON {on} ORDER BY t.l{dir}, t.id, u.id{dir2} LIMIT {lim} OFFSET {off}!",
        "SELECT t.id AS c0, x.a AS c1 FROM t JOIN (VALUES ('x', 1), ('y', 2), ('y', 3)) AS x(w, a) ON t.w = x.w ORDER BY c1{dir}, c0{dir2} LIMIT {lim}!",
    ],
    "HAVING": [
        "SELECT {g} AS c0, {agg} AS c1 FROM {t}{where} GROUP BY {g} HAVING {have}",
        "SELECT {g} AS c0, {agg} AS c1 FROM t GROUP BY {g} HAVING {have} AND {have2}",
        "SELECT {g} AS c0, count(*) AS c1 FROM t{where} GROUP BY {g} HAVING {have} OR NOT ({have2})",
        "SELECT {g} AS c0, {g2} AS c1 FROM t GROUP BY {g}, {g2} HAVING {g} IS NOT NULL AND {have} ORDER BY c0{dir}, c1 LIMIT {lim}!",
        "SELECT {floor} AS c0, {agg} AS c1 FROM t{where} GROUP BY {floor} HAVING {have} ORDER BY c0{dir}!",
        "SELECT {agg} AS c0, count(*) AS c1 FROM {t}{where} HAVING {have}",
        "SELECT w AS c0, count(*) AS c1 FROM t GROUP BY w HAVING w LIKE 'x%' OR w IN ('y', 'Z') OR {have}",
        "SELECT {floor} AS c0, count(*) AS c1 FROM t GROUP BY {floor} HAVING {floor} {op} timestamp '2020-03-08 00:00:00' AND {have}",
        "SELECT {g} AS c0, avg({x}) AS c1 FROM t GROUP BY {g} HAVING avg(ti) {op} 1 AND sum(sm) > -1000",
    ],
    "MIN and MAX of every type": [
        "SELECT min({s}) AS c0, max({s2}) AS c1, min({tm}) AS c2, max({tm}) AS c3, max({b}) AS c4, min({b}) AS c5 FROM {t}{where}",
        "SELECT {g} AS c0, min({s}) AS c1, max({tm}) AS c2, max({b}) AS c3, min({date}) AS c4 FROM {t}{where} GROUP BY {g}",
        "SELECT {g} AS c0, max({s}) AS c1 FROM t{where} GROUP BY {g} ORDER BY c1{dir}, c0{dir2} LIMIT {lim}!",
        "SELECT {floor} AS c0, min({tm}) AS c1, max(w) AS c2 FROM t{where} GROUP BY {floor} ORDER BY c0{dir}!",
        "SELECT {g} AS c0, max({s}) AS c1, min({s}) AS c2 FROM t GROUP BY {g} HAVING max({s}) > 'a' OR min(`__time`) < '2020-03-08'",
        "SELECT max({s}) || '!' AS c0, year(max({tm})) AS c1, min({s2}) = 'a' AS c2 FROM t{where}",
        "SELECT {g} AS c0, max({s}) FILTER (WHERE {cond}) AS c1, min({tm}) FILTER (WHERE {cond2}) AS c2 FROM t GROUP BY {g}",
    ],
    "aggregate FILTER and CASE": [
        "SELECT count(*) FILTER (WHERE {cond}) AS c0, sum({x}) FILTER (WHERE {cond2}) AS c1, avg({x2}) FILTER (WHERE {cond}) AS c2 FROM {t}{where}",
        "SELECT {g} AS c0, count({v}) FILTER (WHERE {cond}) AS c1, max({x}) FILTER (WHERE {cond2}) AS c2 FROM {t}{where} GROUP BY {g}",
        "SELECT {g} AS c0, sum(CASE WHEN {cond} THEN {x} ELSE 0 END) AS c1, count(CASE WHEN {cond2} THEN 1 END) AS c2 FROM {t} GROUP BY {g}",
        "SELECT {floor} AS c0, sum(if({cond}, 1, 0)) AS c1, max(CASE WHEN {cond2} THEN w END) AS c2 FROM t GROUP BY {floor} ORDER BY c0{dir}!",
        "SELECT {g} AS c0, count(*) FILTER (WHERE {cond}) / count(*) AS c1, count(*) FILTER (WHERE {cond}) > 1 AS c2 FROM t GROUP BY {g} HAVING count(*) FILTER (WHERE {cond}) >= 1",
    ],
    "AVG, several": [
        "SELECT {g} AS c0, avg({x}) AS c1, avg({x2}) AS c2, avg({x3}) AS c3, count(*) AS c4 FROM {t}{where} GROUP BY {g}",
        "SELECT avg({x}) - avg({x}) AS c0, sum({x2}) / count({x2}) AS c1, avg(ti) + avg(sm) AS c2 FROM {t}{where}",
        "SELECT {g} AS c0, avg({x}) AS c1 FROM {t}{where} GROUP BY {g} HAVING avg({x}) IS NOT NULL AND avg(sm) > 0",
    ],
    "STDDEV and VARIANCE": [
        "SELECT stddev(ti) AS c0, stddev_samp(ti) AS c1, var_pop(sm) AS c2, var_samp(sm) AS c3, variance(i) AS c4, stddev_samp(sm) AS c5 FROM {t}{where}",
        "SELECT {g} AS c0, stddev_pop(sm) AS c1, stddev_samp(i) AS c2, variance(ti) AS c3, std(i) AS c4, var_samp(i) AS c5 FROM {t}{where} GROUP BY {g}",
        "SELECT {floor} AS c0, var_samp(ti) AS c1, stddev_samp(ti) FILTER (WHERE {cond}) AS c2 FROM t GROUP BY {floor} ORDER BY c0{dir}!",
    ],
    "DISTINCT": [
        "SELECT DISTINCT {g} AS c0, {g2} AS c1 FROM {t}{where}",
        "SELECT DISTINCT {g} AS c0 FROM {t}{where} ORDER BY c0{dir} LIMIT {lim}!",
        "SELECT DISTINCT c AS c0 FROM (SELECT {g} AS k, count(*) AS c FROM {t}{where} GROUP BY {g}) x ORDER BY c0{dir}!",
        "SELECT DISTINCT k AS c0, c > 1 AS c1 FROM (SELECT {g} AS k, {g2} AS k2, count(*) AS c FROM t GROUP BY {g}, {g2}) x",
    ],
    "UNION ALL": [
        "SELECT {g} AS c0, {n} AS c1 FROM {t}{where} UNION ALL SELECT {g} AS c0, {n2} AS c1 FROM t{where2}",
        "SELECT w AS c0, l AS c1 FROM t{where} UNION ALL SELECT w, l FROM {u} UNION ALL SELECT 'x', 1",
        "SELECT c0, count(*) AS c1, sum(c1) AS c2 FROM (SELECT w AS c0, l AS c1 FROM {t}{where} UNION ALL SELECT w, l FROM u) x GROUP BY c0",
        "SELECT c0, c1 FROM (SELECT `__time` AS c0, id AS c1 FROM t{where} UNION ALL SELECT `__time`, id + 1000 FROM u) x WHERE c1 > 2 AND c0 >= '2020-01-01'",
        "SELECT w AS c0, count(*) AS c1 FROM {t}{where} GROUP BY w UNION ALL SELECT 'all', count(*) FROM {t}{where}",
        "SELECT c0, c1 FROM (SELECT w AS c0, id AS c1 FROM t UNION ALL SELECT w, -1 - id FROM u) x ORDER BY c1{dir}, c0 LIMIT {lim}!",
        "SELECT c0, max(c1) AS c1 FROM (SELECT floor_month(`__time`) AS c0, l AS c1 FROM t{where} UNION ALL SELECT floor_month(`__time`), l FROM u) x GROUP BY c0 ORDER BY c0{dir}!",
    ],
    "UNION, INTERSECT, EXCEPT": [
        "SELECT {g} AS c0 FROM {t}{where} UNION SELECT {g} FROM t{where2}",
        "SELECT w AS c0, l AS c1 FROM {t}{where} UNION SELECT w, l FROM {u}",
        "SELECT w AS c0, l AS c1 FROM {t}{where} INTERSECT SELECT w, l FROM {u}",
        "SELECT w AS c0, l AS c1 FROM {t}{where} EXCEPT SELECT w, l FROM {u}",
        "SELECT {g} AS c0, {g2} AS c1 FROM t{where} INTERSECT SELECT {g}, {g2} FROM t{where2}",
        "SELECT {g} AS c0, {g2} AS c1 FROM t{where} EXCEPT SELECT {g}, {g2} FROM t{where2}",
        "SELECT w AS c0 FROM t{where} INTERSECT ALL SELECT w FROM {u}",
        "SELECT w AS c0 FROM t{where} EXCEPT ALL SELECT w FROM {u}",
        "SELECT c0, count(*) AS c1 FROM (SELECT w AS c0, b AS c1 FROM t{where} UNION SELECT w, l > 0 FROM u) x GROUP BY c0 ORDER BY c0{dir}!",
        "SELECT w AS c0 FROM t{where} UNION SELECT w FROM u ORDER BY c0{dir} LIMIT {lim}!",
    ],
    "scalar subquery": [
        "SELECT id AS c0 FROM {t} WHERE {n} {op} (SELECT max(l) FROM {u}) AND {cond}",
        "SELECT id AS c0 FROM t WHERE `__time` {op} (SELECT min(`__time`) FROM {u}){and}",
        "SELECT id AS c0, (SELECT count(*) FROM {u}) AS c1, (SELECT max(w) FROM u) AS c2 FROM t{where}",
        "SELECT {g} AS c0, count(*) AS c1 FROM t{where} GROUP BY {g} HAVING count(*) > (SELECT min(l) FROM {u})",
        "SELECT {g} AS c0, sum(l) / (SELECT sum(l) FROM t) AS c1 FROM t{where} GROUP BY {g}",
        "SELECT w AS c0, count(*) AS c1 FROM t WHERE w = (SELECT max(w) FROM {u}) GROUP BY w",
    ],
    "correlated subquery": [
        "SELECT id AS c0 FROM t WHERE l > (SELECT min(l) FROM {u} WHERE u.w = t.w){and}",
        "SELECT id AS c0, (SELECT max(l) FROM {u} WHERE u.w = t.w) AS c1 FROM t{where}",
        "SELECT id AS c0, (SELECT count(*) FROM {u} WHERE u.w = t.w) AS c1 FROM t{where}",
        "SELECT id AS c0 FROM t WHERE EXISTS (SELECT 1 FROM {u} WHERE u.w = t.w AND u.l < t.l){and}",
        "SELECT id AS c0 FROM t WHERE w IN (SELECT w FROM {u} WHERE u.l = t.l){and}",
        "SELECT {g} AS c0, count(*) AS c1 FROM t WHERE NOT EXISTS (SELECT 1 FROM {u} WHERE u.l = t.l AND u.w <> t.w){and} GROUP BY {g}",
        "SELECT id AS c0 FROM t x WHERE l = (SELECT max(l) FROM t WHERE t.w = x.w)",
    ],
    "IN and NOT IN a subquery": [
        "SELECT id AS c0, {v} AS c1 FROM {t} WHERE w IN (SELECT w FROM {u}){and}",
        "SELECT id AS c0 FROM {t} WHERE w NOT IN (SELECT w FROM {u}){and}",
        "SELECT id AS c0 FROM t WHERE w NOT IN (SELECT w FROM u WHERE w IS NOT NULL){and}",
        "SELECT {g} AS c0, {agg} AS c1 FROM {t} WHERE l IN (SELECT l FROM {u}){and} GROUP BY {g}",
        "SELECT {g} AS c0, count(*) AS c1 FROM {t} WHERE w IN (SELECT w FROM {u} GROUP BY w HAVING count(*) > 1){and} GROUP BY {g} ORDER BY c0{dir}!",
        "SELECT id AS c0 FROM t WHERE w IN (SELECT w FROM {u}) OR {cond}",
        "SELECT id AS c0, w IN (SELECT w FROM u WHERE w IS NOT NULL) AS c1 FROM t{where}",
        "SELECT count(*) AS c0, max(l) AS c1 FROM {t} WHERE w IN (SELECT w FROM {u} ORDER BY w{dir} LIMIT {lim})",
        "SELECT count(*) AS c0 FROM t WHERE `__time` IN (SELECT `__time` FROM {u}){and}",
        "SELECT {agg} AS c0 FROM t WHERE w IN (SELECT w FROM t WHERE {cond}) AND w NOT IN (SELECT w FROM u WHERE w IS NOT NULL)",
    ],
    "EXISTS and NOT EXISTS": [
        "SELECT id AS c0 FROM {t} WHERE EXISTS (SELECT 1 FROM {u} WHERE l > 2){and}",
        "SELECT {g} AS c0, {agg} AS c1 FROM t WHERE EXISTS (SELECT 1 FROM {u} WHERE u.w = t.w){and} GROUP BY {g}",
        "SELECT {g} AS c0, count(*) AS c1 FROM t WHERE NOT EXISTS (SELECT 1 FROM {u} WHERE u.w = t.w){and} GROUP BY {g}",
        "SELECT id AS c0 FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE l > 1000000000000000){and}",
    ],
    "WITH": [
        f"WITH x AS ({_COUNTS}), y AS (SELECT w, c FROM x WHERE c > 1) SELECT w AS c0, c AS c1 FROM y ORDER BY c0{{dir}}!",
        f"WITH x AS ({_COUNTS}) SELECT x.w AS c0, x.c AS c1, y.c AS c2 FROM x JOIN x y ON x.w = y.w",
        f"WITH x AS ({_COUNTS}) SELECT w AS c0, c AS c1 FROM x UNION ALL SELECT 'sum', sum(c) FROM x",
        "WITH x AS (SELECT w, id FROM {t}{where}) SELECT count(*) AS c0, count(DISTINCT w) AS c1 FROM x WHERE id IN (SELECT max(id) FROM x GROUP BY w)",
    ],
    "join": [
        "SELECT {tv} AS c0, {uv} AS c1 FROM {t} {kind} {u} ON {on}",
        "SELECT {tv} AS c0, {tv2} AS c1, {uv} AS c2, {uv2} AS c3 FROM {t} {kind} {u} ON {on} WHERE {tcond}",
        "SELECT {tv} AS c0, {uv} AS c1 FROM {t} {kind} {u} ON {on} WHERE {ucond}",
        "SELECT t.id AS c0, u.id AS c1 FROM {t} {kind} {u} ON {on} AND {tcond}",
        "SELECT t.id AS c0, u.id AS c1 FROM {t} {kind} {u} ON {on} AND {ucond}",
        "SELECT t.id AS c0, u.w AS c1, coalesce(u.l, t.l, 0) AS c2 FROM {t} {kind} {u} ON {on} ORDER BY c0{dir}, u.id{dir2} LIMIT {lim}",
        "SELECT t.id AS c0, u.id AS c1 FROM {t} CROSS JOIN {u} WHERE {tcond} AND {ucond}",
        "SELECT t.id AS c0, u.id AS c1 FROM t, {u} WHERE t.w = u.w AND {tcond}",
        "SELECT t.id AS c0, u.l AS c1 FROM {t} JOIN u USING (w)",
        "SELECT t.id AS c0, u.id AS c1 FROM {t} JOIN {u} ON t.l < u.l AND t.w = u.w",
    ],
    "join, aggregated": [
        "SELECT u.w AS c0, count(*) AS c1, sum(t.i) AS c2, max(u.l) AS c3 FROM {t} {kind} {u} ON {on} GROUP BY u.w",
        "SELECT t.w AS c0, u.l AS c1, count(*) AS c2, min(t.s) AS c3 FROM {t} {kind} {u} ON {on} WHERE {tcond} GROUP BY t.w, u.l",
        "SELECT count(*) AS c0, sum(t.l) AS c1, count(DISTINCT u.w) AS c2 FROM {t} {kind} {u} ON {on}",
        "SELECT {tfloor} AS c0, count(*) AS c1, sum(u.l) AS c2 FROM {t} {kind} {u} ON {on} GROUP BY {tfloor} ORDER BY c0{dir}!",
        "SELECT t.w AS c0, count(u.id) AS c1, avg(u.d) AS c2 FROM {t} {kind} {u} ON {on} GROUP BY t.w HAVING count(*) > 1 ORDER BY c0{dir} LIMIT {lim}!",
        "SELECT u.w AS c0, t.b AS c1, count(*) AS c2 FROM {t} JOIN {u} ON t.w = u.w GROUP BY u.w, t.b ORDER BY c2 DESC, c0, c1 LIMIT {lim}!",
    ],
    "join with what is grouped": [
        f"SELECT t.id AS c0, x.c AS c1, x.m AS c2 FROM t {{kind}} ({_COUNTS}) x ON t.w = x.w",
        "SELECT t.b AS c0, sum(x.c) AS c1, count(*) AS c2 FROM t JOIN (SELECT w, count(*) AS c FROM {u} GROUP BY w) x ON t.w = x.w{twhere} GROUP BY t.b",
        f"SELECT a.w AS c0, a.c AS c1, x.m AS c2 FROM ({_COUNTS}) a {{kind}} (SELECT w, max(l) AS m FROM {{u}} GROUP BY w) x ON a.w = x.w",
        "SELECT t.id AS c0, x.id AS c1 FROM t JOIN t x ON t.w = x.w AND t.l = x.l{twhere}",
        f"SELECT t.id AS c0 FROM t JOIN ({_COUNTS} ORDER BY c DESC, w LIMIT {{lim}}) x ON t.w = x.w",
        "SELECT t.id AS c0, x.c AS c1 FROM t {kind} (SELECT DISTINCT w, 1 AS c FROM {u}) x ON t.w = x.w",
    ],
    "join with constants": [
        "SELECT t.id AS c0, x.a AS c1 FROM {t} JOIN (VALUES ('x', 1), ('y', 2), ('y', 3)) AS x(w, a) ON t.w = x.w",
        "SELECT x.a AS c0, count(*) AS c1, {agg} AS c2 FROM t LEFT JOIN (SELECT 'x' AS w2, 1 AS a UNION ALL SELECT 'z', 2) x ON t.w = x.w2 GROUP BY x.a",
    ],
    "semi join and anti join": [
        "SELECT t.id AS c0, {tv} AS c1 FROM {t} LEFT SEMI JOIN {u} ON {on}{twhere}",
        "SELECT t.w AS c0, count(*) AS c1, sum(t.l) AS c2 FROM {t} LEFT SEMI JOIN {u} ON {on} GROUP BY t.w",
        "SELECT t.id AS c0 FROM {t} LEFT ANTI JOIN {u} ON t.w = u.w{twhere}",
        "SELECT t.b AS c0, sum(t.i) AS c1 FROM {t} JOIN (SELECT DISTINCT w FROM {u} WHERE l > 0) x ON t.w = x.w GROUP BY t.b",
    ],
    "join of three": [
        "SELECT t.id AS c0, u.id AS c1, x.c AS c2 FROM {t} JOIN {u} ON t.w = u.w {kind} (SELECT l, count(*) AS c FROM t GROUP BY l) x ON x.l = u.l",
        "SELECT u.w AS c0, count(*) AS c1 FROM {t} JOIN {u} ON t.w = u.w JOIN (SELECT DISTINCT b, w FROM t) x ON x.b = t.b AND x.w = u.w GROUP BY u.w",
    ],
    "window function": [
        "SELECT id AS c0, row_number() OVER (PARTITION BY {g} ORDER BY id) AS c1, count(*) OVER (PARTITION BY {g2}) AS c2 FROM {t}{where}",
        "SELECT {g} AS c0, {exact} AS c1, sum(count(*)) OVER (ORDER BY {g}) AS c2 FROM {t}{where} GROUP BY {g}",
        f"SELECT w AS c0, c AS c1, rank() OVER (ORDER BY c DESC) AS c2, lag(c) OVER (ORDER BY w) AS c3 FROM ({_COUNTS}) x",
        "SELECT c0, c1 FROM (SELECT w AS c0, id AS c1, row_number() OVER (PARTITION BY w ORDER BY l DESC, id) AS r FROM {t}{where}) x WHERE r <= {lim} AND c0 > 'x'",
        "SELECT c0, sum(c1) AS c1 FROM (SELECT w AS c0, sum(i) OVER (PARTITION BY b) AS c1 FROM t{where}) x GROUP BY c0",
    ],
    "LATERAL VIEW": [
        "SELECT id AS c0, part AS c1 FROM {t} LATERAL VIEW explode(split(s, 'a')) p AS part{where}",
        "SELECT part AS c0, count(*) AS c1 FROM {t} LATERAL VIEW OUTER explode(split(s, ' ')) p AS part{where} GROUP BY part",
        f"SELECT w AS c0, part AS c1 FROM ({_COUNTS}) x LATERAL VIEW explode(array(c, m)) p AS part",
    ],
    "explode() of a column": [
        "SELECT id AS c0, tag AS c1, tags AS c2 FROM t LATERAL VIEW explode(tags) p AS tag{where}",
        "SELECT id AS c0, tag AS c1 FROM t LATERAL VIEW OUTER explode(tags) p AS tag WHERE NOT (tag = 'x' AND {cond}) OR tag = 'y'",
        "SELECT id AS c0, tag AS c1 FROM t LATERAL VIEW explode(tags) p AS tag WHERE (tag = w OR {cond}) AND (NOT tag IN ('x', '') OR tag IS NULL)",
        "SELECT tag AS c0, {exact} AS c1, {agg} AS c2 FROM t LATERAL VIEW explode(tags) p AS tag{where} GROUP BY tag",
        "SELECT {g} AS c0, upper(tag) AS c1, {exact} AS c2 FROM t LATERAL VIEW OUTER explode(tags) p AS tag{where} GROUP BY {g}, upper(tag)",
        "SELECT tag AS c0, count(*) AS c1 FROM t LATERAL VIEW explode(tags) p AS tag{where} GROUP BY tag ORDER BY c1{dir}, c0 LIMIT {lim}!",
        "SELECT x AS c0, y AS c1, count(*) AS c2 FROM t LATERAL VIEW explode(tags) p AS x LATERAL VIEW OUTER explode(tags) q AS y WHERE x <> y GROUP BY x, y",
        "SELECT count(*) AS c0, count(DISTINCT tag) AS c1, count(*) FILTER (WHERE tag > 'x' OR {cond}) AS c2 FROM t LATERAL VIEW explode(tags) p AS tag",
        "SELECT tag AS c0, u.id AS c1 FROM (SELECT tag, i FROM t LATERAL VIEW explode(tags) p AS tag{where}) t {kind} {u} ON t.tag = u.w WHERE tag <> 'x' OR i > 0",
        "SELECT id AS c0 FROM t WHERE w IN (SELECT tag FROM t LATERAL VIEW explode(tags) p AS tag{where})",
        "SELECT `__time` AS c0, tag AS c1 FROM t LATERAL VIEW explode(tags) p AS tag{where} ORDER BY `__time`{dir}",
    ],
    "query over a query": [
        "SELECT c0, c1 FROM (SELECT {g} AS c0, {v} AS c1, id FROM {t}{where}) x WHERE id > 2",
        "SELECT c0, {agg} AS c1 FROM (SELECT *, {g} AS c0 FROM t) t{where} GROUP BY c0",
        "SELECT c0, c1 FROM (SELECT {g} AS c0, {exact} AS c1 FROM {t}{where} GROUP BY {g}) x WHERE c1 IS NULL OR c0 IS NOT NULL",
        "SELECT c0, c1 FROM (SELECT {g} AS c0, {exact} AS c1 FROM t GROUP BY {g} ORDER BY c0 LIMIT 5) x ORDER BY c1{dir}, c0 LIMIT {lim}!",
        "SELECT id AS c0 FROM (SELECT id, l FROM (SELECT id, l, b FROM {t}{where}) x WHERE l IS NOT NULL) y WHERE l > 0 ORDER BY c0!",
        "SELECT 1 AS c0 FROM {t}{where}",
    ],
}  # fmt: skip
"""Name of a shape → its queries; the order of one that ends in `!` is unique."""

SHAPES = [Shape(name, text.removesuffix("!"), text.endswith("!")) for name, texts in TEXTS.items() for text in texts]

KEYS = (
    "w", "b", "ti", "n", "i", "l", "s", "sm", "d", "`__time`", "floor_month(`__time`)", "floor_day(`__time`)", "year(`__time`)",
    "hour(`__time`)", "to_date(`__time`)", "upper(s)", "substr(w, 1, 1)", "i > 2", "l % 3", "length(s)", "coalesce(w, 'none')", "i + ti", "tags[0]", "size(tags)",
)  # fmt: skip
"""The keys of a grouping: three of them are never the same."""

COLUMNS_OF_T = "`__time`, id, s, w, n, b, ti, sm, i, l, big, d, f"
T_RELATIONS = (
    "t", "t", "t", "t", "t", "t", "(SELECT * FROM t WHERE i >= 0) t", "(SELECT * FROM t WHERE `__time` >= '2020-01-01') t",
    f"(SELECT DISTINCT {COLUMNS_OF_T} FROM t) t",
)  # fmt: skip
U_RELATIONS = (
    "u", "u", "u", "u", "(SELECT * FROM u WHERE l > 0) u", "(SELECT * FROM u WHERE w IS NOT NULL) u", "(SELECT * FROM u UNION ALL SELECT * FROM u) u",
    "(SELECT w, l, d, id, `__time` FROM u WHERE id < 0) u",
)  # fmt: skip
KINDS = ("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
ON = (
    "t.w = u.w", "t.w = u.w", "t.l = u.l", "t.w = u.w AND t.l = u.l", "t.id = u.id", "t.w <=> u.w", "t.d = u.d", "t.`__time` = u.`__time`",
    "t.i = u.l", "upper(t.w) = upper(u.w)", "t.w = u.w AND t.l > u.l",
)  # fmt: skip
FALSE = (
    "false",
    "1 = 2",
    "id < 0",
    "`__time` < '1900-01-01'",
    "`__time` < '1900-01-01' OR id < 0",
    "w = 'nowhere'",
    "i IS NULL AND i > 0",
    "NULL",
    "w IN (NULL)",
)
HAVINGS = (
    "count(*) > 1", "count(*) BETWEEN 2 AND 4", "count(*) IN (1, 3)", "sum(l) > 0", "sum(l) IS NULL", "max(s) LIKE 'a%'", "min(w) = 'x'",
    "max(`__time`) < '2020-06-01'", "avg(ti) >= 0", "max(i) - min(i) > 5", "count(s) <> count(*)", "max(b)", "min(b) = false",
    "count(DISTINCT w) > 1", "max(d) > 1", "min(f) < 1", "sum(i) % 2 = 0", "max(w) IN ('x', 'y')", "coalesce(sum(ti), 0) < 5",
)  # fmt: skip

DEFAULTS: dict[str, tuple[str, ...]] = {
    "g": ("w", "b", "floor_month(`__time`)"),
    "v": ("s", "i", "l > 1"),
    "x": ("i", "d", "l"),
    "n": ("i", "l", "ti"),
    "s": ("s", "w", "n"),
    "b": ("b", "i > 2"),
    "tm": ("`__time`",),
    "date": ("to_date(`__time`)",),
    "floor": ("floor_day(`__time`)",),
    "part": ("month(`__time`)",),
    "tfloor": ("floor_month(t.`__time`)",),
    "agg": ("sum(l)", "avg(i)"),
    "exact": ("count(*)", "sum(i)"),
    "whole": ("count(*)",),
    "cond": ("i > 0", "s LIKE 'a%'"),
    "have": ("count(*) > 1", "max(s) > 'a'"),
    "false": ("id < 0",),
    "where": (" WHERE l > -50", " WHERE b"),
    "twhere": (" WHERE t.i > 0",),
    "and": (" AND i < 100",),
    "tcond": ("t.i < 100",),
    "ucond": ("u.l > 0",),
    "tv": ("t.id", "t.s"),
    "uv": ("u.w", "u.l"),
    "t": ("t",),
    "u": ("u",),
    "kind": ("LEFT JOIN",),
    "on": ("t.w = u.w",),
    "dir": ("", " DESC"),
    "op": (">",),
    "lim": ("3",),
    "off": ("2",),
}


def with_defaults(shape: Shape) -> str:
    """The text with its defaults."""
    chosen = {}
    for hole in shape.holes:
        options = DEFAULTS[kind_of(hole)]
        number = int(hole.removeprefix(kind_of(hole)) or 1) - 1
        chosen[hole] = options[number % len(options)]
    return shape.text.format_map(chosen)

-- Cleaning text in one SELECT: regular expressions, splits, URLs, maps from text.
CREATE TEMPORARY TABLE t AS SELECT stack(3, 1, 'k1=v1;k2=;k3', 'http://shop.example/a/b.html?x=1&y=2#top',
  2, '', 'ftp://u@host:21/a b?q=x y|z', 3, CAST(NULL AS STRING), 'nonsense') AS (id, pairs, url);
SELECT id, str_to_map(pairs, ';', '=') AS m, str_to_map(pairs, ';', '=')['k2'] AS k2, size(split(pairs, ';')) AS n FROM t ORDER BY id;
SELECT id, parse_url(url, 'HOST') AS host, parse_url(url, 'PATH') AS path, parse_url(url, 'QUERY', 'y') AS y, parse_url(url, 'REF') AS ref FROM t ORDER BY id;
SELECT id, h, q FROM t LATERAL VIEW parse_url_tuple(url, 'HOST', 'QUERY:x') p AS h, q ORDER BY id;
SELECT regexp_replace('2024/01/05', '(\\d+)/(\\d+)/(\\d+)', '$3.$2.$1') AS d, regexp_extract('id=42;', 'id=(\\d+)') AS i,
       split('a1b22c', '[0-9]+') AS parts, 'abc' RLIKE 'b' AS r, 'a_c' LIKE 'a\\_c' AS l, sentences('Hi there. Bye!') AS s;
SELECT trim('  x ') AS t, ltrim('  x') AS lt, rtrim('x  ') AS rt, repeat('ab', 3) AS rep, ascii('A') AS a, chr(66) AS c, space(2) AS sp,
       concat('a', NULL) AS cn, concat_ws('-', 'a', NULL, 'b') AS cw, substr('hello', -3) AS s3, substr('hello', 2, 2) AS s22,
       find_in_set('b', 'a,b,c') AS f, elt(2, 'x', 'y') AS e, field('y', 'x', 'y') AS fi, format_number(5, 1) AS fn, printf('%05d|%s', 42, 'z') AS p;
SELECT base64(unbase64('aGl2ZQ==')) AS b, decode(unbase64('aGl2ZQ=='), 'UTF-8') AS d, hex('hive') AS h, crc32('hive') AS crc, sha2('hive', 256) AS s;

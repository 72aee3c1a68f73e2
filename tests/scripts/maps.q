-- Settings as maps: build, look up, merge and flatten.
CREATE TABLE settings (host STRING, opts MAP<STRING, STRING>, ports ARRAY<INT>, addr STRUCT<street: STRING, zip: INT>);
INSERT INTO settings SELECT 'h1', map('a', '1', 'b', '2'), array(80, 443), named_struct('street', 'Elm', 'zip', 1010);
INSERT INTO settings SELECT 'h2', map('b', '3'), array(22), named_struct('street', 'Oak', 'zip', 1020);
SELECT host, opts['b'] AS b, opts['zz'] AS missing, size(opts) AS n, sort_array(map_values(opts)) AS vs, ports[1] AS p1, addr.zip AS zip FROM settings ORDER BY host;
SELECT host, k, v FROM settings LATERAL VIEW explode(opts) e AS k, v ORDER BY host, k;
SELECT host, i, p FROM settings LATERAL VIEW posexplode(ports) e AS i, p ORDER BY host, i;
SELECT p, k FROM settings LATERAL VIEW explode(ports) a AS p LATERAL VIEW explode(opts) b AS k, v WHERE v > 1 ORDER BY p, k;
SELECT v, collect_list(host) AS hosts FROM (SELECT host, v FROM settings LATERAL VIEW explode(map_values(opts)) e AS v ORDER BY host) t GROUP BY v ORDER BY v;
SELECT host FROM settings WHERE array_contains(ports, 443) AND addr.street LIKE 'E%';
SELECT host, sort_array(ports)[0] AS lowest, concat_ws(',', map_keys(opts)) <> '' AS has FROM settings ORDER BY host;

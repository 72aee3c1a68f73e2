-- Sessions of web visitors: a gap of thirty minutes begins a new one.
CREATE TABLE hits (visitor STRING, at TIMESTAMP, url STRING, ms INT);
INSERT INTO hits VALUES
 ('v1', '2024-03-01 08:00:00', '/home?src=mail&x=1', 120), ('v1', '2024-03-01 08:10:00', '/p/1', 300), ('v1', '2024-03-01 08:45:00', '/p/2#top', NULL),
 ('v1', '2024-03-02 00:05:00', '/home', 80), ('v2', '2024-03-01 23:50:00', '/home?src=ad', 90), ('v2', '2024-03-02 00:15:00', '/cart', 410),
 ('v2', '2024-03-02 00:15:00', '/pay', 700), (NULL, '2024-03-01 12:00:00', NULL, 5);
CREATE VIEW marked AS
SELECT visitor, at, url, ms, unix_timestamp(at) - unix_timestamp(lag(at) OVER (PARTITION BY visitor ORDER BY at, url)) AS gap FROM hits;
SELECT * FROM marked ORDER BY visitor, at, url;
CREATE TABLE sessions AS
SELECT visitor, concat(nvl(visitor, 'none'), '-', lpad(CAST(nr AS STRING), 3, '0')) AS session_id, min(at) AS begun, max(at) AS ended, count(*) AS hits, sum(ms) AS ms,
  max(CASE WHEN url RLIKE '^/pay' THEN 1 ELSE 0 END) = 1 AS paid
FROM (SELECT visitor, at, url, ms, sum(CASE WHEN gap IS NULL OR gap > 1800 THEN 1 ELSE 0 END) OVER (PARTITION BY visitor ORDER BY at, url ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS nr FROM marked) m
GROUP BY visitor, nr;
SELECT * FROM sessions ORDER BY session_id;
SELECT to_date(begun) AS day, hour(begun) AS h, count(*), sum(hits), round(avg(ms), 2), percentile(ms, 0.5) FROM sessions GROUP BY to_date(begun), hour(begun) ORDER BY day, h;
SELECT session_id, unix_timestamp(ended) - unix_timestamp(begun) AS secs, date_format(begun, 'yyyy-MM-dd HH:mm') FROM sessions WHERE hits > 1 ORDER BY session_id;
SELECT parse_url(concat('http://x.org', url), 'QUERY', 'src') AS src, parse_url(concat('http://x.org', url), 'PATH') AS p, count(*) FROM hits GROUP BY parse_url(concat('http://x.org', url), 'QUERY', 'src'), parse_url(concat('http://x.org', url), 'PATH') ORDER BY src, p;
SELECT visitor, first_value(url) OVER w AS entry, last_value(url) OVER (PARTITION BY visitor ORDER BY at, url ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS exit_page, ntile(2) OVER w, round(cume_dist() OVER w, 3) FROM hits WINDOW w AS (PARTITION BY visitor ORDER BY at, url) ORDER BY visitor, entry, exit_page, 4, 5;
SELECT visitor, regexp_extract(url, '^/([a-z]+)', 1) AS section, ms, avg(ms) OVER (PARTITION BY visitor ORDER BY at RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM hits ORDER BY visitor, at, url;

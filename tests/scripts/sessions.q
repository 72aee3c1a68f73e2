-- Clicks become sessions: a pause of more than thirty minutes starts a new one.
CREATE TEMPORARY TABLE clicks AS
SELECT user_id, CAST(ts AS TIMESTAMP) AS ts, page FROM (
  SELECT stack(7,
    'u1', '2024-03-05 10:00:00', 'home', 'u1', '2024-03-05 10:10:00', 'list', 'u1', '2024-03-05 10:55:00', 'item',
    'u1', '2024-03-06 09:00:00', 'home', 'u2', '2024-03-05 23:50:00', 'home', 'u2', '2024-03-06 00:05:00', 'cart',
    'u2', '2024-03-06 00:20:00', 'done') AS (user_id, ts, page)) raw;
CREATE TABLE sessions AS
SELECT user_id, session_no, min(ts) AS started, max(ts) AS ended, count(*) AS clicks,
       concat_ws('>', collect_list(page)) AS path
FROM (
  SELECT user_id, ts, page,
         sum(CASE WHEN gap IS NULL OR gap > 1800 THEN 1 ELSE 0 END)
           OVER (PARTITION BY user_id ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS session_no
  FROM (
    SELECT user_id, ts, page,
           unix_timestamp(ts) - unix_timestamp(lag(ts) OVER (PARTITION BY user_id ORDER BY ts)) AS gap
    FROM clicks
  ) g
) s
GROUP BY user_id, session_no;
SELECT user_id, session_no, started, (unix_timestamp(ended) - unix_timestamp(started)) / 60 AS minutes, clicks
FROM sessions ORDER BY user_id, session_no;
SELECT user_id, page, lead(page, 1, 'exit') OVER (PARTITION BY user_id ORDER BY ts) AS next_page,
       first_value(page) OVER (PARTITION BY user_id, to_date(ts) ORDER BY ts) AS landing,
       last_value(page) OVER (PARTITION BY user_id ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS last_page,
       count(*) OVER (PARTITION BY user_id ORDER BY unix_timestamp(ts) RANGE BETWEEN 3600 PRECEDING AND CURRENT ROW) AS last_hour
FROM clicks ORDER BY user_id, ts;
SELECT to_date(started) AS day, count(*) AS sessions, round(avg(clicks), 2) AS clicks FROM sessions
GROUP BY to_date(started) ORDER BY day;

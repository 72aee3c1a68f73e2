-- A date dimension from a series of numbers.
CREATE TABLE dim_date STORED AS ORC AS
SELECT CAST(date_format(d, 'yyyyMMdd') AS INT) AS date_key, d, year(d) AS y, quarter(d) AS q, month(d) AS m, day(d) AS dd,
       weekofyear(d) AS wk, dayofweek(d) AS dow, date_format(d, 'EEE') AS name, IF(dayofweek(d) IN (1, 7), 'weekend', 'weekday') AS kind,
       last_day(d) = d AS is_month_end
FROM (SELECT date_add('2024-02-27', pos) AS d FROM (SELECT 1) one LATERAL VIEW posexplode(split(space(4), ' ')) p AS pos, x) s;
SELECT * FROM dim_date ORDER BY date_key;
SELECT kind, count(*) AS n, min(d) AS first, max(name) AS name FROM dim_date GROUP BY kind ORDER BY kind;
SELECT d FROM dim_date WHERE is_month_end OR next_day(d, 'SU') = DATE '2024-03-10' ORDER BY d;

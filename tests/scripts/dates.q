-- The calendar of reports: months, quarters, ages, weeks, unix times.
CREATE TEMPORARY TABLE d AS
SELECT explode(array('2023-12-31', '2024-01-01', '2024-02-29', '2024-03-31')) AS s;
SELECT s, add_months(s, 1) AS next_month, last_day(s) AS month_end, trunc(s, 'MM') AS month_start,
       trunc(s, 'Q') AS quarter_start, trunc(s, 'YEAR') AS year_start, next_day(s, 'MO') AS monday
FROM d ORDER BY s;
SELECT s, date_add(s, 7) AS week_later, date_sub(s, 1) AS day_before, datediff(s, '2024-01-01') AS days,
       months_between(s, '2023-11-15') AS months, weekofyear(s) AS week, quarter(s) AS q, dayofweek(s) AS dow,
       date_format(s, 'EEEE d MMMM yyyy') AS long_form, date_format(s, 'yyyyMM') AS yyyymm
FROM d ORDER BY s;
SELECT from_unixtime(0) AS epoch, from_unixtime(1709200800, 'yyyy-MM-dd HH') AS hour_form,
       unix_timestamp('2024-02-29 10:00:00') AS seconds, unix_timestamp('29/02/2024', 'dd/MM/yyyy') AS parsed,
       to_date('2024-02-29 23:59:59') AS day, from_utc_timestamp('2024-07-01 12:00:00', 'America/New_York') AS ny,
       to_utc_timestamp('2024-01-01 00:00:00', 'Asia/Tokyo') AS utc;
SELECT CAST('2024-02-29' AS DATE) + INTERVAL '1' YEAR AS next_year, DATE '2024-01-31' + INTERVAL 1 MONTH AS month_later,
       CAST('2024-01-01 00:00:00' AS TIMESTAMP) - INTERVAL '90' MINUTE AS earlier,
       extract(month FROM DATE '2024-05-06') AS m, floor(months_between('2024-05-06', '1990-08-15') / 12) AS age;
SELECT s FROM d WHERE s BETWEEN date_sub('2024-03-01', 1) AND last_day('2024-03-01') ORDER BY s;
SELECT s, CASE WHEN month(s) >= 4 THEN concat('FY', year(s)) ELSE concat('FY', year(s) - 1) END AS fiscal,
       lpad(CAST(day(s) AS STRING), 2, '0') AS dd, pmod(datediff(s, '1900-01-07'), 7) AS weekday
FROM d ORDER BY s;

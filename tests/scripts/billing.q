-- Money and dates: month ends, rates, rounding, late payments.
-- vectorized, trunc() of a DATE is 1970-01-01 in Hive 4.0.1
SET hive.vectorized.execution.enabled=false;
CREATE TABLE invoices (no STRING, customer INT, issued DATE, due_days INT, net DECIMAL(18,4), rate DOUBLE);
INSERT INTO invoices VALUES ('R-1', 1, '2024-01-31', 30, 100.1234, 0.19), ('R-2', 1, '2024-02-29', 14, 0.005, 0.07), ('R-3', 2, '2023-12-31', NULL, 99999999999999.9999, 0.0), ('R-4', NULL, '2024-03-15', 0, -12.5, NULL);
CREATE TABLE payments (no STRING, paid TIMESTAMP, amount DECIMAL(18,2)) STORED AS PARQUET;
INSERT INTO payments VALUES ('R-1', '2024-02-10 12:00:00', 50), ('R-1', '2024-03-20 23:59:59.999', 69.15), ('R-2', NULL, 0.01), ('R-9', '2024-01-01 00:00:00', 1);
SELECT no, add_months(issued, 1), last_day(issued), next_day(issued, 'MO'), trunc(issued, 'MM'), date_add(issued, due_days), months_between(issued, '2024-01-01'), quarter(issued), weekofyear(issued), dayofweek(issued) FROM invoices ORDER BY no;
SELECT no, net * rate, CAST(net * (1 + rate) AS DECIMAL(18,2)), round(net, 2), net / 3, net % 7, CAST(net AS INT), CAST(net AS STRING), abs(net), sign(net), net + 1 FROM invoices ORDER BY no;
SELECT i.no, nvl(sum(p.amount), 0) AS paid, max(p.paid), CAST(i.net * (1 + nvl(i.rate, 0)) AS DECIMAL(18,2)) - nvl(sum(p.amount), 0) AS open_amount FROM invoices i LEFT JOIN payments p ON i.no = p.no GROUP BY i.no, i.net, i.rate ORDER BY i.no;
SELECT coalesce(i.no, p.no) AS no, CASE WHEN i.no IS NULL THEN 'unknown' WHEN p.no IS NULL THEN 'open' WHEN to_date(p.paid) > date_add(i.issued, i.due_days) THEN 'late' ELSE 'in time' END AS state, datediff(p.paid, i.issued) FROM invoices i FULL OUTER JOIN payments p ON i.no = p.no ORDER BY no, state;
SELECT date_format(issued, 'yyyy-MM') AS m, date_format(issued, 'EEEE'), count(*), sum(net) FROM invoices GROUP BY date_format(issued, 'yyyy-MM'), date_format(issued, 'EEEE') ORDER BY m;
SELECT no, format_number(net, 2), printf('%10.2f|%s', CAST(net AS DOUBLE), no), conv(hex(customer), 16, 2), lpad(no, 6, '*'), substr(no, -1), reverse(no), initcap(concat_ws(' ', 'rechnung', no)), translate(no, 'R-', 'r_') FROM invoices ORDER BY no;
SELECT from_unixtime(0), unix_timestamp('2024-03-31 02:30:00'), to_unix_timestamp('2024-01-01', 'yyyy-MM-dd'), CAST('2024-02-30' AS DATE), CAST('2024-1-5' AS DATE), to_date('2024-01-01 25:00:00'), date '2024-01-01' + interval '1' month, timestamp '2024-01-31 10:00:00' - interval '1 2:3:4' day to second;
SELECT sum(net), avg(net), min(net), max(net), count(net), sum(rate), avg(rate) FROM invoices;
SELECT greatest(net, 1), least(rate, 0.1), nullif(customer, 1), customer IN (1, NULL), customer NOT IN (1), net BETWEEN 0 AND 1000 FROM invoices ORDER BY no;

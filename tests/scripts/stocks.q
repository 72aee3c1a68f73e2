-- Daily prices: returns, moving averages, highs of a year, and the best days.
CREATE TABLE prices (symbol STRING, day DATE, open DECIMAL(8,2), close DECIMAL(8,2), volume BIGINT) STORED AS ORC;
INSERT INTO prices VALUES ('AA', '2009-01-02', 10.00, 10.50, 100), ('AA', '2009-01-05', 10.50, 9.45, 300), ('AA', '2010-01-04', 9.50, 9.50, 50),
 ('BB', '2009-01-02', 100.00, 101.00, 10), ('BB', '2009-01-05', 101.00, 111.10, 20);
SELECT symbol, day, close, round((close - lag(close) OVER w) / lag(close) OVER w * 100, 2) AS pct,
       avg(close) OVER (PARTITION BY symbol ORDER BY day ROWS 1 PRECEDING) AS ma2
FROM prices WINDOW w AS (PARTITION BY symbol ORDER BY day) ORDER BY symbol, day;
SELECT symbol, year(day) AS y, max(close) AS high, min(close) AS low, sum(volume) AS volume, sum(close * volume) / sum(volume) AS vwap
FROM prices GROUP BY symbol, year(day) ORDER BY symbol, y;
SELECT a.symbol, a.day, a.close FROM prices a JOIN (SELECT symbol, max(close) AS high FROM prices GROUP BY symbol) b
ON a.symbol = b.symbol AND a.close = b.high ORDER BY a.symbol;
SELECT symbol, sort_array(collect_list(close)) AS closes FROM (SELECT symbol, close FROM prices WHERE year(day) = 2009 DISTRIBUTE BY symbol SORT BY symbol, day) s
GROUP BY symbol ORDER BY symbol;

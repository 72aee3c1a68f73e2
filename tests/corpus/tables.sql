-- The tables of the corpus: a town's shared bicycles. sample.py has their rows.

-- Hires of bicycles, to the millisecond, around both changes of the clock in US/Pacific; a column of every type.
CREATE EXTERNAL TABLE rides (
  `__time` TIMESTAMP WITH LOCAL TIME ZONE, id BIGINT, town STRING, station STRING, bike VARCHAR(10), plan CHAR(4), member BOOLEAN,
  meters BIGINT, minutes INT, gears SMALLINT, stars TINYINT, fare DOUBLE, slope FLOAT, note STRING)
STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false', 'druid.segment.granularity' = 'MONTH');

-- Visits to the workshop by the clock on its wall; two fields go by other names in Druid.
CREATE EXTERNAL TABLE repairs (
  `__time` TIMESTAMP, town STRING, part STRING, mechanic STRING, minutes INT, cost DOUBLE, urgent BOOLEAN)
STORED BY 'druid' TBLPROPERTIES (
  'druid.rollup' = 'false', 'druid.segment.granularity' = 'YEAR', 'druid.columns.mapping' = 'partName:part, Work Minutes:minutes');

-- The weather of a day in a town, rolled up: numbers are metrics.
CREATE EXTERNAL TABLE weather (`__time` TIMESTAMP, town STRING, sky STRING, rain DOUBLE, wind BIGINT)
STORED BY 'druid' TBLPROPERTIES ('druid.query.granularity' = 'DAY', 'druid.segment.granularity' = 'YEAR');

-- Stations, as a lookup to join with; no two are alike.
CREATE EXTERNAL TABLE stations (`__time` TIMESTAMP, station STRING, district STRING, docks BIGINT, height DOUBLE)
STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false', 'druid.segment.granularity' = 'ALL');

-- Letters from riders; each has several tags.
CREATE EXTERNAL TABLE letters (`__time` TIMESTAMP, author STRING, tags ARRAY<STRING>, likes BIGINT)
STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false', 'druid.segment.granularity' = 'YEAR');

-- Bookings of money: decimals kept as double and as text, a day as text.
CREATE EXTERNAL TABLE ledger (
  `__time` TIMESTAMP, account STRING, amount DECIMAL(9,2), rate DECIMAL(6,4), due DATE)
STORED BY 'druid' TBLPROPERTIES (
  'druid.rollup' = 'false', 'druid.segment.granularity' = 'YEAR', 'druid.columns.as' = 'amount:double, rate:string, due:string');

-- A data source without rows.
CREATE EXTERNAL TABLE lost (`__time` TIMESTAMP, town STRING, item STRING, worth BIGINT)
STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false');

-- Files beside Druid.
CREATE EXTERNAL TABLE districts (
  district STRING, people BIGINT, founded DATE, charter TIMESTAMP, area DECIMAL(8,2), twins ARRAY<STRING>)
STORED AS JSONFILE LOCATION '${districts}';

CREATE VIEW long_rides AS SELECT town, station, meters, fare, `__time` AS begun FROM rides WHERE meters > 5000;

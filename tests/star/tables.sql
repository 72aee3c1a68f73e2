-- The tables of the star: a business that hires out gear for the outdoors. sample.py has their rows.

-- Facts in Druid: hires over three channels, a row for each article of a ticket or an order. `paid` is the revenue, `gain`
-- what remains after the cost. The times of the desk's and the phone's rows are on the day of their day_id.
CREATE EXTERNAL TABLE desk_hires (
  `__time` TIMESTAMP, day_id INT, slot_id INT, gear_id INT, member_id INT, household_id INT, address_id INT, branch_id INT, offer_id INT,
  ticket BIGINT, pieces INT, price DECIMAL(7,2), paid DECIMAL(9,2), gain DECIMAL(9,2))
STORED BY 'druid' TBLPROPERTIES (
  'druid.rollup' = 'false', 'druid.segment.granularity' = 'YEAR', 'druid.columns.as' = 'price:double, paid:double, gain:double',
  'hivedruid.time.references' = 'day_id: days(day_id, on_date)');

CREATE EXTERNAL TABLE phone_hires (
  `__time` TIMESTAMP, day_id INT, sent_day_id INT, gear_id INT, member_id INT, receiver_id INT, depot_id INT, offer_id INT,
  order_no BIGINT, pieces INT, price DECIMAL(7,2), discount DECIMAL(9,2), freight DECIMAL(9,2), paid DECIMAL(9,2), gain DECIMAL(9,2))
STORED BY 'druid' TBLPROPERTIES (
  'druid.rollup' = 'false', 'druid.segment.granularity' = 'YEAR',
  'druid.columns.as' = 'price:double, discount:double, freight:double, paid:double, gain:double',
  'hivedruid.time.references' = 'day_id: days(day_id, on_date)');

CREATE EXTERNAL TABLE app_hires (
  `__time` TIMESTAMP, day_id INT, slot_id INT, sent_day_id INT, gear_id INT, member_id INT, address_id INT, depot_id INT, offer_id INT,
  order_no BIGINT, pieces INT, price DECIMAL(7,2), discount DECIMAL(9,2), freight DECIMAL(9,2), paid DECIMAL(9,2), gain DECIMAL(9,2))
STORED BY 'druid' TBLPROPERTIES (
  'druid.rollup' = 'false', 'druid.segment.granularity' = 'YEAR',
  'druid.columns.as' = 'price:double, discount:double, freight:double, paid:double, gain:double');

-- Early returns: `refund` is paid back, `loss` is what they cost. Those of the app lie in files.
CREATE EXTERNAL TABLE desk_returns (
  `__time` TIMESTAMP, day_id INT, gear_id INT, member_id INT, branch_id INT, ticket BIGINT, pieces INT, cause STRING,
  refund DECIMAL(9,2), loss DECIMAL(9,2))
STORED BY 'druid' TBLPROPERTIES (
  'druid.rollup' = 'false', 'druid.segment.granularity' = 'YEAR', 'druid.columns.as' = 'refund:double, loss:double',
  'hivedruid.time.references' = 'day_id: days(day_id, on_date)');

CREATE EXTERNAL TABLE phone_returns (
  `__time` TIMESTAMP, day_id INT, gear_id INT, member_id INT, address_id INT, order_no BIGINT, pieces INT, cause STRING,
  refund DECIMAL(9,2), loss DECIMAL(9,2))
STORED BY 'druid' TBLPROPERTIES (
  'druid.rollup' = 'false', 'druid.segment.granularity' = 'YEAR', 'druid.columns.as' = 'refund:double, loss:double');

CREATE EXTERNAL TABLE app_returns (
  day_id INT, gear_id INT, member_id INT, order_no BIGINT, pieces INT, cause STRING, refund DECIMAL(9,2), loss DECIMAL(9,2))
STORED AS PARQUET LOCATION '${dir}/app_returns';

-- The pieces of an article in a depot, counted every second Sunday.
CREATE EXTERNAL TABLE stock (`__time` TIMESTAMP, day_id INT, gear_id INT, depot_id INT, on_hand INT)
STORED BY 'druid' TBLPROPERTIES (
  'druid.rollup' = 'false', 'druid.segment.granularity' = 'YEAR', 'hivedruid.time.references' = 'day_id: days(day_id, on_date)');

-- Dimensions.
CREATE EXTERNAL TABLE days (
  day_id INT, on_date DATE, in_year INT, in_quarter INT, in_month INT, week_no INT, weekday STRING, is_holiday BOOLEAN)
STORED AS PARQUET LOCATION '${dir}/days';

CREATE EXTERNAL TABLE slots (slot_id INT, hour_of_day INT, minute_of_hour INT, meal STRING)
STORED AS PARQUET LOCATION '${dir}/slots';

CREATE EXTERNAL TABLE members (
  member_id INT, code CHAR(8), first_name STRING, last_name STRING, household_id INT, address_id INT, born_year INT, born_month INT, country STRING)
STORED AS PARQUET LOCATION '${dir}/members';

CREATE EXTERNAL TABLE households (
  household_id INT, marital CHAR(1), education STRING, children INT, cars INT, income_from DECIMAL(9,2))
STORED AS PARQUET LOCATION '${dir}/households';

CREATE EXTERNAL TABLE addresses (address_id INT, town STRING, county STRING, region STRING, postcode STRING, utc_offset INT)
STORED AS PARQUET LOCATION '${dir}/addresses';

CREATE EXTERNAL TABLE gear (
  gear_id INT, code STRING, label STRING, brand STRING, class STRING, category STRING, maker INT, colour STRING, size STRING, list_price DECIMAL(7,2))
STORED AS PARQUET LOCATION '${dir}/gear';

CREATE EXTERNAL TABLE branches (branch_id INT, name STRING, county STRING, region STRING, postcode STRING, staff INT)
STORED AS PARQUET LOCATION '${dir}/branches';

CREATE EXTERNAL TABLE depots (depot_id INT, name STRING, region STRING, floor_area DECIMAL(8,1))
STORED AS PARQUET LOCATION '${dir}/depots';

CREATE EXTERNAL TABLE offers (offer_id INT, name STRING, by_mail CHAR(1), by_radio CHAR(1), budget DECIMAL(10,2))
STORED AS PARQUET LOCATION '${dir}/offers';

-- Hive's functions of sketches, in this process and on Spark
CREATE TABLE visits (`__time` TIMESTAMP, page STRING, users BINARY, seen BINARY, latency BINARY) STORED BY 'druid'
TBLPROPERTIES ('druid.columns.aggregators' = 'users:thetaSketch(user_id), seen:HLLSketchBuild, latency:quantilesDoublesSketch(ms)');
INSERT INTO visits VALUES
  ('2024-01-01', 'a', 'x', 1, 2.5), ('2024-01-01', 'a', 'y', 1, 3), ('2024-01-01', 'a', NULL, 2, 1), ('2024-01-02', 'b', 'y', NULL, NULL);
SELECT page, ds_theta_estimate(users), ds_hll_estimate(seen), ds_hll_estimate_bounds(seen), ds_quantile_doubles_n(latency),
  ds_quantile_doubles_quantile(latency, 0.5), ds_quantile_doubles_quantiles(latency, 3), ds_quantile_doubles_cdf(latency, 2, 3.0) FROM visits ORDER BY page;
SELECT ds_theta_estimate(ds_theta_union(users)), ds_theta_estimate(ds_theta_intersect(users)), ds_hll_estimate(ds_hll_union(seen, 10)),
  ds_quantile_doubles_quantile(ds_quantile_doubles_union(latency), 1), ds_theta_estimate(ds_theta_union(users) FILTER (WHERE page = 'b')) FROM visits;
SELECT page, ds_theta_estimate(ds_theta_union_f(users, NULL)), ds_theta_estimate(ds_theta_exclude(NULL, users)), ds_hll_estimate(ds_hll_union_f(seen, NULL)),
  ds_theta_estimate(base64(users)) FROM visits ORDER BY page;
SELECT page, approx_count_distinct(users), approx_count_distinct(seen), percentile_approx(latency, 0.5), percentile_approx(latency, array(0, 1)) FROM visits
GROUP BY page HAVING approx_count_distinct(users) > 0 ORDER BY page;
SELECT ds_theta_estimate(ds_theta_sketch(page)), ds_hll_estimate(ds_hll_sketch(page, 8)), ds_quantile_doubles_n(ds_quantile_doubles_sketch(length(page), 16)) FROM visits;
SELECT ds_theta_estimate(NULL), ds_hll_estimate(NULL), ds_theta_sketch(page), ds_theta_union(users) IS NULL FROM visits WHERE page = 'none';

-- CREATE TABLE … AS stores sketches that it makes
CREATE TABLE pages STORED BY 'druid' AS SELECT `__time`, ds_theta_sketch(page) AS names, ds_quantile_doubles_union(latency) AS latency FROM visits GROUP BY `__time`;
SHOW CREATE TABLE pages;
SELECT approx_count_distinct(names), percentile_approx(latency, 0) FROM pages;

SET hivedruid.local.evaluation.max.rows=0;
SELECT page, ds_theta_estimate(users), ds_hll_estimate(seen), ds_hll_estimate_bounds(seen), ds_quantile_doubles_n(latency),
  ds_quantile_doubles_quantile(latency, 0.5), ds_quantile_doubles_quantiles(latency, 3), ds_quantile_doubles_cdf(latency, 2, 3.0) FROM visits ORDER BY page;
SELECT ds_theta_estimate(ds_theta_union(users)), ds_theta_estimate(ds_theta_intersect(users)), ds_hll_estimate(ds_hll_union(seen, 10)),
  ds_quantile_doubles_quantile(ds_quantile_doubles_union(latency), 1), ds_theta_estimate(ds_theta_union(users) FILTER (WHERE page = 'b')) FROM visits;
SELECT page, approx_count_distinct(users), approx_count_distinct(seen), percentile_approx(latency, 0.5), percentile_approx(latency, array(0, 1)) FROM visits
GROUP BY page HAVING approx_count_distinct(users) > 0 ORDER BY page;
SELECT page, ds_theta_estimate(ds_theta_union(users) OVER (ORDER BY page)), ds_quantile_doubles_n(ds_quantile_doubles_union(latency) OVER (ORDER BY page)) FROM visits ORDER BY page;
SELECT ds_theta_estimate(ds_theta_sketch(page)), ds_hll_estimate(ds_hll_sketch(page, 8)), ds_quantile_doubles_n(ds_quantile_doubles_sketch(length(page), 16)) FROM visits;
SELECT ds_theta_estimate('%') FROM visits;
RESET hivedruid.local.evaluation.max.rows;

-- wrong calls
SELECT ds_hll_estimate(users) FROM visits;
SELECT ds_hll_union(latency) FROM visits;
SELECT ds_theta_estimate(unbase64(base64(seen))) FROM visits;
SELECT ds_quantile_doubles_quantile(latency, 2) FROM visits;
SELECT ds_theta_estimate('%') FROM visits;
SELECT ds_theta_sketch(page, 8) FROM visits;
SELECT ds_hll_sketch(users) FROM visits;
SELECT ds_hll_sketch(`__time`) FROM visits;
SELECT approx_count_distinct(latency) FROM visits;
SELECT percentile_approx(users, 0.5) FROM visits;
SELECT approx_count_distinct(users) OVER () FROM visits;
SELECT ds_kll_sketch(length(page)) FROM visits;
DROP TABLE visits;
DROP TABLE pages;

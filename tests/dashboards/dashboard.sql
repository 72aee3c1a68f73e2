-- Queries as dashboards ask them: each is planned, run, and compared with Spark over the raw rows (test_dashboards.py).
-- sales (__time, country, city, product, category, channel, customer, qty, cents, price, is_new); regions (country, region, population)

-- KPI tiles
SELECT count(*) AS orders, sum(qty) AS items, sum(price) AS revenue FROM sales;
SELECT 'orders' AS kpi, count(*) AS value FROM sales UNION ALL SELECT 'items', sum(qty) FROM sales UNION ALL SELECT 'new', sum(if(is_new, 1, 0)) FROM sales;
SELECT 'today' AS day, count(*) AS orders FROM sales WHERE to_date(`__time`) = current_date UNION ALL SELECT 'yesterday', count(*) FROM sales WHERE to_date(`__time`) = date_sub(current_date, 1);
SELECT round(sum(price) / count(*), 2) AS basket FROM sales;
SELECT sum(cents) / 100.0 AS revenue FROM sales;
SELECT sum(if(is_new, 1, 0)) * 100.0 / count(*) AS new_percent FROM sales;
SELECT round(sum(if(is_new, 1, 0)) * 100.0 / count(*), 1) AS new_percent FROM sales;
SELECT concat(cast(round(sum(if(is_new, 1, 0)) * 100.0 / count(*), 1) AS string), ' %') AS new_percent FROM sales;
SELECT avg(CASE WHEN is_new THEN 1.0 ELSE 0.0 END) AS conversion FROM sales;
SELECT count(*) * 1.0 / count(DISTINCT country) AS orders_a_country FROM sales;
SELECT cast(sum(cents) AS decimal(18,2)) / 100 AS revenue, cast(sum(qty) AS decimal(18,2)) / count(*) AS items FROM sales;
SELECT max(price) AS dearest, min(price) AS cheapest, max(`__time`) AS latest FROM sales WHERE channel = 'web';
SELECT count(*) AS orders FROM sales WHERE `__time` >= add_months(current_date, -1);
SELECT count(*) AS orders FROM sales WHERE `__time` >= trunc(current_date, 'MM');
SELECT (SELECT count(*) FROM sales WHERE is_new) AS new_orders, (SELECT count(*) FROM sales) AS orders;
SELECT a.orders, b.orders AS before, a.orders - b.orders AS growth FROM (SELECT count(*) AS orders FROM sales WHERE `__time` >= '2026-01-01') a CROSS JOIN (SELECT count(*) AS orders FROM sales WHERE `__time` < '2026-01-01') b;

-- top N, with shares of the total
SELECT country, sum(price) AS revenue FROM sales GROUP BY country ORDER BY revenue DESC LIMIT 5;
SELECT country, orders, orders / sum(orders) OVER () AS share FROM (SELECT country, count(*) AS orders FROM sales GROUP BY country) t ORDER BY orders DESC, country;
SELECT country, count(*) AS orders, round(count(*) * 100.0 / sum(count(*)) OVER (), 2) AS share FROM sales GROUP BY country ORDER BY orders DESC, country LIMIT 5;
SELECT category, sum(cents) AS cents, cast(sum(cents) AS decimal(20,4)) / sum(sum(cents)) OVER () AS share FROM sales GROUP BY category ORDER BY category;
SELECT t.country, t.cents, round(t.cents * 100.0 / a.cents, 2) AS share FROM (SELECT country, sum(cents) AS cents FROM sales GROUP BY country) t CROSS JOIN (SELECT sum(cents) AS cents FROM sales) a ORDER BY t.cents DESC, t.country LIMIT 10;
SELECT initcap(country) AS country, count(*) AS orders FROM sales GROUP BY country ORDER BY orders DESC, country LIMIT 10;
SELECT upper(substr(country, 1, 2)) AS code, count(*) AS orders FROM sales GROUP BY upper(substr(country, 1, 2)) ORDER BY code;
SELECT product, cents, rank() OVER (ORDER BY cents DESC) AS r FROM (SELECT product, sum(cents) AS cents FROM sales GROUP BY product) t ORDER BY r, product LIMIT 10;
SELECT * FROM (SELECT country, city, cents, row_number() OVER (PARTITION BY country ORDER BY cents DESC, city) AS n FROM (SELECT country, city, sum(cents) AS cents FROM sales GROUP BY country, city) t) r WHERE n <= 2 ORDER BY country, n;
SELECT category, product, orders FROM (SELECT category, product, count(*) AS orders, dense_rank() OVER (PARTITION BY category ORDER BY count(*) DESC) AS d FROM sales GROUP BY category, product) r WHERE d = 1 ORDER BY category, product;
SELECT CASE WHEN r <= 3 THEN product ELSE 'others' END AS product, sum(cents) AS cents FROM (SELECT product, sum(cents) AS cents, rank() OVER (ORDER BY sum(cents) DESC) AS r FROM sales GROUP BY product) t GROUP BY CASE WHEN r <= 3 THEN product ELSE 'others' END ORDER BY cents DESC;
SELECT country, cents, ntile(4) OVER (ORDER BY cents, country) AS quartile FROM (SELECT country, sum(cents) AS cents FROM sales GROUP BY country) t ORDER BY quartile, cents, country;
SELECT country, orders, percent_rank() OVER (ORDER BY orders) AS p, cume_dist() OVER (ORDER BY orders) AS c FROM (SELECT country, count(*) AS orders FROM sales GROUP BY country) t ORDER BY orders, country;
SELECT country, cents, sum(cents) OVER (ORDER BY cents DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) / sum(cents) OVER () AS pareto FROM (SELECT country, sum(cents) AS cents FROM sales GROUP BY country) t ORDER BY cents DESC;

-- over time: period over period, running totals, moving averages
SELECT to_date(`__time`) AS day, count(*) AS orders FROM sales GROUP BY to_date(`__time`) ORDER BY day;
SELECT to_date(`__time`) AS day, sum(cents) AS cents, sum(sum(cents)) OVER (ORDER BY to_date(`__time`)) AS running FROM sales GROUP BY to_date(`__time`) ORDER BY day;
SELECT day, orders, avg(orders) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS week_average FROM (SELECT to_date(`__time`) AS day, count(*) AS orders FROM sales GROUP BY to_date(`__time`)) t ORDER BY day;
SELECT day, orders, lag(orders) OVER (ORDER BY day) AS before, orders - lag(orders) OVER (ORDER BY day) AS change FROM (SELECT to_date(`__time`) AS day, count(*) AS orders FROM sales GROUP BY to_date(`__time`)) t ORDER BY day;
SELECT month, cents, round((cents - lag(cents) OVER (ORDER BY month)) * 100.0 / lag(cents) OVER (ORDER BY month), 2) AS growth FROM (SELECT date_format(`__time`, 'yyyy-MM') AS month, sum(cents) AS cents FROM sales GROUP BY date_format(`__time`, 'yyyy-MM')) t ORDER BY month;
SELECT date_format(`__time`, 'yyyy-MM') AS month, count(*) AS orders FROM sales GROUP BY date_format(`__time`, 'yyyy-MM') ORDER BY month;
SELECT date_format(floor_month(`__time`), 'MMM yyyy') AS month, count(*) AS orders FROM sales GROUP BY floor_month(`__time`) ORDER BY floor_month(`__time`);
SELECT date_format(day, 'EEEE') AS weekday, orders FROM (SELECT floor_day(`__time`) AS day, count(*) AS orders FROM sales WHERE `__time` >= '2026-01-01' GROUP BY floor_day(`__time`)) t ORDER BY day;
SELECT floor_week(`__time`) AS week, sum(qty) AS items, sum(sum(qty)) OVER (ORDER BY floor_week(`__time`) ROWS UNBOUNDED PRECEDING) AS running FROM sales GROUP BY floor_week(`__time`) ORDER BY week;
SELECT year(`__time`) AS y, month(`__time`) AS m, count(*) AS orders FROM sales GROUP BY year(`__time`), month(`__time`) ORDER BY y, m;
SELECT hour(`__time`) AS h, count(*) AS orders, round(count(*) / sum(count(*)) OVER (), 4) AS share FROM sales GROUP BY hour(`__time`) ORDER BY h;
SELECT a.m, a.orders, b.orders AS before FROM (SELECT floor_month(`__time`) AS m, count(*) AS orders FROM sales GROUP BY floor_month(`__time`)) a LEFT JOIN (SELECT floor_month(`__time`) AS m, count(*) AS orders FROM sales GROUP BY floor_month(`__time`)) b ON b.m = a.m - INTERVAL '1' MONTH ORDER BY a.m;
SELECT 'this' AS period, sum(cents) AS cents FROM sales WHERE `__time` >= '2026-01-08' UNION ALL SELECT 'before', sum(cents) FROM sales WHERE `__time` >= '2026-01-01' AND `__time` < '2026-01-08';
SELECT t.period, t.orders FROM (SELECT CASE WHEN `__time` >= '2026-01-08' THEN 'this week' ELSE 'last week' END AS period, count(*) AS orders FROM sales WHERE `__time` >= '2026-01-01' GROUP BY CASE WHEN `__time` >= '2026-01-08' THEN 'this week' ELSE 'last week' END) t ORDER BY t.period;
WITH days AS (SELECT to_date(`__time`) AS day, sum(cents) AS cents FROM sales GROUP BY to_date(`__time`)) SELECT day, cents, max(cents) OVER (ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS record FROM days ORDER BY day;
WITH days AS (SELECT to_date(`__time`) AS day, sum(cents) AS cents FROM sales GROUP BY to_date(`__time`)) SELECT day, cents, cents - first_value(cents) OVER (ORDER BY day) AS since_first FROM days ORDER BY day;
WITH days AS (SELECT to_date(`__time`) AS day, count(*) AS n FROM sales GROUP BY to_date(`__time`)) SELECT d.day, d.n, b.n AS week_before FROM days d LEFT JOIN days b ON b.day = date_sub(d.day, 7) ORDER BY d.day;
WITH days AS (SELECT to_date(`__time`) AS day, count(*) AS n FROM sales GROUP BY to_date(`__time`)) SELECT day, n, CASE WHEN n > lead(n) OVER (ORDER BY day) THEN 'down' WHEN n < lead(n) OVER (ORDER BY day) THEN 'up' ELSE 'same' END AS trend FROM days ORDER BY day LIMIT 14;
SELECT last_day(day) AS month_end, sum(n) AS n FROM (SELECT to_date(`__time`) AS day, count(*) AS n FROM sales GROUP BY to_date(`__time`)) t GROUP BY last_day(day) ORDER BY month_end;
SELECT date_add(day, 1) AS next_day, datediff(day, '2025-11-01') AS age, n FROM (SELECT to_date(`__time`) AS day, count(*) AS n FROM sales GROUP BY to_date(`__time`)) t ORDER BY day LIMIT 7;
SELECT quarter(`__time`) AS q, sum(cents) AS cents, sum(cents) / count(DISTINCT to_date(`__time`)) AS cents_a_day FROM sales GROUP BY quarter(`__time`) ORDER BY q;
SELECT country, month, cents, sum(cents) OVER (PARTITION BY country ORDER BY month) AS running FROM (SELECT country, floor_month(`__time`) AS month, sum(cents) AS cents FROM sales GROUP BY country, floor_month(`__time`)) t ORDER BY country, month;
SELECT country, month, orders, rank() OVER (PARTITION BY month ORDER BY orders DESC) AS r FROM (SELECT country, floor_month(`__time`) AS month, count(*) AS orders FROM sales GROUP BY country, floor_month(`__time`)) t ORDER BY month, r, country;
SELECT category, month, cents * 1.0 / sum(cents) OVER (PARTITION BY month) AS share FROM (SELECT category, floor_month(`__time`) AS month, sum(cents) AS cents FROM sales GROUP BY category, floor_month(`__time`)) t ORDER BY month, category;

-- pivots
SELECT country, sum(CASE WHEN channel = 'web' THEN cents ELSE 0 END) AS web, sum(CASE WHEN channel = 'shop' THEN cents ELSE 0 END) AS shop FROM sales GROUP BY country ORDER BY country;
SELECT to_date(`__time`) AS day, count(CASE WHEN channel = 'web' THEN 1 END) AS web, count(CASE WHEN channel = 'app' THEN 1 END) AS app FROM sales GROUP BY to_date(`__time`) ORDER BY day LIMIT 10;
SELECT country, max(CASE WHEN m = 12 THEN n END) AS december, max(CASE WHEN m = 1 THEN n END) AS january FROM (SELECT country, month(`__time`) AS m, count(*) AS n FROM sales GROUP BY country, month(`__time`)) t GROUP BY country ORDER BY country;
SELECT country, coalesce(max(CASE WHEN channel = 'web' THEN n END), 0) * 100.0 / sum(n) AS web_percent FROM (SELECT country, channel, count(*) AS n FROM sales GROUP BY country, channel) t GROUP BY country ORDER BY country;
SELECT CASE WHEN cents < 200000 THEN 'small' WHEN cents < 300000 THEN 'middle' ELSE 'large' END AS size, count(*) AS countries FROM (SELECT country, sum(cents) AS cents FROM sales GROUP BY country) t GROUP BY CASE WHEN cents < 200000 THEN 'small' WHEN cents < 300000 THEN 'middle' ELSE 'large' END ORDER BY size;
SELECT category, sum(if(is_new, cents, 0)) * 100.0 / sum(cents) AS new_share FROM sales GROUP BY category ORDER BY new_share DESC, category;
SELECT country, sum(if(channel = 'web', 1.0, 0.0)) / count(*) AS web FROM sales GROUP BY country ORDER BY country;

-- ratios, decimals, HAVING
SELECT category, sum(cents) / sum(qty) AS cents_an_item FROM sales GROUP BY category ORDER BY cents_an_item DESC;
SELECT category, sum(cents) * 1.0 / sum(qty) AS cents_an_item FROM sales GROUP BY category ORDER BY category;
SELECT category, cast(avg(price) AS decimal(10,2)) AS price FROM sales GROUP BY category ORDER BY category;
SELECT category, format_number(sum(price), 2) AS price FROM sales GROUP BY category ORDER BY category;
SELECT country, sum(cents) * 0.19 AS tax, sum(cents) * 1.19 AS gross FROM sales GROUP BY country ORDER BY country;
SELECT country, count(*) AS n FROM sales GROUP BY country HAVING count(*) > 40 ORDER BY n DESC, country;
SELECT country, count(*) AS n FROM sales GROUP BY country HAVING count(*) * 1.0 / sum(qty) > 0.3 ORDER BY country;
SELECT country, sum(cents) AS cents FROM sales GROUP BY country HAVING sum(cents) > (SELECT avg(c) FROM (SELECT sum(cents) AS c FROM sales GROUP BY country) t) ORDER BY cents DESC;
SELECT country, sum(cents) AS cents FROM sales GROUP BY country HAVING length(country) BETWEEN 5 AND 7 AND country LIKE '%a%' ORDER BY country;
SELECT country, sum(cents) AS cents FROM sales GROUP BY country HAVING initcap(country) = 'France' OR sum(cents) % 2 = 0 ORDER BY country;
SELECT country, sum(price) AS s FROM sales GROUP BY country HAVING round(sum(price), 0) > 1000 ORDER BY s DESC;
SELECT channel, count(DISTINCT country) AS countries, count(*) AS n FROM sales GROUP BY channel HAVING count(DISTINCT country) > 1 ORDER BY channel;
SELECT country, sum(cents) AS cents, sum(cents) - avg(sum(cents)) OVER () AS from_mean FROM sales GROUP BY country ORDER BY country;
SELECT country, greatest(web, shop) AS better, least(web, shop) AS worse FROM (SELECT country, sum(if(channel = 'web', cents, 0)) AS web, sum(if(channel = 'shop', cents, 0)) AS shop FROM sales GROUP BY country) t ORDER BY country;
SELECT country, nullif(sum(if(channel = 'fax', 1, 0)), 0) AS fax, sum(cents) / nullif(sum(if(channel = 'fax', 1, 0)), 0) AS per_fax FROM sales GROUP BY country ORDER BY country;

-- joins of grouped rows with small tables and with each other
SELECT r.region, sum(s.cents) AS cents FROM sales s JOIN regions r ON s.country = r.country GROUP BY r.region ORDER BY r.region;
SELECT t.country, r.region, t.cents FROM (SELECT country, sum(cents) AS cents FROM sales GROUP BY country) t JOIN regions r ON t.country = r.country ORDER BY t.cents DESC, t.country;
SELECT t.country, r.region, t.n, t.n * 1000000 / r.population AS per_million FROM (SELECT country, count(*) AS n FROM sales GROUP BY country) t LEFT JOIN regions r ON t.country = r.country ORDER BY t.country;
SELECT r.country, coalesce(t.n, 0) AS n FROM regions r LEFT JOIN (SELECT country, count(*) AS n FROM sales WHERE `__time` >= '2026-01-10' GROUP BY country) t ON t.country = r.country ORDER BY n DESC, r.country;
SELECT coalesce(a.country, b.country) AS country, a.n AS web, b.n AS shop FROM (SELECT country, count(*) AS n FROM sales WHERE channel = 'web' GROUP BY country) a FULL JOIN (SELECT country, count(*) AS n FROM sales WHERE channel = 'shop' GROUP BY country) b ON a.country = b.country ORDER BY country;
SELECT country FROM regions WHERE country NOT IN (SELECT country FROM sales WHERE country IS NOT NULL) ORDER BY country;
SELECT r.country FROM regions r WHERE NOT EXISTS (SELECT 1 FROM sales s WHERE s.country = r.country) ORDER BY r.country;
SELECT country, n FROM (SELECT country, count(*) AS n FROM sales GROUP BY country) t WHERE country IN (SELECT country FROM regions WHERE region = 'Europe') ORDER BY n DESC, country;
SELECT a.category, a.n, b.m FROM (SELECT category, count(*) AS n FROM sales GROUP BY category) a JOIN (SELECT category, max(cents) AS m FROM sales GROUP BY category) b ON a.category = b.category AND a.n < b.m ORDER BY a.category;
SELECT r.region, count(DISTINCT s.customer) AS customers FROM sales s JOIN regions r ON s.country = r.country GROUP BY r.region ORDER BY customers DESC, r.region;
SELECT initcap(r.region) AS region, round(sum(s.cents) / 100.0, 2) AS revenue FROM sales s JOIN regions r ON s.country = r.country GROUP BY r.region ORDER BY revenue DESC;
SELECT region, country, cents, rank() OVER (PARTITION BY region ORDER BY cents DESC) AS r FROM (SELECT r.region, s.country, sum(s.cents) AS cents FROM sales s JOIN regions r ON s.country = r.country GROUP BY r.region, s.country) t ORDER BY region, r;

-- cohorts and customers
SELECT orders, count(*) AS customers FROM (SELECT customer, count(*) AS orders FROM sales GROUP BY customer) t GROUP BY orders ORDER BY orders;
SELECT date_format(first, 'yyyy-MM') AS cohort, count(*) AS customers FROM (SELECT customer, min(`__time`) AS first FROM sales GROUP BY customer) t GROUP BY date_format(first, 'yyyy-MM') ORDER BY cohort;
SELECT f.cohort, s.month, count(*) AS active FROM (SELECT customer, floor_month(min(`__time`)) AS cohort FROM sales GROUP BY customer) f JOIN (SELECT DISTINCT customer, floor_month(`__time`) AS month FROM sales) s ON f.customer = s.customer GROUP BY f.cohort, s.month ORDER BY f.cohort, s.month;
SELECT avg(orders) AS mean, max(orders) AS most FROM (SELECT customer, count(*) AS orders FROM sales GROUP BY customer) t;
SELECT customer, cents, cents - avg(cents) OVER () AS above FROM (SELECT customer, sum(cents) AS cents FROM sales GROUP BY customer) t ORDER BY cents DESC, customer LIMIT 10;
SELECT segment, count(*) AS customers, sum(cents) AS cents FROM (SELECT customer, sum(cents) AS cents, ntile(3) OVER (ORDER BY sum(cents), customer) AS segment FROM sales GROUP BY customer) t GROUP BY segment ORDER BY segment;
SELECT datediff(to_date(last), to_date(first)) AS days, count(*) AS customers FROM (SELECT customer, min(`__time`) AS first, max(`__time`) AS last FROM sales GROUP BY customer) t GROUP BY datediff(to_date(last), to_date(first)) ORDER BY days;
SELECT count(*) AS both_channels FROM (SELECT customer FROM sales WHERE channel = 'web' INTERSECT SELECT customer FROM sales WHERE channel = 'app') t;
SELECT customer FROM sales WHERE channel = 'app' EXCEPT SELECT customer FROM sales WHERE channel = 'web' ORDER BY customer;

-- details, texts, lists of choices, subtotals
SELECT `__time`, country, initcap(city) AS city, cents / 100.0 AS price FROM sales ORDER BY `__time` DESC LIMIT 10;
SELECT DISTINCT country FROM sales ORDER BY country;
SELECT DISTINCT concat_ws(' / ', category, product) AS item FROM sales ORDER BY item LIMIT 20;
SELECT country, category, sum(cents) AS cents FROM sales GROUP BY country, category WITH ROLLUP ORDER BY country, category, cents;
SELECT coalesce(country, 'all') AS country, sum(cents) AS cents FROM sales GROUP BY country WITH ROLLUP ORDER BY cents DESC, country;
SELECT country, n FROM (SELECT country, count(*) AS n FROM sales GROUP BY country) t UNION ALL SELECT 'total', count(*) FROM sales ORDER BY n DESC, country;
SELECT regexp_replace(product, '[0-9]+', '#') AS kind, sum(n) AS n FROM (SELECT product, count(*) AS n FROM sales GROUP BY product) t GROUP BY regexp_replace(product, '[0-9]+', '#') ORDER BY kind;
SELECT lpad(cast(h AS string), 2, '0') AS hour, n FROM (SELECT hour(`__time`) AS h, count(*) AS n FROM sales GROUP BY hour(`__time`)) t ORDER BY hour;
SELECT d.day, coalesce(t.n, 0) AS n FROM (SELECT date_add('2026-01-01', p.i) AS day FROM (SELECT posexplode(split(space(13), ' ')) AS (i, x)) p) d LEFT JOIN (SELECT to_date(`__time`) AS day, count(*) AS n FROM sales WHERE country = 'peru' GROUP BY to_date(`__time`)) t ON t.day = d.day ORDER BY d.day;
SELECT h.h, coalesce(t.n, 0) AS n FROM (SELECT explode(array(0, 6, 12, 18)) AS h) h LEFT JOIN (SELECT hour(`__time`) - hour(`__time`) % 6 AS h, count(*) AS n FROM sales GROUP BY hour(`__time`) - hour(`__time`) % 6) t ON t.h = h.h ORDER BY h.h;

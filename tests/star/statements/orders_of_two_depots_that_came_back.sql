-- The same with IN over a self-join.
WITH shared AS (
  SELECT a.order_no, a.depot_id AS one, b.depot_id AS other FROM app_hires a, app_hires b WHERE a.order_no = b.order_no AND a.depot_id <> b.depot_id)
SELECT count(DISTINCT h.order_no) AS orders, sum(h.freight) AS freight, sum(h.gain) AS gain
FROM app_hires h, days d, addresses a
WHERE d.in_year = 2024 AND h.sent_day_id = d.day_id AND h.address_id = a.address_id AND a.region <> 'East'
  AND h.order_no IN (SELECT order_no FROM shared)
  AND h.order_no IN (SELECT r.order_no FROM app_returns r, shared WHERE r.order_no = shared.order_no)

-- Revenue and returns of three channels, which end up in one list with subtotals.
WITH desk AS (
  SELECT concat('branch ', CAST(b.branch_id AS STRING)) AS place, sum(x.paid) AS paid, sum(x.gain) AS gain, sum(x.refund) AS refund, sum(x.loss) AS loss
  FROM (SELECT branch_id, day_id, paid, gain, 0.0 AS refund, 0.0 AS loss FROM desk_hires
    UNION ALL SELECT branch_id, day_id, 0.0, 0.0, refund, loss FROM desk_returns) x, days d, branches b
  WHERE x.day_id = d.day_id AND d.on_date BETWEEN CAST('2024-12-02' AS DATE) AND (CAST('2024-12-02' AS DATE) + 14 days) AND x.branch_id = b.branch_id
  GROUP BY b.branch_id),
phone AS (
  SELECT h.depot_id, sum(h.paid) AS paid, sum(h.gain) AS gain FROM phone_hires h, days d
  WHERE h.day_id = d.day_id AND d.on_date BETWEEN CAST('2024-12-02' AS DATE) AND (CAST('2024-12-02' AS DATE) + 14 days)
  GROUP BY h.depot_id),
phone_back AS (
  SELECT sum(r.refund) AS refund, sum(r.loss) AS loss FROM phone_returns r, days d
  WHERE r.day_id = d.day_id AND d.on_date BETWEEN CAST('2024-12-02' AS DATE) AND (CAST('2024-12-02' AS DATE) + 14 days)),
app AS (
  SELECT h.depot_id, sum(h.paid) AS paid, sum(coalesce(h.gain, 0)) AS gain, sum(coalesce(r.refund, 0)) AS refund, sum(coalesce(r.loss, 0)) AS loss
  FROM app_hires h LEFT OUTER JOIN app_returns r ON (h.gear_id = r.gear_id AND h.order_no = r.order_no), days d, offers o
  WHERE h.day_id = d.day_id AND h.offer_id = o.offer_id AND o.by_radio = 'N' AND d.in_year = 2024
  GROUP BY h.depot_id)
SELECT channel, place, sum(paid) AS paid, sum(refund) AS refund, sum(gain - loss) AS gain, grouping(channel) + grouping(place) AS level
FROM (
  SELECT 'desk' AS channel, place, paid, refund, gain, loss FROM desk
  UNION ALL SELECT 'phone' AS channel, concat('depot ', CAST(coalesce(depot_id, 0) AS STRING)), paid, refund, gain, loss FROM phone CROSS JOIN phone_back
  UNION ALL SELECT 'app' AS channel, concat('depot ', CAST(coalesce(depot_id, 0) AS STRING)), paid, refund, gain, loss FROM app) every_channel
GROUP BY ROLLUP (channel, place)
ORDER BY level, channel, place

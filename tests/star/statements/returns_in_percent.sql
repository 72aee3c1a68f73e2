-- The articles with the greatest ratio of returned pieces in each channel, by two ranks; UNION removes duplicates.
SELECT channel, gear_id, ratio, place_by_ratio, place_by_money
FROM (
  SELECT 'phone' AS channel, gear_id, ratio, rank() OVER (ORDER BY ratio DESC, gear_id) AS place_by_ratio, rank() OVER (ORDER BY money DESC, gear_id) AS place_by_money
  FROM (
    SELECT h.gear_id, round(CAST(sum(coalesce(r.pieces, 0)) AS DECIMAL(15,4)) / CAST(sum(coalesce(h.pieces, 0)) AS DECIMAL(15,4)), 8) AS ratio,
      sum(coalesce(r.refund, 0)) / sum(coalesce(h.paid, 0)) AS money
    FROM phone_hires h LEFT OUTER JOIN phone_returns r ON (h.order_no = r.order_no AND h.gear_id = r.gear_id), days d
    WHERE r.refund > 5 AND h.gain > -300 AND h.paid > 0 AND h.pieces > 0 AND h.day_id = d.day_id AND d.in_year = 2024
    GROUP BY h.gear_id) x) phone
WHERE place_by_ratio <= 6 OR place_by_money <= 6
UNION
SELECT channel, gear_id, ratio, place_by_ratio, place_by_money
FROM (
  SELECT 'app' AS channel, gear_id, ratio, rank() OVER (ORDER BY ratio DESC, gear_id) AS place_by_ratio, rank() OVER (ORDER BY money DESC, gear_id) AS place_by_money
  FROM (
    SELECT h.gear_id, round(CAST(sum(coalesce(r.pieces, 0)) AS DECIMAL(15,4)) / CAST(sum(coalesce(h.pieces, 0)) AS DECIMAL(15,4)), 8) AS ratio,
      sum(coalesce(r.refund, 0)) / sum(coalesce(h.paid, 0)) AS money
    FROM app_hires h LEFT OUTER JOIN app_returns r ON (h.order_no = r.order_no AND h.gear_id = r.gear_id), days d
    WHERE h.pieces > 0 AND h.day_id = d.day_id AND d.in_year = 2024
    GROUP BY h.gear_id) x) app
WHERE place_by_ratio <= 6 OR place_by_money <= 6
ORDER BY channel, place_by_ratio, place_by_money, gear_id

-- A correlated average over the fact table itself, within 90 days.
SELECT sum(h.discount) AS excess, count(*) AS hires
FROM phone_hires h, gear g, days d
WHERE g.maker IN (101, 103, 107) AND g.gear_id = h.gear_id
  AND d.on_date BETWEEN '2024-11-01' AND (CAST('2024-11-01' AS DATE) + 90 days) AND d.day_id = h.day_id
  AND h.discount > (SELECT 1.3 * avg(i.discount) FROM phone_hires i, days e
    WHERE i.gear_id = g.gear_id AND e.on_date BETWEEN '2024-11-01' AND (CAST('2024-11-01' AS DATE) + 90 days) AND e.day_id = i.day_id)

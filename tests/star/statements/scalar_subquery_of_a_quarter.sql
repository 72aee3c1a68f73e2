-- The revenue of articles in the quarter of a day, where those of two channels are similar.
WITH desk AS (
  SELECT g.code, sum(h.paid) AS paid FROM desk_hires h, gear g, days d
  WHERE h.gear_id = g.gear_id AND h.day_id = d.day_id
    AND d.on_date IN (SELECT on_date FROM days WHERE in_quarter = (SELECT in_quarter FROM days WHERE on_date = '2024-12-11') AND in_year = 2024)
  GROUP BY g.code),
phone AS (
  SELECT g.code, sum(h.paid) AS paid FROM phone_hires h, gear g, days d
  WHERE h.gear_id = g.gear_id AND h.day_id = d.day_id
    AND d.on_date IN (SELECT on_date FROM days WHERE in_quarter = (SELECT in_quarter FROM days WHERE on_date = '2024-12-11') AND in_year = 2024)
  GROUP BY g.code)
SELECT desk.code, desk.paid AS desk_paid, desk.paid / (desk.paid + phone.paid) * 100 AS desk_share, phone.paid AS phone_paid
FROM desk, phone
WHERE desk.code = phone.code AND desk.paid BETWEEN 0.1 * phone.paid AND 5 * phone.paid
ORDER BY desk.code, desk_paid

-- Members and articles that occur in one channel, in the other, or in both.
WITH desk AS (
  SELECT h.member_id, h.gear_id FROM desk_hires h, days d WHERE h.day_id = d.day_id AND d.in_year = 2024 GROUP BY h.member_id, h.gear_id),
phone AS (
  SELECT h.member_id, h.gear_id FROM phone_hires h, days d WHERE h.day_id = d.day_id AND d.in_year = 2024 GROUP BY h.member_id, h.gear_id)
SELECT sum(CASE WHEN desk.member_id IS NOT NULL AND phone.member_id IS NULL THEN 1 ELSE 0 END) AS only_desk,
  sum(CASE WHEN desk.member_id IS NULL AND phone.member_id IS NOT NULL THEN 1 ELSE 0 END) AS only_phone,
  sum(CASE WHEN desk.member_id IS NOT NULL AND phone.member_id IS NOT NULL THEN 1 ELSE 0 END) AS in_both
FROM desk FULL OUTER JOIN phone ON (desk.member_id = phone.member_id AND desk.gear_id = phone.gear_id)

-- INTERSECT: names and days that all channels have within two years.
SELECT count(*) AS found
FROM (
  SELECT DISTINCT m.last_name, m.first_name, d.in_month FROM desk_hires h, days d, members m WHERE h.day_id = d.day_id AND h.member_id = m.member_id AND d.week_no BETWEEN 10 AND 30
  INTERSECT
  SELECT DISTINCT m.last_name, m.first_name, d.in_month FROM phone_hires h, days d, members m WHERE h.day_id = d.day_id AND h.member_id = m.member_id AND d.week_no BETWEEN 10 AND 30
  INTERSECT
  SELECT DISTINCT m.last_name, m.first_name, d.in_month FROM app_hires h, days d, members m WHERE h.day_id = d.day_id AND h.member_id = m.member_id AND d.week_no BETWEEN 10 AND 30) common

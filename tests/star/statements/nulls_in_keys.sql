-- Rows whose key is NULL, by channel.
SELECT channel, key_name, in_year, in_quarter, category, count(*) AS hires, sum(paid) AS paid
FROM (
  SELECT 'desk' AS channel, 'member_id' AS key_name, d.in_year, d.in_quarter, g.category, h.paid FROM desk_hires h, gear g, days d
  WHERE h.member_id IS NULL AND h.day_id = d.day_id AND h.gear_id = g.gear_id
  UNION ALL
  SELECT 'app' AS channel, 'address_id' AS key_name, d.in_year, d.in_quarter, g.category, h.paid FROM app_hires h, gear g, days d
  WHERE h.address_id IS NULL AND h.day_id = d.day_id AND h.gear_id = g.gear_id
  UNION ALL
  SELECT 'phone' AS channel, 'receiver_id' AS key_name, d.in_year, d.in_quarter, g.category, h.paid FROM phone_hires h, gear g, days d
  WHERE h.receiver_id IS NULL AND h.day_id = d.day_id AND h.gear_id = g.gear_id) x
GROUP BY channel, key_name, in_year, in_quarter, category
ORDER BY channel, key_name, in_year, in_quarter, category

-- EXCEPT: those that only the desks have; the names may be NULL together with their member.
SELECT last_name, first_name, on_date
FROM (
  SELECT DISTINCT m.last_name, m.first_name, d.on_date FROM desk_hires h LEFT JOIN members m ON h.member_id = m.member_id, days d WHERE h.day_id = d.day_id AND d.in_year = 2024 AND d.in_month = 12
  EXCEPT
  SELECT DISTINCT m.last_name, m.first_name, d.on_date FROM phone_hires h LEFT JOIN members m ON h.member_id = m.member_id, days d WHERE h.day_id = d.day_id AND d.in_year = 2024 AND d.in_month = 12
  EXCEPT
  SELECT DISTINCT m.last_name, m.first_name, d.on_date FROM app_hires h LEFT JOIN members m ON h.member_id = m.member_id, days d WHERE h.day_id = d.day_id AND d.in_year = 2024 AND d.in_month = 12) only_desk
ORDER BY on_date, last_name, first_name

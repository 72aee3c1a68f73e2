-- Members who hired at a desk and over no other channel.
SELECT k.education, m.country, count(*) AS members
FROM members m, households k
WHERE m.household_id = k.household_id
  AND EXISTS (SELECT * FROM desk_hires h, days d WHERE m.member_id = h.member_id AND h.day_id = d.day_id AND d.in_year = 2025 AND d.in_month IN (4, 5))
  AND NOT EXISTS (SELECT * FROM app_hires h, days d WHERE m.member_id = h.member_id AND h.day_id = d.day_id AND d.in_year = 2025 AND d.in_month IN (4, 5))
  AND NOT EXISTS (SELECT * FROM phone_hires h, days d WHERE m.member_id = h.receiver_id AND h.day_id = d.day_id AND d.in_year = 2025 AND d.in_month IN (4, 5))
GROUP BY k.education, m.country
ORDER BY k.education, m.country

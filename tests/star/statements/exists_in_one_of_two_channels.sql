-- Members of some counties who hired at a desk, and by phone or in the app.
SELECT k.marital, k.education, k.children, count(*) AS members, min(k.cars) AS least, max(k.cars) AS most, avg(m.born_year) AS born
FROM members m, addresses a, households k
WHERE m.address_id = a.address_id AND a.region IN ('North', 'East', 'West', 'Isles') AND k.household_id = m.household_id
  AND EXISTS (SELECT * FROM desk_hires h, days d WHERE m.member_id = h.member_id AND h.day_id = d.day_id AND d.in_year = 2024 AND d.in_month BETWEEN 2 AND 5)
  AND (EXISTS (SELECT * FROM app_hires h, days d WHERE m.member_id = h.member_id AND h.day_id = d.day_id AND d.in_year = 2024 AND d.in_month BETWEEN 2 AND 5)
    OR EXISTS (SELECT * FROM phone_hires h, days d WHERE m.member_id = h.receiver_id AND h.day_id = d.day_id AND d.in_year = 2024 AND d.in_month BETWEEN 2 AND 5))
GROUP BY k.marital, k.education, k.children
ORDER BY k.marital, k.education, k.children

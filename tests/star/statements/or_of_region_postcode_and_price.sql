-- An OR over two tables, so that neither can be filtered alone.
SELECT a.postcode, sum(h.paid) AS paid
FROM phone_hires h, members m, addresses a, days d
WHERE h.member_id = m.member_id AND m.address_id = a.address_id AND h.day_id = d.day_id
  AND (substr(a.postcode, 1, 3) IN ('240', '351', '612', '885') OR a.region IN ('Isles', 'West') OR h.price > 70)
  AND d.in_quarter = 2 AND d.in_year = 2025
GROUP BY a.postcode
ORDER BY a.postcode
LIMIT 100

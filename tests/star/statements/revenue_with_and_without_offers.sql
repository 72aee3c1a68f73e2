-- A percentage of two totals over the same tables.
SELECT promoted, total, round(CAST(promoted AS DECIMAL(15,4)) / CAST(total AS DECIMAL(15,4)) * 100, 8) AS percent
FROM
  (SELECT sum(h.paid) AS promoted FROM desk_hires h, branches b, offers o, days d, members m, addresses a, gear g
   WHERE h.day_id = d.day_id AND h.branch_id = b.branch_id AND h.offer_id = o.offer_id AND h.member_id = m.member_id AND a.address_id = m.address_id
     AND h.gear_id = g.gear_id AND a.utc_offset = -6 AND g.category = 'Boats' AND (o.by_mail = 'Y' OR o.by_radio = 'Y') AND d.in_year = 2024) p,
  (SELECT sum(h.paid) AS total FROM desk_hires h, branches b, days d, members m, addresses a, gear g
   WHERE h.day_id = d.day_id AND h.branch_id = b.branch_id AND h.member_id = m.member_id AND a.address_id = m.address_id
     AND h.gear_id = g.gear_id AND a.utc_offset = -6 AND g.category = 'Boats' AND d.in_year = 2024) t
ORDER BY promoted, total

-- Hires by branch and offer, also those without an offer, and without the pieces of some.
SELECT b.region, o.name AS offer, sum(h.pieces) AS pieces, count(h.pieces) AS lines, count(*) AS hires, max(o.budget) AS budget
FROM branches b JOIN desk_hires h ON h.branch_id = b.branch_id LEFT JOIN offers o ON h.offer_id = o.offer_id AND o.by_radio = 'Y'
GROUP BY b.region, o.name
ORDER BY b.region, o.name NULLS FIRST

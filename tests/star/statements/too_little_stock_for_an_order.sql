-- Orders for more pieces than a depot had in the week, with and without an offer; sent more than five days later.
SELECT g.label, w.depot_id, d1.week_no, sum(CASE WHEN o.offer_id IS NULL THEN 1 ELSE 0 END) AS without_offer,
  sum(CASE WHEN o.offer_id IS NOT NULL THEN 1 ELSE 0 END) AS with_offer, count(*) AS orders
FROM phone_hires h
JOIN stock s ON (h.gear_id = s.gear_id)
JOIN depots w ON (w.depot_id = s.depot_id)
JOIN gear g ON (g.gear_id = h.gear_id)
JOIN members m ON (h.member_id = m.member_id)
JOIN days d1 ON (h.day_id = d1.day_id)
JOIN days d2 ON (s.day_id = d2.day_id)
JOIN days d3 ON (h.sent_day_id = d3.day_id)
LEFT OUTER JOIN offers o ON (h.offer_id = o.offer_id AND o.by_mail = 'Y')
LEFT OUTER JOIN phone_returns r ON (r.gear_id = h.gear_id AND r.order_no = h.order_no)
WHERE d1.week_no = d2.week_no AND s.on_hand < h.pieces AND d3.on_date > d1.on_date + 5 days AND d1.in_year = 2024
GROUP BY g.label, w.depot_id, d1.week_no
ORDER BY orders DESC, g.label, w.depot_id, d1.week_no
LIMIT 50

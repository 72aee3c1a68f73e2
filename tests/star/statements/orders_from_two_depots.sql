-- Orders that another depot sent a part of, and of which nothing came back.
SELECT count(DISTINCT h.order_no) AS orders, sum(h.freight) AS freight, sum(h.gain) AS gain
FROM phone_hires h, days d, members m, addresses a
WHERE d.on_date BETWEEN '2024-03-01' AND (CAST('2024-03-01' AS DATE) + 200 days) AND h.sent_day_id = d.day_id
  AND h.receiver_id = m.member_id AND m.address_id = a.address_id AND a.region IN ('North', 'South', 'Isles')
  AND EXISTS (SELECT * FROM phone_hires i WHERE h.order_no = i.order_no AND h.gear_id <> i.gear_id)
  AND NOT EXISTS (SELECT * FROM phone_returns r WHERE h.order_no = r.order_no)

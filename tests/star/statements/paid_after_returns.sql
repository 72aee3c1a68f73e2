-- What members paid for the pieces they kept, if the cause of the return is one of two.
SELECT member_id, sum(paid) AS paid
FROM (
  SELECT h.gear_id, h.ticket, h.member_id, CASE WHEN r.pieces IS NOT NULL THEN (h.pieces - r.pieces) * h.price ELSE h.pieces * h.price END AS paid
  FROM desk_hires h LEFT OUTER JOIN desk_returns r ON (r.gear_id = h.gear_id AND r.ticket = h.ticket)
  WHERE r.cause IN ('broken', 'too small')) t
GROUP BY member_id
ORDER BY paid, member_id
LIMIT 80

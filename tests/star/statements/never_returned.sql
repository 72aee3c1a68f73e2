-- LEFT JOIN with the returns, and IS NULL, by member and article; the ratio to the other channels.
WITH desk AS (
  SELECT d.in_year, h.gear_id, h.member_id, sum(h.pieces) AS pieces, sum(h.price) AS price
  FROM desk_hires h LEFT JOIN desk_returns r ON r.ticket = h.ticket AND h.gear_id = r.gear_id JOIN days d ON h.day_id = d.day_id
  WHERE r.ticket IS NULL GROUP BY d.in_year, h.gear_id, h.member_id),
app AS (
  SELECT d.in_year, h.gear_id, h.member_id, sum(h.pieces) AS pieces, sum(h.price) AS price
  FROM app_hires h LEFT JOIN app_returns r ON r.order_no = h.order_no AND h.gear_id = r.gear_id JOIN days d ON h.day_id = d.day_id
  WHERE r.order_no IS NULL GROUP BY d.in_year, h.gear_id, h.member_id)
SELECT desk.gear_id, desk.member_id, round(desk.pieces / coalesce(app.pieces, 1), 2) AS ratio, desk.pieces, desk.price, coalesce(app.pieces, 0) AS other_pieces
FROM desk LEFT JOIN app ON (app.in_year = desk.in_year AND app.gear_id = desk.gear_id AND app.member_id = desk.member_id)
WHERE coalesce(app.pieces, 0) > 0 AND desk.in_year = 2024
ORDER BY desk.pieces DESC, desk.price DESC, desk.gear_id, desk.member_id

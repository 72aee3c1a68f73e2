-- The stock by the attributes of two dimensions: few days and depots, many articles.
SELECT w.name, d.in_quarter, sum(s.on_hand) AS on_hand, count(*) AS counted, avg(s.on_hand) AS average, min(s.on_hand) AS least, max(d.on_date) AS last
FROM stock s JOIN depots w ON s.depot_id = w.depot_id JOIN days d ON s.day_id = d.day_id
WHERE d.in_year = 2024 OR d.in_month = 1
GROUP BY w.name, d.in_quarter
ORDER BY w.name, d.in_quarter

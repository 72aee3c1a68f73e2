-- The articles with the best and the worst average gain side by side; ties are ordered by article.
SELECT best.place, b.label AS best, w.label AS worst
FROM (
  SELECT gear_id, row_number() OVER (ORDER BY mean DESC, gear_id) AS place FROM (
    SELECT gear_id, avg(gain) AS mean FROM desk_hires WHERE branch_id = 3 GROUP BY gear_id
    HAVING avg(gain) > 0.2 * (SELECT avg(gain) FROM desk_hires WHERE branch_id = 3 AND offer_id IS NULL)) x) best,
  (SELECT gear_id, row_number() OVER (ORDER BY mean, gear_id) AS place FROM (
    SELECT gear_id, avg(gain) AS mean FROM desk_hires WHERE branch_id = 3 GROUP BY gear_id) x) worst, gear b, gear w
WHERE best.place = worst.place AND best.place <= 10 AND b.gear_id = best.gear_id AND w.gear_id = worst.gear_id
ORDER BY best.place

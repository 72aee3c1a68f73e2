-- A correlated count with an OR of properties.
SELECT DISTINCT g.label
FROM gear g
WHERE g.maker BETWEEN 101 AND 106
  AND (SELECT count(*) FROM gear t WHERE (t.brand = g.brand AND t.category = 'Boats' AND (t.colour = 'red' OR t.colour = 'navy') AND t.size <> 'large')
    OR (t.brand = g.brand AND t.category = 'Tents' AND t.colour = 'green' AND t.size IN ('small', 'large'))) > 0
ORDER BY g.label

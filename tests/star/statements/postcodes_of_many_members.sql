-- Branches near postcodes that are listed or have several members: an INTERSECT inside a join on two characters.
SELECT b.name, sum(h.gain) AS gain
FROM desk_hires h, days d, branches b, (
  SELECT substr(postcode, 1, 2) AS area FROM (
    SELECT substr(postcode, 1, 5) AS postcode FROM addresses WHERE substr(postcode, 1, 2) IN ('24', '35', '88')
    INTERSECT
    SELECT postcode FROM (SELECT a.postcode, count(*) AS members FROM addresses a, members m WHERE a.address_id = m.address_id GROUP BY a.postcode HAVING count(*) > 1) many) common
  GROUP BY substr(postcode, 1, 2)) v
WHERE h.branch_id = b.branch_id AND h.day_id = d.day_id AND d.in_quarter = 4 AND d.in_year = 2024 AND substr(b.postcode, 1, 2) = v.area
GROUP BY b.name
ORDER BY b.name

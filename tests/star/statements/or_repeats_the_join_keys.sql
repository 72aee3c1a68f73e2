-- Each branch of the OR repeats the join keys.
SELECT avg(h.pieces) AS pieces, avg(h.paid) AS paid, sum(h.gain) AS gain, count(*) AS hires
FROM desk_hires h, branches b, households k, addresses a, days d
WHERE b.branch_id = h.branch_id AND h.day_id = d.day_id AND d.in_year = 2024
  AND ((h.household_id = k.household_id AND k.marital = 'M' AND k.education = 'degree' AND h.price BETWEEN 10 AND 60 AND k.children = 3)
    OR (h.household_id = k.household_id AND k.marital = 'S' AND k.education = 'college' AND h.price BETWEEN 5 AND 50 AND k.cars > 1)
    OR (k.marital = 'W' AND h.household_id = k.household_id AND k.education = 'school' AND h.price > 30))
  AND ((h.address_id = a.address_id AND a.region IN ('North', 'East', 'Isles') AND h.gain BETWEEN -50 AND 2000)
    OR (a.address_id = h.address_id AND a.region IN ('South', 'West') AND h.gain > 100))

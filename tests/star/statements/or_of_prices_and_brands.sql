-- A disjunction of conjunctions over one dimension and a fact, and no other condition.
SELECT sum(h.paid) AS paid, count(DISTINCT h.member_id) AS members
FROM app_hires h, gear g
WHERE (g.gear_id = h.gear_id AND g.class = 'dome' AND g.size IN ('small', 'medium') AND h.pieces BETWEEN 1 AND 6)
   OR (g.gear_id = h.gear_id AND g.class = 'kayak' AND g.size = 'large' AND h.pieces BETWEEN 4 AND 10)
   OR (g.gear_id = h.gear_id AND g.category = 'Winter' AND h.pieces >= 10)

-- Hires and returns of the articles of one class: the keys of the articles restrict both facts.
SELECT g.label, sum(h.pieces) AS hired, sum(r.pieces) AS returned
FROM desk_returns r JOIN gear g ON r.gear_id = g.gear_id JOIN desk_hires h ON h.ticket = r.ticket AND h.gear_id = r.gear_id
WHERE g.class = 'dome'
GROUP BY g.label
ORDER BY g.label

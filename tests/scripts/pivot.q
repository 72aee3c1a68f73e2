-- Rows to columns with CASE, columns to rows with stack and LATERAL VIEW.
CREATE TEMPORARY TABLE scores AS
SELECT inline(array(
  named_struct('name', 'ann', 'subject', 'math', 'score', 90), named_struct('name', 'ann', 'subject', 'art', 'score', 70),
  named_struct('name', 'ben', 'subject', 'math', 'score', 55), named_struct('name', 'ben', 'subject', 'bio', 'score', 61)));
SELECT name,
       max(CASE WHEN subject = 'math' THEN score END) AS math,
       max(CASE subject WHEN 'art' THEN score END) AS art,
       sum(IF(subject = 'bio', score, 0)) AS bio,
       avg(score) AS mean
FROM scores GROUP BY name ORDER BY name;
CREATE TABLE wide AS
SELECT name, m['math'] AS math, m['art'] AS art, m['bio'] AS bio
FROM (SELECT name, str_to_map(concat_ws(',', sort_array(collect_list(concat(subject, ':', score))))) AS m
      FROM scores GROUP BY name) t;
SELECT * FROM wide ORDER BY name;
SELECT name, subject, score FROM wide
LATERAL VIEW stack(3, 'math', math, 'art', art, 'bio', bio) u AS subject, score
WHERE score IS NOT NULL ORDER BY name, subject;
SELECT name, subject FROM (SELECT name, map('math', math, 'art', art) AS m FROM wide) w
LATERAL VIEW OUTER explode(m) e AS subject, score WHERE score IS NULL ORDER BY name;

-- The newest version of each record wins; ties are broken by the file's sequence number.
CREATE TABLE raw_accounts (id INT, email STRING, changed TIMESTAMP, seq INT) STORED AS ORC;
INSERT INTO raw_accounts VALUES
  (1, 'a@x.org', '2024-01-01 10:00:00', 1), (1, 'A@X.org', '2024-01-02 10:00:00', 2),
  (2, 'b@x.org', '2024-01-01 09:00:00', 1), (2, 'b2@x.org', '2024-01-01 09:00:00', 2),
  (3, NULL, '2024-01-03 00:00:00', 1), (3, 'c@x.org', NULL, 2);
INSERT OVERWRITE TABLE raw_accounts
SELECT id, email, changed, seq FROM (
  SELECT id, email, changed, seq, row_number() OVER (PARTITION BY id ORDER BY changed DESC, seq DESC) AS rn
  FROM raw_accounts
) ranked
WHERE rn = 1;
SELECT id, lower(email) AS email, changed FROM raw_accounts ORDER BY id;
SELECT email, count(*) AS n FROM raw_accounts GROUP BY email HAVING count(*) > 1;
SELECT DISTINCT lower(split(email, '@')[1]) AS domain FROM raw_accounts WHERE email IS NOT NULL;
SELECT id, rank() OVER (ORDER BY changed) AS r, dense_rank() OVER (ORDER BY year(changed)) AS d,
       ntile(2) OVER (ORDER BY id) AS half, percent_rank() OVER (ORDER BY id) AS p
FROM raw_accounts ORDER BY id;

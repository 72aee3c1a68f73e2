-- Cohorts by month of the first order.
CREATE TABLE orders (cust INT, day DATE, amount INT);
INSERT INTO orders VALUES (1, '2024-01-15', 10), (1, '2024-02-20', 20), (1, '2024-04-01', 5), (2, '2024-01-31', 7), (2, '2024-02-29', 8), (3, '2024-02-10', 30);
CREATE VIEW cohorts AS
SELECT o.cust, o.day, o.amount, f.first_month, CAST(months_between(trunc(o.day, 'MM'), f.first_month) AS INT) AS age
FROM orders o JOIN (SELECT cust, trunc(min(day), 'MM') AS first_month FROM orders GROUP BY cust) f ON o.cust = f.cust;
SELECT first_month, age, count(DISTINCT cust) AS customers, sum(amount) AS amount FROM cohorts GROUP BY first_month, age ORDER BY first_month, age;
SELECT first_month, sum(IF(age = 0, amount, 0)) AS m0, sum(IF(age = 1, amount, 0)) AS m1, sum(IF(age >= 2, amount, 0)) AS later
FROM cohorts GROUP BY first_month ORDER BY first_month;
SELECT cust, datediff(max(day), min(day)) AS days, date_format(max(day), 'MMM yyyy') AS last FROM orders GROUP BY cust ORDER BY cust;

-- Average, count and number of prices in three buckets, as one row.
SELECT *
FROM
  (SELECT avg(price) AS mean_1, count(price) AS count_1, count(DISTINCT price) AS prices_1 FROM desk_hires
   WHERE pieces BETWEEN 0 AND 4 AND (price BETWEEN 5 AND 25 OR gain BETWEEN 10 AND 100 OR paid BETWEEN 20 AND 50)) b1,
  (SELECT avg(price) AS mean_2, count(price) AS count_2, count(DISTINCT price) AS prices_2 FROM desk_hires
   WHERE pieces BETWEEN 5 AND 8 AND (price BETWEEN 25 AND 45 OR gain BETWEEN 50 AND 150 OR paid BETWEEN 60 AND 90)) b2,
  (SELECT avg(price) AS mean_3, count(price) AS count_3, count(DISTINCT price) AS prices_3 FROM desk_hires
   WHERE pieces BETWEEN 9 AND 20 AND (price BETWEEN 45 AND 60 OR gain BETWEEN 80 AND 200 OR paid BETWEEN 100 AND 120)) b3

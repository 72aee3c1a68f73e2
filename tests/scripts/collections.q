-- Arrays and maps that are collected, sorted and taken apart again.
CREATE TABLE baskets (basket INT, item STRING, qty INT);
INSERT INTO baskets VALUES (1, 'milk', 2), (1, 'bread', 1), (1, 'milk', 1), (2, 'eggs', 12), (2, 'bread', 1), (3, 'salt', NULL);
SELECT basket, sort_array(collect_set(item)) AS items, size(collect_list(item)) AS n,
       concat_ws('|', sort_array(collect_list(concat_ws('=', item, CAST(qty AS STRING))))) AS text
FROM baskets GROUP BY basket ORDER BY basket;
SELECT a.item AS item_a, b.item AS item_b, count(DISTINCT a.basket) AS together
FROM baskets a JOIN baskets b ON a.basket = b.basket
WHERE a.item < b.item GROUP BY a.item, b.item ORDER BY item_a, item_b;
CREATE TABLE basket_arrays STORED AS ORC AS
SELECT basket, collect_list(named_struct('item', item, 'qty', qty)) AS lines, map('n', count(*), 'qty', sum(qty)) AS facts
FROM baskets GROUP BY basket;
DESCRIBE basket_arrays;
SELECT basket, l.item, l.qty FROM basket_arrays LATERAL VIEW explode(lines) x AS l WHERE l.qty > 1 ORDER BY basket, item;
SELECT basket, facts['n'] AS n, facts['qty'] AS qty, sort_array(map_keys(facts)) AS ks, size(facts) AS size FROM basket_arrays ORDER BY basket;
SELECT basket, item FROM basket_arrays LATERAL VIEW inline(lines) x AS item, qty WHERE basket = 1 ORDER BY item, basket;
SELECT basket, array_contains(sort_array(collect_set(item)), 'bread') AS has_bread FROM baskets GROUP BY basket ORDER BY basket;

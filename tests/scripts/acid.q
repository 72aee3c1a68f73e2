-- Corrections in a transactional table.
SET hive.support.concurrency=true;
SET hive.txn.manager=org.apache.hadoop.hive.ql.lockmgr.DbTxnManager;
SET hive.enforce.bucketing=true;
CREATE TABLE accounts (id INT, owner STRING, balance DECIMAL(12,2), status STRING)
CLUSTERED BY (id) INTO 2 BUCKETS STORED AS ORC
TBLPROPERTIES ('transactional' = 'true', 'NO_AUTO_COMPACTION' = 'false');
INSERT INTO TABLE accounts VALUES (1, 'ann', 100.00, 'open'), (2, 'ben', -5.50, 'open'), (3, 'cat', 0.00, 'closed'), (4, 'dan', NULL, 'open');
UPDATE accounts SET balance = balance * 1.01, status = upper(status) WHERE balance > 0;
UPDATE accounts SET status = 'blocked' WHERE balance < 0 OR balance IS NULL;
DELETE FROM accounts WHERE status = 'closed';
DELETE FROM accounts WHERE id IN (SELECT id FROM accounts WHERE owner = 'dan');
SELECT * FROM accounts ORDER BY id;
INSERT INTO accounts (id, owner) VALUES (5, 'eve');
SELECT id, nvl(balance, 0) AS balance, coalesce(status, 'new') AS status FROM accounts ORDER BY id;
ALTER TABLE accounts COMPACT 'major';
SELECT count(*), sum(balance) FROM accounts;
TRUNCATE TABLE accounts;
SELECT count(*) FROM accounts;

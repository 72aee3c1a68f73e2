-- Fuel economy of trucks: a CSV of months side by side becomes rows, averages, and a risk table.
CREATE TABLE trucks_stage (driverid STRING, truckid STRING, model STRING, jun13_miles INT, jun13_gas INT, may13_miles INT, may13_gas INT)
ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE TBLPROPERTIES ("skip.header.line.count" = "1");
LOAD DATA LOCAL INPATH '${dir}/data/trucks.csv' OVERWRITE INTO TABLE trucks_stage;
CREATE TABLE truck_mileage STORED AS ORC AS
SELECT truckid, driverid, rdate, miles, gas, miles / gas mpg FROM trucks_stage
LATERAL VIEW stack(2, 'jun13', jun13_miles, jun13_gas, 'may13', may13_miles, may13_gas) dummyalias AS rdate, miles, gas;
SELECT truckid, rdate, miles, gas, round(mpg, 3) AS mpg FROM truck_mileage ORDER BY truckid, rdate;
CREATE TABLE avg_mileage STORED AS ORC AS SELECT truckid, avg(mpg) avgmpg FROM truck_mileage GROUP BY truckid;
SELECT a.truckid, round(avgmpg, 4) AS avgmpg, t.model FROM avg_mileage a JOIN trucks_stage t ON a.truckid = t.truckid ORDER BY avgmpg DESC;
SELECT model, sum(miles) AS miles, sum(miles) / sum(gas) > 5 AS good FROM truck_mileage m JOIN trucks_stage t USING (truckid) GROUP BY model ORDER BY model;

-- Social media JSON: nested fields, hashtags, followers, and a count by language.
CREATE EXTERNAL TABLE tweets (
  id BIGINT, text STRING, `user` STRUCT<screen_name: STRING, followers: INT>,
  entities STRUCT<hashtags: ARRAY<STRUCT<text: STRING>>>, lang STRING)
ROW FORMAT SERDE 'org.apache.hive.hcatalog.data.JsonSerDe' LOCATION '${home}/tweets';
LOAD DATA LOCAL INPATH '${dir}/data/tweets.json' INTO TABLE tweets;
SELECT lower(h.text) AS tag, count(*) AS n, collect_set(`user`.screen_name) AS who
FROM tweets LATERAL VIEW explode(entities.hashtags) t AS h GROUP BY lower(h.text) ORDER BY n DESC, tag;
SELECT `user`.screen_name AS name, max(`user`.followers) AS followers, sum(size(entities.hashtags)) AS tags
FROM tweets GROUP BY `user`.screen_name ORDER BY name;
SELECT word, count(*) AS n FROM tweets LATERAL VIEW explode(split(lower(text), '[^a-z#]+')) w AS word
WHERE word LIKE '#%' GROUP BY word ORDER BY word;
SELECT id, entities.hashtags.text AS tags, entities.hashtags[0].text AS first_tag FROM tweets ORDER BY id;
SELECT lang, count(DISTINCT `user`.screen_name) AS users FROM tweets GROUP BY lang HAVING count(*) >= 1 ORDER BY lang;

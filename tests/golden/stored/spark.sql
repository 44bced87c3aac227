-- SELECT COUNT(*) AS n FROM visits
-- prepared: 4abc9d6b9c37b925
SELECT CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT `__rows`.`__unit` AS `__unit`, 1 AS `s0` FROM (SELECT `visits`.`__unit` AS `__unit` FROM (SELECT `__unit` FROM `__kept_visits`) AS `visits`) AS `__rows`) AS `bounded`;
-- per-query: 7185bf654b661804
SELECT CAST(coalesce(sum(CAST(1 * `rows` AS DECIMAL(20, 0))), 0) AS DECIMAL(38, 0)) AS `s0` FROM (SELECT least(count(*), 12) AS `rows` FROM (SELECT `visits`.`__unit` AS `__unit` FROM (SELECT `__unit` FROM `__every_visits`) AS `visits`) AS `all` GROUP BY `__unit`) AS `bounded`;

-- SELECT COUNT(DISTINCT patient_id) AS people FROM visits
-- prepared: 1c382e02cba1fc72
-- per-query: d043bc0c32bef1ac

-- SELECT region, COUNT(*), AVG(income) FROM patients GROUP BY region
-- prepared: f428a0331109ef44
-- per-query: 2abda880d100a8f5

-- SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis ORDER BY n DESC LIMIT 5
-- prepared: 52bd24872df75c97
-- per-query: c90b65889bd42bc8

-- SELECT region, COUNT(*) AS n, 3 * COUNT(*) AS thrice, CASE WHEN COUNT(*) > 100 THEN 'large' ELSE 'small' END AS size FROM patients GROUP BY region
-- prepared: 229215f18a5bb487
-- per-query: 083e8d52b0fc003e

-- SELECT SUM(cost * 1.2 + minutes) AS s FROM visits WHERE cost BETWEEN 10 AND 100
-- prepared: ad148b29a525b6a7
-- per-query: 7b0946c0107e5d9e

-- SELECT SUM(CASE WHEN minutes > 60 THEN 1 ELSE 0 END) AS long_visits, COUNT(*) FILTER (WHERE cost > 100) AS dear FROM visits
-- prepared: 917a957b0eaeabce
-- per-query: 350c0b7ee6b939f0

-- SELECT VARIANCE(minutes) AS v, STDDEV(minutes) AS sd FROM visits
-- prepared: daefa7aa9c5a5426
-- per-query: 66210f336ce2fb99

-- SELECT MEDIAN(cost) AS m, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY cost) AS p90, MIN(minutes) AS lo, MAX(minutes) AS hi FROM visits
-- prepared: 2acffb4fb3bbdcc5 5f837aa58c9c2971
-- per-query: 89495c2743247be5 1d772fc25b20f175

-- SELECT c.region, AVG(v.cost) AS cost FROM visits v JOIN clinics c ON v.clinic_id = c.clinic_id GROUP BY c.region
-- prepared: 1d2b7471ecda7937
SELECT `k0`, CAST(count(`s0`) AS DECIMAL(20, 0)) AS `s0`, CAST(coalesce(sum(CAST(`s1` AS DECIMAL(20, 0))), 0) AS DECIMAL(38, 0)) AS `s1` FROM (SELECT `__rows`.`__unit` AS `__unit`, `__rows`.`region` AS `k0`, CASE WHEN CAST(CASE WHEN rint(`__rows`.`__step1`) >= -9223372036854775808e0 AND rint(`__rows`.`__step1`) < 9223372036854775808e0 THEN rint(`__rows`.`__step1`) END AS BIGINT) BETWEEN 0 AND 1073741824 THEN CAST(CASE WHEN rint(`__rows`.`__step1`) >= -9223372036854775808e0 AND rint(`__rows`.`__step1`) < 9223372036854775808e0 THEN rint(`__rows`.`__step1`) END AS BIGINT) END AS `s0`, CASE WHEN CAST(CASE WHEN rint(`__rows`.`__step1`) >= -9223372036854775808e0 AND rint(`__rows`.`__step1`) < 9223372036854775808e0 THEN rint(`__rows`.`__step1`) END AS BIGINT) BETWEEN 0 AND 1073741824 THEN CAST(CASE WHEN rint(`__rows`.`__step1`) >= -9223372036854775808e0 AND rint(`__rows`.`__step1`) < 9223372036854775808e0 THEN rint(`__rows`.`__step1`) END AS BIGINT) END AS `s1` FROM (SELECT `__rows`.*, CASE WHEN abs(`__rows`.`__step0`) <= 1.7976931348623157e308 THEN `__rows`.`__step0` END AS `__step1` FROM (SELECT `__rows`.*, (CASE WHEN `__rows`.`cost` < 0.0e0 THEN 0.0e0 WHEN `__rows`.`cost` > 500.0e0 THEN 500.0e0 ELSE `__rows`.`cost` END * 2147483.648e0) AS `__step0` FROM (SELECT `v`.`__unit` AS `__unit`, `c`.`region` AS `region`, `v`.`cost` AS `cost` FROM (SELECT `__unit`, `clinic_id`, `cost` FROM `__kept_visits`) AS `v` JOIN `clinics` AS `c` ON (`v`.`clinic_id` = `c`.`clinic_id`)) AS `__rows`) AS `__rows`) AS `__rows`) AS `bounded` GROUP BY `k0`;
-- per-query: c3b18591aa7341f4
SELECT `k0`, CAST(coalesce(sum(`s0`), 0) AS DECIMAL(38, 0)) AS `s0`, CAST(coalesce(sum(CAST(`s1` AS DECIMAL(20, 0))), 0) AS DECIMAL(38, 0)) AS `s1` FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY `__unit` ORDER BY md5(CAST(concat(coalesce(concat(length(CAST('discreet' AS STRING)), ':', CAST('discreet' AS STRING)), '-'), coalesce(concat(length(CAST(`__unit` AS STRING)), ':', CAST(`__unit` AS STRING)), '-'), coalesce(concat(length(CAST(`k0` AS STRING)), ':', CAST(`k0` AS STRING)), '-'), coalesce(concat(length(CAST(`s0` AS STRING)), ':', CAST(`s0` AS STRING)), '-'), coalesce(concat(length(CAST(`s1` AS STRING)), ':', CAST(`s1` AS STRING)), '-')) AS BINARY)) NULLS LAST, `k0` NULLS LAST, `s0` NULLS LAST, `s1` NULLS LAST) AS `rank` FROM (SELECT `__rows`.`__unit` AS `__unit`, `__rows`.`region` AS `k0`, coalesce(CASE WHEN (CASE WHEN CAST(CASE WHEN rint(`__rows`.`__step1`) >= -9223372036854775808e0 AND rint(`__rows`.`__step1`) < 9223372036854775808e0 THEN rint(`__rows`.`__step1`) END AS BIGINT) BETWEEN 0 AND 1073741824 THEN CAST(CASE WHEN rint(`__rows`.`__step1`) >= -9223372036854775808e0 AND rint(`__rows`.`__step1`) < 9223372036854775808e0 THEN rint(`__rows`.`__step1`) END AS BIGINT) END IS NULL) THEN 0 ELSE 1 END, 0) AS `s0`, coalesce(CASE WHEN CAST(CASE WHEN rint(`__rows`.`__step1`) >= -9223372036854775808e0 AND rint(`__rows`.`__step1`) < 9223372036854775808e0 THEN rint(`__rows`.`__step1`) END AS BIGINT) BETWEEN 0 AND 1073741824 THEN CAST(CASE WHEN rint(`__rows`.`__step1`) >= -9223372036854775808e0 AND rint(`__rows`.`__step1`) < 9223372036854775808e0 THEN rint(`__rows`.`__step1`) END AS BIGINT) END, 0) AS `s1` FROM (SELECT `__rows`.*, CASE WHEN abs(`__rows`.`__step0`) <= 1.7976931348623157e308 THEN `__rows`.`__step0` END AS `__step1` FROM (SELECT `__rows`.*, (CASE WHEN `__rows`.`cost` < 0.0e0 THEN 0.0e0 WHEN `__rows`.`cost` > 500.0e0 THEN 500.0e0 ELSE `__rows`.`cost` END * 2147483.648e0) AS `__step0` FROM (SELECT `v`.`__unit` AS `__unit`, `c`.`region` AS `region`, `v`.`cost` AS `cost` FROM (SELECT `__unit`, `clinic_id`, `cost` FROM `__every_visits`) AS `v` JOIN `clinics` AS `c` ON (`v`.`clinic_id` = `c`.`clinic_id`)) AS `__rows`) AS `__rows`) AS `__rows`) AS `rows`) AS `ranked` WHERE `rank` <= 12) AS `bounded` GROUP BY `k0`;

-- SELECT p.sex, AVG(v.minutes) AS minutes FROM patients p JOIN visits v ON p.patient_id = v.patient_id GROUP BY p.sex
-- prepared: 02ac0031458510de
-- per-query: 163e721eaccef653

-- SELECT COUNT(*) AS n FROM prescriptions WHERE dose > 500
-- prepared: 4ae6e77d84b0f714
-- per-query: 19b752f6a3c84181

-- WITH per_patient AS (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id) SELECT AVG(LEAST(GREATEST(total, 0), 1000)) AS avg_total FROM per_patient
-- prepared: 291b7119009403bc
-- per-query: 291b7119009403bc

-- SELECT COUNT(*) AS frequent FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) >= 5) AS t
-- prepared: bf5e9a477013162d
-- per-query: bf5e9a477013162d

-- WITH r AS (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) SELECT region, n, 100.0 * n / SUM(n) OVER () AS share FROM r ORDER BY share DESC
-- prepared: 229215f18a5bb487
-- per-query: 083e8d52b0fc003e

-- SELECT a.region, a.n AS insured, b.n AS everyone FROM (SELECT region, COUNT(*) AS n FROM patients WHERE insured GROUP BY region) a JOIN (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) b ON a.region = b.region
-- prepared: 33d46684a3a94737 229215f18a5bb487
-- per-query: 58cd4b7f81d5067c 083e8d52b0fc003e

-- SELECT date_trunc('month', day) AS month, COUNT(*) AS n FROM visits GROUP BY month ORDER BY month
-- prepared: f74c8c7918b57c9b
-- per-query: 6619d0ef4e583b38

-- SELECT diagnosis, COUNT(*) FROM visits WHERE diagnosis IN ('flu', 'asthma', 'fracture') GROUP BY diagnosis
-- prepared: 3ce0734837b58f10
-- per-query: 718f77bb783115fd

-- SELECT insured, sex, COUNT(*) AS n FROM patients GROUP BY insured, sex HAVING COUNT(*) > 10
-- prepared: 4c6d9baa620bead5
SELECT `k0`, `k1`, CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT `__rows`.`__unit` AS `__unit`, `__rows`.`insured` AS `k0`, `__rows`.`sex` AS `k1`, 1 AS `s0` FROM (SELECT `patients`.`__unit` AS `__unit`, `patients`.`insured` AS `insured`, `patients`.`sex` AS `sex` FROM (SELECT `__unit`, `sex`, `insured` FROM `__kept_patients`) AS `patients`) AS `__rows`) AS `bounded` GROUP BY `k0`, `k1`;
-- per-query: 1f14f091ed807b44
SELECT `k0`, `k1`, CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY `__unit` ORDER BY md5(CAST(concat(coalesce(concat(length(CAST('discreet' AS STRING)), ':', CAST('discreet' AS STRING)), '-'), coalesce(concat(length(CAST(`__unit` AS STRING)), ':', CAST(`__unit` AS STRING)), '-'), coalesce(concat(length(CAST(`k0` AS STRING)), ':', CAST(`k0` AS STRING)), '-'), coalesce(concat(length(CAST(`k1` AS STRING)), ':', CAST(`k1` AS STRING)), '-'), coalesce(concat(length(CAST(`s0` AS STRING)), ':', CAST(`s0` AS STRING)), '-')) AS BINARY)) NULLS LAST, `k0` NULLS LAST, `k1` NULLS LAST, `s0` NULLS LAST) AS `rank` FROM (SELECT `__rows`.`__unit` AS `__unit`, `__rows`.`insured` AS `k0`, `__rows`.`sex` AS `k1`, 1 AS `s0` FROM (SELECT `patients`.`__unit` AS `__unit`, `patients`.`insured` AS `insured`, `patients`.`sex` AS `sex` FROM (SELECT `__unit`, `sex`, `insured` FROM `__every_patients`) AS `patients`) AS `__rows`) AS `rows`) AS `ranked` WHERE `rank` <= 1) AS `bounded` GROUP BY `k0`, `k1`;

-- SELECT COUNT(*) FROM patients WHERE patient_id = 7
-- prepared: 3dee3969df82b608
-- per-query: 129c4bbcfcb6e374

-- SELECT name, beds FROM clinics ORDER BY beds DESC
-- prepared: 
-- per-query: 

-- SELECT SQRT(AVG(cost)) AS r, PI() AS p, COUNT(*) + 0 AS n FROM visits
-- prepared: d454aecff900b5b3
-- per-query: de47ae84d84c4599

-- SELECT COUNT(*) FROM visits WHERE note ILIKE '%allerg%' OR note IS NULL
-- prepared: 3832759add3909fb
-- per-query: e813ab94b5a3af67

-- SELECT COUNT(DISTINCT diagnosis) AS kinds FROM visits
-- prepared: 544d175a3ed87eed
-- per-query: b08d6f597794852a

-- SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.cost > 400)
-- prepared: 556aa113161219e3
-- per-query: 4e280a119773089f

-- SELECT AVG(gap) FROM (SELECT patient_id, date_diff('day', LAG(day) OVER (PARTITION BY patient_id ORDER BY day), day) AS gap FROM visits) AS g WHERE gap BETWEEN 0 AND 365
-- prepared: cdf51da743f9316d
-- per-query: cdf51da743f9316d

-- SELECT CASE WHEN 2024 - birth_year >= 65 THEN 'old' ELSE 'young' END AS age_group, COUNT(*) FROM patients GROUP BY 1
-- prepared: a347022c8f0b59cd
-- per-query: 2c78a6391c2e310c

-- SELECT COUNT(*) FROM (SELECT patient_id, minutes FROM visits UNION ALL SELECT patient_id, 0 FROM patients) AS u WHERE minutes > 30
-- prepared: 8c7528abf5f6cb08
SELECT CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT `__rows`.`__unit` AS `__unit`, 1 AS `s0` FROM (SELECT `u`.`__unit` AS `__unit` FROM (SELECT `__unit`, `minutes` AS `minutes` FROM (SELECT `visits`.`__unit` AS `__unit`, `visits`.`minutes` AS `minutes` FROM (SELECT `__unit`, `minutes` FROM `__kept_visits`) AS `visits`) AS `__part` UNION ALL SELECT `__unit`, `0` AS `minutes` FROM (SELECT `patients`.`__unit` AS `__unit`, 0 AS `0` FROM (SELECT `__unit` FROM `__kept_patients`) AS `patients`) AS `__part`) AS `u` WHERE (`u`.`minutes` > 30)) AS `__rows`) AS `bounded`;
-- per-query: 8f28eb3e03b72b32
SELECT CAST(coalesce(sum(CAST(1 * `rows` AS DECIMAL(20, 0))), 0) AS DECIMAL(38, 0)) AS `s0` FROM (SELECT least(count(*), 13) AS `rows` FROM (SELECT `u`.`__unit` AS `__unit` FROM (SELECT `__unit`, `minutes` AS `minutes` FROM (SELECT `visits`.`__unit` AS `__unit`, `visits`.`minutes` AS `minutes` FROM (SELECT `__unit`, `minutes` FROM `__every_visits`) AS `visits`) AS `__part` UNION ALL SELECT `__unit`, `0` AS `minutes` FROM (SELECT `patients`.`__unit` AS `__unit`, 0 AS `0` FROM (SELECT `__unit` FROM `__every_patients`) AS `patients`) AS `__part`) AS `u` WHERE (`u`.`minutes` > 30)) AS `all` GROUP BY `__unit`) AS `bounded`;

-- SELECT COUNT(*) FROM visits WHERE 1 / (minutes - 30) > 0 OR CAST(diagnosis AS INTEGER) = 3
-- prepared: f1a9023b519d35da
-- per-query: 3bb3daf101152847

-- SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)
-- prepared: aa1ed22ede501ee7 6d0102cfe3752214
-- per-query: 0b3f249a158023c6 1235d4d4b550276f

-- SELECT drug, COUNT(*) AS n FROM prescriptions pr JOIN visits v ON pr.visit_id = v.visit_id JOIN patients p ON p.patient_id = v.patient_id WHERE p.sex = 'f' GROUP BY drug
-- prepared: 04ccb5d34b7c9d93
-- per-query: 04ccb5d34b7c9d93

-- SELECT count(*) FROM VISITS
-- prepared: eec6a4116db75550
-- per-query: 06d9b0ef9d4363ab

-- SELECT COUNT(*) FROM "Visits" AS "v" WHERE "v"."COST" > 3
-- prepared: 3653cd8af549c8d9
-- per-query: 15f276c2ccd1ec00

-- SELECT COUNT(*) AS "select", AVG(cost) AS "größe ☃", SUM(minutes) AS "a""b" FROM visits
-- prepared: d92a41f4e1edb644
-- per-query: 1653f244cb0b5d17

-- SELECT COUNT(*) AS a0, AVG(cost) AS a0, COUNT(*) FROM visits
-- prepared: d454aecff900b5b3
-- per-query: de47ae84d84c4599

-- SELECT COUNT(*) AS "__spread", AVG(cost) AS "__spread_2" FROM visits
-- prepared: d454aecff900b5b3
-- per-query: de47ae84d84c4599

-- SELECT SUM("__unit") FROM (SELECT patient_id, minutes AS "__unit" FROM visits)
-- prepared: 1897ace010af88e1
SELECT CAST(coalesce(sum(`s0`), 0) AS DECIMAL(38, 0)) AS `s0` FROM (SELECT `__rows`.`__unit` AS `__unit`, CASE WHEN `__rows`.`___unit` < 0 THEN 0 WHEN `__rows`.`___unit` > 240 THEN 240 ELSE `__rows`.`___unit` END AS `s0` FROM (SELECT `__query_1`.`__unit` AS `__unit`, `__query_1`.`___unit` AS `___unit` FROM (SELECT `visits`.`__unit` AS `__unit`, `visits`.`minutes` AS `___unit` FROM (SELECT `__unit`, `minutes` FROM `__kept_visits`) AS `visits`) AS `__query_1`) AS `__rows`) AS `bounded`;
-- per-query: b3fc6ad6435274de
SELECT CAST(coalesce(sum(`s0`), 0) AS DECIMAL(38, 0)) AS `s0` FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY `__unit` ORDER BY md5(CAST(concat(coalesce(concat(length(CAST('discreet' AS STRING)), ':', CAST('discreet' AS STRING)), '-'), coalesce(concat(length(CAST(`__unit` AS STRING)), ':', CAST(`__unit` AS STRING)), '-'), coalesce(concat(length(CAST(`s0` AS STRING)), ':', CAST(`s0` AS STRING)), '-')) AS BINARY)) NULLS LAST, `s0` NULLS LAST) AS `rank` FROM (SELECT `__rows`.`__unit` AS `__unit`, coalesce(CASE WHEN `__rows`.`___unit` < 0 THEN 0 WHEN `__rows`.`___unit` > 240 THEN 240 ELSE `__rows`.`___unit` END, 0) AS `s0` FROM (SELECT `__query_1`.`__unit` AS `__unit`, `__query_1`.`___unit` AS `___unit` FROM (SELECT `visits`.`__unit` AS `__unit`, `visits`.`minutes` AS `___unit` FROM (SELECT `__unit`, `minutes` FROM `__every_visits`) AS `visits`) AS `__query_1`) AS `__rows`) AS `rows`) AS `ranked` WHERE `rank` <= 12) AS `bounded`;

-- SELECT k0, SUM(s0) FROM (SELECT minutes AS s0, cost AS "rank", diagnosis AS k0 FROM visits) AS "rows" GROUP BY k0
-- prepared: 30ba64dec8edb940
-- per-query: 35a70ebb6901be15

-- SELECT p.sex, COUNT(*) FROM patients p GROUP BY sex
-- prepared: 2f97240fd593ba67
-- per-query: 23ca719b904a1a6e

-- FROM visits SELECT COUNT(*)
-- prepared: 4abc9d6b9c37b925
-- per-query: 7185bf654b661804

-- SELECT sex, region, COUNT(*) FROM patients GROUP BY ALL ORDER BY ALL
-- prepared: e4caeca1cdd872b4
-- per-query: f27a3b8411305c4b

-- SELECT sex AS s, COUNT(*) FROM patients GROUP BY s
-- prepared: b20df540ea6aba7a
-- per-query: 9f3f0c325427b254

-- SELECT sex, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY 2 DESC
-- prepared: b20df540ea6aba7a
-- per-query: 9f3f0c325427b254

-- SELECT sex, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY n + 1 DESC NULLS LAST LIMIT 1 OFFSET 1
-- prepared: b20df540ea6aba7a
-- per-query: 9f3f0c325427b254

-- SELECT sex, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY AVG(income)
-- prepared: 731904f3969a7be1
-- per-query: 72a804095b52f57a

-- SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex HAVING n > 10
-- prepared: b20df540ea6aba7a
SELECT `k0`, CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT `__rows`.`__unit` AS `__unit`, `__rows`.`sex` AS `k0`, 1 AS `s0` FROM (SELECT `patients`.`__unit` AS `__unit`, `patients`.`sex` AS `sex` FROM (SELECT `__unit`, `sex` FROM `__kept_patients`) AS `patients`) AS `__rows`) AS `bounded` GROUP BY `k0`;
-- per-query: 9f3f0c325427b254
SELECT `k0`, CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY `__unit` ORDER BY md5(CAST(concat(coalesce(concat(length(CAST('discreet' AS STRING)), ':', CAST('discreet' AS STRING)), '-'), coalesce(concat(length(CAST(`__unit` AS STRING)), ':', CAST(`__unit` AS STRING)), '-'), coalesce(concat(length(CAST(`k0` AS STRING)), ':', CAST(`k0` AS STRING)), '-'), coalesce(concat(length(CAST(`s0` AS STRING)), ':', CAST(`s0` AS STRING)), '-')) AS BINARY)) NULLS LAST, `k0` NULLS LAST, `s0` NULLS LAST) AS `rank` FROM (SELECT `__rows`.`__unit` AS `__unit`, `__rows`.`sex` AS `k0`, 1 AS `s0` FROM (SELECT `patients`.`__unit` AS `__unit`, `patients`.`sex` AS `sex` FROM (SELECT `__unit`, `sex` FROM `__every_patients`) AS `patients`) AS `__rows`) AS `rows`) AS `ranked` WHERE `rank` <= 1) AS `bounded` GROUP BY `k0`;

-- SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex, sex HAVING sex = 'f' AND AVG(income) > 0
-- prepared: 731904f3969a7be1
-- per-query: 72a804095b52f57a

-- SELECT UPPER(sex), COUNT(*) FROM patients GROUP BY sex
-- prepared: b20df540ea6aba7a
-- per-query: 9f3f0c325427b254

-- SELECT sex || '!', COUNT(*) FROM patients GROUP BY sex || '!'
-- prepared: 456a74ef653ee500
-- per-query: d69b07595401ff22

-- SELECT DISTINCT diagnosis FROM visits
-- prepared: b0ea6789a33d057b
-- per-query: 876b82a1f86ed3b3

-- SELECT DISTINCT COUNT(*) FROM visits
-- prepared: 4abc9d6b9c37b925
-- per-query: 7185bf654b661804

-- SELECT COUNT(*) FROM patients HAVING COUNT(*) > 1000000
-- prepared: 2b3ea4eb756333ef
-- per-query: 25b7df27fb986ff4

-- SELECT COUNT(*) FROM visits LIMIT 0
-- prepared: 4abc9d6b9c37b925
-- per-query: 7185bf654b661804

-- SELECT minutes // 60 AS hours, COUNT(*) FROM visits GROUP BY hours
-- prepared: 91defdd1957ebc8d
-- per-query: e5e324a27ac392da

-- SELECT year(day), month(day), COUNT(*) FROM visits GROUP BY ALL
-- prepared: 0b5eeacf449c9cd6
SELECT `k0`, `k1`, CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT `__rows`.`__unit` AS `__unit`, try_cast(year(CAST(`__rows`.`day` AS TIMESTAMP_NTZ)) AS BIGINT) AS `k0`, try_cast(month(CAST(`__rows`.`day` AS TIMESTAMP_NTZ)) AS BIGINT) AS `k1`, 1 AS `s0` FROM (SELECT `visits`.`__unit` AS `__unit`, `visits`.`day` AS `day` FROM (SELECT `__unit`, `day` FROM `__kept_visits`) AS `visits`) AS `__rows`) AS `bounded` GROUP BY `k0`, `k1`;
-- per-query: 9357508de5271daa
SELECT `k0`, `k1`, CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY `__unit` ORDER BY md5(CAST(concat(coalesce(concat(length(CAST('discreet' AS STRING)), ':', CAST('discreet' AS STRING)), '-'), coalesce(concat(length(CAST(`__unit` AS STRING)), ':', CAST(`__unit` AS STRING)), '-'), coalesce(concat(length(CAST(`k0` AS STRING)), ':', CAST(`k0` AS STRING)), '-'), coalesce(concat(length(CAST(`k1` AS STRING)), ':', CAST(`k1` AS STRING)), '-'), coalesce(concat(length(CAST(`s0` AS STRING)), ':', CAST(`s0` AS STRING)), '-')) AS BINARY)) NULLS LAST, `k0` NULLS LAST, `k1` NULLS LAST, `s0` NULLS LAST) AS `rank` FROM (SELECT `__rows`.`__unit` AS `__unit`, try_cast(year(CAST(`__rows`.`day` AS TIMESTAMP_NTZ)) AS BIGINT) AS `k0`, try_cast(month(CAST(`__rows`.`day` AS TIMESTAMP_NTZ)) AS BIGINT) AS `k1`, 1 AS `s0` FROM (SELECT `visits`.`__unit` AS `__unit`, `visits`.`day` AS `day` FROM (SELECT `__unit`, `day` FROM `__every_visits`) AS `visits`) AS `__rows`) AS `rows`) AS `ranked` WHERE `rank` <= 12) AS `bounded` GROUP BY `k0`, `k1`;

-- SELECT note IS NULL AS without, COUNT(*) FROM visits GROUP BY without
-- prepared: 89e450c4055cbe5f
-- per-query: 5a9f98ff9b767521

-- SELECT visit_id, COUNT(*) FROM visits GROUP BY visit_id
-- prepared: cfc95c5bf9723439
-- per-query: 466e32d12813b613

-- SELECT cost > (SELECT AVG(cost) FROM visits) AS dear, COUNT(*) FROM visits GROUP BY dear
-- prepared: aa1ed22ede501ee7 2f0805b6b4857412
-- per-query: 0b3f249a158023c6 8f7b9317b0971a02

-- WITH a AS (SELECT * FROM visits WHERE cost > 10), b AS (SELECT * FROM a WHERE minutes > 10) SELECT COUNT(*) FROM b
-- prepared: 1d8d1ecb3a171fe7
-- per-query: 05d139add6d2af8e

-- WITH a AS (SELECT AVG(cost) AS m FROM visits), b AS (SELECT m * 2 AS m FROM a) SELECT COUNT(*) FROM visits WHERE cost > (SELECT m FROM b)
-- prepared: aa1ed22ede501ee7 6d0102cfe3752214
-- per-query: 0b3f249a158023c6 1235d4d4b550276f

-- WITH a(x, y) AS (SELECT patient_id, cost FROM visits) SELECT SUM(y), COUNT(DISTINCT x) FROM a
-- prepared: 59c36ece175b0ea4 1c382e02cba1fc72
-- per-query: 714c97ec72b2b5a5 3ff0a4e269a4054a

-- SELECT SUM(t.b) FROM (SELECT patient_id, minutes FROM visits) AS t(a, b)
-- prepared: cabf0be4b538fbd3
-- per-query: c717e51690f0456a

-- SELECT t.a, t.b FROM (SELECT sex, COUNT(*) FROM patients GROUP BY sex) AS t(a, b)
-- prepared: b20df540ea6aba7a
-- per-query: 9f3f0c325427b254

-- WITH r AS (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) SELECT a.region, a.n - b.n AS zero FROM r a JOIN r b ON a.region = b.region
-- prepared: 229215f18a5bb487
SELECT `k0`, CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT `__rows`.`__unit` AS `__unit`, `__rows`.`region` AS `k0`, 1 AS `s0` FROM (SELECT `patients`.`__unit` AS `__unit`, `patients`.`region` AS `region` FROM (SELECT `__unit`, `region` FROM `__kept_patients`) AS `patients`) AS `__rows`) AS `bounded` GROUP BY `k0`;
-- per-query: 083e8d52b0fc003e
SELECT `k0`, CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY `__unit` ORDER BY md5(CAST(concat(coalesce(concat(length(CAST('discreet' AS STRING)), ':', CAST('discreet' AS STRING)), '-'), coalesce(concat(length(CAST(`__unit` AS STRING)), ':', CAST(`__unit` AS STRING)), '-'), coalesce(concat(length(CAST(`k0` AS STRING)), ':', CAST(`k0` AS STRING)), '-'), coalesce(concat(length(CAST(`s0` AS STRING)), ':', CAST(`s0` AS STRING)), '-')) AS BINARY)) NULLS LAST, `k0` NULLS LAST, `s0` NULLS LAST) AS `rank` FROM (SELECT `__rows`.`__unit` AS `__unit`, `__rows`.`region` AS `k0`, 1 AS `s0` FROM (SELECT `patients`.`__unit` AS `__unit`, `patients`.`region` AS `region` FROM (SELECT `__unit`, `region` FROM `__every_patients`) AS `patients`) AS `__rows`) AS `rows`) AS `ranked` WHERE `rank` <= 1) AS `bounded` GROUP BY `k0`;

-- WITH r AS (SELECT patient_id, cost FROM visits) SELECT COUNT(*) FROM r a JOIN r b ON a.patient_id = b.patient_id
-- prepared: 9a8df753696591e5
-- per-query: f19034a5b1c49926

-- WITH clinics AS (SELECT * FROM clinics WHERE beds > 20) SELECT COUNT(*) FROM visits WHERE clinic_id IN (SELECT clinic_id FROM clinics)
-- prepared: af2b194e7aa4b16f
-- per-query: 7f931996572fbdb7

-- SELECT COUNT(*), (SELECT COUNT(*) FROM patients) FROM visits
-- prepared: 4abc9d6b9c37b925 2b3ea4eb756333ef
-- per-query: 7185bf654b661804 25b7df27fb986ff4

-- SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING COUNT(*) > (SELECT COUNT(*) FROM visits) / 100
-- prepared: b20df540ea6aba7a 4abc9d6b9c37b925
-- per-query: 9f3f0c325427b254 7185bf654b661804

-- SELECT COUNT(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING SUM(cost) > (SELECT AVG(cost) FROM visits))
-- prepared: aa1ed22ede501ee7 6a11443bdd4cbe70
-- per-query: 0b3f249a158023c6 6a11443bdd4cbe70

-- SELECT AVG(n) FROM (SELECT patient_id, SUM(CASE WHEN cost > (SELECT AVG(cost) FROM visits) THEN 1 ELSE 0 END) AS n FROM visits GROUP BY patient_id)
-- prepared: aa1ed22ede501ee7 5f688b42b9070ecf
-- per-query: 0b3f249a158023c6 5f688b42b9070ecf

-- SELECT n, COUNT(*) FROM (SELECT COUNT(*) AS n FROM visits GROUP BY patient_id) GROUP BY n ORDER BY n
-- prepared: 9699f7087cc33fd7
-- per-query: 9699f7087cc33fd7

-- SELECT * EXCLUDE (n) FROM (SELECT region, COUNT(*) AS n, AVG(income) AS a FROM patients GROUP BY region)
-- prepared: f428a0331109ef44
-- per-query: 2abda880d100a8f5

-- SELECT COUNT(*) FROM (SELECT * EXCLUDE (note, patient_id) FROM visits)
-- prepared: 63192d07fcd76390
SELECT CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT `__rows`.`__unit` AS `__unit`, 1 AS `s0` FROM (SELECT `__query_1`.`__unit` AS `__unit` FROM (SELECT `visits`.`__unit` AS `__unit` FROM (SELECT `__unit` FROM `__kept_visits`) AS `visits`) AS `__query_1`) AS `__rows`) AS `bounded`;
-- per-query: 1422898b8c35ddbf
SELECT CAST(coalesce(sum(CAST(1 * `rows` AS DECIMAL(20, 0))), 0) AS DECIMAL(38, 0)) AS `s0` FROM (SELECT least(count(*), 12) AS `rows` FROM (SELECT `__query_1`.`__unit` AS `__unit` FROM (SELECT `visits`.`__unit` AS `__unit` FROM (SELECT `__unit` FROM `__every_visits`) AS `visits`) AS `__query_1`) AS `all` GROUP BY `__unit`) AS `bounded`;

-- SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, diagnosis FROM visits)
-- prepared: c8acbf836ee1f2be
-- per-query: c8acbf836ee1f2be

-- SELECT COUNT(*) FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM visits WHERE cost > 100)
-- prepared: 02f00eb705dee7ff
-- per-query: 5aa8adf53c7a1449

-- SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT * FROM visits v WHERE v.patient_id = p.patient_id AND EXISTS (SELECT 1 FROM prescriptions r WHERE r.visit_id = v.visit_id AND r.dose > 500))
-- prepared: d56e7a8c5a29b639
-- per-query: 450dd17a0317933f

-- SELECT COUNT(*) FROM visits WHERE clinic_id NOT IN (SELECT clinic_id FROM clinics WHERE beds > 20)
-- prepared: d4c9e87a8bb642df
-- per-query: b3092a18fc240eb4

-- ((SELECT COUNT(*) AS n FROM visits) UNION ALL (SELECT COUNT(*) FROM patients)) ORDER BY n LIMIT 1
-- prepared: 4abc9d6b9c37b925 2b3ea4eb756333ef
-- per-query: 7185bf654b661804 25b7df27fb986ff4

-- SELECT COUNT(*) AS n FROM patients, visits WHERE patients.patient_id = visits.patient_id
-- prepared: a6ef36bd917bd7e9
-- per-query: 004e0bf3cd32cf87

-- SELECT COUNT(DISTINCT patient_id) FROM patients p JOIN visits v USING (patient_id)
-- prepared: 0683191641590374
-- per-query: 0683191641590374

-- SELECT clinic_id, COUNT(*) FROM visits JOIN clinics USING (clinic_id) GROUP BY clinic_id
-- prepared: bf688ae847c828c8
-- per-query: 3ae27a04e77033b3

-- SELECT c.name, COUNT(*) FROM clinics c JOIN visits v ON v.clinic_id = c.clinic_id GROUP BY c.name
-- prepared: eaf116a2367c075f
SELECT `k0`, CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT `__rows`.`__unit` AS `__unit`, `__rows`.`name` AS `k0`, 1 AS `s0` FROM (SELECT `v`.`__unit` AS `__unit`, `c`.`name` AS `name` FROM (SELECT `__unit`, `clinic_id` FROM `__kept_visits`) AS `v` JOIN `clinics` AS `c` ON TRUE WHERE (`v`.`clinic_id` = `c`.`clinic_id`)) AS `__rows`) AS `bounded` GROUP BY `k0`;
-- per-query: 40f1dc490f4599fc
SELECT `k0`, CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY `__unit` ORDER BY md5(CAST(concat(coalesce(concat(length(CAST('discreet' AS STRING)), ':', CAST('discreet' AS STRING)), '-'), coalesce(concat(length(CAST(`__unit` AS STRING)), ':', CAST(`__unit` AS STRING)), '-'), coalesce(concat(length(CAST(`k0` AS STRING)), ':', CAST(`k0` AS STRING)), '-'), coalesce(concat(length(CAST(`s0` AS STRING)), ':', CAST(`s0` AS STRING)), '-')) AS BINARY)) NULLS LAST, `k0` NULLS LAST, `s0` NULLS LAST) AS `rank` FROM (SELECT `__rows`.`__unit` AS `__unit`, `__rows`.`name` AS `k0`, 1 AS `s0` FROM (SELECT `v`.`__unit` AS `__unit`, `c`.`name` AS `name` FROM (SELECT `__unit`, `clinic_id` FROM `__every_visits`) AS `v` JOIN `clinics` AS `c` ON TRUE WHERE (`v`.`clinic_id` = `c`.`clinic_id`)) AS `__rows`) AS `rows`) AS `ranked` WHERE `rank` <= 12) AS `bounded` GROUP BY `k0`;

-- SELECT c.name, COUNT(*) FROM visits v LEFT JOIN clinics c ON v.clinic_id = c.clinic_id GROUP BY c.name
-- prepared: 6ad967ff8dcc4115
-- per-query: 017bec09811788e8

-- SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient_id = b.patient_id AND a.day < b.day
-- prepared: ba6cdcd5c6d86c2f
-- per-query: ec10ba6cc8a00b89

-- SELECT p.region, c.region, COUNT(*) FROM patients p JOIN visits v USING (patient_id) JOIN clinics c USING (clinic_id) GROUP BY 1, 2
-- prepared: 754e77b61daafaf5
-- per-query: c198d6ff1abb7558

-- SELECT COUNT(*) FROM patients p LEFT JOIN visits v ON p.patient_id = v.patient_id WHERE v.visit_id IS NULL
-- prepared: 8d68c757f90e9cfb
-- per-query: 1d4b7dbdbf57c991

-- SELECT COUNT(*) FROM visits v JOIN (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) k ON k.patient_id = v.patient_id WHERE k.n > 3
-- prepared: 63f61fd2bd68835c
-- per-query: 63f61fd2bd68835c

-- SELECT c.name, r.n FROM clinics c LEFT JOIN (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) r USING (region)
-- prepared: 229215f18a5bb487
-- per-query: 083e8d52b0fc003e

-- SELECT sex, COUNT(*) FROM patients GROUP BY sex UNION ALL SELECT region, COUNT(*) FROM patients GROUP BY region
-- prepared: b20df540ea6aba7a 229215f18a5bb487
-- per-query: 9f3f0c325427b254 083e8d52b0fc003e

-- SELECT region FROM clinics INTERSECT SELECT region FROM (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) EXCEPT SELECT 'north'
-- prepared: 229215f18a5bb487
-- per-query: 083e8d52b0fc003e

-- SELECT t.x, r.n FROM (VALUES ('f', 1), ('m', 2)) AS t(x, y) JOIN (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) r ON r.sex = t.x
-- prepared: b20df540ea6aba7a
SELECT `k0`, CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT `__rows`.`__unit` AS `__unit`, `__rows`.`sex` AS `k0`, 1 AS `s0` FROM (SELECT `patients`.`__unit` AS `__unit`, `patients`.`sex` AS `sex` FROM (SELECT `__unit`, `sex` FROM `__kept_patients`) AS `patients`) AS `__rows`) AS `bounded` GROUP BY `k0`;
-- per-query: 9f3f0c325427b254
SELECT `k0`, CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY `__unit` ORDER BY md5(CAST(concat(coalesce(concat(length(CAST('discreet' AS STRING)), ':', CAST('discreet' AS STRING)), '-'), coalesce(concat(length(CAST(`__unit` AS STRING)), ':', CAST(`__unit` AS STRING)), '-'), coalesce(concat(length(CAST(`k0` AS STRING)), ':', CAST(`k0` AS STRING)), '-'), coalesce(concat(length(CAST(`s0` AS STRING)), ':', CAST(`s0` AS STRING)), '-')) AS BINARY)) NULLS LAST, `k0` NULLS LAST, `s0` NULLS LAST) AS `rank` FROM (SELECT `__rows`.`__unit` AS `__unit`, `__rows`.`sex` AS `k0`, 1 AS `s0` FROM (SELECT `patients`.`__unit` AS `__unit`, `patients`.`sex` AS `sex` FROM (SELECT `__unit`, `sex` FROM `__every_patients`) AS `patients`) AS `__rows`) AS `rows`) AS `ranked` WHERE `rank` <= 1) AS `bounded` GROUP BY `k0`;

-- SELECT COUNT(1), COUNT(NULL), COUNT('a'), COUNT(patient_id), COUNT(ALL cost) FROM visits
-- prepared: 31b6c00d7b77674a
-- per-query: 713a8b714e57d5d5

-- SELECT COUNT(DISTINCT patient_id) FILTER (WHERE cost > 100), AVG(cost) FILTER (WHERE minutes > 30) FROM visits
-- prepared: 2797bacae656a405 fa964f0d39e693bc
-- per-query: 06cfe36cb8b6ee31 47e25ea39635249d

-- SELECT SUM(DISTINCT minutes), COUNT(DISTINCT clinic_id), MIN(DISTINCT minutes) FROM visits
-- prepared: b989a4788d0fd956 cd5e738fef83bdbc d744f76b16858733
-- per-query: f5c05319a024d82e 5a2bc8e235f6e7d0 9914b6c350b4f7c9

-- SELECT quantile_cont(cost, 0.5), quantile_disc(cost, 0.5), quantile(cost, 0.5), approx_quantile(cost, 0.5) FROM visits
-- prepared: 5f837aa58c9c2971
-- per-query: 1d772fc25b20f175

-- SELECT MIN(day), MAX(day), MEDIAN(day) FROM visits
-- prepared: 38ee83ac54e6de23
-- per-query: b9754e7cb8c8668d

-- SELECT MODE(sex), COUNT_IF(insured), SUM(insured::INT), AVG(CASE WHEN insured THEN 1.0 ELSE 0 END) FROM patients
-- prepared: 1f99579cd7ecf071 b20df540ea6aba7a
-- per-query: e8a817cbda9f5238 9f3f0c325427b254

-- SELECT sex, SUM(COUNT(*)) OVER (), RANK() OVER (ORDER BY COUNT(*) DESC) FROM patients GROUP BY sex
-- prepared: b20df540ea6aba7a
-- per-query: 9f3f0c325427b254

-- SELECT sex, RANK() OVER w AS r FROM patients GROUP BY sex WINDOW w AS (ORDER BY COUNT(*))
-- prepared: b20df540ea6aba7a
-- per-query: 9f3f0c325427b254

-- SELECT region, sex, COUNT(*) AS n FROM patients GROUP BY region, sex QUALIFY ROW_NUMBER() OVER (PARTITION BY region ORDER BY n DESC) = 1
-- prepared: 80ac1b239f84a0fb
SELECT `k0`, `k1`, CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT `__rows`.`__unit` AS `__unit`, `__rows`.`region` AS `k0`, `__rows`.`sex` AS `k1`, 1 AS `s0` FROM (SELECT `patients`.`__unit` AS `__unit`, `patients`.`region` AS `region`, `patients`.`sex` AS `sex` FROM (SELECT `__unit`, `sex`, `region` FROM `__kept_patients`) AS `patients`) AS `__rows`) AS `bounded` GROUP BY `k0`, `k1`;
-- per-query: 30bfde836e227711
SELECT `k0`, `k1`, CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY `__unit` ORDER BY md5(CAST(concat(coalesce(concat(length(CAST('discreet' AS STRING)), ':', CAST('discreet' AS STRING)), '-'), coalesce(concat(length(CAST(`__unit` AS STRING)), ':', CAST(`__unit` AS STRING)), '-'), coalesce(concat(length(CAST(`k0` AS STRING)), ':', CAST(`k0` AS STRING)), '-'), coalesce(concat(length(CAST(`k1` AS STRING)), ':', CAST(`k1` AS STRING)), '-'), coalesce(concat(length(CAST(`s0` AS STRING)), ':', CAST(`s0` AS STRING)), '-')) AS BINARY)) NULLS LAST, `k0` NULLS LAST, `k1` NULLS LAST, `s0` NULLS LAST) AS `rank` FROM (SELECT `__rows`.`__unit` AS `__unit`, `__rows`.`region` AS `k0`, `__rows`.`sex` AS `k1`, 1 AS `s0` FROM (SELECT `patients`.`__unit` AS `__unit`, `patients`.`region` AS `region`, `patients`.`sex` AS `sex` FROM (SELECT `__unit`, `sex`, `region` FROM `__every_patients`) AS `patients`) AS `__rows`) AS `rows`) AS `ranked` WHERE `rank` <= 1) AS `bounded` GROUP BY `k0`, `k1`;

-- SELECT COUNT(*) FROM (SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day) = 1)
-- prepared: 6f974acc73df2b83
-- per-query: 6f974acc73df2b83

-- SELECT COUNT(*) AS n, n + 1 AS m, CASE WHEN COUNT(*) > 5 THEN COUNT(*) ELSE 0 END AS k FROM visits
-- prepared: 4abc9d6b9c37b925
-- per-query: 7185bf654b661804

-- SELECT COUNT(*) / 0, LN(COUNT(*) - 100000), COALESCE(AVG(income), 0), CAST(AVG(income) AS INT) FROM patients
-- prepared: 3e8f978012ed2741
-- per-query: e4336739c811a0b6

-- SELECT COUNT(*) FROM visits WHERE day + INTERVAL 3 DAY > DATE '2024-02-01' AND day - DATE '2024-02-01' > 3 AND day + 3 > '2024-02-01'
-- prepared: 64e79f52f8f419b8
-- per-query: e3860cd41e93d32b

-- SELECT COUNT(*) FROM visits WHERE minutes AND TRUE OR NULL
-- prepared: 9a55490c2e500a2f
-- per-query: 6ce0e2d668493c41

-- SELECT COUNT(*) FROM visits WHERE FALSE
-- prepared: 076fd335dcb97fe1
-- per-query: e66e30533aba3ae0

-- SELECT COUNT(*) FROM patients WHERE sex = $$f$$ OR sex = 'it''s' -- a comment
-- prepared: 96416fda613fdede
-- per-query: e6ac0a4e2e457e75

-- SELECT COUNT(*) /* a comment; */ FROM patients WHERE income BETWEEN 1e3 AND 2e5;
-- prepared: 90963f1607ff7df2
-- per-query: 5998292e6b54cb5a

-- SELECT COUNT(*) FROM visits WHERE cost IS DISTINCT FROM cost OR cost = 0.1 + 0.2
-- prepared: 6915b6fa4e3317f5
SELECT CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT `__rows`.`__unit` AS `__unit`, 1 AS `s0` FROM (SELECT `visits`.`__unit` AS `__unit` FROM (SELECT `__unit`, `cost` FROM `__kept_visits`) AS `visits` WHERE ((`visits`.`cost` IS DISTINCT FROM `visits`.`cost`) OR (`visits`.`cost` = 0.3e0))) AS `__rows`) AS `bounded`;
-- per-query: 9f344c0016fcd982
SELECT CAST(coalesce(sum(CAST(1 * `rows` AS DECIMAL(20, 0))), 0) AS DECIMAL(38, 0)) AS `s0` FROM (SELECT least(count(*), 12) AS `rows` FROM (SELECT `visits`.`__unit` AS `__unit` FROM (SELECT `__unit`, `cost` FROM `__every_visits`) AS `visits` WHERE ((`visits`.`cost` IS DISTINCT FROM `visits`.`cost`) OR (`visits`.`cost` = 0.3e0))) AS `all` GROUP BY `__unit`) AS `bounded`;

-- SELECT AVG(clamp(a, 0, 9)), SUM(clamp(b, 0, 9)), COUNT(*) FROM (SELECT patient_id, COUNT(*) AS a, COUNT(note) AS b, COUNT(DISTINCT diagnosis) AS c, AVG(cost) AS d FROM visits GROUP BY patient_id) WHERE c > 1 AND d < 100
-- prepared: 0b7671df201830dc
-- per-query: 0b7671df201830dc

-- SELECT SUM(clamp(a, 0, 9)), AVG(clamp(b, 0, 9)), MAX(clamp(c, 0, 9)), COUNT(*) FROM (SELECT patient_id, diagnosis, MIN(cost) AS a, MAX(minutes) AS b, MEDIAN(cost) AS c FROM visits GROUP BY patient_id, diagnosis)
-- prepared: f208c1627fb82288 ff41e0c635c42ed7
-- per-query: f208c1627fb82288 ff41e0c635c42ed7

-- SELECT COUNT(*) FROM (SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY patient_id, diagnosis ORDER BY day DESC) AS w FROM visits) WHERE w > 3
-- prepared: 1d33c135adead3fd
-- per-query: 1d33c135adead3fd

-- SELECT COUNT(*) FROM (SELECT patient_id, RANK() OVER (PARTITION BY patient_id, diagnosis ORDER BY day DESC) AS w FROM visits) WHERE w > 3
-- prepared: d22681a6812030c8
-- per-query: d22681a6812030c8

-- SELECT COUNT(*) FROM (SELECT patient_id, DENSE_RANK() OVER (PARTITION BY patient_id, diagnosis ORDER BY day DESC) AS w FROM visits) WHERE w > 3
-- prepared: 06a312167b58e090
-- per-query: 06a312167b58e090

-- SELECT COUNT(*) FROM (SELECT patient_id, LAG(minutes) OVER (PARTITION BY patient_id, diagnosis ORDER BY day DESC) AS w FROM visits) WHERE w > 3
-- prepared: f053d0e024f7606b
-- per-query: f053d0e024f7606b

-- SELECT COUNT(*) FROM (SELECT patient_id, LEAD(minutes, 2) OVER (PARTITION BY patient_id, diagnosis ORDER BY day DESC) AS w FROM visits) WHERE w > 3
-- prepared: 32f048c1b69c90e9
-- per-query: 32f048c1b69c90e9

-- SELECT COUNT(*) FROM (SELECT patient_id, FIRST_VALUE(minutes) OVER (PARTITION BY patient_id ORDER BY day NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS w FROM visits) WHERE w > 3
-- prepared: 0ebf3562b2434a8b
-- per-query: 0ebf3562b2434a8b

-- SELECT COUNT(*) FROM (SELECT patient_id, LAST_VALUE(minutes) OVER (PARTITION BY patient_id ORDER BY day NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS w FROM visits) WHERE w > 3
-- prepared: e891bb584c4ed42b
SELECT CAST(coalesce(sum(CAST(1 * `rows` AS DECIMAL(20, 0))), 0) AS DECIMAL(38, 0)) AS `s0` FROM (SELECT least(count(*), 12) AS `rows` FROM (SELECT `__query_1`.`__unit` AS `__unit` FROM (SELECT `visits`.`__unit` AS `__unit`, last_value(`visits`.`minutes`) OVER (PARTITION BY `visits`.`__unit` ORDER BY `visits`.`day` NULLS FIRST, `visits`.`day` NULLS LAST, `visits`.`minutes` NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS `w` FROM (SELECT `__unit`, `day`, `minutes` FROM `__every_visits`) AS `visits`) AS `__query_1` WHERE (`__query_1`.`w` > 3)) AS `all` GROUP BY `__unit`) AS `bounded`;
-- per-query: e891bb584c4ed42b
SELECT CAST(coalesce(sum(CAST(1 * `rows` AS DECIMAL(20, 0))), 0) AS DECIMAL(38, 0)) AS `s0` FROM (SELECT least(count(*), 12) AS `rows` FROM (SELECT `__query_1`.`__unit` AS `__unit` FROM (SELECT `visits`.`__unit` AS `__unit`, last_value(`visits`.`minutes`) OVER (PARTITION BY `visits`.`__unit` ORDER BY `visits`.`day` NULLS FIRST, `visits`.`day` NULLS LAST, `visits`.`minutes` NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS `w` FROM (SELECT `__unit`, `day`, `minutes` FROM `__every_visits`) AS `visits`) AS `__query_1` WHERE (`__query_1`.`w` > 3)) AS `all` GROUP BY `__unit`) AS `bounded`;

-- SELECT COUNT(*) FROM (SELECT patient_id, COUNT(note) OVER (PARTITION BY patient_id ORDER BY day NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS w FROM visits) WHERE w > 3
-- prepared: 2d4830383a1b5c23
-- per-query: 2d4830383a1b5c23

-- SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) OVER (PARTITION BY patient_id ORDER BY day NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS w FROM visits) WHERE w > 3
-- prepared: 56fa0777ea8cc871
-- per-query: 56fa0777ea8cc871

-- SELECT COUNT(*) FROM (SELECT patient_id, SUM(minutes) OVER (PARTITION BY patient_id) AS w FROM visits) WHERE w > 3
-- prepared: 0fcf57f426f717a2
-- per-query: 0fcf57f426f717a2

-- SELECT COUNT(*) FROM (SELECT patient_id, MIN(cost) OVER (PARTITION BY patient_id) AS w FROM visits) WHERE w > 3
-- prepared: d6415288d6a6107d
-- per-query: d6415288d6a6107d

-- SELECT COUNT(*) FROM (SELECT patient_id, MAX(cost) OVER (PARTITION BY patient_id) AS w FROM visits) WHERE w > 3
-- prepared: 23840a297ea88142
-- per-query: 23840a297ea88142

-- SELECT COUNT(*) FROM kinds WHERE d > DATE '2024-02-29'
-- prepared: f57c61108ac9e427
-- per-query: f57c61108ac9e427

-- SELECT COUNT(*) FROM kinds WHERE t < TIMESTAMP '2024-03-01 12:30:00'
-- prepared: 35205be46675d4e6
-- per-query: 35205be46675d4e6

-- SELECT COUNT(*), AVG(clamp(y, 0, 2.5)) FROM kinds WHERE z >= m
-- prepared: 3a9bfb7a4838b606
-- per-query: 3a9bfb7a4838b606

-- SELECT COUNT(*) FROM kinds WHERE d + INTERVAL 1 MONTH > DATE '2024-02-29' OR t IS NULL
-- prepared: 8d7c553c82251092
SELECT CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT `__rows`.`__unit` AS `__unit`, 1 AS `s0` FROM (SELECT `kinds`.`__unit` AS `__unit` FROM (SELECT `kinds`.__row_id AS `__unit`, `kinds`.`d`, `kinds`.`t` FROM `kinds`) AS `kinds` WHERE ((CASE WHEN CAST((CAST(`kinds`.`d` AS TIMESTAMP_NTZ) + make_ym_interval(0, 1)) AS TIMESTAMP_NTZ) BETWEEN TIMESTAMP_NTZ'0001-01-01 00:00:00' AND TIMESTAMP_NTZ'9999-12-31 23:59:59.999999' THEN CAST((CAST(`kinds`.`d` AS TIMESTAMP_NTZ) + make_ym_interval(0, 1)) AS TIMESTAMP_NTZ) END > CAST('2024-02-29 00:00:00' AS TIMESTAMP_NTZ)) OR (`kinds`.`t` IS NULL))) AS `__rows`) AS `bounded`;
-- per-query: 8d7c553c82251092
SELECT CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT `__rows`.`__unit` AS `__unit`, 1 AS `s0` FROM (SELECT `kinds`.`__unit` AS `__unit` FROM (SELECT `kinds`.__row_id AS `__unit`, `kinds`.`d`, `kinds`.`t` FROM `kinds`) AS `kinds` WHERE ((CASE WHEN CAST((CAST(`kinds`.`d` AS TIMESTAMP_NTZ) + make_ym_interval(0, 1)) AS TIMESTAMP_NTZ) BETWEEN TIMESTAMP_NTZ'0001-01-01 00:00:00' AND TIMESTAMP_NTZ'9999-12-31 23:59:59.999999' THEN CAST((CAST(`kinds`.`d` AS TIMESTAMP_NTZ) + make_ym_interval(0, 1)) AS TIMESTAMP_NTZ) END > CAST('2024-02-29 00:00:00' AS TIMESTAMP_NTZ)) OR (`kinds`.`t` IS NULL))) AS `__rows`) AS `bounded`;

-- SELECT b, COUNT(*) FROM kinds GROUP BY b
-- prepared: 5fc69d97d4edc7ac
-- per-query: 5fc69d97d4edc7ac

-- SELECT s, AVG(x), SUM(i) FROM kinds GROUP BY s
-- prepared: 51c9a42878ff0c08
-- per-query: 51c9a42878ff0c08

-- SELECT f, m, COUNT(*) FROM kinds GROUP BY f, m
-- prepared: 334ea57b8bfffe30
-- per-query: 334ea57b8bfffe30

-- SELECT d, COUNT(*) FROM kinds GROUP BY d
-- prepared: ce16178b9fbfe9c9
-- per-query: ce16178b9fbfe9c9

-- SELECT w, COUNT(*) FROM kinds GROUP BY w
-- prepared: cd5c185904473c52
-- per-query: cd5c185904473c52

-- SELECT SUM(x * 1.5 + 2) FROM kinds WHERE x <> 0.1 AND NOT b AND s IN ('a', 'ü', NULL)
-- prepared: dcb10d8be91bacf1
-- per-query: dcb10d8be91bacf1

-- SELECT MEDIAN(x), MODE(s), MIN(i), MAX(i), COUNT(DISTINCT s), SUM(DISTINCT i) FROM kinds
-- prepared: cad5f37e33c94d93 a3df49c7d295bcc6 ee3b1c093816365e 999ceca0d020db02 467cf3e55f4c4c05
-- per-query: cad5f37e33c94d93 a3df49c7d295bcc6 ee3b1c093816365e 999ceca0d020db02 467cf3e55f4c4c05

-- SELECT VAR_SAMP(x), VAR_POP(x), STDDEV_SAMP(i), STDDEV_POP(i) FROM kinds
-- prepared: 3b0e052e90b017c3
-- per-query: 3b0e052e90b017c3

-- SELECT QUANTILE_CONT(x, 0.25), QUANTILE_DISC(i, 0.75), COUNT(o), COUNT(x) FROM kinds
-- prepared: bababa9cc3dfbd47 a3df49c7d295bcc6 999ceca0d020db02
SELECT CAST(coalesce(sum(CAST(`s0` AS DECIMAL(20, 0))), 0) AS DECIMAL(38, 0)) AS `s0`, CAST(coalesce(sum(CAST(`s1` AS DECIMAL(20, 0))), 0) AS DECIMAL(38, 0)) AS `s1` FROM (SELECT `__rows`.`__unit` AS `__unit`, coalesce(CASE WHEN (try_cast(`__rows`.`o` AS STRING) IS NULL) THEN 0 ELSE 1 END, 0) AS `s0`, coalesce(CASE WHEN (`__rows`.`x` IS NULL) THEN 0 ELSE 1 END, 0) AS `s1` FROM (SELECT `kinds`.`__unit` AS `__unit`, `kinds`.`x` AS `x`, try_cast(`kinds`.`o` AS STRING) AS `o` FROM (SELECT `kinds`.__row_id AS `__unit`, `kinds`.`x`, try_cast(`kinds`.`o` AS STRING) AS `o` FROM `kinds`) AS `kinds`) AS `__rows`) AS `bounded`;
SELECT `cell`, count(*) AS `n` FROM (SELECT `__unit`, `cell` FROM (SELECT `__rows`.`__unit` AS `__unit`, try_cast(CASE WHEN CAST(CASE WHEN rint(`__rows`.`__step1`) >= -9223372036854775808e0 AND rint(`__rows`.`__step1`) < 9223372036854775808e0 THEN rint(`__rows`.`__step1`) END AS BIGINT) BETWEEN 0 AND 16383 THEN CAST(CASE WHEN rint(`__rows`.`__step1`) >= -9223372036854775808e0 AND rint(`__rows`.`__step1`) < 9223372036854775808e0 THEN rint(`__rows`.`__step1`) END AS BIGINT) END AS BIGINT) AS `cell` FROM (SELECT `__rows`.*, CASE WHEN abs(`__rows`.`__step0`) <= 1.7976931348623157e308 THEN `__rows`.`__step0` END AS `__step1` FROM (SELECT `__rows`.*, (try_cast((CAST(CASE WHEN `__rows`.`i` < (-5) THEN (-5) WHEN `__rows`.`i` > 1000000 THEN 1000000 ELSE `__rows`.`i` END AS BIGINT) - CAST((-5) AS BIGINT)) AS DOUBLE) * 0.01638291808540957e0) AS `__step0` FROM (SELECT `kinds`.`__unit` AS `__unit`, `kinds`.`i` AS `i` FROM (SELECT `kinds`.__row_id AS `__unit`, `kinds`.`i` FROM `kinds`) AS `kinds`) AS `__rows`) AS `__rows`) AS `__rows`) AS `rows` WHERE `cell` IS NOT NULL) AS `bounded` GROUP BY `cell`;
SELECT `cell`, count(*) AS `n` FROM (SELECT `__unit`, `cell` FROM (SELECT `__rows`.`__unit` AS `__unit`, try_cast(CASE WHEN CAST(CASE WHEN rint(`__rows`.`__step1`) >= -9223372036854775808e0 AND rint(`__rows`.`__step1`) < 9223372036854775808e0 THEN rint(`__rows`.`__step1`) END AS BIGINT) BETWEEN 0 AND 150 THEN CAST(CASE WHEN rint(`__rows`.`__step1`) >= -9223372036854775808e0 AND rint(`__rows`.`__step1`) < 9223372036854775808e0 THEN rint(`__rows`.`__step1`) END AS BIGINT) END AS BIGINT) AS `cell` FROM (SELECT `__rows`.*, CASE WHEN abs(`__rows`.`__step0`) <= 1.7976931348623157e308 THEN `__rows`.`__step0` END AS `__step1` FROM (SELECT `__rows`.*, (CASE WHEN `__rows`.`x` < 0.0e0 THEN 0.0e0 WHEN `__rows`.`x` > 1.5e0 THEN 1.5e0 ELSE `__rows`.`x` END * 100.0e0) AS `__step0` FROM (SELECT `kinds`.`__unit` AS `__unit`, `kinds`.`x` AS `x` FROM (SELECT `kinds`.__row_id AS `__unit`, `kinds`.`x` FROM `kinds`) AS `kinds`) AS `__rows`) AS `__rows`) AS `__rows`) AS `rows` WHERE `cell` IS NOT NULL) AS `bounded` GROUP BY `cell`;
-- per-query: bababa9cc3dfbd47 a3df49c7d295bcc6 999ceca0d020db02
SELECT CAST(coalesce(sum(CAST(`s0` AS DECIMAL(20, 0))), 0) AS DECIMAL(38, 0)) AS `s0`, CAST(coalesce(sum(CAST(`s1` AS DECIMAL(20, 0))), 0) AS DECIMAL(38, 0)) AS `s1` FROM (SELECT `__rows`.`__unit` AS `__unit`, coalesce(CASE WHEN (try_cast(`__rows`.`o` AS STRING) IS NULL) THEN 0 ELSE 1 END, 0) AS `s0`, coalesce(CASE WHEN (`__rows`.`x` IS NULL) THEN 0 ELSE 1 END, 0) AS `s1` FROM (SELECT `kinds`.`__unit` AS `__unit`, `kinds`.`x` AS `x`, try_cast(`kinds`.`o` AS STRING) AS `o` FROM (SELECT `kinds`.__row_id AS `__unit`, `kinds`.`x`, try_cast(`kinds`.`o` AS STRING) AS `o` FROM `kinds`) AS `kinds`) AS `__rows`) AS `bounded`;
SELECT `cell`, count(*) AS `n` FROM (SELECT `__unit`, `cell` FROM (SELECT `__rows`.`__unit` AS `__unit`, try_cast(CASE WHEN CAST(CASE WHEN rint(`__rows`.`__step1`) >= -9223372036854775808e0 AND rint(`__rows`.`__step1`) < 9223372036854775808e0 THEN rint(`__rows`.`__step1`) END AS BIGINT) BETWEEN 0 AND 16383 THEN CAST(CASE WHEN rint(`__rows`.`__step1`) >= -9223372036854775808e0 AND rint(`__rows`.`__step1`) < 9223372036854775808e0 THEN rint(`__rows`.`__step1`) END AS BIGINT) END AS BIGINT) AS `cell` FROM (SELECT `__rows`.*, CASE WHEN abs(`__rows`.`__step0`) <= 1.7976931348623157e308 THEN `__rows`.`__step0` END AS `__step1` FROM (SELECT `__rows`.*, (try_cast((CAST(CASE WHEN `__rows`.`i` < (-5) THEN (-5) WHEN `__rows`.`i` > 1000000 THEN 1000000 ELSE `__rows`.`i` END AS BIGINT) - CAST((-5) AS BIGINT)) AS DOUBLE) * 0.01638291808540957e0) AS `__step0` FROM (SELECT `kinds`.`__unit` AS `__unit`, `kinds`.`i` AS `i` FROM (SELECT `kinds`.__row_id AS `__unit`, `kinds`.`i` FROM `kinds`) AS `kinds`) AS `__rows`) AS `__rows`) AS `__rows`) AS `rows` WHERE `cell` IS NOT NULL) AS `bounded` GROUP BY `cell`;
SELECT `cell`, count(*) AS `n` FROM (SELECT `__unit`, `cell` FROM (SELECT `__rows`.`__unit` AS `__unit`, try_cast(CASE WHEN CAST(CASE WHEN rint(`__rows`.`__step1`) >= -9223372036854775808e0 AND rint(`__rows`.`__step1`) < 9223372036854775808e0 THEN rint(`__rows`.`__step1`) END AS BIGINT) BETWEEN 0 AND 150 THEN CAST(CASE WHEN rint(`__rows`.`__step1`) >= -9223372036854775808e0 AND rint(`__rows`.`__step1`) < 9223372036854775808e0 THEN rint(`__rows`.`__step1`) END AS BIGINT) END AS BIGINT) AS `cell` FROM (SELECT `__rows`.*, CASE WHEN abs(`__rows`.`__step0`) <= 1.7976931348623157e308 THEN `__rows`.`__step0` END AS `__step1` FROM (SELECT `__rows`.*, (CASE WHEN `__rows`.`x` < 0.0e0 THEN 0.0e0 WHEN `__rows`.`x` > 1.5e0 THEN 1.5e0 ELSE `__rows`.`x` END * 100.0e0) AS `__step0` FROM (SELECT `kinds`.`__unit` AS `__unit`, `kinds`.`x` AS `x` FROM (SELECT `kinds`.__row_id AS `__unit`, `kinds`.`x` FROM `kinds`) AS `kinds`) AS `__rows`) AS `__rows`) AS `__rows`) AS `rows` WHERE `cell` IS NOT NULL) AS `bounded` GROUP BY `cell`;

-- SELECT COUNT(*) FROM lines
-- prepared: 7060ae5387ddb601
-- per-query: 8760a197dc39af8f

-- SELECT COUNT(*) FROM lines JOIN orders USING (number) WHERE orders.paid
-- prepared: 61f3d8e199712a5a
-- per-query: 61f3d8e199712a5a

-- bounds of kinds.i
-- prepared: 2cba75d424b51620
-- per-query: 2cba75d424b51620

-- bounds of kinds.y
-- prepared: 1fd11d66d66a7a7f
-- per-query: 1fd11d66d66a7a7f

-- bounds of kinds.d
-- prepared: f83841a815de73c9
-- per-query: f83841a815de73c9

-- bounds of kinds.t
-- prepared: d352969a7ba35a4e
-- per-query: d352969a7ba35a4e

-- bounds of kinds.z
-- prepared: dacad25912f26c31
-- per-query: dacad25912f26c31

-- bounds of lines.amount
-- prepared: fbbdfb54bfa43e98
-- per-query: b6f2bfda42c8c0fe

-- bounds of orders.number
-- prepared: fd7d85822f7a3639
SELECT `k0`, CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT `rows`.`__unit` AS `__unit`, try_cast(`rows`.`bin` AS BIGINT) AS `k0`, 1 AS `s0` FROM (SELECT `t`.`__unit` AS `__unit`, CASE WHEN (`t`.`number` < 0) THEN CASE WHEN (`t`.`number` < (-2147483648)) THEN CASE WHEN (`t`.`number` < (-140737488355328)) THEN CASE WHEN (`t`.`number` < (-36028797018963968)) THEN CASE WHEN (`t`.`number` < (-576460752303423488)) THEN CASE WHEN (`t`.`number` < (-2305843009213693952)) THEN CASE WHEN (`t`.`number` < (-4611686018427387904)) THEN 0 ELSE 1 END ELSE CASE WHEN (`t`.`number` < (-1152921504606846976)) THEN 2 ELSE 3 END END ELSE CASE WHEN (`t`.`number` < (-144115188075855872)) THEN CASE WHEN (`t`.`number` < (-288230376151711744)) THEN 4 ELSE 5 END ELSE CASE WHEN (`t`.`number` < (-72057594037927936)) THEN 6 ELSE 7 END END END ELSE CASE WHEN (`t`.`number` < (-2251799813685248)) THEN CASE WHEN (`t`.`number` < (-9007199254740992)) THEN CASE WHEN (`t`.`number` < (-18014398509481984)) THEN 8 ELSE 9 END ELSE CASE WHEN (`t`.`number` < (-4503599627370496)) THEN 10 ELSE 11 END END ELSE CASE WHEN (`t`.`number` < (-562949953421312)) THEN CASE WHEN (`t`.`number` < (-1125899906842624)) THEN 12 ELSE 13 END ELSE CASE WHEN (`t`.`number` < (-281474976710656)) THEN 14 ELSE 15 END END END END ELSE CASE WHEN (`t`.`number` < (-549755813888)) THEN CASE WHEN (`t`.`number` < (-8796093022208)) THEN CASE WHEN (`t`.`number` < (-35184372088832)) THEN CASE WHEN (`t`.`number` < (-70368744177664)) THEN 16 ELSE 17 END ELSE CASE WHEN (`t`.`number` < (-17592186044416)) THEN 18 ELSE 19 END END ELSE CASE WHEN (`t`.`number` < (-2199023255552)) THEN CASE WHEN (`t`.`number` < (-4398046511104)) THEN 20 ELSE 21 END ELSE CASE WHEN (`t`.`number` < (-1099511627776)) THEN 22 ELSE 23 END END END ELSE CASE WHEN (`t`.`number` < (-34359738368)) THEN CASE WHEN (`t`.`number` < (-137438953472)) THEN CASE WHEN (`t`.`number` < (-274877906944)) THEN 24 ELSE 25 END ELSE CASE WHEN (`t`.`number` < (-68719476736)) THEN 26 ELSE 27 END END ELSE CASE WHEN (`t`.`number` < (-8589934592)) THEN CASE WHEN (`t`.`number` < (-17179869184)) THEN 28 ELSE 29 END ELSE CASE WHEN (`t`.`number` < (-4294967296)) THEN 30 ELSE 31 END END END END END ELSE CASE WHEN (`t`.`number` < (-32768)) THEN CASE WHEN (`t`.`number` < (-8388608)) THEN CASE WHEN (`t`.`number` < (-134217728)) THEN CASE WHEN (`t`.`number` < (-536870912)) THEN CASE WHEN (`t`.`number` < (-1073741824)) THEN 32 ELSE 33 END ELSE CASE WHEN (`t`.`number` < (-268435456)) THEN 34 ELSE 35 END END ELSE CASE WHEN (`t`.`number` < (-33554432)) THEN CASE WHEN (`t`.`number` < (-67108864)) THEN 36 ELSE 37 END ELSE CASE WHEN (`t`.`number` < (-16777216)) THEN 38 ELSE 39 END END END ELSE CASE WHEN (`t`.`number` < (-524288)) THEN CASE WHEN (`t`.`number` < (-2097152)) THEN CASE WHEN (`t`.`number` < (-4194304)) THEN 40 ELSE 41 END ELSE CASE WHEN (`t`.`number` < (-1048576)) THEN 42 ELSE 43 END END ELSE CASE WHEN (`t`.`number` < (-131072)) THEN CASE WHEN (`t`.`number` < (-262144)) THEN 44 ELSE 45 END ELSE CASE WHEN (`t`.`number` < (-65536)) THEN 46 ELSE 47 END END END END ELSE CASE WHEN (`t`.`number` < (-128)) THEN CASE WHEN (`t`.`number` < (-2048)) THEN CASE WHEN (`t`.`number` < (-8192)) THEN CASE WHEN (`t`.`number` < (-16384)) THEN 48 ELSE 49 END ELSE CASE WHEN (`t`.`number` < (-4096)) THEN 50 ELSE 51 END END ELSE CASE WHEN (`t`.`number` < (-512)) THEN CASE WHEN (`t`.`number` < (-1024)) THEN 52 ELSE 53 END ELSE CASE WHEN (`t`.`number` < (-256)) THEN 54 ELSE 55 END END END ELSE CASE WHEN (`t`.`number` < (-8)) THEN CASE WHEN (`t`.`number` < (-32)) THEN CASE WHEN (`t`.`number` < (-64)) THEN 56 ELSE 57 END ELSE CASE WHEN (`t`.`number` < (-16)) THEN 58 ELSE 59 END END ELSE CASE WHEN (`t`.`number` < (-2)) THEN CASE WHEN (`t`.`number` < (-4)) THEN 60 ELSE 61 END ELSE CASE WHEN (`t`.`number` < (-1)) THEN 62 ELSE 63 END END END END END END ELSE CASE WHEN (`t`.`number` <= 1073741824) THEN CASE WHEN (`t`.`number` <= 16384) THEN CASE WHEN (`t`.`number` <= 64) THEN CASE WHEN (`t`.`number` <= 4) THEN CASE WHEN (`t`.`number` <= 1) THEN CASE WHEN (`t`.`number` <= 0) THEN 64 ELSE 65 END ELSE CASE WHEN (`t`.`number` <= 2) THEN 66 ELSE 67 END END ELSE CASE WHEN (`t`.`number` <= 16) THEN CASE WHEN (`t`.`number` <= 8) THEN 68 ELSE 69 END ELSE CASE WHEN (`t`.`number` <= 32) THEN 70 ELSE 71 END END END ELSE CASE WHEN (`t`.`number` <= 1024) THEN CASE WHEN (`t`.`number` <= 256) THEN CASE WHEN (`t`.`number` <= 128) THEN 72 ELSE 73 END ELSE CASE WHEN (`t`.`number` <= 512) THEN 74 ELSE 75 END END ELSE CASE WHEN (`t`.`number` <= 4096) THEN CASE WHEN (`t`.`number` <= 2048) THEN 76 ELSE 77 END ELSE CASE WHEN (`t`.`number` <= 8192) THEN 78 ELSE 79 END END END END ELSE CASE WHEN (`t`.`number` <= 4194304) THEN CASE WHEN (`t`.`number` <= 262144) THEN CASE WHEN (`t`.`number` <= 65536) THEN CASE WHEN (`t`.`number` <= 32768) THEN 80 ELSE 81 END ELSE CASE WHEN (`t`.`number` <= 131072) THEN 82 ELSE 83 END END ELSE CASE WHEN (`t`.`number` <= 1048576) THEN CASE WHEN (`t`.`number` <= 524288) THEN 84 ELSE 85 END ELSE CASE WHEN (`t`.`number` <= 2097152) THEN 86 ELSE 87 END END END ELSE CASE WHEN (`t`.`number` <= 67108864) THEN CASE WHEN (`t`.`number` <= 16777216) THEN CASE WHEN (`t`.`number` <= 8388608) THEN 88 ELSE 89 END ELSE CASE WHEN (`t`.`number` <= 33554432) THEN 90 ELSE 91 END END ELSE CASE WHEN (`t`.`number` <= 268435456) THEN CASE WHEN (`t`.`number` <= 134217728) THEN 92 ELSE 93 END ELSE CASE WHEN (`t`.`number` <= 536870912) THEN 94 ELSE 95 END END END END END ELSE CASE WHEN (`t`.`number` <= 70368744177664) THEN CASE WHEN (`t`.`number` <= 274877906944) THEN CASE WHEN (`t`.`number` <= 17179869184) THEN CASE WHEN (`t`.`number` <= 4294967296) THEN CASE WHEN (`t`.`number` <= 2147483648) THEN 96 ELSE 97 END ELSE CASE WHEN (`t`.`number` <= 8589934592) THEN 98 ELSE 99 END END ELSE CASE WHEN (`t`.`number` <= 68719476736) THEN CASE WHEN (`t`.`number` <= 34359738368) THEN 100 ELSE 101 END ELSE CASE WHEN (`t`.`number` <= 137438953472) THEN 102 ELSE 103 END END END ELSE CASE WHEN (`t`.`number` <= 4398046511104) THEN CASE WHEN (`t`.`number` <= 1099511627776) THEN CASE WHEN (`t`.`number` <= 549755813888) THEN 104 ELSE 105 END ELSE CASE WHEN (`t`.`number` <= 2199023255552) THEN 106 ELSE 107 END END ELSE CASE WHEN (`t`.`number` <= 17592186044416) THEN CASE WHEN (`t`.`number` <= 8796093022208) THEN 108 ELSE 109 END ELSE CASE WHEN (`t`.`number` <= 35184372088832) THEN 110 ELSE 111 END END END END ELSE CASE WHEN (`t`.`number` <= 18014398509481984) THEN CASE WHEN (`t`.`number` <= 1125899906842624) THEN CASE WHEN (`t`.`number` <= 281474976710656) THEN CASE WHEN (`t`.`number` <= 140737488355328) THEN 112 ELSE 113 END ELSE CASE WHEN (`t`.`number` <= 562949953421312) THEN 114 ELSE 115 END END ELSE CASE WHEN (`t`.`number` <= 4503599627370496) THEN CASE WHEN (`t`.`number` <= 2251799813685248) THEN 116 ELSE 117 END ELSE CASE WHEN (`t`.`number` <= 9007199254740992) THEN 118 ELSE 119 END END END ELSE CASE WHEN (`t`.`number` <= 288230376151711744) THEN CASE WHEN (`t`.`number` <= 72057594037927936) THEN CASE WHEN (`t`.`number` <= 36028797018963968) THEN 120 ELSE 121 END ELSE CASE WHEN (`t`.`number` <= 144115188075855872) THEN 122 ELSE 123 END END ELSE CASE WHEN (`t`.`number` <= 1152921504606846976) THEN CASE WHEN (`t`.`number` <= 576460752303423488) THEN 124 ELSE 125 END ELSE CASE WHEN (`t`.`number` <= 2305843009213693952) THEN 126 ELSE CASE WHEN (`t`.`number` <= 4611686018427387904) THEN 127 ELSE 128 END END END END END END END END AS `bin` FROM (SELECT `__unit`, `number` FROM `__kept_orders`) AS `t` WHERE (NOT (`t`.`number` IS NULL))) AS `rows`) AS `bounded` GROUP BY `k0`;
-- per-query: 0c128ecc8251a2a8
SELECT `k0`, CAST(count(*) AS DECIMAL(20, 0)) * 1 AS `s0` FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY `__unit` ORDER BY md5(CAST(concat(coalesce(concat(length(CAST('discreet' AS STRING)), ':', CAST('discreet' AS STRING)), '-'), coalesce(concat(length(CAST(`__unit` AS STRING)), ':', CAST(`__unit` AS STRING)), '-'), coalesce(concat(length(CAST(`k0` AS STRING)), ':', CAST(`k0` AS STRING)), '-'), coalesce(concat(length(CAST(`s0` AS STRING)), ':', CAST(`s0` AS STRING)), '-')) AS BINARY)) NULLS LAST, `k0` NULLS LAST, `s0` NULLS LAST) AS `rank` FROM (SELECT `rows`.`__unit` AS `__unit`, try_cast(`rows`.`bin` AS BIGINT) AS `k0`, 1 AS `s0` FROM (SELECT `t`.`__unit` AS `__unit`, CASE WHEN (`t`.`number` < 0) THEN CASE WHEN (`t`.`number` < (-2147483648)) THEN CASE WHEN (`t`.`number` < (-140737488355328)) THEN CASE WHEN (`t`.`number` < (-36028797018963968)) THEN CASE WHEN (`t`.`number` < (-576460752303423488)) THEN CASE WHEN (`t`.`number` < (-2305843009213693952)) THEN CASE WHEN (`t`.`number` < (-4611686018427387904)) THEN 0 ELSE 1 END ELSE CASE WHEN (`t`.`number` < (-1152921504606846976)) THEN 2 ELSE 3 END END ELSE CASE WHEN (`t`.`number` < (-144115188075855872)) THEN CASE WHEN (`t`.`number` < (-288230376151711744)) THEN 4 ELSE 5 END ELSE CASE WHEN (`t`.`number` < (-72057594037927936)) THEN 6 ELSE 7 END END END ELSE CASE WHEN (`t`.`number` < (-2251799813685248)) THEN CASE WHEN (`t`.`number` < (-9007199254740992)) THEN CASE WHEN (`t`.`number` < (-18014398509481984)) THEN 8 ELSE 9 END ELSE CASE WHEN (`t`.`number` < (-4503599627370496)) THEN 10 ELSE 11 END END ELSE CASE WHEN (`t`.`number` < (-562949953421312)) THEN CASE WHEN (`t`.`number` < (-1125899906842624)) THEN 12 ELSE 13 END ELSE CASE WHEN (`t`.`number` < (-281474976710656)) THEN 14 ELSE 15 END END END END ELSE CASE WHEN (`t`.`number` < (-549755813888)) THEN CASE WHEN (`t`.`number` < (-8796093022208)) THEN CASE WHEN (`t`.`number` < (-35184372088832)) THEN CASE WHEN (`t`.`number` < (-70368744177664)) THEN 16 ELSE 17 END ELSE CASE WHEN (`t`.`number` < (-17592186044416)) THEN 18 ELSE 19 END END ELSE CASE WHEN (`t`.`number` < (-2199023255552)) THEN CASE WHEN (`t`.`number` < (-4398046511104)) THEN 20 ELSE 21 END ELSE CASE WHEN (`t`.`number` < (-1099511627776)) THEN 22 ELSE 23 END END END ELSE CASE WHEN (`t`.`number` < (-34359738368)) THEN CASE WHEN (`t`.`number` < (-137438953472)) THEN CASE WHEN (`t`.`number` < (-274877906944)) THEN 24 ELSE 25 END ELSE CASE WHEN (`t`.`number` < (-68719476736)) THEN 26 ELSE 27 END END ELSE CASE WHEN (`t`.`number` < (-8589934592)) THEN CASE WHEN (`t`.`number` < (-17179869184)) THEN 28 ELSE 29 END ELSE CASE WHEN (`t`.`number` < (-4294967296)) THEN 30 ELSE 31 END END END END END ELSE CASE WHEN (`t`.`number` < (-32768)) THEN CASE WHEN (`t`.`number` < (-8388608)) THEN CASE WHEN (`t`.`number` < (-134217728)) THEN CASE WHEN (`t`.`number` < (-536870912)) THEN CASE WHEN (`t`.`number` < (-1073741824)) THEN 32 ELSE 33 END ELSE CASE WHEN (`t`.`number` < (-268435456)) THEN 34 ELSE 35 END END ELSE CASE WHEN (`t`.`number` < (-33554432)) THEN CASE WHEN (`t`.`number` < (-67108864)) THEN 36 ELSE 37 END ELSE CASE WHEN (`t`.`number` < (-16777216)) THEN 38 ELSE 39 END END END ELSE CASE WHEN (`t`.`number` < (-524288)) THEN CASE WHEN (`t`.`number` < (-2097152)) THEN CASE WHEN (`t`.`number` < (-4194304)) THEN 40 ELSE 41 END ELSE CASE WHEN (`t`.`number` < (-1048576)) THEN 42 ELSE 43 END END ELSE CASE WHEN (`t`.`number` < (-131072)) THEN CASE WHEN (`t`.`number` < (-262144)) THEN 44 ELSE 45 END ELSE CASE WHEN (`t`.`number` < (-65536)) THEN 46 ELSE 47 END END END END ELSE CASE WHEN (`t`.`number` < (-128)) THEN CASE WHEN (`t`.`number` < (-2048)) THEN CASE WHEN (`t`.`number` < (-8192)) THEN CASE WHEN (`t`.`number` < (-16384)) THEN 48 ELSE 49 END ELSE CASE WHEN (`t`.`number` < (-4096)) THEN 50 ELSE 51 END END ELSE CASE WHEN (`t`.`number` < (-512)) THEN CASE WHEN (`t`.`number` < (-1024)) THEN 52 ELSE 53 END ELSE CASE WHEN (`t`.`number` < (-256)) THEN 54 ELSE 55 END END END ELSE CASE WHEN (`t`.`number` < (-8)) THEN CASE WHEN (`t`.`number` < (-32)) THEN CASE WHEN (`t`.`number` < (-64)) THEN 56 ELSE 57 END ELSE CASE WHEN (`t`.`number` < (-16)) THEN 58 ELSE 59 END END ELSE CASE WHEN (`t`.`number` < (-2)) THEN CASE WHEN (`t`.`number` < (-4)) THEN 60 ELSE 61 END ELSE CASE WHEN (`t`.`number` < (-1)) THEN 62 ELSE 63 END END END END END END ELSE CASE WHEN (`t`.`number` <= 1073741824) THEN CASE WHEN (`t`.`number` <= 16384) THEN CASE WHEN (`t`.`number` <= 64) THEN CASE WHEN (`t`.`number` <= 4) THEN CASE WHEN (`t`.`number` <= 1) THEN CASE WHEN (`t`.`number` <= 0) THEN 64 ELSE 65 END ELSE CASE WHEN (`t`.`number` <= 2) THEN 66 ELSE 67 END END ELSE CASE WHEN (`t`.`number` <= 16) THEN CASE WHEN (`t`.`number` <= 8) THEN 68 ELSE 69 END ELSE CASE WHEN (`t`.`number` <= 32) THEN 70 ELSE 71 END END END ELSE CASE WHEN (`t`.`number` <= 1024) THEN CASE WHEN (`t`.`number` <= 256) THEN CASE WHEN (`t`.`number` <= 128) THEN 72 ELSE 73 END ELSE CASE WHEN (`t`.`number` <= 512) THEN 74 ELSE 75 END END ELSE CASE WHEN (`t`.`number` <= 4096) THEN CASE WHEN (`t`.`number` <= 2048) THEN 76 ELSE 77 END ELSE CASE WHEN (`t`.`number` <= 8192) THEN 78 ELSE 79 END END END END ELSE CASE WHEN (`t`.`number` <= 4194304) THEN CASE WHEN (`t`.`number` <= 262144) THEN CASE WHEN (`t`.`number` <= 65536) THEN CASE WHEN (`t`.`number` <= 32768) THEN 80 ELSE 81 END ELSE CASE WHEN (`t`.`number` <= 131072) THEN 82 ELSE 83 END END ELSE CASE WHEN (`t`.`number` <= 1048576) THEN CASE WHEN (`t`.`number` <= 524288) THEN 84 ELSE 85 END ELSE CASE WHEN (`t`.`number` <= 2097152) THEN 86 ELSE 87 END END END ELSE CASE WHEN (`t`.`number` <= 67108864) THEN CASE WHEN (`t`.`number` <= 16777216) THEN CASE WHEN (`t`.`number` <= 8388608) THEN 88 ELSE 89 END ELSE CASE WHEN (`t`.`number` <= 33554432) THEN 90 ELSE 91 END END ELSE CASE WHEN (`t`.`number` <= 268435456) THEN CASE WHEN (`t`.`number` <= 134217728) THEN 92 ELSE 93 END ELSE CASE WHEN (`t`.`number` <= 536870912) THEN 94 ELSE 95 END END END END END ELSE CASE WHEN (`t`.`number` <= 70368744177664) THEN CASE WHEN (`t`.`number` <= 274877906944) THEN CASE WHEN (`t`.`number` <= 17179869184) THEN CASE WHEN (`t`.`number` <= 4294967296) THEN CASE WHEN (`t`.`number` <= 2147483648) THEN 96 ELSE 97 END ELSE CASE WHEN (`t`.`number` <= 8589934592) THEN 98 ELSE 99 END END ELSE CASE WHEN (`t`.`number` <= 68719476736) THEN CASE WHEN (`t`.`number` <= 34359738368) THEN 100 ELSE 101 END ELSE CASE WHEN (`t`.`number` <= 137438953472) THEN 102 ELSE 103 END END END ELSE CASE WHEN (`t`.`number` <= 4398046511104) THEN CASE WHEN (`t`.`number` <= 1099511627776) THEN CASE WHEN (`t`.`number` <= 549755813888) THEN 104 ELSE 105 END ELSE CASE WHEN (`t`.`number` <= 2199023255552) THEN 106 ELSE 107 END END ELSE CASE WHEN (`t`.`number` <= 17592186044416) THEN CASE WHEN (`t`.`number` <= 8796093022208) THEN 108 ELSE 109 END ELSE CASE WHEN (`t`.`number` <= 35184372088832) THEN 110 ELSE 111 END END END END ELSE CASE WHEN (`t`.`number` <= 18014398509481984) THEN CASE WHEN (`t`.`number` <= 1125899906842624) THEN CASE WHEN (`t`.`number` <= 281474976710656) THEN CASE WHEN (`t`.`number` <= 140737488355328) THEN 112 ELSE 113 END ELSE CASE WHEN (`t`.`number` <= 562949953421312) THEN 114 ELSE 115 END END ELSE CASE WHEN (`t`.`number` <= 4503599627370496) THEN CASE WHEN (`t`.`number` <= 2251799813685248) THEN 116 ELSE 117 END ELSE CASE WHEN (`t`.`number` <= 9007199254740992) THEN 118 ELSE 119 END END END ELSE CASE WHEN (`t`.`number` <= 288230376151711744) THEN CASE WHEN (`t`.`number` <= 72057594037927936) THEN CASE WHEN (`t`.`number` <= 36028797018963968) THEN 120 ELSE 121 END ELSE CASE WHEN (`t`.`number` <= 144115188075855872) THEN 122 ELSE 123 END END ELSE CASE WHEN (`t`.`number` <= 1152921504606846976) THEN CASE WHEN (`t`.`number` <= 576460752303423488) THEN 124 ELSE 125 END ELSE CASE WHEN (`t`.`number` <= 2305843009213693952) THEN 126 ELSE CASE WHEN (`t`.`number` <= 4611686018427387904) THEN 127 ELSE 128 END END END END END END END END AS `bin` FROM (SELECT `__unit`, `number` FROM `__every_orders`) AS `t` WHERE (NOT (`t`.`number` IS NULL))) AS `rows`) AS `rows`) AS `ranked` WHERE `rank` <= 10) AS `bounded` GROUP BY `k0`;

-- SELECT COUNT(*) AS n FROM visits
-- prepared: ca049e4c729d396b
SELECT CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "visits"."__unit" AS "__unit" FROM (SELECT "__unit" FROM "discreet_kept"."visits") AS "visits") AS "__rows" OFFSET 0) AS "bounded";
-- per-query: cbe8b7a1c05b0d2a
SELECT coalesce(sum(CAST(CAST('1' AS BIGINT) * "rows" AS BIGINT)), 0) AS "s0" FROM (SELECT least(count(*), 12) AS "rows" FROM (SELECT "visits"."__unit" AS "__unit" FROM (SELECT "__unit" FROM "discreet_every"."visits") AS "visits") AS "all" GROUP BY "__unit") AS "bounded";

-- SELECT COUNT(DISTINCT patient_id) AS people FROM visits
-- prepared: 194639892c9d86f5
-- per-query: 296650f97bca21cd

-- SELECT region, COUNT(*), AVG(income) FROM patients GROUP BY region
-- prepared: c271959d7fa3ceb3
-- per-query: 37ffb28558f43cb6

-- SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis ORDER BY n DESC LIMIT 5
-- prepared: b6fe4c3003145905
-- per-query: c7105980366567ac

-- SELECT region, COUNT(*) AS n, 3 * COUNT(*) AS thrice, CASE WHEN COUNT(*) > 100 THEN 'large' ELSE 'small' END AS size FROM patients GROUP BY region
-- prepared: f14a1c19cb48c4f8
-- per-query: 0f2655657e84d4fb

-- SELECT SUM(cost * 1.2 + minutes) AS s FROM visits WHERE cost BETWEEN 10 AND 100
-- prepared: 0e76fadf228ceaa1
-- per-query: 0650a70412d9906d

-- SELECT SUM(CASE WHEN minutes > 60 THEN 1 ELSE 0 END) AS long_visits, COUNT(*) FILTER (WHERE cost > 100) AS dear FROM visits
-- prepared: 50d86952df8b543d
-- per-query: 9b1107abf81b3c2c

-- SELECT VARIANCE(minutes) AS v, STDDEV(minutes) AS sd FROM visits
-- prepared: bca2d44d49dbe066
-- per-query: 324079ff35b0f02e

-- SELECT MEDIAN(cost) AS m, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY cost) AS p90, MIN(minutes) AS lo, MAX(minutes) AS hi FROM visits
-- prepared: b81ccc75bf0bcd57 88b6d8ffe2b442cd
-- per-query: 909ec9273b4d2194 6a24cb5428462cc1

-- SELECT c.region, AVG(v.cost) AS cost FROM visits v JOIN clinics c ON v.clinic_id = c.clinic_id GROUP BY c.region
-- prepared: ff831f19d6a80311
SELECT "k0", CAST(count("s0") AS BIGINT) AS "s0", coalesce(sum(CAST("s1" AS BIGINT)), 0) AS "s1" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", (CASE WHEN CAST("__rows"."__step0" AS BIGINT) BETWEEN '0' AND '1073741824' THEN CAST("__rows"."__step0" AS BIGINT) END) AS "s0", (CASE WHEN CAST("__rows"."__step0" AS BIGINT) BETWEEN '0' AND '1073741824' THEN CAST("__rows"."__step0" AS BIGINT) END) AS "s1" FROM (SELECT "__rows".*, ((CASE WHEN "__rows"."cost" < CAST('0.0' AS DOUBLE PRECISION) THEN CAST('0.0' AS DOUBLE PRECISION) WHEN "__rows"."cost" > CAST('500.0' AS DOUBLE PRECISION) THEN CAST('500.0' AS DOUBLE PRECISION) ELSE "__rows"."cost" END) * CAST('2147483.648' AS DOUBLE PRECISION)) AS "__step0" FROM (SELECT "v"."__unit" AS "__unit", "c"."region" AS "region", "v"."cost" AS "cost" FROM (SELECT "__unit", "clinic_id", "cost" FROM "discreet_kept"."visits") AS "v" JOIN "clinics" AS "c" ON ("v"."clinic_id" = "c"."clinic_id")) AS "__rows" OFFSET 0) AS "__rows" OFFSET 0) AS "bounded" GROUP BY "k0";
-- per-query: 26db1eb2f2f3aa8f
SELECT "k0", coalesce(sum(CAST("s0" AS BIGINT)), 0) AS "s0", coalesce(sum(CAST("s1" AS BIGINT)), 0) AS "s1" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY md5(CAST(ROW('discreet', "__unit", "k0", "s0", "s1") AS TEXT)) COLLATE "C", "k0", "s0", "s1") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", coalesce(CASE WHEN ((CASE WHEN CAST("__rows"."__step0" AS BIGINT) BETWEEN '0' AND '1073741824' THEN CAST("__rows"."__step0" AS BIGINT) END) IS NULL) THEN CAST('0' AS BIGINT) ELSE CAST('1' AS BIGINT) END, 0) AS "s0", coalesce((CASE WHEN CAST("__rows"."__step0" AS BIGINT) BETWEEN '0' AND '1073741824' THEN CAST("__rows"."__step0" AS BIGINT) END), 0) AS "s1" FROM (SELECT "__rows".*, ((CASE WHEN "__rows"."cost" < CAST('0.0' AS DOUBLE PRECISION) THEN CAST('0.0' AS DOUBLE PRECISION) WHEN "__rows"."cost" > CAST('500.0' AS DOUBLE PRECISION) THEN CAST('500.0' AS DOUBLE PRECISION) ELSE "__rows"."cost" END) * CAST('2147483.648' AS DOUBLE PRECISION)) AS "__step0" FROM (SELECT "v"."__unit" AS "__unit", "c"."region" AS "region", "v"."cost" AS "cost" FROM (SELECT "__unit", "clinic_id", "cost" FROM "discreet_every"."visits") AS "v" JOIN "clinics" AS "c" ON ("v"."clinic_id" = "c"."clinic_id")) AS "__rows" OFFSET 0) AS "__rows" OFFSET 0) AS "rows") AS "ranked" WHERE "rank" <= 12) AS "bounded" GROUP BY "k0";

-- SELECT p.sex, AVG(v.minutes) AS minutes FROM patients p JOIN visits v ON p.patient_id = v.patient_id GROUP BY p.sex
-- prepared: e334e023f8e94563
-- per-query: 6f8169324a593d11

-- SELECT COUNT(*) AS n FROM prescriptions WHERE dose > 500
-- prepared: 919f2f6671ece16b
-- per-query: 3eab858726b5452f

-- WITH per_patient AS (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id) SELECT AVG(LEAST(GREATEST(total, 0), 1000)) AS avg_total FROM per_patient
-- prepared: 68f7670e7dc1d7fb
-- per-query: 68f7670e7dc1d7fb

-- SELECT COUNT(*) AS frequent FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) >= 5) AS t
-- prepared: cdcd2d3515e3bcd9
-- per-query: cdcd2d3515e3bcd9

-- WITH r AS (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) SELECT region, n, 100.0 * n / SUM(n) OVER () AS share FROM r ORDER BY share DESC
-- prepared: f14a1c19cb48c4f8
-- per-query: 0f2655657e84d4fb

-- SELECT a.region, a.n AS insured, b.n AS everyone FROM (SELECT region, COUNT(*) AS n FROM patients WHERE insured GROUP BY region) a JOIN (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) b ON a.region = b.region
-- prepared: 3862a29c74947aa2 f14a1c19cb48c4f8
-- per-query: 339006aa401c9f1d 0f2655657e84d4fb

-- SELECT date_trunc('month', day) AS month, COUNT(*) AS n FROM visits GROUP BY month ORDER BY month
-- prepared: 8d6fd27cb11d5b03
-- per-query: 47b560cef8158c36

-- SELECT diagnosis, COUNT(*) FROM visits WHERE diagnosis IN ('flu', 'asthma', 'fracture') GROUP BY diagnosis
-- prepared: 89226064f6ecc65f
-- per-query: 52d00ae16765f4d6

-- SELECT insured, sex, COUNT(*) AS n FROM patients GROUP BY insured, sex HAVING COUNT(*) > 10
-- prepared: 1bcf6eccf8233790
SELECT "k0", "k1", CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."insured" AS "k0", "__rows"."sex" AS "k1", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."insured" AS "insured", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex", "insured" FROM "discreet_kept"."patients") AS "patients") AS "__rows" OFFSET 0) AS "bounded" GROUP BY "k0", "k1";
-- per-query: 1aeaedafb268c7c5
SELECT "k0", "k1", CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY md5(CAST(ROW('discreet', "__unit", "k0", "k1", "s0") AS TEXT)) COLLATE "C", "k0", "k1", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."insured" AS "k0", "__rows"."sex" AS "k1", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."insured" AS "insured", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex", "insured" FROM "discreet_every"."patients") AS "patients") AS "__rows" OFFSET 0) AS "rows") AS "ranked" WHERE "rank" <= 1) AS "bounded" GROUP BY "k0", "k1";

-- SELECT COUNT(*) FROM patients WHERE patient_id = 7
-- prepared: 768164186c6c88cf
-- per-query: 7397bcc3fbf30bad

-- SELECT name, beds FROM clinics ORDER BY beds DESC
-- prepared: 
-- per-query: 

-- SELECT SQRT(AVG(cost)) AS r, PI() AS p, COUNT(*) + 0 AS n FROM visits
-- prepared: 989ccba5704b0f99
-- per-query: 7c0c9a1781841463

-- SELECT COUNT(*) FROM visits WHERE note ILIKE '%allerg%' OR note IS NULL
-- prepared: 6d01add22df05b76
-- per-query: 998f6d3ed3debb6a

-- SELECT COUNT(DISTINCT diagnosis) AS kinds FROM visits
-- prepared: 031c96ac375dca81
-- per-query: 2d6f4f732f27f105

-- SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.cost > 400)
-- prepared: cfde4391b0f3e3e2
-- per-query: 05fe209b487c6559

-- SELECT AVG(gap) FROM (SELECT patient_id, date_diff('day', LAG(day) OVER (PARTITION BY patient_id ORDER BY day), day) AS gap FROM visits) AS g WHERE gap BETWEEN 0 AND 365
-- prepared: c6e50d5901e15793
-- per-query: c6e50d5901e15793

-- SELECT CASE WHEN 2024 - birth_year >= 65 THEN 'old' ELSE 'young' END AS age_group, COUNT(*) FROM patients GROUP BY 1
-- prepared: f54ad93d6c8e0e4f
-- per-query: 294b3d84ec04c8a6

-- SELECT COUNT(*) FROM (SELECT patient_id, minutes FROM visits UNION ALL SELECT patient_id, 0 FROM patients) AS u WHERE minutes > 30
-- prepared: 2414b4d7afa72095
SELECT CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "u"."__unit" AS "__unit" FROM (SELECT "__unit", "minutes" AS "minutes" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."minutes" AS "minutes" FROM (SELECT "__unit", "minutes" FROM "discreet_kept"."visits") AS "visits") AS "__part" UNION ALL SELECT "__unit", "0" AS "minutes" FROM (SELECT "patients"."__unit" AS "__unit", CAST('0' AS BIGINT) AS "0" FROM (SELECT "__unit" FROM "discreet_kept"."patients") AS "patients") AS "__part") AS "u" WHERE ("u"."minutes" > CAST('30' AS BIGINT))) AS "__rows" OFFSET 0) AS "bounded";
-- per-query: b166773943da4f48
SELECT coalesce(sum(CAST(CAST('1' AS BIGINT) * "rows" AS BIGINT)), 0) AS "s0" FROM (SELECT least(count(*), 13) AS "rows" FROM (SELECT "u"."__unit" AS "__unit" FROM (SELECT "__unit", "minutes" AS "minutes" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."minutes" AS "minutes" FROM (SELECT "__unit", "minutes" FROM "discreet_every"."visits") AS "visits") AS "__part" UNION ALL SELECT "__unit", "0" AS "minutes" FROM (SELECT "patients"."__unit" AS "__unit", CAST('0' AS BIGINT) AS "0" FROM (SELECT "__unit" FROM "discreet_every"."patients") AS "patients") AS "__part") AS "u" WHERE ("u"."minutes" > CAST('30' AS BIGINT))) AS "all" GROUP BY "__unit") AS "bounded";

-- SELECT COUNT(*) FROM visits WHERE 1 / (minutes - 30) > 0 OR CAST(diagnosis AS INTEGER) = 3
-- prepared: b498f255da5f9543
-- per-query: d1338ed722897f6e

-- SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)
-- prepared: 21ef94a22e9e3568 c93029ba37f471d5
-- per-query: 7c5e5baa9fe87989 8e9a7a4bf016153d

-- SELECT drug, COUNT(*) AS n FROM prescriptions pr JOIN visits v ON pr.visit_id = v.visit_id JOIN patients p ON p.patient_id = v.patient_id WHERE p.sex = 'f' GROUP BY drug
-- prepared: 7c8fc7e4a76b9b2c
-- per-query: 7c8fc7e4a76b9b2c

-- SELECT count(*) FROM VISITS
-- prepared: bcc1595ac3a19a04
-- per-query: c30bd29dfe3fc6b7

-- SELECT COUNT(*) FROM "Visits" AS "v" WHERE "v"."COST" > 3
-- prepared: 9964c0889d980105
-- per-query: f90bbf62dd2e7094

-- SELECT COUNT(*) AS "select", AVG(cost) AS "größe ☃", SUM(minutes) AS "a""b" FROM visits
-- prepared: 8e3abd0f96097e5e
-- per-query: dbadb6714a4fe34b

-- SELECT COUNT(*) AS a0, AVG(cost) AS a0, COUNT(*) FROM visits
-- prepared: 989ccba5704b0f99
-- per-query: 7c0c9a1781841463

-- SELECT COUNT(*) AS "__spread", AVG(cost) AS "__spread_2" FROM visits
-- prepared: 989ccba5704b0f99
-- per-query: 7c0c9a1781841463

-- SELECT SUM("__unit") FROM (SELECT patient_id, minutes AS "__unit" FROM visits)
-- prepared: a4ce8182a570adc4
SELECT coalesce(sum(CAST("s0" AS BIGINT)), 0) AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", (CASE WHEN "__rows"."___unit" < CAST('0' AS BIGINT) THEN CAST('0' AS BIGINT) WHEN "__rows"."___unit" > CAST('240' AS BIGINT) THEN CAST('240' AS BIGINT) ELSE "__rows"."___unit" END) AS "s0" FROM (SELECT "__query_1"."__unit" AS "__unit", "__query_1"."___unit" AS "___unit" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."minutes" AS "___unit" FROM (SELECT "__unit", "minutes" FROM "discreet_kept"."visits") AS "visits") AS "__query_1") AS "__rows" OFFSET 0) AS "bounded";
-- per-query: 2c14ab469c120d70
SELECT coalesce(sum(CAST("s0" AS BIGINT)), 0) AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY md5(CAST(ROW('discreet', "__unit", "s0") AS TEXT)) COLLATE "C", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", coalesce((CASE WHEN "__rows"."___unit" < CAST('0' AS BIGINT) THEN CAST('0' AS BIGINT) WHEN "__rows"."___unit" > CAST('240' AS BIGINT) THEN CAST('240' AS BIGINT) ELSE "__rows"."___unit" END), 0) AS "s0" FROM (SELECT "__query_1"."__unit" AS "__unit", "__query_1"."___unit" AS "___unit" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."minutes" AS "___unit" FROM (SELECT "__unit", "minutes" FROM "discreet_every"."visits") AS "visits") AS "__query_1") AS "__rows" OFFSET 0) AS "rows") AS "ranked" WHERE "rank" <= 12) AS "bounded";

-- SELECT k0, SUM(s0) FROM (SELECT minutes AS s0, cost AS "rank", diagnosis AS k0 FROM visits) AS "rows" GROUP BY k0
-- prepared: 151fb4c64d100b21
-- per-query: 0b01281fb47a366e

-- SELECT p.sex, COUNT(*) FROM patients p GROUP BY sex
-- prepared: b1b837076aa4d003
-- per-query: c574f6bc00216402

-- FROM visits SELECT COUNT(*)
-- prepared: ca049e4c729d396b
-- per-query: cbe8b7a1c05b0d2a

-- SELECT sex, region, COUNT(*) FROM patients GROUP BY ALL ORDER BY ALL
-- prepared: 998eb41212930c88
-- per-query: 3d844fa27dc81d00

-- SELECT sex AS s, COUNT(*) FROM patients GROUP BY s
-- prepared: 2aca3c07aca02197
-- per-query: bcad6b6dac8d5be5

-- SELECT sex, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY 2 DESC
-- prepared: 2aca3c07aca02197
-- per-query: bcad6b6dac8d5be5

-- SELECT sex, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY n + 1 DESC NULLS LAST LIMIT 1 OFFSET 1
-- prepared: 2aca3c07aca02197
-- per-query: bcad6b6dac8d5be5

-- SELECT sex, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY AVG(income)
-- prepared: 17d777a49728e0eb
-- per-query: bee4a00eb6a95655

-- SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex HAVING n > 10
-- prepared: 2aca3c07aca02197
SELECT "k0", CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."sex" AS "k0", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex" FROM "discreet_kept"."patients") AS "patients") AS "__rows" OFFSET 0) AS "bounded" GROUP BY "k0";
-- per-query: bcad6b6dac8d5be5
SELECT "k0", CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY md5(CAST(ROW('discreet', "__unit", "k0", "s0") AS TEXT)) COLLATE "C", "k0", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."sex" AS "k0", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex" FROM "discreet_every"."patients") AS "patients") AS "__rows" OFFSET 0) AS "rows") AS "ranked" WHERE "rank" <= 1) AS "bounded" GROUP BY "k0";

-- SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex, sex HAVING sex = 'f' AND AVG(income) > 0
-- prepared: 17d777a49728e0eb
-- per-query: bee4a00eb6a95655

-- SELECT UPPER(sex), COUNT(*) FROM patients GROUP BY sex
-- prepared: 2aca3c07aca02197
-- per-query: bcad6b6dac8d5be5

-- SELECT sex || '!', COUNT(*) FROM patients GROUP BY sex || '!'
-- prepared: 8ddbc1681423982c
-- per-query: a456ef0d6c6585e0

-- SELECT DISTINCT diagnosis FROM visits
-- prepared: 1b64691e2cf6b41b
-- per-query: 6ef14022ec19fa72

-- SELECT DISTINCT COUNT(*) FROM visits
-- prepared: ca049e4c729d396b
-- per-query: cbe8b7a1c05b0d2a

-- SELECT COUNT(*) FROM patients HAVING COUNT(*) > 1000000
-- prepared: efb88d80fc5b02c6
-- per-query: 87bb1996d1e22c89

-- SELECT COUNT(*) FROM visits LIMIT 0
-- prepared: ca049e4c729d396b
-- per-query: cbe8b7a1c05b0d2a

-- SELECT minutes // 60 AS hours, COUNT(*) FROM visits GROUP BY hours
-- prepared: dbdbb0876b0fa849
-- per-query: 1ea7e75dac3948bd

-- SELECT year(day), month(day), COUNT(*) FROM visits GROUP BY ALL
-- prepared: ba288c1e9152f10c
SELECT "k0", "k1", CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", CAST(floor(extract(year FROM CAST("__rows"."day" AS TIMESTAMP))) AS BIGINT) AS "k0", CAST(floor(extract(month FROM CAST("__rows"."day" AS TIMESTAMP))) AS BIGINT) AS "k1", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."day" AS "day" FROM (SELECT "__unit", "day" FROM "discreet_kept"."visits") AS "visits") AS "__rows" OFFSET 0) AS "bounded" GROUP BY "k0", "k1";
-- per-query: 7a08b0a7aed5ddb8
SELECT "k0", "k1", CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY md5(CAST(ROW('discreet', "__unit", "k0", "k1", "s0") AS TEXT)) COLLATE "C", "k0", "k1", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", CAST(floor(extract(year FROM CAST("__rows"."day" AS TIMESTAMP))) AS BIGINT) AS "k0", CAST(floor(extract(month FROM CAST("__rows"."day" AS TIMESTAMP))) AS BIGINT) AS "k1", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."day" AS "day" FROM (SELECT "__unit", "day" FROM "discreet_every"."visits") AS "visits") AS "__rows" OFFSET 0) AS "rows") AS "ranked" WHERE "rank" <= 12) AS "bounded" GROUP BY "k0", "k1";

-- SELECT note IS NULL AS without, COUNT(*) FROM visits GROUP BY without
-- prepared: f488140818eea635
-- per-query: 70bd1cf390b394df

-- SELECT visit_id, COUNT(*) FROM visits GROUP BY visit_id
-- prepared: b5f9377db5a610b2
-- per-query: 1f82f765d12b52f2

-- SELECT cost > (SELECT AVG(cost) FROM visits) AS dear, COUNT(*) FROM visits GROUP BY dear
-- prepared: 21ef94a22e9e3568 404a7e378af08b3d
-- per-query: 7c5e5baa9fe87989 1f304c1082b7dfd8

-- WITH a AS (SELECT * FROM visits WHERE cost > 10), b AS (SELECT * FROM a WHERE minutes > 10) SELECT COUNT(*) FROM b
-- prepared: 646de1c48e09de14
-- per-query: 4947b5924091e84b

-- WITH a AS (SELECT AVG(cost) AS m FROM visits), b AS (SELECT m * 2 AS m FROM a) SELECT COUNT(*) FROM visits WHERE cost > (SELECT m FROM b)
-- prepared: 21ef94a22e9e3568 c93029ba37f471d5
-- per-query: 7c5e5baa9fe87989 8e9a7a4bf016153d

-- WITH a(x, y) AS (SELECT patient_id, cost FROM visits) SELECT SUM(y), COUNT(DISTINCT x) FROM a
-- prepared: e666803b313b88ca 194639892c9d86f5
-- per-query: d73ad96962ef4ed6 bfd0e6fd7eb5f6b3

-- SELECT SUM(t.b) FROM (SELECT patient_id, minutes FROM visits) AS t(a, b)
-- prepared: 4c8c40a382e56deb
-- per-query: bf3dd0748459605e

-- SELECT t.a, t.b FROM (SELECT sex, COUNT(*) FROM patients GROUP BY sex) AS t(a, b)
-- prepared: 2aca3c07aca02197
-- per-query: bcad6b6dac8d5be5

-- WITH r AS (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) SELECT a.region, a.n - b.n AS zero FROM r a JOIN r b ON a.region = b.region
-- prepared: f14a1c19cb48c4f8
SELECT "k0", CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."region" AS "region" FROM (SELECT "__unit", "region" FROM "discreet_kept"."patients") AS "patients") AS "__rows" OFFSET 0) AS "bounded" GROUP BY "k0";
-- per-query: 0f2655657e84d4fb
SELECT "k0", CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY md5(CAST(ROW('discreet', "__unit", "k0", "s0") AS TEXT)) COLLATE "C", "k0", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."region" AS "region" FROM (SELECT "__unit", "region" FROM "discreet_every"."patients") AS "patients") AS "__rows" OFFSET 0) AS "rows") AS "ranked" WHERE "rank" <= 1) AS "bounded" GROUP BY "k0";

-- WITH r AS (SELECT patient_id, cost FROM visits) SELECT COUNT(*) FROM r a JOIN r b ON a.patient_id = b.patient_id
-- prepared: 0723b472d270bcaf
-- per-query: 5e8d97e8d5723247

-- WITH clinics AS (SELECT * FROM clinics WHERE beds > 20) SELECT COUNT(*) FROM visits WHERE clinic_id IN (SELECT clinic_id FROM clinics)
-- prepared: 0d2e5e181bef5995
-- per-query: 1cd2dd271c12f822

-- SELECT COUNT(*), (SELECT COUNT(*) FROM patients) FROM visits
-- prepared: ca049e4c729d396b efb88d80fc5b02c6
-- per-query: cbe8b7a1c05b0d2a 87bb1996d1e22c89

-- SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING COUNT(*) > (SELECT COUNT(*) FROM visits) / 100
-- prepared: 2aca3c07aca02197 ca049e4c729d396b
-- per-query: bcad6b6dac8d5be5 cbe8b7a1c05b0d2a

-- SELECT COUNT(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING SUM(cost) > (SELECT AVG(cost) FROM visits))
-- prepared: 21ef94a22e9e3568 b227d1a089d6172b
-- per-query: 7c5e5baa9fe87989 b227d1a089d6172b

-- SELECT AVG(n) FROM (SELECT patient_id, SUM(CASE WHEN cost > (SELECT AVG(cost) FROM visits) THEN 1 ELSE 0 END) AS n FROM visits GROUP BY patient_id)
-- prepared: 21ef94a22e9e3568 dd8c95f88f015010
-- per-query: 7c5e5baa9fe87989 dd8c95f88f015010

-- SELECT n, COUNT(*) FROM (SELECT COUNT(*) AS n FROM visits GROUP BY patient_id) GROUP BY n ORDER BY n
-- prepared: 827802208c10939a
-- per-query: 827802208c10939a

-- SELECT * EXCLUDE (n) FROM (SELECT region, COUNT(*) AS n, AVG(income) AS a FROM patients GROUP BY region)
-- prepared: c271959d7fa3ceb3
-- per-query: 37ffb28558f43cb6

-- SELECT COUNT(*) FROM (SELECT * EXCLUDE (note, patient_id) FROM visits)
-- prepared: b507a039f5f4863b
SELECT CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "__query_1"."__unit" AS "__unit" FROM (SELECT "visits"."__unit" AS "__unit" FROM (SELECT "__unit" FROM "discreet_kept"."visits") AS "visits") AS "__query_1") AS "__rows" OFFSET 0) AS "bounded";
-- per-query: 6afebae22f381b24
SELECT coalesce(sum(CAST(CAST('1' AS BIGINT) * "rows" AS BIGINT)), 0) AS "s0" FROM (SELECT least(count(*), 12) AS "rows" FROM (SELECT "__query_1"."__unit" AS "__unit" FROM (SELECT "visits"."__unit" AS "__unit" FROM (SELECT "__unit" FROM "discreet_every"."visits") AS "visits") AS "__query_1") AS "all" GROUP BY "__unit") AS "bounded";

-- SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, diagnosis FROM visits)
-- prepared: c9747c23eef9fc56
-- per-query: c9747c23eef9fc56

-- SELECT COUNT(*) FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM visits WHERE cost > 100)
-- prepared: f06a264aa26f0e6f
-- per-query: 4aad2546885d02f6

-- SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT * FROM visits v WHERE v.patient_id = p.patient_id AND EXISTS (SELECT 1 FROM prescriptions r WHERE r.visit_id = v.visit_id AND r.dose > 500))
-- prepared: 4010de6ceaf641ac
-- per-query: 2489089a006251a4

-- SELECT COUNT(*) FROM visits WHERE clinic_id NOT IN (SELECT clinic_id FROM clinics WHERE beds > 20)
-- prepared: 6503b135639f954d
-- per-query: 6db8e6bcafb9644c

-- ((SELECT COUNT(*) AS n FROM visits) UNION ALL (SELECT COUNT(*) FROM patients)) ORDER BY n LIMIT 1
-- prepared: ca049e4c729d396b efb88d80fc5b02c6
-- per-query: cbe8b7a1c05b0d2a 87bb1996d1e22c89

-- SELECT COUNT(*) AS n FROM patients, visits WHERE patients.patient_id = visits.patient_id
-- prepared: 238ace0883fef9a7
-- per-query: f32c315eb5556ec7

-- SELECT COUNT(DISTINCT patient_id) FROM patients p JOIN visits v USING (patient_id)
-- prepared: af7bd0f488fd978d
-- per-query: af7bd0f488fd978d

-- SELECT clinic_id, COUNT(*) FROM visits JOIN clinics USING (clinic_id) GROUP BY clinic_id
-- prepared: 0ef1dd455484e9d7
-- per-query: be20cbcddb384a59

-- SELECT c.name, COUNT(*) FROM clinics c JOIN visits v ON v.clinic_id = c.clinic_id GROUP BY c.name
-- prepared: 9e08e6c5820c1d42
SELECT "k0", CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."name" AS "k0", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "v"."__unit" AS "__unit", "c"."name" AS "name" FROM (SELECT "__unit", "clinic_id" FROM "discreet_kept"."visits") AS "v" JOIN "clinics" AS "c" ON TRUE WHERE ("v"."clinic_id" = "c"."clinic_id")) AS "__rows" OFFSET 0) AS "bounded" GROUP BY "k0";
-- per-query: 49070d1c8ffd5b4b
SELECT "k0", CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY md5(CAST(ROW('discreet', "__unit", "k0", "s0") AS TEXT)) COLLATE "C", "k0", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."name" AS "k0", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "v"."__unit" AS "__unit", "c"."name" AS "name" FROM (SELECT "__unit", "clinic_id" FROM "discreet_every"."visits") AS "v" JOIN "clinics" AS "c" ON TRUE WHERE ("v"."clinic_id" = "c"."clinic_id")) AS "__rows" OFFSET 0) AS "rows") AS "ranked" WHERE "rank" <= 12) AS "bounded" GROUP BY "k0";

-- SELECT c.name, COUNT(*) FROM visits v LEFT JOIN clinics c ON v.clinic_id = c.clinic_id GROUP BY c.name
-- prepared: 1456cf152053d4a3
-- per-query: ab8f14aff2c76fc3

-- SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient_id = b.patient_id AND a.day < b.day
-- prepared: 19f7d51fcfa1a3a1
-- per-query: 6bc680927353a375

-- SELECT p.region, c.region, COUNT(*) FROM patients p JOIN visits v USING (patient_id) JOIN clinics c USING (clinic_id) GROUP BY 1, 2
-- prepared: 2a6c5bac83041e91
-- per-query: 6d8716845694812e

-- SELECT COUNT(*) FROM patients p LEFT JOIN visits v ON p.patient_id = v.patient_id WHERE v.visit_id IS NULL
-- prepared: 7694e6003c06c671
-- per-query: 08dbb29e1e055c1a

-- SELECT COUNT(*) FROM visits v JOIN (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) k ON k.patient_id = v.patient_id WHERE k.n > 3
-- prepared: da72c6cb9f4683d2
-- per-query: da72c6cb9f4683d2

-- SELECT c.name, r.n FROM clinics c LEFT JOIN (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) r USING (region)
-- prepared: f14a1c19cb48c4f8
-- per-query: 0f2655657e84d4fb

-- SELECT sex, COUNT(*) FROM patients GROUP BY sex UNION ALL SELECT region, COUNT(*) FROM patients GROUP BY region
-- prepared: 2aca3c07aca02197 f14a1c19cb48c4f8
-- per-query: bcad6b6dac8d5be5 0f2655657e84d4fb

-- SELECT region FROM clinics INTERSECT SELECT region FROM (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) EXCEPT SELECT 'north'
-- prepared: f14a1c19cb48c4f8
-- per-query: 0f2655657e84d4fb

-- SELECT t.x, r.n FROM (VALUES ('f', 1), ('m', 2)) AS t(x, y) JOIN (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) r ON r.sex = t.x
-- prepared: 2aca3c07aca02197
SELECT "k0", CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."sex" AS "k0", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex" FROM "discreet_kept"."patients") AS "patients") AS "__rows" OFFSET 0) AS "bounded" GROUP BY "k0";
-- per-query: bcad6b6dac8d5be5
SELECT "k0", CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY md5(CAST(ROW('discreet', "__unit", "k0", "s0") AS TEXT)) COLLATE "C", "k0", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."sex" AS "k0", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex" FROM "discreet_every"."patients") AS "patients") AS "__rows" OFFSET 0) AS "rows") AS "ranked" WHERE "rank" <= 1) AS "bounded" GROUP BY "k0";

-- SELECT COUNT(1), COUNT(NULL), COUNT('a'), COUNT(patient_id), COUNT(ALL cost) FROM visits
-- prepared: 02b6b5dd921fb6eb
-- per-query: bf865ed062aa44c4

-- SELECT COUNT(DISTINCT patient_id) FILTER (WHERE cost > 100), AVG(cost) FILTER (WHERE minutes > 30) FROM visits
-- prepared: 97d5d9226f376500 f95b3bf0f4179d54
-- per-query: 65c3d7f0c10c782d 40059cd814be1147

-- SELECT SUM(DISTINCT minutes), COUNT(DISTINCT clinic_id), MIN(DISTINCT minutes) FROM visits
-- prepared: 8f6dc4abee8d5238 a1a625846dac944b e492db1bbfb53dbf
-- per-query: a94bfb214df0b67a 2d4ca65e3a6c1cb0 be56a1465230da0b

-- SELECT quantile_cont(cost, 0.5), quantile_disc(cost, 0.5), quantile(cost, 0.5), approx_quantile(cost, 0.5) FROM visits
-- prepared: 88b6d8ffe2b442cd
-- per-query: 6a24cb5428462cc1

-- SELECT MIN(day), MAX(day), MEDIAN(day) FROM visits
-- prepared: e4d7f3eb7200838d
-- per-query: cb575e693131eded

-- SELECT MODE(sex), COUNT_IF(insured), SUM(insured::INT), AVG(CASE WHEN insured THEN 1.0 ELSE 0 END) FROM patients
-- prepared: 38fab6548ef2c0b6 2aca3c07aca02197
-- per-query: 0630512ce33ea227 bcad6b6dac8d5be5

-- SELECT sex, SUM(COUNT(*)) OVER (), RANK() OVER (ORDER BY COUNT(*) DESC) FROM patients GROUP BY sex
-- prepared: 2aca3c07aca02197
-- per-query: bcad6b6dac8d5be5

-- SELECT sex, RANK() OVER w AS r FROM patients GROUP BY sex WINDOW w AS (ORDER BY COUNT(*))
-- prepared: 2aca3c07aca02197
-- per-query: bcad6b6dac8d5be5

-- SELECT region, sex, COUNT(*) AS n FROM patients GROUP BY region, sex QUALIFY ROW_NUMBER() OVER (PARTITION BY region ORDER BY n DESC) = 1
-- prepared: 60b051f9c1c181d1
SELECT "k0", "k1", CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", "__rows"."sex" AS "k1", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."region" AS "region", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex", "region" FROM "discreet_kept"."patients") AS "patients") AS "__rows" OFFSET 0) AS "bounded" GROUP BY "k0", "k1";
-- per-query: 483eb63a23c32ac4
SELECT "k0", "k1", CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY md5(CAST(ROW('discreet', "__unit", "k0", "k1", "s0") AS TEXT)) COLLATE "C", "k0", "k1", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", "__rows"."sex" AS "k1", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."region" AS "region", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex", "region" FROM "discreet_every"."patients") AS "patients") AS "__rows" OFFSET 0) AS "rows") AS "ranked" WHERE "rank" <= 1) AS "bounded" GROUP BY "k0", "k1";

-- SELECT COUNT(*) FROM (SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day) = 1)
-- prepared: cb26f7b9c0f1617f
-- per-query: cb26f7b9c0f1617f

-- SELECT COUNT(*) AS n, n + 1 AS m, CASE WHEN COUNT(*) > 5 THEN COUNT(*) ELSE 0 END AS k FROM visits
-- prepared: ca049e4c729d396b
-- per-query: cbe8b7a1c05b0d2a

-- SELECT COUNT(*) / 0, LN(COUNT(*) - 100000), COALESCE(AVG(income), 0), CAST(AVG(income) AS INT) FROM patients
-- prepared: 8b10a0c8a62b6484
-- per-query: 022bea43e3f8af25

-- SELECT COUNT(*) FROM visits WHERE day + INTERVAL 3 DAY > DATE '2024-02-01' AND day - DATE '2024-02-01' > 3 AND day + 3 > '2024-02-01'
-- prepared: 4b4214766abcdcc3
-- per-query: dad6bf47c976445a

-- SELECT COUNT(*) FROM visits WHERE minutes AND TRUE OR NULL
-- prepared: 7b3c72ba736551dc
-- per-query: 97dff1c2d925ff69

-- SELECT COUNT(*) FROM visits WHERE FALSE
-- prepared: df92dedf873bde1e
-- per-query: 21e58c6803551b7c

-- SELECT COUNT(*) FROM patients WHERE sex = $$f$$ OR sex = 'it''s' -- a comment
-- prepared: 72b318f1dbaa4f16
-- per-query: 9021f09d09bfaf0c

-- SELECT COUNT(*) /* a comment; */ FROM patients WHERE income BETWEEN 1e3 AND 2e5;
-- prepared: 57886a3c573c671f
-- per-query: bbddbd7d7f6043fc

-- SELECT COUNT(*) FROM visits WHERE cost IS DISTINCT FROM cost OR cost = 0.1 + 0.2
-- prepared: 9c4edc382802c159
SELECT CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "visits"."__unit" AS "__unit" FROM (SELECT "__unit", "cost" FROM "discreet_kept"."visits") AS "visits" WHERE (("visits"."cost" IS DISTINCT FROM "visits"."cost") OR ("visits"."cost" = CAST('0.3' AS DOUBLE PRECISION)))) AS "__rows" OFFSET 0) AS "bounded";
-- per-query: db619b9604305c70
SELECT coalesce(sum(CAST(CAST('1' AS BIGINT) * "rows" AS BIGINT)), 0) AS "s0" FROM (SELECT least(count(*), 12) AS "rows" FROM (SELECT "visits"."__unit" AS "__unit" FROM (SELECT "__unit", "cost" FROM "discreet_every"."visits") AS "visits" WHERE (("visits"."cost" IS DISTINCT FROM "visits"."cost") OR ("visits"."cost" = CAST('0.3' AS DOUBLE PRECISION)))) AS "all" GROUP BY "__unit") AS "bounded";

-- SELECT AVG(clamp(a, 0, 9)), SUM(clamp(b, 0, 9)), COUNT(*) FROM (SELECT patient_id, COUNT(*) AS a, COUNT(note) AS b, COUNT(DISTINCT diagnosis) AS c, AVG(cost) AS d FROM visits GROUP BY patient_id) WHERE c > 1 AND d < 100
-- prepared: f64b181f30627b3a
-- per-query: f64b181f30627b3a

-- SELECT SUM(clamp(a, 0, 9)), AVG(clamp(b, 0, 9)), MAX(clamp(c, 0, 9)), COUNT(*) FROM (SELECT patient_id, diagnosis, MIN(cost) AS a, MAX(minutes) AS b, MEDIAN(cost) AS c FROM visits GROUP BY patient_id, diagnosis)
-- prepared: 233e130420e242c3 98e6663e174fba80
-- per-query: 233e130420e242c3 98e6663e174fba80

-- SELECT COUNT(*) FROM (SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY patient_id, diagnosis ORDER BY day DESC) AS w FROM visits) WHERE w > 3
-- prepared: 46e88312c61bd067
-- per-query: 46e88312c61bd067

-- SELECT COUNT(*) FROM (SELECT patient_id, RANK() OVER (PARTITION BY patient_id, diagnosis ORDER BY day DESC) AS w FROM visits) WHERE w > 3
-- prepared: 29a1189c7c5cb8f1
-- per-query: 29a1189c7c5cb8f1

-- SELECT COUNT(*) FROM (SELECT patient_id, DENSE_RANK() OVER (PARTITION BY patient_id, diagnosis ORDER BY day DESC) AS w FROM visits) WHERE w > 3
-- prepared: 714fc4ffebbfb1e5
-- per-query: 714fc4ffebbfb1e5

-- SELECT COUNT(*) FROM (SELECT patient_id, LAG(minutes) OVER (PARTITION BY patient_id, diagnosis ORDER BY day DESC) AS w FROM visits) WHERE w > 3
-- prepared: ea711a7af2d528e6
-- per-query: ea711a7af2d528e6

-- SELECT COUNT(*) FROM (SELECT patient_id, LEAD(minutes, 2) OVER (PARTITION BY patient_id, diagnosis ORDER BY day DESC) AS w FROM visits) WHERE w > 3
-- prepared: 0ec47ff1447c0247
-- per-query: 0ec47ff1447c0247

-- SELECT COUNT(*) FROM (SELECT patient_id, FIRST_VALUE(minutes) OVER (PARTITION BY patient_id ORDER BY day NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS w FROM visits) WHERE w > 3
-- prepared: 5d0b1105263be5d0
-- per-query: 5d0b1105263be5d0

-- SELECT COUNT(*) FROM (SELECT patient_id, LAST_VALUE(minutes) OVER (PARTITION BY patient_id ORDER BY day NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS w FROM visits) WHERE w > 3
-- prepared: c781a52d725aa3f8
SELECT coalesce(sum(CAST(CAST('1' AS BIGINT) * "rows" AS BIGINT)), 0) AS "s0" FROM (SELECT least(count(*), 12) AS "rows" FROM (SELECT "__query_1"."__unit" AS "__unit" FROM (SELECT "__seen"."__unit" AS "__unit", "__seen"."__seen0" AS "w" FROM (SELECT "visits"."__unit" AS "__unit", last_value("visits"."minutes") OVER (PARTITION BY "visits"."__unit" ORDER BY "visits"."day" NULLS FIRST, "visits"."day", "visits"."minutes" ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS "__seen0" FROM (SELECT "__unit", "day", "minutes" FROM "discreet_every"."visits") AS "visits") AS "__seen") AS "__query_1" WHERE ("__query_1"."w" > CAST('3' AS BIGINT))) AS "all" GROUP BY "__unit") AS "bounded";
-- per-query: c781a52d725aa3f8
SELECT coalesce(sum(CAST(CAST('1' AS BIGINT) * "rows" AS BIGINT)), 0) AS "s0" FROM (SELECT least(count(*), 12) AS "rows" FROM (SELECT "__query_1"."__unit" AS "__unit" FROM (SELECT "__seen"."__unit" AS "__unit", "__seen"."__seen0" AS "w" FROM (SELECT "visits"."__unit" AS "__unit", last_value("visits"."minutes") OVER (PARTITION BY "visits"."__unit" ORDER BY "visits"."day" NULLS FIRST, "visits"."day", "visits"."minutes" ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS "__seen0" FROM (SELECT "__unit", "day", "minutes" FROM "discreet_every"."visits") AS "visits") AS "__seen") AS "__query_1" WHERE ("__query_1"."w" > CAST('3' AS BIGINT))) AS "all" GROUP BY "__unit") AS "bounded";

-- SELECT COUNT(*) FROM (SELECT patient_id, COUNT(note) OVER (PARTITION BY patient_id ORDER BY day NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS w FROM visits) WHERE w > 3
-- prepared: 25f285329c335b06
-- per-query: 25f285329c335b06

-- SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) OVER (PARTITION BY patient_id ORDER BY day NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS w FROM visits) WHERE w > 3
-- prepared: a5c6270e45c07296
-- per-query: a5c6270e45c07296

-- SELECT COUNT(*) FROM (SELECT patient_id, SUM(minutes) OVER (PARTITION BY patient_id) AS w FROM visits) WHERE w > 3
-- prepared: daf9241de4124be9
-- per-query: daf9241de4124be9

-- SELECT COUNT(*) FROM (SELECT patient_id, MIN(cost) OVER (PARTITION BY patient_id) AS w FROM visits) WHERE w > 3
-- prepared: 7e8d747e924fc351
-- per-query: 7e8d747e924fc351

-- SELECT COUNT(*) FROM (SELECT patient_id, MAX(cost) OVER (PARTITION BY patient_id) AS w FROM visits) WHERE w > 3
-- prepared: 8d059138845e68f5
-- per-query: 8d059138845e68f5

-- SELECT COUNT(*) FROM kinds WHERE d > DATE '2024-02-29'
-- prepared: ac445e7c599286fc
-- per-query: ac445e7c599286fc

-- SELECT COUNT(*) FROM kinds WHERE t < TIMESTAMP '2024-03-01 12:30:00'
-- prepared: 4de8be30248ed4b1
-- per-query: 4de8be30248ed4b1

-- SELECT COUNT(*), AVG(clamp(y, 0, 2.5)) FROM kinds WHERE z >= m
-- prepared: 7cb53ba270a908d4
-- per-query: 7cb53ba270a908d4

-- SELECT COUNT(*) FROM kinds WHERE d + INTERVAL 1 MONTH > DATE '2024-02-29' OR t IS NULL
-- prepared: 7d868432a3102093
SELECT CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "kinds"."__unit" AS "__unit" FROM (SELECT "kinds"."__row_id" AS "__unit", "kinds"."d", "kinds"."t" FROM "kinds") AS "kinds" WHERE (((CASE WHEN (CAST("kinds"."d" AS TIMESTAMP) + make_interval(months => 1)) BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999' THEN (CAST("kinds"."d" AS TIMESTAMP) + make_interval(months => 1)) END) > CAST('2024-02-29 00:00:00' AS TIMESTAMP)) OR ("kinds"."t" IS NULL))) AS "__rows" OFFSET 0) AS "bounded";
-- per-query: 7d868432a3102093
SELECT CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "kinds"."__unit" AS "__unit" FROM (SELECT "kinds"."__row_id" AS "__unit", "kinds"."d", "kinds"."t" FROM "kinds") AS "kinds" WHERE (((CASE WHEN (CAST("kinds"."d" AS TIMESTAMP) + make_interval(months => 1)) BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999' THEN (CAST("kinds"."d" AS TIMESTAMP) + make_interval(months => 1)) END) > CAST('2024-02-29 00:00:00' AS TIMESTAMP)) OR ("kinds"."t" IS NULL))) AS "__rows" OFFSET 0) AS "bounded";

-- SELECT b, COUNT(*) FROM kinds GROUP BY b
-- prepared: d729f3ae0209456f
-- per-query: d729f3ae0209456f

-- SELECT s, AVG(x), SUM(i) FROM kinds GROUP BY s
-- prepared: 4386fd745e3e4029
-- per-query: 4386fd745e3e4029

-- SELECT f, m, COUNT(*) FROM kinds GROUP BY f, m
-- prepared: 6f0ef14a40ac37a3
-- per-query: 6f0ef14a40ac37a3

-- SELECT d, COUNT(*) FROM kinds GROUP BY d
-- prepared: 3e081c5dd75bf478
-- per-query: 3e081c5dd75bf478

-- SELECT w, COUNT(*) FROM kinds GROUP BY w
-- prepared: 51aa90ac1be1e5b5
-- per-query: 51aa90ac1be1e5b5

-- SELECT SUM(x * 1.5 + 2) FROM kinds WHERE x <> 0.1 AND NOT b AND s IN ('a', 'ü', NULL)
-- prepared: b46934d1b1a7af0d
-- per-query: b46934d1b1a7af0d

-- SELECT MEDIAN(x), MODE(s), MIN(i), MAX(i), COUNT(DISTINCT s), SUM(DISTINCT i) FROM kinds
-- prepared: 79a86e3305e5ce09 74e1e9b6214558f9 49ee237969433867 7abe0f9783b3bd75 0f18fd7de95c2388
-- per-query: 79a86e3305e5ce09 74e1e9b6214558f9 49ee237969433867 7abe0f9783b3bd75 0f18fd7de95c2388

-- SELECT VAR_SAMP(x), VAR_POP(x), STDDEV_SAMP(i), STDDEV_POP(i) FROM kinds
-- prepared: 7ddd68c280a49516
-- per-query: 7ddd68c280a49516

-- SELECT QUANTILE_CONT(x, 0.25), QUANTILE_DISC(i, 0.75), COUNT(o), COUNT(x) FROM kinds
-- prepared: 572de6a2de2070fc 74e1e9b6214558f9 7abe0f9783b3bd75
SELECT coalesce(sum(CAST("s0" AS BIGINT)), 0) AS "s0", coalesce(sum(CAST("s1" AS BIGINT)), 0) AS "s1" FROM (SELECT "__rows"."__unit" AS "__unit", coalesce(CASE WHEN ("__rows"."o" IS NULL) THEN CAST('0' AS BIGINT) ELSE CAST('1' AS BIGINT) END, 0) AS "s0", coalesce(CASE WHEN ("__rows"."x" IS NULL) THEN CAST('0' AS BIGINT) ELSE CAST('1' AS BIGINT) END, 0) AS "s1" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."x" AS "x", "kinds"."o" AS "o" FROM (SELECT "kinds"."__row_id" AS "__unit", "kinds"."x", "kinds"."o" FROM "kinds") AS "kinds") AS "__rows" OFFSET 0) AS "bounded";
SELECT "cell", count(*) AS "n" FROM (SELECT "__unit", "cell" FROM (SELECT "__rows"."__unit" AS "__unit", CAST(NULLIF(NULLIF(GREATEST(LEAST(CAST((CASE WHEN CAST("__rows"."__step1" AS BIGINT) BETWEEN '0' AND '16383' THEN CAST("__rows"."__step1" AS BIGINT) END) AS NUMERIC), 9223372036854775808), -9223372036854775809), 9223372036854775808), -9223372036854775809) AS BIGINT) AS "cell" FROM (SELECT "__rows".*, (CASE WHEN abs("__rows"."__step0") BETWEEN CAST('3.054936363499605e-151' AS DOUBLE PRECISION) AND CAST('3.273390607896142e+150' AS DOUBLE PRECISION) AND abs(CAST('0.01638291808540957' AS DOUBLE PRECISION)) BETWEEN CAST('3.054936363499605e-151' AS DOUBLE PRECISION) AND CAST('3.273390607896142e+150' AS DOUBLE PRECISION) THEN "__rows"."__step0" * CAST('0.01638291808540957' AS DOUBLE PRECISION) WHEN "__rows"."__step0" = CAST('0.0' AS DOUBLE PRECISION) OR CAST('0.01638291808540957' AS DOUBLE PRECISION) = CAST('0.0' AS DOUBLE PRECISION) THEN "__rows"."__step0" * CAST('0.01638291808540957' AS DOUBLE PRECISION) WHEN abs("__rows"."__step0") >= CAST('1.0' AS DOUBLE PRECISION) AND abs(CAST('0.01638291808540957' AS DOUBLE PRECISION)) >= CAST('1.0' AS DOUBLE PRECISION) THEN CASE WHEN (abs("__rows"."__step0") * CAST('7.458340731200207e-155' AS DOUBLE PRECISION)) * (abs(CAST('0.01638291808540957' AS DOUBLE PRECISION)) * CAST('7.458340731200207e-155' AS DOUBLE PRECISION)) < CAST('1.0' AS DOUBLE PRECISION) THEN "__rows"."__step0" * CAST('0.01638291808540957' AS DOUBLE PRECISION) END WHEN abs("__rows"."__step0") <= CAST('1.0' AS DOUBLE PRECISION) AND abs(CAST('0.01638291808540957' AS DOUBLE PRECISION)) <= CAST('1.0' AS DOUBLE PRECISION) THEN CASE WHEN (abs("__rows"."__step0") * CAST('4.4989137945431964e+161' AS DOUBLE PRECISION)) * (abs(CAST('0.01638291808540957' AS DOUBLE PRECISION)) * CAST('4.4989137945431964e+161' AS DOUBLE PRECISION)) > CAST('0.5' AS DOUBLE PRECISION) THEN "__rows"."__step0" * CAST('0.01638291808540957' AS DOUBLE PRECISION) ELSE CAST('0.0' AS DOUBLE PRECISION) * sign("__rows"."__step0") * sign(CAST('0.01638291808540957' AS DOUBLE PRECISION)) END ELSE "__rows"."__step0" * CAST('0.01638291808540957' AS DOUBLE PRECISION) END) AS "__step1" FROM (SELECT "__rows".*, CAST(((CASE WHEN "__rows"."i" < CAST('-5' AS BIGINT) THEN CAST('-5' AS BIGINT) WHEN "__rows"."i" > CAST('1000000' AS BIGINT) THEN CAST('1000000' AS BIGINT) ELSE "__rows"."i" END) - CAST('-5' AS BIGINT)) AS DOUBLE PRECISION) AS "__step0" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."i" AS "i" FROM (SELECT "kinds"."__row_id" AS "__unit", "kinds"."i" FROM "kinds") AS "kinds") AS "__rows" OFFSET 0) AS "__rows" OFFSET 0) AS "__rows" OFFSET 0) AS "rows" WHERE "cell" IS NOT NULL) AS "bounded" GROUP BY "cell";
SELECT "cell", count(*) AS "n" FROM (SELECT "__unit", "cell" FROM (SELECT "__rows"."__unit" AS "__unit", CAST(NULLIF(NULLIF(GREATEST(LEAST(CAST((CASE WHEN CAST("__rows"."__step0" AS BIGINT) BETWEEN '0' AND '150' THEN CAST("__rows"."__step0" AS BIGINT) END) AS NUMERIC), 9223372036854775808), -9223372036854775809), 9223372036854775808), -9223372036854775809) AS BIGINT) AS "cell" FROM (SELECT "__rows".*, ((CASE WHEN "__rows"."x" < CAST('0.0' AS DOUBLE PRECISION) THEN CAST('0.0' AS DOUBLE PRECISION) WHEN "__rows"."x" > CAST('1.5' AS DOUBLE PRECISION) THEN CAST('1.5' AS DOUBLE PRECISION) ELSE "__rows"."x" END) * CAST('100.0' AS DOUBLE PRECISION)) AS "__step0" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."x" AS "x" FROM (SELECT "kinds"."__row_id" AS "__unit", "kinds"."x" FROM "kinds") AS "kinds") AS "__rows" OFFSET 0) AS "__rows" OFFSET 0) AS "rows" WHERE "cell" IS NOT NULL) AS "bounded" GROUP BY "cell";
-- per-query: 572de6a2de2070fc 74e1e9b6214558f9 7abe0f9783b3bd75
SELECT coalesce(sum(CAST("s0" AS BIGINT)), 0) AS "s0", coalesce(sum(CAST("s1" AS BIGINT)), 0) AS "s1" FROM (SELECT "__rows"."__unit" AS "__unit", coalesce(CASE WHEN ("__rows"."o" IS NULL) THEN CAST('0' AS BIGINT) ELSE CAST('1' AS BIGINT) END, 0) AS "s0", coalesce(CASE WHEN ("__rows"."x" IS NULL) THEN CAST('0' AS BIGINT) ELSE CAST('1' AS BIGINT) END, 0) AS "s1" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."x" AS "x", "kinds"."o" AS "o" FROM (SELECT "kinds"."__row_id" AS "__unit", "kinds"."x", "kinds"."o" FROM "kinds") AS "kinds") AS "__rows" OFFSET 0) AS "bounded";
SELECT "cell", count(*) AS "n" FROM (SELECT "__unit", "cell" FROM (SELECT "__rows"."__unit" AS "__unit", CAST(NULLIF(NULLIF(GREATEST(LEAST(CAST((CASE WHEN CAST("__rows"."__step1" AS BIGINT) BETWEEN '0' AND '16383' THEN CAST("__rows"."__step1" AS BIGINT) END) AS NUMERIC), 9223372036854775808), -9223372036854775809), 9223372036854775808), -9223372036854775809) AS BIGINT) AS "cell" FROM (SELECT "__rows".*, (CASE WHEN abs("__rows"."__step0") BETWEEN CAST('3.054936363499605e-151' AS DOUBLE PRECISION) AND CAST('3.273390607896142e+150' AS DOUBLE PRECISION) AND abs(CAST('0.01638291808540957' AS DOUBLE PRECISION)) BETWEEN CAST('3.054936363499605e-151' AS DOUBLE PRECISION) AND CAST('3.273390607896142e+150' AS DOUBLE PRECISION) THEN "__rows"."__step0" * CAST('0.01638291808540957' AS DOUBLE PRECISION) WHEN "__rows"."__step0" = CAST('0.0' AS DOUBLE PRECISION) OR CAST('0.01638291808540957' AS DOUBLE PRECISION) = CAST('0.0' AS DOUBLE PRECISION) THEN "__rows"."__step0" * CAST('0.01638291808540957' AS DOUBLE PRECISION) WHEN abs("__rows"."__step0") >= CAST('1.0' AS DOUBLE PRECISION) AND abs(CAST('0.01638291808540957' AS DOUBLE PRECISION)) >= CAST('1.0' AS DOUBLE PRECISION) THEN CASE WHEN (abs("__rows"."__step0") * CAST('7.458340731200207e-155' AS DOUBLE PRECISION)) * (abs(CAST('0.01638291808540957' AS DOUBLE PRECISION)) * CAST('7.458340731200207e-155' AS DOUBLE PRECISION)) < CAST('1.0' AS DOUBLE PRECISION) THEN "__rows"."__step0" * CAST('0.01638291808540957' AS DOUBLE PRECISION) END WHEN abs("__rows"."__step0") <= CAST('1.0' AS DOUBLE PRECISION) AND abs(CAST('0.01638291808540957' AS DOUBLE PRECISION)) <= CAST('1.0' AS DOUBLE PRECISION) THEN CASE WHEN (abs("__rows"."__step0") * CAST('4.4989137945431964e+161' AS DOUBLE PRECISION)) * (abs(CAST('0.01638291808540957' AS DOUBLE PRECISION)) * CAST('4.4989137945431964e+161' AS DOUBLE PRECISION)) > CAST('0.5' AS DOUBLE PRECISION) THEN "__rows"."__step0" * CAST('0.01638291808540957' AS DOUBLE PRECISION) ELSE CAST('0.0' AS DOUBLE PRECISION) * sign("__rows"."__step0") * sign(CAST('0.01638291808540957' AS DOUBLE PRECISION)) END ELSE "__rows"."__step0" * CAST('0.01638291808540957' AS DOUBLE PRECISION) END) AS "__step1" FROM (SELECT "__rows".*, CAST(((CASE WHEN "__rows"."i" < CAST('-5' AS BIGINT) THEN CAST('-5' AS BIGINT) WHEN "__rows"."i" > CAST('1000000' AS BIGINT) THEN CAST('1000000' AS BIGINT) ELSE "__rows"."i" END) - CAST('-5' AS BIGINT)) AS DOUBLE PRECISION) AS "__step0" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."i" AS "i" FROM (SELECT "kinds"."__row_id" AS "__unit", "kinds"."i" FROM "kinds") AS "kinds") AS "__rows" OFFSET 0) AS "__rows" OFFSET 0) AS "__rows" OFFSET 0) AS "rows" WHERE "cell" IS NOT NULL) AS "bounded" GROUP BY "cell";
SELECT "cell", count(*) AS "n" FROM (SELECT "__unit", "cell" FROM (SELECT "__rows"."__unit" AS "__unit", CAST(NULLIF(NULLIF(GREATEST(LEAST(CAST((CASE WHEN CAST("__rows"."__step0" AS BIGINT) BETWEEN '0' AND '150' THEN CAST("__rows"."__step0" AS BIGINT) END) AS NUMERIC), 9223372036854775808), -9223372036854775809), 9223372036854775808), -9223372036854775809) AS BIGINT) AS "cell" FROM (SELECT "__rows".*, ((CASE WHEN "__rows"."x" < CAST('0.0' AS DOUBLE PRECISION) THEN CAST('0.0' AS DOUBLE PRECISION) WHEN "__rows"."x" > CAST('1.5' AS DOUBLE PRECISION) THEN CAST('1.5' AS DOUBLE PRECISION) ELSE "__rows"."x" END) * CAST('100.0' AS DOUBLE PRECISION)) AS "__step0" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."x" AS "x" FROM (SELECT "kinds"."__row_id" AS "__unit", "kinds"."x" FROM "kinds") AS "kinds") AS "__rows" OFFSET 0) AS "__rows" OFFSET 0) AS "rows" WHERE "cell" IS NOT NULL) AS "bounded" GROUP BY "cell";

-- SELECT COUNT(*) FROM lines
-- prepared: 1c7df722d71a6158
-- per-query: 8f95fdca75783c7e

-- SELECT COUNT(*) FROM lines JOIN orders USING (number) WHERE orders.paid
-- prepared: 75d56c3773723242
-- per-query: 75d56c3773723242

-- bounds of kinds.i
-- prepared: 83497e0f9b7bf9cd
-- per-query: 83497e0f9b7bf9cd

-- bounds of kinds.y
-- prepared: 9df2b1b714613414
-- per-query: 9df2b1b714613414

-- bounds of kinds.d
-- prepared: 7a41554f8a6d9eb1
-- per-query: 7a41554f8a6d9eb1

-- bounds of kinds.t
-- prepared: 1e821ec43c5b73f2
-- per-query: 1e821ec43c5b73f2

-- bounds of kinds.z
-- prepared: 10558b0a04a1ba02
-- per-query: 10558b0a04a1ba02

-- bounds of lines.amount
-- prepared: 3b5f34dd6087bc94
-- per-query: 43a4cf162d25bdbd

-- bounds of orders.number
-- prepared: 6eca6ad1fa4dd2ff
SELECT "k0", CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT "rows"."__unit" AS "__unit", "rows"."bin" AS "k0", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "t"."__unit" AS "__unit", CASE WHEN ("t"."number" < CAST('0' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-2147483648' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-140737488355328' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-36028797018963968' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-576460752303423488' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-2305843009213693952' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-4611686018427387904' AS BIGINT)) THEN CAST('0' AS BIGINT) ELSE CAST('1' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-1152921504606846976' AS BIGINT)) THEN CAST('2' AS BIGINT) ELSE CAST('3' AS BIGINT) END END ELSE CASE WHEN ("t"."number" < CAST('-144115188075855872' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-288230376151711744' AS BIGINT)) THEN CAST('4' AS BIGINT) ELSE CAST('5' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-72057594037927936' AS BIGINT)) THEN CAST('6' AS BIGINT) ELSE CAST('7' AS BIGINT) END END END ELSE CASE WHEN ("t"."number" < CAST('-2251799813685248' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-9007199254740992' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-18014398509481984' AS BIGINT)) THEN CAST('8' AS BIGINT) ELSE CAST('9' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-4503599627370496' AS BIGINT)) THEN CAST('10' AS BIGINT) ELSE CAST('11' AS BIGINT) END END ELSE CASE WHEN ("t"."number" < CAST('-562949953421312' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-1125899906842624' AS BIGINT)) THEN CAST('12' AS BIGINT) ELSE CAST('13' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-281474976710656' AS BIGINT)) THEN CAST('14' AS BIGINT) ELSE CAST('15' AS BIGINT) END END END END ELSE CASE WHEN ("t"."number" < CAST('-549755813888' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-8796093022208' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-35184372088832' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-70368744177664' AS BIGINT)) THEN CAST('16' AS BIGINT) ELSE CAST('17' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-17592186044416' AS BIGINT)) THEN CAST('18' AS BIGINT) ELSE CAST('19' AS BIGINT) END END ELSE CASE WHEN ("t"."number" < CAST('-2199023255552' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-4398046511104' AS BIGINT)) THEN CAST('20' AS BIGINT) ELSE CAST('21' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-1099511627776' AS BIGINT)) THEN CAST('22' AS BIGINT) ELSE CAST('23' AS BIGINT) END END END ELSE CASE WHEN ("t"."number" < CAST('-34359738368' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-137438953472' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-274877906944' AS BIGINT)) THEN CAST('24' AS BIGINT) ELSE CAST('25' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-68719476736' AS BIGINT)) THEN CAST('26' AS BIGINT) ELSE CAST('27' AS BIGINT) END END ELSE CASE WHEN ("t"."number" < CAST('-8589934592' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-17179869184' AS BIGINT)) THEN CAST('28' AS BIGINT) ELSE CAST('29' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-4294967296' AS BIGINT)) THEN CAST('30' AS BIGINT) ELSE CAST('31' AS BIGINT) END END END END END ELSE CASE WHEN ("t"."number" < CAST('-32768' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-8388608' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-134217728' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-536870912' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-1073741824' AS BIGINT)) THEN CAST('32' AS BIGINT) ELSE CAST('33' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-268435456' AS BIGINT)) THEN CAST('34' AS BIGINT) ELSE CAST('35' AS BIGINT) END END ELSE CASE WHEN ("t"."number" < CAST('-33554432' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-67108864' AS BIGINT)) THEN CAST('36' AS BIGINT) ELSE CAST('37' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-16777216' AS BIGINT)) THEN CAST('38' AS BIGINT) ELSE CAST('39' AS BIGINT) END END END ELSE CASE WHEN ("t"."number" < CAST('-524288' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-2097152' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-4194304' AS BIGINT)) THEN CAST('40' AS BIGINT) ELSE CAST('41' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-1048576' AS BIGINT)) THEN CAST('42' AS BIGINT) ELSE CAST('43' AS BIGINT) END END ELSE CASE WHEN ("t"."number" < CAST('-131072' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-262144' AS BIGINT)) THEN CAST('44' AS BIGINT) ELSE CAST('45' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-65536' AS BIGINT)) THEN CAST('46' AS BIGINT) ELSE CAST('47' AS BIGINT) END END END END ELSE CASE WHEN ("t"."number" < CAST('-128' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-2048' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-8192' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-16384' AS BIGINT)) THEN CAST('48' AS BIGINT) ELSE CAST('49' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-4096' AS BIGINT)) THEN CAST('50' AS BIGINT) ELSE CAST('51' AS BIGINT) END END ELSE CASE WHEN ("t"."number" < CAST('-512' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-1024' AS BIGINT)) THEN CAST('52' AS BIGINT) ELSE CAST('53' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-256' AS BIGINT)) THEN CAST('54' AS BIGINT) ELSE CAST('55' AS BIGINT) END END END ELSE CASE WHEN ("t"."number" < CAST('-8' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-32' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-64' AS BIGINT)) THEN CAST('56' AS BIGINT) ELSE CAST('57' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-16' AS BIGINT)) THEN CAST('58' AS BIGINT) ELSE CAST('59' AS BIGINT) END END ELSE CASE WHEN ("t"."number" < CAST('-2' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-4' AS BIGINT)) THEN CAST('60' AS BIGINT) ELSE CAST('61' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-1' AS BIGINT)) THEN CAST('62' AS BIGINT) ELSE CAST('63' AS BIGINT) END END END END END END ELSE CASE WHEN ("t"."number" <= CAST('1073741824' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('16384' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('64' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('4' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('1' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('0' AS BIGINT)) THEN CAST('64' AS BIGINT) ELSE CAST('65' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('2' AS BIGINT)) THEN CAST('66' AS BIGINT) ELSE CAST('67' AS BIGINT) END END ELSE CASE WHEN ("t"."number" <= CAST('16' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('8' AS BIGINT)) THEN CAST('68' AS BIGINT) ELSE CAST('69' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('32' AS BIGINT)) THEN CAST('70' AS BIGINT) ELSE CAST('71' AS BIGINT) END END END ELSE CASE WHEN ("t"."number" <= CAST('1024' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('256' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('128' AS BIGINT)) THEN CAST('72' AS BIGINT) ELSE CAST('73' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('512' AS BIGINT)) THEN CAST('74' AS BIGINT) ELSE CAST('75' AS BIGINT) END END ELSE CASE WHEN ("t"."number" <= CAST('4096' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('2048' AS BIGINT)) THEN CAST('76' AS BIGINT) ELSE CAST('77' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('8192' AS BIGINT)) THEN CAST('78' AS BIGINT) ELSE CAST('79' AS BIGINT) END END END END ELSE CASE WHEN ("t"."number" <= CAST('4194304' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('262144' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('65536' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('32768' AS BIGINT)) THEN CAST('80' AS BIGINT) ELSE CAST('81' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('131072' AS BIGINT)) THEN CAST('82' AS BIGINT) ELSE CAST('83' AS BIGINT) END END ELSE CASE WHEN ("t"."number" <= CAST('1048576' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('524288' AS BIGINT)) THEN CAST('84' AS BIGINT) ELSE CAST('85' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('2097152' AS BIGINT)) THEN CAST('86' AS BIGINT) ELSE CAST('87' AS BIGINT) END END END ELSE CASE WHEN ("t"."number" <= CAST('67108864' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('16777216' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('8388608' AS BIGINT)) THEN CAST('88' AS BIGINT) ELSE CAST('89' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('33554432' AS BIGINT)) THEN CAST('90' AS BIGINT) ELSE CAST('91' AS BIGINT) END END ELSE CASE WHEN ("t"."number" <= CAST('268435456' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('134217728' AS BIGINT)) THEN CAST('92' AS BIGINT) ELSE CAST('93' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('536870912' AS BIGINT)) THEN CAST('94' AS BIGINT) ELSE CAST('95' AS BIGINT) END END END END END ELSE CASE WHEN ("t"."number" <= CAST('70368744177664' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('274877906944' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('17179869184' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('4294967296' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('2147483648' AS BIGINT)) THEN CAST('96' AS BIGINT) ELSE CAST('97' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('8589934592' AS BIGINT)) THEN CAST('98' AS BIGINT) ELSE CAST('99' AS BIGINT) END END ELSE CASE WHEN ("t"."number" <= CAST('68719476736' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('34359738368' AS BIGINT)) THEN CAST('100' AS BIGINT) ELSE CAST('101' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('137438953472' AS BIGINT)) THEN CAST('102' AS BIGINT) ELSE CAST('103' AS BIGINT) END END END ELSE CASE WHEN ("t"."number" <= CAST('4398046511104' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('1099511627776' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('549755813888' AS BIGINT)) THEN CAST('104' AS BIGINT) ELSE CAST('105' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('2199023255552' AS BIGINT)) THEN CAST('106' AS BIGINT) ELSE CAST('107' AS BIGINT) END END ELSE CASE WHEN ("t"."number" <= CAST('17592186044416' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('8796093022208' AS BIGINT)) THEN CAST('108' AS BIGINT) ELSE CAST('109' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('35184372088832' AS BIGINT)) THEN CAST('110' AS BIGINT) ELSE CAST('111' AS BIGINT) END END END END ELSE CASE WHEN ("t"."number" <= CAST('18014398509481984' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('1125899906842624' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('281474976710656' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('140737488355328' AS BIGINT)) THEN CAST('112' AS BIGINT) ELSE CAST('113' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('562949953421312' AS BIGINT)) THEN CAST('114' AS BIGINT) ELSE CAST('115' AS BIGINT) END END ELSE CASE WHEN ("t"."number" <= CAST('4503599627370496' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('2251799813685248' AS BIGINT)) THEN CAST('116' AS BIGINT) ELSE CAST('117' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('9007199254740992' AS BIGINT)) THEN CAST('118' AS BIGINT) ELSE CAST('119' AS BIGINT) END END END ELSE CASE WHEN ("t"."number" <= CAST('288230376151711744' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('72057594037927936' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('36028797018963968' AS BIGINT)) THEN CAST('120' AS BIGINT) ELSE CAST('121' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('144115188075855872' AS BIGINT)) THEN CAST('122' AS BIGINT) ELSE CAST('123' AS BIGINT) END END ELSE CASE WHEN ("t"."number" <= CAST('1152921504606846976' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('576460752303423488' AS BIGINT)) THEN CAST('124' AS BIGINT) ELSE CAST('125' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('2305843009213693952' AS BIGINT)) THEN CAST('126' AS BIGINT) ELSE CASE WHEN ("t"."number" <= CAST('4611686018427387904' AS BIGINT)) THEN CAST('127' AS BIGINT) ELSE CAST('128' AS BIGINT) END END END END END END END END AS "bin" FROM (SELECT "__unit", "number" FROM "discreet_kept"."orders") AS "t" WHERE (NOT ("t"."number" IS NULL))) AS "rows" OFFSET 0) AS "bounded" GROUP BY "k0";
-- per-query: 7cf28cd1695688ff
SELECT "k0", CAST(count(*) AS BIGINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY md5(CAST(ROW('discreet', "__unit", "k0", "s0") AS TEXT)) COLLATE "C", "k0", "s0") AS "rank" FROM (SELECT "rows"."__unit" AS "__unit", "rows"."bin" AS "k0", CAST('1' AS BIGINT) AS "s0" FROM (SELECT "t"."__unit" AS "__unit", CASE WHEN ("t"."number" < CAST('0' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-2147483648' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-140737488355328' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-36028797018963968' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-576460752303423488' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-2305843009213693952' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-4611686018427387904' AS BIGINT)) THEN CAST('0' AS BIGINT) ELSE CAST('1' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-1152921504606846976' AS BIGINT)) THEN CAST('2' AS BIGINT) ELSE CAST('3' AS BIGINT) END END ELSE CASE WHEN ("t"."number" < CAST('-144115188075855872' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-288230376151711744' AS BIGINT)) THEN CAST('4' AS BIGINT) ELSE CAST('5' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-72057594037927936' AS BIGINT)) THEN CAST('6' AS BIGINT) ELSE CAST('7' AS BIGINT) END END END ELSE CASE WHEN ("t"."number" < CAST('-2251799813685248' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-9007199254740992' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-18014398509481984' AS BIGINT)) THEN CAST('8' AS BIGINT) ELSE CAST('9' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-4503599627370496' AS BIGINT)) THEN CAST('10' AS BIGINT) ELSE CAST('11' AS BIGINT) END END ELSE CASE WHEN ("t"."number" < CAST('-562949953421312' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-1125899906842624' AS BIGINT)) THEN CAST('12' AS BIGINT) ELSE CAST('13' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-281474976710656' AS BIGINT)) THEN CAST('14' AS BIGINT) ELSE CAST('15' AS BIGINT) END END END END ELSE CASE WHEN ("t"."number" < CAST('-549755813888' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-8796093022208' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-35184372088832' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-70368744177664' AS BIGINT)) THEN CAST('16' AS BIGINT) ELSE CAST('17' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-17592186044416' AS BIGINT)) THEN CAST('18' AS BIGINT) ELSE CAST('19' AS BIGINT) END END ELSE CASE WHEN ("t"."number" < CAST('-2199023255552' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-4398046511104' AS BIGINT)) THEN CAST('20' AS BIGINT) ELSE CAST('21' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-1099511627776' AS BIGINT)) THEN CAST('22' AS BIGINT) ELSE CAST('23' AS BIGINT) END END END ELSE CASE WHEN ("t"."number" < CAST('-34359738368' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-137438953472' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-274877906944' AS BIGINT)) THEN CAST('24' AS BIGINT) ELSE CAST('25' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-68719476736' AS BIGINT)) THEN CAST('26' AS BIGINT) ELSE CAST('27' AS BIGINT) END END ELSE CASE WHEN ("t"."number" < CAST('-8589934592' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-17179869184' AS BIGINT)) THEN CAST('28' AS BIGINT) ELSE CAST('29' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-4294967296' AS BIGINT)) THEN CAST('30' AS BIGINT) ELSE CAST('31' AS BIGINT) END END END END END ELSE CASE WHEN ("t"."number" < CAST('-32768' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-8388608' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-134217728' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-536870912' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-1073741824' AS BIGINT)) THEN CAST('32' AS BIGINT) ELSE CAST('33' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-268435456' AS BIGINT)) THEN CAST('34' AS BIGINT) ELSE CAST('35' AS BIGINT) END END ELSE CASE WHEN ("t"."number" < CAST('-33554432' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-67108864' AS BIGINT)) THEN CAST('36' AS BIGINT) ELSE CAST('37' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-16777216' AS BIGINT)) THEN CAST('38' AS BIGINT) ELSE CAST('39' AS BIGINT) END END END ELSE CASE WHEN ("t"."number" < CAST('-524288' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-2097152' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-4194304' AS BIGINT)) THEN CAST('40' AS BIGINT) ELSE CAST('41' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-1048576' AS BIGINT)) THEN CAST('42' AS BIGINT) ELSE CAST('43' AS BIGINT) END END ELSE CASE WHEN ("t"."number" < CAST('-131072' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-262144' AS BIGINT)) THEN CAST('44' AS BIGINT) ELSE CAST('45' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-65536' AS BIGINT)) THEN CAST('46' AS BIGINT) ELSE CAST('47' AS BIGINT) END END END END ELSE CASE WHEN ("t"."number" < CAST('-128' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-2048' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-8192' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-16384' AS BIGINT)) THEN CAST('48' AS BIGINT) ELSE CAST('49' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-4096' AS BIGINT)) THEN CAST('50' AS BIGINT) ELSE CAST('51' AS BIGINT) END END ELSE CASE WHEN ("t"."number" < CAST('-512' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-1024' AS BIGINT)) THEN CAST('52' AS BIGINT) ELSE CAST('53' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-256' AS BIGINT)) THEN CAST('54' AS BIGINT) ELSE CAST('55' AS BIGINT) END END END ELSE CASE WHEN ("t"."number" < CAST('-8' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-32' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-64' AS BIGINT)) THEN CAST('56' AS BIGINT) ELSE CAST('57' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-16' AS BIGINT)) THEN CAST('58' AS BIGINT) ELSE CAST('59' AS BIGINT) END END ELSE CASE WHEN ("t"."number" < CAST('-2' AS BIGINT)) THEN CASE WHEN ("t"."number" < CAST('-4' AS BIGINT)) THEN CAST('60' AS BIGINT) ELSE CAST('61' AS BIGINT) END ELSE CASE WHEN ("t"."number" < CAST('-1' AS BIGINT)) THEN CAST('62' AS BIGINT) ELSE CAST('63' AS BIGINT) END END END END END END ELSE CASE WHEN ("t"."number" <= CAST('1073741824' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('16384' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('64' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('4' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('1' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('0' AS BIGINT)) THEN CAST('64' AS BIGINT) ELSE CAST('65' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('2' AS BIGINT)) THEN CAST('66' AS BIGINT) ELSE CAST('67' AS BIGINT) END END ELSE CASE WHEN ("t"."number" <= CAST('16' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('8' AS BIGINT)) THEN CAST('68' AS BIGINT) ELSE CAST('69' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('32' AS BIGINT)) THEN CAST('70' AS BIGINT) ELSE CAST('71' AS BIGINT) END END END ELSE CASE WHEN ("t"."number" <= CAST('1024' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('256' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('128' AS BIGINT)) THEN CAST('72' AS BIGINT) ELSE CAST('73' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('512' AS BIGINT)) THEN CAST('74' AS BIGINT) ELSE CAST('75' AS BIGINT) END END ELSE CASE WHEN ("t"."number" <= CAST('4096' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('2048' AS BIGINT)) THEN CAST('76' AS BIGINT) ELSE CAST('77' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('8192' AS BIGINT)) THEN CAST('78' AS BIGINT) ELSE CAST('79' AS BIGINT) END END END END ELSE CASE WHEN ("t"."number" <= CAST('4194304' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('262144' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('65536' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('32768' AS BIGINT)) THEN CAST('80' AS BIGINT) ELSE CAST('81' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('131072' AS BIGINT)) THEN CAST('82' AS BIGINT) ELSE CAST('83' AS BIGINT) END END ELSE CASE WHEN ("t"."number" <= CAST('1048576' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('524288' AS BIGINT)) THEN CAST('84' AS BIGINT) ELSE CAST('85' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('2097152' AS BIGINT)) THEN CAST('86' AS BIGINT) ELSE CAST('87' AS BIGINT) END END END ELSE CASE WHEN ("t"."number" <= CAST('67108864' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('16777216' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('8388608' AS BIGINT)) THEN CAST('88' AS BIGINT) ELSE CAST('89' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('33554432' AS BIGINT)) THEN CAST('90' AS BIGINT) ELSE CAST('91' AS BIGINT) END END ELSE CASE WHEN ("t"."number" <= CAST('268435456' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('134217728' AS BIGINT)) THEN CAST('92' AS BIGINT) ELSE CAST('93' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('536870912' AS BIGINT)) THEN CAST('94' AS BIGINT) ELSE CAST('95' AS BIGINT) END END END END END ELSE CASE WHEN ("t"."number" <= CAST('70368744177664' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('274877906944' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('17179869184' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('4294967296' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('2147483648' AS BIGINT)) THEN CAST('96' AS BIGINT) ELSE CAST('97' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('8589934592' AS BIGINT)) THEN CAST('98' AS BIGINT) ELSE CAST('99' AS BIGINT) END END ELSE CASE WHEN ("t"."number" <= CAST('68719476736' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('34359738368' AS BIGINT)) THEN CAST('100' AS BIGINT) ELSE CAST('101' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('137438953472' AS BIGINT)) THEN CAST('102' AS BIGINT) ELSE CAST('103' AS BIGINT) END END END ELSE CASE WHEN ("t"."number" <= CAST('4398046511104' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('1099511627776' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('549755813888' AS BIGINT)) THEN CAST('104' AS BIGINT) ELSE CAST('105' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('2199023255552' AS BIGINT)) THEN CAST('106' AS BIGINT) ELSE CAST('107' AS BIGINT) END END ELSE CASE WHEN ("t"."number" <= CAST('17592186044416' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('8796093022208' AS BIGINT)) THEN CAST('108' AS BIGINT) ELSE CAST('109' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('35184372088832' AS BIGINT)) THEN CAST('110' AS BIGINT) ELSE CAST('111' AS BIGINT) END END END END ELSE CASE WHEN ("t"."number" <= CAST('18014398509481984' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('1125899906842624' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('281474976710656' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('140737488355328' AS BIGINT)) THEN CAST('112' AS BIGINT) ELSE CAST('113' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('562949953421312' AS BIGINT)) THEN CAST('114' AS BIGINT) ELSE CAST('115' AS BIGINT) END END ELSE CASE WHEN ("t"."number" <= CAST('4503599627370496' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('2251799813685248' AS BIGINT)) THEN CAST('116' AS BIGINT) ELSE CAST('117' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('9007199254740992' AS BIGINT)) THEN CAST('118' AS BIGINT) ELSE CAST('119' AS BIGINT) END END END ELSE CASE WHEN ("t"."number" <= CAST('288230376151711744' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('72057594037927936' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('36028797018963968' AS BIGINT)) THEN CAST('120' AS BIGINT) ELSE CAST('121' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('144115188075855872' AS BIGINT)) THEN CAST('122' AS BIGINT) ELSE CAST('123' AS BIGINT) END END ELSE CASE WHEN ("t"."number" <= CAST('1152921504606846976' AS BIGINT)) THEN CASE WHEN ("t"."number" <= CAST('576460752303423488' AS BIGINT)) THEN CAST('124' AS BIGINT) ELSE CAST('125' AS BIGINT) END ELSE CASE WHEN ("t"."number" <= CAST('2305843009213693952' AS BIGINT)) THEN CAST('126' AS BIGINT) ELSE CASE WHEN ("t"."number" <= CAST('4611686018427387904' AS BIGINT)) THEN CAST('127' AS BIGINT) ELSE CAST('128' AS BIGINT) END END END END END END END END AS "bin" FROM (SELECT "__unit", "number" FROM "discreet_every"."orders") AS "t" WHERE (NOT ("t"."number" IS NULL))) AS "rows" OFFSET 0) AS "rows") AS "ranked" WHERE "rank" <= 10) AS "bounded" GROUP BY "k0";

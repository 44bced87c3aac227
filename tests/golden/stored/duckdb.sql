-- SELECT COUNT(*) AS n FROM visits
-- prepared: d87acc6f8479ecfa
SELECT CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", 1 AS "s0" FROM (SELECT "visits"."__unit" AS "__unit" FROM (SELECT "__unit" FROM "kept"."visits") AS "visits") AS "__rows") AS "bounded";
-- per-query: 841aea505f98872c
SELECT CAST(coalesce(sum(1 * "rows"), 0) AS HUGEINT) AS "s0" FROM (SELECT "units", "rows" FROM "heavy"."counts" WHERE "name" = '3422f552c1d702bf') AS "counts";

-- SELECT COUNT(DISTINCT patient_id) AS people FROM visits
-- prepared: 63f0a88a16931cb5
-- per-query: cc4ee6ea3904056e

-- SELECT region, COUNT(*), AVG(income) FROM patients GROUP BY region
-- prepared: c4a4dc66b80e09c6
-- per-query: 628d9f2c80af2de9

-- SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis ORDER BY n DESC LIMIT 5
-- prepared: 33a1a7e0544ca49e
-- per-query: 799fbb064b487f7d

-- SELECT region, COUNT(*) AS n, 3 * COUNT(*) AS thrice, CASE WHEN COUNT(*) > 100 THEN 'large' ELSE 'small' END AS size FROM patients GROUP BY region
-- prepared: ffd736ff13ff26f7
-- per-query: fb100e1b9964ea98

-- SELECT SUM(cost * 1.2 + minutes) AS s FROM visits WHERE cost BETWEEN 10 AND 100
-- prepared: 760e67ad714b3a86
-- per-query: 003115e3ef4b6586

-- SELECT SUM(CASE WHEN minutes > 60 THEN 1 ELSE 0 END) AS long_visits, COUNT(*) FILTER (WHERE cost > 100) AS dear FROM visits
-- prepared: 0bdfa5062ce7b4be
-- per-query: 55b67b9ebbf043ac

-- SELECT VARIANCE(minutes) AS v, STDDEV(minutes) AS sd FROM visits
-- prepared: 369d10d762d215fe
-- per-query: 7003045ad85d86ad

-- SELECT MEDIAN(cost) AS m, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY cost) AS p90, MIN(minutes) AS lo, MAX(minutes) AS hi FROM visits
-- prepared: 49cd7d28d5b092e3 65671d49077bd602
-- per-query: 092d65c8b6dc0371 aeacad5753d0409d

-- SELECT c.region, AVG(v.cost) AS cost FROM visits v JOIN clinics c ON v.clinic_id = c.clinic_id GROUP BY c.region
-- prepared: 3a765307f8c8c2af
SELECT "k0", CAST(count("s0") AS HUGEINT) AS "s0", CAST(coalesce(sum("s1"), 0) AS HUGEINT) AS "s1" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", "__rows"."cost in 1073741824 steps from 0 to 500" AS "s0", "__rows"."cost in 1073741824 steps from 0 to 500" AS "s1" FROM (SELECT "v"."__unit" AS "__unit", "c"."region" AS "region", "v"."cost in 1073741824 steps from 0 to 500" AS "cost in 1073741824 steps from 0 to 500" FROM (SELECT "__unit", "clinic_id", "cost in 1073741824 steps from 0 to 500" FROM "kept"."visits") AS "v" JOIN "clinics" AS "c" ON ("v"."clinic_id" = "c"."clinic_id")) AS "__rows") AS "bounded" GROUP BY "k0";
-- per-query: 1d780da9c109f9ce
SELECT "k0", CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0", CAST(coalesce(sum("s1"), 0) AS HUGEINT) AS "s1" FROM (SELECT "k0", CAST(count("s0") AS HUGEINT) AS "s0", CAST(coalesce(sum("s1"), 0) AS HUGEINT) AS "s1" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", TRY_CAST((CASE WHEN "__rows"."cost" < 0.0e0 THEN 0.0e0 WHEN "__rows"."cost" > 500.0e0 THEN 500.0e0 ELSE "__rows"."cost" END * 2147483.648e0) AS BIGINT) AS "s0", TRY_CAST((CASE WHEN "__rows"."cost" < 0.0e0 THEN 0.0e0 WHEN "__rows"."cost" > 500.0e0 THEN 500.0e0 ELSE "__rows"."cost" END * 2147483.648e0) AS BIGINT) AS "s1" FROM (SELECT "v"."__unit" AS "__unit", "c"."region" AS "region", "v"."cost" AS "cost" FROM (SELECT * FROM (SELECT "__unit", "clinic_id", "cost" FROM "every"."visits") AS "__of" WHERE NOT ("__unit" IN (SELECT u FROM "heavy"."3422f552c1d702bf"))) AS "v" JOIN "clinics" AS "c" ON ("v"."clinic_id" = "c"."clinic_id")) AS "__rows") AS "bounded" GROUP BY "k0" UNION ALL SELECT "k0", CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0", CAST(coalesce(sum("s1"), 0) AS HUGEINT) AS "s1" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY hash('discreet', "__unit", "k0", "s0", "s1"), "k0", "s0", "s1") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", coalesce(CASE WHEN (TRY_CAST((CASE WHEN "__rows"."cost" < 0.0e0 THEN 0.0e0 WHEN "__rows"."cost" > 500.0e0 THEN 500.0e0 ELSE "__rows"."cost" END * 2147483.648e0) AS BIGINT) IS NULL) THEN 0 ELSE 1 END, 0) AS "s0", coalesce(TRY_CAST((CASE WHEN "__rows"."cost" < 0.0e0 THEN 0.0e0 WHEN "__rows"."cost" > 500.0e0 THEN 500.0e0 ELSE "__rows"."cost" END * 2147483.648e0) AS BIGINT), 0) AS "s1" FROM (SELECT "v"."__unit" AS "__unit", "c"."region" AS "region", "v"."cost" AS "cost" FROM (SELECT "__unit", "clinic_id", "cost" FROM "heavy"."3422f552c1d702bfrows" UNION ALL SELECT "__unit", "clinic_id", "cost" FROM (SELECT "__unit", "clinic_id", "cost" FROM "every"."visits") AS "others" WHERE "__unit" IN (SELECT u FROM "heavy"."3422f552c1d702bfmany")) AS "v" JOIN "clinics" AS "c" ON ("v"."clinic_id" = "c"."clinic_id")) AS "__rows") AS "rows") AS "ranked" WHERE "rank" <= 12) AS "bounded" GROUP BY "k0") AS "parts" GROUP BY "k0";

-- SELECT p.sex, AVG(v.minutes) AS minutes FROM patients p JOIN visits v ON p.patient_id = v.patient_id GROUP BY p.sex
-- prepared: 85f353b838ce8902
-- per-query: 95e4b0490eaa88d2

-- SELECT COUNT(*) AS n FROM prescriptions WHERE dose > 500
-- prepared: 51e22a6a49b2fe01
-- per-query: 3be30e4e8ae87ad0

-- WITH per_patient AS (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id) SELECT AVG(LEAST(GREATEST(total, 0), 1000)) AS avg_total FROM per_patient
-- prepared: 4042c617a33ea001
-- per-query: 4042c617a33ea001

-- SELECT COUNT(*) AS frequent FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) >= 5) AS t
-- prepared: d4c0a909049ee9e6
-- per-query: d4c0a909049ee9e6

-- WITH r AS (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) SELECT region, n, 100.0 * n / SUM(n) OVER () AS share FROM r ORDER BY share DESC
-- prepared: ffd736ff13ff26f7
-- per-query: fb100e1b9964ea98

-- SELECT a.region, a.n AS insured, b.n AS everyone FROM (SELECT region, COUNT(*) AS n FROM patients WHERE insured GROUP BY region) a JOIN (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) b ON a.region = b.region
-- prepared: 79c5c4fb5a5ce4a7 ffd736ff13ff26f7
-- per-query: 80c84fb0ba7f8352 fb100e1b9964ea98

-- SELECT date_trunc('month', day) AS month, COUNT(*) AS n FROM visits GROUP BY month ORDER BY month
-- prepared: 462b48411f9d4303
-- per-query: 13907d30913edb8e

-- SELECT diagnosis, COUNT(*) FROM visits WHERE diagnosis IN ('flu', 'asthma', 'fracture') GROUP BY diagnosis
-- prepared: 16cb299b7e128de8
-- per-query: 432fd0c16b70a54d

-- SELECT insured, sex, COUNT(*) AS n FROM patients GROUP BY insured, sex HAVING COUNT(*) > 10
-- prepared: f64ff26970db8f0f
SELECT "k0", "k1", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."insured" AS "k0", "__rows"."sex" AS "k1", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."insured" AS "insured", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex", "insured" FROM "kept"."patients") AS "patients") AS "__rows") AS "bounded" GROUP BY "k0", "k1";
-- per-query: e39cd497891405f4
SELECT "k0", "k1", CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0" FROM (SELECT "k0", "k1", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."insured" AS "k0", "__rows"."sex" AS "k1", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."insured" AS "insured", "patients"."sex" AS "sex" FROM (SELECT * FROM (SELECT "__unit", "sex", "insured" FROM "every"."patients") AS "__of" WHERE NOT ("__unit" IN (SELECT u FROM "heavy"."25622cc707367db4"))) AS "patients") AS "__rows") AS "bounded" GROUP BY "k0", "k1" UNION ALL SELECT "k0", "k1", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY hash('discreet', "__unit", "k0", "k1", "s0"), "k0", "k1", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."insured" AS "k0", "__rows"."sex" AS "k1", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."insured" AS "insured", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex", "insured" FROM "heavy"."25622cc707367db4rows" UNION ALL SELECT "__unit", "sex", "insured" FROM (SELECT "__unit", "sex", "insured" FROM "every"."patients") AS "others" WHERE "__unit" IN (SELECT u FROM "heavy"."25622cc707367db4many")) AS "patients") AS "__rows") AS "rows") AS "ranked" WHERE "rank" <= 1) AS "bounded" GROUP BY "k0", "k1") AS "parts" GROUP BY "k0", "k1";

-- SELECT COUNT(*) FROM patients WHERE patient_id = 7
-- prepared: 4d249209cc697613
-- per-query: dff8390f69d42076

-- SELECT name, beds FROM clinics ORDER BY beds DESC
-- prepared: 
-- per-query: 

-- SELECT SQRT(AVG(cost)) AS r, PI() AS p, COUNT(*) + 0 AS n FROM visits
-- prepared: 8e5d5df6300b82e5
-- per-query: efbe2e76aa3ba08b

-- SELECT COUNT(*) FROM visits WHERE note ILIKE '%allerg%' OR note IS NULL
-- prepared: 3dd8d0f1964c21cf
-- per-query: 0b20f6011fe3239d

-- SELECT COUNT(DISTINCT diagnosis) AS kinds FROM visits
-- prepared: 9539eb2af5857678
-- per-query: 019b0740e60b2e49

-- SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.cost > 400)
-- prepared: bb6ba0b5b10dec04
-- per-query: cba50702e985c6f6

-- SELECT AVG(gap) FROM (SELECT patient_id, date_diff('day', LAG(day) OVER (PARTITION BY patient_id ORDER BY day), day) AS gap FROM visits) AS g WHERE gap BETWEEN 0 AND 365
-- prepared: eb6efca1b067152e
-- per-query: eb6efca1b067152e

-- SELECT CASE WHEN 2024 - birth_year >= 65 THEN 'old' ELSE 'young' END AS age_group, COUNT(*) FROM patients GROUP BY 1
-- prepared: faa125033828f442
-- per-query: 05249fd2150b815a

-- SELECT COUNT(*) FROM (SELECT patient_id, minutes FROM visits UNION ALL SELECT patient_id, 0 FROM patients) AS u WHERE minutes > 30
-- prepared: edfad5a6f224283a
SELECT CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", 1 AS "s0" FROM (SELECT "u"."__unit" AS "__unit" FROM (SELECT "__unit", "minutes" AS "minutes" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."minutes" AS "minutes" FROM (SELECT "__unit", "minutes" FROM "kept"."visits") AS "visits") AS "__part" UNION ALL SELECT "__unit", "0" AS "minutes" FROM (SELECT "patients"."__unit" AS "__unit", 0 AS "0" FROM (SELECT "__unit" FROM "kept"."patients") AS "patients") AS "__part") AS "u" WHERE ("u"."minutes" > 30)) AS "__rows") AS "bounded";
-- per-query: fb1c6390405efa08
SELECT CAST(coalesce(sum(1 * "rows"), 0) AS HUGEINT) AS "s0" FROM (SELECT CAST(sum(n) AS BIGINT) AS "rows", CAST(sum(f) AS BIGINT) AS f FROM (SELECT count(*) AS n, 0 AS f FROM (SELECT "u"."__unit" AS "__unit" FROM (SELECT "__unit", "minutes" AS "minutes" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."minutes" AS "minutes" FROM (SELECT "__unit", "minutes" FROM "every"."visits") AS "visits") AS "__part" UNION ALL SELECT "__unit", "0" AS "minutes" FROM (SELECT "patients"."__unit" AS "__unit", 0 AS "0" FROM (SELECT "__unit" FROM "every"."patients") AS "patients") AS "__part") AS "u" WHERE ("u"."minutes" > 30)) AS "all" UNION ALL SELECT -coalesce(sum(CASE WHEN n > 13 THEN n - 13 ELSE 0 END), 0), 0 FROM (SELECT count(*) AS n FROM (SELECT "u"."__unit" AS "__unit" FROM (SELECT "__unit", "minutes" AS "minutes" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."minutes" AS "minutes" FROM (SELECT * FROM (SELECT "__unit", "minutes" FROM "every"."visits") AS "__of" WHERE ("__unit" IN (SELECT u FROM "heavy"."3422f552c1d702bf" UNION ALL SELECT u FROM "heavy"."25622cc707367db4"))) AS "visits") AS "__part" UNION ALL SELECT "__unit", "0" AS "minutes" FROM (SELECT "patients"."__unit" AS "__unit", 0 AS "0" FROM (SELECT * FROM (SELECT "__unit" FROM "every"."patients") AS "__of" WHERE ("__unit" IN (SELECT u FROM "heavy"."3422f552c1d702bf" UNION ALL SELECT u FROM "heavy"."25622cc707367db4"))) AS "patients") AS "__part") AS "u" WHERE ("u"."minutes" > 30)) AS "heavy" GROUP BY "__unit") AS "each") AS "parts") AS "rows";

-- SELECT COUNT(*) FROM visits WHERE 1 / (minutes - 30) > 0 OR CAST(diagnosis AS INTEGER) = 3
-- prepared: 352ed3dda65a7f8d
-- per-query: 70cb380e5f2fb375

-- SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)
-- prepared: 3e88a975dd8c8b07 0cb21d2182708d47
-- per-query: e851271bc1ba772b c53adebff8949b02

-- SELECT drug, COUNT(*) AS n FROM prescriptions pr JOIN visits v ON pr.visit_id = v.visit_id JOIN patients p ON p.patient_id = v.patient_id WHERE p.sex = 'f' GROUP BY drug
-- prepared: 40dc792de4cd0a61
-- per-query: 40dc792de4cd0a61

-- SELECT count(*) FROM VISITS
-- prepared: 3f948ddbbd283f8d
-- per-query: 841aea505f98872c

-- SELECT COUNT(*) FROM "Visits" AS "v" WHERE "v"."COST" > 3
-- prepared: 42807f26c64df58b
-- per-query: e5e843a953d0fe87

-- SELECT COUNT(*) AS "select", AVG(cost) AS "größe ☃", SUM(minutes) AS "a""b" FROM visits
-- prepared: 89d77dd21613e8e3
-- per-query: 2e068c64900c760b

-- SELECT COUNT(*) AS a0, AVG(cost) AS a0, COUNT(*) FROM visits
-- prepared: 8e5d5df6300b82e5
-- per-query: efbe2e76aa3ba08b

-- SELECT COUNT(*) AS "__spread", AVG(cost) AS "__spread_2" FROM visits
-- prepared: 8e5d5df6300b82e5
-- per-query: efbe2e76aa3ba08b

-- SELECT SUM("__unit") FROM (SELECT patient_id, minutes AS "__unit" FROM visits)
-- prepared: 597b02d3235ead9f
SELECT CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."minutes in 240 steps from 0 to 240" AS "s0" FROM (SELECT "__query_1"."__unit" AS "__unit", "__query_1"."minutes in 240 steps from 0 to 240" AS "minutes in 240 steps from 0 to 240" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."minutes in 240 steps from 0 to 240" AS "minutes in 240 steps from 0 to 240" FROM (SELECT "__unit", "minutes in 240 steps from 0 to 240" FROM "kept"."visits") AS "visits") AS "__query_1") AS "__rows") AS "bounded";
-- per-query: 670b79b7629b80d6
SELECT CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0" FROM (SELECT CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", CASE WHEN "__rows"."___unit" < 0 THEN 0 WHEN "__rows"."___unit" > 240 THEN 240 ELSE "__rows"."___unit" END AS "s0" FROM (SELECT "__query_1"."__unit" AS "__unit", "__query_1"."___unit" AS "___unit" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."minutes" AS "___unit" FROM (SELECT * FROM (SELECT "__unit", "minutes" FROM "every"."visits") AS "__of" WHERE NOT ("__unit" IN (SELECT u FROM "heavy"."3422f552c1d702bf"))) AS "visits") AS "__query_1") AS "__rows") AS "bounded" UNION ALL SELECT CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY hash('discreet', "__unit", "s0"), "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", coalesce(CASE WHEN "__rows"."___unit" < 0 THEN 0 WHEN "__rows"."___unit" > 240 THEN 240 ELSE "__rows"."___unit" END, 0) AS "s0" FROM (SELECT "__query_1"."__unit" AS "__unit", "__query_1"."___unit" AS "___unit" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."minutes" AS "___unit" FROM (SELECT "__unit", "minutes" FROM "heavy"."3422f552c1d702bfrows" UNION ALL SELECT "__unit", "minutes" FROM (SELECT "__unit", "minutes" FROM "every"."visits") AS "others" WHERE "__unit" IN (SELECT u FROM "heavy"."3422f552c1d702bfmany")) AS "visits") AS "__query_1") AS "__rows") AS "rows") AS "ranked" WHERE "rank" <= 12) AS "bounded") AS "parts";

-- SELECT k0, SUM(s0) FROM (SELECT minutes AS s0, cost AS "rank", diagnosis AS k0 FROM visits) AS "rows" GROUP BY k0
-- prepared: dc9541c7ebc51c1d
-- per-query: ed6e50e005bb961e

-- SELECT p.sex, COUNT(*) FROM patients p GROUP BY sex
-- prepared: a24cf98283f161b8
-- per-query: 1c3e5ff34103114f

-- FROM visits SELECT COUNT(*)
-- prepared: d87acc6f8479ecfa
-- per-query: 841aea505f98872c

-- SELECT sex, region, COUNT(*) FROM patients GROUP BY ALL ORDER BY ALL
-- prepared: c5f1a03221905408
-- per-query: bcc7338714a084c4

-- SELECT sex AS s, COUNT(*) FROM patients GROUP BY s
-- prepared: 5781595a2d57396d
-- per-query: 95669ad5d13e9997

-- SELECT sex, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY 2 DESC
-- prepared: 5781595a2d57396d
-- per-query: 95669ad5d13e9997

-- SELECT sex, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY n + 1 DESC NULLS LAST LIMIT 1 OFFSET 1
-- prepared: 5781595a2d57396d
-- per-query: 95669ad5d13e9997

-- SELECT sex, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY AVG(income)
-- prepared: 22a694e8415b46ad
-- per-query: d9b96ccab0d15599

-- SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex HAVING n > 10
-- prepared: 5781595a2d57396d
SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."sex" AS "k0", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex" FROM "kept"."patients") AS "patients") AS "__rows") AS "bounded" GROUP BY "k0";
-- per-query: 95669ad5d13e9997
SELECT "k0", CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0" FROM (SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."sex" AS "k0", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."sex" AS "sex" FROM (SELECT * FROM (SELECT "__unit", "sex" FROM "every"."patients") AS "__of" WHERE NOT ("__unit" IN (SELECT u FROM "heavy"."25622cc707367db4"))) AS "patients") AS "__rows") AS "bounded" GROUP BY "k0" UNION ALL SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY hash('discreet', "__unit", "k0", "s0"), "k0", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."sex" AS "k0", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex" FROM "heavy"."25622cc707367db4rows" UNION ALL SELECT "__unit", "sex" FROM (SELECT "__unit", "sex" FROM "every"."patients") AS "others" WHERE "__unit" IN (SELECT u FROM "heavy"."25622cc707367db4many")) AS "patients") AS "__rows") AS "rows") AS "ranked" WHERE "rank" <= 1) AS "bounded" GROUP BY "k0") AS "parts" GROUP BY "k0";

-- SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex, sex HAVING sex = 'f' AND AVG(income) > 0
-- prepared: 22a694e8415b46ad
-- per-query: d9b96ccab0d15599

-- SELECT UPPER(sex), COUNT(*) FROM patients GROUP BY sex
-- prepared: 5781595a2d57396d
-- per-query: 95669ad5d13e9997

-- SELECT sex || '!', COUNT(*) FROM patients GROUP BY sex || '!'
-- prepared: 5191df267dce690e
-- per-query: 88d3b9ed02db9641

-- SELECT DISTINCT diagnosis FROM visits
-- prepared: 6a88bf699a5ffbbc
-- per-query: 58ae5cb37341e791

-- SELECT DISTINCT COUNT(*) FROM visits
-- prepared: d87acc6f8479ecfa
-- per-query: 841aea505f98872c

-- SELECT COUNT(*) FROM patients HAVING COUNT(*) > 1000000
-- prepared: e44468aa70d2b645
-- per-query: e3583fcd33390788

-- SELECT COUNT(*) FROM visits LIMIT 0
-- prepared: d87acc6f8479ecfa
-- per-query: 841aea505f98872c

-- SELECT minutes // 60 AS hours, COUNT(*) FROM visits GROUP BY hours
-- prepared: 5f3007e91a8f28eb
-- per-query: d0be363567ad9f20

-- SELECT year(day), month(day), COUNT(*) FROM visits GROUP BY ALL
-- prepared: 50d36489f8c513ef
SELECT "k0", "k1", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", TRY_CAST(date_part('year', CAST("__rows"."day" AS TIMESTAMP)) AS BIGINT) AS "k0", TRY_CAST(date_part('month', CAST("__rows"."day" AS TIMESTAMP)) AS BIGINT) AS "k1", 1 AS "s0" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."day" AS "day" FROM (SELECT "__unit", "day" FROM "kept"."visits") AS "visits") AS "__rows") AS "bounded" GROUP BY "k0", "k1";
-- per-query: 02737217bfecec36
SELECT "k0", "k1", CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0" FROM (SELECT "k0", "k1", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", TRY_CAST(date_part('year', CAST("__rows"."day" AS TIMESTAMP)) AS BIGINT) AS "k0", TRY_CAST(date_part('month', CAST("__rows"."day" AS TIMESTAMP)) AS BIGINT) AS "k1", 1 AS "s0" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."day" AS "day" FROM (SELECT * FROM (SELECT "__unit", "day" FROM "every"."visits") AS "__of" WHERE NOT ("__unit" IN (SELECT u FROM "heavy"."3422f552c1d702bf"))) AS "visits") AS "__rows") AS "bounded" GROUP BY "k0", "k1" UNION ALL SELECT "k0", "k1", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY hash('discreet', "__unit", "k0", "k1", "s0"), "k0", "k1", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", TRY_CAST(date_part('year', CAST("__rows"."day" AS TIMESTAMP)) AS BIGINT) AS "k0", TRY_CAST(date_part('month', CAST("__rows"."day" AS TIMESTAMP)) AS BIGINT) AS "k1", 1 AS "s0" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."day" AS "day" FROM (SELECT "__unit", "day" FROM "heavy"."3422f552c1d702bfrows" UNION ALL SELECT "__unit", "day" FROM (SELECT "__unit", "day" FROM "every"."visits") AS "others" WHERE "__unit" IN (SELECT u FROM "heavy"."3422f552c1d702bfmany")) AS "visits") AS "__rows") AS "rows") AS "ranked" WHERE "rank" <= 12) AS "bounded" GROUP BY "k0", "k1") AS "parts" GROUP BY "k0", "k1";

-- SELECT note IS NULL AS without, COUNT(*) FROM visits GROUP BY without
-- prepared: 06b91c4edf0de0d3
-- per-query: 1d9e3aa0f9818726

-- SELECT visit_id, COUNT(*) FROM visits GROUP BY visit_id
-- prepared: 06104beecbbbcd0f
-- per-query: 4bf339e6b000e1fe

-- SELECT cost > (SELECT AVG(cost) FROM visits) AS dear, COUNT(*) FROM visits GROUP BY dear
-- prepared: 3e88a975dd8c8b07 6f71756b37b5d5da
-- per-query: e851271bc1ba772b 2d434b71397c93d4

-- WITH a AS (SELECT * FROM visits WHERE cost > 10), b AS (SELECT * FROM a WHERE minutes > 10) SELECT COUNT(*) FROM b
-- prepared: 5b7927f146fae421
-- per-query: 84109906352dce56

-- WITH a AS (SELECT AVG(cost) AS m FROM visits), b AS (SELECT m * 2 AS m FROM a) SELECT COUNT(*) FROM visits WHERE cost > (SELECT m FROM b)
-- prepared: 3e88a975dd8c8b07 0cb21d2182708d47
-- per-query: e851271bc1ba772b c53adebff8949b02

-- WITH a(x, y) AS (SELECT patient_id, cost FROM visits) SELECT SUM(y), COUNT(DISTINCT x) FROM a
-- prepared: 3f86c6bea258f269 63f0a88a16931cb5
-- per-query: 21f98f69469dd952 cc4ee6ea3904056e

-- SELECT SUM(t.b) FROM (SELECT patient_id, minutes FROM visits) AS t(a, b)
-- prepared: fd2cf4e063edc158
-- per-query: bf9972c2d1943942

-- SELECT t.a, t.b FROM (SELECT sex, COUNT(*) FROM patients GROUP BY sex) AS t(a, b)
-- prepared: 5781595a2d57396d
-- per-query: 95669ad5d13e9997

-- WITH r AS (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) SELECT a.region, a.n - b.n AS zero FROM r a JOIN r b ON a.region = b.region
-- prepared: ffd736ff13ff26f7
SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."region" AS "region" FROM (SELECT "__unit", "region" FROM "kept"."patients") AS "patients") AS "__rows") AS "bounded" GROUP BY "k0";
-- per-query: fb100e1b9964ea98
SELECT "k0", CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0" FROM (SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."region" AS "region" FROM (SELECT * FROM (SELECT "__unit", "region" FROM "every"."patients") AS "__of" WHERE NOT ("__unit" IN (SELECT u FROM "heavy"."25622cc707367db4"))) AS "patients") AS "__rows") AS "bounded" GROUP BY "k0" UNION ALL SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY hash('discreet', "__unit", "k0", "s0"), "k0", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."region" AS "region" FROM (SELECT "__unit", "region" FROM "heavy"."25622cc707367db4rows" UNION ALL SELECT "__unit", "region" FROM (SELECT "__unit", "region" FROM "every"."patients") AS "others" WHERE "__unit" IN (SELECT u FROM "heavy"."25622cc707367db4many")) AS "patients") AS "__rows") AS "rows") AS "ranked" WHERE "rank" <= 1) AS "bounded" GROUP BY "k0") AS "parts" GROUP BY "k0";

-- WITH r AS (SELECT patient_id, cost FROM visits) SELECT COUNT(*) FROM r a JOIN r b ON a.patient_id = b.patient_id
-- prepared: 55fd03e5da591214
-- per-query: eba7c6681483ee4e

-- WITH clinics AS (SELECT * FROM clinics WHERE beds > 20) SELECT COUNT(*) FROM visits WHERE clinic_id IN (SELECT clinic_id FROM clinics)
-- prepared: 0e21e7a05a36c8b6
-- per-query: a5280c7f465698eb

-- SELECT COUNT(*), (SELECT COUNT(*) FROM patients) FROM visits
-- prepared: d87acc6f8479ecfa e44468aa70d2b645
-- per-query: 841aea505f98872c e3583fcd33390788

-- SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING COUNT(*) > (SELECT COUNT(*) FROM visits) / 100
-- prepared: 5781595a2d57396d d87acc6f8479ecfa
-- per-query: 95669ad5d13e9997 841aea505f98872c

-- SELECT COUNT(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING SUM(cost) > (SELECT AVG(cost) FROM visits))
-- prepared: 3e88a975dd8c8b07 091e55484c442988
-- per-query: e851271bc1ba772b 091e55484c442988

-- SELECT AVG(n) FROM (SELECT patient_id, SUM(CASE WHEN cost > (SELECT AVG(cost) FROM visits) THEN 1 ELSE 0 END) AS n FROM visits GROUP BY patient_id)
-- prepared: 3e88a975dd8c8b07 40c4d236974ee1be
-- per-query: e851271bc1ba772b 40c4d236974ee1be

-- SELECT n, COUNT(*) FROM (SELECT COUNT(*) AS n FROM visits GROUP BY patient_id) GROUP BY n ORDER BY n
-- prepared: cb076f12bec0170a
-- per-query: cb076f12bec0170a

-- SELECT * EXCLUDE (n) FROM (SELECT region, COUNT(*) AS n, AVG(income) AS a FROM patients GROUP BY region)
-- prepared: c4a4dc66b80e09c6
-- per-query: 628d9f2c80af2de9

-- SELECT COUNT(*) FROM (SELECT * EXCLUDE (note, patient_id) FROM visits)
-- prepared: dfa87beb593c3cea
SELECT CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", 1 AS "s0" FROM (SELECT "__query_1"."__unit" AS "__unit" FROM (SELECT "visits"."__unit" AS "__unit" FROM (SELECT "__unit" FROM "kept"."visits") AS "visits") AS "__query_1") AS "__rows") AS "bounded";
-- per-query: 841aea505f98872c
SELECT CAST(coalesce(sum(1 * "rows"), 0) AS HUGEINT) AS "s0" FROM (SELECT "units", "rows" FROM "heavy"."counts" WHERE "name" = '3422f552c1d702bf') AS "counts";

-- SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, diagnosis FROM visits)
-- prepared: 9ff33be3abc3f5c3
-- per-query: 9ff33be3abc3f5c3

-- SELECT COUNT(*) FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM visits WHERE cost > 100)
-- prepared: 8d5168b57c1910a5
-- per-query: b6b2bc785d2aff09

-- SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT * FROM visits v WHERE v.patient_id = p.patient_id AND EXISTS (SELECT 1 FROM prescriptions r WHERE r.visit_id = v.visit_id AND r.dose > 500))
-- prepared: 4f5a897f5b2f5032
-- per-query: 30dc3f1f1fbdbbd0

-- SELECT COUNT(*) FROM visits WHERE clinic_id NOT IN (SELECT clinic_id FROM clinics WHERE beds > 20)
-- prepared: 33fe8a69f900b6e8
-- per-query: 747b961c766ff442

-- ((SELECT COUNT(*) AS n FROM visits) UNION ALL (SELECT COUNT(*) FROM patients)) ORDER BY n LIMIT 1
-- prepared: d87acc6f8479ecfa e44468aa70d2b645
-- per-query: 841aea505f98872c e3583fcd33390788

-- SELECT COUNT(*) AS n FROM patients, visits WHERE patients.patient_id = visits.patient_id
-- prepared: a4e6d31a8497fc82
-- per-query: b3a060394c73800a

-- SELECT COUNT(DISTINCT patient_id) FROM patients p JOIN visits v USING (patient_id)
-- prepared: 3011546741045637
-- per-query: 3011546741045637

-- SELECT clinic_id, COUNT(*) FROM visits JOIN clinics USING (clinic_id) GROUP BY clinic_id
-- prepared: 5619fc602c629cb8
-- per-query: 28356c94f19be8aa

-- SELECT c.name, COUNT(*) FROM clinics c JOIN visits v ON v.clinic_id = c.clinic_id GROUP BY c.name
-- prepared: bc52ca1ab6506a38
SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."name" AS "k0", 1 AS "s0" FROM (SELECT "v"."__unit" AS "__unit", "c"."name" AS "name" FROM (SELECT "__unit", "clinic_id" FROM "kept"."visits") AS "v" JOIN "clinics" AS "c" ON TRUE WHERE ("v"."clinic_id" = "c"."clinic_id")) AS "__rows") AS "bounded" GROUP BY "k0";
-- per-query: 95981709c3407ca6
SELECT "k0", CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0" FROM (SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."name" AS "k0", 1 AS "s0" FROM (SELECT "v"."__unit" AS "__unit", "c"."name" AS "name" FROM (SELECT * FROM (SELECT "__unit", "clinic_id" FROM "every"."visits") AS "__of" WHERE NOT ("__unit" IN (SELECT u FROM "heavy"."3422f552c1d702bf"))) AS "v" JOIN "clinics" AS "c" ON TRUE WHERE ("v"."clinic_id" = "c"."clinic_id")) AS "__rows") AS "bounded" GROUP BY "k0" UNION ALL SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY hash('discreet', "__unit", "k0", "s0"), "k0", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."name" AS "k0", 1 AS "s0" FROM (SELECT "v"."__unit" AS "__unit", "c"."name" AS "name" FROM (SELECT "__unit", "clinic_id" FROM "heavy"."3422f552c1d702bfrows" UNION ALL SELECT "__unit", "clinic_id" FROM (SELECT "__unit", "clinic_id" FROM "every"."visits") AS "others" WHERE "__unit" IN (SELECT u FROM "heavy"."3422f552c1d702bfmany")) AS "v" JOIN "clinics" AS "c" ON TRUE WHERE ("v"."clinic_id" = "c"."clinic_id")) AS "__rows") AS "rows") AS "ranked" WHERE "rank" <= 12) AS "bounded" GROUP BY "k0") AS "parts" GROUP BY "k0";

-- SELECT c.name, COUNT(*) FROM visits v LEFT JOIN clinics c ON v.clinic_id = c.clinic_id GROUP BY c.name
-- prepared: d6ceb960dfc63b43
-- per-query: b6a6ed4c5569a679

-- SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient_id = b.patient_id AND a.day < b.day
-- prepared: e6ddc8c68b793e35
-- per-query: f8466334e28c5da8

-- SELECT p.region, c.region, COUNT(*) FROM patients p JOIN visits v USING (patient_id) JOIN clinics c USING (clinic_id) GROUP BY 1, 2
-- prepared: c979efaaf6fcc34c
-- per-query: 552f44c6dba0587d

-- SELECT COUNT(*) FROM patients p LEFT JOIN visits v ON p.patient_id = v.patient_id WHERE v.visit_id IS NULL
-- prepared: 3f10521c5fe5de27
-- per-query: a22389becacfe80c

-- SELECT COUNT(*) FROM visits v JOIN (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) k ON k.patient_id = v.patient_id WHERE k.n > 3
-- prepared: a5030504854d1bad
-- per-query: a5030504854d1bad

-- SELECT c.name, r.n FROM clinics c LEFT JOIN (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) r USING (region)
-- prepared: ffd736ff13ff26f7
-- per-query: fb100e1b9964ea98

-- SELECT sex, COUNT(*) FROM patients GROUP BY sex UNION ALL SELECT region, COUNT(*) FROM patients GROUP BY region
-- prepared: 5781595a2d57396d ffd736ff13ff26f7
-- per-query: 95669ad5d13e9997 fb100e1b9964ea98

-- SELECT region FROM clinics INTERSECT SELECT region FROM (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) EXCEPT SELECT 'north'
-- prepared: ffd736ff13ff26f7
-- per-query: fb100e1b9964ea98

-- SELECT t.x, r.n FROM (VALUES ('f', 1), ('m', 2)) AS t(x, y) JOIN (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) r ON r.sex = t.x
-- prepared: 5781595a2d57396d
SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."sex" AS "k0", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex" FROM "kept"."patients") AS "patients") AS "__rows") AS "bounded" GROUP BY "k0";
-- per-query: 95669ad5d13e9997
SELECT "k0", CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0" FROM (SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."sex" AS "k0", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."sex" AS "sex" FROM (SELECT * FROM (SELECT "__unit", "sex" FROM "every"."patients") AS "__of" WHERE NOT ("__unit" IN (SELECT u FROM "heavy"."25622cc707367db4"))) AS "patients") AS "__rows") AS "bounded" GROUP BY "k0" UNION ALL SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY hash('discreet', "__unit", "k0", "s0"), "k0", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."sex" AS "k0", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex" FROM "heavy"."25622cc707367db4rows" UNION ALL SELECT "__unit", "sex" FROM (SELECT "__unit", "sex" FROM "every"."patients") AS "others" WHERE "__unit" IN (SELECT u FROM "heavy"."25622cc707367db4many")) AS "patients") AS "__rows") AS "rows") AS "ranked" WHERE "rank" <= 1) AS "bounded" GROUP BY "k0") AS "parts" GROUP BY "k0";

-- SELECT COUNT(1), COUNT(NULL), COUNT('a'), COUNT(patient_id), COUNT(ALL cost) FROM visits
-- prepared: ffcfdab9c7921e58
-- per-query: 0937f1c4ed2f9351

-- SELECT COUNT(DISTINCT patient_id) FILTER (WHERE cost > 100), AVG(cost) FILTER (WHERE minutes > 30) FROM visits
-- prepared: f1e49e0e533a50d0 59af264b78132bc0
-- per-query: 81d3bb4f676bd558 18b914bfb53c9844

-- SELECT SUM(DISTINCT minutes), COUNT(DISTINCT clinic_id), MIN(DISTINCT minutes) FROM visits
-- prepared: 38bc83c436848cfd 2b4ac3d6e1645975 140c48b7c3713f2b
-- per-query: 6391e5d7b810cd25 53706647bf767377 fc18a9ba47cdc09a

-- SELECT quantile_cont(cost, 0.5), quantile_disc(cost, 0.5), quantile(cost, 0.5), approx_quantile(cost, 0.5) FROM visits
-- prepared: 65671d49077bd602
-- per-query: aeacad5753d0409d

-- SELECT MIN(day), MAX(day), MEDIAN(day) FROM visits
-- prepared: d6a6b34902b71106
-- per-query: 856ea171f34eefa5

-- SELECT MODE(sex), COUNT_IF(insured), SUM(insured::INT), AVG(CASE WHEN insured THEN 1.0 ELSE 0 END) FROM patients
-- prepared: 57112414c3aef338 5781595a2d57396d
-- per-query: 24f71d9fb6db2f9a 95669ad5d13e9997

-- SELECT sex, SUM(COUNT(*)) OVER (), RANK() OVER (ORDER BY COUNT(*) DESC) FROM patients GROUP BY sex
-- prepared: 5781595a2d57396d
-- per-query: 95669ad5d13e9997

-- SELECT sex, RANK() OVER w AS r FROM patients GROUP BY sex WINDOW w AS (ORDER BY COUNT(*))
-- prepared: 5781595a2d57396d
-- per-query: 95669ad5d13e9997

-- SELECT region, sex, COUNT(*) AS n FROM patients GROUP BY region, sex QUALIFY ROW_NUMBER() OVER (PARTITION BY region ORDER BY n DESC) = 1
-- prepared: 1fb17388e276d660
SELECT "k0", "k1", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", "__rows"."sex" AS "k1", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."region" AS "region", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex", "region" FROM "kept"."patients") AS "patients") AS "__rows") AS "bounded" GROUP BY "k0", "k1";
-- per-query: df52e1e13b68f7c6
SELECT "k0", "k1", CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0" FROM (SELECT "k0", "k1", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", "__rows"."sex" AS "k1", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."region" AS "region", "patients"."sex" AS "sex" FROM (SELECT * FROM (SELECT "__unit", "sex", "region" FROM "every"."patients") AS "__of" WHERE NOT ("__unit" IN (SELECT u FROM "heavy"."25622cc707367db4"))) AS "patients") AS "__rows") AS "bounded" GROUP BY "k0", "k1" UNION ALL SELECT "k0", "k1", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY hash('discreet', "__unit", "k0", "k1", "s0"), "k0", "k1", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", "__rows"."sex" AS "k1", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."region" AS "region", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex", "region" FROM "heavy"."25622cc707367db4rows" UNION ALL SELECT "__unit", "sex", "region" FROM (SELECT "__unit", "sex", "region" FROM "every"."patients") AS "others" WHERE "__unit" IN (SELECT u FROM "heavy"."25622cc707367db4many")) AS "patients") AS "__rows") AS "rows") AS "ranked" WHERE "rank" <= 1) AS "bounded" GROUP BY "k0", "k1") AS "parts" GROUP BY "k0", "k1";

-- SELECT COUNT(*) FROM (SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day) = 1)
-- prepared: b1120be10a7f7c17
-- per-query: b1120be10a7f7c17

-- SELECT COUNT(*) AS n, n + 1 AS m, CASE WHEN COUNT(*) > 5 THEN COUNT(*) ELSE 0 END AS k FROM visits
-- prepared: d87acc6f8479ecfa
-- per-query: 841aea505f98872c

-- SELECT COUNT(*) / 0, LN(COUNT(*) - 100000), COALESCE(AVG(income), 0), CAST(AVG(income) AS INT) FROM patients
-- prepared: d24c78292b14cf50
-- per-query: 33fee0923f9669c8

-- SELECT COUNT(*) FROM visits WHERE day + INTERVAL 3 DAY > DATE '2024-02-01' AND day - DATE '2024-02-01' > 3 AND day + 3 > '2024-02-01'
-- prepared: dedfe755109b31ab
-- per-query: 2876821eecc4e9ca

-- SELECT COUNT(*) FROM visits WHERE minutes AND TRUE OR NULL
-- prepared: c958224fb6c87ab6
-- per-query: 6297fe9f9ff9aae8

-- SELECT COUNT(*) FROM visits WHERE FALSE
-- prepared: bf8f07514312cba2
-- per-query: f2ab6613efd4327b

-- SELECT COUNT(*) FROM patients WHERE sex = $$f$$ OR sex = 'it''s' -- a comment
-- prepared: caaa402a9f8257ad
-- per-query: 414d3b7cffce4e40

-- SELECT COUNT(*) /* a comment; */ FROM patients WHERE income BETWEEN 1e3 AND 2e5;
-- prepared: 153ef94f44f2901d
-- per-query: 7d232c2b8b418230

-- SELECT COUNT(*) FROM visits WHERE cost IS DISTINCT FROM cost OR cost = 0.1 + 0.2
-- prepared: 211049800439b084
SELECT CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", 1 AS "s0" FROM (SELECT "visits"."__unit" AS "__unit" FROM (SELECT "__unit", "cost" FROM "kept"."visits") AS "visits" WHERE (("visits"."cost" IS DISTINCT FROM "visits"."cost") OR ("visits"."cost" = 0.3e0))) AS "__rows") AS "bounded";
-- per-query: 22396a64d6f49c1e
SELECT CAST(coalesce(sum(1 * "rows"), 0) AS HUGEINT) AS "s0" FROM (SELECT CAST(sum(n) AS BIGINT) AS "rows", CAST(sum(f) AS BIGINT) AS f FROM (SELECT count(*) AS n, 0 AS f FROM (SELECT "visits"."__unit" AS "__unit" FROM (SELECT "__unit", "cost" FROM "every"."visits") AS "visits" WHERE (("visits"."cost" IS DISTINCT FROM "visits"."cost") OR ("visits"."cost" = 0.3e0))) AS "all" UNION ALL SELECT -coalesce(sum(CASE WHEN n > 12 THEN n - 12 ELSE 0 END), 0), 0 FROM (SELECT count(*) AS n FROM (SELECT "visits"."__unit" AS "__unit" FROM (SELECT "__unit", "cost" FROM "heavy"."3422f552c1d702bfrows" UNION ALL SELECT "__unit", "cost" FROM (SELECT "__unit", "cost" FROM "every"."visits") AS "others" WHERE "__unit" IN (SELECT u FROM "heavy"."3422f552c1d702bfmany")) AS "visits" WHERE (("visits"."cost" IS DISTINCT FROM "visits"."cost") OR ("visits"."cost" = 0.3e0))) AS "heavy" GROUP BY "__unit") AS "each") AS "parts") AS "rows";

-- SELECT AVG(clamp(a, 0, 9)), SUM(clamp(b, 0, 9)), COUNT(*) FROM (SELECT patient_id, COUNT(*) AS a, COUNT(note) AS b, COUNT(DISTINCT diagnosis) AS c, AVG(cost) AS d FROM visits GROUP BY patient_id) WHERE c > 1 AND d < 100
-- prepared: 0b44e702e1ddd0e9
-- per-query: 0b44e702e1ddd0e9

-- SELECT SUM(clamp(a, 0, 9)), AVG(clamp(b, 0, 9)), MAX(clamp(c, 0, 9)), COUNT(*) FROM (SELECT patient_id, diagnosis, MIN(cost) AS a, MAX(minutes) AS b, MEDIAN(cost) AS c FROM visits GROUP BY patient_id, diagnosis)
-- prepared: 34a88d6abbfddb28 9b371ce20512f4a3
-- per-query: 34a88d6abbfddb28 9b371ce20512f4a3

-- SELECT COUNT(*) FROM (SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY patient_id, diagnosis ORDER BY day DESC) AS w FROM visits) WHERE w > 3
-- prepared: cc52ea6ed2ca6246
-- per-query: cc52ea6ed2ca6246

-- SELECT COUNT(*) FROM (SELECT patient_id, RANK() OVER (PARTITION BY patient_id, diagnosis ORDER BY day DESC) AS w FROM visits) WHERE w > 3
-- prepared: c3c8f912052274ee
-- per-query: c3c8f912052274ee

-- SELECT COUNT(*) FROM (SELECT patient_id, DENSE_RANK() OVER (PARTITION BY patient_id, diagnosis ORDER BY day DESC) AS w FROM visits) WHERE w > 3
-- prepared: 1f72b59ff5890e10
-- per-query: 1f72b59ff5890e10

-- SELECT COUNT(*) FROM (SELECT patient_id, LAG(minutes) OVER (PARTITION BY patient_id, diagnosis ORDER BY day DESC) AS w FROM visits) WHERE w > 3
-- prepared: 7cf95a2b60053a42
-- per-query: 7cf95a2b60053a42

-- SELECT COUNT(*) FROM (SELECT patient_id, LEAD(minutes, 2) OVER (PARTITION BY patient_id, diagnosis ORDER BY day DESC) AS w FROM visits) WHERE w > 3
-- prepared: d352a2d62b917cb5
-- per-query: d352a2d62b917cb5

-- SELECT COUNT(*) FROM (SELECT patient_id, FIRST_VALUE(minutes) OVER (PARTITION BY patient_id ORDER BY day NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS w FROM visits) WHERE w > 3
-- prepared: 2830c8c250b8b3b7
-- per-query: 2830c8c250b8b3b7

-- SELECT COUNT(*) FROM (SELECT patient_id, LAST_VALUE(minutes) OVER (PARTITION BY patient_id ORDER BY day NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS w FROM visits) WHERE w > 3
-- prepared: c7364e609618ba2d
SELECT CAST(coalesce(sum(1 * "rows"), 0) AS HUGEINT) AS "s0" FROM (SELECT CAST(sum(n) AS BIGINT) AS "rows", CAST(sum(f) AS BIGINT) AS f FROM (SELECT count(*) AS n, 0 AS f FROM (SELECT "__query_1"."__unit" AS "__unit" FROM (SELECT "visits"."__unit" AS "__unit", last_value("visits"."minutes") OVER (PARTITION BY "visits"."__unit" ORDER BY "visits"."day" NULLS FIRST, "visits"."day", "visits"."minutes" ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS "w" FROM (SELECT "__unit", "day", "minutes" FROM "every"."visits") AS "visits") AS "__query_1" WHERE ("__query_1"."w" > 3)) AS "all" UNION ALL SELECT -coalesce(sum(CASE WHEN n > 12 THEN n - 12 ELSE 0 END), 0), 0 FROM (SELECT count(*) AS n FROM (SELECT "__query_1"."__unit" AS "__unit" FROM (SELECT "visits"."__unit" AS "__unit", last_value("visits"."minutes") OVER (PARTITION BY "visits"."__unit" ORDER BY "visits"."day" NULLS FIRST, "visits"."day", "visits"."minutes" ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS "w" FROM (SELECT "__unit", "day", "minutes" FROM "heavy"."3422f552c1d702bfrows" UNION ALL SELECT "__unit", "day", "minutes" FROM (SELECT "__unit", "day", "minutes" FROM "every"."visits") AS "others" WHERE "__unit" IN (SELECT u FROM "heavy"."3422f552c1d702bfmany")) AS "visits") AS "__query_1" WHERE ("__query_1"."w" > 3)) AS "heavy" GROUP BY "__unit") AS "each") AS "parts") AS "rows";
-- per-query: c7364e609618ba2d
SELECT CAST(coalesce(sum(1 * "rows"), 0) AS HUGEINT) AS "s0" FROM (SELECT CAST(sum(n) AS BIGINT) AS "rows", CAST(sum(f) AS BIGINT) AS f FROM (SELECT count(*) AS n, 0 AS f FROM (SELECT "__query_1"."__unit" AS "__unit" FROM (SELECT "visits"."__unit" AS "__unit", last_value("visits"."minutes") OVER (PARTITION BY "visits"."__unit" ORDER BY "visits"."day" NULLS FIRST, "visits"."day", "visits"."minutes" ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS "w" FROM (SELECT "__unit", "day", "minutes" FROM "every"."visits") AS "visits") AS "__query_1" WHERE ("__query_1"."w" > 3)) AS "all" UNION ALL SELECT -coalesce(sum(CASE WHEN n > 12 THEN n - 12 ELSE 0 END), 0), 0 FROM (SELECT count(*) AS n FROM (SELECT "__query_1"."__unit" AS "__unit" FROM (SELECT "visits"."__unit" AS "__unit", last_value("visits"."minutes") OVER (PARTITION BY "visits"."__unit" ORDER BY "visits"."day" NULLS FIRST, "visits"."day", "visits"."minutes" ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS "w" FROM (SELECT "__unit", "day", "minutes" FROM "heavy"."3422f552c1d702bfrows" UNION ALL SELECT "__unit", "day", "minutes" FROM (SELECT "__unit", "day", "minutes" FROM "every"."visits") AS "others" WHERE "__unit" IN (SELECT u FROM "heavy"."3422f552c1d702bfmany")) AS "visits") AS "__query_1" WHERE ("__query_1"."w" > 3)) AS "heavy" GROUP BY "__unit") AS "each") AS "parts") AS "rows";

-- SELECT COUNT(*) FROM (SELECT patient_id, COUNT(note) OVER (PARTITION BY patient_id ORDER BY day NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS w FROM visits) WHERE w > 3
-- prepared: ac50cd531ae4205a
-- per-query: ac50cd531ae4205a

-- SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) OVER (PARTITION BY patient_id ORDER BY day NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS w FROM visits) WHERE w > 3
-- prepared: 8e5d21400221168b
-- per-query: 8e5d21400221168b

-- SELECT COUNT(*) FROM (SELECT patient_id, SUM(minutes) OVER (PARTITION BY patient_id) AS w FROM visits) WHERE w > 3
-- prepared: 9d66314dcd65d83c
-- per-query: 9d66314dcd65d83c

-- SELECT COUNT(*) FROM (SELECT patient_id, MIN(cost) OVER (PARTITION BY patient_id) AS w FROM visits) WHERE w > 3
-- prepared: 171d50b0add4e0ed
-- per-query: 171d50b0add4e0ed

-- SELECT COUNT(*) FROM (SELECT patient_id, MAX(cost) OVER (PARTITION BY patient_id) AS w FROM visits) WHERE w > 3
-- prepared: 5ab74a7eb8bf65aa
-- per-query: 5ab74a7eb8bf65aa

-- SELECT COUNT(*) FROM kinds WHERE d > DATE '2024-02-29'
-- prepared: a079e04721013d32
-- per-query: a079e04721013d32

-- SELECT COUNT(*) FROM kinds WHERE t < TIMESTAMP '2024-03-01 12:30:00'
-- prepared: e7e7db0cb6678e21
-- per-query: e7e7db0cb6678e21

-- SELECT COUNT(*), AVG(clamp(y, 0, 2.5)) FROM kinds WHERE z >= m
-- prepared: b20a099f52283d8a
-- per-query: b20a099f52283d8a

-- SELECT COUNT(*) FROM kinds WHERE d + INTERVAL 1 MONTH > DATE '2024-02-29' OR t IS NULL
-- prepared: 8eb50644a7dc5f64
SELECT CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", 1 AS "s0" FROM (SELECT "kinds"."__unit" AS "__unit" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."d", "kinds"."t" FROM "kinds") AS "kinds" WHERE ((CASE WHEN (CAST("kinds"."d" AS TIMESTAMP) + to_months(1)) BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999' THEN (CAST("kinds"."d" AS TIMESTAMP) + to_months(1)) END > CAST('2024-02-29 00:00:00' AS TIMESTAMP)) OR ("kinds"."t" IS NULL))) AS "__rows") AS "bounded";
-- per-query: 8eb50644a7dc5f64
SELECT CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", 1 AS "s0" FROM (SELECT "kinds"."__unit" AS "__unit" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."d", "kinds"."t" FROM "kinds") AS "kinds" WHERE ((CASE WHEN (CAST("kinds"."d" AS TIMESTAMP) + to_months(1)) BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999' THEN (CAST("kinds"."d" AS TIMESTAMP) + to_months(1)) END > CAST('2024-02-29 00:00:00' AS TIMESTAMP)) OR ("kinds"."t" IS NULL))) AS "__rows") AS "bounded";

-- SELECT b, COUNT(*) FROM kinds GROUP BY b
-- prepared: 68e08a0d1ff418d0
-- per-query: 68e08a0d1ff418d0

-- SELECT s, AVG(x), SUM(i) FROM kinds GROUP BY s
-- prepared: 041853dbe94c4332
-- per-query: 041853dbe94c4332

-- SELECT f, m, COUNT(*) FROM kinds GROUP BY f, m
-- prepared: 62ce113f80b08669
-- per-query: 62ce113f80b08669

-- SELECT d, COUNT(*) FROM kinds GROUP BY d
-- prepared: 9f5472c0fff2b4e2
-- per-query: 9f5472c0fff2b4e2

-- SELECT w, COUNT(*) FROM kinds GROUP BY w
-- prepared: 4df661360c26670f
-- per-query: 4df661360c26670f

-- SELECT SUM(x * 1.5 + 2) FROM kinds WHERE x <> 0.1 AND NOT b AND s IN ('a', 'ü', NULL)
-- prepared: fd6f20588fcf3f3c
-- per-query: fd6f20588fcf3f3c

-- SELECT MEDIAN(x), MODE(s), MIN(i), MAX(i), COUNT(DISTINCT s), SUM(DISTINCT i) FROM kinds
-- prepared: ed8db0154d2d58dc fb3ea212cd35a4c9 0ed0d6b154fe6164 8ea35b869c8394d9 e929d85f48d2b893
-- per-query: ed8db0154d2d58dc fb3ea212cd35a4c9 0ed0d6b154fe6164 8ea35b869c8394d9 e929d85f48d2b893

-- SELECT VAR_SAMP(x), VAR_POP(x), STDDEV_SAMP(i), STDDEV_POP(i) FROM kinds
-- prepared: 61b1a888731aef6a
-- per-query: 61b1a888731aef6a

-- SELECT QUANTILE_CONT(x, 0.25), QUANTILE_DISC(i, 0.75), COUNT(o), COUNT(x) FROM kinds
-- prepared: ef557399b0fb2e7d fb3ea212cd35a4c9 8ea35b869c8394d9
SELECT CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0", CAST(coalesce(sum("s1"), 0) AS HUGEINT) AS "s1" FROM (SELECT "__rows"."__unit" AS "__unit", coalesce(CASE WHEN (TRY_CAST("__rows"."o" AS VARCHAR) IS NULL) THEN 0 ELSE 1 END, 0) AS "s0", coalesce(CASE WHEN ("__rows"."x" IS NULL) THEN 0 ELSE 1 END, 0) AS "s1" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."x" AS "x", TRY_CAST("kinds"."o" AS VARCHAR) AS "o" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."x", TRY_CAST("kinds"."o" AS VARCHAR) AS "o" FROM "kinds") AS "kinds") AS "__rows") AS "bounded";
SELECT "cell", count(*) AS "n" FROM (SELECT "__unit", "cell" FROM (SELECT "__rows"."__unit" AS "__unit", TRY_CAST(CASE WHEN TRY_CAST("__rows"."__step1" AS BIGINT) BETWEEN 0 AND 16383 THEN TRY_CAST("__rows"."__step1" AS BIGINT) END AS BIGINT) AS "cell" FROM (SELECT "__rows".*, CASE WHEN isfinite("__rows"."__step0") THEN "__rows"."__step0" END AS "__step1" FROM (SELECT "__rows".*, (TRY_CAST((CAST(CASE WHEN "__rows"."i" < (-5) THEN (-5) WHEN "__rows"."i" > 1000000 THEN 1000000 ELSE "__rows"."i" END AS BIGINT) - CAST((-5) AS BIGINT)) AS DOUBLE) * 0.01638291808540957e0) AS "__step0" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."i" AS "i" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."i" FROM "kinds") AS "kinds") AS "__rows") AS "__rows") AS "__rows") AS "rows" WHERE "cell" IS NOT NULL) AS "bounded" GROUP BY "cell";
SELECT "cell", count(*) AS "n" FROM (SELECT "__unit", "cell" FROM (SELECT "__rows"."__unit" AS "__unit", TRY_CAST(TRY_CAST((CASE WHEN "__rows"."x" < 0.0e0 THEN 0.0e0 WHEN "__rows"."x" > 1.5e0 THEN 1.5e0 ELSE "__rows"."x" END * 100.0e0) AS BIGINT) AS BIGINT) AS "cell" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."x" AS "x" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."x" FROM "kinds") AS "kinds") AS "__rows") AS "rows" WHERE "cell" IS NOT NULL) AS "bounded" GROUP BY "cell";
-- per-query: ef557399b0fb2e7d fb3ea212cd35a4c9 8ea35b869c8394d9
SELECT CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0", CAST(coalesce(sum("s1"), 0) AS HUGEINT) AS "s1" FROM (SELECT "__rows"."__unit" AS "__unit", coalesce(CASE WHEN (TRY_CAST("__rows"."o" AS VARCHAR) IS NULL) THEN 0 ELSE 1 END, 0) AS "s0", coalesce(CASE WHEN ("__rows"."x" IS NULL) THEN 0 ELSE 1 END, 0) AS "s1" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."x" AS "x", TRY_CAST("kinds"."o" AS VARCHAR) AS "o" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."x", TRY_CAST("kinds"."o" AS VARCHAR) AS "o" FROM "kinds") AS "kinds") AS "__rows") AS "bounded";
SELECT "cell", count(*) AS "n" FROM (SELECT "__unit", "cell" FROM (SELECT "__rows"."__unit" AS "__unit", TRY_CAST(CASE WHEN TRY_CAST("__rows"."__step1" AS BIGINT) BETWEEN 0 AND 16383 THEN TRY_CAST("__rows"."__step1" AS BIGINT) END AS BIGINT) AS "cell" FROM (SELECT "__rows".*, CASE WHEN isfinite("__rows"."__step0") THEN "__rows"."__step0" END AS "__step1" FROM (SELECT "__rows".*, (TRY_CAST((CAST(CASE WHEN "__rows"."i" < (-5) THEN (-5) WHEN "__rows"."i" > 1000000 THEN 1000000 ELSE "__rows"."i" END AS BIGINT) - CAST((-5) AS BIGINT)) AS DOUBLE) * 0.01638291808540957e0) AS "__step0" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."i" AS "i" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."i" FROM "kinds") AS "kinds") AS "__rows") AS "__rows") AS "__rows") AS "rows" WHERE "cell" IS NOT NULL) AS "bounded" GROUP BY "cell";
SELECT "cell", count(*) AS "n" FROM (SELECT "__unit", "cell" FROM (SELECT "__rows"."__unit" AS "__unit", TRY_CAST(TRY_CAST((CASE WHEN "__rows"."x" < 0.0e0 THEN 0.0e0 WHEN "__rows"."x" > 1.5e0 THEN 1.5e0 ELSE "__rows"."x" END * 100.0e0) AS BIGINT) AS BIGINT) AS "cell" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."x" AS "x" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."x" FROM "kinds") AS "kinds") AS "__rows") AS "rows" WHERE "cell" IS NOT NULL) AS "bounded" GROUP BY "cell";

-- SELECT COUNT(*) FROM lines
-- prepared: dd66e1bd9219cb9e
-- per-query: 1aa9286a01c9d3db

-- SELECT COUNT(*) FROM lines JOIN orders USING (number) WHERE orders.paid
-- prepared: b0e18f4d28aac4ff
-- per-query: b0e18f4d28aac4ff

-- bounds of kinds.i
-- prepared: f9ed7a6f9f06881d
-- per-query: f9ed7a6f9f06881d

-- bounds of kinds.y
-- prepared: 87b2f6b85f19ffb6
-- per-query: 87b2f6b85f19ffb6

-- bounds of kinds.d
-- prepared: f8764d1f3896837c
-- per-query: f8764d1f3896837c

-- bounds of kinds.t
-- prepared: 001e72d1e9ef4a9f
-- per-query: 001e72d1e9ef4a9f

-- bounds of kinds.z
-- prepared: 6c3c5ebb3920c9c4
-- per-query: 6c3c5ebb3920c9c4

-- bounds of lines.amount
-- prepared: 74e9204b49023020
-- per-query: be8093c867793de2

-- bounds of orders.number
-- prepared: 12c14bd6af9227af
SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "rows"."__unit" AS "__unit", TRY_CAST("rows"."bin" AS BIGINT) AS "k0", 1 AS "s0" FROM (SELECT "t"."__unit" AS "__unit", CASE WHEN ("t"."number" < 0) THEN CASE WHEN ("t"."number" < (-2147483648)) THEN CASE WHEN ("t"."number" < (-140737488355328)) THEN CASE WHEN ("t"."number" < (-36028797018963968)) THEN CASE WHEN ("t"."number" < (-576460752303423488)) THEN CASE WHEN ("t"."number" < (-2305843009213693952)) THEN CASE WHEN ("t"."number" < (-4611686018427387904)) THEN 0 ELSE 1 END ELSE CASE WHEN ("t"."number" < (-1152921504606846976)) THEN 2 ELSE 3 END END ELSE CASE WHEN ("t"."number" < (-144115188075855872)) THEN CASE WHEN ("t"."number" < (-288230376151711744)) THEN 4 ELSE 5 END ELSE CASE WHEN ("t"."number" < (-72057594037927936)) THEN 6 ELSE 7 END END END ELSE CASE WHEN ("t"."number" < (-2251799813685248)) THEN CASE WHEN ("t"."number" < (-9007199254740992)) THEN CASE WHEN ("t"."number" < (-18014398509481984)) THEN 8 ELSE 9 END ELSE CASE WHEN ("t"."number" < (-4503599627370496)) THEN 10 ELSE 11 END END ELSE CASE WHEN ("t"."number" < (-562949953421312)) THEN CASE WHEN ("t"."number" < (-1125899906842624)) THEN 12 ELSE 13 END ELSE CASE WHEN ("t"."number" < (-281474976710656)) THEN 14 ELSE 15 END END END END ELSE CASE WHEN ("t"."number" < (-549755813888)) THEN CASE WHEN ("t"."number" < (-8796093022208)) THEN CASE WHEN ("t"."number" < (-35184372088832)) THEN CASE WHEN ("t"."number" < (-70368744177664)) THEN 16 ELSE 17 END ELSE CASE WHEN ("t"."number" < (-17592186044416)) THEN 18 ELSE 19 END END ELSE CASE WHEN ("t"."number" < (-2199023255552)) THEN CASE WHEN ("t"."number" < (-4398046511104)) THEN 20 ELSE 21 END ELSE CASE WHEN ("t"."number" < (-1099511627776)) THEN 22 ELSE 23 END END END ELSE CASE WHEN ("t"."number" < (-34359738368)) THEN CASE WHEN ("t"."number" < (-137438953472)) THEN CASE WHEN ("t"."number" < (-274877906944)) THEN 24 ELSE 25 END ELSE CASE WHEN ("t"."number" < (-68719476736)) THEN 26 ELSE 27 END END ELSE CASE WHEN ("t"."number" < (-8589934592)) THEN CASE WHEN ("t"."number" < (-17179869184)) THEN 28 ELSE 29 END ELSE CASE WHEN ("t"."number" < (-4294967296)) THEN 30 ELSE 31 END END END END END ELSE CASE WHEN ("t"."number" < (-32768)) THEN CASE WHEN ("t"."number" < (-8388608)) THEN CASE WHEN ("t"."number" < (-134217728)) THEN CASE WHEN ("t"."number" < (-536870912)) THEN CASE WHEN ("t"."number" < (-1073741824)) THEN 32 ELSE 33 END ELSE CASE WHEN ("t"."number" < (-268435456)) THEN 34 ELSE 35 END END ELSE CASE WHEN ("t"."number" < (-33554432)) THEN CASE WHEN ("t"."number" < (-67108864)) THEN 36 ELSE 37 END ELSE CASE WHEN ("t"."number" < (-16777216)) THEN 38 ELSE 39 END END END ELSE CASE WHEN ("t"."number" < (-524288)) THEN CASE WHEN ("t"."number" < (-2097152)) THEN CASE WHEN ("t"."number" < (-4194304)) THEN 40 ELSE 41 END ELSE CASE WHEN ("t"."number" < (-1048576)) THEN 42 ELSE 43 END END ELSE CASE WHEN ("t"."number" < (-131072)) THEN CASE WHEN ("t"."number" < (-262144)) THEN 44 ELSE 45 END ELSE CASE WHEN ("t"."number" < (-65536)) THEN 46 ELSE 47 END END END END ELSE CASE WHEN ("t"."number" < (-128)) THEN CASE WHEN ("t"."number" < (-2048)) THEN CASE WHEN ("t"."number" < (-8192)) THEN CASE WHEN ("t"."number" < (-16384)) THEN 48 ELSE 49 END ELSE CASE WHEN ("t"."number" < (-4096)) THEN 50 ELSE 51 END END ELSE CASE WHEN ("t"."number" < (-512)) THEN CASE WHEN ("t"."number" < (-1024)) THEN 52 ELSE 53 END ELSE CASE WHEN ("t"."number" < (-256)) THEN 54 ELSE 55 END END END ELSE CASE WHEN ("t"."number" < (-8)) THEN CASE WHEN ("t"."number" < (-32)) THEN CASE WHEN ("t"."number" < (-64)) THEN 56 ELSE 57 END ELSE CASE WHEN ("t"."number" < (-16)) THEN 58 ELSE 59 END END ELSE CASE WHEN ("t"."number" < (-2)) THEN CASE WHEN ("t"."number" < (-4)) THEN 60 ELSE 61 END ELSE CASE WHEN ("t"."number" < (-1)) THEN 62 ELSE 63 END END END END END END ELSE CASE WHEN ("t"."number" <= 1073741824) THEN CASE WHEN ("t"."number" <= 16384) THEN CASE WHEN ("t"."number" <= 64) THEN CASE WHEN ("t"."number" <= 4) THEN CASE WHEN ("t"."number" <= 1) THEN CASE WHEN ("t"."number" <= 0) THEN 64 ELSE 65 END ELSE CASE WHEN ("t"."number" <= 2) THEN 66 ELSE 67 END END ELSE CASE WHEN ("t"."number" <= 16) THEN CASE WHEN ("t"."number" <= 8) THEN 68 ELSE 69 END ELSE CASE WHEN ("t"."number" <= 32) THEN 70 ELSE 71 END END END ELSE CASE WHEN ("t"."number" <= 1024) THEN CASE WHEN ("t"."number" <= 256) THEN CASE WHEN ("t"."number" <= 128) THEN 72 ELSE 73 END ELSE CASE WHEN ("t"."number" <= 512) THEN 74 ELSE 75 END END ELSE CASE WHEN ("t"."number" <= 4096) THEN CASE WHEN ("t"."number" <= 2048) THEN 76 ELSE 77 END ELSE CASE WHEN ("t"."number" <= 8192) THEN 78 ELSE 79 END END END END ELSE CASE WHEN ("t"."number" <= 4194304) THEN CASE WHEN ("t"."number" <= 262144) THEN CASE WHEN ("t"."number" <= 65536) THEN CASE WHEN ("t"."number" <= 32768) THEN 80 ELSE 81 END ELSE CASE WHEN ("t"."number" <= 131072) THEN 82 ELSE 83 END END ELSE CASE WHEN ("t"."number" <= 1048576) THEN CASE WHEN ("t"."number" <= 524288) THEN 84 ELSE 85 END ELSE CASE WHEN ("t"."number" <= 2097152) THEN 86 ELSE 87 END END END ELSE CASE WHEN ("t"."number" <= 67108864) THEN CASE WHEN ("t"."number" <= 16777216) THEN CASE WHEN ("t"."number" <= 8388608) THEN 88 ELSE 89 END ELSE CASE WHEN ("t"."number" <= 33554432) THEN 90 ELSE 91 END END ELSE CASE WHEN ("t"."number" <= 268435456) THEN CASE WHEN ("t"."number" <= 134217728) THEN 92 ELSE 93 END ELSE CASE WHEN ("t"."number" <= 536870912) THEN 94 ELSE 95 END END END END END ELSE CASE WHEN ("t"."number" <= 70368744177664) THEN CASE WHEN ("t"."number" <= 274877906944) THEN CASE WHEN ("t"."number" <= 17179869184) THEN CASE WHEN ("t"."number" <= 4294967296) THEN CASE WHEN ("t"."number" <= 2147483648) THEN 96 ELSE 97 END ELSE CASE WHEN ("t"."number" <= 8589934592) THEN 98 ELSE 99 END END ELSE CASE WHEN ("t"."number" <= 68719476736) THEN CASE WHEN ("t"."number" <= 34359738368) THEN 100 ELSE 101 END ELSE CASE WHEN ("t"."number" <= 137438953472) THEN 102 ELSE 103 END END END ELSE CASE WHEN ("t"."number" <= 4398046511104) THEN CASE WHEN ("t"."number" <= 1099511627776) THEN CASE WHEN ("t"."number" <= 549755813888) THEN 104 ELSE 105 END ELSE CASE WHEN ("t"."number" <= 2199023255552) THEN 106 ELSE 107 END END ELSE CASE WHEN ("t"."number" <= 17592186044416) THEN CASE WHEN ("t"."number" <= 8796093022208) THEN 108 ELSE 109 END ELSE CASE WHEN ("t"."number" <= 35184372088832) THEN 110 ELSE 111 END END END END ELSE CASE WHEN ("t"."number" <= 18014398509481984) THEN CASE WHEN ("t"."number" <= 1125899906842624) THEN CASE WHEN ("t"."number" <= 281474976710656) THEN CASE WHEN ("t"."number" <= 140737488355328) THEN 112 ELSE 113 END ELSE CASE WHEN ("t"."number" <= 562949953421312) THEN 114 ELSE 115 END END ELSE CASE WHEN ("t"."number" <= 4503599627370496) THEN CASE WHEN ("t"."number" <= 2251799813685248) THEN 116 ELSE 117 END ELSE CASE WHEN ("t"."number" <= 9007199254740992) THEN 118 ELSE 119 END END END ELSE CASE WHEN ("t"."number" <= 288230376151711744) THEN CASE WHEN ("t"."number" <= 72057594037927936) THEN CASE WHEN ("t"."number" <= 36028797018963968) THEN 120 ELSE 121 END ELSE CASE WHEN ("t"."number" <= 144115188075855872) THEN 122 ELSE 123 END END ELSE CASE WHEN ("t"."number" <= 1152921504606846976) THEN CASE WHEN ("t"."number" <= 576460752303423488) THEN 124 ELSE 125 END ELSE CASE WHEN ("t"."number" <= 2305843009213693952) THEN 126 ELSE CASE WHEN ("t"."number" <= 4611686018427387904) THEN 127 ELSE 128 END END END END END END END END AS "bin" FROM (SELECT "__unit", "number" FROM "kept"."orders") AS "t" WHERE (NOT ("t"."number" IS NULL))) AS "rows") AS "bounded" GROUP BY "k0";
-- per-query: 56b326779b80ab26
SELECT "k0", CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0" FROM (SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "rows"."__unit" AS "__unit", TRY_CAST("rows"."bin" AS BIGINT) AS "k0", 1 AS "s0" FROM (SELECT "t"."__unit" AS "__unit", CASE WHEN ("t"."number" < 0) THEN CASE WHEN ("t"."number" < (-2147483648)) THEN CASE WHEN ("t"."number" < (-140737488355328)) THEN CASE WHEN ("t"."number" < (-36028797018963968)) THEN CASE WHEN ("t"."number" < (-576460752303423488)) THEN CASE WHEN ("t"."number" < (-2305843009213693952)) THEN CASE WHEN ("t"."number" < (-4611686018427387904)) THEN 0 ELSE 1 END ELSE CASE WHEN ("t"."number" < (-1152921504606846976)) THEN 2 ELSE 3 END END ELSE CASE WHEN ("t"."number" < (-144115188075855872)) THEN CASE WHEN ("t"."number" < (-288230376151711744)) THEN 4 ELSE 5 END ELSE CASE WHEN ("t"."number" < (-72057594037927936)) THEN 6 ELSE 7 END END END ELSE CASE WHEN ("t"."number" < (-2251799813685248)) THEN CASE WHEN ("t"."number" < (-9007199254740992)) THEN CASE WHEN ("t"."number" < (-18014398509481984)) THEN 8 ELSE 9 END ELSE CASE WHEN ("t"."number" < (-4503599627370496)) THEN 10 ELSE 11 END END ELSE CASE WHEN ("t"."number" < (-562949953421312)) THEN CASE WHEN ("t"."number" < (-1125899906842624)) THEN 12 ELSE 13 END ELSE CASE WHEN ("t"."number" < (-281474976710656)) THEN 14 ELSE 15 END END END END ELSE CASE WHEN ("t"."number" < (-549755813888)) THEN CASE WHEN ("t"."number" < (-8796093022208)) THEN CASE WHEN ("t"."number" < (-35184372088832)) THEN CASE WHEN ("t"."number" < (-70368744177664)) THEN 16 ELSE 17 END ELSE CASE WHEN ("t"."number" < (-17592186044416)) THEN 18 ELSE 19 END END ELSE CASE WHEN ("t"."number" < (-2199023255552)) THEN CASE WHEN ("t"."number" < (-4398046511104)) THEN 20 ELSE 21 END ELSE CASE WHEN ("t"."number" < (-1099511627776)) THEN 22 ELSE 23 END END END ELSE CASE WHEN ("t"."number" < (-34359738368)) THEN CASE WHEN ("t"."number" < (-137438953472)) THEN CASE WHEN ("t"."number" < (-274877906944)) THEN 24 ELSE 25 END ELSE CASE WHEN ("t"."number" < (-68719476736)) THEN 26 ELSE 27 END END ELSE CASE WHEN ("t"."number" < (-8589934592)) THEN CASE WHEN ("t"."number" < (-17179869184)) THEN 28 ELSE 29 END ELSE CASE WHEN ("t"."number" < (-4294967296)) THEN 30 ELSE 31 END END END END END ELSE CASE WHEN ("t"."number" < (-32768)) THEN CASE WHEN ("t"."number" < (-8388608)) THEN CASE WHEN ("t"."number" < (-134217728)) THEN CASE WHEN ("t"."number" < (-536870912)) THEN CASE WHEN ("t"."number" < (-1073741824)) THEN 32 ELSE 33 END ELSE CASE WHEN ("t"."number" < (-268435456)) THEN 34 ELSE 35 END END ELSE CASE WHEN ("t"."number" < (-33554432)) THEN CASE WHEN ("t"."number" < (-67108864)) THEN 36 ELSE 37 END ELSE CASE WHEN ("t"."number" < (-16777216)) THEN 38 ELSE 39 END END END ELSE CASE WHEN ("t"."number" < (-524288)) THEN CASE WHEN ("t"."number" < (-2097152)) THEN CASE WHEN ("t"."number" < (-4194304)) THEN 40 ELSE 41 END ELSE CASE WHEN ("t"."number" < (-1048576)) THEN 42 ELSE 43 END END ELSE CASE WHEN ("t"."number" < (-131072)) THEN CASE WHEN ("t"."number" < (-262144)) THEN 44 ELSE 45 END ELSE CASE WHEN ("t"."number" < (-65536)) THEN 46 ELSE 47 END END END END ELSE CASE WHEN ("t"."number" < (-128)) THEN CASE WHEN ("t"."number" < (-2048)) THEN CASE WHEN ("t"."number" < (-8192)) THEN CASE WHEN ("t"."number" < (-16384)) THEN 48 ELSE 49 END ELSE CASE WHEN ("t"."number" < (-4096)) THEN 50 ELSE 51 END END ELSE CASE WHEN ("t"."number" < (-512)) THEN CASE WHEN ("t"."number" < (-1024)) THEN 52 ELSE 53 END ELSE CASE WHEN ("t"."number" < (-256)) THEN 54 ELSE 55 END END END ELSE CASE WHEN ("t"."number" < (-8)) THEN CASE WHEN ("t"."number" < (-32)) THEN CASE WHEN ("t"."number" < (-64)) THEN 56 ELSE 57 END ELSE CASE WHEN ("t"."number" < (-16)) THEN 58 ELSE 59 END END ELSE CASE WHEN ("t"."number" < (-2)) THEN CASE WHEN ("t"."number" < (-4)) THEN 60 ELSE 61 END ELSE CASE WHEN ("t"."number" < (-1)) THEN 62 ELSE 63 END END END END END END ELSE CASE WHEN ("t"."number" <= 1073741824) THEN CASE WHEN ("t"."number" <= 16384) THEN CASE WHEN ("t"."number" <= 64) THEN CASE WHEN ("t"."number" <= 4) THEN CASE WHEN ("t"."number" <= 1) THEN CASE WHEN ("t"."number" <= 0) THEN 64 ELSE 65 END ELSE CASE WHEN ("t"."number" <= 2) THEN 66 ELSE 67 END END ELSE CASE WHEN ("t"."number" <= 16) THEN CASE WHEN ("t"."number" <= 8) THEN 68 ELSE 69 END ELSE CASE WHEN ("t"."number" <= 32) THEN 70 ELSE 71 END END END ELSE CASE WHEN ("t"."number" <= 1024) THEN CASE WHEN ("t"."number" <= 256) THEN CASE WHEN ("t"."number" <= 128) THEN 72 ELSE 73 END ELSE CASE WHEN ("t"."number" <= 512) THEN 74 ELSE 75 END END ELSE CASE WHEN ("t"."number" <= 4096) THEN CASE WHEN ("t"."number" <= 2048) THEN 76 ELSE 77 END ELSE CASE WHEN ("t"."number" <= 8192) THEN 78 ELSE 79 END END END END ELSE CASE WHEN ("t"."number" <= 4194304) THEN CASE WHEN ("t"."number" <= 262144) THEN CASE WHEN ("t"."number" <= 65536) THEN CASE WHEN ("t"."number" <= 32768) THEN 80 ELSE 81 END ELSE CASE WHEN ("t"."number" <= 131072) THEN 82 ELSE 83 END END ELSE CASE WHEN ("t"."number" <= 1048576) THEN CASE WHEN ("t"."number" <= 524288) THEN 84 ELSE 85 END ELSE CASE WHEN ("t"."number" <= 2097152) THEN 86 ELSE 87 END END END ELSE CASE WHEN ("t"."number" <= 67108864) THEN CASE WHEN ("t"."number" <= 16777216) THEN CASE WHEN ("t"."number" <= 8388608) THEN 88 ELSE 89 END ELSE CASE WHEN ("t"."number" <= 33554432) THEN 90 ELSE 91 END END ELSE CASE WHEN ("t"."number" <= 268435456) THEN CASE WHEN ("t"."number" <= 134217728) THEN 92 ELSE 93 END ELSE CASE WHEN ("t"."number" <= 536870912) THEN 94 ELSE 95 END END END END END ELSE CASE WHEN ("t"."number" <= 70368744177664) THEN CASE WHEN ("t"."number" <= 274877906944) THEN CASE WHEN ("t"."number" <= 17179869184) THEN CASE WHEN ("t"."number" <= 4294967296) THEN CASE WHEN ("t"."number" <= 2147483648) THEN 96 ELSE 97 END ELSE CASE WHEN ("t"."number" <= 8589934592) THEN 98 ELSE 99 END END ELSE CASE WHEN ("t"."number" <= 68719476736) THEN CASE WHEN ("t"."number" <= 34359738368) THEN 100 ELSE 101 END ELSE CASE WHEN ("t"."number" <= 137438953472) THEN 102 ELSE 103 END END END ELSE CASE WHEN ("t"."number" <= 4398046511104) THEN CASE WHEN ("t"."number" <= 1099511627776) THEN CASE WHEN ("t"."number" <= 549755813888) THEN 104 ELSE 105 END ELSE CASE WHEN ("t"."number" <= 2199023255552) THEN 106 ELSE 107 END END ELSE CASE WHEN ("t"."number" <= 17592186044416) THEN CASE WHEN ("t"."number" <= 8796093022208) THEN 108 ELSE 109 END ELSE CASE WHEN ("t"."number" <= 35184372088832) THEN 110 ELSE 111 END END END END ELSE CASE WHEN ("t"."number" <= 18014398509481984) THEN CASE WHEN ("t"."number" <= 1125899906842624) THEN CASE WHEN ("t"."number" <= 281474976710656) THEN CASE WHEN ("t"."number" <= 140737488355328) THEN 112 ELSE 113 END ELSE CASE WHEN ("t"."number" <= 562949953421312) THEN 114 ELSE 115 END END ELSE CASE WHEN ("t"."number" <= 4503599627370496) THEN CASE WHEN ("t"."number" <= 2251799813685248) THEN 116 ELSE 117 END ELSE CASE WHEN ("t"."number" <= 9007199254740992) THEN 118 ELSE 119 END END END ELSE CASE WHEN ("t"."number" <= 288230376151711744) THEN CASE WHEN ("t"."number" <= 72057594037927936) THEN CASE WHEN ("t"."number" <= 36028797018963968) THEN 120 ELSE 121 END ELSE CASE WHEN ("t"."number" <= 144115188075855872) THEN 122 ELSE 123 END END ELSE CASE WHEN ("t"."number" <= 1152921504606846976) THEN CASE WHEN ("t"."number" <= 576460752303423488) THEN 124 ELSE 125 END ELSE CASE WHEN ("t"."number" <= 2305843009213693952) THEN 126 ELSE CASE WHEN ("t"."number" <= 4611686018427387904) THEN 127 ELSE 128 END END END END END END END END AS "bin" FROM (SELECT * FROM (SELECT "__unit", "number" FROM "every"."orders") AS "__of" WHERE NOT ("__unit" IN (SELECT u FROM "heavy"."fd9989b7e3f037e2"))) AS "t" WHERE (NOT ("t"."number" IS NULL))) AS "rows") AS "bounded" GROUP BY "k0" UNION ALL SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY hash('discreet', "__unit", "k0", "s0"), "k0", "s0") AS "rank" FROM (SELECT "rows"."__unit" AS "__unit", TRY_CAST("rows"."bin" AS BIGINT) AS "k0", 1 AS "s0" FROM (SELECT "t"."__unit" AS "__unit", CASE WHEN ("t"."number" < 0) THEN CASE WHEN ("t"."number" < (-2147483648)) THEN CASE WHEN ("t"."number" < (-140737488355328)) THEN CASE WHEN ("t"."number" < (-36028797018963968)) THEN CASE WHEN ("t"."number" < (-576460752303423488)) THEN CASE WHEN ("t"."number" < (-2305843009213693952)) THEN CASE WHEN ("t"."number" < (-4611686018427387904)) THEN 0 ELSE 1 END ELSE CASE WHEN ("t"."number" < (-1152921504606846976)) THEN 2 ELSE 3 END END ELSE CASE WHEN ("t"."number" < (-144115188075855872)) THEN CASE WHEN ("t"."number" < (-288230376151711744)) THEN 4 ELSE 5 END ELSE CASE WHEN ("t"."number" < (-72057594037927936)) THEN 6 ELSE 7 END END END ELSE CASE WHEN ("t"."number" < (-2251799813685248)) THEN CASE WHEN ("t"."number" < (-9007199254740992)) THEN CASE WHEN ("t"."number" < (-18014398509481984)) THEN 8 ELSE 9 END ELSE CASE WHEN ("t"."number" < (-4503599627370496)) THEN 10 ELSE 11 END END ELSE CASE WHEN ("t"."number" < (-562949953421312)) THEN CASE WHEN ("t"."number" < (-1125899906842624)) THEN 12 ELSE 13 END ELSE CASE WHEN ("t"."number" < (-281474976710656)) THEN 14 ELSE 15 END END END END ELSE CASE WHEN ("t"."number" < (-549755813888)) THEN CASE WHEN ("t"."number" < (-8796093022208)) THEN CASE WHEN ("t"."number" < (-35184372088832)) THEN CASE WHEN ("t"."number" < (-70368744177664)) THEN 16 ELSE 17 END ELSE CASE WHEN ("t"."number" < (-17592186044416)) THEN 18 ELSE 19 END END ELSE CASE WHEN ("t"."number" < (-2199023255552)) THEN CASE WHEN ("t"."number" < (-4398046511104)) THEN 20 ELSE 21 END ELSE CASE WHEN ("t"."number" < (-1099511627776)) THEN 22 ELSE 23 END END END ELSE CASE WHEN ("t"."number" < (-34359738368)) THEN CASE WHEN ("t"."number" < (-137438953472)) THEN CASE WHEN ("t"."number" < (-274877906944)) THEN 24 ELSE 25 END ELSE CASE WHEN ("t"."number" < (-68719476736)) THEN 26 ELSE 27 END END ELSE CASE WHEN ("t"."number" < (-8589934592)) THEN CASE WHEN ("t"."number" < (-17179869184)) THEN 28 ELSE 29 END ELSE CASE WHEN ("t"."number" < (-4294967296)) THEN 30 ELSE 31 END END END END END ELSE CASE WHEN ("t"."number" < (-32768)) THEN CASE WHEN ("t"."number" < (-8388608)) THEN CASE WHEN ("t"."number" < (-134217728)) THEN CASE WHEN ("t"."number" < (-536870912)) THEN CASE WHEN ("t"."number" < (-1073741824)) THEN 32 ELSE 33 END ELSE CASE WHEN ("t"."number" < (-268435456)) THEN 34 ELSE 35 END END ELSE CASE WHEN ("t"."number" < (-33554432)) THEN CASE WHEN ("t"."number" < (-67108864)) THEN 36 ELSE 37 END ELSE CASE WHEN ("t"."number" < (-16777216)) THEN 38 ELSE 39 END END END ELSE CASE WHEN ("t"."number" < (-524288)) THEN CASE WHEN ("t"."number" < (-2097152)) THEN CASE WHEN ("t"."number" < (-4194304)) THEN 40 ELSE 41 END ELSE CASE WHEN ("t"."number" < (-1048576)) THEN 42 ELSE 43 END END ELSE CASE WHEN ("t"."number" < (-131072)) THEN CASE WHEN ("t"."number" < (-262144)) THEN 44 ELSE 45 END ELSE CASE WHEN ("t"."number" < (-65536)) THEN 46 ELSE 47 END END END END ELSE CASE WHEN ("t"."number" < (-128)) THEN CASE WHEN ("t"."number" < (-2048)) THEN CASE WHEN ("t"."number" < (-8192)) THEN CASE WHEN ("t"."number" < (-16384)) THEN 48 ELSE 49 END ELSE CASE WHEN ("t"."number" < (-4096)) THEN 50 ELSE 51 END END ELSE CASE WHEN ("t"."number" < (-512)) THEN CASE WHEN ("t"."number" < (-1024)) THEN 52 ELSE 53 END ELSE CASE WHEN ("t"."number" < (-256)) THEN 54 ELSE 55 END END END ELSE CASE WHEN ("t"."number" < (-8)) THEN CASE WHEN ("t"."number" < (-32)) THEN CASE WHEN ("t"."number" < (-64)) THEN 56 ELSE 57 END ELSE CASE WHEN ("t"."number" < (-16)) THEN 58 ELSE 59 END END ELSE CASE WHEN ("t"."number" < (-2)) THEN CASE WHEN ("t"."number" < (-4)) THEN 60 ELSE 61 END ELSE CASE WHEN ("t"."number" < (-1)) THEN 62 ELSE 63 END END END END END END ELSE CASE WHEN ("t"."number" <= 1073741824) THEN CASE WHEN ("t"."number" <= 16384) THEN CASE WHEN ("t"."number" <= 64) THEN CASE WHEN ("t"."number" <= 4) THEN CASE WHEN ("t"."number" <= 1) THEN CASE WHEN ("t"."number" <= 0) THEN 64 ELSE 65 END ELSE CASE WHEN ("t"."number" <= 2) THEN 66 ELSE 67 END END ELSE CASE WHEN ("t"."number" <= 16) THEN CASE WHEN ("t"."number" <= 8) THEN 68 ELSE 69 END ELSE CASE WHEN ("t"."number" <= 32) THEN 70 ELSE 71 END END END ELSE CASE WHEN ("t"."number" <= 1024) THEN CASE WHEN ("t"."number" <= 256) THEN CASE WHEN ("t"."number" <= 128) THEN 72 ELSE 73 END ELSE CASE WHEN ("t"."number" <= 512) THEN 74 ELSE 75 END END ELSE CASE WHEN ("t"."number" <= 4096) THEN CASE WHEN ("t"."number" <= 2048) THEN 76 ELSE 77 END ELSE CASE WHEN ("t"."number" <= 8192) THEN 78 ELSE 79 END END END END ELSE CASE WHEN ("t"."number" <= 4194304) THEN CASE WHEN ("t"."number" <= 262144) THEN CASE WHEN ("t"."number" <= 65536) THEN CASE WHEN ("t"."number" <= 32768) THEN 80 ELSE 81 END ELSE CASE WHEN ("t"."number" <= 131072) THEN 82 ELSE 83 END END ELSE CASE WHEN ("t"."number" <= 1048576) THEN CASE WHEN ("t"."number" <= 524288) THEN 84 ELSE 85 END ELSE CASE WHEN ("t"."number" <= 2097152) THEN 86 ELSE 87 END END END ELSE CASE WHEN ("t"."number" <= 67108864) THEN CASE WHEN ("t"."number" <= 16777216) THEN CASE WHEN ("t"."number" <= 8388608) THEN 88 ELSE 89 END ELSE CASE WHEN ("t"."number" <= 33554432) THEN 90 ELSE 91 END END ELSE CASE WHEN ("t"."number" <= 268435456) THEN CASE WHEN ("t"."number" <= 134217728) THEN 92 ELSE 93 END ELSE CASE WHEN ("t"."number" <= 536870912) THEN 94 ELSE 95 END END END END END ELSE CASE WHEN ("t"."number" <= 70368744177664) THEN CASE WHEN ("t"."number" <= 274877906944) THEN CASE WHEN ("t"."number" <= 17179869184) THEN CASE WHEN ("t"."number" <= 4294967296) THEN CASE WHEN ("t"."number" <= 2147483648) THEN 96 ELSE 97 END ELSE CASE WHEN ("t"."number" <= 8589934592) THEN 98 ELSE 99 END END ELSE CASE WHEN ("t"."number" <= 68719476736) THEN CASE WHEN ("t"."number" <= 34359738368) THEN 100 ELSE 101 END ELSE CASE WHEN ("t"."number" <= 137438953472) THEN 102 ELSE 103 END END END ELSE CASE WHEN ("t"."number" <= 4398046511104) THEN CASE WHEN ("t"."number" <= 1099511627776) THEN CASE WHEN ("t"."number" <= 549755813888) THEN 104 ELSE 105 END ELSE CASE WHEN ("t"."number" <= 2199023255552) THEN 106 ELSE 107 END END ELSE CASE WHEN ("t"."number" <= 17592186044416) THEN CASE WHEN ("t"."number" <= 8796093022208) THEN 108 ELSE 109 END ELSE CASE WHEN ("t"."number" <= 35184372088832) THEN 110 ELSE 111 END END END END ELSE CASE WHEN ("t"."number" <= 18014398509481984) THEN CASE WHEN ("t"."number" <= 1125899906842624) THEN CASE WHEN ("t"."number" <= 281474976710656) THEN CASE WHEN ("t"."number" <= 140737488355328) THEN 112 ELSE 113 END ELSE CASE WHEN ("t"."number" <= 562949953421312) THEN 114 ELSE 115 END END ELSE CASE WHEN ("t"."number" <= 4503599627370496) THEN CASE WHEN ("t"."number" <= 2251799813685248) THEN 116 ELSE 117 END ELSE CASE WHEN ("t"."number" <= 9007199254740992) THEN 118 ELSE 119 END END END ELSE CASE WHEN ("t"."number" <= 288230376151711744) THEN CASE WHEN ("t"."number" <= 72057594037927936) THEN CASE WHEN ("t"."number" <= 36028797018963968) THEN 120 ELSE 121 END ELSE CASE WHEN ("t"."number" <= 144115188075855872) THEN 122 ELSE 123 END END ELSE CASE WHEN ("t"."number" <= 1152921504606846976) THEN CASE WHEN ("t"."number" <= 576460752303423488) THEN 124 ELSE 125 END ELSE CASE WHEN ("t"."number" <= 2305843009213693952) THEN 126 ELSE CASE WHEN ("t"."number" <= 4611686018427387904) THEN 127 ELSE 128 END END END END END END END END AS "bin" FROM (SELECT "__unit", "number" FROM "heavy"."fd9989b7e3f037e2rows" UNION ALL SELECT "__unit", "number" FROM (SELECT "__unit", "number" FROM "every"."orders") AS "others" WHERE "__unit" IN (SELECT u FROM "heavy"."fd9989b7e3f037e2many")) AS "t" WHERE (NOT ("t"."number" IS NULL))) AS "rows") AS "rows") AS "ranked" WHERE "rank" <= 10) AS "bounded" GROUP BY "k0") AS "parts" GROUP BY "k0";

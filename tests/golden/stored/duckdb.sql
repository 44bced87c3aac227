-- SELECT COUNT(*) AS n FROM visits
-- prepared: d87acc6f8479ecfa
SELECT CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", 1 AS "s0" FROM (SELECT "visits"."__unit" AS "__unit" FROM (SELECT "__unit" FROM "kept"."visits") AS "visits") AS "__rows") AS "bounded";
-- per-query: a65733962166788b
SELECT CAST(coalesce(sum(1 * "rows"), 0) AS HUGEINT) AS "s0" FROM (SELECT least(count(*), 12) AS "rows" FROM (SELECT "visits"."__unit" AS "__unit" FROM (SELECT "__unit" FROM "every"."visits") AS "visits") AS "all" GROUP BY "__unit") AS "bounded";

-- SELECT COUNT(DISTINCT patient_id) AS people FROM visits
-- prepared: 63f0a88a16931cb5
-- per-query: 5a246eff03d1a749

-- SELECT region, COUNT(*), AVG(income) FROM patients GROUP BY region
-- prepared: c4a4dc66b80e09c6
-- per-query: 0bf45f1bd4114cb7

-- SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis ORDER BY n DESC LIMIT 5
-- prepared: 33a1a7e0544ca49e
-- per-query: 53d8d029060c7b47

-- SELECT region, COUNT(*) AS n, 3 * COUNT(*) AS thrice, CASE WHEN COUNT(*) > 100 THEN 'large' ELSE 'small' END AS size FROM patients GROUP BY region
-- prepared: ffd736ff13ff26f7
-- per-query: 59bf47a28708f8f4

-- SELECT SUM(cost * 1.2 + minutes) AS s FROM visits WHERE cost BETWEEN 10 AND 100
-- prepared: 760e67ad714b3a86
-- per-query: 421aaf4322c10677

-- SELECT SUM(CASE WHEN minutes > 60 THEN 1 ELSE 0 END) AS long_visits, COUNT(*) FILTER (WHERE cost > 100) AS dear FROM visits
-- prepared: 0bdfa5062ce7b4be
-- per-query: 997bac4f371fb9ed

-- SELECT VARIANCE(minutes) AS v, STDDEV(minutes) AS sd FROM visits
-- prepared: 369d10d762d215fe
-- per-query: b13af9e0a7aa70fa

-- SELECT MEDIAN(cost) AS m, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY cost) AS p90, MIN(minutes) AS lo, MAX(minutes) AS hi FROM visits
-- prepared: 49cd7d28d5b092e3 65671d49077bd602
-- per-query: 092d65c8b6dc0371 aeacad5753d0409d

-- SELECT c.region, AVG(v.cost) AS cost FROM visits v JOIN clinics c ON v.clinic_id = c.clinic_id GROUP BY c.region
-- prepared: 3a765307f8c8c2af
SELECT "k0", CAST(count("s0") AS HUGEINT) AS "s0", CAST(coalesce(sum("s1"), 0) AS HUGEINT) AS "s1" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", "__rows"."cost in 1073741824 steps from 0 to 500" AS "s0", "__rows"."cost in 1073741824 steps from 0 to 500" AS "s1" FROM (SELECT "v"."__unit" AS "__unit", "c"."region" AS "region", "v"."cost in 1073741824 steps from 0 to 500" AS "cost in 1073741824 steps from 0 to 500" FROM (SELECT "__unit", "clinic_id", "cost in 1073741824 steps from 0 to 500" FROM "kept"."visits") AS "v" JOIN "clinics" AS "c" ON ("v"."clinic_id" = "c"."clinic_id")) AS "__rows") AS "bounded" GROUP BY "k0";
-- per-query: c0d68546af1760d4
SELECT "k0", CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0", CAST(coalesce(sum("s1"), 0) AS HUGEINT) AS "s1" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY hash('discreet', "__unit", "k0", "s0", "s1"), "k0", "s0", "s1") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", coalesce(CASE WHEN (TRY_CAST((CASE WHEN "__rows"."cost" < 0.0e0 THEN 0.0e0 WHEN "__rows"."cost" > 500.0e0 THEN 500.0e0 ELSE "__rows"."cost" END * 2147483.648e0) AS BIGINT) IS NULL) THEN 0 ELSE 1 END, 0) AS "s0", coalesce(TRY_CAST((CASE WHEN "__rows"."cost" < 0.0e0 THEN 0.0e0 WHEN "__rows"."cost" > 500.0e0 THEN 500.0e0 ELSE "__rows"."cost" END * 2147483.648e0) AS BIGINT), 0) AS "s1" FROM (SELECT "v"."__unit" AS "__unit", "c"."region" AS "region", "v"."cost" AS "cost" FROM (SELECT "__unit", "clinic_id", "cost" FROM "every"."visits") AS "v" JOIN "clinics" AS "c" ON ("v"."clinic_id" = "c"."clinic_id")) AS "__rows") AS "rows") AS "ranked" WHERE "rank" <= 12) AS "bounded" GROUP BY "k0";

-- SELECT p.sex, AVG(v.minutes) AS minutes FROM patients p JOIN visits v ON p.patient_id = v.patient_id GROUP BY p.sex
-- prepared: 85f353b838ce8902
-- per-query: 9267b33a1f1a08d9

-- SELECT COUNT(*) AS n FROM prescriptions WHERE dose > 500
-- prepared: 51e22a6a49b2fe01
-- per-query: 2ac69fbb1624f396

-- WITH per_patient AS (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id) SELECT AVG(LEAST(GREATEST(total, 0), 1000)) AS avg_total FROM per_patient
-- prepared: 9925aa16cd54b678
-- per-query: 9925aa16cd54b678

-- SELECT COUNT(*) AS frequent FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) >= 5) AS t
-- prepared: d4c0a909049ee9e6
-- per-query: d4c0a909049ee9e6

-- WITH r AS (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) SELECT region, n, 100.0 * n / SUM(n) OVER () AS share FROM r ORDER BY share DESC
-- prepared: ffd736ff13ff26f7
-- per-query: 59bf47a28708f8f4

-- SELECT a.region, a.n AS insured, b.n AS everyone FROM (SELECT region, COUNT(*) AS n FROM patients WHERE insured GROUP BY region) a JOIN (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) b ON a.region = b.region
-- prepared: 79c5c4fb5a5ce4a7 ffd736ff13ff26f7
-- per-query: 46e1692c6011b32d 59bf47a28708f8f4

-- SELECT date_trunc('month', day) AS month, COUNT(*) AS n FROM visits GROUP BY month ORDER BY month
-- prepared: 462b48411f9d4303
-- per-query: 940685ffb759230a

-- SELECT diagnosis, COUNT(*) FROM visits WHERE diagnosis IN ('flu', 'asthma', 'fracture') GROUP BY diagnosis
-- prepared: 16cb299b7e128de8
-- per-query: 1f6c5141ecc1db39

-- SELECT insured, sex, COUNT(*) AS n FROM patients GROUP BY insured, sex HAVING COUNT(*) > 10
-- prepared: f64ff26970db8f0f
SELECT "k0", "k1", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."insured" AS "k0", "__rows"."sex" AS "k1", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."insured" AS "insured", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex", "insured" FROM "kept"."patients") AS "patients") AS "__rows") AS "bounded" GROUP BY "k0", "k1";
-- per-query: f52358196060a130
SELECT "k0", "k1", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY hash('discreet', "__unit", "k0", "k1", "s0"), "k0", "k1", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."insured" AS "k0", "__rows"."sex" AS "k1", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."insured" AS "insured", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex", "insured" FROM "every"."patients") AS "patients") AS "__rows") AS "rows") AS "ranked" WHERE "rank" <= 1) AS "bounded" GROUP BY "k0", "k1";

-- SELECT COUNT(*) FROM patients WHERE patient_id = 7
-- prepared: 4d249209cc697613
-- per-query: 9d665935a4e0e862

-- SELECT name, beds FROM clinics ORDER BY beds DESC
-- prepared: 
-- per-query: 

-- SELECT SQRT(AVG(cost)) AS r, PI() AS p, COUNT(*) + 0 AS n FROM visits
-- prepared: 8e5d5df6300b82e5
-- per-query: ffc557b2abb8eade

-- SELECT COUNT(*) FROM visits WHERE note ILIKE '%allerg%' OR note IS NULL
-- prepared: 3dd8d0f1964c21cf
-- per-query: d1767e95a8318aab

-- SELECT COUNT(DISTINCT diagnosis) AS kinds FROM visits
-- prepared: 9539eb2af5857678
-- per-query: 019b0740e60b2e49

-- SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.cost > 400)
-- prepared: bb6ba0b5b10dec04
-- per-query: bbfb3034a02c3444

-- SELECT AVG(gap) FROM (SELECT patient_id, date_diff('day', LAG(day) OVER (PARTITION BY patient_id ORDER BY day), day) AS gap FROM visits) AS g WHERE gap BETWEEN 0 AND 365
-- prepared: 83fba3e4262ba00a
-- per-query: 83fba3e4262ba00a

-- SELECT CASE WHEN 2024 - birth_year >= 65 THEN 'old' ELSE 'young' END AS age_group, COUNT(*) FROM patients GROUP BY 1
-- prepared: faa125033828f442
-- per-query: 1bfdfe5c1a790b13

-- SELECT COUNT(*) FROM (SELECT patient_id, minutes FROM visits UNION ALL SELECT patient_id, 0 FROM patients) AS u WHERE minutes > 30
-- prepared: edfad5a6f224283a
SELECT CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", 1 AS "s0" FROM (SELECT "u"."__unit" AS "__unit" FROM (SELECT "__unit", "minutes" AS "minutes" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."minutes" AS "minutes" FROM (SELECT "__unit", "minutes" FROM "kept"."visits") AS "visits") AS "__part" UNION ALL SELECT "__unit", "0" AS "minutes" FROM (SELECT "patients"."__unit" AS "__unit", 0 AS "0" FROM (SELECT "__unit" FROM "kept"."patients") AS "patients") AS "__part") AS "u" WHERE ("u"."minutes" > 30)) AS "__rows") AS "bounded";
-- per-query: 82b4202cd2296984
SELECT CAST(coalesce(sum(1 * "rows"), 0) AS HUGEINT) AS "s0" FROM (SELECT least(count(*), 13) AS "rows" FROM (SELECT "u"."__unit" AS "__unit" FROM (SELECT "__unit", "minutes" AS "minutes" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."minutes" AS "minutes" FROM (SELECT "__unit", "minutes" FROM "every"."visits") AS "visits") AS "__part" UNION ALL SELECT "__unit", "0" AS "minutes" FROM (SELECT "patients"."__unit" AS "__unit", 0 AS "0" FROM (SELECT "__unit" FROM "every"."patients") AS "patients") AS "__part") AS "u" WHERE ("u"."minutes" > 30)) AS "all" GROUP BY "__unit") AS "bounded";

-- SELECT COUNT(*) FROM visits WHERE 1 / (minutes - 30) > 0 OR CAST(diagnosis AS INTEGER) = 3
-- prepared: 352ed3dda65a7f8d
-- per-query: 49c023e81624c443

-- SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)
-- prepared: 3e88a975dd8c8b07 0cb21d2182708d47
-- per-query: 8126c7f63c8f170a 7b7625e5f2afc4f9

-- SELECT drug, COUNT(*) AS n FROM prescriptions pr JOIN visits v ON pr.visit_id = v.visit_id JOIN patients p ON p.patient_id = v.patient_id WHERE p.sex = 'f' GROUP BY drug
-- prepared: 40dc792de4cd0a61
-- per-query: 40dc792de4cd0a61

-- SELECT count(*) FROM VISITS
-- prepared: 3f948ddbbd283f8d
-- per-query: b8f8cef87e2b1c30

-- SELECT COUNT(*) FROM "Visits" AS "v" WHERE "v"."COST" > 3
-- prepared: 42807f26c64df58b
-- per-query: f8d2f9bacdd6d65a

-- SELECT COUNT(*) AS "select", AVG(cost) AS "größe ☃", SUM(minutes) AS "a""b" FROM visits
-- prepared: 89d77dd21613e8e3
-- per-query: 29897a5380893f2c

-- SELECT COUNT(*) AS a0, AVG(cost) AS a0, COUNT(*) FROM visits
-- prepared: 8e5d5df6300b82e5
-- per-query: ffc557b2abb8eade

-- SELECT COUNT(*) AS "__spread", AVG(cost) AS "__spread_2" FROM visits
-- prepared: 8e5d5df6300b82e5
-- per-query: ffc557b2abb8eade

-- SELECT SUM("__unit") FROM (SELECT patient_id, minutes AS "__unit" FROM visits)
-- prepared: 597b02d3235ead9f
SELECT CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."minutes in 240 steps from 0 to 240" AS "s0" FROM (SELECT "__query_1"."__unit" AS "__unit", "__query_1"."minutes in 240 steps from 0 to 240" AS "minutes in 240 steps from 0 to 240" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."minutes in 240 steps from 0 to 240" AS "minutes in 240 steps from 0 to 240" FROM (SELECT "__unit", "minutes in 240 steps from 0 to 240" FROM "kept"."visits") AS "visits") AS "__query_1") AS "__rows") AS "bounded";
-- per-query: 9a8bb30393958cf1
SELECT CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY hash('discreet', "__unit", "s0"), "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", coalesce(CASE WHEN "__rows"."___unit" < 0 THEN 0 WHEN "__rows"."___unit" > 240 THEN 240 ELSE "__rows"."___unit" END, 0) AS "s0" FROM (SELECT "__query_1"."__unit" AS "__unit", "__query_1"."___unit" AS "___unit" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."minutes" AS "___unit" FROM (SELECT "__unit", "minutes" FROM "every"."visits") AS "visits") AS "__query_1") AS "__rows") AS "rows") AS "ranked" WHERE "rank" <= 12) AS "bounded";

-- SELECT k0, SUM(s0) FROM (SELECT minutes AS s0, cost AS "rank", diagnosis AS k0 FROM visits) AS "rows" GROUP BY k0
-- prepared: dc9541c7ebc51c1d
-- per-query: a2446012b807be52

-- SELECT p.sex, COUNT(*) FROM patients p GROUP BY sex
-- prepared: a24cf98283f161b8
-- per-query: 21f3508f341bd20e

-- FROM visits SELECT COUNT(*)
-- prepared: d87acc6f8479ecfa
-- per-query: a65733962166788b

-- SELECT sex, region, COUNT(*) FROM patients GROUP BY ALL ORDER BY ALL
-- prepared: c5f1a03221905408
-- per-query: 4305a4d4df74af42

-- SELECT sex AS s, COUNT(*) FROM patients GROUP BY s
-- prepared: 5781595a2d57396d
-- per-query: 0fc40389d565cad0

-- SELECT sex, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY 2 DESC
-- prepared: 5781595a2d57396d
-- per-query: 0fc40389d565cad0

-- SELECT sex, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY n + 1 DESC NULLS LAST LIMIT 1 OFFSET 1
-- prepared: 5781595a2d57396d
-- per-query: 0fc40389d565cad0

-- SELECT sex, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY AVG(income)
-- prepared: 22a694e8415b46ad
-- per-query: 6fd8e9bbdc935541

-- SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex HAVING n > 10
-- prepared: 5781595a2d57396d
SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."sex" AS "k0", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex" FROM "kept"."patients") AS "patients") AS "__rows") AS "bounded" GROUP BY "k0";
-- per-query: 0fc40389d565cad0
SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY hash('discreet', "__unit", "k0", "s0"), "k0", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."sex" AS "k0", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex" FROM "every"."patients") AS "patients") AS "__rows") AS "rows") AS "ranked" WHERE "rank" <= 1) AS "bounded" GROUP BY "k0";

-- SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex, sex HAVING sex = 'f' AND AVG(income) > 0
-- prepared: 22a694e8415b46ad
-- per-query: 6fd8e9bbdc935541

-- SELECT UPPER(sex), COUNT(*) FROM patients GROUP BY sex
-- prepared: 5781595a2d57396d
-- per-query: 0fc40389d565cad0

-- SELECT sex || '!', COUNT(*) FROM patients GROUP BY sex || '!'
-- prepared: 5191df267dce690e
-- per-query: cb1fdbe811937c7d

-- SELECT DISTINCT diagnosis FROM visits
-- prepared: 6a88bf699a5ffbbc
-- per-query: fde824795092e629

-- SELECT DISTINCT COUNT(*) FROM visits
-- prepared: d87acc6f8479ecfa
-- per-query: a65733962166788b

-- SELECT COUNT(*) FROM patients HAVING COUNT(*) > 1000000
-- prepared: e44468aa70d2b645
-- per-query: 5024d2bc34232f12

-- SELECT COUNT(*) FROM visits LIMIT 0
-- prepared: d87acc6f8479ecfa
-- per-query: a65733962166788b

-- SELECT minutes // 60 AS hours, COUNT(*) FROM visits GROUP BY hours
-- prepared: 5f3007e91a8f28eb
-- per-query: 52ec8e7b40b49e42

-- SELECT year(day), month(day), COUNT(*) FROM visits GROUP BY ALL
-- prepared: 50d36489f8c513ef
SELECT "k0", "k1", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", TRY_CAST(date_part('year', CAST("__rows"."day" AS TIMESTAMP)) AS BIGINT) AS "k0", TRY_CAST(date_part('month', CAST("__rows"."day" AS TIMESTAMP)) AS BIGINT) AS "k1", 1 AS "s0" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."day" AS "day" FROM (SELECT "__unit", "day" FROM "kept"."visits") AS "visits") AS "__rows") AS "bounded" GROUP BY "k0", "k1";
-- per-query: cc53540f9aefe240
SELECT "k0", "k1", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY hash('discreet', "__unit", "k0", "k1", "s0"), "k0", "k1", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", TRY_CAST(date_part('year', CAST("__rows"."day" AS TIMESTAMP)) AS BIGINT) AS "k0", TRY_CAST(date_part('month', CAST("__rows"."day" AS TIMESTAMP)) AS BIGINT) AS "k1", 1 AS "s0" FROM (SELECT "visits"."__unit" AS "__unit", "visits"."day" AS "day" FROM (SELECT "__unit", "day" FROM "every"."visits") AS "visits") AS "__rows") AS "rows") AS "ranked" WHERE "rank" <= 12) AS "bounded" GROUP BY "k0", "k1";

-- SELECT note IS NULL AS without, COUNT(*) FROM visits GROUP BY without
-- prepared: 06b91c4edf0de0d3
-- per-query: d55fc51ab556146e

-- SELECT visit_id, COUNT(*) FROM visits GROUP BY visit_id
-- prepared: 06104beecbbbcd0f
-- per-query: e12dfabe4c06a2b9

-- SELECT cost > (SELECT AVG(cost) FROM visits) AS dear, COUNT(*) FROM visits GROUP BY dear
-- prepared: 3e88a975dd8c8b07 6f71756b37b5d5da
-- per-query: 8126c7f63c8f170a c40d8b22b0833365

-- WITH a AS (SELECT * FROM visits WHERE cost > 10), b AS (SELECT * FROM a WHERE minutes > 10) SELECT COUNT(*) FROM b
-- prepared: 5b7927f146fae421
-- per-query: 8c68a83fbafd6aa7

-- WITH a AS (SELECT AVG(cost) AS m FROM visits), b AS (SELECT m * 2 AS m FROM a) SELECT COUNT(*) FROM visits WHERE cost > (SELECT m FROM b)
-- prepared: 3e88a975dd8c8b07 0cb21d2182708d47
-- per-query: 8126c7f63c8f170a 7b7625e5f2afc4f9

-- WITH a(x, y) AS (SELECT patient_id, cost FROM visits) SELECT SUM(y), COUNT(DISTINCT x) FROM a
-- prepared: 3f86c6bea258f269 63f0a88a16931cb5
-- per-query: 18419961f161a44a 0e68b74ac3743bc8

-- SELECT SUM(t.b) FROM (SELECT patient_id, minutes FROM visits) AS t(a, b)
-- prepared: fd2cf4e063edc158
-- per-query: bfa6ab46043d3e9a

-- SELECT t.a, t.b FROM (SELECT sex, COUNT(*) FROM patients GROUP BY sex) AS t(a, b)
-- prepared: 5781595a2d57396d
-- per-query: 0fc40389d565cad0

-- WITH r AS (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) SELECT a.region, a.n - b.n AS zero FROM r a JOIN r b ON a.region = b.region
-- prepared: ffd736ff13ff26f7
SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."region" AS "region" FROM (SELECT "__unit", "region" FROM "kept"."patients") AS "patients") AS "__rows") AS "bounded" GROUP BY "k0";
-- per-query: 59bf47a28708f8f4
SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY hash('discreet', "__unit", "k0", "s0"), "k0", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."region" AS "region" FROM (SELECT "__unit", "region" FROM "every"."patients") AS "patients") AS "__rows") AS "rows") AS "ranked" WHERE "rank" <= 1) AS "bounded" GROUP BY "k0";

-- WITH r AS (SELECT patient_id, cost FROM visits) SELECT COUNT(*) FROM r a JOIN r b ON a.patient_id = b.patient_id
-- prepared: 55fd03e5da591214
-- per-query: 9c46a70fcf777e51

-- WITH clinics AS (SELECT * FROM clinics WHERE beds > 20) SELECT COUNT(*) FROM visits WHERE clinic_id IN (SELECT clinic_id FROM clinics)
-- prepared: 0e21e7a05a36c8b6
-- per-query: ccc03b37164940f5

-- SELECT COUNT(*), (SELECT COUNT(*) FROM patients) FROM visits
-- prepared: d87acc6f8479ecfa e44468aa70d2b645
-- per-query: a65733962166788b 5024d2bc34232f12

-- SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING COUNT(*) > (SELECT COUNT(*) FROM visits) / 100
-- prepared: 5781595a2d57396d d87acc6f8479ecfa
-- per-query: 0fc40389d565cad0 a65733962166788b

-- SELECT COUNT(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING SUM(cost) > (SELECT AVG(cost) FROM visits))
-- prepared: 3e88a975dd8c8b07 823e63b8967f9597
-- per-query: 8126c7f63c8f170a 823e63b8967f9597

-- SELECT AVG(n) FROM (SELECT patient_id, SUM(CASE WHEN cost > (SELECT AVG(cost) FROM visits) THEN 1 ELSE 0 END) AS n FROM visits GROUP BY patient_id)
-- prepared: 3e88a975dd8c8b07 40c4d236974ee1be
-- per-query: 8126c7f63c8f170a 40c4d236974ee1be

-- SELECT n, COUNT(*) FROM (SELECT COUNT(*) AS n FROM visits GROUP BY patient_id) GROUP BY n ORDER BY n
-- prepared: cb076f12bec0170a
-- per-query: cb076f12bec0170a

-- SELECT * EXCLUDE (n) FROM (SELECT region, COUNT(*) AS n, AVG(income) AS a FROM patients GROUP BY region)
-- prepared: c4a4dc66b80e09c6
-- per-query: 0bf45f1bd4114cb7

-- SELECT COUNT(*) FROM (SELECT * EXCLUDE (note, patient_id) FROM visits)
-- prepared: dfa87beb593c3cea
SELECT CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", 1 AS "s0" FROM (SELECT "__query_1"."__unit" AS "__unit" FROM (SELECT "visits"."__unit" AS "__unit" FROM (SELECT "__unit" FROM "kept"."visits") AS "visits") AS "__query_1") AS "__rows") AS "bounded";
-- per-query: b70d9a90a79b6756
SELECT CAST(coalesce(sum(1 * "rows"), 0) AS HUGEINT) AS "s0" FROM (SELECT least(count(*), 12) AS "rows" FROM (SELECT "__query_1"."__unit" AS "__unit" FROM (SELECT "visits"."__unit" AS "__unit" FROM (SELECT "__unit" FROM "every"."visits") AS "visits") AS "__query_1") AS "all" GROUP BY "__unit") AS "bounded";

-- SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, diagnosis FROM visits)
-- prepared: b6dab69f9a65eb53
-- per-query: b6dab69f9a65eb53

-- SELECT COUNT(*) FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM visits WHERE cost > 100)
-- prepared: 8d5168b57c1910a5
-- per-query: 5520bc283ac2f4bf

-- SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT * FROM visits v WHERE v.patient_id = p.patient_id AND EXISTS (SELECT 1 FROM prescriptions r WHERE r.visit_id = v.visit_id AND r.dose > 500))
-- prepared: 4f5a897f5b2f5032
-- per-query: a2267ce97a057255

-- SELECT COUNT(*) FROM visits WHERE clinic_id NOT IN (SELECT clinic_id FROM clinics WHERE beds > 20)
-- prepared: 33fe8a69f900b6e8
-- per-query: 8d5b99e465026eea

-- ((SELECT COUNT(*) AS n FROM visits) UNION ALL (SELECT COUNT(*) FROM patients)) ORDER BY n LIMIT 1
-- prepared: d87acc6f8479ecfa e44468aa70d2b645
-- per-query: a65733962166788b 5024d2bc34232f12

-- SELECT COUNT(*) AS n FROM patients, visits WHERE patients.patient_id = visits.patient_id
-- prepared: a4e6d31a8497fc82
-- per-query: 291ee4af72d23adb

-- SELECT COUNT(DISTINCT patient_id) FROM patients p JOIN visits v USING (patient_id)
-- prepared: 3011546741045637
-- per-query: 3011546741045637

-- SELECT clinic_id, COUNT(*) FROM visits JOIN clinics USING (clinic_id) GROUP BY clinic_id
-- prepared: 5619fc602c629cb8
-- per-query: 93f8ad72cb2ec4e3

-- SELECT c.name, COUNT(*) FROM clinics c JOIN visits v ON v.clinic_id = c.clinic_id GROUP BY c.name
-- prepared: bc52ca1ab6506a38
SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."name" AS "k0", 1 AS "s0" FROM (SELECT "v"."__unit" AS "__unit", "c"."name" AS "name" FROM (SELECT "__unit", "clinic_id" FROM "kept"."visits") AS "v" JOIN "clinics" AS "c" ON TRUE WHERE ("v"."clinic_id" = "c"."clinic_id")) AS "__rows") AS "bounded" GROUP BY "k0";
-- per-query: f072532c9424a9c8
SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY hash('discreet', "__unit", "k0", "s0"), "k0", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."name" AS "k0", 1 AS "s0" FROM (SELECT "v"."__unit" AS "__unit", "c"."name" AS "name" FROM (SELECT "__unit", "clinic_id" FROM "every"."visits") AS "v" JOIN "clinics" AS "c" ON TRUE WHERE ("v"."clinic_id" = "c"."clinic_id")) AS "__rows") AS "rows") AS "ranked" WHERE "rank" <= 12) AS "bounded" GROUP BY "k0";

-- SELECT c.name, COUNT(*) FROM visits v LEFT JOIN clinics c ON v.clinic_id = c.clinic_id GROUP BY c.name
-- prepared: d6ceb960dfc63b43
-- per-query: 0dfa48a530eb97ad

-- SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient_id = b.patient_id AND a.day < b.day
-- prepared: e6ddc8c68b793e35
-- per-query: dc52d695a30e9855

-- SELECT p.region, c.region, COUNT(*) FROM patients p JOIN visits v USING (patient_id) JOIN clinics c USING (clinic_id) GROUP BY 1, 2
-- prepared: c979efaaf6fcc34c
-- per-query: 2c1c4cb6c2f1d9cb

-- SELECT COUNT(*) FROM patients p LEFT JOIN visits v ON p.patient_id = v.patient_id WHERE v.visit_id IS NULL
-- prepared: 3f10521c5fe5de27
-- per-query: e6e5bf5bfeef7dca

-- SELECT COUNT(*) FROM visits v JOIN (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) k ON k.patient_id = v.patient_id WHERE k.n > 3
-- prepared: a5030504854d1bad
-- per-query: a5030504854d1bad

-- SELECT c.name, r.n FROM clinics c LEFT JOIN (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) r USING (region)
-- prepared: ffd736ff13ff26f7
-- per-query: 59bf47a28708f8f4

-- SELECT sex, COUNT(*) FROM patients GROUP BY sex UNION ALL SELECT region, COUNT(*) FROM patients GROUP BY region
-- prepared: 5781595a2d57396d ffd736ff13ff26f7
-- per-query: 0fc40389d565cad0 59bf47a28708f8f4

-- SELECT region FROM clinics INTERSECT SELECT region FROM (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) EXCEPT SELECT 'north'
-- prepared: ffd736ff13ff26f7
-- per-query: 59bf47a28708f8f4

-- SELECT t.x, r.n FROM (VALUES ('f', 1), ('m', 2)) AS t(x, y) JOIN (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) r ON r.sex = t.x
-- prepared: 5781595a2d57396d
SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."sex" AS "k0", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex" FROM "kept"."patients") AS "patients") AS "__rows") AS "bounded" GROUP BY "k0";
-- per-query: 0fc40389d565cad0
SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY hash('discreet', "__unit", "k0", "s0"), "k0", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."sex" AS "k0", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex" FROM "every"."patients") AS "patients") AS "__rows") AS "rows") AS "ranked" WHERE "rank" <= 1) AS "bounded" GROUP BY "k0";

-- SELECT COUNT(1), COUNT(NULL), COUNT('a'), COUNT(patient_id), COUNT(ALL cost) FROM visits
-- prepared: ffcfdab9c7921e58
-- per-query: f76e072533b21351

-- SELECT COUNT(DISTINCT patient_id) FILTER (WHERE cost > 100), AVG(cost) FILTER (WHERE minutes > 30) FROM visits
-- prepared: f1e49e0e533a50d0 59af264b78132bc0
-- per-query: a3df56123122ecee 18b914bfb53c9844

-- SELECT SUM(DISTINCT minutes), COUNT(DISTINCT clinic_id), MIN(DISTINCT minutes) FROM visits
-- prepared: 38bc83c436848cfd 49cd7d28d5b092e3 140c48b7c3713f2b
-- per-query: 6391e5d7b810cd25 092d65c8b6dc0371 fc18a9ba47cdc09a

-- SELECT quantile_cont(cost, 0.5), quantile_disc(cost, 0.5), quantile(cost, 0.5), approx_quantile(cost, 0.5) FROM visits
-- prepared: 65671d49077bd602
-- per-query: aeacad5753d0409d

-- SELECT MIN(day), MAX(day), MEDIAN(day) FROM visits
-- prepared: 4e4e4a4b904d0af2
-- per-query: 9e9d75b9541ee94c

-- SELECT MODE(sex), COUNT_IF(insured), SUM(insured::INT), AVG(CASE WHEN insured THEN 1.0 ELSE 0 END) FROM patients
-- prepared: 57112414c3aef338 5781595a2d57396d
-- per-query: 4fa5f63e6e3d66ec 0fc40389d565cad0

-- SELECT sex, SUM(COUNT(*)) OVER (), RANK() OVER (ORDER BY COUNT(*) DESC) FROM patients GROUP BY sex
-- prepared: 5781595a2d57396d
-- per-query: 0fc40389d565cad0

-- SELECT sex, RANK() OVER w AS r FROM patients GROUP BY sex WINDOW w AS (ORDER BY COUNT(*))
-- prepared: 5781595a2d57396d
-- per-query: 0fc40389d565cad0

-- SELECT region, sex, COUNT(*) AS n FROM patients GROUP BY region, sex QUALIFY ROW_NUMBER() OVER (PARTITION BY region ORDER BY n DESC) = 1
-- prepared: 1fb17388e276d660
SELECT "k0", "k1", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", "__rows"."sex" AS "k1", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."region" AS "region", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex", "region" FROM "kept"."patients") AS "patients") AS "__rows") AS "bounded" GROUP BY "k0", "k1";
-- per-query: 44e5d5280e460d0a
SELECT "k0", "k1", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY "__unit" ORDER BY hash('discreet', "__unit", "k0", "k1", "s0"), "k0", "k1", "s0") AS "rank" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."region" AS "k0", "__rows"."sex" AS "k1", 1 AS "s0" FROM (SELECT "patients"."__unit" AS "__unit", "patients"."region" AS "region", "patients"."sex" AS "sex" FROM (SELECT "__unit", "sex", "region" FROM "every"."patients") AS "patients") AS "__rows") AS "rows") AS "ranked" WHERE "rank" <= 1) AS "bounded" GROUP BY "k0", "k1";

-- SELECT COUNT(*) FROM (SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day) = 1)
-- prepared: 2d6d70aabe1d9d60
-- per-query: 2d6d70aabe1d9d60

-- SELECT COUNT(*) AS n, n + 1 AS m, CASE WHEN COUNT(*) > 5 THEN COUNT(*) ELSE 0 END AS k FROM visits
-- prepared: d87acc6f8479ecfa
-- per-query: a65733962166788b

-- SELECT COUNT(*) / 0, LN(COUNT(*) - 100000), COALESCE(AVG(income), 0), CAST(AVG(income) AS INT) FROM patients
-- prepared: d24c78292b14cf50
-- per-query: bd26816b2448f051

-- SELECT COUNT(*) FROM visits WHERE day + INTERVAL 3 DAY > DATE '2024-02-01' AND day - DATE '2024-02-01' > 3 AND day + 3 > '2024-02-01'
-- prepared: dedfe755109b31ab
-- per-query: f6e48efe017d55c5

-- SELECT COUNT(*) FROM visits WHERE minutes AND TRUE OR NULL
-- prepared: c958224fb6c87ab6
-- per-query: dbe7e60cc9e013c7

-- SELECT COUNT(*) FROM visits WHERE FALSE
-- prepared: bf8f07514312cba2
-- per-query: c68334a1f498bd34

-- SELECT COUNT(*) FROM patients WHERE sex = $$f$$ OR sex = 'it''s' -- a comment
-- prepared: caaa402a9f8257ad
-- per-query: f45d610ac569b7c1

-- SELECT COUNT(*) /* a comment; */ FROM patients WHERE income BETWEEN 1e3 AND 2e5;
-- prepared: 153ef94f44f2901d
-- per-query: fba9481d656a58cf

-- SELECT COUNT(*) FROM visits WHERE cost IS DISTINCT FROM cost OR cost = 0.1 + 0.2
-- prepared: 211049800439b084
SELECT CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", 1 AS "s0" FROM (SELECT "visits"."__unit" AS "__unit" FROM (SELECT "__unit", "cost" FROM "kept"."visits") AS "visits" WHERE (("visits"."cost" IS DISTINCT FROM "visits"."cost") OR ("visits"."cost" = 0.3e0))) AS "__rows") AS "bounded";
-- per-query: 3f2eac0a3fee6812
SELECT CAST(coalesce(sum(1 * "rows"), 0) AS HUGEINT) AS "s0" FROM (SELECT least(count(*), 12) AS "rows" FROM (SELECT "visits"."__unit" AS "__unit" FROM (SELECT "__unit", "cost" FROM "every"."visits") AS "visits" WHERE (("visits"."cost" IS DISTINCT FROM "visits"."cost") OR ("visits"."cost" = 0.3e0))) AS "all" GROUP BY "__unit") AS "bounded";

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
-- per-query: 8eb50644a7dc5f64

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
SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."w" AS "k0", 1 AS "s0" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."w" AS "w" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."w" FROM "kinds") AS "kinds") AS "__rows") AS "bounded" GROUP BY "k0";
-- per-query: 4df661360c26670f
SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "__rows"."__unit" AS "__unit", "__rows"."w" AS "k0", 1 AS "s0" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."w" AS "w" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."w" FROM "kinds") AS "kinds") AS "__rows") AS "bounded" GROUP BY "k0";

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
-- per-query: ef557399b0fb2e7d fb3ea212cd35a4c9 8ea35b869c8394d9

-- SELECT COUNT(*) FROM lines
-- prepared: dd66e1bd9219cb9e
-- per-query: 8e172b71b8b763f2

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
SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "rows"."__unit" AS "__unit", TRY_CAST("rows"."bin" AS BIGINT) AS "k0", 1 AS "s0" FROM (SELECT "t"."__unit" AS "__unit", CASE WHEN ("t"."d" <= CAST('1999-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1949-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1924-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1911-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1905-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1902-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1900-12-31' AS DATE)) THEN 0 ELSE CASE WHEN ("t"."d" <= CAST('1901-12-31' AS DATE)) THEN 1 ELSE 2 END END ELSE CASE WHEN ("t"."d" <= CAST('1903-12-31' AS DATE)) THEN 3 ELSE CASE WHEN ("t"."d" <= CAST('1904-12-31' AS DATE)) THEN 4 ELSE 5 END END END ELSE CASE WHEN ("t"."d" <= CAST('1908-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1906-12-31' AS DATE)) THEN 6 ELSE CASE WHEN ("t"."d" <= CAST('1907-12-31' AS DATE)) THEN 7 ELSE 8 END END ELSE CASE WHEN ("t"."d" <= CAST('1909-12-31' AS DATE)) THEN 9 ELSE CASE WHEN ("t"."d" <= CAST('1910-12-31' AS DATE)) THEN 10 ELSE 11 END END END END ELSE CASE WHEN ("t"."d" <= CAST('1917-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1914-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1912-12-31' AS DATE)) THEN 12 ELSE CASE WHEN ("t"."d" <= CAST('1913-12-31' AS DATE)) THEN 13 ELSE 14 END END ELSE CASE WHEN ("t"."d" <= CAST('1915-12-31' AS DATE)) THEN 15 ELSE CASE WHEN ("t"."d" <= CAST('1916-12-31' AS DATE)) THEN 16 ELSE 17 END END END ELSE CASE WHEN ("t"."d" <= CAST('1920-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1918-12-31' AS DATE)) THEN 18 ELSE CASE WHEN ("t"."d" <= CAST('1919-12-31' AS DATE)) THEN 19 ELSE 20 END END ELSE CASE WHEN ("t"."d" <= CAST('1922-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1921-12-31' AS DATE)) THEN 21 ELSE 22 END ELSE CASE WHEN ("t"."d" <= CAST('1923-12-31' AS DATE)) THEN 23 ELSE 24 END END END END END ELSE CASE WHEN ("t"."d" <= CAST('1936-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1930-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1927-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1925-12-31' AS DATE)) THEN 25 ELSE CASE WHEN ("t"."d" <= CAST('1926-12-31' AS DATE)) THEN 26 ELSE 27 END END ELSE CASE WHEN ("t"."d" <= CAST('1928-12-31' AS DATE)) THEN 28 ELSE CASE WHEN ("t"."d" <= CAST('1929-12-31' AS DATE)) THEN 29 ELSE 30 END END END ELSE CASE WHEN ("t"."d" <= CAST('1933-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1931-12-31' AS DATE)) THEN 31 ELSE CASE WHEN ("t"."d" <= CAST('1932-12-31' AS DATE)) THEN 32 ELSE 33 END END ELSE CASE WHEN ("t"."d" <= CAST('1934-12-31' AS DATE)) THEN 34 ELSE CASE WHEN ("t"."d" <= CAST('1935-12-31' AS DATE)) THEN 35 ELSE 36 END END END END ELSE CASE WHEN ("t"."d" <= CAST('1942-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1939-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1937-12-31' AS DATE)) THEN 37 ELSE CASE WHEN ("t"."d" <= CAST('1938-12-31' AS DATE)) THEN 38 ELSE 39 END END ELSE CASE WHEN ("t"."d" <= CAST('1940-12-31' AS DATE)) THEN 40 ELSE CASE WHEN ("t"."d" <= CAST('1941-12-31' AS DATE)) THEN 41 ELSE 42 END END END ELSE CASE WHEN ("t"."d" <= CAST('1945-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1943-12-31' AS DATE)) THEN 43 ELSE CASE WHEN ("t"."d" <= CAST('1944-12-31' AS DATE)) THEN 44 ELSE 45 END END ELSE CASE WHEN ("t"."d" <= CAST('1947-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1946-12-31' AS DATE)) THEN 46 ELSE 47 END ELSE CASE WHEN ("t"."d" <= CAST('1948-12-31' AS DATE)) THEN 48 ELSE 49 END END END END END END ELSE CASE WHEN ("t"."d" <= CAST('1974-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1961-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1955-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1952-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1950-12-31' AS DATE)) THEN 50 ELSE CASE WHEN ("t"."d" <= CAST('1951-12-31' AS DATE)) THEN 51 ELSE 52 END END ELSE CASE WHEN ("t"."d" <= CAST('1953-12-31' AS DATE)) THEN 53 ELSE CASE WHEN ("t"."d" <= CAST('1954-12-31' AS DATE)) THEN 54 ELSE 55 END END END ELSE CASE WHEN ("t"."d" <= CAST('1958-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1956-12-31' AS DATE)) THEN 56 ELSE CASE WHEN ("t"."d" <= CAST('1957-12-31' AS DATE)) THEN 57 ELSE 58 END END ELSE CASE WHEN ("t"."d" <= CAST('1959-12-31' AS DATE)) THEN 59 ELSE CASE WHEN ("t"."d" <= CAST('1960-12-31' AS DATE)) THEN 60 ELSE 61 END END END END ELSE CASE WHEN ("t"."d" <= CAST('1967-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1964-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1962-12-31' AS DATE)) THEN 62 ELSE CASE WHEN ("t"."d" <= CAST('1963-12-31' AS DATE)) THEN 63 ELSE 64 END END ELSE CASE WHEN ("t"."d" <= CAST('1965-12-31' AS DATE)) THEN 65 ELSE CASE WHEN ("t"."d" <= CAST('1966-12-31' AS DATE)) THEN 66 ELSE 67 END END END ELSE CASE WHEN ("t"."d" <= CAST('1970-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1968-12-31' AS DATE)) THEN 68 ELSE CASE WHEN ("t"."d" <= CAST('1969-12-31' AS DATE)) THEN 69 ELSE 70 END END ELSE CASE WHEN ("t"."d" <= CAST('1972-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1971-12-31' AS DATE)) THEN 71 ELSE 72 END ELSE CASE WHEN ("t"."d" <= CAST('1973-12-31' AS DATE)) THEN 73 ELSE 74 END END END END END ELSE CASE WHEN ("t"."d" <= CAST('1986-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1980-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1977-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1975-12-31' AS DATE)) THEN 75 ELSE CASE WHEN ("t"."d" <= CAST('1976-12-31' AS DATE)) THEN 76 ELSE 77 END END ELSE CASE WHEN ("t"."d" <= CAST('1978-12-31' AS DATE)) THEN 78 ELSE CASE WHEN ("t"."d" <= CAST('1979-12-31' AS DATE)) THEN 79 ELSE 80 END END END ELSE CASE WHEN ("t"."d" <= CAST('1983-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1981-12-31' AS DATE)) THEN 81 ELSE CASE WHEN ("t"."d" <= CAST('1982-12-31' AS DATE)) THEN 82 ELSE 83 END END ELSE CASE WHEN ("t"."d" <= CAST('1984-12-31' AS DATE)) THEN 84 ELSE CASE WHEN ("t"."d" <= CAST('1985-12-31' AS DATE)) THEN 85 ELSE 86 END END END END ELSE CASE WHEN ("t"."d" <= CAST('1992-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1989-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1987-12-31' AS DATE)) THEN 87 ELSE CASE WHEN ("t"."d" <= CAST('1988-12-31' AS DATE)) THEN 88 ELSE 89 END END ELSE CASE WHEN ("t"."d" <= CAST('1990-12-31' AS DATE)) THEN 90 ELSE CASE WHEN ("t"."d" <= CAST('1991-12-31' AS DATE)) THEN 91 ELSE 92 END END END ELSE CASE WHEN ("t"."d" <= CAST('1995-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1993-12-31' AS DATE)) THEN 93 ELSE CASE WHEN ("t"."d" <= CAST('1994-12-31' AS DATE)) THEN 94 ELSE 95 END END ELSE CASE WHEN ("t"."d" <= CAST('1997-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1996-12-31' AS DATE)) THEN 96 ELSE 97 END ELSE CASE WHEN ("t"."d" <= CAST('1998-12-31' AS DATE)) THEN 98 ELSE 99 END END END END END END END ELSE CASE WHEN ("t"."d" <= CAST('2049-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2024-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2011-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2005-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2002-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2000-12-31' AS DATE)) THEN 100 ELSE CASE WHEN ("t"."d" <= CAST('2001-12-31' AS DATE)) THEN 101 ELSE 102 END END ELSE CASE WHEN ("t"."d" <= CAST('2003-12-31' AS DATE)) THEN 103 ELSE CASE WHEN ("t"."d" <= CAST('2004-12-31' AS DATE)) THEN 104 ELSE 105 END END END ELSE CASE WHEN ("t"."d" <= CAST('2008-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2006-12-31' AS DATE)) THEN 106 ELSE CASE WHEN ("t"."d" <= CAST('2007-12-31' AS DATE)) THEN 107 ELSE 108 END END ELSE CASE WHEN ("t"."d" <= CAST('2009-12-31' AS DATE)) THEN 109 ELSE CASE WHEN ("t"."d" <= CAST('2010-12-31' AS DATE)) THEN 110 ELSE 111 END END END END ELSE CASE WHEN ("t"."d" <= CAST('2017-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2014-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2012-12-31' AS DATE)) THEN 112 ELSE CASE WHEN ("t"."d" <= CAST('2013-12-31' AS DATE)) THEN 113 ELSE 114 END END ELSE CASE WHEN ("t"."d" <= CAST('2015-12-31' AS DATE)) THEN 115 ELSE CASE WHEN ("t"."d" <= CAST('2016-12-31' AS DATE)) THEN 116 ELSE 117 END END END ELSE CASE WHEN ("t"."d" <= CAST('2020-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2018-12-31' AS DATE)) THEN 118 ELSE CASE WHEN ("t"."d" <= CAST('2019-12-31' AS DATE)) THEN 119 ELSE 120 END END ELSE CASE WHEN ("t"."d" <= CAST('2022-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2021-12-31' AS DATE)) THEN 121 ELSE 122 END ELSE CASE WHEN ("t"."d" <= CAST('2023-12-31' AS DATE)) THEN 123 ELSE 124 END END END END END ELSE CASE WHEN ("t"."d" <= CAST('2036-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2030-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2027-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2025-12-31' AS DATE)) THEN 125 ELSE CASE WHEN ("t"."d" <= CAST('2026-12-31' AS DATE)) THEN 126 ELSE 127 END END ELSE CASE WHEN ("t"."d" <= CAST('2028-12-31' AS DATE)) THEN 128 ELSE CASE WHEN ("t"."d" <= CAST('2029-12-31' AS DATE)) THEN 129 ELSE 130 END END END ELSE CASE WHEN ("t"."d" <= CAST('2033-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2031-12-31' AS DATE)) THEN 131 ELSE CASE WHEN ("t"."d" <= CAST('2032-12-31' AS DATE)) THEN 132 ELSE 133 END END ELSE CASE WHEN ("t"."d" <= CAST('2034-12-31' AS DATE)) THEN 134 ELSE CASE WHEN ("t"."d" <= CAST('2035-12-31' AS DATE)) THEN 135 ELSE 136 END END END END ELSE CASE WHEN ("t"."d" <= CAST('2042-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2039-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2037-12-31' AS DATE)) THEN 137 ELSE CASE WHEN ("t"."d" <= CAST('2038-12-31' AS DATE)) THEN 138 ELSE 139 END END ELSE CASE WHEN ("t"."d" <= CAST('2040-12-31' AS DATE)) THEN 140 ELSE CASE WHEN ("t"."d" <= CAST('2041-12-31' AS DATE)) THEN 141 ELSE 142 END END END ELSE CASE WHEN ("t"."d" <= CAST('2045-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2043-12-31' AS DATE)) THEN 143 ELSE CASE WHEN ("t"."d" <= CAST('2044-12-31' AS DATE)) THEN 144 ELSE 145 END END ELSE CASE WHEN ("t"."d" <= CAST('2047-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2046-12-31' AS DATE)) THEN 146 ELSE 147 END ELSE CASE WHEN ("t"."d" <= CAST('2048-12-31' AS DATE)) THEN 148 ELSE 149 END END END END END END ELSE CASE WHEN ("t"."d" <= CAST('2074-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2061-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2055-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2052-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2050-12-31' AS DATE)) THEN 150 ELSE CASE WHEN ("t"."d" <= CAST('2051-12-31' AS DATE)) THEN 151 ELSE 152 END END ELSE CASE WHEN ("t"."d" <= CAST('2053-12-31' AS DATE)) THEN 153 ELSE CASE WHEN ("t"."d" <= CAST('2054-12-31' AS DATE)) THEN 154 ELSE 155 END END END ELSE CASE WHEN ("t"."d" <= CAST('2058-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2056-12-31' AS DATE)) THEN 156 ELSE CASE WHEN ("t"."d" <= CAST('2057-12-31' AS DATE)) THEN 157 ELSE 158 END END ELSE CASE WHEN ("t"."d" <= CAST('2059-12-31' AS DATE)) THEN 159 ELSE CASE WHEN ("t"."d" <= CAST('2060-12-31' AS DATE)) THEN 160 ELSE 161 END END END END ELSE CASE WHEN ("t"."d" <= CAST('2067-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2064-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2062-12-31' AS DATE)) THEN 162 ELSE CASE WHEN ("t"."d" <= CAST('2063-12-31' AS DATE)) THEN 163 ELSE 164 END END ELSE CASE WHEN ("t"."d" <= CAST('2065-12-31' AS DATE)) THEN 165 ELSE CASE WHEN ("t"."d" <= CAST('2066-12-31' AS DATE)) THEN 166 ELSE 167 END END END ELSE CASE WHEN ("t"."d" <= CAST('2070-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2068-12-31' AS DATE)) THEN 168 ELSE CASE WHEN ("t"."d" <= CAST('2069-12-31' AS DATE)) THEN 169 ELSE 170 END END ELSE CASE WHEN ("t"."d" <= CAST('2072-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2071-12-31' AS DATE)) THEN 171 ELSE 172 END ELSE CASE WHEN ("t"."d" <= CAST('2073-12-31' AS DATE)) THEN 173 ELSE 174 END END END END END ELSE CASE WHEN ("t"."d" <= CAST('2087-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2080-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2077-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2075-12-31' AS DATE)) THEN 175 ELSE CASE WHEN ("t"."d" <= CAST('2076-12-31' AS DATE)) THEN 176 ELSE 177 END END ELSE CASE WHEN ("t"."d" <= CAST('2078-12-31' AS DATE)) THEN 178 ELSE CASE WHEN ("t"."d" <= CAST('2079-12-31' AS DATE)) THEN 179 ELSE 180 END END END ELSE CASE WHEN ("t"."d" <= CAST('2083-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2081-12-31' AS DATE)) THEN 181 ELSE CASE WHEN ("t"."d" <= CAST('2082-12-31' AS DATE)) THEN 182 ELSE 183 END END ELSE CASE WHEN ("t"."d" <= CAST('2085-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2084-12-31' AS DATE)) THEN 184 ELSE 185 END ELSE CASE WHEN ("t"."d" <= CAST('2086-12-31' AS DATE)) THEN 186 ELSE 187 END END END END ELSE CASE WHEN ("t"."d" <= CAST('2093-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2090-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2088-12-31' AS DATE)) THEN 188 ELSE CASE WHEN ("t"."d" <= CAST('2089-12-31' AS DATE)) THEN 189 ELSE 190 END END ELSE CASE WHEN ("t"."d" <= CAST('2091-12-31' AS DATE)) THEN 191 ELSE CASE WHEN ("t"."d" <= CAST('2092-12-31' AS DATE)) THEN 192 ELSE 193 END END END ELSE CASE WHEN ("t"."d" <= CAST('2096-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2094-12-31' AS DATE)) THEN 194 ELSE CASE WHEN ("t"."d" <= CAST('2095-12-31' AS DATE)) THEN 195 ELSE 196 END END ELSE CASE WHEN ("t"."d" <= CAST('2098-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2097-12-31' AS DATE)) THEN 197 ELSE 198 END ELSE CASE WHEN ("t"."d" <= CAST('2099-12-31' AS DATE)) THEN 199 ELSE 200 END END END END END END END END AS "bin" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."d" FROM "kinds") AS "t" WHERE (NOT ("t"."d" IS NULL))) AS "rows") AS "bounded" GROUP BY "k0";
-- per-query: f8764d1f3896837c
SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT "rows"."__unit" AS "__unit", TRY_CAST("rows"."bin" AS BIGINT) AS "k0", 1 AS "s0" FROM (SELECT "t"."__unit" AS "__unit", CASE WHEN ("t"."d" <= CAST('1999-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1949-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1924-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1911-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1905-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1902-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1900-12-31' AS DATE)) THEN 0 ELSE CASE WHEN ("t"."d" <= CAST('1901-12-31' AS DATE)) THEN 1 ELSE 2 END END ELSE CASE WHEN ("t"."d" <= CAST('1903-12-31' AS DATE)) THEN 3 ELSE CASE WHEN ("t"."d" <= CAST('1904-12-31' AS DATE)) THEN 4 ELSE 5 END END END ELSE CASE WHEN ("t"."d" <= CAST('1908-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1906-12-31' AS DATE)) THEN 6 ELSE CASE WHEN ("t"."d" <= CAST('1907-12-31' AS DATE)) THEN 7 ELSE 8 END END ELSE CASE WHEN ("t"."d" <= CAST('1909-12-31' AS DATE)) THEN 9 ELSE CASE WHEN ("t"."d" <= CAST('1910-12-31' AS DATE)) THEN 10 ELSE 11 END END END END ELSE CASE WHEN ("t"."d" <= CAST('1917-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1914-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1912-12-31' AS DATE)) THEN 12 ELSE CASE WHEN ("t"."d" <= CAST('1913-12-31' AS DATE)) THEN 13 ELSE 14 END END ELSE CASE WHEN ("t"."d" <= CAST('1915-12-31' AS DATE)) THEN 15 ELSE CASE WHEN ("t"."d" <= CAST('1916-12-31' AS DATE)) THEN 16 ELSE 17 END END END ELSE CASE WHEN ("t"."d" <= CAST('1920-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1918-12-31' AS DATE)) THEN 18 ELSE CASE WHEN ("t"."d" <= CAST('1919-12-31' AS DATE)) THEN 19 ELSE 20 END END ELSE CASE WHEN ("t"."d" <= CAST('1922-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1921-12-31' AS DATE)) THEN 21 ELSE 22 END ELSE CASE WHEN ("t"."d" <= CAST('1923-12-31' AS DATE)) THEN 23 ELSE 24 END END END END END ELSE CASE WHEN ("t"."d" <= CAST('1936-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1930-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1927-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1925-12-31' AS DATE)) THEN 25 ELSE CASE WHEN ("t"."d" <= CAST('1926-12-31' AS DATE)) THEN 26 ELSE 27 END END ELSE CASE WHEN ("t"."d" <= CAST('1928-12-31' AS DATE)) THEN 28 ELSE CASE WHEN ("t"."d" <= CAST('1929-12-31' AS DATE)) THEN 29 ELSE 30 END END END ELSE CASE WHEN ("t"."d" <= CAST('1933-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1931-12-31' AS DATE)) THEN 31 ELSE CASE WHEN ("t"."d" <= CAST('1932-12-31' AS DATE)) THEN 32 ELSE 33 END END ELSE CASE WHEN ("t"."d" <= CAST('1934-12-31' AS DATE)) THEN 34 ELSE CASE WHEN ("t"."d" <= CAST('1935-12-31' AS DATE)) THEN 35 ELSE 36 END END END END ELSE CASE WHEN ("t"."d" <= CAST('1942-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1939-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1937-12-31' AS DATE)) THEN 37 ELSE CASE WHEN ("t"."d" <= CAST('1938-12-31' AS DATE)) THEN 38 ELSE 39 END END ELSE CASE WHEN ("t"."d" <= CAST('1940-12-31' AS DATE)) THEN 40 ELSE CASE WHEN ("t"."d" <= CAST('1941-12-31' AS DATE)) THEN 41 ELSE 42 END END END ELSE CASE WHEN ("t"."d" <= CAST('1945-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1943-12-31' AS DATE)) THEN 43 ELSE CASE WHEN ("t"."d" <= CAST('1944-12-31' AS DATE)) THEN 44 ELSE 45 END END ELSE CASE WHEN ("t"."d" <= CAST('1947-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1946-12-31' AS DATE)) THEN 46 ELSE 47 END ELSE CASE WHEN ("t"."d" <= CAST('1948-12-31' AS DATE)) THEN 48 ELSE 49 END END END END END END ELSE CASE WHEN ("t"."d" <= CAST('1974-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1961-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1955-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1952-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1950-12-31' AS DATE)) THEN 50 ELSE CASE WHEN ("t"."d" <= CAST('1951-12-31' AS DATE)) THEN 51 ELSE 52 END END ELSE CASE WHEN ("t"."d" <= CAST('1953-12-31' AS DATE)) THEN 53 ELSE CASE WHEN ("t"."d" <= CAST('1954-12-31' AS DATE)) THEN 54 ELSE 55 END END END ELSE CASE WHEN ("t"."d" <= CAST('1958-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1956-12-31' AS DATE)) THEN 56 ELSE CASE WHEN ("t"."d" <= CAST('1957-12-31' AS DATE)) THEN 57 ELSE 58 END END ELSE CASE WHEN ("t"."d" <= CAST('1959-12-31' AS DATE)) THEN 59 ELSE CASE WHEN ("t"."d" <= CAST('1960-12-31' AS DATE)) THEN 60 ELSE 61 END END END END ELSE CASE WHEN ("t"."d" <= CAST('1967-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1964-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1962-12-31' AS DATE)) THEN 62 ELSE CASE WHEN ("t"."d" <= CAST('1963-12-31' AS DATE)) THEN 63 ELSE 64 END END ELSE CASE WHEN ("t"."d" <= CAST('1965-12-31' AS DATE)) THEN 65 ELSE CASE WHEN ("t"."d" <= CAST('1966-12-31' AS DATE)) THEN 66 ELSE 67 END END END ELSE CASE WHEN ("t"."d" <= CAST('1970-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1968-12-31' AS DATE)) THEN 68 ELSE CASE WHEN ("t"."d" <= CAST('1969-12-31' AS DATE)) THEN 69 ELSE 70 END END ELSE CASE WHEN ("t"."d" <= CAST('1972-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1971-12-31' AS DATE)) THEN 71 ELSE 72 END ELSE CASE WHEN ("t"."d" <= CAST('1973-12-31' AS DATE)) THEN 73 ELSE 74 END END END END END ELSE CASE WHEN ("t"."d" <= CAST('1986-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1980-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1977-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1975-12-31' AS DATE)) THEN 75 ELSE CASE WHEN ("t"."d" <= CAST('1976-12-31' AS DATE)) THEN 76 ELSE 77 END END ELSE CASE WHEN ("t"."d" <= CAST('1978-12-31' AS DATE)) THEN 78 ELSE CASE WHEN ("t"."d" <= CAST('1979-12-31' AS DATE)) THEN 79 ELSE 80 END END END ELSE CASE WHEN ("t"."d" <= CAST('1983-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1981-12-31' AS DATE)) THEN 81 ELSE CASE WHEN ("t"."d" <= CAST('1982-12-31' AS DATE)) THEN 82 ELSE 83 END END ELSE CASE WHEN ("t"."d" <= CAST('1984-12-31' AS DATE)) THEN 84 ELSE CASE WHEN ("t"."d" <= CAST('1985-12-31' AS DATE)) THEN 85 ELSE 86 END END END END ELSE CASE WHEN ("t"."d" <= CAST('1992-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1989-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1987-12-31' AS DATE)) THEN 87 ELSE CASE WHEN ("t"."d" <= CAST('1988-12-31' AS DATE)) THEN 88 ELSE 89 END END ELSE CASE WHEN ("t"."d" <= CAST('1990-12-31' AS DATE)) THEN 90 ELSE CASE WHEN ("t"."d" <= CAST('1991-12-31' AS DATE)) THEN 91 ELSE 92 END END END ELSE CASE WHEN ("t"."d" <= CAST('1995-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1993-12-31' AS DATE)) THEN 93 ELSE CASE WHEN ("t"."d" <= CAST('1994-12-31' AS DATE)) THEN 94 ELSE 95 END END ELSE CASE WHEN ("t"."d" <= CAST('1997-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('1996-12-31' AS DATE)) THEN 96 ELSE 97 END ELSE CASE WHEN ("t"."d" <= CAST('1998-12-31' AS DATE)) THEN 98 ELSE 99 END END END END END END END ELSE CASE WHEN ("t"."d" <= CAST('2049-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2024-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2011-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2005-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2002-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2000-12-31' AS DATE)) THEN 100 ELSE CASE WHEN ("t"."d" <= CAST('2001-12-31' AS DATE)) THEN 101 ELSE 102 END END ELSE CASE WHEN ("t"."d" <= CAST('2003-12-31' AS DATE)) THEN 103 ELSE CASE WHEN ("t"."d" <= CAST('2004-12-31' AS DATE)) THEN 104 ELSE 105 END END END ELSE CASE WHEN ("t"."d" <= CAST('2008-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2006-12-31' AS DATE)) THEN 106 ELSE CASE WHEN ("t"."d" <= CAST('2007-12-31' AS DATE)) THEN 107 ELSE 108 END END ELSE CASE WHEN ("t"."d" <= CAST('2009-12-31' AS DATE)) THEN 109 ELSE CASE WHEN ("t"."d" <= CAST('2010-12-31' AS DATE)) THEN 110 ELSE 111 END END END END ELSE CASE WHEN ("t"."d" <= CAST('2017-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2014-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2012-12-31' AS DATE)) THEN 112 ELSE CASE WHEN ("t"."d" <= CAST('2013-12-31' AS DATE)) THEN 113 ELSE 114 END END ELSE CASE WHEN ("t"."d" <= CAST('2015-12-31' AS DATE)) THEN 115 ELSE CASE WHEN ("t"."d" <= CAST('2016-12-31' AS DATE)) THEN 116 ELSE 117 END END END ELSE CASE WHEN ("t"."d" <= CAST('2020-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2018-12-31' AS DATE)) THEN 118 ELSE CASE WHEN ("t"."d" <= CAST('2019-12-31' AS DATE)) THEN 119 ELSE 120 END END ELSE CASE WHEN ("t"."d" <= CAST('2022-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2021-12-31' AS DATE)) THEN 121 ELSE 122 END ELSE CASE WHEN ("t"."d" <= CAST('2023-12-31' AS DATE)) THEN 123 ELSE 124 END END END END END ELSE CASE WHEN ("t"."d" <= CAST('2036-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2030-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2027-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2025-12-31' AS DATE)) THEN 125 ELSE CASE WHEN ("t"."d" <= CAST('2026-12-31' AS DATE)) THEN 126 ELSE 127 END END ELSE CASE WHEN ("t"."d" <= CAST('2028-12-31' AS DATE)) THEN 128 ELSE CASE WHEN ("t"."d" <= CAST('2029-12-31' AS DATE)) THEN 129 ELSE 130 END END END ELSE CASE WHEN ("t"."d" <= CAST('2033-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2031-12-31' AS DATE)) THEN 131 ELSE CASE WHEN ("t"."d" <= CAST('2032-12-31' AS DATE)) THEN 132 ELSE 133 END END ELSE CASE WHEN ("t"."d" <= CAST('2034-12-31' AS DATE)) THEN 134 ELSE CASE WHEN ("t"."d" <= CAST('2035-12-31' AS DATE)) THEN 135 ELSE 136 END END END END ELSE CASE WHEN ("t"."d" <= CAST('2042-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2039-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2037-12-31' AS DATE)) THEN 137 ELSE CASE WHEN ("t"."d" <= CAST('2038-12-31' AS DATE)) THEN 138 ELSE 139 END END ELSE CASE WHEN ("t"."d" <= CAST('2040-12-31' AS DATE)) THEN 140 ELSE CASE WHEN ("t"."d" <= CAST('2041-12-31' AS DATE)) THEN 141 ELSE 142 END END END ELSE CASE WHEN ("t"."d" <= CAST('2045-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2043-12-31' AS DATE)) THEN 143 ELSE CASE WHEN ("t"."d" <= CAST('2044-12-31' AS DATE)) THEN 144 ELSE 145 END END ELSE CASE WHEN ("t"."d" <= CAST('2047-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2046-12-31' AS DATE)) THEN 146 ELSE 147 END ELSE CASE WHEN ("t"."d" <= CAST('2048-12-31' AS DATE)) THEN 148 ELSE 149 END END END END END END ELSE CASE WHEN ("t"."d" <= CAST('2074-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2061-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2055-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2052-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2050-12-31' AS DATE)) THEN 150 ELSE CASE WHEN ("t"."d" <= CAST('2051-12-31' AS DATE)) THEN 151 ELSE 152 END END ELSE CASE WHEN ("t"."d" <= CAST('2053-12-31' AS DATE)) THEN 153 ELSE CASE WHEN ("t"."d" <= CAST('2054-12-31' AS DATE)) THEN 154 ELSE 155 END END END ELSE CASE WHEN ("t"."d" <= CAST('2058-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2056-12-31' AS DATE)) THEN 156 ELSE CASE WHEN ("t"."d" <= CAST('2057-12-31' AS DATE)) THEN 157 ELSE 158 END END ELSE CASE WHEN ("t"."d" <= CAST('2059-12-31' AS DATE)) THEN 159 ELSE CASE WHEN ("t"."d" <= CAST('2060-12-31' AS DATE)) THEN 160 ELSE 161 END END END END ELSE CASE WHEN ("t"."d" <= CAST('2067-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2064-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2062-12-31' AS DATE)) THEN 162 ELSE CASE WHEN ("t"."d" <= CAST('2063-12-31' AS DATE)) THEN 163 ELSE 164 END END ELSE CASE WHEN ("t"."d" <= CAST('2065-12-31' AS DATE)) THEN 165 ELSE CASE WHEN ("t"."d" <= CAST('2066-12-31' AS DATE)) THEN 166 ELSE 167 END END END ELSE CASE WHEN ("t"."d" <= CAST('2070-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2068-12-31' AS DATE)) THEN 168 ELSE CASE WHEN ("t"."d" <= CAST('2069-12-31' AS DATE)) THEN 169 ELSE 170 END END ELSE CASE WHEN ("t"."d" <= CAST('2072-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2071-12-31' AS DATE)) THEN 171 ELSE 172 END ELSE CASE WHEN ("t"."d" <= CAST('2073-12-31' AS DATE)) THEN 173 ELSE 174 END END END END END ELSE CASE WHEN ("t"."d" <= CAST('2087-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2080-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2077-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2075-12-31' AS DATE)) THEN 175 ELSE CASE WHEN ("t"."d" <= CAST('2076-12-31' AS DATE)) THEN 176 ELSE 177 END END ELSE CASE WHEN ("t"."d" <= CAST('2078-12-31' AS DATE)) THEN 178 ELSE CASE WHEN ("t"."d" <= CAST('2079-12-31' AS DATE)) THEN 179 ELSE 180 END END END ELSE CASE WHEN ("t"."d" <= CAST('2083-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2081-12-31' AS DATE)) THEN 181 ELSE CASE WHEN ("t"."d" <= CAST('2082-12-31' AS DATE)) THEN 182 ELSE 183 END END ELSE CASE WHEN ("t"."d" <= CAST('2085-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2084-12-31' AS DATE)) THEN 184 ELSE 185 END ELSE CASE WHEN ("t"."d" <= CAST('2086-12-31' AS DATE)) THEN 186 ELSE 187 END END END END ELSE CASE WHEN ("t"."d" <= CAST('2093-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2090-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2088-12-31' AS DATE)) THEN 188 ELSE CASE WHEN ("t"."d" <= CAST('2089-12-31' AS DATE)) THEN 189 ELSE 190 END END ELSE CASE WHEN ("t"."d" <= CAST('2091-12-31' AS DATE)) THEN 191 ELSE CASE WHEN ("t"."d" <= CAST('2092-12-31' AS DATE)) THEN 192 ELSE 193 END END END ELSE CASE WHEN ("t"."d" <= CAST('2096-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2094-12-31' AS DATE)) THEN 194 ELSE CASE WHEN ("t"."d" <= CAST('2095-12-31' AS DATE)) THEN 195 ELSE 196 END END ELSE CASE WHEN ("t"."d" <= CAST('2098-12-31' AS DATE)) THEN CASE WHEN ("t"."d" <= CAST('2097-12-31' AS DATE)) THEN 197 ELSE 198 END ELSE CASE WHEN ("t"."d" <= CAST('2099-12-31' AS DATE)) THEN 199 ELSE 200 END END END END END END END END AS "bin" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."d" FROM "kinds") AS "t" WHERE (NOT ("t"."d" IS NULL))) AS "rows") AS "bounded" GROUP BY "k0";

-- bounds of kinds.t
-- prepared: 001e72d1e9ef4a9f
-- per-query: 001e72d1e9ef4a9f

-- bounds of kinds.z
-- prepared: 6c3c5ebb3920c9c4
-- per-query: 6c3c5ebb3920c9c4

-- bounds of lines.amount
-- prepared: 74e9204b49023020
-- per-query: ffaa264c4d67dac3

-- bounds of orders.number
-- prepared: 12c14bd6af9227af
-- per-query: 760cb4cb966d7a35

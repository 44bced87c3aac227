-- SELECT MEDIAN(cost) AS m, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY cost) AS p90, MIN(minutes) AS lo, MAX(minutes) AS hi FROM visits
-- prepared: 2b4ac3d6e1645975 388a08149c4b87d5
-- per-query: 53706647bf767377 e5a633dc78d00ec8

-- SELECT quantile_cont(cost, 0.5), quantile_disc(cost, 0.5), quantile(cost, 0.5), approx_quantile(cost, 0.5) FROM visits
-- prepared: 388a08149c4b87d5
-- per-query: e5a633dc78d00ec8

-- SELECT SUM(clamp(a, 0, 9)), AVG(clamp(b, 0, 9)), MAX(clamp(c, 0, 9)), COUNT(*) FROM (SELECT patient_id, diagnosis, MIN(cost) AS a, MAX(minutes) AS b, MEDIAN(cost) AS c FROM visits GROUP BY patient_id, diagnosis)
-- prepared: 874fc686389b0e69 f7380dbf1e935e72
-- per-query: 874fc686389b0e69 f7380dbf1e935e72

-- SELECT MEDIAN(x), MODE(s), MIN(i), MAX(i), COUNT(DISTINCT s), SUM(DISTINCT i) FROM kinds
-- prepared: ed8db0154d2d58dc 1003f1efeb226b85 0ed0d6b154fe6164 e52faacc399cdcdc e929d85f48d2b893
-- per-query: ed8db0154d2d58dc 1003f1efeb226b85 0ed0d6b154fe6164 e52faacc399cdcdc e929d85f48d2b893

-- SELECT QUANTILE_CONT(x, 0.25), QUANTILE_DISC(i, 0.75), COUNT(o), COUNT(x) FROM kinds
-- prepared: ef557399b0fb2e7d 1003f1efeb226b85 e52faacc399cdcdc
SELECT CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0", CAST(coalesce(sum("s1"), 0) AS HUGEINT) AS "s1" FROM (SELECT "__rows"."__unit" AS "__unit", coalesce(CASE WHEN (TRY_CAST("__rows"."o" AS VARCHAR) IS NULL) THEN 0 ELSE 1 END, 0) AS "s0", coalesce(CASE WHEN ("__rows"."x" IS NULL) THEN 0 ELSE 1 END, 0) AS "s1" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."x" AS "x", TRY_CAST("kinds"."o" AS VARCHAR) AS "o" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."x", TRY_CAST("kinds"."o" AS VARCHAR) AS "o" FROM "kinds") AS "kinds") AS "__rows") AS "bounded";
SELECT "cell", count(*) AS "n" FROM (SELECT "__unit", "cell" FROM (SELECT "__rows"."__unit" AS "__unit", (CAST(CASE WHEN "__rows"."i" < (-5) THEN (-5) WHEN "__rows"."i" > 1000000 THEN 1000000 ELSE "__rows"."i" END AS BIGINT) - CAST((-5) AS BIGINT)) AS "cell" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."i" AS "i" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."i" FROM "kinds") AS "kinds") AS "__rows") AS "rows" WHERE "cell" IS NOT NULL) AS "bounded" GROUP BY "cell";
SELECT "cell", count(*) AS "n" FROM (SELECT "__unit", "cell" FROM (SELECT "__rows"."__unit" AS "__unit", TRY_CAST((CASE WHEN "__rows"."x" < 0.0e0 THEN 0.0e0 WHEN "__rows"."x" > 1.5e0 THEN 1.5e0 ELSE "__rows"."x" END * 100.0e0) AS BIGINT) AS "cell" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."x" AS "x" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."x" FROM "kinds") AS "kinds") AS "__rows") AS "rows" WHERE "cell" IS NOT NULL) AS "bounded" GROUP BY "cell";
-- per-query: ef557399b0fb2e7d 1003f1efeb226b85 e52faacc399cdcdc
SELECT CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0", CAST(coalesce(sum("s1"), 0) AS HUGEINT) AS "s1" FROM (SELECT "__rows"."__unit" AS "__unit", coalesce(CASE WHEN (TRY_CAST("__rows"."o" AS VARCHAR) IS NULL) THEN 0 ELSE 1 END, 0) AS "s0", coalesce(CASE WHEN ("__rows"."x" IS NULL) THEN 0 ELSE 1 END, 0) AS "s1" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."x" AS "x", TRY_CAST("kinds"."o" AS VARCHAR) AS "o" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."x", TRY_CAST("kinds"."o" AS VARCHAR) AS "o" FROM "kinds") AS "kinds") AS "__rows") AS "bounded";
SELECT "cell", count(*) AS "n" FROM (SELECT "__unit", "cell" FROM (SELECT "__rows"."__unit" AS "__unit", (CAST(CASE WHEN "__rows"."i" < (-5) THEN (-5) WHEN "__rows"."i" > 1000000 THEN 1000000 ELSE "__rows"."i" END AS BIGINT) - CAST((-5) AS BIGINT)) AS "cell" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."i" AS "i" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."i" FROM "kinds") AS "kinds") AS "__rows") AS "rows" WHERE "cell" IS NOT NULL) AS "bounded" GROUP BY "cell";
SELECT "cell", count(*) AS "n" FROM (SELECT "__unit", "cell" FROM (SELECT "__rows"."__unit" AS "__unit", TRY_CAST((CASE WHEN "__rows"."x" < 0.0e0 THEN 0.0e0 WHEN "__rows"."x" > 1.5e0 THEN 1.5e0 ELSE "__rows"."x" END * 100.0e0) AS BIGINT) AS "cell" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."x" AS "x" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."x" FROM "kinds") AS "kinds") AS "__rows") AS "rows" WHERE "cell" IS NOT NULL) AS "bounded" GROUP BY "cell";
-- SELECT MEDIAN(cost) AS m, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY cost) AS p90, MIN(minutes) AS lo, MAX(minutes) AS hi FROM visits
-- prepared: 49cd7d28d5b092e3 a5ee60ed7264cdc4
-- per-query: 092d65c8b6dc0371 04388234bf0cc4dd

-- SELECT quantile_cont(cost, 0.5), quantile_disc(cost, 0.5), quantile(cost, 0.5), approx_quantile(cost, 0.5) FROM visits
-- prepared: a5ee60ed7264cdc4
-- per-query: 04388234bf0cc4dd

-- SELECT SUM(clamp(a, 0, 9)), AVG(clamp(b, 0, 9)), MAX(clamp(c, 0, 9)), COUNT(*) FROM (SELECT patient_id, diagnosis, MIN(cost) AS a, MAX(minutes) AS b, MEDIAN(cost) AS c FROM visits GROUP BY patient_id, diagnosis)
-- prepared: 34a88d6abbfddb28 44328f07d4bc08bf
-- per-query: 34a88d6abbfddb28 44328f07d4bc08bf

-- SELECT MEDIAN(x), MODE(s), MIN(i), MAX(i), COUNT(DISTINCT s), SUM(DISTINCT i) FROM kinds
-- prepared: ed8db0154d2d58dc 6cf73f725bc554c4 0ed0d6b154fe6164 8ea35b869c8394d9 e929d85f48d2b893
-- per-query: ed8db0154d2d58dc 6cf73f725bc554c4 0ed0d6b154fe6164 8ea35b869c8394d9 e929d85f48d2b893

-- SELECT QUANTILE_CONT(x, 0.25), QUANTILE_DISC(i, 0.75), COUNT(o), COUNT(x) FROM kinds
-- prepared: ef557399b0fb2e7d 6cf73f725bc554c4 8ea35b869c8394d9
SELECT CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0", CAST(coalesce(sum("s1"), 0) AS HUGEINT) AS "s1" FROM (SELECT "__rows"."__unit" AS "__unit", coalesce(CASE WHEN (TRY_CAST("__rows"."o" AS VARCHAR) IS NULL) THEN 0 ELSE 1 END, 0) AS "s0", coalesce(CASE WHEN ("__rows"."x" IS NULL) THEN 0 ELSE 1 END, 0) AS "s1" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."x" AS "x", TRY_CAST("kinds"."o" AS VARCHAR) AS "o" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."x", TRY_CAST("kinds"."o" AS VARCHAR) AS "o" FROM "kinds") AS "kinds") AS "__rows") AS "bounded";
SELECT "cell", count(*) AS "n" FROM (SELECT "__unit", "cell" FROM (SELECT "__rows"."__unit" AS "__unit", TRY_CAST((CAST(CASE WHEN "__rows"."i" < (-5) THEN (-5) WHEN "__rows"."i" > 1000000 THEN 1000000 ELSE "__rows"."i" END AS BIGINT) - CAST((-5) AS BIGINT)) AS BIGINT) AS "cell" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."i" AS "i" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."i" FROM "kinds") AS "kinds") AS "__rows") AS "rows" WHERE "cell" IS NOT NULL) AS "bounded" GROUP BY "cell";
SELECT "cell", count(*) AS "n" FROM (SELECT "__unit", "cell" FROM (SELECT "__rows"."__unit" AS "__unit", TRY_CAST(TRY_CAST((CASE WHEN "__rows"."x" < 0.0e0 THEN 0.0e0 WHEN "__rows"."x" > 1.5e0 THEN 1.5e0 ELSE "__rows"."x" END * 100.0e0) AS BIGINT) AS BIGINT) AS "cell" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."x" AS "x" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."x" FROM "kinds") AS "kinds") AS "__rows") AS "rows" WHERE "cell" IS NOT NULL) AS "bounded" GROUP BY "cell";
-- per-query: ef557399b0fb2e7d 6cf73f725bc554c4 8ea35b869c8394d9
SELECT CAST(coalesce(sum("s0"), 0) AS HUGEINT) AS "s0", CAST(coalesce(sum("s1"), 0) AS HUGEINT) AS "s1" FROM (SELECT "__rows"."__unit" AS "__unit", coalesce(CASE WHEN (TRY_CAST("__rows"."o" AS VARCHAR) IS NULL) THEN 0 ELSE 1 END, 0) AS "s0", coalesce(CASE WHEN ("__rows"."x" IS NULL) THEN 0 ELSE 1 END, 0) AS "s1" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."x" AS "x", TRY_CAST("kinds"."o" AS VARCHAR) AS "o" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."x", TRY_CAST("kinds"."o" AS VARCHAR) AS "o" FROM "kinds") AS "kinds") AS "__rows") AS "bounded";
SELECT "cell", count(*) AS "n" FROM (SELECT "__unit", "cell" FROM (SELECT "__rows"."__unit" AS "__unit", TRY_CAST((CAST(CASE WHEN "__rows"."i" < (-5) THEN (-5) WHEN "__rows"."i" > 1000000 THEN 1000000 ELSE "__rows"."i" END AS BIGINT) - CAST((-5) AS BIGINT)) AS BIGINT) AS "cell" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."i" AS "i" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."i" FROM "kinds") AS "kinds") AS "__rows") AS "rows" WHERE "cell" IS NOT NULL) AS "bounded" GROUP BY "cell";
SELECT "cell", count(*) AS "n" FROM (SELECT "__unit", "cell" FROM (SELECT "__rows"."__unit" AS "__unit", TRY_CAST(TRY_CAST((CASE WHEN "__rows"."x" < 0.0e0 THEN 0.0e0 WHEN "__rows"."x" > 1.5e0 THEN 1.5e0 ELSE "__rows"."x" END * 100.0e0) AS BIGINT) AS BIGINT) AS "cell" FROM (SELECT "kinds"."__unit" AS "__unit", "kinds"."x" AS "x" FROM (SELECT "kinds".rowid AS "__unit", "kinds"."x" FROM "kinds") AS "kinds") AS "__rows") AS "rows" WHERE "cell" IS NOT NULL) AS "bounded" GROUP BY "cell";
-- Questions whose answer without noise is what DuckDB says, word for word as an analyst may write
-- them: one to a line.
SELECT upper(diagnosis) AS diagnosis, COUNT(*) FROM visits GROUP BY diagnosis
SELECT upper(diagnosis) AS d, COUNT(*) FROM visits GROUP BY d
SELECT lower(note) AS note, COUNT(*) AS n FROM visits GROUP BY 1
SELECT COUNT(*) FROM (SELECT patient_id, minutes*2 AS m FROM visits WHERE m > 10) AS t
SELECT minutes // 60 AS h, COUNT(*) AS n FROM visits WHERE minutes IS NOT NULL GROUP BY h HAVING n > 3 ORDER BY n DESC, h LIMIT 2
SELECT COUNT(DISTINCT b.patient_id), COUNT(b.patient_id), COUNT(*) FROM patients a LEFT JOIN visits b ON a.patient_id = b.patient_id
SELECT COUNT(patient_id), COUNT(visit_id), COUNT(DISTINCT clinic_id) FROM visits
SELECT COUNT(*) FROM visits WHERE minutes NOT IN (1, 53, NULL)
SELECT COUNT(*) FROM visits WHERE minutes IN (1, 53, NULL)
SELECT SUM(m), COUNT(*) FROM (SELECT patient_id, minutes AS m FROM visits UNION ALL SELECT patient_id, birth_year - 1900 FROM patients) AS u
SELECT SUM(m), COUNT(*) FROM (SELECT patient_id, minutes AS m FROM visits UNION ALL SELECT patient_id, income FROM patients) AS u
SELECT COUNT(*), SUM(minutes) FROM (SELECT * FROM visits) AS t
SELECT COUNT(*), SUM(t.minutes), AVG(birth_year) FROM (SELECT * FROM visits JOIN patients USING (patient_id)) AS t
SELECT sex, COUNT(*) FROM visits JOIN patients USING (patient_id) GROUP BY sex
SELECT c.region, COUNT(*) FROM clinics c JOIN visits v ON v.clinic_id = c.clinic_id GROUP BY c.region
SELECT c.name, SUM(v.minutes) FROM clinics c, visits v WHERE v.clinic_id = c.clinic_id GROUP BY c.name
SELECT p.sex, COUNT(*) FROM visits v, patients p WHERE v.patient_id = p.patient_id AND v.minutes > 30 GROUP BY p.sex
SELECT COUNT(*) FROM visits v CROSS JOIN clinics c
SELECT COUNT(*) FROM visits v JOIN clinics c ON v.minutes > c.beds
SELECT COUNT(*) FROM visits v LEFT JOIN clinics c ON v.clinic_id = c.clinic_id AND c.beds > 8 WHERE c.name IS NULL
SELECT AVG(LEAST(n, 50)) FROM (SELECT patient_id, COUNT(*) AS n FROM (SELECT patient_id, diagnosis, COUNT(*) AS k FROM visits GROUP BY patient_id, diagnosis) AS x GROUP BY patient_id) AS y
SELECT AVG(clamp(t.n, 0, 40)), AVG(p.birth_year) FROM patients p JOIN (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS t ON t.patient_id = p.patient_id
SELECT AVG(clamp(t.n, 0, 40)), COUNT(*) FROM patients p LEFT JOIN (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS t ON t.patient_id = p.patient_id
SELECT COUNT(DISTINCT patient_id) FILTER (WHERE minutes > 60) AS a, COUNT(DISTINCT patient_id) AS b FROM visits
SELECT DISTINCT diagnosis FROM visits WHERE diagnosis IS NOT NULL
SELECT diagnosis FROM visits GROUP BY diagnosis
SELECT region, sex, COUNT(*) FROM patients GROUP BY ALL
SELECT region, COUNT(*) AS n FROM patients GROUP BY region ORDER BY AVG(birth_year) LIMIT 2
SELECT region, COUNT(*) AS n FROM patients GROUP BY region ORDER BY 2 DESC, 1 OFFSET 1
SELECT COUNT(*) * 1.0 / (SELECT COUNT(*) FROM patients) AS r FROM visits
SELECT COUNT(*) - (SELECT COUNT(*) FROM patients WHERE insured) AS r FROM patients
SELECT minutes % 7 AS k, COUNT(*) FROM visits WHERE minutes IS NOT NULL GROUP BY k
SELECT SUM((minutes - 100) % 7), SUM((minutes - 100) // 7), SUM(clamp((minutes - 100) / 7, -20, 50)) FROM visits
SELECT SUM(CAST(cost AS INTEGER)), SUM(CAST(minutes / 2 AS INTEGER)), SUM(CAST(cost AS BIGINT)) FROM visits
SELECT SUM(ROUND(cost)), SUM(FLOOR(cost)), SUM(CEIL(cost)), SUM(TRUNC(cost)), SUM(ROUND(minutes, -1)) FROM visits
SELECT COUNT_IF(minutes > 30), SUM(IF(minutes > 30, cost, 0)) FROM visits
SELECT COUNT(*) FILTER (minutes > 30) FROM visits
SELECT day - DATE '2024-01-01' AS k, COUNT(*) FROM visits GROUP BY 1 HAVING COUNT(*) > 0
SELECT substr(diagnosis, 1, 1) AS k, COUNT(*) FROM visits GROUP BY 1
SELECT CASE diagnosis WHEN 'flu' THEN 1 WHEN 'asthma' THEN 2 ELSE 3 END AS k, COUNT(*) FROM visits GROUP BY 1
SELECT CASE diagnosis WHEN 'flu' THEN 1 WHEN 'asthma' THEN 2 END AS k, COUNT(*) FROM visits GROUP BY 1
SELECT 'm' AS what, COUNT(*) AS n FROM patients WHERE sex = 'm' UNION ALL SELECT 'f', COUNT(*) FROM patients WHERE sex = 'f'
SELECT COUNT(*) FROM patients UNION SELECT COUNT(*) FROM patients
SELECT r.region, r.n, c.beds FROM (SELECT region, COUNT(*) AS n FROM patients GROUP BY region) r JOIN clinics c ON c.region = r.region
SELECT SUM(n), MAX(n), COUNT(*) FROM (SELECT region, COUNT(*) AS n FROM patients GROUP BY region)
SELECT region, RANK() OVER (ORDER BY COUNT(*) DESC, region) AS rk FROM patients GROUP BY region
SELECT region, SUM(COUNT(*)) OVER (ORDER BY region) AS running FROM patients GROUP BY region
SELECT region, COUNT(*) AS n FROM patients GROUP BY region QUALIFY ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC, region) <= 2
SELECT COUNT(*) FROM visits WHERE clinic_id IN (SELECT clinic_id FROM clinics WHERE beds > 8)
SELECT COUNT(*) FROM visits WHERE clinic_id NOT IN (SELECT clinic_id FROM clinics WHERE beds > 8)
SELECT COUNT(*) FROM visits WHERE clinic_id NOT IN (SELECT clinic_id FROM clinics WHERE beds > 800)
SELECT COUNT(*) FROM visits WHERE minutes > (SELECT MAX(beds) FROM clinics)
SELECT SUM(CASE WHEN EXISTS (SELECT 1 FROM visits e WHERE e.patient_id = p.patient_id AND e.day > DATE '2024-06-01') THEN 1 ELSE 0 END) FROM patients p
SELECT EXISTS (SELECT 1 FROM visits e WHERE e.patient_id = p.patient_id AND e.minutes > 100) AS long, COUNT(*) FROM patients p GROUP BY 1
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits e WHERE e.patient_id = p.patient_id AND e.minutes > p.birth_year - 1900)
SELECT "Region", COUNT(*) FROM "PATIENTS" GROUP BY "REGION"
SELECT SUM(minutes) FROM (SELECT patient_id, cost AS minutes, minutes AS cost FROM visits) AS t
SELECT SUM(cost), SUM(minutes) FROM (SELECT patient_id, cost AS minutes, minutes AS cost FROM visits) AS t
SELECT v1.diagnosis, COUNT(*) FROM visits v1 JOIN visits v2 ON v1.patient_id = v2.patient_id AND v1.visit_id < v2.visit_id GROUP BY v1.diagnosis
SELECT COUNT(*) FROM visits v1 JOIN visits v2 USING (patient_id) WHERE v1.day < v2.day
SELECT AVG(x) FROM (SELECT patient_id, MEDIAN(minutes) AS x FROM visits GROUP BY patient_id) AS t
SELECT MIN(d), MAX(d) FROM (SELECT patient_id, MAX(day) AS d FROM visits GROUP BY patient_id) AS t
SELECT COUNT(*) FROM (SELECT patient_id, MIN(day) AS d FROM visits GROUP BY patient_id HAVING MIN(day) >= DATE '2024-06-01') AS t
SELECT AVG(gap), COUNT(*) FROM (SELECT patient_id, date_diff('day', LAG(day) OVER (PARTITION BY patient_id ORDER BY day), day) AS gap FROM visits) AS g WHERE gap BETWEEN 0 AND 365
SELECT SUM(w), COUNT(w) FROM (SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day DESC, visit_id) AS w FROM visits) AS t WHERE w < 3
SELECT AVG(clamp(w, 0, 1000)) FROM (SELECT patient_id, SUM(minutes) OVER (PARTITION BY patient_id) AS w FROM visits) AS t
SELECT COUNT(*), SUM(minutes) FROM (SELECT patient_id, minutes FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY minutes DESC NULLS LAST, visit_id) = 1) AS t
SELECT COUNT(*), SUM(minutes) FROM (SELECT patient_id, minutes FROM visits QUALIFY RANK() OVER (PARTITION BY patient_id ORDER BY minutes) = 1) AS t
SELECT SUM(f), SUM(l) FROM (SELECT patient_id, FIRST_VALUE(minutes) OVER (PARTITION BY patient_id ORDER BY day, visit_id) AS f, LAST_VALUE(minutes) OVER (PARTITION BY patient_id ORDER BY day, visit_id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS l FROM visits) AS t
SELECT SUM(f) FROM (SELECT patient_id, LAG(minutes, 1, 0) OVER (PARTITION BY patient_id ORDER BY visit_id) AS f FROM visits) AS t
SELECT SUM(f) FROM (SELECT patient_id, LEAD(minutes) OVER (PARTITION BY patient_id ORDER BY minutes) AS f FROM visits) AS t
SELECT SUM(f) FROM (SELECT patient_id, LEAD(minutes) OVER (PARTITION BY patient_id ORDER BY minutes DESC, visit_id) AS f FROM visits) AS t
SELECT SUM(f) FROM (SELECT patient_id, MIN(minutes) OVER (PARTITION BY patient_id ORDER BY visit_id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS f FROM visits) AS t
SELECT drug, COUNT(*) AS n, AVG(dose) FROM prescriptions pr JOIN visits v ON pr.visit_id = v.visit_id JOIN patients p ON p.patient_id = v.patient_id WHERE p.sex = 'f' GROUP BY drug
SELECT COUNT(*) FROM prescriptions pr JOIN visits v USING (visit_id)
SELECT COUNT(*), COUNT(DISTINCT drug) FROM visits v JOIN prescriptions pr ON pr.visit_id = v.visit_id
SELECT COUNT(*), COUNT(drug) FROM visits v LEFT JOIN prescriptions pr ON pr.visit_id = v.visit_id
SELECT AVG(dose), STDDEV(dose) FROM prescriptions
SELECT shop, COUNT(*), SUM(amount), AVG(items) FROM sales GROUP BY shop
SELECT dayofweek(day) AS w, COUNT(*) FROM visits GROUP BY w
SELECT quarter(day) AS q, weekofyear(day) AS w, COUNT(*) FROM visits GROUP BY q, w HAVING COUNT(*) > 0
SELECT MODE(sex), MODE(region) FROM patients WHERE patient_id < 40
SELECT SUM(DISTINCT minutes), COUNT(DISTINCT minutes), COUNT(DISTINCT note) FROM visits
SELECT SUM(DISTINCT birth_year - 1970) FROM patients
SELECT SUM(birth_year - 1970), AVG(birth_year - 1970), VAR_POP(birth_year) FROM patients
SELECT region, SUM(income), AVG(income), COUNT(income) FROM patients GROUP BY region
SELECT COALESCE(AVG(income), 0), NULLIF(COUNT(*), 0) FROM patients WHERE region = 'north'
SELECT AVG(a.cost), SUM(b.minutes) FROM visits a LEFT JOIN visits b ON a.patient_id = b.patient_id AND b.visit_id = a.visit_id + 1
SELECT smoker, COUNT(*) FROM patients GROUP BY smoker
SELECT smoker IS NULL AS s, COUNT(*) FROM patients GROUP BY 1
SELECT COALESCE(smoker, false) AS s, COUNT(*) FROM patients GROUP BY 1
SELECT income > 50000 AS rich, COUNT(*) FROM patients WHERE income IS NOT NULL GROUP BY 1
SELECT floor(income / 50000) AS b, COUNT(*) FROM patients WHERE income IS NOT NULL GROUP BY 1 HAVING COUNT(*) > 0
SELECT CAST(income / 50000 AS INTEGER) AS b, COUNT(*) FROM patients WHERE income IS NOT NULL GROUP BY 1
SELECT birth_year // 10 * 10 AS decade, COUNT(*) FROM patients GROUP BY decade HAVING COUNT(*) > 0
SELECT region || '-' || sex AS rs, COUNT(*) FROM patients GROUP BY rs
SELECT concat(region, sex) AS rs, COUNT(*) FROM patients GROUP BY rs
SELECT length(region) AS l, COUNT(*) FROM patients GROUP BY l
SELECT left(region, 1) AS l, COUNT(*) FROM patients GROUP BY l
SELECT region, sex, COUNT(*) FROM patients WHERE region <> 'north' GROUP BY region, sex
SELECT region, COUNT(*) FROM patients WHERE region IN ('north', 'mars') GROUP BY region
SELECT diagnosis, COUNT(*) FROM visits WHERE diagnosis = 'flu' OR diagnosis = 'asthma' GROUP BY diagnosis
SELECT diagnosis, COUNT(*) FROM visits WHERE diagnosis IN ('flu', 'asthma') AND minutes > 10 GROUP BY diagnosis
SELECT diagnosis, COUNT(*) FROM visits WHERE NOT (diagnosis IN ('flu', 'asthma')) GROUP BY diagnosis
SELECT minutes, COUNT(*) FROM visits WHERE minutes BETWEEN 50 AND 60 GROUP BY minutes HAVING COUNT(*) > 0
SELECT COUNT(*) FROM visits WHERE day BETWEEN '2024-02-01' AND '2024-03-31'
SELECT COUNT(*) FROM visits WHERE day > '2024-02-01' AND day < DATE '2024-03-31' + 5
SELECT COUNT(*) FROM visits WHERE day = TIMESTAMP '2024-02-07 00:00:00'
SELECT COUNT(*) FROM visits WHERE cost = 158.38 OR minutes = 53.0
SELECT COUNT(*) FROM visits WHERE diagnosis > 'b' AND note < 'b'
SELECT COUNT(*) FROM visits WHERE note ~~ 'all%'
SELECT COUNT(*) FROM visits WHERE NOT note ILIKE 'all%'
SELECT COUNT(*) FROM visits WHERE minutes
SELECT COUNT(*) FROM patients WHERE insured = true AND smoker IS NOT true
SELECT COUNT(*) FROM patients WHERE insured <> smoker
SELECT COUNT(*) FROM patients WHERE (income IS NULL) = insured
SELECT COUNT(*) FROM visits WHERE cost > minutes OR cost IS NULL AND minutes IS NULL
SELECT COUNT(*), SUM(minutes) FROM visits WHERE false
SELECT COUNT(*) FROM patients WHERE joined < DATE '2018-01-01' - INTERVAL 3 MONTH
SELECT SUM(date_diff('month', joined, DATE '2026-01-01')) FROM patients
SELECT SUM(date_diff('week', day, DATE '2024-12-31')), SUM(date_diff('quarter', day, DATE '2024-12-31')) FROM visits
SELECT AVG(age) FROM (SELECT patient_id, 2024 - birth_year AS age FROM patients) AS t WHERE age BETWEEN 18 AND 65
WITH a AS (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id), b AS (SELECT * FROM a WHERE total > 100) SELECT COUNT(*), AVG(clamp(total, 0, 5000)) FROM b
WITH a AS (SELECT region, COUNT(*) AS n FROM patients GROUP BY region), b AS (SELECT region, SUM(income) AS s FROM patients GROUP BY region) SELECT a.region, s / n AS mean FROM a JOIN b USING (region)
WITH t(u, m) AS (SELECT patient_id, minutes FROM visits) SELECT SUM(m) FROM t
SELECT SUM(m) FROM (SELECT patient_id, minutes FROM visits) AS t(u, m)
SELECT COUNT(*) FROM (SELECT DISTINCT patient_id FROM visits WHERE minutes > 60) AS t
SELECT g, COUNT(*) FROM (SELECT DISTINCT patient_id, diagnosis AS g FROM visits) AS t GROUP BY g
SELECT COUNT(*) FROM (SELECT patient_id FROM visits WHERE minutes > 60 UNION ALL SELECT patient_id FROM patients WHERE sex = 'f') AS t
SELECT COUNT(DISTINCT u) FROM (SELECT patient_id AS u FROM visits WHERE minutes > 60 UNION ALL SELECT patient_id FROM patients WHERE sex = 'f') AS t
SELECT n, COUNT(*) AS people FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS t GROUP BY n
SELECT n, COUNT(*) AS people FROM (SELECT p.patient_id, COUNT(v.visit_id) AS n FROM patients p LEFT JOIN visits v ON p.patient_id = v.patient_id GROUP BY p.patient_id) AS t GROUP BY n
SELECT CASE WHEN COUNT(*) > 10 THEN 'many' ELSE 'few' END AS c FROM visits
SELECT -COUNT(*) AS a, +COUNT(*) AS b, COUNT(*) % 7 AS c, COUNT(*) / 3 AS d, COUNT(*) // 3 AS e FROM visits
SELECT CAST(COUNT(*) AS VARCHAR) || ' visits' AS t FROM visits
SELECT region, COUNT(*) FROM patients GROUP BY region HAVING region <> 'north' AND COUNT(*) > 1
SELECT MIN(region) FROM (SELECT region, COUNT(*) AS n FROM patients GROUP BY region)
SELECT sum(minutes) FILTER (WHERE p.sex = 'f') AS f, sum(minutes) FILTER (WHERE p.sex = 'm') AS m FROM visits v JOIN patients p ON v.patient_id = p.patient_id
SELECT AVG(v.cost) FROM patients p JOIN visits v ON p.patient_id = v.patient_id JOIN clinics c ON c.clinic_id = v.clinic_id AND c.region = p.region
SELECT c.region = p.region AS same, COUNT(*) FROM patients p JOIN visits v ON p.patient_id = v.patient_id JOIN clinics c ON c.clinic_id = v.clinic_id GROUP BY 1
SELECT COUNT(*) FROM visits v JOIN rooms r ON v.clinic_id = r.clinic_id JOIN clinics c ON c.clinic_id = v.clinic_id
SELECT greatest(minutes, 30) AS g, COUNT(*) FROM visits WHERE minutes < 40 GROUP BY g HAVING COUNT(*) > 0
SELECT SUM(GREATEST(minutes, cost)), SUM(LEAST(minutes, NULL, 7)) FROM visits
SELECT SUM(SQRT(minutes)), SUM(LN(minutes + 1)), SUM(POWER(minutes, 2)), SUM(EXP(-minutes)) FROM visits
SELECT SUM(minutes ^ 2), SUM(minutes ** 2) FROM visits
SELECT SUM(minutes * cost), AVG(minutes * minutes - cost) FROM visits
SELECT SUM(clamp(TRY_CAST(diagnosis AS INTEGER), 0, 9)) FROM visits
SELECT SUM(sign(minutes - 100)), SUM(abs(minutes - 100)) FROM visits
SELECT ROUND(AVG(cost), 2) AS a, FLOOR(AVG(cost)) AS b, COUNT(*) AS n FROM visits
SELECT QUANTILE_CONT(minutes, 0) AS a, QUANTILE_DISC(minutes, 1) AS b, MIN(minutes), MAX(minutes) FROM visits
FROM patients SELECT COUNT(*)
SELECT COUNT(*) FROM visits WHERE minutes > (SELECT AVG(minutes) FROM visits) + 0.0001
SELECT (SELECT COUNT(*) FROM patients) AS a, (SELECT COUNT(*) FROM visits) AS b
SELECT COUNT(*) FROM visits HAVING COUNT(*) > 1000000
SELECT patient_id % 2 AS odd, COUNT(*) FROM patients GROUP BY 1
SELECT COUNT(*) FROM patients WHERE patient_id % 2 = 1
SELECT SUM(patient_id % 5) FROM patients
SELECT clinic_id, COUNT(*) FROM visits GROUP BY clinic_id
SELECT clinic_id, COUNT(*) FROM visits WHERE clinic_id BETWEEN 1 AND 3 GROUP BY clinic_id
SELECT clinic_id IN (1, 2) AS c, COUNT(*) FROM visits GROUP BY 1
SELECT dayname(day) AS k, COUNT(*) FROM visits WHERE day IS NOT NULL GROUP BY k HAVING COUNT(*) > 0
SELECT strftime(day, '%Y-%m') AS k, COUNT(*), SUM(minutes) FROM visits WHERE day >= DATE '2024-03-15' GROUP BY k HAVING COUNT(*) > 0
SELECT FLOOR(cost / 100) * 100 AS k, COUNT(*) FROM visits WHERE cost BETWEEN 0 AND 500 GROUP BY k HAVING COUNT(*) > 0
SELECT ROUND(cost, -2) AS k, COUNT(*) FROM visits WHERE cost > 50 AND cost < 450 GROUP BY k HAVING COUNT(*) > 0
SELECT minutes, COUNT(*) FROM visits WHERE minutes > 200 AND minutes % 7 <> 0 GROUP BY minutes HAVING COUNT(*) > 0
SELECT c.name, COUNT(*) FROM visits v JOIN clinics c ON v.clinic_id = c.clinic_id WHERE c.beds > 8 GROUP BY c.name
SELECT COUNT(*) FROM (SELECT DISTINCT diagnosis, note FROM visits) AS t
SELECT COUNT(*) AS n FROM (SELECT minutes FROM visits WHERE cost > 20 GROUP BY minutes) AS t
WITH d AS (SELECT DISTINCT diagnosis, clinic_id FROM visits) SELECT COUNT(*) FROM d
SELECT COUNT(*), SUM(minutes) FROM (SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day, visit_id, minutes, cost) = 1) AS t

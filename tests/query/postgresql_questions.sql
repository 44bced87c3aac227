SELECT COUNT(*) AS n FROM visits
SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis
SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis ORDER BY n DESC, diagnosis LIMIT 3
SELECT clinic_id, SUM(cost) / COUNT(*) AS mean FROM visits GROUP BY clinic_id
SELECT clinic_id, AVG(cost) AS mean, COUNT(cost) AS n FROM visits GROUP BY 1
SELECT clinic_id, AVG(cost)::numeric(10, 2) AS mean FROM visits GROUP BY clinic_id
SELECT minutes / 60 AS hours, COUNT(*) AS n FROM visits WHERE minutes IS NOT NULL GROUP BY minutes / 60
SELECT minutes / 60.0 > 2 AS is_long, COUNT(*) AS n FROM visits WHERE minutes IS NOT NULL GROUP BY 1
SELECT (minutes + 7) / 10 * 10 AS band, COUNT(*) AS n FROM visits WHERE minutes > 3 GROUP BY 1
SELECT minutes % 5 AS rest, COUNT(*) AS n FROM visits WHERE minutes IS NOT NULL GROUP BY minutes % 5
SELECT date_trunc('month', day)::date AS month, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY 1
SELECT date_trunc('quarter', day)::date AS quarter, SUM(cost) AS total FROM visits GROUP BY 1
SELECT date_trunc('week', day)::date AS week, COUNT(*) AS n FROM visits GROUP BY 1
SELECT to_char(day, 'YYYY-MM') AS month, COUNT(*) AS n FROM visits GROUP BY 1
SELECT EXTRACT(DOW FROM day)::int AS dow, COUNT(*) AS n FROM visits GROUP BY 1
SELECT EXTRACT(ISODOW FROM day)::int AS dow, COUNT(*) AS n FROM visits GROUP BY 1
SELECT EXTRACT(YEAR FROM joined)::int AS year, COUNT(*) AS n FROM patients GROUP BY 1
SELECT date_part('month', day)::int AS month, COUNT(*) AS n FROM visits GROUP BY 1
SELECT COUNT(*) FILTER (WHERE cost > 100) AS dear, COUNT(*) AS n FROM visits
SELECT COUNT(*) AS n FROM visits WHERE note ILIKE 'ALL%'
SELECT COUNT(*) AS n FROM visits WHERE note NOT LIKE 'all%'
SELECT COUNT(*) AS n FROM visits WHERE day BETWEEN '2024-01-01'::date AND '2024-06-30'::date
SELECT COUNT(*) AS n FROM visits WHERE day >= DATE '2024-03-31' - INTERVAL '1 month'
SELECT COUNT(*) AS n FROM visits WHERE day - DATE '2024-01-01' < 100
SELECT COUNT(*) AS n FROM visits WHERE diagnosis = ANY(ARRAY['flu', 'asthma'])
SELECT COUNT(*) AS n FROM visits WHERE diagnosis IS DISTINCT FROM 'flu'
SELECT COUNT(DISTINCT v.patient_id) AS n FROM visits v JOIN patients p USING (patient_id) WHERE p.sex = 'f'
SELECT p.region, SUM(v.cost) AS total FROM visits v JOIN patients p USING (patient_id) GROUP BY p.region
SELECT c.name, COUNT(*) AS n FROM visits v JOIN clinics c USING (clinic_id) GROUP BY c.name
SELECT COUNT(*) AS n FROM patients WHERE insured IS TRUE AND smoker IS NOT TRUE
SELECT SUM(CASE WHEN sex = 'f' THEN 1 ELSE 0 END) AS women FROM patients
SELECT SUM(insured::int) AS insured FROM patients
SELECT COALESCE(diagnosis, 'none') AS d, COUNT(*) AS n FROM visits GROUP BY 1
SELECT COUNT(*) AS n FROM visits WHERE length(note) > 4 AND upper(left(note, 1)) = 'A'
SELECT COUNT(*) AS n FROM visits WHERE position('erg' in note) > 0
SELECT sex || '-' || region AS place, COUNT(*) AS n FROM patients GROUP BY 1
SELECT COUNT(*) AS n FROM visits WHERE mod(minutes, 7) = 3 OR minutes IS NULL
SELECT EXTRACT(HOUR FROM "at")::int AS hour, COUNT(*) AS n FROM sales GROUP BY 1
WITH dear AS (SELECT patient_id, cost FROM visits WHERE cost > 250) SELECT COUNT(*) AS n, SUM(cost) AS total FROM dear
SELECT COUNT(*) AS n FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS t WHERE n > 1
SELECT COUNT(*) AS n FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id)
SELECT ROUND(AVG(cost)::numeric, 1) AS mean FROM visits
SELECT COUNT(*) AS n FROM visits WHERE day >= TO_DATE('2024-03-01', 'YYYY-MM-DD') AND day < TO_DATE('2024-06-01', 'YYYY-MM-DD')
SELECT COUNT(*) AS n FROM sales WHERE "at" >= TO_TIMESTAMP('2024-03-01 12:30:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
SELECT COUNT(*) AS n FROM sales WHERE "at" BETWEEN '2024-02-01T00:00:00Z' AND '2024-06-30T12:00:00.5Z'

"""The seven workloads on three engines, prepared and not, beside the same SQL without privacy.

| file | holds |
|---|---|
| `systems.py` | who is asked: each engine as plain SQL, per query and prepared |
| `postgresql.py` | a PostgreSQL server with the tables, and what its processes take |
| `spark.py` | Spark on this machine, with 6 GB |
| `ours.py` | a child that asks PostgreSQL or Spark |
| `ticks.py` | a tick of a series beside the plain GROUP BY |
| `kept.py` | what was measured in earlier runs of parts |
| `run.py` | all of it in order |
| `growth.py` | how cost grows with rows |
| `tables.py`, `picture.py` | the report |
"""

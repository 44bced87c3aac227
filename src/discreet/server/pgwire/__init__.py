"""PostgreSQL's protocol: psql, drivers and dashboards connect to the server as to a database.

| file | holds |
|---|---|
| `listener.py` | accepts connections: encryption, limits, cancelling |
| `sign_in.py`, `scram.py` | signing in by SCRAM-SHA-256, from stored keys |
| `connection.py` | one connection: its messages, in both protocols |
| `statements.py`, `cursors.py` | statements, prepared ones and cursors: columns and results |
| `routing.py` | who answers a statement: Discreet, the settings, the hollow PostgreSQL |
| `lexer.py` | words of statements |
| `desk.py` | columns, explanations and answers for the account of a connection |
| `results.py`, `values.py` | rows, COPY, types in text and binary form |
| `variables.py` | settings of a connection: what queries may cost |
| `rounded_times.py` | times of dashboards, rounded down to the steps of their columns |
| `hollow.py`, `hollow_launch.py`, `hollow_link.py` | a PostgreSQL with the tables and no rows |
| `frames.py`, `sqlstates.py` | messages, errors and notices |
"""

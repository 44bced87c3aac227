"""What statements cost, what is free, what is rejected, and how a connection behaves."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.server.pgwire.wired import Bare, Wired, error_in, message, wired, write_clinic
from tests.server.running import in_month, write_monthly

COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wired]:
    with wired(write_clinic(tmp_path_factory.mktemp("statements") / "clinic")) as found:
        yield found


def notices_of(connection: Any) -> list[tuple[str, str]]:
    """Return the list that messages and details of notices of a connection are put into."""
    found: list[tuple[str, str]] = []
    connection.add_notice_handler(
        lambda each: found.append((each.message_primary, each.message_detail or ""))
    )
    return found


# --------------------------------------------------------------------------- what is free

FREE = [
    "SELECT 1",
    "SELECT version(), current_database(), current_schema()",
    "SELECT TRUE AS probe FROM public.visits WHERE 1 <> 1 LIMIT 0",
    "SELECT * FROM visits LIMIT 0",
    "SELECT * FROM (SELECT region, COUNT(*) FROM visits GROUP BY region) AS t WHERE (0 = 1)",
    "SELECT COUNT(*) FROM visits WHERE age > 3 AND 1 = 0",
    "SELECT MEDIAN(cost) AS m FROM visits LIMIT 0",
    "SELECT * FROM cities ORDER BY people DESC LIMIT 3",
    "SELECT DISTINCT region FROM visits",
    "SELECT region FROM public.visits GROUP BY region ORDER BY region LIMIT 1001",
    "SELECT smokes FROM visits GROUP BY 1",
    "SELECT relname FROM pg_catalog.pg_class WHERE relname = 'visits'",
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'",
    "SHOW ALL",
    "SHOW discreet.intervals",
    "SET discreet.within = 20",
    "SET application_name = 'me'",
    "BEGIN",
    "COMMIT",
    "DISCARD ALL",
]


@pytest.mark.parametrize("sql", FREE)
def test_nothing_is_spent_for_what_is_not_about_rows_of_people(served: Wired, sql: str) -> None:
    before = served.spent()
    with served.connect(epsilon=1) as connection:
        connection.execute(sql)
    assert served.spent() == before


def test_a_query_that_is_empty_by_its_text_has_columns_and_no_rows(served: Wired) -> None:
    with served.connect(epsilon=None) as connection:
        cursor = connection.execute("SELECT * FROM visits WHERE 1 = 0")
        assert [each.name for each in cursor.description][:3] == ["patient_id", "region", "city"]
        assert cursor.fetchall() == []
        cursor = connection.execute("SELECT MEDIAN(cost) AS m FROM visits LIMIT 0")
        assert [(each.name, each.type_code) for each in cursor.description] == [("m", 701)]
        assert cursor.fetchall() == []
        # No row meets it, whatever the data are: the exact answer says nothing about them.
        assert connection.execute("SELECT COUNT(*) FROM visits WHERE FALSE").fetchall() == [(0,)]


def test_declared_values_are_listed_for_free_without_a_cost(served: Wired) -> None:
    with served.connect(epsilon=None) as connection:
        notices = notices_of(connection)
        found = connection.execute("SELECT DISTINCT region FROM visits ORDER BY region").fetchall()
        assert found == [("north",), ("south",)]
        assert "whether or not they occur" in notices[0][1]


def test_describing_a_statement_costs_nothing(served: Wired) -> None:
    before = served.spent()
    bare = Bare(port=served.port).sign_in("ana", served.served.tokens["ana"])
    bare.query("SET discreet.epsilon = 1")
    sql = b"SELECT region, COUNT(*) AS n FROM visits WHERE age < $1 GROUP BY region\0"
    bare.send(message(b"P", b"s\0" + sql + b"\0\0"), message(b"D", b"Ss\0"), message(b"S"))
    found = dict(bare.until(b"Z"))
    assert found[b"t"] == b"\0\1\0\0\0\x14"  # one parameter, an int8
    assert b"region\0" in found[b"T"]
    assert served.spent() == before
    bare.close()


# --------------------------------------------------------------------------- what costs


def test_a_query_costs_only_after_its_cost_is_stated(served: Wired) -> None:
    before = served.spent()
    with served.connect(epsilon=None) as connection:
        with pytest.raises(psycopg.errors.InvalidParameterValue) as error:
            connection.execute("SELECT COUNT(*) AS a FROM visits")
        assert "SET discreet.epsilon = 0.1" in str(error.value.diag.message_hint)
        assert served.spent() == before
        connection.execute("SET discreet.epsilon = 0.125")
        connection.execute("SELECT COUNT(*) AS a FROM visits")
        assert served.spent() == pytest.approx(before + 0.125)
        connection.execute("SELECT COUNT(*) AS a FROM visits")
        assert served.spent() == pytest.approx(before + 0.125)


def test_a_prepared_statement_is_charged_once_for_each_new_value(served: Wired) -> None:
    before = served.spent()
    with served.connect(epsilon=0.0625) as connection:
        for value in [1, 2, 3] * 70:
            sql = "SELECT COUNT(*) AS by_value FROM visits WHERE age = %s"
            connection.execute(sql, (value,), prepare=True).fetchall()
    assert served.spent() == pytest.approx(before + 3 * 0.0625)


def test_a_margin_of_error_can_be_stated_instead(served: Wired) -> None:
    with served.connect(epsilon=None) as connection:
        notices = notices_of(connection)
        connection.execute("SET discreet.within = 30")
        connection.execute("SELECT COUNT(*) AS within_30 FROM visits")
        assert "within_30 ±" in notices[-1][1]
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            connection.execute("SET discreet.within = 'no number'")


def test_an_account_may_have_a_cost_that_its_owner_set(served: Wired) -> None:
    called = served.served.call(
        "PATCH",
        "/v1/catalogs/clinic/analysts/bob",
        "boss",
        json={"default_epsilon": "0.25", "per_day": "0.5"},
    )
    assert called.status_code == 200, called.text
    with served.connect("bob", epsilon=None) as connection:
        connection.execute("SELECT COUNT(*) AS d1 FROM visits WHERE age > 1")
        connection.execute("SELECT COUNT(*) AS d2 FROM visits WHERE age > 2")
        assert served.spent("bob") == pytest.approx(0.5)
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded) as error:
            connection.execute("SELECT COUNT(*) AS d3 FROM visits WHERE age > 3")
        assert error.value.sqlstate == "53400"
        assert served.spent("bob") == pytest.approx(0.5)


def test_a_notice_says_cost_margin_and_limits_after_an_answer(served: Wired) -> None:
    with served.connect(epsilon=0.5) as connection:
        notices = notices_of(connection)
        connection.execute("SELECT region, SUM(cost) AS total FROM visits GROUP BY region")
        ((message_, detail),) = notices
        assert message_.startswith("Spent ε = 0.5 · Remaining: ε = ")
        assert "Margin of error at 95% confidence: total ±" in detail
        assert "Counts at most 3 rows of each patient_id" in detail
        assert "Clamped: cost to the range 0 to 500." in detail


def test_a_notice_says_which_months_were_charged(tmp_path: Path) -> None:
    with wired(write_monthly(tmp_path)) as served, served.connect(epsilon=4) as connection:
        plan = "\n".join(row[0] for row in connection.execute(f"EXPLAIN {in_month(2)}"))
        assert "Charged to  2024-02" in plan
        assert "Protects    the data of one patient_id in one month" in plan
        notices = notices_of(connection)
        connection.execute(in_month(2))
        ((message_, detail),) = notices
        assert message_.startswith("Spent ε = 4 · Remaining: ε = 6 of ")
        assert "Charged to 2024-02. Protects the data of one patient_id in one month." in detail
        connection.execute("SET discreet.epsilon = 7")
        with pytest.raises(psycopg.Error, match="ε = 6 remains for 2024-02") as error:
            connection.execute(in_month(2, "SUM(age) AS s"))
        assert error.value.sqlstate == "53400"


def test_intervals_are_columns_if_wanted(served: Wired) -> None:
    with served.connect(epsilon=2) as connection:
        connection.execute("SET discreet.intervals = on")
        sql = "SELECT region, COUNT(*) AS n, MEDIAN(age) AS m FROM visits GROUP BY region"
        cursor = connection.execute(sql)
        names = [each.name for each in cursor.description]
        assert names == ["region", "n", "n_low", "n_high", "m", "m_low", "m_high"]
        for row in cursor.fetchall():
            assert row[2] < row[1] < row[3]
        binary = connection.cursor(binary=True).execute(sql)
        assert [each.name for each in binary.description] == names
        assert len(binary.fetchall()) == 2


def test_explain_is_free_and_says_what_a_query_would_cost(served: Wired) -> None:
    before = served.spent()
    with served.connect(epsilon=0.3) as connection:
        lines = [each[0] for each in connection.execute(f"EXPLAIN {COUNT} WHERE age > 77")]
        assert lines[0] == "Preview only: nothing was spent and no query was run."
        assert any(each.startswith("Cost") and "ε = 0.3" in each for each in lines)
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            connection.execute(f"EXPLAIN ANALYZE {COUNT}")
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {COUNT}")
    assert served.spent() == before


def test_explain_needs_no_stated_cost_and_shows_the_one_it_is_about(served: Wired) -> None:
    with served.connect(epsilon=None) as connection:
        lines = [each[0] for each in connection.execute(f"EXPLAIN {COUNT} WHERE age > 78")]
        assert any(each.startswith("Cost") and "ε = 0.1" in each for each in lines)


def test_a_budget_that_is_used_up_is_an_error_of_its_own(served: Wired) -> None:
    with served.connect("ann", epsilon=60) as connection:
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded) as error:
            connection.execute(COUNT)
        assert error.value.sqlstate == "53400"
        assert "Nothing was spent" in str(error.value.diag.message_hint)


# --------------------------------------------------------------------------- what is rejected

REJECTED = {
    "SELECT * FROM visits LIMIT 200": "42501",
    "SELECT city FROM visits": "42501",
    "TABLE visits": "0A000",
    "COPY visits TO STDOUT": "42501",
    "COPY (SELECT * FROM visits) TO STDOUT": "42501",
    "SELECT nope FROM visits": "42703",
    "SELECT COUNT( FROM visits": "42601",
    "SELECT 'open FROM visits": "42601",
    'SELECT COUNT(*) FROM U&"v\\0069sits"': "42601",
    "SELECT SUM(patient_id) FROM visits": "0A000",
    "SELECT COUNT(*) FROM visits WHERE day > now()": "0A000",
    "SELECT age, COUNT(*) FROM visits": "42803",
    "INSERT INTO visits VALUES (1)": "0A000",
    "DELETE FROM visits": "0A000",
    "CREATE TABLE x (i int)": "0A000",
    "SELECT region INTO x FROM visits": "0A000",
    "DO $$ BEGIN END $$": "0A000",
    "LISTEN channel": "0A000",
    "COPY (SELECT 1) TO PROGRAM 'id'": "0A000",
    "COPY visits FROM STDIN": "0A000",
    "PREPARE p AS SELECT COUNT(*) FROM visits": "0A000",
    "SELECT pg_sleep(1)": "42501",
    "SELECT set_config('statement_timeout', '0', false)": "42501",
    "SELECT pg_read_file('/etc/passwd')": "42501",
    "SELECT lo_create(0)": "42501",
    "SELECT pg_terminate_backend(1)": "42501",
    "SELECT repeat('a', 1000000000)": "42501",
    "SELECT * FROM pg_stat_activity": "42501",
    "SET ROLE discreet": "42501",
    "SET SESSION AUTHORIZATION discreet": "42501",
    "SET discreet.nothing = 1": "42704",
    "SET discreet.epsilon = -1": "22023",
    "SET discreet.epsilon = 'NaN'": "22023",
    "SET discreet.epsilon = '1e-400'": "22023",
    "SET client_encoding = 'LATIN1'": "0A000",
    "SET standard_conforming_strings = off": "0A000",
    "SELECT COUNT(*) FROM visits; DROP TABLE visits": "0A000",
}


@pytest.mark.parametrize(("sql", "state"), REJECTED.items())
def test_a_rejected_statement_has_a_code_and_spends_nothing(
    served: Wired, sql: str, state: str
) -> None:
    before = served.spent()
    bare = Bare(port=served.port).sign_in("ana", served.served.tokens["ana"])
    first = "SET discreet.epsilon = 0.001"
    assert not error_in(bare.query(first))
    found = error_in(bare.query(sql))
    assert found["C"] == state, found
    assert found["M"]
    if ";" not in sql:
        assert served.spent() == before
    assert not error_in(bare.query("SELECT 1")), "the connection goes on"
    bare.close()


def test_conditions_that_fail_for_some_rows_are_answered_like_any_other(served: Wired) -> None:
    with served.connect(epsilon=1) as connection:
        for sql in (
            "SELECT COUNT(*) FROM visits WHERE CAST(city AS INTEGER) > 1",
            "SELECT COUNT(*) FROM visits WHERE cost / (age - 42) > 0",
        ):
            assert len(connection.execute(sql).fetchall()) == 1


# --------------------------------------------------------------------------- connections


def test_settings_follow_transactions_as_in_postgresql(served: Wired) -> None:
    with served.connect(epsilon=0.5, autocommit=False) as connection:

        def shown() -> Any:
            return connection.execute("SHOW discreet.epsilon").fetchone()[0]

        connection.execute("SET discreet.epsilon = 0.1")
        assert shown() == "0.1"
        connection.rollback()
        assert shown() == "0.5"
        connection.execute("SET LOCAL discreet.epsilon = 0.2")
        assert shown() == "0.2"
        connection.commit()
        assert shown() == "0.5"
        connection.execute("SET discreet.epsilon TO 0.4")
        connection.commit()
        assert shown() == "0.4"
        connection.execute("RESET discreet.epsilon")
        assert shown() == "0.5"
        connection.execute("SET discreet.epsilon = DEFAULT")
        connection.commit()
        assert shown() == "0.5"


def test_savepoints_work_after_an_error(served: Wired) -> None:
    with served.connect(epsilon=None, autocommit=False) as connection:
        connection.execute("SELECT 1")
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            connection.execute("SELECT * FROM visits")
        assert connection.execute("SELECT 2").fetchone() == (2,)


def test_a_failed_transaction_is_not_committed(served: Wired) -> None:
    bare = Bare(port=served.port).sign_in("ana", served.served.tokens["ana"])
    assert bare.query("BEGIN")[-1] == (b"Z", b"T")
    assert bare.query("SELECT * FROM visits")[-1] == (b"Z", b"E")
    assert error_in(bare.query("SELECT 1"))["C"] == "25P02"
    found = bare.query("COMMIT")
    assert (b"C", b"ROLLBACK\0") in found
    assert found[-1] == (b"Z", b"I")
    bare.close()


def test_several_statements_of_a_text_are_run_up_to_an_error(served: Wired) -> None:
    bare = Bare(port=served.port).sign_in("ana", served.served.tokens["ana"])
    found = bare.query("SET discreet.epsilon = 1; SELECT 1; ; SELECT nope FROM visits; SELECT 2")
    tags = [body for kind, body in found if kind == b"C"]
    assert tags == [b"SET\0", b"SELECT 1\0"]
    assert error_in(found)["P"] == "46"
    assert bare.query("")[0] == (b"I", b"")
    assert bare.query("-- nothing\n/* at /* all */ */ ;")[0] == (b"I", b"")
    bare.close()


def test_cursors_go_forward_backward_and_to_a_row(served: Wired) -> None:
    bare = Bare(port=served.port).sign_in("ana", served.served.tokens["ana"])

    def fetched(sql: str) -> list[str]:
        found = bare.query(sql)
        assert not error_in(found), error_in(found)
        return [body[6:].decode() for kind, body in found if kind == b"D"]

    bare.query("BEGIN; DECLARE c SCROLL CURSOR FOR SELECT city FROM cities ORDER BY people")
    assert fetched("FETCH c") == ["city 0"]
    assert fetched("FETCH FORWARD 2 FROM c") == ["city 1", "city 2"]
    assert fetched("FETCH BACKWARD 2 IN c") == ["city 1", "city 0"]
    assert fetched("FETCH ABSOLUTE 5 FROM c") == ["city 4"]
    assert fetched("FETCH RELATIVE -1 FROM c") == ["city 3"]
    assert fetched("FETCH PRIOR FROM c") == ["city 2"]
    assert fetched("FETCH LAST FROM c") == ["city 39"]
    assert fetched("FETCH NEXT FROM c") == []
    assert fetched("FETCH FIRST FROM c") == ["city 0"]
    assert len(fetched("FETCH ALL FROM c")) == 39
    assert bare.query("MOVE BACKWARD ALL IN c")[0] == (b"C", b"MOVE 40\0")
    assert bare.query("CLOSE c; COMMIT")[0] == (b"C", b"CLOSE CURSOR\0")
    assert error_in(bare.query("FETCH c"))["C"] == "34000"
    bare.close()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", "city 1\t1000\n"),
        ("WITH (FORMAT csv, HEADER)", "city,people\ncity 1,1000\n"),
        ("CSV HEADER", "city,people\ncity 1,1000\n"),
        ("(FORMAT csv, DELIMITER ';')", "city 1;1000\n"),
        ("(FORMAT text, HEADER true)", "city\tpeople\ncity 1\t1000\n"),
    ],
)
def test_copy_writes_texts_and_csv(served: Wired, options: str, expected: str) -> None:
    with served.connect(epsilon=None) as connection, connection.cursor() as cursor:
        query = "SELECT city, people FROM cities WHERE people = 1000"
        sql = f"COPY ({query}) TO STDOUT {options}"
        with cursor.copy(sql) as copied:
            assert b"".join(copied).decode() == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("(DELIMITER ',')", "a\\,b,,\\N,1\n"),
        ("(FORMAT csv)", '"a,b","",,1\n'),
        ("(FORMAT csv, DELIMITER ';', NULL '1')", 'a,b;;1;"1"\n'),
    ],
)
def test_copies_tell_texts_from_null_and_from_each_other(
    served: Wired, options: str, expected: str
) -> None:
    with served.connect(epsilon=None) as connection, connection.cursor() as cursor:
        query = "SELECT 'a,b' AS a, '' AS b, NULL AS c, '1' AS d FROM cities WHERE people = 1000"
        with cursor.copy(f"COPY ({query}) TO STDOUT {options}") as copied:
            assert b"".join(copied).decode() == expected
        with (
            pytest.raises(psycopg.errors.FeatureNotSupported),
            cursor.copy(f"COPY ({query}) TO STDOUT (FORMAT csv, FORCE_QUOTE *)") as copied,
        ):
            b"".join(copied)


def test_copy_writes_binary_rows_that_psycopg_reads(served: Wired) -> None:
    with served.connect(epsilon=None) as connection, connection.cursor() as cursor:
        query = "SELECT city, people FROM cities ORDER BY people LIMIT 2"
        sql = f"COPY ({query}) TO STDOUT (FORMAT binary)"
        with cursor.copy(sql) as copied:
            copied.set_types(["text", "int8"])
            assert list(copied.rows()) == [("city 0", 0), ("city 1", 1000)]


def test_statements_of_the_hollow_database_are_copied_too(served: Wired) -> None:
    with (
        served.connect(epsilon=None) as connection,
        connection.cursor() as cursor,
        cursor.copy("COPY (SELECT 1, 'a') TO STDOUT") as copied,
    ):
        assert b"".join(copied) == b"1\ta\n"


def test_unaliased_columns_have_the_names_that_postgresql_gives(served: Wired) -> None:
    with served.connect(epsilon=1) as connection:
        cursor = connection.execute("SELECT COUNT(*), AVG(age), 1 + 1 FROM visits")
        assert [each.name for each in cursor.description] == ["count", "avg", "?column?"]


def test_clients_of_the_newest_protocol_are_told_what_is_known(served: Wired) -> None:
    with served.connect(epsilon=None, max_protocol_version="3.2") as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


# --------------------------------------------------------------------------- times of dashboards


def test_a_refreshed_chart_is_free_if_times_are_rounded(served: Wired) -> None:
    with served.connect(epsilon=0.25) as connection:
        connection.execute("SET discreet.snap_times = on")
        notices = notices_of(connection)
        before = served.spent()
        for second in range(5):
            first, last = (f"2024-0{n}-01T10:00:{second:02d}.123Z" for n in (5, 6))
            sql = f"SELECT COUNT(*) AS c FROM visits WHERE day BETWEEN '{first}' AND '{last}'"  # noqa: S608
            connection.execute(sql)
        assert served.spent() == pytest.approx(before + 0.25)
        assert ("Times were rounded down to the steps of their columns") in notices[1][0]
        assert "visits.day" in notices[1][1]


def test_the_clock_is_a_time_like_others_if_times_are_rounded(served: Wired) -> None:
    sql = "SELECT COUNT(*) AS recent FROM visits WHERE day > now() - interval '7 days'"
    with served.connect(epsilon=0.25) as connection:
        with pytest.raises(psycopg.errors.FeatureNotSupported) as error:
            connection.execute(sql)
        assert "SET discreet.snap_times = on" in str(error.value.diag.message_hint)
        connection.execute("SET discreet.snap_times = on")
        before = served.spent()
        connection.execute(sql)
        connection.execute(sql, prepare=True)
        assert served.spent() == pytest.approx(before + 0.25)


def test_a_time_of_day_gives_a_hint_that_a_refresh_would_cost(served: Wired) -> None:
    with served.connect(epsilon=0.25) as connection:
        notices = notices_of(connection)
        connection.execute("SELECT COUNT(*) AS h FROM visits WHERE at > '2024-05-01 10:00:11'")
        assert notices[1][0] == "A query with a time of day is a new query at every moment"
        with pytest.raises(psycopg.errors.FeatureNotSupported) as error:
            connection.execute("SELECT COUNT(*) FROM visits WHERE day > '2024-05-01T10:00:11Z'")
        assert "SET discreet.snap_times = on" in str(error.value.diag.message_hint)


def test_times_of_a_column_without_a_step_stay_and_a_notice_says_so(served: Wired) -> None:
    with served.connect(epsilon=0.25) as connection:
        connection.execute("SET discreet.snap_times = on")
        notices = notices_of(connection)
        connection.execute("SELECT COUNT(*) AS s FROM visits WHERE noted > '2024-05-01 10:00:11'")
        assert "no step is declared: visits.noted" in notices[1][0]

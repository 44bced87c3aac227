"""Every optimizer of the embedded engine is decided on, and only those run that no row misleads."""

import duckdb

from discreet.engines.duckdb.store import OFF, RUNNING, Store, disabled_optimizers


def named() -> set[str]:
    with duckdb.connect() as connection:
        found = connection.execute("SELECT name FROM duckdb_optimizers()").fetchall()
    return {name for (name,) in found}


def test_each_optimizer_of_the_installed_version_is_decided_with_a_reason() -> None:
    assert set(RUNNING) | set(OFF) == named()
    assert not set(RUNNING) & set(OFF)
    assert all((RUNNING | OFF).values())


def test_one_that_nobody_has_read_does_not_run() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TEMP MACRO duckdb_optimizers() AS TABLE SELECT 'new' AS name")
        assert disabled_optimizers(connection) == "new"


def test_a_store_runs_no_other_and_cannot_be_told_to() -> None:
    store = Store()
    store.seal()
    try:
        asked = "SELECT current_setting('disabled_optimizers')"
        ((setting,),) = store.open_cursor().execute(asked).fetchall()
        assert set(setting.split(",")) == set(OFF)
    finally:
        store.close()

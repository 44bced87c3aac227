"""DuckDB's optimizers that are allowed on private tables: those that no row can mislead.

An optimizer that trusts what it knows of the data can be wrong about it, and then a statement fails
for some data and not for others: a noiseless answer to whatever the analyst made it depend on.
Statistics once proved a side of an outer join empty, the bounds of a sum followed from that, and
the sum was cast to a type too small for it. So an optimizer runs only if it is listed here; one
that a later DuckDB adds is off until somebody has read it.
"""

import duckdb

RUNNING = {
    "expression_rewriter": "folds constants and simplifies expressions, from the expressions alone",
    "filter_pullup": "moves conditions; all conditions of ours are total, in whatever order",
    "filter_pushdown": "moves conditions to where rows are read",
    "empty_result_pullup": "drops what a constant condition leaves empty",
    "in_clause": "turns long lists of constants into joins with them",
    "deliminator": "simplifies the joins that EXISTS becomes",
    "unused_columns": "leaves out columns that nothing reads",
    "common_subexpressions": "computes equal expressions once",
    "common_aggregate": "computes equal aggregates once",
    "column_lifetime": "drops columns after their last use",
    "duplicate_groups": "leaves out keys that stand in GROUP BY twice",
    "reorder_filter": "tests cheap conditions first, by what they are made of",
    "join_order": "chooses among equal joins by numbers of rows; no plan assumes them",
    "build_side_probe_side": "chooses the side that is hashed by numbers of rows; likewise",
}
"""Each with what it goes by."""


OFF = {
    "statistics_propagation": "trusts column statistics: folds conditions, narrows types, picks "
    "aggregates and joins that fail on values outside",
    "compressed_materialization": "casts columns to types that statistics call wide enough",
    "join_filter_pushdown": "filters one side by values found on the other while running",
    "row_group_pruner": "skips rows by the statistics of their group",
    "late_materialization": "reads rows a second time by their numbers",
    "top_n_window_elimination": "turns a rank that is limited into a slower form",
    "cte_filter_pusher": "is for WITH, which statements here do not use",
    "cte_inlining": "is for WITH",
    "materialized_cte": "is for WITH",
    "regex_range": "is for regular expressions, which statements here do not use",
    "unnest_rewriter": "is for UNNEST",
    "limit_pushdown": "is for LIMIT",
    "top_n": "is for ORDER BY with LIMIT",
    "redundant_order_keys": "is for ORDER BY",
    "sampling_pushdown": "is for samples",
    "grouping_sets": "is for GROUPING SETS",
    "remote_pushdown": "is for tables elsewhere",
    "extension": "runs what extensions bring",
    **dict.fromkeys(
        (
            "aggregate_function_rewriter",
            "aggregate_reuse",
            "common_subplan",
            "distinct_aggregate_rewrite",
            "join_elimination",
            "outer_join_simplification",
            "partial_aggregate_pushdown",
            "partitioned_execution",
            "projection_placement",
            "projection_pullup",
            "scalar_fn_pushdown",
            "type_pushdown",
            "window_rewriter",
            "window_self_join",
        ),
        "is not needed; what it goes by was not read",
    ),
}
"""Each with why."""


def disabled_optimizers(connection: duckdb.DuckDBPyConnection) -> str:
    """Return the names of all optimizers that must not run, as the setting wants them."""
    found = connection.execute("SELECT name FROM duckdb_optimizers()").fetchall()
    return ",".join(sorted(name for (name,) in found if name not in RUNNING))

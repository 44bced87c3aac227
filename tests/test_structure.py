"""The shape of the code: who may import whom, what is public, how large, where secrets live.

Each table is kept on purpose: whoever moves a file or lets it import more changes the table too.
"""

import ast
import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import discreet

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "discreet"

MAY_IMPORT: dict[str, set[str]] = {
    "notebook": set(),
    "error_text": set(),
    "errors": {"error_text", "notebook"},
    "deprecated": set(),
    "writing": set(),
    "extras": set(),
    "locked_folders": set(),
    "binomial": set(),
    "parameters": set(),
    "months": set(),
    "written": set(),
    "plots": {"extras", "writing"},
    "noise": {"parameters"},
    "accounting": {"parameters"},
    "amounts": {"accounting"},
    "account_limits": {"amounts"},
    "mechanisms": {"accounting", "noise", "parameters", "plots"},
    "local": {"accounting", "noise", "parameters"},
    "streams": {"accounting", "mechanisms", "noise", "parameters"},
    "pair_moments": set(),
    "estimators": {"mechanisms", "pair_moments"},
    "utility": {"accounting", "local", "mechanisms", "noise", "parameters", "plots"},
    "catalog": {"account_limits", "accounting", "mechanisms", "parameters"},
    "arrow_values": set(),
    "on_use": set(),
    "tables": {"catalog"},
    "query": {
        "accounting",
        "catalog",
        "estimators",
        "mechanisms",
        "months",
        "pair_moments",
        "parameters",
        "streams",
        "written",
    },
    "engines": {
        "arrow_values",
        "catalog",
        "extras",
        "locked_folders",
        "parameters",
        "query",
        "tables",
    },
    "ledger": {"account_limits", "accounting", "extras", "months", "noise", "parameters"},
    "release": {
        "arrow_values",
        "catalog",
        "estimators",
        "mechanisms",
        "noise",
        "pair_moments",
        "query",
        "tables",
    },
    "postprocess": {
        "arrow_values",
        "catalog",
        "estimators",
        "mechanisms",
        "pair_moments",
        "query",
        "tables",
    },
    "checked_questions": {"catalog", "query", "written"},
    "question_shapes": {"catalog", "checked_questions", "query", "written"},
    "planner": {
        "catalog",
        "checked_questions",
        "engines",
        "parameters",
        "postprocess",
        "query",
        "question_shapes",
        "written",
    },
    "bounds": {"catalog", "parameters", "planner", "query", "tables", "written"},
    "terms": {"catalog", "parameters", "written"},
    "known_releases": {"account_limits", "ledger", "query", "tables"},
    "reuse": {"catalog", "estimators", "known_releases", "ledger", "planner", "query", "tables"},
    "coverage": {
        "bounds",
        "catalog",
        "mechanisms",
        "parameters",
        "planner",
        "query",
        "known_releases",
        "reuse",
        "tables",
    },
    "answer": {
        "amounts",
        "arrow_values",
        "catalog",
        "estimators",
        "extras",
        "mechanisms",
        "parameters",
        "plots",
        "postprocess",
        "query",
        "tables",
        "utility",
        "writing",
    },
    "explanation": {
        "accounting",
        "amounts",
        "answer",
        "bounds",
        "catalog",
        "coverage",
        "estimators",
        "mechanisms",
        "months",
        "parameters",
        "query",
        "known_releases",
        "reuse",
    },
    "description": {
        "answer",
        "bounds",
        "catalog",
        "engines",
        "estimators",
        "planner",
        "query",
        "written",
    },
    "executor": {
        "answer",
        "catalog",
        "engines",
        "ledger",
        "noise",
        "planner",
        "postprocess",
        "query",
        "release",
        "known_releases",
        "reuse",
        "tables",
    },
    "outcome": {"amounts", "answer", "bounds", "coverage", "executor", "explanation"},
    "measured_coverage": {
        "amounts",
        "catalog",
        "coverage",
        "executor",
        "explanation",
        "ledger",
        "parameters",
        "planner",
        "query",
        "known_releases",
        "reuse",
    },
    "bounds_finder": {
        "bounds",
        "catalog",
        "executor",
        "known_releases",
        "planner",
        "query",
        "reuse",
        "written",
    },
    "series": {
        "answer",
        "catalog",
        "executor",
        "explanation",
        "ledger",
        "mechanisms",
        "noise",
        "parameters",
        "planner",
        "query",
        "release",
        "streams",
        "tables",
        "amounts",
    },
    "error_codes": {"parameters"},
    "account": {
        "account_limits",
        "answer",
        "catalog",
        "explanation",
        "parameters",
        "terms",
        "written",
        "series",
    },
    "wire": {
        "account_limits",
        "amounts",
        "answer",
        "catalog",
        "coverage",
        "explanation",
        "mechanisms",
        "parameters",
    },
    "curator": {
        "account_limits",
        "bounds_finder",
        "series",
        "written",
        "account",
        "terms",
        "amounts",
        "answer",
        "bounds",
        "catalog",
        "coverage",
        "description",
        "engines",
        "executor",
        "explanation",
        "ledger",
        "measured_coverage",
        "noise",
        "outcome",
        "parameters",
        "planner",
        "query",
        "known_releases",
        "reuse",
    },
    "opening": {
        "account_limits",
        "accounting",
        "amounts",
        "bounds",
        "catalog",
        "curator",
        "engines",
        "explanation",
        "ledger",
        "mechanisms",
        "parameters",
        "known_releases",
        "reuse",
        "tables",
    },
    "attacks": {
        "binomial",
        "catalog",
        "curator",
        "engines",
        "mechanisms",
        "noise",
        "opening",
        "parameters",
        "plots",
        "tables",
        "utility",
    },
    "audit": {
        "written",
        "accounting",
        "answer",
        "binomial",
        "catalog",
        "coverage",
        "curator",
        "engines",
        "estimators",
        "ledger",
        "local",
        "mechanisms",
        "noise",
        "opening",
        "parameters",
        "planner",
        "plots",
        "query",
        "release",
        "streams",
        "tables",
    },
    "asked": {"amounts", "answer", "catalog", "explanation", "terms"},
    "dbapi": {"answer", "asked", "parameters", "terms", "written"},
    "demo": {"writing"},
    "server": {
        "account_limits",
        "written",
        "accounting",
        "amounts",
        "answer",
        "attacks",
        "catalog",
        "coverage",
        "curator",
        "error_codes",
        "executor",
        "explanation",
        "extras",
        "ledger",
        "locked_folders",
        "mechanisms",
        "noise",
        "opening",
        "parameters",
        "query",
        "terms",
        "utility",
        "wire",
        "series",
    },
    "client": {
        "account_limits",
        "written",
        "amounts",
        "answer",
        "catalog",
        "error_codes",
        "explanation",
        "noise",
        "parameters",
        "terms",
        "wire",
    },
    "agents": {
        "amounts",
        "answer",
        "client",
        "error_codes",
        "ledger",
        "noise",
        "parameters",
        "query",
        "server",
        "wire",
    },
    "cli": {
        "account_limits",
        "written",
        "account",
        "agents",
        "client",
        "extras",
        "server",
        "terms",
        "accounting",
        "amounts",
        "answer",
        "attacks",
        "audit",
        "catalog",
        "curator",
        "demo",
        "explanation",
        "ledger",
        "local",
        "noise",
        "opening",
        "parameters",
        "plots",
        "utility",
        "writing",
        "known_releases",
        "series",
    },
    "magics": {
        "amounts",
        "answer",
        "asked",
        "cli",
        "explanation",
        "extras",
        "parameters",
        "query",
        "terms",
        "written",
    },
    "__main__": {"cli"},
    "": {"account", "answer", "catalog", "client", "curator", "explanation", "opening"},
}
"""Imports point downwards only: each part, and the parts it may use."""

GROUND = {"deprecated", "errors", "notebook", "on_use"}
"""Everyone may use these."""

HOMES = {
    "IPython": {"magics", ""},
    "duckdb": {"engines"},
    "fastapi": {"agents.over_http", "server"},
    "authlib": {"server.oidc_provider"},
    "httpx": {"client", "server.oidc_provider"},
    "joserfc": {"server.oidc_provider"},
    "mcp": {"agents"},
    "mcp_types": {"agents"},
    "pydantic": {"agents", "server"},
    "starlette": {"agents.over_http", "server"},
    "prometheus_client": {"server.metrics"},
    "uvicorn": {"server"},
    "prompt_toolkit": {"cli"},
    "psycopg": {"engines", "ledger", "server.records"},
    "pyspark": {"engines", "opening.sources"},
    "pandas": {"answer"},
    "polars": {"answer"},
    "sqlglot": {
        "on_use",
        "query.check",
        "query.dialect_kinds",
        "query.dialect_meanings",
        "query.expressions",
        "query.filled_tree",
        "query.parameter_values",
        "query.parse",
        "query.placeholders",
        "query.privacy_clause",
        "query.places",
        "query.moments",
        "query.remedies",
        "query.snapping",
        "query.spans",
        "query.syntax_fixes",
    },
    "sqlite3": {"ledger", "local.collector", "server.records"},
    "matplotlib": {"plots"},
    "rich": {"answer", "cli"},
    "typer": {"cli", "magics"},
    "scipy": {
        "accounting.pld",
        "accounting.rdp",
        "attacks",
        "binomial",
        "audit",
        "local.rappor_decoding",
        "on_use",
        "streams",
        "utility",
    },
    "ssl": {"client.remote", "noise"},
}
"""Third parties have one home each."""


def in_order(*groups: str) -> dict[str, set[str]]:
    """Return what each file may import of its package: whatever stands in an earlier group."""
    seen: set[str] = set()
    found: dict[str, set[str]] = {}
    for group in groups:
        found |= {name: set(seen) for name in group.split()}
        seen |= set(group.split())
    return found


INSIDE: dict[str, dict[str, set[str]]] = {
    "noise": in_order(
        "enclosures source",
        "uniform",
        "coins trust",
        "laplace selection",
        "gaussian",
        "__init__",
    ),
    "accounting": in_order(
        "events rounding",
        "gdp groups pure",
        "approximate",
        "pld zcdp",
        "budget rdp",
        "compose",
        "calibration",
        "__init__",
    ),
    "plots": in_order(
        "figure",
        "answers horizons",
        "distributions",
        "__init__",
    ),
    "mechanisms": in_order(
        "accuracy distributions exact sensitivity",
        "charts margins partition_selection truncation",
        "exponential gaussian geometric laplace randomized_response staircase",
        "gaussian_selection noisy_max quantile row_threshold sparse_vector",
        "quantile_interval",
        "__init__",
    ),
    "local": in_order(
        "mechanism",
        "draws reports",
        "client estimates hashing numeric sketches unary",
        "bit_flips heavy_hitters means response square_wave subset",
        "rappor",
        "prices rappor_decoding registry server",
        "collector old_names",
        "__init__",
    ),
    "streams": in_order(
        "buffer_parameters mechanism",
        "gaussian_grid nodes toeplitz",
        "buffered square_root subtraction_tree tree",
        "choice",
        "__init__",
    ),
    "utility": in_order(
        "neighbours",
        "channels priors",
        "makers programs",
        "guessing",
        "beliefs optimal",
        "designs",
        "__init__",
    ),
    "catalog": in_order(
        "clocks edits entries schema",
        "series time_steps",
        "shown",
        "catalog columns",
        "analysts by_month sources unit_names",
        "series_entries toml",
        "declaration",
        "arguments resolve",
        "__init__",
    ),
    "query": {
        "__init__": set(),
        "tree": set(),
        "walk": set(),
        "parameter_values": set(),
        "placeholders": {"parameter_values"},
        "filled_tree": {"parameter_values"},
        "spans": set(),
        "dialect_kinds": set(),
        "dialect_meanings": {"dialect_kinds", "spans"},
        "privacy_clause": {"spans"},
        "parse": {
            "dialect_kinds",
            "dialect_meanings",
            "filled_tree",
            "placeholders",
            "privacy_clause",
            "spans",
            "syntax_fixes",
        },
        "syntax_fixes": set(),
        "noise_reasons": set(),
        "questions": {"tree"},
        "stored_names": {"questions", "tree"},
        "undeclared_values": {"questions", "tree"},
        "identity": {"questions", "stored_names", "tree", "walk"},
        "expressions": {"parse", "tree"},
        "check": {"expressions", "identity", "parse", "questions", "tree"},
        "plan": {"expressions", "identity", "noise_reasons", "questions", "tree", "walk"},
        "remedies": {"expressions", "parse"},
        "moments": set(),
        "snapping": {"moments", "parse"},
    },
    "query.expressions": in_order(
        "__init__ intervals regular rejections",
        "facts regular_check regular_text",
        "number_functions",
        "time_functions",
        "cuts functions literals",
        "coercion narrowing",
        "casts disjoint dispatch renumbered",
        "formats patterns spans",
        "lists texts times",
        "translate",
    ),
    "query.check": in_order(
        "key_space table_names",
        "relations",
        "from_items sizes split_rows path_values paths scans selections",
        "aggregate_rejections tuple_texts",
        "aggregates fan_outs first_rows given_names intervals named_windows",
        "public_bounds registered row_keys unit_keys",
        "joins key_conditions",
        "column_domains unmatched_rows",
        "keys margins row_numbers shown_groups",
        "post_select",
        "constant_tables filtered_rows group_counts outer_columns set_operations",
        "declared_lists",
        "unit_values written_aggregates",
        "row_scope",
        "bracketed_rows inner_nodes tied_query unit_groups",
        "from_clause tied_values",
        "correlated",
        "lateral named_tables path_groups",
        "released_tables",
        "grouping_sets",
        "private_select",
        "private_sets",
        "checker",
        "__init__",
    ),
    "query.plan": in_order(
        "bounded_rows months quantization sensitivity",
        "components",
        "histograms pairs",
        "families",
        "group_limits measurements",
        "strategy",
        "plan",
        "accuracy identity noise_choice ticks",
        "pricing series",
        "__init__",
    ),
    "server": in_order(
        "__init__ connections data_places oidc_settings records",
        "settings shelf",
        "faults sites",
        "admission callers oidc_provider reading",
        "audit bodies oidc page schema ticking",
        "running_queries",
        "asking data_drafts remedies signing",
        "data_sets",
        "analyst_routes dataset_routes learn metrics oidc_routes owner_routes request_routes"
        " running_routes sample_routes series_routes shelf_routes spending_routes",
        "app pgwire",
        "run",
    ),
    "server.pgwire": in_order(
        "__init__ frames hollow_launch lexer",
        "hollow sqlstates scram values",
        "cursors hollow_link variables",
        "routing sign_in",
        "results rounded_times",
        "desk",
        "statements",
        "connection",
        "listener",
    ),
    "server.learn": in_order(
        "__init__ limits",
        "attacks choices composition crowds noise streams",
        "course",
        "routes",
    ),
    "agents": in_order(
        "__init__ arguments contents desk words",
        "ceiling failures",
        "tools",
        "agent_server caller_desk remote_desk",
        "over_http over_stdio",
    ),
    "client": in_order(
        "calls",
        "credentials series",
        "oidc",
        "remote",
        "awaited",
        "__init__",
    ),
    "bounds": in_order(
        "histogram",
        "__init__",
    ),
    "coverage": in_order(
        "questions limits",
        "shares",
        "measurements",
        "lookup",
        "__init__",
    ),
    "answer": in_order(
        "columns",
        "rendering",
        "charts",
        "series_table",
        "answer",
        "intervals resampling",
        "__init__ present wire",
    ),
    "series": in_order(
        "mechanism_records sentences",
        "definition",
        "explaining reading",
        "series",
        "__init__",
    ),
    "explanation": in_order(
        "explanation one_unit series",
        "sentences",
        "months",
        "coverage noise_sentences",
        "__init__ hints thresholds",
        "notes",
        "from_plan",
    ),
    "engines": in_order(
        "growth heavy",
        "base dialect rehearsed released spark_sources synthetic",
        "regular writer",
        "half_heavy",
        "rehearsal",
        "duckdb postgresql",
        "key_tables spark",
        "public_store",
        "generated",
        "__init__",
    ),
    "engines.writer": in_order(
        "sums units",
        "heavy",
        "expressions",
        "choices constants",
        "rows",
        "bounded",
        "__init__",
    ),
    "engines.duckdb": in_order(
        "conditions file_lists frames rewrites store",
        "csv_files numbers",
        "dialect loading",
        "added_files copied held loaded",
        "prepared",
        "growing heavy",
        "growing_copies",
        "__init__ copies",
    ),
    "engines.postgresql": in_order(
        "conditions sessions",
        "numbers",
        "casts",
        "dialect",
        "tables",
        "fingerprints forms heavy",
        "prepared",
        "growing",
        "__init__",
    ),
    "engines.spark": in_order(
        "bits conditions sessions",
        "addresses arrow_types files numbers times",
        "delta dialect",
        "forms tables",
        "growing heavy",
        "prepared",
        "__init__",
    ),
    "ledger": in_order(
        "analysts charges digests requests tick_entries",
        "blocks limits versions",
        "base",
        "incidents inputs policy",
        "state",
        "sqlite_rows storage",
        "accounts forks postgres_rows ticks view",
        "stored",
        "postgres sqlite",
        "__init__ backup",
    ),
    "opening": in_order(
        "bounding_key registry",
        "contents",
        "sources",
        "stores",
        "versions",
        "open",
        "synthetic unplugged",
        "__init__ private_draft",
    ),
    "dbapi": in_order("exceptions type_objects", "connection", "__init__"),
    "magics": in_order("choice options", "completion", "__init__"),
    "attacks": in_order(
        "people",
        "synthesizer targets",
        "defences",
        "trials",
        "averaging floating_point membership reconstruction",
        "differencing side_channels",
        "registry",
        "__init__",
    ),
    "audit": in_order(
        "subjects",
        "claims coverage_claims features local_claims question_experiments stream_claims",
        "binning broken_mechanisms question_curators question_statistics",
        "event_search question_sequences",
        "auditor broken_questions",
        "__init__ trial",
    ),
    "cli": in_order(
        "console help ledger_entries options shell_input",
        "app remote",
        "__init__ analyst_signatures audit init ledger local server_signatures signatures"
        " series_signatures study_signatures tour",
        "analyst ask attack design login mcp serve",
        "coverage series shell",
    ),
}
"""Inside of a package too: each file or package in it, and which others of it that may import."""

EXPRESSIONS_SEEN = {
    *("casts", "coercion", "cuts", "disjoint", "facts", "functions", "intervals", "literals"),
    *("narrowing", "number_functions", "regular", "regular_check", "regular_text", "rejections"),
    *("time_functions", "translate"),
}
"""Of `query.expressions` others see all but `dispatch`, which knows no rules by itself, and the
files whose rules it is told of."""

ENGINES_SEEN = {
    *(
        "base",
        "dialect",
        "growth",
        "heavy",
        "regular",
        "rehearsal",
        "rehearsed",
        "spark_sources",
        "writer",
    ),
}
"""What engines share. They do not see each other."""

SEEN_OF: dict[tuple[str, str], set[str]] = {
    ("engines", "query"): {"expressions", "tree"},
    ("engines", "query.expressions"): EXPRESSIONS_SEEN,
    ("query.check", "query.expressions"): EXPRESSIONS_SEEN,
    ("query.plan", "query.expressions"): EXPRESSIONS_SEEN,
    ("engines.duckdb", "engines"): ENGINES_SEEN,
    ("engines.postgresql", "engines"): ENGINES_SEEN,
    ("engines.spark", "engines"): ENGINES_SEEN,
}
"""Of another package, or of one's own, a package may see these parts only."""

EXCEPTIONS = {
    ("engines.duckdb.rewrites", "query.plan.components"),
    ("engines.duckdb.rewrites", "query.plan.quantization"),
    ("engines.key_tables", "query.check.key_space"),
    ("engines.public_store", "query.check.key_space"),
    ("engines.public_store", "query.check.post_select"),
    ("engines.public_store", "query.questions"),
    ("engines.spark", "engines.duckdb.loading"),
    ("engines.spark.growing", "engines.duckdb.loading"),
    ("engines.spark.prepared", "engines.duckdb.copied"),
    ("engines.spark.prepared", "engines.duckdb.copies"),
    ("engines.spark.tables", "engines.duckdb"),
    ("engines.spark.tables", "engines.duckdb.csv_files"),
    ("engines.spark.tables", "engines.duckdb.file_lists"),
    ("engines.spark.tables", "engines.duckdb.loading"),
    ("engines.synthetic", "query.check.intervals"),
    ("engines.synthetic", "query.check.relations"),
    ("engines.synthetic", "query.questions"),
}
"""Who sees more, and what: stored columns that the plan would compute, SQL after the noise,
conditions on keys, files and frames that DuckDB reads for Spark, and released tables that are made
up from a question."""

MOST_LINES = 450

LOADS_BY_NAME = {
    "",
    *("cli.app", "deprecated", "extras", "local.mechanism", "local.server", "on_use"),
    "server.learn.attacks",
}
"""Who may load a module by its name: names on first use, commands, extras, old names."""

OPTIONAL = {"deltalake", "matplotlib", "pandas", "polars", "psycopg", "pyspark"}
"""Packages of extras. `extras` alone loads them; others name their types only."""

OPENS_EXACT_TABLES = {"release", "tables"}
"""Who may unseal an exact table: its own class, and the place where noise is added."""

STANDARD_FREE = {"random", "secrets"}
"""Standard modules that nobody may use: noise comes from noise.source."""

VAGUE = {"utils", "helpers", "common", "misc", "core", "manager"}


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {
    module_name(path): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(SOURCE.rglob("*.py"))
}


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "discreet":
            yield from {f"discreet.{alias.name}" for alias in node.names} & MODULES.keys()
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def part_of(module: str) -> str:
    return [*module.split("."), ""][1]


def short(module: str) -> str:
    """Return a module's name without that of the whole package."""
    return module.removeprefix("discreet").removeprefix(".")


def is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.") or not package


def child_of(package: str, module: str) -> str | None:
    """Return the file or package in a package that a module is, or is in; None for others."""
    if module == package:
        return "__init__"
    rest = module.removeprefix(f"{package}.")
    return rest.partition(".")[0] if is_within(module, package) else None


def modules_imported(tree: ast.AST) -> Iterator[str]:
    """Yield our modules that are imported, also where a package is asked for one by its name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            files = {f"{node.module}.{each.name}" for each in node.names} & MODULES.keys()
            yield from files or {node.module}
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


OURS = [
    (short(name), short(each))
    for name, tree in MODULES.items()
    for each in modules_imported(tree)
    if each.startswith("discreet.")
]
"""Who imports what of ours."""


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_downwards(name: str) -> None:
    part = part_of(name)
    ours = {part_of(each) for each in imported(MODULES[name]) if each.startswith("discreet.")}
    assert ours - {part} - GROUND <= MAY_IMPORT[part]


@pytest.mark.parametrize("name", MODULES)
def test_third_parties_stay_at_home(name: str) -> None:
    for each in imported(MODULES[name]):
        top = each.split(".")[0]
        assert top not in STANDARD_FREE
        assert not each.startswith("numpy.random")
        assert any(is_within(short(name), home) for home in HOMES.get(top, {part_of(name)}))


def test_no_two_modules_import_each_other() -> None:
    graph = {
        name: {each for each in modules_imported(tree) if each in MODULES and each != name}
        for name, tree in MODULES.items()
    }
    list(TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("package", INSIDE)
def test_every_file_of_an_ordered_package_has_its_place(package: str) -> None:
    found = {child_of(package, short(name)) for name in MODULES} - {None}
    assert found == set(INSIDE[package])


def test_imports_inside_of_a_package_follow_its_order() -> None:
    against = {
        (name, each)
        for package, order in INSIDE.items()
        for name, each in OURS
        if (here := child_of(package, name)) is not None
        and child_of(package, each) not in (None, here, *order[here])
    }
    narrow = {
        (name, each)
        for (package, other), seen in SEEN_OF.items()
        for name, each in OURS
        if is_within(name, package)
        and not is_within(each, package)
        and child_of(other, each) not in (None, *seen)
    }
    assert against | narrow == EXCEPTIONS


def test_no_file_is_too_long() -> None:
    lines = {
        short(module_name(path)): len(path.read_text(encoding="utf-8").splitlines())
        for path in SOURCE.rglob("*.py")
    }
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


def public_classes() -> Iterator[tuple[str, ast.ClassDef]]:
    for name, tree in MODULES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield name, node


def test_no_two_public_classes_have_one_name() -> None:
    counts = Counter(node.name for _, node in public_classes())
    assert {name: count for name, count in counts.items() if count > 1} == {}


def test_reasons_are_no_sentences_before_they_are_explained() -> None:
    found = {
        f"{node.name}.{each.target.id}"
        for name, node in public_classes()
        if part_of(name) != "explanation"
        for each in node.body
        if isinstance(each, ast.AnnAssign)
        and isinstance(each.target, ast.Name)
        and each.target.id.endswith("_reason")
        and "str" in ast.unparse(each.annotation).split(" | ")
    }
    assert found == set()


def test_exact_tables_are_opened_where_noise_is_added_and_nowhere_else() -> None:
    found = {
        short(name)
        for name, tree in MODULES.items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr == "unseal")
        or (isinstance(node, ast.FunctionDef) and node.name == "unseal")
    }
    assert found == OPENS_EXACT_TABLES


def test_nothing_is_imported_inside_a_function() -> None:
    hidden = [
        (name, each)
        for name, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for each in imported(node)
    ]
    assert hidden == []


def test_modules_are_loaded_by_name_in_few_places() -> None:
    found = {
        short(name)
        for name, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == "import_module"
    }
    assert found == LOADS_BY_NAME


@pytest.mark.parametrize("name", MODULES)
def test_optional_packages_are_imported_for_their_types_only(name: str) -> None:
    """Only `if TYPE_CHECKING` imports them; `extras` loads them by name when they are needed."""
    typing = {
        id(node)
        for block in ast.walk(MODULES[name])
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    others = {
        each.split(".")[0]
        for node in ast.walk(MODULES[name])
        if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in typing
        for each in imported(node)
    }
    assert not others & OPTIONAL


def test_files_are_named_for_what_they_hold() -> None:
    assert not VAGUE & {path.stem for path in SOURCE.rglob("*.py")}


PRIVATE_PACKAGES = {"discreet.plots"}
"""Packages whose `__all__` is for the other packages."""


def public_names() -> dict[str, list[str]]:
    names = {}
    for info in pkgutil.iter_modules(discreet.__path__, "discreet."):
        module = importlib.import_module(info.name)
        if hasattr(module, "__all__") and info.name not in PRIVATE_PACKAGES:
            names[info.name] = list(module.__all__)
    return names


def test_public_names_are_those_that_were_decided_on() -> None:
    """A name that comes or goes is a promise made or broken: change the list on purpose."""
    listed = (ROOT / "tests/golden/public_names.txt").read_text(encoding="utf-8")
    found = "".join(
        f"{module}.{name}\n" for module, names in public_names().items() for name in names
    )
    assert found == listed


def test_every_public_name_exists_in_order_and_says_what_it_is() -> None:
    for module_name, names in public_names().items():
        module = importlib.import_module(module_name)
        assert len(set(names)) == len(names)
        for name in names:
            thing = getattr(module, name)
            assert not callable(thing) or (thing.__doc__ or "").strip(), f"{module_name}.{name}"

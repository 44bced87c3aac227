"""A small catalog, of which plans are made without any data."""

import pyarrow as pa

from discreet.catalog import catalog_from
from discreet.engines.public_store import PublicStore

CATALOG = catalog_from(
    {
        "budget": {"epsilon": 10, "delta": 1e-6},
        "tables": {
            "visits": {
                "unit": "who",
                "columns": {
                    "who": {"type": "integer"},
                    "age": {"type": "integer", "bounds": [0, 120]},
                    "cost": {"type": "real", "bounds": [0, 500]},
                    "region": {"type": "text", "values": ["n", "s"]},
                    "note": {"type": "text"},
                },
            },
            "people": {
                "unit": "who",
                "rows_per_unit": 1,
                "columns": {"who": {"type": "integer"}, "sex": {"type": "text"}},
            },
            "places": {
                "public": True,
                "columns": {"region": {"type": "text"}, "name": {"type": "text"}},
            },
        },
    }
)


STORE = PublicStore({"places": pa.table({"region": ["n", "s"], "name": ["North", "South"]})})

"""Tables of this machine with the types that Spark has."""

from collections.abc import Mapping

import pyarrow as pa

from discreet.engines.spark.sessions import failures, pyspark_module
from discreet.errors import SourceError

SIGNED: Mapping[pa.DataType, pa.DataType] = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}
"""As what Spark reads unsigned integers, which it lacks, from Parquet files."""


def with_spark_types(name: str, table: pa.Table) -> pa.Table:
    """Return the same values, unsigned integers as signed ones that have room for all of them."""
    fields = [each.with_type(SIGNED.get(each.type, each.type)) for each in table.schema]
    for each in fields:
        _refuse_unknown(name, each.name, each.type)
    return table.cast(pa.schema(fields))


def _refuse_unknown(name: str, column: str, kind: pa.DataType) -> None:
    try:
        pyspark_module().sql.pandas.types.from_arrow_type(kind)
    except failures():
        raise SourceError(
            f"The column {column!r} of the table {name} has the type {kind}, which Spark lacks",
            "Leave the column out, or store it as numbers or text",
        ) from None

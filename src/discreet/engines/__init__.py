"""Engines store the tables and run exact queries, each in its own dialect of SQL.

What only some catalogs need is loaded when it is used: `engines.spark.SparkEngine`.
"""

from typing import TYPE_CHECKING

from discreet.on_use import names_of

if TYPE_CHECKING:
    from discreet.engines import generated as generated
    from discreet.engines import postgresql as postgresql
    from discreet.engines import spark as spark
else:
    __getattr__ = names_of(__name__, {"generated": "", "postgresql": "", "spark": ""})

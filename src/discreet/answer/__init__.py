"""What people see: a table with its margins of error, what it cost and what remains."""

from discreet.amounts import Balance, Price
from discreet.answer.answer import Answer
from discreet.answer.columns import ResultColumn, Role
from discreet.deprecated import deprecated_modules

__all__ = ["Answer", "Balance", "Price", "ResultColumn", "Role"]

deprecated_modules({"discreet.answer.exports": {"*": "discreet.answer.columns"}})

"""What people see: a table with its error bars, what it cost and what is left."""

from discreet.amounts import Balance, Price
from discreet.answer.answer import Answer
from discreet.answer.columns import Role

__all__ = ["Answer", "Balance", "Price", "Role"]

"""Modules that are loaded when they are used: help and version need no engine."""

from importlib import import_module


class Later:
    """Stands for a module until something of it is needed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> object:
        return getattr(import_module(self._name), name)

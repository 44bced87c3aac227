"""Errors at the same epsilon: the same questions on the same rows, against four other libraries.

`questions` and `child` are all that peers share with us; they need the standard library only.
`data` makes the rows, `ours` asks Discreet, `systems` names everybody and their terms, `trials`
holds what came back, `judging` decides who is better, `tables` shows it, `run` does all of it.
"""

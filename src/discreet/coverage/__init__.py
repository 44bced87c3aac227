"""Coverage: the share of rows that a contribution limit counts, and of values that bounds change.

It is measured privately, once for a table, by questions like any other: planned, charged to who
asks, released, kept and then free for everybody. Every answer reads it if it is there.
"""

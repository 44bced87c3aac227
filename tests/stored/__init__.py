"""What is stored for ever, held against files that an earlier version wrote.

Names of releases in ledgers, events, local reports, prepared forms and SQL outlive the code that
wrote them: a class, a field or a file may be renamed, what stands in these files may not change.
"""

"""The accountants: known answers, enumeration, properties, and a reference library."""

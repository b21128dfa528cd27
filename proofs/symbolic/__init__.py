"""Derivations of the closed forms, in exact symbolic arithmetic.

Each module is one claim. The closed forms are evaluated on symbols as they stand in the library; derivations (`derive`)
end in identities that SymPy expands to zero.
"""

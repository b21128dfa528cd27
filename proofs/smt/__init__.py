"""Claims for classes of all sizes, decided by SMT solvers.

Each module is one claim. Its questions are SMT-LIB scripts (`terms`) in which the closed forms stand as the library
computes them; Z3 decides them and cvc5 gives a second opinion (`solving`).
"""

"""Closed forms derived from nothing: for a quantity, a level of knowledge, and a few kinds of records."""

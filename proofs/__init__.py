"""Evidence for the claims that `bounds` rests on."""

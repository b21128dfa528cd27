(* C1: which numbers of retained-correct pairs a class can have.

   feasible_correct_correct    k is attained iff A + B - n <= k <= min(A, B): both ends, and every integer between *)

From mathcomp Require Import all_ssreflect fingroup perm.
From Pairbounds Require Import arithmetic correspondence block.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Theorem feasible_correct_correct (T : finType) (L : eqType) (e : class T L) (k : nat) :
  (exists s : {perm T}, #|cc e s| = k) <-> #|A e| + #|B e| - #|T| <= k <= minn #|A e| #|B e|.
Proof.
have all (s : {perm T}) : #|pairs s (A e :|: W e) (B e :|: W' e)| = #|T|.
  by apply: eq_card => x; rewrite !inE !orbN.
have [|| |one two] := @block T (A e) (W e) (B e) (W' e) #|T| k; rewrite ?disjoints_subset ?setCK //.
- by have := card_AW e; have := card_BW' e; count_lia.
have ends : (#|T| - (#|W e| + #|W' e|) <= k <= minn (minn #|A e| #|B e|) #|T|) =
            (#|A e| + #|B e| - #|T| <= k <= minn #|A e| #|B e|).
  by have := card_AW e; have := card_BW' e; move=> BW AW; apply/idP/idP; count_lia.
by split=> [[s sk]|]; rewrite -ends; [apply: one; exists s | move/two => [s [_ sk]]; exists s].
Qed.

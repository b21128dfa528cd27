(* C8: given k, the linear relaxation of any quantity of the retained-correct pairs has its ends at correspondences.

   f x y                       what the pair (x, y) adds if it is retained correct; any numbers
   cc_value e X f              what a point X of the relaxation adds up to: the sum of X x y * f x y over correct x, y
   stochastic 1 X, mass        as in four_block_integrality.v

   cc_programs_are_integral    given k: for every point of the relaxation some correspondence with k retained-correct
                               pairs has at least its value, and some has at most its value *)

From mathcomp Require Import all_ssreflect ssralg ssrnum fingroup perm.
From Pairbounds Require Import correspondence birkhoff four_block_integrality.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Programs.

Variables (R : realFieldType) (T : finType) (L : eqType) (e : class T L).

Definition cc_value (X f : T -> T -> R) : R := \sum_(x in A e) \sum_(y in B e) X x y * f x y.

Theorem cc_programs_are_integral (X f : T -> T -> R) (k : nat)
    (X_is_stochastic : stochastic 1 X)
    (k_is_known : mass X (A e) (B e) = k%:R) :
  (exists s : {perm T}, #|cc e s| = k /\ cc_value X f <= \sum_(x in cc e s) f x (s x)) /\
  (exists s : {perm T}, #|cc e s| = k /\ \sum_(x in cc e s) f x (s x) <= cc_value X f).
Proof.
pose g x y : R := if (x \in A e) && (y \in B e) then f x y else 0.
have X_value : cost X g = cc_value X f.
  rewrite /cost /cc_value (bigID (mem (A e))) /= [X in _ + X]big1 ?addr0 => [|x /negPf xA]; last first.
    by apply: big1 => y _; rewrite /g xA mulr0.
  apply: eq_bigr => x xA; rewrite (bigID (mem (B e))) /= [X in _ + X]big1 ?addr0 => [|y /negPf yB]; last first.
    by rewrite /g xA yB mulr0.
  by apply: eq_bigr => y yB; rewrite /g xA yB.
have s_value s : cost_of s g = \sum_(x in cc e s) f x (s x).
  by rewrite /cost_of [RHS]big_mkcond; apply: eq_bigr => x _; rewrite in_pairs /g.
have [|[s [sk s_cost]] [s' [sk' s'_cost]]] :=
    @four_block_integrality R T L e X g (fun=> 0) (fun=> 0) k X_is_stochastic k_is_known.
  by do 3!right; move=> x y; rewrite inE /g => /negPf->; rewrite addr0.
by split; [exists s | exists s']; rewrite -s_value -X_value.
Qed.

End Programs.

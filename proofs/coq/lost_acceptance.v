(* C3: how much acceptance is lost, and gained, among k retained-correct pairs.

   lost_acceptance     given k, v is attained iff k - (A0 + B1) <= v <= min(A1, B0, k)
   gained_acceptance   given k, v is attained iff k - (A1 + B0) <= v <= min(A0, B1, k)

   Both ends, and every integer between. Instances of the block lemma. *)

From mathcomp Require Import all_ssreflect fingroup perm.
From Pairbounds Require Import arithmetic correspondence block.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section LostAcceptance.

Variables (T : finType) (L : eqType) (e : class T L) (k v : nat).

Let A1A0 : A1 e :|: A0 e = A e.
Proof. by apply/setP=> x; rewrite !inE -andb_orr orbN andbT. Qed.

Let B1B0 : B1 e :|: B0 e = B e.
Proof. by apply/setP=> x; rewrite !inE -andb_orr orbN andbT. Qed.

Let disA : [disjoint A1 e & A0 e].
Proof. by rewrite disjoints_subset; apply/subsetP=> x; rewrite !inE => /andP[-> ->]. Qed.

Let disB : [disjoint B1 e & B0 e].
Proof. by rewrite disjoints_subset; apply/subsetP=> x; rewrite !inE => /andP[-> ->]. Qed.

Theorem lost_acceptance :
    feasible_k e k ->
  (exists s : {perm T}, #|cc e s| = k /\ #|lost e s| = v) <->
  k - (#|A0 e| + #|B1 e|) <= v <= minn (minn #|A1 e| #|B0 e|) k.
Proof.
move=> k_feasible; rewrite /cc /lost -{1}A1A0 -{1}B1B0 [B1 e :|: _]setUC.
apply: block => //; first by rewrite disjoint_sym.
by rewrite card_A1A0 [#|B0 e| + _]addnC card_B1B0.
Qed.

Theorem gained_acceptance :
    feasible_k e k ->
  (exists s : {perm T}, #|cc e s| = k /\ #|gained e s| = v) <->
  k - (#|A1 e| + #|B0 e|) <= v <= minn (minn #|A0 e| #|B1 e|) k.
Proof.
move=> k_feasible; rewrite /cc /gained -{1}A1A0 -{1}B1B0 [A1 e :|: _]setUC.
apply: block => //; first by rewrite disjoint_sym.
by rewrite [#|A0 e| + _]addnC card_A1A0 card_B1B0.
Qed.

End LostAcceptance.

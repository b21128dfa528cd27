(* C13: accepted-error transitions, given only k, the number of retained-correct pairs.

   m = wrong_pairs e k is the number of pairs wrong on both sides, and #|A e| - k the number of lost pairs.

   Each of these says: v is attained iff it lies between the two ends, so both ends are attained, and every integer
   between. Instances of the block lemma.
   kept_accepted_errors                m - (W0 + W0') <= v <= min(E, E', m)
   new_accepted_errors                 v = E' - kept (card_kept_new), so E' less the ends of kept
   resolved_accepted_errors            v = E - kept (card_kept_resolved), so E less the ends of kept
   rejected_wrong_to_accepted_error    m - (E + W0') <= v <= min(W0, E', m)
   correct_to_accepted_error           (A - k) - W0' <= v <= min(A - k, E')
   accepted_correct_to_accepted_error  (A - k) - (A0 + W0') <= v <= min(A1, E', A - k) *)

From mathcomp Require Import all_ssreflect fingroup perm.
From Pairbounds Require Import arithmetic correspondence block.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section TransitionCounts.

Variables (T : finType) (L : eqType) (e : class T L) (k : nat).

Let EW0 : E e :|: W0 e = W e.
Proof. by apply/setP=> x; rewrite !inE -andb_orr orbN andbT. Qed.

Let EW0' : E' e :|: W0' e = W' e.
Proof. by apply/setP=> x; rewrite !inE -andb_orr orbN andbT. Qed.

Let A1A0 : A1 e :|: A0 e = A e.
Proof. by apply/setP=> x; rewrite !inE -andb_orr orbN andbT. Qed.

Let disA : [disjoint A1 e & A0 e].
Proof. by rewrite disjoints_subset; apply/subsetP=> x; rewrite !inE => /andP[-> ->]. Qed.

Let disW : [disjoint E e & W0 e].
Proof. by rewrite disjoints_subset; apply/subsetP=> x; rewrite !inE => /andP[-> ->]. Qed.

Let disW' : [disjoint E' e & W0' e].
Proof. by rewrite disjoints_subset; apply/subsetP=> x; rewrite !inE => /andP[-> ->]. Qed.

Let given_k (P : {perm T} -> Prop) : feasible_k e k ->
  (exists s, #|cc e s| = k /\ P s) <-> (exists s, #|ww e s| = wrong_pairs e k /\ P s).
Proof.
rewrite /feasible_k => k_feasible; split=> -[s [sk sP]]; exists s; split=> //; first by rewrite card_ww sk.
by have := card_ww_cc e s; rewrite sk /wrong_pairs; count_lia.
Qed.

Let given_k_lost (P : {perm T} -> Prop) : feasible_k e k ->
  (exists s, #|cc e s| = k /\ P s) <-> (exists s, #|cw e s| = #|A e| - k /\ P s).
Proof.
rewrite /feasible_k => k_feasible; split=> -[s [sk sP]]; exists s; split=> //; have := card_cc_cw e s; count_lia.
Qed.

Let m_possible : feasible_k e k -> #|W e| + #|W' e| - #|T| <= wrong_pairs e k <= minn #|W e| #|W' e|.
Proof. by rewrite /feasible_k /wrong_pairs; have := card_AW e; have := card_BW' e; count_lia. Qed.

Let lost_possible : feasible_k e k -> #|A e| + #|W' e| - #|T| <= #|A e| - k <= minn #|A e| #|W' e|.
Proof. by rewrite /feasible_k; have := card_BW' e; count_lia. Qed.

Theorem kept_accepted_errors (v : nat) :
    feasible_k e k ->
  (exists s : {perm T}, #|cc e s| = k /\ #|kept_ae e s| = v) <->
  wrong_pairs e k - (#|W0 e| + #|W0' e|) <= v <= minn (minn #|E e| #|E' e|) (wrong_pairs e k).
Proof.
move=> k_feasible; rewrite given_k // /ww /kept_ae -{1}EW0 -{1}EW0'.
by apply: block => //; rewrite card_EW0 card_EW0'; apply: m_possible.
Qed.

Theorem rejected_wrong_to_accepted_error (v : nat) :
    feasible_k e k ->
  (exists s : {perm T}, #|cc e s| = k /\ #|rejected_wrong_to_ae e s| = v) <->
  wrong_pairs e k - (#|E e| + #|W0' e|) <= v <= minn (minn #|W0 e| #|E' e|) (wrong_pairs e k).
Proof.
move=> k_feasible; rewrite given_k // /ww /rejected_wrong_to_ae -{1}EW0 -{1}EW0' [E e :|: _]setUC.
apply: block => //; first by rewrite disjoint_sym.
by rewrite [#|W0 e| + _]addnC card_EW0 card_EW0'; apply: m_possible.
Qed.

Theorem accepted_correct_to_accepted_error (v : nat) :
    feasible_k e k ->
  (exists s : {perm T}, #|cc e s| = k /\ #|accepted_correct_to_ae e s| = v) <->
  (#|A e| - k) - (#|A0 e| + #|W0' e|) <= v <= minn (minn #|A1 e| #|E' e|) (#|A e| - k).
Proof.
move=> k_feasible; rewrite given_k_lost // /cw /accepted_correct_to_ae -{1}A1A0 -{1}EW0'.
by apply: block => //; rewrite card_A1A0 card_EW0'; apply: lost_possible.
Qed.

Theorem correct_to_accepted_error (v : nat) :
    feasible_k e k ->
  (exists s : {perm T}, #|cc e s| = k /\ #|correct_to_ae e s| = v) <->
  (#|A e| - k) - #|W0' e| <= v <= minn (#|A e| - k) #|E' e|.
Proof.
move=> k_feasible; rewrite given_k_lost // /cw /correct_to_ae.
have -> : (#|A e| - k - #|W0' e| <= v <= minn (#|A e| - k) #|E' e|) =
          (#|A e| - k - (#|@set0 T| + #|W0' e|) <= v <= minn (minn #|A e| #|E' e|) (#|A e| - k)).
  by rewrite cards0 add0n; apply/idP/idP; count_lia.
rewrite -{1}(setU0 (A e)) -{1}EW0'; apply: block => //.
  by rewrite disjoints_subset; apply/subsetP=> x; rewrite !inE.
by rewrite cards0 addn0 card_EW0'; apply: lost_possible.
Qed.

Theorem new_accepted_errors (v : nat) :
    feasible_k e k ->
  (exists s : {perm T}, #|cc e s| = k /\ #|new_ae e s| = v) <->
  #|E' e| - minn (minn #|E e| #|E' e|) (wrong_pairs e k) <= v
    <= #|E' e| - (wrong_pairs e k - (#|W0 e| + #|W0' e|)).
Proof.
move=> k_feasible; have kept := kept_accepted_errors (#|E' e| - v) k_feasible.
have := m_possible k_feasible; rewrite -card_EW0 -card_EW0' => m_le.
split=> [[s [sk sv]]|v_in].
  have kept_s := card_kept_new e s.
  have /(proj1 kept) : exists s, #|cc e s| = k /\ #|kept_ae e s| = #|E' e| - v by exists s; split=> //; count_lia.
  by count_lia.
have [|s [sk sv]] := proj2 kept; first by count_lia.
by exists s; split=> //; have := card_kept_new e s; count_lia.
Qed.

Theorem resolved_accepted_errors (v : nat) :
    feasible_k e k ->
  (exists s : {perm T}, #|cc e s| = k /\ #|resolved_ae e s| = v) <->
  #|E e| - minn (minn #|E e| #|E' e|) (wrong_pairs e k) <= v
    <= #|E e| - (wrong_pairs e k - (#|W0 e| + #|W0' e|)).
Proof.
move=> k_feasible; have kept := kept_accepted_errors (#|E e| - v) k_feasible.
have := m_possible k_feasible; rewrite -card_EW0 -card_EW0' => m_le.
split=> [[s [sk sv]]|v_in].
  have kept_s := card_kept_resolved e s.
  have /(proj1 kept) : exists s, #|cc e s| = k /\ #|kept_ae e s| = #|E e| - v by exists s; split=> //; count_lia.
  by count_lia.
have [|s [sk sv]] := proj2 kept; first by count_lia.
by exists s; split=> //; have := card_kept_resolved e s; count_lia.
Qed.

End TransitionCounts.

(* The block lemma of C13: t pairs chosen between marked and other rows and marked and other columns.

   A row is a clean record, a column a perturbed one.
   R1, R0              marked and other rows, C1, C0 marked and other columns; the remaining records are in none
   t                   the number of pairs between R1 or R0 and C1 or C0, possible for some correspondence
   v                   the number of pairs between R1 and C1

   block               v is attained iff t - (r0 + c0) <= v <= min(r1, c1, t): both ends, and every integer between *)

From mathcomp Require Import all_ssreflect fingroup perm.
From Pairbounds Require Import arithmetic correspondence contingency.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* Three colours: 0 marked, 1 other, 2 neither. *)
Definition colour (T : finType) (X1 X0 : {set T}) (x : T) : 'I_3 :=
  if x \in X1 then @Ordinal 3 0 isT else if x \in X0 then @Ordinal 3 1 isT else @Ordinal 3 2 isT.

Lemma colour1 (T : finType) (X1 X0 : {set T}) x : (colour X1 X0 x == @Ordinal 3 0 isT) = (x \in X1).
Proof. by rewrite /colour; case: (x \in X1); case: (x \in X0). Qed.

Lemma colour0 (T : finType) (X1 X0 : {set T}) x : [disjoint X1 & X0] ->
  (colour X1 X0 x == @Ordinal 3 1 isT) = (x \in X0).
Proof.
move=> dis; rewrite /colour; case: (boolP (x \in X1)) => [xX1|_]; last by case: (x \in X0).
by rewrite (disjointFr dis xX1).
Qed.

Lemma card_colour (T : finType) (X1 X0 : {set T}) (i : 'I_3) : [disjoint X1 & X0] ->
  #|[set x | colour X1 X0 x == i]| = nth 0 [:: #|X1|; #|X0|; #|T| - (#|X1| + #|X0|)] i.
Proof.
move=> dis; case: i => [[|[|[|//]]]] lt_i /=.
- by apply: eq_card => x; rewrite inE; apply: (colour1 X1 X0 x).
- by apply: eq_card => x; rewrite inE; apply: (colour0 x dis).
- have <- : #|X1 :|: X0| = #|X1| + #|X0| by apply/eqP; rewrite (leq_card_setU X1 X0).2.
  rewrite -{1}(setCK (X1 :|: X0)) -cardsCs; apply: eq_card => x; rewrite !inE /colour.
  by case: (x \in X1); case: (x \in X0).
Qed.

(* A two by two table of t pairs with v in its first cell, its rows at most r1 and r0, its columns at most c1 and c0. *)
Lemma fill_table (r1 r0 c1 c0 n t v : nat) :
    (r1 + r0) + (c1 + c0) - n <= t <= minn (r1 + r0) (c1 + c0) ->
    t - (r0 + c0) <= v <= minn (minn r1 c1) t ->
  exists v10 v01 v00,
    [/\ v + v10 + (v01 + v00) = t, v + v10 <= r1, v01 + v00 <= r0, v + v01 <= c1 & v10 + v00 <= c0].
Proof.
rewrite !leq_min => /andP[_ /andP[t_r t_c]] /andP[v_lo /andP[/andP[v_r v_c] v_t]].
rewrite leq_subLR in v_lo.
case: (leqP t r1) => [t_r1|r1_t].
  case: (leqP (t - v) c0) => u_c0; first by exists (t - v), 0, 0; split; count_lia.
  by exists c0, (t - v - c0), 0; split; count_lia.
case: (leqP c0 (r1 - v)) => u_c0; first by exists c0, (t - v - c0), 0; split; count_lia.
case: (leqP (t - r1) (c1 - v)) => u_c1; first by exists (r1 - v), (t - r1), 0; split; count_lia.
by exists (r1 - v), (c1 - v), (t - r1 - (c1 - v)); split; count_lia.
Qed.

Theorem block (T : finType) (R1 R0 C1 C0 : {set T}) (t v : nat) :
    [disjoint R1 & R0] -> [disjoint C1 & C0] ->
    (#|R1| + #|R0|) + (#|C1| + #|C0|) - #|T| <= t <= minn (#|R1| + #|R0|) (#|C1| + #|C0|) ->
  (exists s : {perm T}, #|pairs s (R1 :|: R0) (C1 :|: C0)| = t /\ #|pairs s R1 C1| = v) <->
  t - (#|R0| + #|C0|) <= v <= minn (minn #|R1| #|C1|) t.
Proof.
move=> disR disC t_possible; split=> [[s [st sv]]|v_in].
  have split_pairs := card_pairs_rowsU s (C1 :|: C0) disR.
  rewrite st !(card_pairs_columnsU _ _ disC) sv in split_pairs.
  have := card_pairs_le s R1 C1; have := card_pairs_le s R1 C0; have := card_pairs_le s R0 (C1 :|: C0).
  rewrite (card_pairs_columnsU _ _ disC) sv.
  by have := card_pairs_le s (R1 :|: R0) (C1 :|: C0); rewrite st; count_lia.
have rT : #|R1| + #|R0| <= #|T|.
  by have <- : #|R1 :|: R0| = #|R1| + #|R0| by [apply/eqP; rewrite (leq_card_setU R1 R0).2]; apply: max_card.
have cT : #|C1| + #|C0| <= #|T|.
  by have <- : #|C1 :|: C0| = #|C1| + #|C0| by [apply/eqP; rewrite (leq_card_setU C1 C0).2]; apply: max_card.
have [v10 [v01 [v00 [sum_t row1 row0 column1 column0]]]] := fill_table t_possible v_in.
pose table := [::
  [:: v; v10; #|R1| - (v + v10)];
  [:: v01; v00; #|R0| - (v01 + v00)];
  [:: #|C1| - (v + v01); #|C0| - (v10 + v00); #|T| + t - (#|R1| + #|R0| + (#|C1| + #|C0|))]].
have [||s sP] := @realisation T _ _ (colour R1 R0) (colour C1 C0) (fun i j => nth 0 (nth [::] table i) j).
- move=> i; rewrite card_colour // !big_ord_recl big_ord0.
  by case: i => [[|[|[|//]]]] lt_i; rewrite /table /=; clear -sum_t row1 row0 column1 column0 rT cT t_possible; count_lia.
- move=> j; rewrite card_colour // !big_ord_recl big_ord0.
  by case: j => [[|[|[|//]]]] lt_j; rewrite /table /=; clear -sum_t row1 row0 column1 column0 rT cT t_possible; count_lia.
exists s; rewrite (card_pairs_rowsU _ _ disR) !(card_pairs_columnsU _ _ disC).
have -> : #|pairs s R1 C1| = v.
  by rewrite -[RHS](sP (@Ordinal 3 0 isT) (@Ordinal 3 0 isT)); apply: eq_card => x; rewrite !inE colour1 // colour1.
have -> : #|pairs s R1 C0| = v10.
  by rewrite -[RHS](sP (@Ordinal 3 0 isT) (@Ordinal 3 1 isT)); apply: eq_card => x; rewrite !inE colour1 // colour0.
have -> : #|pairs s R0 C1| = v01.
  by rewrite -[RHS](sP (@Ordinal 3 1 isT) (@Ordinal 3 0 isT)); apply: eq_card => x; rewrite !inE colour0 // colour1.
have -> : #|pairs s R0 C0| = v00.
  by rewrite -[RHS](sP (@Ordinal 3 1 isT) (@Ordinal 3 1 isT)); apply: eq_card => x; rewrite !inE colour0 // colour0.
by split=> //; count_lia.
Qed.

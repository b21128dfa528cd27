(* C14: given k, the linear relaxation is as good as some correspondence wherever the cost vanishes on one block, up to
   row and column potentials. (C8 is the case of a cost that vanishes on all blocks but CC.)

   stochastic 1 X              a point of the relaxation: X x y >= 0 is how much of the clean record x is paired with the
                               perturbed record y; every record is paired in full (birkhoff.v)
   cost X f                    what the point costs: the sum of X x y * f x y
   cost_of s f                 what the correspondence s costs: the sum of f x (s x)
   mass X Q C                  what X puts on the rows Q and the columns C; given k it is k on A and B

   potentials                  adding u x + v y to the cost of each pair adds the same number to the cost of every point
                               and of every correspondence
   one_block                   Q any rows, C any columns: if f is 0 outside of Q and C, and X puts the whole number t
                               on them, then some correspondence s with t pairs in Q and C costs at least as much as X
   four_block_integrality      given k: if the cost less potentials is 0 on one of the blocks CC, CW, WC, WW, then for
                               every point of the relaxation some correspondence with k retained-correct pairs costs no
                               less, and some costs no more; so the relaxation's ends are attained by correspondences *)

From mathcomp Require Import all_ssreflect ssralg ssrnum fingroup perm.
From Coq Require Import Lia.
From Pairbounds Require Import arithmetic correspondence birkhoff.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section OneBlock.

Variables (R : realFieldType) (T : finType).
Implicit Types (X f : T -> T -> R) (s : {perm T}) (Q C : {set T}).

Definition mass X Q C : R := \sum_(x in Q) \sum_(y in C) X x y.

Lemma potentials X f (u v : T -> R) : stochastic 1 X ->
  cost X (fun x y => f x y + u x + v y) = cost X f + (\sum_x u x + \sum_y v y).
Proof.
case=> _ rows cols; rewrite /cost.
under eq_bigr => x _ do under eq_bigr => y _ do rewrite !mulrDr.
under eq_bigr => x _ do rewrite !big_split /=.
rewrite !big_split /= -addrA; congr (_ + (_ + _)).
  by apply: eq_bigr => x _; rewrite -mulr_suml rows mul1r.
by rewrite exchange_big /=; apply: eq_bigr => y _; rewrite -mulr_suml cols mul1r.
Qed.

Lemma potentials_of s f (u v : T -> R) :
  cost_of s (fun x y => f x y + u x + v y) = cost_of s f + (\sum_x u x + \sum_y v y).
Proof.
rewrite /cost_of !big_split /= -addrA; congr (_ + (_ + _)).
by rewrite [RHS](reindex_inj (@perm_inj _ s)).
Qed.

Lemma mass_rows X Q C : stochastic 1 X -> mass X Q C + mass X Q (~: C) = #|Q|%:R.
Proof.
case=> _ rows _; rewrite /mass -big_split /= -sumr_const; apply: eq_bigr => x _.
rewrite -[RHS](rows x) [RHS](bigID (mem C)) /=; congr (_ + _); apply: eq_bigl => y; by rewrite inE.
Qed.

Lemma mass_columns X Q C : stochastic 1 X -> mass X Q C + mass X (~: Q) C = #|C|%:R.
Proof.
case=> _ _ cols; rewrite /mass [\sum_(x in Q) _]exchange_big [\sum_(x in ~: Q) _]exchange_big /=.
rewrite -big_split /= -sumr_const; apply: eq_bigr => y _.
rewrite -[RHS](cols y) [RHS](bigID (mem Q)) /=; congr (_ + _); apply: eq_bigl => x; by rewrite inE.
Qed.

Lemma mass_ge0 X Q C : stochastic 1 X -> 0 <= mass X Q C.
Proof. by case=> X0 _ _; apply: sumr_ge0 => x _; apply: sumr_ge0. Qed.

Variables (X f : T -> T -> R) (Q C : {set T}) (t : nat).
Hypothesis X_st : stochastic 1 X.
Hypothesis whole : mass X Q C = t%:R.
(* Pairs outside of Q and C cost nothing. *)
Hypothesis zero : forall x y, x \notin Q -> y \notin C -> f x y = 0.

(* The pairs outside of Q and C. *)
Let m : nat := (#|T| + t - (#|Q| + #|C|))%N.

Lemma outside_mass : mass X (~: Q) (~: C) + (#|Q| + #|C|)%:R = (#|T| + t)%:R.
Proof.
have rows := mass_rows Q C X_st; have cols := mass_columns Q (~: C) X_st.
rewrite -(cardsC C) !natrD -rows -cols whole [LHS]addrC [RHS]addrC -!addrA; congr (_ + _).
by rewrite [RHS]addrCA.
Qed.

Lemma outside_size : (#|Q| + #|C| <= #|T| + t)%N.
Proof. by rewrite -(ler_nat R) -outside_mass ler_addr mass_ge0. Qed.

Lemma outside : mass X (~: Q) (~: C) = m%:R.
Proof. by apply: (addIr (#|Q| + #|C|)%:R); rewrite outside_mass -natrD subnK // outside_size. Qed.

Lemma count_inside s : #|pairs s (~: Q) (~: C)| = m -> #|pairs s Q C| = t.
Proof.
have := card_rows s Q C; have := card_columns s Q (~: C); have := cardsC C; have := outside_size; rewrite /m.
move: #|T| #|Q| #|C| #|~: C| #|pairs s Q C| #|pairs s Q (~: C)| #|pairs s (~: Q) (~: C)|.
clear=> c0 c1 c2 c3 c4 c5 c6; rewrite -!plusE -!minusE => /ssrnat.leP *; lia.
Qed.

(* Each row outside of Q may also take one of m places, as may each column outside of C; then nothing is left outside. *)
Definition wide (x y : T + 'I_m) : R :=
  match x, y with
  | inl x, inl y => if (x \in Q) || (y \in C) then X x y else 0
  | inl x, inr _ => if x \in Q then 0 else (\sum_(y in ~: C) X x y) / m%:R
  | inr _, inl y => if y \in C then 0 else (\sum_(x in ~: Q) X x y) / m%:R
  | inr _, inr _ => 0
  end.

Definition wide_f (x y : T + 'I_m) : R := if x is inl x then if y is inl y then f x y else 0 else 0.

Lemma sum_sum (F : T + 'I_m -> R) : \sum_z F z = \sum_x F (inl x) + \sum_j F (inr j).
Proof. exact: big_sumType. Qed.

Lemma places (c : R) : m%:R != 0 :> R -> \sum_(j < m) c / m%:R = c.
Proof. by move=> m1; rewrite sumr_const card_ord -mulrnAl -[c *+ m]mulr_natr mulfK. Qed.

Lemma wide_stochastic : (0 < m)%N -> stochastic 1 wide.
Proof.
move=> m0; have [X0 rows cols] := X_st; have m1 : m%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
split=> [[x|i] [y|j]|[x|i]|[y|j]] /=.
- by case: ifP.
- by case: ifP => // _; rewrite divr_ge0 ?ler0n ?sumr_ge0.
- by case: ifP => // _; rewrite divr_ge0 ?ler0n ?sumr_ge0.
- by [].
- rewrite sum_sum /=; case: (boolP (x \in Q)) => xQ /=; first by rewrite big1_eq addr0 rows.
  rewrite places // -[RHS](rows x) [RHS](bigID (mem C)) /= -big_mkcond; congr (_ + _).
  by apply: eq_bigl => y; rewrite inE.
- rewrite sum_sum /= [X in _ + X]big1_eq addr0.
  rewrite -[RHS](mulfV m1) -{2}outside /mass exchange_big /= mulr_suml.
  rewrite (bigID (mem C)) /= big1 ?add0r => [|y ->] //.
  by apply: eq_big => [y|y /negPf->]; rewrite ?inE.
- rewrite sum_sum /=; case: (boolP (y \in C)) => yC /=.
    by rewrite big1_eq addr0 -[RHS](cols y); apply: eq_bigr => x _; rewrite orbT.
  rewrite places // -[RHS](cols y) [RHS](bigID (mem Q)) /=; congr (_ + _).
    by rewrite -big_mkcond; apply: eq_bigl => x; rewrite orbF.
  by apply: eq_bigl => x; rewrite inE.
- rewrite sum_sum /= [X in _ + X]big1_eq addr0.
  rewrite -[RHS](mulfV m1) -{2}outside /mass /= mulr_suml.
  rewrite (bigID (mem Q)) /= big1 ?add0r => [|x ->] //.
  by apply: eq_big => [x|x /negPf->]; rewrite ?inE.
Qed.

Lemma wide_cost : cost wide wide_f = cost X f.
Proof.
rewrite /cost sum_sum [X in _ + X]big1 ?addr0 => [|i _]; last by apply: big1 => z _; rewrite mulr0.
apply: eq_bigr => x _; rewrite sum_sum [X in _ + X]big1 ?addr0 => [|j _]; last by rewrite mulr0.
apply: eq_bigr => y _ /=; case: ifP => // /negbT; rewrite negb_or => /andP[xQ yC].
by rewrite zero // !mulr0.
Qed.

(* A permutation of rows and places that never stays among the places, without the places. *)
Lemma without_places (sigma : {perm T + 'I_m}) : (forall i j, sigma (inr i) != inr j) ->
  exists s : {perm T}, forall x,
    sigma (inl x) = inl (s x) \/ exists j, sigma (inl x) = inr j /\ sigma (inr j) = inl (s x).
Proof.
move=> leaves.
pose next x := match sigma (inl x) with
  | inl y => y
  | inr j => if sigma (inr j) is inl y then y else x
  end.
have nextP x : sigma (inl x) = inl (next x) \/ exists j, sigma (inl x) = inr j /\ sigma (inr j) = inl (next x).
  rewrite /next; case sx: (sigma (inl x)) => [y|j]; first by left.
  right; exists j; split=> //; case sj: (sigma (inr j)) => [y|i] //.
  by have := leaves j i; rewrite sj eqxx.
have next_inj : injective next.
  move=> x y xy; case: (nextP x) (nextP y) => [sx|[i [sx si]]] [sy|[j [sy sj]]].
  - by have /perm_inj[] : sigma (inl x) = sigma (inl y) by rewrite sx sy xy.
  - by have /perm_inj : sigma (inl x) = sigma (inr j) by rewrite sx sj xy.
  - by have /perm_inj : sigma (inl y) = sigma (inr i) by rewrite sy si xy.
  - have /perm_inj[ij] : sigma (inr i) = sigma (inr j) by rewrite si sj xy.
    by have /perm_inj[] : sigma (inl x) = sigma (inl y) by rewrite sx sy ij.
by exists (perm next_inj) => x; rewrite permE.
Qed.

Lemma one_block : exists s, #|pairs s Q C| = t /\ cost X f <= cost_of s f.
Proof.
have [X0 rows cols] := X_st; have [m0|m0] := posnP m.
  have [s [s_in s_cost]] := best_permutation f ltr01 X_st; exists s; split; last by rewrite mul1r in s_cost.
  apply: count_inside; rewrite m0; apply/eqP; rewrite cards_eq0; apply/eqP/setP => x; rewrite in_set0 in_pairs !in_setC.
  apply/negP => /andP[xQ sxC]; have := outside; rewrite m0 => /psumr_eq0P-/(_ (fun z _ => sumr_ge0 _ (fun y _ => X0 z y))).
  move=> /(_ x); rewrite in_setC => /(_ xQ)/psumr_eq0P-/(_ (fun y _ => X0 x y) (s x)); rewrite in_setC => /(_ sxC) Xs.
  by have := s_in x; rewrite Xs ltxx.
have [sigma [sigma_in]] := best_permutation wide_f ltr01 (wide_stochastic m0); rewrite mul1r wide_cost => sigma_cost.
have [|s sP] := without_places (sigma := sigma).
  by move=> i j; apply/eqP => ij; have := sigma_in (inr i); rewrite ij ltxx.
have outP x : (x \in pairs s (~: Q) (~: C)) = (if sigma (inl x) is inr _ then true else false).
  rewrite in_pairs !in_setC; case: (sP x) => [sx|[j [sx sj]]]; rewrite sx.
    by have := sigma_in (inl x); rewrite sx /= -negb_or; case: ifP => //; rewrite ltxx.
  have := sigma_in (inl x); have := sigma_in (inr j); rewrite sx sj /=.
  by case: ifP => _; rewrite ?ltxx //; case: ifP => _; rewrite ?ltxx.
have inl_inj : injective (@inl T 'I_m) by move=> x y [].
have inr_inj : injective (@inr T 'I_m) by move=> i j [].
exists s; split.
  apply: count_inside; rewrite -(card_imset _ inl_inj).
  have card_m : #|[set sigma^-1%g z | z in [set inr j | j : 'I_m]]| = m.
    by rewrite !card_imset ?card_ord //; apply: perm_inj.
  rewrite -[RHS]card_m; apply: eq_card => z; apply/imsetP/imsetP => [[x xP ->]|[_ /imsetP[j _ ->] ->]].
    move: xP; rewrite outP; case sx: (sigma (inl x)) => [//|j] _.
    by exists (inr j); rewrite ?imset_f // -sx permK.
  case sj: ((sigma^-1)%g (inr j)) => [x|i].
    by exists x; rewrite // outP -sj permKV.
  by have := sigma_in (inr i); rewrite -sj permKV sj /= ltxx.
apply: le_trans sigma_cost _; rewrite /cost_of sum_sum [X in _ + X]big1 // addr0; apply: ler_sum => x _.
case: (sP x) => [->//|[j [sx sj]]]; have := outP x; rewrite sx in_pairs !in_setC => /andP[xQ sxC].
by rewrite /= zero.
Qed.

End OneBlock.

(* The same where the cost, less row and column potentials, vanishes outside of Q and C; both ends. *)
Theorem one_block_both_ends (R : realFieldType) (T : finType) (X f : T -> T -> R) (u v : T -> R) (Q C : {set T}) (t : nat)
    (X_is_stochastic : stochastic 1 X)
    (whole_mass : mass X Q C = t%:R)
    (additive_outside : forall x y, x \notin Q -> y \notin C -> f x y = u x + v y) :
  (exists s, #|pairs s Q C| = t /\ cost X f <= cost_of s f) /\
  (exists s, #|pairs s Q C| = t /\ cost_of s f <= cost X f).
Proof.
pose g x y := f x y + - u x + - v y.
have g0 x y : x \notin Q -> y \notin C -> g x y = 0.
  by move=> xQ yC; rewrite /g additive_outside // -addrA -opprD subrr.
have gN0 x y : x \notin Q -> y \notin C -> - g x y = 0 by move=> xQ yC; rewrite g0 ?oppr0.
split.
  have [s [st s_cost]] := one_block X_is_stochastic whole_mass g0; exists s; split=> //.
  by move: s_cost; rewrite (potentials f _ _ X_is_stochastic) potentials_of ler_add2r.
have [s [st s_cost]] := one_block X_is_stochastic whole_mass gN0; exists s; split=> //.
have minus_cost : cost X (fun x y => - g x y) = - cost X g.
  rewrite /cost -sumrN; apply: eq_bigr => x _; rewrite -sumrN; apply: eq_bigr => y _; exact: mulrN.
move: s_cost; rewrite minus_cost /cost_of sumrN ler_opp2 -/(cost_of s g).
by rewrite (potentials f _ _ X_is_stochastic) potentials_of ler_add2r.
Qed.

Section FourBlocks.

Variables (R : realFieldType) (T : finType) (L : eqType) (e : class T L).

Definition additive_on (f : T -> T -> R) (u v : T -> R) (Y Z : {set T}) : Prop :=
  forall x y, x \in Y -> y \in Z -> f x y = u x + v y.

Theorem four_block_integrality (X f : T -> T -> R) (u v : T -> R) (k : nat)
    (X_is_stochastic : stochastic 1 X)
    (k_is_known : mass X (A e) (B e) = k%:R)
    (one_block_additive : additive_on f u v (A e) (B e) \/ additive_on f u v (A e) (W' e) \/
                          additive_on f u v (W e) (B e) \/ additive_on f u v (W e) (W' e)) :
  (exists s, #|cc e s| = k /\ cost X f <= cost_of s f) /\
  (exists s, #|cc e s| = k /\ cost_of s f <= cost X f).
Proof.
have kA : (k <= #|A e|)%N by rewrite -(ler_nat R) -(mass_rows (A e) (B e) X_is_stochastic) k_is_known ler_addl mass_ge0.
have kB : (k <= #|B e|)%N by rewrite -(ler_nat R) -(mass_columns (A e) (B e) X_is_stochastic) k_is_known ler_addl mass_ge0.
have lost : mass X (A e) (W' e) = (#|A e| - k)%:R.
  by apply: (addrI (mass X (A e) (B e))); rewrite mass_rows // k_is_known -natrD subnKC.
have recovered : mass X (W e) (B e) = (#|B e| - k)%:R.
  by apply: (addrI (mass X (A e) (B e))); rewrite mass_columns // k_is_known -natrD subnKC.
have both : mass X (W e) (W' e) = (#|T| + k - (#|A e| + #|B e|))%:R by apply: outside.
have both_le := outside_size X_is_stochastic k_is_known.
have keep (Q C : {set T}) t : mass X Q C = t%:R -> additive_on f u v (~: Q) (~: C) ->
    (forall s, #|pairs s Q C| = t -> #|cc e s| = k) ->
  (exists s, #|cc e s| = k /\ cost X f <= cost_of s f) /\ (exists s, #|cc e s| = k /\ cost_of s f <= cost X f).
  move=> whole additive_out to_k.
  have [|[s [st s_cost]] [s' [st' s'_cost]]] := @one_block_both_ends R T X f u v Q C t X_is_stochastic whole.
    by move=> x y xQ yC; apply: additive_out; rewrite inE.
  by split; [exists s | exists s']; split=> //; apply: to_k.
have nat_sub a b c : (a + b = c)%N -> b = (c - k)%N -> (k <= c)%N -> a = k by move=> abc bk kc; apply/eqP; rewrite -(eqn_add2r b) abc bk subnKC.
case: one_block_additive => [CC|[CW|[WC|WW]]].
- apply: keep both _ _ => [|s sm]; first by rewrite !setCK.
  by have := card_ww_cc e s; rewrite /ww sm -addnA subnK // => /eqP; rewrite eqn_add2l => /eqP.
- apply: keep recovered _ _ => [|s sm]; first by rewrite setCK.
  exact: nat_sub (card_cc_wc e s) sm kB.
- apply: keep lost _ _ => [|s sm]; first by rewrite setCK.
  exact: nat_sub (card_cc_cw e s) sm kA.
- by apply: keep k_is_known _ _.
Qed.

End FourBlocks.

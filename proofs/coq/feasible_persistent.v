(* C5: which numbers s of persistent-wrong pairs are possible, once the number k of retained-correct pairs is known.

   feasible_persistent         s is attained by some correspondence with k retained-correct pairs exactly if it is a
                               feasible_s; the characterisation is complete, holes included
   holes                       the smallest hole: two images, wrong with the labels 1 and 2 on both sides; s is 0 or 2,
                               and s = 1 fails

   m                           the images wrong on both sides: wrong_pairs e k
   least_share e k s l         the persistent pairs that label l must hold:
                               (w_l + w'_l + m + s - W - W') / 2 rounded up, and 0 where that is negative
   most_share e l              those that it can hold: the smaller of w_l and w'_l
   feasible_s e k s            s <= m, least_share <= most_share for every label, and s lies between their sums
   uphalf n                    n / 2 rounded up *)

From mathcomp Require Import all_ssreflect fingroup perm.
From Pairbounds Require Import arithmetic correspondence contingency transport listed_classes.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Shares.

Variables (T L : finType) (e : class T L) (k s : nat).

Definition least_share (l : L) : nat :=
  uphalf (#|w e l| + #|w' e l| + wrong_pairs e k + s - (#|W e| + #|W' e|)).

Definition most_share (l : L) : nat := minn #|w e l| #|w' e l|.

Definition feasible_s : Prop :=
  [/\ s <= wrong_pairs e k,
      forall l, least_share l <= most_share l &
      \sum_l least_share l <= s <= \sum_l most_share l].

End Shares.

(* Between two functions there is one with any sum between theirs. *)
Lemma between_sums (L : finType) (low high : L -> nat) (s : nat) :
    (forall l, low l <= high l) -> \sum_l low l <= s <= \sum_l high l ->
  exists d : L -> nat, (forall l, low l <= d l <= high l) /\ \sum_l d l = s.
Proof.
move: {2}(s - _) (leqnn (s - \sum_l low l)) => n; elim: n low => [|n IH] low gap low_high /andP[ls sh].
  exists low; split=> [l|]; first by rewrite leqnn low_high.
  by apply/eqP; rewrite eqn_leq ls -subn_eq0 -leqn0.
have [eq_s|lt_s] := eqVneq (\sum_l low l) s; first by exists low; split=> // l; rewrite leqnn low_high.
have {}lt_s : \sum_l low l < s by rewrite ltn_neqAle lt_s.
have [l ll] : exists l, low l < high l.
  have [l //|no] := pickP (fun l => low l < high l); first by exists l.
  suff: \sum_l high l <= \sum_l low l by move/(leq_trans sh); rewrite leqNgt lt_s.
  by apply: leq_sum => l _; rewrite leqNgt no.
have more : \sum_i (low i + (i == l)) = (\sum_i low i).+1.
  by rewrite big_split /= -(big_mkcond (pred1 l)) /= big_pred1_eq addn1.
have [|i||d [d_in ds]] := IH (fun i => low i + (i == l)).
- by rewrite more subnS -ltnS prednK // subn_gt0.
- by have [->|_] := eqVneq i l; rewrite ?addn1 ?addn0.
- by rewrite more lt_s.
by exists d; split=> // i; have /andP[di ->] := d_in i; rewrite andbT (leq_trans _ di) // leq_addr.
Qed.

Lemma sum_option (L : finType) (F : option L -> nat) : \sum_o F o = F None + \sum_l F (Some l).
Proof.
rewrite (bigD1 None) //=; congr (_ + _).
rewrite (reindex_omap Some id) => [|[l|]] //=.
by apply: eq_bigl => l; rewrite eqxx.
Qed.

Section Attained.

Variables (T L : finType) (e : class T L).
Implicit Type p : {perm T}.

Definition persistent_at p l : {set T} := [set x in ws e p | clean e x == l].

Lemma sum_by_label (X : {set T}) (f : T -> L) : \sum_l #|[set x in X | f x == l]| = #|X|.
Proof.
rewrite -sum1_card (partition_big f xpredT) //=.
by apply: eq_bigr => l _; rewrite -sum1_card; apply: eq_bigl => x; rewrite inE.
Qed.

Lemma in_kept (X : {set T}) (P : pred T) x : (x \in [set x in X | P x]) = (x \in X) && P x.
Proof. by rewrite inE. Qed.

Lemma persistent_at_least p l :
  #|w e l| + #|w' e l| + #|ww e p| + #|ws e p| <= #|W e| + #|W' e| + (#|persistent_at p l|).*2.
Proof.
pose c := [set x in ww e p | clean e x == l]; pose q := [set x in ww e p | pert e (p x) == l].
have cq : c :&: q = persistent_at p l.
  apply/setP => x; rewrite in_setI /persistent_at /ws !in_kept.
  by case: ((x \in W e) && (p x \in W' e)) => //=; case: (clean e x =P l) => [->|_] /=; rewrite ?andbF ?andbT // eq_sym.
have c_many : #|w e l| + #|ww e p| <= #|W e| + #|c|.
  have := card_split (w e l) (fun x => p x \in W' e); have := card_wc_ww e p.
  have <- : #|[set x in w e l | p x \in W' e]| = #|c| by apply: eq_card => x; rewrite !inE andbAC.
  have : #|[set x in w e l | p x \notin W' e]| <= #|wc e p|.
    by apply/subset_leq_card/subsetP => x; rewrite !inE negbK => /andP[/andP[-> _] ->].
  by count_lia.
have q_many : #|w' e l| + #|ww e p| <= #|W' e| + #|q|.
  have := card_columns p (W e) (w' e l); have := card_cw_ww e p.
  have <- : #|pairs p (W e) (w' e l)| = #|q| by apply: eq_card => x; rewrite !inE -!andbA.
  have : #|pairs p (~: W e) (w' e l)| <= #|cw e p|.
    by apply/subset_leq_card/subsetP => x; rewrite !inE negbK => /andP[-> /andP[-> _]].
  by count_lia.
have others : #|c :|: q| + #|ws e p| <= #|ww e p| + #|persistent_at p l|.
  have := card_split (ws e p) (fun x => clean e x == l).
  have : #|c :|: q| + #|[set x in ws e p | clean e x != l]| <= #|ww e p|.
    rewrite -cardsUI [X in _ + X](_ : _ = 0) ?addn0.
      apply/subset_leq_card/subsetP => x; rewrite /ws !in_setU !in_kept.
      by case: ((x \in W e) && (p x \in W' e)); rewrite ?andbF.
    apply/eqP; rewrite cards_eq0; apply/eqP/setP => x; rewrite /ws in_setI in_setU !in_kept in_set0.
    case: ((x \in W e) && (p x \in W' e)) => //=; case: (clean e x =P pert e (p x)) => [->|_] /=; last by rewrite andbF.
    by case: (_ == l).
  by rewrite /persistent_at; count_lia.
have := cardsUI c q; rewrite cq -addnn; move: others c_many q_many.
by count_lia.
Qed.

Lemma persistent_at_most p l : #|persistent_at p l| <= most_share e l.
Proof.
rewrite leq_min; apply/andP; split.
  by apply/subset_leq_card/subsetP => x; rewrite !inE -!andbA => /and4P[-> _ _ ->].
rewrite -(card_preim_perm p (w' e l)); apply/subset_leq_card/subsetP => x.
by rewrite !inE => /andP[/andP[/andP[_ ->] /eqP <-] ->].
Qed.

Lemma feasible_if_attained k s p : #|cc e p| = k -> #|ws e p| = s -> feasible_s e k s.
Proof.
move=> <- <-; have m := card_ww e p; split=> [|l|].
- by rewrite -m -(card_ws_wd e p) leq_addr.
- apply: leq_trans (persistent_at_most p l); rewrite leq_uphalf_double -m.
  by have := persistent_at_least p l; count_lia.
have by_label := sum_by_label (ws e p) (clean e); apply/andP; split.
  rewrite -[X in _ <= X]by_label; apply: leq_sum => l _; rewrite leq_uphalf_double -m -/(persistent_at p l).
  by have := persistent_at_least p l; count_lia.
by rewrite -[X in X <= _]by_label; apply: leq_sum => l _; apply: persistent_at_most.
Qed.

(* Correct records, and wrong ones by their label. *)
Definition clean_group (x : T) : option L := if x \in A e then None else Some (clean e x).
Definition pert_group (y : T) : option L := if y \in B e then None else Some (pert e y).

Lemma clean_group_some l : #|[set x | clean_group x == Some l]| = #|w e l|.
Proof. by apply: eq_card => x; rewrite inE /clean_group /w /W !inE; case: ifP. Qed.

Lemma clean_group_none : #|[set x | clean_group x == None]| = #|A e|.
Proof. by apply: eq_card => x; rewrite inE /clean_group; case: ifP. Qed.

Lemma pert_group_some l : #|[set y | pert_group y == Some l]| = #|w' e l|.
Proof. by apply: eq_card => x; rewrite inE /pert_group /w' /W' !inE; case: ifP. Qed.

Lemma pert_group_none : #|[set y | pert_group y == None]| = #|B e|.
Proof. by apply: eq_card => x; rewrite inE /pert_group; case: ifP. Qed.

Lemma attained_if_feasible k s :
  feasible_k e k -> feasible_s e k s -> exists p, #|cc e p| = k /\ #|ws e p| = s.
Proof.
move=> k_range [s_m shares sums]; have [d [d_share d_sum]] := between_sums shares sums.
pose a l := #|w e l| - d l; pose b l := #|w' e l| - d l.
have d_le l : d l <= #|w e l| /\ d l <= #|w' e l|.
  by have /andP[_] := d_share l; rewrite leq_min => /andP[].
have a_sum : \sum_l a l = #|W e| - s.
  by rewrite sumnB => [|l _]; [rewrite (sum_by_label (W e) (clean e)) d_sum | case: (d_le l)].
have b_sum : \sum_l b l = #|W' e| - s.
  by rewrite sumnB => [|l _]; [rewrite (sum_by_label (W' e) (pert e)) d_sum | case: (d_le l)].
have m_le : wrong_pairs e k <= #|W e| /\ wrong_pairs e k <= #|W' e|.
  move: k_range; rewrite /feasible_k /wrong_pairs; have := card_AW e; have := card_BW' e.
  by count_lia.
have [||l|N [N0 Na Nb Nr]] := @zero_diagonal_transport L a b (wrong_pairs e k - s).
- by rewrite a_sum; case: m_le => *; apply: leq_sub2r.
- by rewrite b_sum; case: m_le => *; apply: leq_sub2r.
- have /andP[] := d_share l; rewrite leq_uphalf_double => low _; have [dw dw'] := d_le l.
  have w_le : #|w e l| <= #|W e| by apply/subset_leq_card/subsetP => x; rewrite inE => /andP[].
  have w'_le : #|w' e l| <= #|W' e| by apply/subset_leq_card/subsetP => x; rewrite inE => /andP[].
  rewrite a_sum b_sum /a /b; case: m_le low; rewrite -addnn.
  move: (wrong_pairs e k) s_m (d l) dw dw' => m s_m dl dw dw'.
  by count_lia.
pose M i j := match i, j with
  | None, None => k
  | None, Some j => b j - \sum_i N i j
  | Some i, None => a i - \sum_j N i j
  | Some i, Some j => N i j + (i == j) * d i
  end.
have a_left i : \sum_j N i j <= a i by [].
have b_left j : \sum_i N i j <= b j by [].
have diagonal (i : L) (F : L -> nat) : \sum_j (i == j) * F j = F i.
  by rewrite (bigD1 i) //= eqxx mul1n big1 ?addn0 // => j; rewrite eq_sym => /negPf->.
have [||p pM] := @realisation T (option_finType L) (option_finType L) clean_group pert_group M.
- case=> [i|]; rewrite sum_option ?clean_group_some ?clean_group_none /M.
    rewrite big_split /= addnA subnK // (eq_bigr (fun j => (i == j) * d j)) => [|j _]; last first.
      by have [->|] := eqVneq i j; rewrite ?mul0n.
    by rewrite diagonal subnK //; case: (d_le i).
  rewrite sumnB // b_sum exchange_big /= Nr.
  by move: k_range m_le s_m; rewrite /feasible_k /wrong_pairs; have := card_AW e; have := card_BW' e; count_lia.
- case=> [j|]; rewrite sum_option ?pert_group_some ?pert_group_none /M.
    rewrite big_split /= addnA subnK //.
    rewrite (eq_bigr (fun i => (j == i) * d i)) => [|i _]; last by rewrite eq_sym.
    by rewrite diagonal subnK //; case: (d_le j).
  rewrite sumnB // a_sum Nr.
  by move: k_range m_le s_m; rewrite /feasible_k /wrong_pairs; have := card_AW e; have := card_BW' e; count_lia.
exists p; split.
  rewrite -[RHS](pM None None); apply: eq_card => x.
  by rewrite !inE /clean_group /pert_group !inE; do 2!case: ifP.
rewrite -d_sum -(sum_by_label (ws e p) (clean e)); apply: eq_bigr => l _.
have := pM (Some l) (Some l); rewrite /M N0 add0n eqxx mul1n => <-; apply: eq_card => x.
rewrite !inE /clean_group /pert_group !inE.
case: ifP => //= _; case: ifP => _ /=; first by rewrite andbF.
by rewrite !(inj_eq Some_inj); case: (clean e x =P l) => [->|_]; rewrite ?andbF // andbT eq_sym.
Qed.

(* The characterisation. *)
Theorem feasible_persistent k s (k_is_feasible : feasible_k e k) :
  (exists p, #|cc e p| = k /\ #|ws e p| = s) <-> feasible_s e k s.
Proof.
split=> [[p [cc_k ws_s]]|]; first exact: feasible_if_attained cc_k ws_s.
exact: attained_if_feasible.
Qed.

End Attained.

Definition two_labels := [:: (1, no); (2, no)].

Theorem holes (s : nat) :
  (exists p : {perm 'I_2}, #|cc (listed 2 two_labels two_labels) p| = 0 /\ #|ws (listed 2 two_labels two_labels) p| = s)
  <-> s \in [:: 0; 2].
Proof.
pose k_is_0 t := cc_number 2 two_labels two_labels t == 0.
have -> : (s \in [:: 0; 2]) = (s \in [:: 2; 0]) by rewrite !inE orbC.
have <- : attained 2 k_is_0 (ws_number 2 two_labels two_labels) = [:: 2; 0] by vm_compute.
rewrite -attainedP; split=> -[p [pk ps]]; exists p; move: pk ps; rewrite /k_is_0 !card_listed.
  by move=> -> ->.
by move=> /eqP -> ->.
Qed.

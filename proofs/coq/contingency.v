(* The realisation lemma: a table with the right margins is the table of some correspondence.

   f x                 the colour of the clean record x
   g y                 the colour of the perturbed record y
   N i j               a table of counts
   rows                the row i of N sums to the number of clean records of colour i
   columns             the column j of N sums to the number of perturbed records of colour j *)

From mathcomp Require Import all_ssreflect fingroup perm.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* Two finite sets with equally many elements of each colour: a bijection that keeps the colour. *)
Lemma join_colours (S U : finType) (I : eqType) (f : S -> I) (g : U -> I) :
    (forall i, #|[set x | f x == i]| = #|[set y | g y == i]|) ->
  exists a : S -> U, injective a /\ forall x, g (a x) = f x.
Proof.
move=> same.
have at_x x : x \in [set y | f y == f x] by rewrite inE.
pose a x := enum_val (cast_ord (same (f x)) (enum_rank_in (at_x x) x)).
have ga x : g (a x) = f x by move: (enum_valP (cast_ord (same (f x)) (enum_rank_in (at_x x) x))); rewrite inE => /eqP.
exists a; split=> // x y axy.
have fxy : f y = f x by rewrite -!ga axy.
move: axy; rewrite /a; move: (same (f y)) (at_x y); rewrite fxy => sy y_in.
rewrite (eq_irrelevance sy (same (f x))) => /enum_val_inj /cast_ord_inj eq_rank.
have := congr1 enum_val eq_rank.
by rewrite !enum_rankK_in // inE // fxy.
Qed.

Lemma move_set (T : finType) (X Y : {set T}) : #|X| = #|Y| -> exists u : {perm T}, forall x, (u x \in Y) = (x \in X).
Proof.
move=> same; have [|u [u_inj uXY]] := @join_colours T T _ (mem X) (mem Y).
  have sameC : #|~: X| = #|~: Y| by apply/eqP; rewrite -(eqn_add2l #|X|) cardsC same cardsC.
  have in_set (Z : {set T}) c : #|[set x | mem Z x == c]| = if c then #|Z| else #|~: Z|.
    by case: c; apply: eq_card => x; rewrite !inE ?eqb_id ?eqbF_neg.
  by move=> c; rewrite !in_set same sameC.
by exists (perm u_inj) => x; rewrite permE; apply: uXY.
Qed.

Section Realise.

Variables (T I J : finType) (f : T -> I) (g : T -> J) (N : I -> J -> nat).
Hypothesis rows : forall i, \sum_j N i j = #|[set x | f x == i]|.
Hypothesis columns : forall j, \sum_i N i j = #|[set y | g y == j]|.

(* The cells of the table, N i j places in each. *)
Let place := [finType of {ij : I * J & 'I_(N ij.1 ij.2)}].

Let card_places (P : pred (I * J)) : #|[set z : place | P (tag z)]| = \sum_(ij | P ij) N ij.1 ij.2.
Proof.
rewrite cardsE -sum1_card (eq_bigl (fun z : place => P (tag z) && true)) => [|z]; last by rewrite andbT.
rewrite -(sig_big_dep P (fun _ _ => true) (fun _ _ => 1)) /=.
by apply: eq_bigr => ij _; rewrite sum1_card card_ord.
Qed.

Theorem realisation :
  exists s : {perm T}, forall i j, #|[set x | (f x == i) && (g (s x) == j)]| = N i j.
Proof.
have [|a [a_inj fa]] := @join_colours T place I f (fun z => (tag z).1).
  move=> i; rewrite (card_places (fun ij => ij.1 == i)) -rows.
  rewrite (eq_bigl (fun ij => (ij.1 == i) && true)) => [|ij]; last by rewrite andbT.
  by rewrite -(pair_big_dep (pred1 i) (fun _ => xpredT) N) big_pred1_eq.
have [|b [b_inj gb]] := @join_colours place T J (fun z => (tag z).2) g.
  move=> j; rewrite (card_places (fun ij => ij.2 == j)) -columns.
  rewrite (eq_bigl (fun ij => true && (ij.2 == j))) // -(pair_big_dep xpredT (fun _ => pred1 j) N) /=.
  by apply: eq_bigr => i _; rewrite big_pred1_eq.
have s_inj : injective (b \o a) by apply: inj_comp.
exists (perm s_inj) => i j.
have [a' aK a'K] : bijective a by apply: (inj_card_bij a_inj); apply: leq_card b_inj.
have <- : #|[set z : place | tag z == (i, j)]| = N i j.
  by rewrite (card_places (pred1 (i, j))) big_pred1_eq.
rewrite -(card_imset _ a_inj); apply: eq_card => z; rewrite !inE.
apply/imsetP/eqP => [[x]|tz].
  rewrite inE permE /= gb -fa => /andP[/eqP az1 /eqP az2] ->.
  by rewrite -az1 -az2 -surjective_pairing.
by exists (a' z); rewrite ?a'K // inE permE /= gb -fa a'K tz !eqxx.
Qed.

End Realise.

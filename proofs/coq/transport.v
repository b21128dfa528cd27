(* Zero-diagonal transport: how much can be sent from labels to other labels.

   a l                 units that label l can send
   b l                 units that label l can receive
   N i j               units sent from i to j; none from a label to itself
   r                   units sent in all

   The three hypotheses are the cuts of the transport: all units leave from some label and arrive at some label, and
   for every l each unit leaves from another label than l or arrives at another label than l. That they are enough is
   proved here, not that they are needed. *)

From mathcomp Require Import all_ssreflect.
From Pairbounds Require Import arithmetic.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Sums.

Variables (L : finType) (a : L -> nat).

Lemma le_sum l : a l <= \sum_i a i.
Proof. by rewrite (bigD1 l) //= leq_addr. Qed.

Lemma le_sum2 l l2 : l2 != l -> a l + a l2 <= \sum_i a i.
Proof. by move=> l2l; rewrite (bigD1 l) //= (bigD1 l2) //= addnA leq_addr. Qed.

Lemma le_sum3 l l2 l3 : l2 != l -> l3 != l -> l3 != l2 -> a l + a l2 + a l3 <= \sum_i a i.
Proof.
move=> l2l l3l l3l2; rewrite (bigD1 l) //= (bigD1 l2) //= (bigD1 l3) ?l3l ?l3l2 //=.
by rewrite !addnA leq_addr.
Qed.

Lemma some_positive : 0 < \sum_i a i -> exists i, 0 < a i.
Proof.
rewrite lt0n sum_nat_eq0 negb_forall => /existsP[i].
by rewrite /= -lt0n; exists i.
Qed.

Lemma other_positive l : a l < \sum_i a i -> exists2 i, i != l & 0 < a i.
Proof.
rewrite (bigD1 l) //= -[X in X < _]addn0 ltn_add2l lt0n sum_nat_eq0 negb_forall => /existsP[i].
by rewrite negb_imply -lt0n => /andP[il ai]; exists i.
Qed.

Lemma sum_less_one l : 0 < a l -> (\sum_i (a i - (i == l))).+1 = \sum_i a i.
Proof.
move=> al; rewrite (bigD1 l) //= [in RHS](bigD1 l) //= eqxx subn1 -addSn prednK //; congr (_ + _).
by apply: eq_bigr => i /negPf->; rewrite subn0.
Qed.

End Sums.

(* Where the next unit goes: from i to j, so that no label whose condition is met with equality is passed over. *)
Lemma next_unit (L : finType) (a b : L -> nat) (r : nat) :
    0 < r -> r <= \sum_i a i -> r <= \sum_i b i ->
    (forall l, r + (a l + b l) <= \sum_i a i + \sum_i b i) ->
  exists i j, [/\ i != j, 0 < a i, 0 < b j &
    forall l, l != i -> l != j -> r + (a l + b l) < \sum_i a i + \sum_i b i].
Proof.
move=> r0; have a2 := @le_sum2 L a; have b2 := @le_sum2 L b; have a3 := @le_sum3 L a; have b3 := @le_sum3 L b.
have a_some := @some_positive L a; have a_other := @other_positive L a; have b_other := @other_positive L b.
move: (\sum_i a i) (\sum_i b i) a2 b2 a3 b3 a_some a_other b_other => Sa Sb a2 b2 a3 b3 a_some a_other b_other ra rb cut.
pose tight l := r + (a l + b l) == Sa + Sb.
have loose l : ~~ tight l -> r + (a l + b l) < Sa + Sb by move=> ?; rewrite ltn_neqAle; apply/andP.
have [l tl|no_tight] := pickP tight; last first.
  have [i ai] : exists i, 0 < a i by apply: a_some; count_lia.
  have [bi|bi] := ltnP (b i) Sb.
    have [j ji bj] := b_other i bi; exists i, j; split=> // [|l _ _]; first by rewrite eq_sym.
    by apply: loose; rewrite no_tight.
  have [j ji aj] : exists2 j, j != i & 0 < a j by apply: a_other; have := cut i; count_lia.
  exists j, i; split=> // [|l _ _]; last by apply: loose; rewrite no_tight.
  by count_lia.
have [l2 /andP[l2l tl2]|no_other] := pickP (fun l2 => (l2 != l) && tight l2).
  have {}a2 := a2 _ _ l2l; have {}b2 := b2 _ _ l2l.
  have {}tl : r + (a l + b l) = Sa + Sb by apply/eqP.
  have {}tl2 : r + (a l2 + b l2) = Sa + Sb by apply/eqP.
  have others l3 : l3 != l -> l3 != l2 -> r + (a l3 + b l3) < Sa + Sb.
    by move=> l3l l3l2; have := a3 _ _ _ l2l l3l l3l2; have := b3 _ _ _ l2l l3l l3l2; count_lia.
  have [al|al] := posnP (a l); [exists l2, l | exists l, l2]; split=> //; try count_lia.
  - by move=> l3 ? ?; apply: others.
  - by rewrite eq_sym.
have others l3 : l3 != l -> r + (a l3 + b l3) < Sa + Sb.
  by move=> l3l; apply: loose; have := no_other l3; rewrite l3l /= => ->.
have {}tl : r + (a l + b l) = Sa + Sb by apply/eqP.
have from_other : 0 < b l -> a l < Sa -> exists i j, [/\ i != j, 0 < a i, 0 < b j &
    forall l, l != i -> l != j -> r + (a l + b l) < Sa + Sb].
  move=> bl al; have [i il ai] := a_other _ al; exists i, l; split=> // l3 _; exact: others.
have [al|al] := posnP (a l); first by apply: from_other; count_lia.
have [bl|bl] := ltnP (b l) Sb; last by apply: from_other; count_lia.
have [j jl bj] := b_other _ bl.
by exists l, j; split=> // [|l3 l3l _]; [rewrite eq_sym | apply: others].
Qed.

Theorem zero_diagonal_transport (L : finType) (a b : L -> nat) (r : nat)
    (sent : r <= \sum_l a l)
    (received : r <= \sum_l b l)
    (cut : forall l, r <= (\sum_i a i - a l) + (\sum_i b i - b l)) :
  exists N : L -> L -> nat,
    [/\ forall l, N l l = 0,
        forall i, \sum_j N i j <= a i,
        forall j, \sum_i N i j <= b j &
        \sum_i \sum_j N i j = r].
Proof.
have {}cut l : r + (a l + b l) <= \sum_i a i + \sum_i b i.
  by have := cut l; have := le_sum a l; have := le_sum b l; count_lia.
elim: r a b sent received cut => [|r IH] a b sent received cut.
  by exists (fun _ _ => 0); split=> // [i|j|]; rewrite ?big1 // => i _; rewrite big1.
have [i [j [ij ai bj others]]] := next_unit (ltn0Sn r) sent received cut.
have Sa := sum_less_one ai; have Sb := sum_less_one bj.
have [||l|N [N0 Na Nb Nr]] := IH (fun l => a l - (l == i)) (fun l => b l - (l == j)).
- by count_lia.
- by count_lia.
- have := cut l; have [->|li] := eqVneq l i; first by rewrite (negPf ij) /=; count_lia.
  have [->|lj] := eqVneq l j; first by rewrite /=; count_lia.
  by have := others l li lj; rewrite /=; count_lia.
pose one x y : nat := (x == i) && (y == j).
have one_row x : \sum_y one x y = (x == i).
  rewrite /one; case: (x == i) => /=; last by rewrite big1.
  by rewrite -(big_mkcond (eq_op^~ j)) /= big_pred1_eq.
have one_column y : \sum_x one x y = (y == j).
  rewrite /one; case: (y == j) => /=; last by rewrite big1 // => x _; rewrite andbF.
  by rewrite (eq_bigr (fun x => nat_of_bool (x == i))) => [|x _]; rewrite ?andbT // -(big_mkcond (eq_op^~ i)) /= big_pred1_eq.
exists (fun x y => N x y + one x y); split=> [l|x|y|].
- rewrite N0 /one; have [->|//] := eqVneq l i; by rewrite (negPf ij).
- rewrite big_split /= one_row; have := Na x.
  by have [->|_] := eqVneq x i; rewrite /= ?subn0 ?addn0 // => ?; count_lia.
- rewrite big_split /= one_column; have := Nb y.
  by have [->|_] := eqVneq y j; rewrite /= ?subn0 ?addn0 // => ?; count_lia.
- rewrite (eq_bigr (fun x => \sum_y N x y + (x == i))) => [|x _]; last by rewrite big_split /= one_row.
  by rewrite big_split /= Nr -(big_mkcond (eq_op^~ i)) /= big_pred1_eq addn1.
Qed.

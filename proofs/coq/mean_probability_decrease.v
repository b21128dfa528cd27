(* C4: the sum of p(x) - q(y) over the retained-correct pairs, given their number k.

   R                           the ordered numbers that probabilities are (the integers, the rationals, ...)
   p x, q y                    the true-class probability of the clean record x, of the perturbed record y
   decrease e p q s            the sum over the retained-correct pairs (x, s x) of p x - q (s x)
   ascending f X               the values of f on the set X, sorted, smallest first
   smallest f X k              the sum of the k smallest of them
   largest f X k               the sum of the k largest of them

   mean_probability_decrease   given k: the decrease is at least smallest p A k - largest q B k and at most
                               largest p A k - smallest q B k, and some correspondence attains each end *)

From mathcomp Require Import all_ssreflect ssralg ssrnum fingroup perm.
From Pairbounds Require Import arithmetic correspondence contingency feasible_correct_correct.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section SortedSums.

Variables (R : realDomainType) (T : finType).
Implicit Types (f : T -> R) (X Y P : {set T}) (k : nat).

Definition ascending f X : seq R := sort <=%R [seq f x | x <- enum X].
Definition smallest f X k : R := \sum_(v <- take k (ascending f X)) v.
Definition largest f X k : R := \sum_(v <- drop (#|X| - k) (ascending f X)) v.

(* The elements of X in the order of their values. *)
Definition order f X : seq T := sort (relpre f <=%R) (enum X).

Lemma order_values f X : [seq f x | x <- order f X] = ascending f X.
Proof. by rewrite /ascending sort_map. Qed.

Lemma size_order f X : size (order f X) = #|X|.
Proof. by rewrite /order size_sort -cardE. Qed.

Lemma order_uniq f X : uniq (order f X).
Proof. by rewrite /order sort_uniq enum_uniq. Qed.

Lemma mem_order f X : order f X =i X.
Proof. by move=> x; rewrite /order mem_sort mem_enum. Qed.

Lemma order_split f X n x y : x \in take n (order f X) -> y \in drop n (order f X) -> f x <= f y.
Proof.
have : pairwise (relpre f <=%R) (order f X).
  rewrite -sorted_pairwise; first by apply: sort_sorted => x' y'; apply: le_total.
  by move=> x1 x2 x3; apply: le_trans.
by rewrite -{1}(cat_take_drop n (order f X)) pairwise_cat => /and3P[/allrelP split_n _ _]; apply: split_n.
Qed.

Lemma in_one f X n x : x \in X -> (x \in take n (order f X)) || (x \in drop n (order f X)).
Proof. by rewrite -mem_cat cat_take_drop mem_order. Qed.

Lemma smallest_attained f X k : (k <= #|X|)%N ->
  exists P : {set T}, [/\ P \subset X, #|P| = k, \sum_(x in P) f x = smallest f X k &
    forall x y, x \in P -> y \in X :\: P -> f x <= f y].
Proof.
move=> kX; exists [set x in take k (order f X)]; split.
- by apply/subsetP => x; rewrite inE => /mem_take; rewrite mem_order.
- by rewrite cardsE; have /card_uniqP-> := take_uniq k (order_uniq f X); rewrite size_takel ?size_order.
- rewrite /smallest -order_values -map_take big_map.
  rewrite (eq_bigl (fun x => x \in take k (order f X))) => [|x]; last by rewrite inE.
  by rewrite -big_uniq ?take_uniq ?order_uniq.
move=> x y; rewrite !inE => x_in /andP[y_out yX]; apply: order_split x_in _.
by have := in_one f k yX; rewrite (negPf y_out).
Qed.

Lemma largest_attained f X k : (k <= #|X|)%N ->
  exists P : {set T}, [/\ P \subset X, #|P| = k, \sum_(x in P) f x = largest f X k &
    forall x y, x \in P -> y \in X :\: P -> f y <= f x].
Proof.
move=> kX; exists [set x in drop (#|X| - k) (order f X)]; split.
- by apply/subsetP => x; rewrite inE => /mem_drop; rewrite mem_order.
- rewrite cardsE; have /card_uniqP-> := drop_uniq (#|X| - k) (order_uniq f X).
  by rewrite size_drop size_order subKn.
- rewrite /largest -order_values -map_drop big_map.
  rewrite (eq_bigl (fun x => x \in drop (#|X| - k) (order f X))) => [|x]; last by rewrite inE.
  by rewrite -big_uniq ?drop_uniq ?order_uniq.
move=> x y; rewrite !inE => x_in /andP[y_out yX]; apply: order_split x_in.
by have := in_one f (#|X| - k) yX; rewrite (negPf y_out) orbF.
Qed.

(* A set whose values lie below all others has the smallest sum of its size. *)
Lemma lowest f X P Y : P \subset X -> Y \subset X -> #|P| = #|Y| ->
  (forall x y, x \in P -> y \in X :\: P -> f x <= f y) -> \sum_(x in P) f x <= \sum_(x in Y) f x.
Proof.
move=> PX YX same low.
have same' : #|P :\: Y| = #|Y :\: P|.
  by apply/eqP; rewrite -(eqn_add2l #|P :&: Y|) cardsID setIC cardsID same.
have [x0 x0PY|PY0] := pickP (mem (P :\: Y)); last first.
  have sub : P \subset Y by rewrite -setD_eq0; apply/eqP/setP => x; rewrite in_set0; apply: PY0.
  by rewrite (_ : P = Y) //; apply/eqP; rewrite eqEcard sub same leqnn.
pose c := f [arg max_(x > x0 in P :\: Y) f x]%O.
have [below above] : (forall x, x \in P :\: Y -> f x <= c) /\ (forall y, y \in Y :\: P -> c <= f y).
  rewrite /c; case: arg_maxP => // z zPY z_max; split=> // y; rewrite inE => /andP[yP yY].
  by apply: low; [move: zPY; rewrite inE => /andP[] | rewrite inE yP (subsetP YX)].
rewrite (big_setID Y) [leRHS](big_setID P) /= setIC ler_add2l.
apply: (@le_trans _ _ (\sum_(x in P :\: Y) c)); first exact: ler_sum.
by rewrite sumr_const same' -sumr_const; apply: ler_sum.
Qed.

Lemma smallest_least f X Y : Y \subset X -> smallest f X #|Y| <= \sum_(x in Y) f x.
Proof.
move=> YX; have [P [PX PY <- low]] := smallest_attained f (subset_leq_card YX).
exact: (lowest PX YX PY low).
Qed.

Lemma largest_greatest f X Y : Y \subset X -> \sum_(x in Y) f x <= largest f X #|Y|.
Proof.
move=> YX; have [P [PX PY <- high]] := largest_attained f (subset_leq_card YX).
rewrite -ler_opp2 -!sumrN; apply: (lowest (f := fun x => - f x) PX YX PY) => x y xP yP.
by rewrite ler_opp2; apply: high.
Qed.

End SortedSums.

(* A bijection that takes one subset of Z to another of its size and keeps Z. *)
Lemma move_inside (T : finType) (Z X Y : {set T}) : X \subset Z -> Y \subset Z -> #|X| = #|Y| ->
  exists u : {perm T}, forall x, (u x \in Y) = (x \in X) /\ (u x \in Z) = (x \in Z).
Proof.
move=> XZ YZ same.
have count (V : {set T}) c : V \subset Z ->
    #|[set x | (x \in V, x \in Z) == c]| = if c.1 then if c.2 then #|V| else 0%N else if c.2 then (#|Z| - #|V|)%N else #|~: Z|.
  move=> /subsetP VZ; rewrite -(setIidPr (introT subsetP VZ)) -cardsD -(@cards0 T) {1}(setIidPr (introT subsetP VZ)).
  case: c => [[] []] /=; apply: eq_card => x; rewrite !inE xpair_eqE; case: (boolP (x \in V)) => [/VZ ->|_] //=;
    by case: (x \in Z).
have [|u [u_inj uXY]] := @join_colours T T _ (fun x => (x \in X, x \in Z)) (fun y => (y \in Y, y \in Z)).
  by move=> c; rewrite !count // same.
by exists (perm u_inj) => x; rewrite permE; case: (uXY x).
Qed.

Section Decrease.

Variables (R : realDomainType) (T : finType) (L : eqType) (e : class T L) (p q : T -> R).

Definition decrease (s : {perm T}) : R := \sum_(x in cc e s) (p x - q (s x)).

(* The retained-correct pairs may be any k clean-correct with any k perturbed-correct records. *)
Lemma pairs_of_choice (X Y : {set T}) (k : nat) :
    feasible_k e k -> X \subset A e -> Y \subset B e -> #|X| = k -> #|Y| = k ->
  exists s, [/\ cc e s = X & s @: X = Y].
Proof.
move=> k_range XA YB Xk Yk; have [s sk] := proj2 (feasible_correct_correct e k) k_range.
have [|u uX] := @move_inside T (A e) (cc e s) X (pairs_sub _ _ _) XA; first by rewrite sk Xk.
have sB : s @: cc e s \subset B e by apply/subsetP => _ /imsetP[x + ->]; rewrite inE => /andP[].
have [|v vY] := @move_inside T (B e) (s @: cc e s) Y sB YB; first by rewrite card_imset ?sk ?Yk //; apply: perm_inj.
pose r := (u^-1 * s * v)%g; have r_u x : r (u x) = v (s x) by rewrite !permM permK.
have ccX : cc e r = X.
  apply/setP => x; rewrite -(permKV u x) in_pairs r_u (proj2 (vY _)) (proj2 (uX _)) (proj1 (uX _)).
  by rewrite in_pairs.
exists r; split=> //; apply/eqP; rewrite eqEcard card_imset ?Xk ?Yk ?leqnn ?andbT; last exact: perm_inj.
apply/subsetP => _ /imsetP[x xX ->]; rewrite -(permKV u x) r_u (proj1 (vY _)).
by apply: imset_f; rewrite -(proj1 (uX _)) permKV.
Qed.

Lemma decrease_split s : decrease s = \sum_(x in cc e s) p x - \sum_(y in s @: cc e s) q y.
Proof. by rewrite /decrease sumrB (big_imset q) //=; apply: in2W; apply: perm_inj. Qed.

Theorem mean_probability_decrease (k : nat) (k_is_feasible : feasible_k e k) :
  [/\ forall s, #|cc e s| = k ->
         smallest p (A e) k - largest q (B e) k <= decrease s <= largest p (A e) k - smallest q (B e) k,
      exists s, #|cc e s| = k /\ decrease s = smallest p (A e) k - largest q (B e) k &
      exists s, #|cc e s| = k /\ decrease s = largest p (A e) k - smallest q (B e) k].
Proof.
have /andP[_] := k_is_feasible; rewrite leq_min => /andP[kA kB]; split=> [s sk||].
- rewrite decrease_split.
  have XA : cc e s \subset A e by apply: pairs_sub.
  have YB : s @: cc e s \subset B e by apply/subsetP => _ /imsetP[x + ->]; rewrite inE => /andP[].
  have Yk : #|s @: cc e s| = k by rewrite card_imset //; apply: perm_inj.
  have := smallest_least p XA; have := largest_greatest p XA; rewrite sk.
  have := smallest_least q YB; have := largest_greatest q YB; rewrite Yk => q_most q_least p_most p_least.
  by rewrite !ler_sub.
- have [X [XA Xk Xsum _]] := smallest_attained p kA; have [Y [YB Yk Ysum _]] := largest_attained q kB.
  have [s [sX sY]] := pairs_of_choice k_is_feasible XA YB Xk Yk.
  by exists s; rewrite decrease_split sX sY Xsum Ysum.
- have [X [XA Xk Xsum _]] := largest_attained p kA; have [Y [YB Yk Ysum _]] := smallest_attained q kB.
  have [s [sX sY]] := pairs_of_choice k_is_feasible XA YB Xk Yk.
  by exists s; rewrite decrease_split sX sY Xsum Ysum.
Qed.

End Decrease.

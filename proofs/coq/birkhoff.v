(* A doubly stochastic table is no better than the best permutation inside its support.

   hall                        rows I, columns related by `ok`: if every subset J of I has at least #|J| columns that are
                               ok for one of its rows, the rows of I can be given different columns, each ok
   stochastic d X              X x y >= 0, and every row and every column of X sums to d
   best_permutation            for every cost F there is a permutation s with X x (s x) > 0 for all x, and
                               d times its cost is at least the cost of X (Birkhoff, von Neumann) *)

From mathcomp Require Import all_ssreflect ssralg ssrnum fingroup perm.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.

Section Hall.

Variables (S U : finType).
Implicit Types (ok : S -> U -> bool) (I J K : {set S}).

Definition columns ok J : {set U} := [set y | [exists x in J, ok x y]].

Lemma columnsP ok J y : reflect (exists2 x, x \in J & ok x y) (y \in columns ok J).
Proof. by rewrite inE; apply: exists_inP. Qed.

Lemma hall (u0 : U) ok I :
    (forall J, J \subset I -> #|J| <= #|columns ok J|) ->
  exists f : S -> U, {in I &, injective f} /\ {in I, forall x, ok x (f x)}.
Proof.
move: {2}#|I| (leqnn #|I|) => n; elim: n ok I => [|n IH] ok I I_small enough.
  have I0 : I = set0 by apply/eqP; rewrite -cards_eq0 -leqn0.
  by exists (fun=> u0); rewrite I0; split=> x; rewrite inE.
have [->|[x0 x0I]] := set_0Vmem I; first by exists (fun=> u0); split=> x; rewrite inE.
have [J|no_tight] := pickP (fun J => [&& J \proper I, J != set0 & #|columns ok J| == #|J|]).
  move=> /and3P[JI J0 /eqP tight]; have J_sub := proper_sub JI.
  have J_less : #|J| < #|I| by apply: proper_card.
  have [|K KJ|f1 [f1_inj f1_ok]] := IH ok J; first by rewrite -ltnS (leq_trans J_less).
    by apply: enough; apply: subset_trans KJ J_sub.
  pose ok' x y := ok x y && (y \notin columns ok J).
  have [||f2 [f2_inj f2_ok]] := IH ok' (I :\: J).
  - rewrite -ltnS; apply: leq_trans I_small; rewrite cardsD (setIidPr J_sub) -subSn ?subset_leq_card //.
    by rewrite leq_subLR -addn1 addnC leq_add2r card_gt0.
  - move=> K KIJ; have KJ0 : [disjoint K & J].
      by apply/pred0P => x /=; apply/negP => /andP[/(subsetP KIJ)]; rewrite inE => /andP[/negPf->].
    have : #|K :|: J| <= #|columns ok (K :|: J)|.
      by apply: enough; rewrite subUset J_sub andbT (subset_trans KIJ) // subsetDl.
    have KJ : #|K :|: J| = #|K| + #|J| by rewrite cardsU (disjoint_setI0 KJ0) cards0 subn0.
    rewrite KJ => le_KJ; rewrite -(leq_add2r #|J|) -{2}tight; apply: leq_trans le_KJ _.
    apply: leq_trans (leq_card_setU _ _); apply/subset_leq_card/subsetP => y /columnsP[x xKJ xy].
    rewrite inE; case: (boolP (y \in columns ok J)) => [_|yJ]; first by rewrite orbT.
    apply/orP; left; apply/columnsP; exists x; last by rewrite /ok' xy.
    by move: xKJ; rewrite inE => /orP[//|xJ]; case/negP: yJ; apply/columnsP; exists x.
  exists (fun x => if x \in J then f1 x else f2 x); split=> [x y xI yI|x xI]; last first.
    case: ifP => xJ; first exact: f1_ok.
    by have /andP[] : ok' x (f2 x) by apply: f2_ok; rewrite inE xJ xI.
  have apart z1 z2 : z1 \in J -> z2 \in I -> z2 \notin J -> f1 z1 != f2 z2.
    move=> z1J z2I z2J; have /andP[_] : ok' z2 (f2 z2) by apply: f2_ok; rewrite inE z2J.
    by apply: contraNneq => <-; apply/columnsP; exists z1; rewrite ?f1_ok.
  case: ifP => xJ; case: ifP => yJ fxy; first exact: f1_inj.
  - by have := apart x y xJ yI (negbT yJ); rewrite fxy eqxx.
  - by have := apart y x yJ xI (negbT xJ); rewrite fxy eqxx.
  - by apply: f2_inj => //; rewrite inE ?xJ ?yJ.
have [y0 x0y0] : exists y, ok x0 y.
  have := enough [set x0]; rewrite sub1set cards1 => /(_ x0I); rewrite card_gt0 => /set0Pn[y /columnsP[x]].
  by rewrite inE => /eqP -> ?; exists y.
pose ok' x y := ok x y && (y != y0).
have [||f [f_inj f_ok]] := IH ok' (I :\ x0).
- by rewrite -ltnS (leq_trans _ I_small) // [#|I|](cardsD1 x0) x0I.
- move=> K KI; have [->|[x1 x1K]] := set_0Vmem K; first by rewrite cards0.
  have more : #|K| < #|columns ok K|.
    have KI' : K \proper I.
      rewrite properE (subset_trans KI (subsetDl _ _)); apply/negP => /subsetP/(_ x0 x0I) /(subsetP KI).
      by rewrite !inE eqxx.
    have := no_tight K; rewrite KI' /=; have -> : K != set0 by apply/set0Pn; exists x1.
    by move=> /= tight; rewrite ltn_neqAle eq_sym tight enough // proper_sub.
  rewrite -ltnS; apply: leq_trans more _; rewrite (cardsD1 y0 (columns ok K)) -add1n leq_add ?leq_b1 //.
  apply/subset_leq_card/subsetP => y; rewrite !inE => /andP[yy0 /exists_inP[x xK xy]].
  by apply/exists_inP; exists x; rewrite // /ok' xy.
exists (fun x => if x == x0 then y0 else f x); split=> [x y xI yI|x xI]; last first.
  by case: eqP => [->//|/eqP xx0]; have /andP[] : ok' x (f x) by apply: f_ok; rewrite !inE xx0.
have apart z : z \in I -> z != x0 -> f z != y0.
  by move=> zI zx0; have /andP[] : ok' z (f z) by apply: f_ok; rewrite !inE zx0.
case: (x =P x0) => [->|/eqP xx0]; case: (y =P x0) => [->//|/eqP yx0] fxy.
- by have := apart y yI yx0; rewrite -fxy eqxx.
- by have := apart x xI xx0; rewrite fxy eqxx.
- by apply: f_inj => //; rewrite !inE ?xx0 ?yx0.
Qed.

End Hall.

Section Birkhoff.

Variables (R : realDomainType) (S : finType).
Implicit Types (X F : S -> S -> R) (s : {perm S}) (d : R).
Local Open Scope ring_scope.

Definition stochastic d X : Prop :=
  [/\ forall x y, 0 <= X x y, forall x, \sum_y X x y = d & forall y, \sum_x X x y = d].

Definition cost X F : R := \sum_x \sum_y X x y * F x y.
Definition cost_of s F : R := \sum_x F x (s x).

Lemma support d X : 0 < d -> stochastic d X -> exists s, forall x, 0 < X x (s x).
Proof.
move=> d0 [X0 rows cols]; have [x0 _|S0] := pickP S; last by exists 1%g => x; have := S0 x.
have [|f [f_inj f_ok]] := @hall S S x0 (fun x y => 0 < X x y) setT; last first.
  have f_inj' : injective f by move=> x y; apply: f_inj; rewrite inE.
  by exists (perm f_inj') => x; rewrite permE; apply: f_ok; rewrite inE.
move=> J _; set N := columns _ J; rewrite -(ler_pmuln2l d0) -!sumr_const.
have -> : \sum_(x in J) d = \sum_(y in N) \sum_(x in J) X x y.
  rewrite exchange_big /=; apply: eq_bigr => x xJ; rewrite -(rows x) (bigID (mem N)) /= [X in _ + X]big1 ?addr0 //.
  move=> y yN; apply/eqP; rewrite eq_le X0 andbT leNgt; apply: contra yN => xy.
  by apply/columnsP; exists x.
apply: ler_sum => y _; rewrite -(cols y) [leRHS](bigID (mem J)) /= ler_addl.
by apply: sumr_ge0.
Qed.

Lemma best_permutation d X F : 0 < d -> stochastic d X ->
  exists s, (forall x, 0 < X x (s x)) /\ cost X F <= d * cost_of s F.
Proof.
move: {2}#|[set xy | 0 < X xy.1 xy.2]| (leqnn #|[set xy | 0 < X xy.1 xy.2]|) => n.
elim: n d X => [|n IH] d X small d0 X_st; have [s s_in] := support d0 X_st; have [X0 rows cols] := X_st.
  have [x0 _|S0] := pickP S; last first.
    by exists s; split=> //; rewrite /cost /cost_of !big1 ?mulr0 // => x; have := S0 x.
  have positive : (0 < #|[set xy | (0 < X xy.1 xy.2)%R]|)%N by apply/card_gt0P; exists (x0, s x0); rewrite inE; apply: s_in.
  by rewrite leqNgt positive in small.
have [x0 _|S0] := pickP S; last first.
  by exists s; split=> //; rewrite /cost /cost_of !big1 ?mulr0 // => x; have := S0 x.
pose x1 := [arg min_(x < x0) X x (s x)]%O; pose eps := X x1 (s x1).
have least x : eps <= X x (s x) by rewrite /eps /x1; case: arg_minP => // z _; apply.
have eps0 : 0 < eps by apply: s_in.
pose P x y := eps *+ (s x == y); pose X' x y := X x y - P x y.
have P_row x : \sum_y P x y = eps.
  by rewrite (bigD1 (s x)) //= /P eqxx big1 ?addr0 // => y; rewrite eq_sym => /negPf->.
have P_col y : \sum_x P x y = eps.
  rewrite (bigD1 ((s^-1)%g y)) //= /P permKV eqxx big1 ?addr0 // => x; apply: contraNeq => sxy.
  by rewrite -(permK s x); case: (s x =P y) sxy => [->|] //; rewrite mulr0n eqxx.
have P_cost : cost P F = eps * cost_of s F.
  rewrite /cost /cost_of mulr_sumr; apply: eq_bigr => x _.
  by rewrite (bigD1 (s x)) //= /P eqxx big1 ?addr0 // => y; rewrite eq_sym => /negPf->; rewrite mul0r.
have X_cost : cost X F = cost X' F + eps * cost_of s F.
  rewrite -P_cost /cost -big_split; apply: eq_bigr => x _; rewrite -big_split; apply: eq_bigr => y _ /=.
  by rewrite -mulrDl subrK.
have X'_st : stochastic (d - eps) X'.
  split=> [x y|x|y]; last 2 first.
  - by rewrite sumrB rows P_row.
  - by rewrite sumrB cols P_col.
  by rewrite /X' /P subr_ge0; case: eqP => [<-|_]; rewrite ?mulr1n ?mulr0n.
have [X'0 X'rows _] := X'_st.
have eps_d : eps <= d.
  rewrite -(rows x1) (bigD1 (s x1)) //= ler_addl; apply: sumr_ge0 => y _; exact: X0.
have [d_eps|d_eps] := eqVneq (d - eps) 0.
  exists s; split=> //; rewrite X_cost -(subrK eps d) d_eps add0r /cost big1 ?add0r // => x _; rewrite big1 // => y _.
  suff -> : X' x y = 0 by rewrite mul0r.
  apply/eqP; rewrite eq_le X'0 andbT -d_eps -(X'rows x) (bigD1 y) //= ler_addl.
  by apply: sumr_ge0 => z _; apply: X'0.
have [||t [t_in t_cost]] := IH (d - eps) X' _ _ X'_st.
- rewrite -ltnS; apply: leq_trans small; apply: proper_card; apply/properP; split.
    apply/subsetP => -[x y]; rewrite !inE /= => /lt_le_trans; apply.
    by rewrite /X' ler_subl_addl ler_addr /P mulrn_wge0 // ltW.
  exists (x1, s x1); rewrite !inE /= ?s_in // /X' /P eqxx mulr1n -/eps subrr ltxx //.
- by rewrite lt_neqAle eq_sym d_eps subr_ge0.
have t_in' x : 0 < X x (t x).
  by apply: lt_le_trans (t_in x) _; rewrite /X' ler_subl_addl ler_addr /P mulrn_wge0 // ltW.
have [le_st|/ltW le_ts] := leP (cost_of s F) (cost_of t F); [exists t | exists s]; split=> //; rewrite X_cost.
  apply: le_trans (ler_add t_cost (ler_wpmul2l (ltW eps0) le_st)) _.
  by rewrite -mulrDl subrK.
have d_eps0 : 0 <= d - eps by rewrite subr_ge0.
apply: le_trans (ler_add (le_trans t_cost (ler_wpmul2l d_eps0 le_ts)) (lexx _)) _.
by rewrite -mulrDl subrK.
Qed.

End Birkhoff.

(* Partial correspondences: sets D of clean records with the perturbed records that a correspondence s0 gives them.

   same_table          s has the table of q: as many pairs of each colour of the clean and of the perturbed record
   extend              a partial correspondence inside one cell of the table of q is part of one with that table
   off_diagonal        t pairs of records in X and Y, each of two colours: possible as far as X, Y and, for every
                       colour, the records of X and Y that do not bear it allow
   on_diagonal         t pairs of records in X and Y, each of one colour: possible up to the sum over the colours of the
                       smaller count *)

From mathcomp Require Import all_ssreflect fingroup perm.
From Pairbounds Require Import arithmetic correspondence contingency.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Extend.

Variables (T : finType) (I J : eqType) (f : T -> I) (g : T -> J).

(* A permutation that keeps the colour and takes X to Y. *)
Lemma move_within (K : eqType) (h : T -> K) (c : K) (X Y : {set T}) :
    (forall x, x \in X -> h x = c) -> (forall y, y \in Y -> h y = c) -> #|X| = #|Y| ->
  exists u : {perm T}, (forall x, h (u x) = h x) /\ (forall x, (u x \in Y) = (x \in X)).
Proof.
move=> hX hY same.
have inside (Z : {set T}) i : (forall x, x \in Z -> h x = c) ->
  #|[set x | (h x, x \in Z) == (i, true)]| = if i == c then #|Z| else 0.
  move=> hZ; case: eqP => [->|i_c]; last first.
    apply: eq_card0 => x; rewrite !inE xpair_eqE; apply/negP => /andP[/eqP hx /eqP xZ].
    by case: i_c; rewrite -hx hZ.
  by apply: eq_card => x; rewrite !inE xpair_eqE eqb_id; case: (boolP (x \in Z)) => [/hZ ->|]; rewrite ?eqxx ?andbF.
have outside (Z : {set T}) i : #|[set x | (h x, x \in Z) == (i, true)]| + #|[set x | (h x, x \in Z) == (i, false)]| =
  #|[set x | h x == i]|.
  rewrite -(card_split [set x | h x == i] (fun x => x \in Z)).
  by congr (_ + _); apply: eq_card => x; rewrite !inE xpair_eqE ?eqb_id ?eqbF_neg.
have [|u [u_inj hu]] := @join_colours T T _ (fun x => (h x, x \in X)) (fun x => (h x, x \in Y)).
  case=> i b; have inX := inside X i hX; have inY := inside Y i hY; have outX := outside X i; have outY := outside Y i.
  by case: b; [rewrite inX inY same | move: inX inY outX outY same; case: ifP => _; count_lia].
by exists (perm u_inj); split=> x; rewrite permE; case: (hu x).
Qed.

Definition same_table (s q : {perm T}) : Prop :=
  forall (P : pred I) (Q : pred J), #|[set x | P (f x) && Q (g (s x))]| = #|[set x | P (f x) && Q (g (q x))]|.

Lemma extend (i : I) (j : J) (s0 q : {perm T}) (D : {set T}) :
    (forall x, x \in D -> f x = i /\ g (s0 x) = j) ->
    #|D| <= #|[set x | (f x == i) && (g (q x) == j)]| ->
  exists s : {perm T}, same_table s q /\ {in D, s =1 s0}.
Proof.
move=> D_cell D_le.
have [D' [D'_cell D'_card]] : exists D' : {set T}, D' \subset [set x | (f x == i) && (g (q x) == j)] /\ #|D'| = #|D|.
  set Z := [set x | _] in D_le *; exists [set x in take #|D| (enum Z)]; split.
    by apply/subsetP=> x; rewrite inE => /mem_take; rewrite mem_enum.
  by rewrite cardsE (card_uniqP (take_uniq _ (enum_uniq _))) size_take -cardE; case: ltngtP D_le => // ->.
have D'P x : x \in D' -> f x = i /\ g (q x) = j by move/(subsetP D'_cell); rewrite inE => /andP[/eqP ? /eqP ?].
have [|||u [fu uD]] := @move_within I f i D D'; first by move=> x /D_cell[].
- by move=> x /D'P[].
- by [].
have [|||t [gt tD]] := @move_within J g j (q @: D') (s0 @: D).
- by move=> y /imsetP[x /D'P[_ ?] ->].
- by move=> y /imsetP[x /D_cell[_ ?] ->].
- by rewrite !card_imset //; apply: perm_inj.
pose r := (u * q * t)%g.
have rE x : r x = t (q (u x)) by rewrite !permM.
have rD x : (r x \in s0 @: D) = (x \in D) by rewrite rE tD mem_imset ?uD //; apply: perm_inj.
pose h x := if x \in D then s0 x else r x.
have h_inj : injective h.
  move=> x y; rewrite /h; case: ifP => xD; case: ifP => yD.
  - exact: perm_inj.
  - by move=> sr; have := rD y; rewrite -sr yD imset_f.
  - by move=> sr; have := rD x; rewrite sr xD imset_f.
  - exact: perm_inj.
have gh x : g (perm h_inj x) = g (q (u x)).
  rewrite permE /h; case: ifP => xD; last by rewrite rE gt.
  by rewrite (D_cell x xD).2 (D'P (u x) _).2 ?uD.
exists (perm h_inj); split=> [P Q|x xD]; last by rewrite permE /h xD.
rewrite -(card_imset _ (@perm_inj _ u)); apply: eq_card => y; rewrite !inE; apply/imsetP/idP => [[x]|PQ].
  by rewrite inE gh -fu => ? ->.
by exists ((u^-1)%g y); rewrite ?permKV // inE gh -fu permKV.
Qed.

End Extend.

Section Diagonal.

Variables (T : finType) (C : eqType) (X Y : {set T}) (a b : T -> C).

(* Give the new clean record x the perturbed record y; the records of D keep theirs. *)
Let add (s : {perm T}) (x y : T) : {perm T} := (s * tperm (s x) y)%g.

Let add_new (s : {perm T}) x y : add s x y x = y.
Proof. by rewrite permM tpermL. Qed.

Let add_old (s : {perm T}) x y (D : {set T}) z : x \notin D -> y \notin s @: D -> z \in D -> add s x y z = s z.
Proof.
move=> xD yD zD; rewrite permM tpermD //.
  by apply: contra xD => /eqP /perm_inj ->.
by apply: contra yD => /eqP ->; rewrite imset_f.
Qed.

Lemma free_record (Z D : {set T}) : #|D| < #|Z| -> exists x, (x \in Z) && (x \notin D).
Proof.
move=> D_Z; apply/existsP; rewrite -[[exists _, _]]negbK; apply/negP => none.
suff : #|Z| <= #|D| by rewrite leqNgt D_Z.
apply/subset_leq_card/subsetP => x xZ; apply: contraR none => xD.
by apply/existsP; exists x; rewrite xZ.
Qed.

Lemma off_diagonal t :
    t <= #|X| -> t <= #|Y| ->
    (forall c, t <= #|[set x in X | a x != c]| + #|[set y in Y | b y != c]|) ->
  exists (s : {perm T}) (D : {set T}), [/\ #|D| = t, D \subset pairs s X Y & {in D, forall x, a x != b (s x)}].
Proof.
elim: t => [|t IH] tX tY tc.
  by exists 1%g, set0; rewrite cards0 sub0set; split=> // x; rewrite inE.
have [||c|s [D [D_t D_XY D_off]]] := IH; try exact: ltnW.
have DX x : x \in D -> x \in X /\ s x \in Y by move/(subsetP D_XY); rewrite in_pairs => /andP.
have sD_t : #|s @: D| = t by rewrite card_imset //; apply: perm_inj.
have [x0 /andP[x0X x0D]] : exists x, (x \in X) && (x \notin D) by apply: free_record; rewrite D_t.
have [y0 /andP[y0Y y0D]] : exists y, (y \in Y) && (y \notin s @: D) by apply: free_record; rewrite sD_t.
have grow x y : x \in X -> x \notin D -> y \in Y -> y \notin s @: D -> a x != b y ->
  exists (s' : {perm T}) (D' : {set T}), [/\ #|D'| = t.+1, D' \subset pairs s' X Y & {in D', forall x, a x != b (s' x)}].
  move=> xX xD yY yD ab; exists (add s x y), (x |: D); split.
  - by rewrite cardsU1 xD D_t.
  - apply/subsetP => z; rewrite in_setU1 in_pairs => /predU1P[->|zD]; first by rewrite add_new xX.
    by rewrite (add_old xD yD zD); have [-> ->] := DX z zD.
  - by move=> z; rewrite in_setU1 => /predU1P[->|zD]; [rewrite add_new | rewrite (add_old xD yD zD) D_off].
case: (altP (a x0 =P b y0)) => [ab|]; last exact: grow.
(* All free records bear one colour, else two of them make a pair. *)
case: (boolP [exists x, [&& x \in X, x \notin D & a x != a x0]]) => [/existsP[x /and3P[xX xD xa]]|/existsPn allX].
  by apply: (grow x y0); rewrite // -ab.
case: (boolP [exists y, [&& y \in Y, y \notin s @: D & b y != a x0]]) => [/existsP[y /and3P[yY yD yb]]|/existsPn allY].
  by apply: (grow x0 y); rewrite // eq_sym.
(* Then some pair bears it on neither side, and is broken up. *)
have [x1 /and3P[x1D x1a x1b]] : exists x, [&& x \in D, a x != a x0 & b (s x) != a x0].
  apply/existsP; rewrite -[[exists _, _]]negbK; apply/negP => /existsPn none.
  suff : #|[set x in X | a x != a x0]| + #|[set y in Y | b y != a x0]| <= t by rewrite leqNgt tc.
  rewrite -D_t -(card_split D (fun x => a x != a x0)); apply: leq_add.
    apply/subset_leq_card/subsetP => x; rewrite !inE => /andP[xX xa]; rewrite xa andbT.
    by have := allX x; rewrite xX xa andbT negbK.
  rewrite -[X in _ <= X](card_imset _ (@perm_inj _ s)); apply/subset_leq_card/subsetP => y; rewrite inE => /andP[yY yb].
  have := allY y; rewrite yY yb andbT negbK => /imsetP[x xD yx]; rewrite yx; apply: imset_f.
  by rewrite inE xD; have := none x; rewrite xD -yx yb andbT.
have x1X := (DX x1 x1D).1; have x1Y := (DX x1 x1D).2.
have x0_x1 : x0 != x1 by apply: contraNneq x0D => ->.
have y0_s x : x \in D -> y0 != s x by move=> xD; apply: contraNneq y0D => ->; rewrite imset_f.
have s_other x y : x != y -> s x != s y by rewrite (inj_eq perm_inj).
pose s' := (s * tperm (s x0) y0 * tperm y0 (s x1))%g.
have s'0 : s' x0 = s x1 by rewrite !permM tpermL tpermL.
have s'1 : s' x1 = y0.
  by rewrite !permM [tperm (s x0) y0 _]tpermD ?tpermR ?s_other ?y0_s.
have s'D x : x \in D -> x != x1 -> s' x = s x.
  move=> xD x_x1; have x_x0 : x0 != x by apply: contraNneq x0D => ->.
  by rewrite !permM [tperm (s x0) y0 _]tpermD ?tpermD ?s_other ?y0_s // eq_sym.
exists s', (x0 |: D); split.
- by rewrite cardsU1 x0D D_t.
- apply/subsetP => x; rewrite in_setU1 in_pairs => /predU1P[->|xD]; first by rewrite s'0 x0X.
  case: (altP (x =P x1)) => [->|x_x1]; first by rewrite s'1 x1X.
  by rewrite s'D //; have [-> ->] := DX x xD.
- move=> x; rewrite in_setU1 => /predU1P[->|xD]; first by rewrite s'0 eq_sym.
  case: (altP (x =P x1)) => [->|x_x1]; first by rewrite s'1 -ab.
  by rewrite s'D // D_off.
Qed.

End Diagonal.

Lemma on_diagonal (T : finType) (C : finType) (X Y : {set T}) (a b : T -> C) t :
    t <= \sum_c minn #|[set x in X | a x == c]| #|[set y in Y | b y == c]| ->
  exists (s : {perm T}) (D : {set T}), [/\ #|D| = t, D \subset pairs s X Y & {in D, forall x, a x == b (s x)}].
Proof.
elim: t => [|t IH] t_sum.
  by exists 1%g, set0; rewrite cards0 sub0set; split=> // x; rewrite inE.
have [|s [D [D_t D_XY D_on]]] := IH; first exact: ltnW.
have DX x : x \in D -> x \in X /\ s x \in Y by move/(subsetP D_XY); rewrite in_pairs => /andP.
have [c c_free] : exists c, #|[set x in D | a x == c]| < minn #|[set x in X | a x == c]| #|[set y in Y | b y == c]|.
  apply/existsP; rewrite -[[exists _, _]]negbK; apply/negP => /existsPn none.
  suff : \sum_c minn #|[set x in X | a x == c]| #|[set y in Y | b y == c]| <= t by rewrite leqNgt t_sum.
  rewrite -D_t -sum1_card (partition_big a xpredT) //=; apply: leq_sum => c _.
  by have := none c; rewrite -leqNgt => /leq_trans; apply; rewrite sum1dep_card; apply/eq_leq/eq_card => x; rewrite !inE.
have [x /andP[]] : exists x, (x \in [set x in X | a x == c]) && (x \notin [set x in D | a x == c]).
  by apply: free_record; move: c_free; rewrite leq_min => /andP[].
rewrite !inE => /andP[xX xc]; rewrite xc andbT => xD.
have [y /andP[]] : exists y, (y \in [set y in Y | b y == c]) && (y \notin s @: [set x in D | a x == c]).
  by apply: free_record; move: c_free; rewrite card_imset ?leq_min => [/andP[]|]//; apply: perm_inj.
rewrite inE => /andP[yY yc] y_free.
have yD : y \notin s @: D.
  apply: contra y_free => /imsetP[z zD yz]; rewrite yz imset_f // inE zD.
  by rewrite (eqP (D_on z zD)) -yz.
have s'D z : z \in D -> (s * tperm (s x) y)%g z = s z.
  move=> zD; rewrite permM tpermD //.
    by apply: contra xD => /eqP /perm_inj ->.
  by apply: contra yD => /eqP ->; rewrite imset_f.
exists (s * tperm (s x) y)%g, (x |: D); split.
- by rewrite cardsU1 xD D_t.
- apply/subsetP => z; rewrite in_setU1 in_pairs => /predU1P[->|zD]; first by rewrite permM tpermL xX.
  by rewrite s'D //; have [-> ->] := DX z zD.
- move=> z; rewrite in_setU1 => /predU1P[->|zD]; first by rewrite permM tpermL (eqP xc) eq_sym.
  by rewrite s'D // D_on.
Qed.

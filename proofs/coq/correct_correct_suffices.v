(* C2: knowing the wrong-wrong pairs tells nothing about the retained-correct pairs beyond their number.

   correct_correct_suffices    for correspondences p and q with equally many retained-correct pairs there is one, r,
                               with exactly the retained-correct pairs of p and exactly the wrong-wrong pairs of q
   same_attained_values        F: any quantity of the retained-correct pairs, or several at once; G: any fact about the
                               wrong-wrong pairs, of however fine a table; if k and G are possible together, then
                               F attains the same values given k and given k and G
   same_attained_sums          the same for a sum of f x (s x) over the retained-correct pairs, in any commutative
                               monoid (R, op, idx), given k and given k and the number of persistent-wrong pairs
   family_...                  the same three for a family of classes: one for each i, each with its own images, labels
                               and correspondence; k and the other knowledge are given class by class
   Monoid.com_law idx          the operations op on R that are associative and commutative, with idx neutral
   \big[op/idx]_(x in X) f x   the sum (product, union, ...) of f x over x in X by op; idx where X is empty *)

From mathcomp Require Import all_ssreflect fingroup perm.
From Pairbounds Require Import arithmetic correspondence contingency.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section OneClass.

Variables (T : finType) (L : eqType) (e : class T L).
Implicit Types p q r s : {perm T}.

Theorem correct_correct_suffices p q :
    #|cc e p| = #|cc e q| ->
  exists r, [/\ cc e r = cc e p, ww e r = ww e q, {in cc e p, r =1 p} & {in ww e q, r =1 q}].
Proof.
move=> same_k.
have [|u uP] := @move_set T (cw e p) (cw e q).
  by have := card_cc_cw e p; have := card_cc_cw e q; count_lia.
have [|t tP] := @move_set T (wc e q) (wc e p).
  by have := card_cc_wc e p; have := card_cc_wc e q; count_lia.
(* Keep the pairs asked for; join the rest through u and t. *)
pose h x := if x \in A e then if p x \in B e then p x else q (u x)
            else if q x \in B e then p (t x) else q x.
have u_cw x : x \in A e -> p x \notin B e -> (u x \in A e) && (q (u x) \notin B e).
  by move=> xA xB; have := uP x; rewrite !in_pairs !in_setC xA xB.
have t_wc x : x \notin A e -> q x \in B e -> (t x \notin A e) && (p (t x) \in B e).
  by move=> xA xB; have := tP x; rewrite !in_pairs !in_setC xA xB.
have h_B x : (h x \in B e) = if x \in A e then p x \in B e else q x \in B e.
  rewrite /h; case: (boolP (x \in A e)) => xA.
    by case: (boolP (p x \in B e)) => // xB; case/andP: (u_cw x xA xB) => _ /negbTE.
  by case: (boolP (q x \in B e)) => xB; [case/andP: (t_wc x xA xB) | apply: negbTE].
have h_inj : injective h.
  move=> x y hxy; have := congr1 (fun z => z \in B e) hxy; rewrite /= (h_B x) (h_B y).
  move: hxy; rewrite /h.
  case: (boolP (x \in A e)) => xA; case: (boolP (y \in A e)) => yA.
  - case: (boolP (p x \in B e)) => xB; case: (boolP (p y \in B e)) => yB // + _ => /perm_inj //.
    exact: perm_inj.
  - case: (boolP (p x \in B e)) => xB; case: (boolP (q y \in B e)) => yB // + _ => /perm_inj xy.
      by case/andP: (t_wc y yA yB); rewrite -xy xA.
    by case/andP: (u_cw x xA xB); rewrite xy (negPf yA).
  - case: (boolP (q x \in B e)) => xB; case: (boolP (p y \in B e)) => yB // + _ => /perm_inj xy.
      by case/andP: (t_wc x xA xB); rewrite xy yA.
    by case/andP: (u_cw y yA yB); rewrite -xy (negPf xA).
  - case: (boolP (q x \in B e)) => xB; case: (boolP (q y \in B e)) => yB // + _ => /perm_inj //.
    exact: perm_inj.
exists (perm h_inj); split.
- by apply/setP => x; rewrite !in_pairs permE h_B; case: (x \in A e).
- by apply/setP => x; rewrite !in_pairs permE !in_setC h_B; case: (x \in A e).
- by move=> x; rewrite in_pairs permE /h => /andP[-> ->].
- by move=> x; rewrite in_pairs !in_setC permE /h => /andP[/negPf -> /negPf ->].
Qed.

Corollary same_pairs p q :
  #|cc e p| = #|cc e q| -> exists r, cc_pairs e r = cc_pairs e p /\ ww_pairs e r = ww_pairs e q.
Proof.
move=> /correct_correct_suffices[r [cc_r ww_r rp rq]]; exists r.
split.
  by rewrite /cc_pairs cc_r; apply: eq_in_imset => x xs; rewrite rp.
by rewrite /ww_pairs ww_r; apply: eq_in_imset => x xs; rewrite rq.
Qed.

Lemma card_cc_pairs s : #|cc_pairs e s| = #|cc e s|.
Proof. by rewrite card_imset // => x y []. Qed.

Corollary same_attained_values (V : Type) (F : {set T * T} -> V) (G : {set T * T} -> Prop) (k : nat) :
    (exists q, #|cc e q| = k /\ G (ww_pairs e q)) ->
  forall v : V,
    (exists p, #|cc e p| = k /\ F (cc_pairs e p) = v) <->
    (exists p, [/\ #|cc e p| = k, G (ww_pairs e p) & F (cc_pairs e p) = v]).
Proof.
move=> [q [kq Gq]] v; split=> [[p [kp Fp]]|[p [kp _ Fp]]]; last by exists p.
have [|r [cc_r ww_r]] := @same_pairs p q; first by rewrite kp.
by exists r; rewrite -(card_cc_pairs r) cc_r ww_r card_cc_pairs.
Qed.

Lemma card_ws_pairs s : #|ws e s| = #|[set xy in ww_pairs e s | clean e xy.1 == pert e xy.2]|.
Proof.
rewrite -(card_imset (mem (ws e s)) (f := fun x => (x, s x))) => [|x y [] //].
apply: eq_card => -[x y]; rewrite !inE; apply/imsetP/andP => [[z]|[/imsetP[z zw [-> ->]] /= same]].
  by rewrite inE => /andP[zw same] [-> ->]; rewrite imset_f.
by exists z; rewrite // inE zw.
Qed.

Lemma sum_cc_pairs (R : Type) (idx : R) (op : Monoid.com_law idx) (f : T -> T -> R) s :
  \big[op/idx]_(x in cc e s) f x (s x) = \big[op/idx]_(xy in cc_pairs e s) f xy.1 xy.2.
Proof. by rewrite big_imset //= => x y _ _ []. Qed.

Corollary same_attained_sums (R : Type) (idx : R) (op : Monoid.com_law idx) (f : T -> T -> R) (k s : nat) :
    (exists q, #|cc e q| = k /\ #|ws e q| = s) ->
  forall v : R,
    (exists p, #|cc e p| = k /\ \big[op/idx]_(x in cc e p) f x (p x) = v) <->
    (exists p, [/\ #|cc e p| = k, #|ws e p| = s & \big[op/idx]_(x in cc e p) f x (p x) = v]).
Proof.
move=> feasible v.
pose G (ww : {set T * T}) := #|[set xy in ww | clean e xy.1 == pert e xy.2]| = s.
pose F (cc : {set T * T}) := \big[op/idx]_(xy in cc) f xy.1 xy.2.
have [|one two] := @same_attained_values R F G k _ v.
  by have [q [kq sq]] := feasible; exists q; rewrite /G -card_ws_pairs.
split=> [[p [kp Fp]]|[p [kp _ Fp]]]; last by exists p.
have [|r [kr Gr Fr]] := one; first by exists p; rewrite /F -sum_cc_pairs.
by exists r; rewrite card_ws_pairs sum_cc_pairs.
Qed.

End OneClass.

Section Family.

Variables (I : finType) (T : I -> finType) (L : I -> eqType) (e : forall i, class (T i) (L i)).
Implicit Types p q : forall i, {perm T i}.

Theorem family_correct_correct_suffices p q :
    (forall i, #|cc (e i) (p i)| = #|cc (e i) (q i)|) ->
  exists r : forall i, {perm T i}, forall i,
    [/\ cc (e i) (r i) = cc (e i) (p i), ww (e i) (r i) = ww (e i) (q i),
        {in cc (e i) (p i), r i =1 p i} & {in ww (e i) (q i), r i =1 q i}].
Proof.
move=> same_k.
pose good i (r : {perm T i}) :=
  [&& cc (e i) r == cc (e i) (p i), ww (e i) r == ww (e i) (q i),
      [forall x in cc (e i) (p i), r x == p i x] & [forall x in ww (e i) (q i), r x == q i x]].
have goodP i : exists r, good i r.
  have [r [cc_r ww_r rp rq]] := correct_correct_suffices (same_k i).
  exists r; apply/and4P; split; try exact/eqP.
    by apply/forall_inP => x xs; rewrite rp.
  by apply/forall_inP => x xs; rewrite rq.
exists (fun i => xchoose (goodP i)) => i.
have /and4P[/eqP cc_r /eqP ww_r /forall_inP rp /forall_inP rq] := xchooseP (goodP i).
by split=> // x xs; apply/eqP; [apply: rp | apply: rq].
Qed.

Corollary family_same_attained_sums (R : Type) (idx : R) (op : Monoid.com_law idx) (f : forall i, T i -> T i -> R)
    (G : forall i, {set T i * T i} -> Prop) (k : I -> nat) :
    (exists q, forall i, #|cc (e i) (q i)| = k i /\ G i (ww_pairs (e i) (q i))) ->
  forall v : R,
    (exists p, (forall i, #|cc (e i) (p i)| = k i) /\
       \big[op/idx]_i \big[op/idx]_(x in cc (e i) (p i)) f i x (p i x) = v) <->
    (exists p, (forall i, #|cc (e i) (p i)| = k i /\ G i (ww_pairs (e i) (p i))) /\
       \big[op/idx]_i \big[op/idx]_(x in cc (e i) (p i)) f i x (p i x) = v).
Proof.
move=> [q qP] v; split=> -[p [kp sum_p]]; last by exists p; split=> // i; case: (kp i).
have [|r rP] := @family_correct_correct_suffices p q; first by move=> i; rewrite kp; case: (qP i).
exists r; split=> [i|].
  have [cc_r ww_r _ rq] := rP i; have [kq Gq] := qP i; rewrite cc_r kp; split=> //.
  suff -> : ww_pairs (e i) (r i) = ww_pairs (e i) (q i) by [].
  by rewrite /ww_pairs ww_r; apply: eq_in_imset => x xs; rewrite rq.
rewrite -sum_p; apply: eq_bigr => i _; have [cc_r _ rp _] := rP i.
by rewrite cc_r; apply: eq_bigr => x xs; rewrite rp.
Qed.

Corollary family_same_attained_sums_five_states (R : Type) (idx : R) (op : Monoid.com_law idx)
    (f : forall i, T i -> T i -> R) (k s : I -> nat) :
    (exists q, forall i, #|cc (e i) (q i)| = k i /\ #|ws (e i) (q i)| = s i) ->
  forall v : R,
    (exists p, (forall i, #|cc (e i) (p i)| = k i) /\
       \big[op/idx]_i \big[op/idx]_(x in cc (e i) (p i)) f i x (p i x) = v) <->
    (exists p, (forall i, #|cc (e i) (p i)| = k i /\ #|ws (e i) (p i)| = s i) /\
       \big[op/idx]_i \big[op/idx]_(x in cc (e i) (p i)) f i x (p i x) = v).
Proof.
move=> feasible v.
pose G i (pairs : {set T i * T i}) := #|[set xy in pairs | clean (e i) xy.1 == pert (e i) xy.2]| = s i.
have [|one _] := @family_same_attained_sums R idx op f G k _ v.
  by have [q qP] := feasible; exists q => i; rewrite /G -card_ws_pairs.
split=> [/one|] [p [kp sum_p]]; exists p; split=> // i; last by case: (kp i).
by rewrite card_ws_pairs; apply: kp.
Qed.

End Family.

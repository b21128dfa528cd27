(* C13: accepted-error transitions, given only k, the number of retained-correct pairs.

   m = wrong_pairs e k is the number of pairs wrong on both sides, and #|A e| - k the number of lost pairs.

   Each of these says: v is attained iff it lies between the two ends, so both ends are attained, and every integer
   between. Instances of the block lemma.
   kept_accepted_errors                m - (W0 + W0') <= v <= min(E, E', m)
   new_accepted_errors                 v = E' - kept (card_kept_new), so E' less the ends of kept
   resolved_accepted_errors            v = E - kept (card_kept_resolved), so E less the ends of kept
   rejected_wrong_to_accepted_error    m - (E + W0') <= v <= min(W0, E', m)
   correct_to_accepted_error           (A - k) - W0' <= v <= min(A - k, E')
   accepted_correct_to_accepted_error  (A - k) - (A0 + W0') <= v <= min(A1, E', A - k)

   The next two say that both ends are valid and attained; values between may be missing. Here the set L of labels is
   finite, and e_l, e'_l are the numbers of accepted errors that predict l.
   kept_persistent_accepted_errors     from the largest m - ((W - e_l) + (W' - e'_l)) over l, 0 if that is less,
                                       to min(m, the sum of min(e_l, e'_l) over l)
   kept_changed_accepted_errors        from m - (W0 + W0') - (the sum of min(e_l, e'_l) over l)
                                       to min(m, E, E', the least (E - e_l) + (E' - e'_l) over l)
   holes_between                       both sides two accepted errors, of the labels 1 and 2: 0 or 2 kept-persistent
                                       and 0 or 2 kept-changed ones, never 1
   ends_attained e k q low high        q gives each correspondence a set of pairs, as kept_changed_ae e does; given k,
                                       its count is within low and high for all, low for one and high for one
   \max_l f l          the largest f l, 0 if there is none
   \sum_l f l          the sum of f l
   \big[minn/a]_l f l  the least of a and all f l *)

From mathcomp Require Import all_ssreflect fingroup perm.
From Pairbounds Require Import arithmetic correspondence contingency block feasible_correct_correct matching
  listed_classes.

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

Lemma le_least (L : finType) (F : L -> nat) (a t : nat) :
  (t <= \big[minn/a]_(l : L) F l) = (t <= a) && [forall l, t <= F l].
Proof.
have -> : [forall l, t <= F l] = all (fun l => t <= F l) (index_enum L).
  by apply/forallP/allP => [le_F l _|le_F l]; apply: le_F; rewrite ?mem_index_enum.
elim: (index_enum L) => [|l r IH]; first by rewrite big_nil andbT.
by rewrite big_cons leq_min IH /= andbCA.
Qed.

Section KeptSplit.

Variables (T : finType) (L : finType) (e : class T L) (k : nat).

Definition ends_attained (q : {perm T} -> {set T}) (low high : nat) : Prop :=
  [/\ forall s, #|cc e s| = k -> low <= #|q s| <= high,
      exists s, #|cc e s| = k /\ #|q s| = low & exists s, #|cc e s| = k /\ #|q s| = high].

Let m := wrong_pairs e k.
Let common := \sum_(l : L) minn #|err e l| #|err' e l|.

Let m_le : feasible_k e k -> m <= #|W e| /\ m <= #|W' e|.
Proof. by rewrite /feasible_k /m /wrong_pairs; have := card_AW e; have := card_BW' e; count_lia. Qed.

Let ww_m s : #|cc e s| = k -> #|ww e s| = m.
Proof. by rewrite card_ww => ->. Qed.

Let m_ww s : feasible_k e k -> #|ww e s| = m -> #|cc e s| = k.
Proof. by rewrite /feasible_k /m /wrong_pairs; have := card_ww_cc e s; count_lia. Qed.

Let kept_ww s : kept_ae e s \subset ww e s.
Proof. by apply/subsetP => x; rewrite !inE => /andP[/andP[-> _] /andP[-> _]]. Qed.

Let persistent_kept s : kept_persistent_ae e s \subset kept_ae e s.
Proof. by apply/subsetP => x; rewrite inE => /andP[]. Qed.

Let changed_kept s : kept_changed_ae e s \subset kept_ae e s.
Proof. by apply/subsetP => x; rewrite inE => /andP[]. Qed.

Let persistent_common s : #|kept_persistent_ae e s| <= common.
Proof.
rewrite -sum1_card (partition_big (clean e) xpredT) //=; apply: leq_sum => l _.
rewrite sum1dep_card leq_min -[X in _ && (X <= _)](card_imset _ (@perm_inj _ s)).
apply/andP; split; apply/subset_leq_card/subsetP => x.
  by rewrite in_set [x \in kept_persistent_ae e s]in_set in_pairs => /andP[/andP[/andP[xE _] _] xl]; rewrite in_set xE.
case/imsetP => z; rewrite in_set [z \in kept_persistent_ae e s]in_set in_pairs.
by move=> /andP[/andP[/andP[_ zE] same] zl] ->; rewrite in_set zE -(eqP same).
Qed.

Let card_other (X : {set T}) (label : T -> L) (l : L) :
  #|[set x in X | label x != l]| = #|X| - #|[set x in X | label x == l]|.
Proof. by have := card_split X (fun x => label x == l); count_lia. Qed.

Let persistent_low s l : #|ww e s| - ((#|W e| - #|err e l|) + (#|W' e| - #|err' e l|)) <= #|kept_persistent_ae e s|.
Proof.
have subW : err e l \subset W e by apply/subsetP => x; rewrite !inE => /andP[/andP[]].
have subW' : err' e l \subset W' e by apply/subsetP => x; rewrite !inE => /andP[/andP[]].
rewrite leq_subLR -(card_preim_perm s (W' e)) -(card_preim_perm s (err' e l)).
have preS : [set x | s x \in err' e l] \subset [set x | s x \in W' e].
  by apply/subsetP => x; rewrite in_set => sx; rewrite in_set; apply: (subsetP subW').
rewrite -!cardsDS //; apply: leq_trans (leq_add (leq_card_setU _ _).1 (leqnn _)).
apply: leq_trans (leq_card_setU _ _).1; apply/subset_leq_card/subsetP => x.
rewrite in_pairs => /andP[xW sxW']; rewrite !in_setU !in_setD xW [x \in [set _ | s _ \in W' e]]in_set sxW' !andbT.
case: (boolP (x \in err e l)) => //=; rewrite [x \in err e l]in_set => /andP[xE /eqP xl].
rewrite [x \in [set _ | _]]in_set; case: (boolP (s x \in err' e l)) => //=.
rewrite [s x \in err' e l]in_set => /andP[sxE' /eqP sxl].
by rewrite [x \in kept_persistent_ae e s]in_set in_pairs xE sxE' xl sxl eqxx.
Qed.

(* A partial correspondence of wrong records, of at most m pairs, is part of a correspondence with k. *)
Let extend_wrong s0 (D : {set T}) : feasible_k e k -> D \subset pairs s0 (W e) (W' e) -> #|D| <= m ->
  exists s, #|cc e s| = k /\ {in D, s =1 s0}.
Proof.
move=> k_feasible D_W D_m; have [q qk] := proj2 (feasible_correct_correct e k) k_feasible.
have [||s [table s_s0]] := @extend T _ _ (fun x => x \in W e) (fun y => y \in W' e) true true s0 q D.
- by move=> x /(subsetP D_W); rewrite in_pairs => /andP.
- apply: leq_trans D_m _; rewrite -(ww_m qk); apply/eq_leq/eq_card => x; rewrite in_pairs !inE.
  by rewrite !eqb_id.
exists s; split=> //; apply: m_ww => //; rewrite -(ww_m qk).
have {table} := table id id; rewrite /ww /pairs => <-.
by apply: eq_card => x; rewrite !in_set.
Qed.

Theorem kept_persistent_accepted_errors :
    feasible_k e k ->
  ends_attained (kept_persistent_ae e)
    (\max_(l : L) (wrong_pairs e k - ((#|W e| - #|err e l|) + (#|W' e| - #|err' e l|))))
    (minn (wrong_pairs e k) (\sum_(l : L) minn #|err e l| #|err' e l|)).
Proof.
rewrite -/m -/common => k_feasible; set low := \max_(l : L) _; have [mW mW'] := m_le k_feasible.
have valid s : #|cc e s| = k -> low <= #|kept_persistent_ae e s| <= minn m common.
  move=> sk; apply/andP; split; first by apply/bigmax_leqP => l _; rewrite -(ww_m sk); apply: persistent_low.
  rewrite leq_min persistent_common andbT -(ww_m sk).
  by apply/subset_leq_card/(subset_trans (persistent_kept s))/kept_ww.
split=> //.
- pose a x : L + bool := if x \in E e then inl (clean e x) else inr true.
  pose b y : L + bool := if y \in E' e then inl (pert e y) else inr false.
  have [|||s0 [D [D_t D_W D_off]]] := @off_diagonal T _ (W e) (W' e) a b (m - low).
  + by count_lia.
  + by count_lia.
  + case=> [l|c].
      have -> : #|[set x in W e | a x != inl l]| = #|W e| - #|err e l|.
        have := card_split (W e) (fun x => a x == inl l); suff -> : [set x in W e | a x == inl l] = err e l by count_lia.
        apply/setP => x; rewrite in_set [x \in err e l]in_set /a; case: (boolP (x \in E e)) => [xE|_]; last by rewrite andbF.
        by move: xE; rewrite in_set => /andP[-> _].
      have -> : #|[set y in W' e | b y != inl l]| = #|W' e| - #|err' e l|.
        have := card_split (W' e) (fun y => b y == inl l); suff -> : [set y in W' e | b y == inl l] = err' e l by count_lia.
        apply/setP => y; rewrite in_set [y \in err' e l]in_set /b; case: (boolP (y \in E' e)) => [yE|_]; last by rewrite andbF.
        by move: yE; rewrite in_set => /andP[-> _].
      have : m - ((#|W e| - #|err e l|) + (#|W' e| - #|err' e l|)) <= low by apply: leq_bigmax.
      by count_lia.
    case: c.
      have -> : [set y in W' e | b y != inr true] = W' e.
        by apply/setP => y; rewrite in_set /b; case: ifP; rewrite andbT.
      by count_lia.
    have -> : [set x in W e | a x != inr false] = W e.
      by apply/setP => x; rewrite in_set /a; case: ifP; rewrite andbT.
    by count_lia.
  have [||s [sk s_s0]] := extend_wrong (s0 := s0) (D := D) k_feasible; rewrite ?D_t ?leq_subr //.
  exists s; split=> //; have /andP[low_le _] := valid s sk; apply/eqP; rewrite eqn_leq low_le andbT.
  have subD : D \subset ww e s :\: kept_persistent_ae e s.
    apply/subsetP => x xD; have := subsetP D_W x xD; rewrite in_setD !in_pairs -(s_s0 x xD) => -> /=.
    rewrite andbT; apply/negP; rewrite in_set in_pairs => /andP[/andP[xE sxE] same].
    by have := D_off x xD; rewrite /a /b -(s_s0 x xD) xE sxE (eqP same) eqxx.
  have := subset_leq_card subD; rewrite D_t cardsDS ?(ww_m sk) ?(subset_trans (persistent_kept s)) ?kept_ww //.
  have : low <= m by apply/bigmax_leqP => l _; apply: leq_subr.
  have : #|kept_persistent_ae e s| <= m.
    by rewrite -(ww_m sk); apply/subset_leq_card/(subset_trans (persistent_kept s))/kept_ww.
  by count_lia.
- have [|s0 [D [D_t D_E D_on]]] := @on_diagonal T L (E e) (E' e) (clean e) (pert e) (minn m common).
    by rewrite geq_minr.
  have DE x : x \in D -> (x \in E e) && (s0 x \in E' e) by move/(subsetP D_E); rewrite in_pairs.
  have [||s [sk s_s0]] := extend_wrong (s0 := s0) (D := D) k_feasible.
  + by apply/subsetP => x /DE; rewrite in_pairs !in_set => /andP[/andP[-> _] /andP[-> _]].
  + by rewrite D_t geq_minl.
  exists s; split=> //; have /andP[_ le_high] := valid s sk; apply/eqP; rewrite eqn_leq le_high -D_t /=.
  apply/subset_leq_card/subsetP => x xD; have := DE x xD; have := D_on x xD.
  by rewrite [x \in kept_persistent_ae e s]in_set in_pairs (s_s0 x xD) => -> ->.
Qed.

Theorem kept_changed_accepted_errors :
    feasible_k e k ->
  ends_attained (kept_changed_ae e)
    (wrong_pairs e k - (#|W0 e| + #|W0' e|) - \sum_(l : L) minn #|err e l| #|err' e l|)
    (\big[minn/minn (wrong_pairs e k) (minn #|E e| #|E' e|)]_(l : L)
       ((#|E e| - #|err e l|) + (#|E' e| - #|err' e l|))).
Proof.
rewrite -/m -/common => k_feasible; set high := \big[minn/_]_(l : L) _; have [mW mW'] := m_le k_feasible.
have EW : E e \subset W e by apply/subsetP => x; rewrite in_set => /andP[].
have EW' : E' e \subset W' e by apply/subsetP => x; rewrite in_set => /andP[].
have high_l l : high <= (#|E e| - #|err e l|) + (#|E' e| - #|err' e l|).
  by have := leqnn high; rewrite {2}/high le_least => /andP[_ /forallP].
have : high <= minn m (minn #|E e| #|E' e|) by have := leqnn high; rewrite {2}/high le_least => /andP[].
rewrite !leq_min => /and3P[high_m high_E high_E'].
have kept_least s : #|cc e s| = k -> m - (#|W0 e| + #|W0' e|) <= #|kept_ae e s|.
  move=> sk; have [+ _] := kept_accepted_errors #|kept_ae e s| k_feasible.
  by move=> /(_ (ex_intro _ s (conj sk erefl))) /andP[].
have valid s : #|cc e s| = k -> m - (#|W0 e| + #|W0' e|) - common <= #|kept_changed_ae e s| <= high.
  move=> sk; apply/andP; split.
    by have := kept_least s sk; have := persistent_common s; have := card_kept_split e s; count_lia.
  have kept_m : #|kept_ae e s| <= m by rewrite -(ww_m sk); apply/subset_leq_card/kept_ww.
  have changed_le := subset_leq_card (changed_kept s).
  have := card_pairs_le s (E e) (E' e); rewrite leq_min => /andP[kept_E kept_E'].
  rewrite le_least !leq_min (leq_trans changed_le kept_m) (leq_trans changed_le kept_E) (leq_trans changed_le kept_E') /=.
  apply/forallP => l; rewrite -(card_other (E e)) -(card_other (E' e)) -(card_preim_perm s [set y in E' e | _]).
  apply: leq_trans (leq_card_setU _ _).1; apply/subset_leq_card/subsetP => x.
  rewrite [x \in kept_changed_ae e s]in_set in_pairs in_setU => /andP[/andP[xE sxE'] differ].
  rewrite [x \in [set _ in E e | _]]in_set xE [x \in [set _ | s _ \in _]]in_set [s x \in _]in_set sxE' /=.
  by case: (altP (clean e x =P l)) => //= xl; rewrite -xl eq_sym.
split=> //.
- pose kept_min := m - (#|W0 e| + #|W0' e|).
  have [q [qk q_kept]] : exists q, #|cc e q| = k /\ #|kept_ae e q| = kept_min.
    apply/(kept_accepted_errors kept_min k_feasible); rewrite -/m -/kept_min leqnn /=.
    by have := card_EW0 e; have := card_EW0' e; rewrite /kept_min; count_lia.
  have [|s0 [D [D_t D_E D_on]]] := @on_diagonal T L (E e) (E' e) (clean e) (pert e) (minn kept_min common).
    by rewrite geq_minr.
  have DE x : x \in D -> (x \in E e) && (s0 x \in E' e) by move/(subsetP D_E); rewrite in_pairs.
  have [||s [table s_s0]] := @extend T _ _ (fun x => (x \in W e, x \in E e)) (fun y => (y \in W' e, y \in E' e))
    (true, true) (true, true) s0 q D.
  + by move=> x /DE/andP[xE sxE']; rewrite xE sxE' (subsetP EW) ?(subsetP EW').
  + rewrite D_t (leq_trans (geq_minl _ _)) // -q_kept; apply/subset_leq_card/subsetP => x.
    by rewrite in_pairs => /andP[xE qxE']; rewrite in_set xE qxE' (subsetP EW) ?(subsetP EW').
  have sk : #|cc e s| = k.
    apply: m_ww => //; rewrite -(ww_m qk); have := table (fun c => c.1) (fun c => c.1).
    by rewrite /ww /pairs /= => ->.
  have s_kept : #|kept_ae e s| = kept_min.
    by rewrite -q_kept; have := table (fun c => c.2) (fun c => c.2); rewrite /kept_ae /pairs /= => ->.
  exists s; split=> //; have /andP[low_le _] := valid s sk.
  have : D \subset kept_persistent_ae e s.
    apply/subsetP => x xD; have := DE x xD; have := D_on x xD.
    by rewrite [x \in kept_persistent_ae e s]in_set in_pairs (s_s0 x xD) => -> ->.
  move=> /subset_leq_card; rewrite D_t; have := card_kept_split e s; rewrite s_kept.
  by move: low_le; rewrite -/kept_min; count_lia.
- have [|||s0 [D [D_t D_E D_off]]] := @off_diagonal T L (E e) (E' e) (clean e) (pert e) high; rewrite ?high_E ?high_E' //.
    by move=> l; rewrite !card_other; apply: high_l.
  have DE x : x \in D -> (x \in E e) && (s0 x \in E' e) by move/(subsetP D_E); rewrite in_pairs.
  have [||s [sk s_s0]] := extend_wrong (s0 := s0) (D := D) k_feasible.
  + by apply/subsetP => x /DE/andP[xE sxE']; rewrite in_pairs (subsetP EW) ?(subsetP EW').
  + by rewrite D_t.
  exists s; split=> //; have /andP[_ le_high] := valid s sk; apply/eqP; rewrite eqn_leq le_high -D_t /=.
  apply/subset_leq_card/subsetP => x xD; have := DE x xD; have := D_off x xD.
  by rewrite [x \in kept_changed_ae e s]in_set in_pairs (s_s0 x xD) => -> ->.
Qed.

End KeptSplit.

Definition two_errors := listed 2 [:: (1, yes); (2, yes)] [:: (1, yes); (2, yes)].

Theorem holes_between :
  (forall v, (exists s, #|cc two_errors s| = 0 /\ #|kept_persistent_ae two_errors s| = v) <-> v \in [:: 0; 2]) /\
  (forall v, (exists s, #|cc two_errors s| = 0 /\ #|kept_changed_ae two_errors s| = v) <-> v \in [:: 0; 2]).
Proof.
pose records := [:: (1, yes); (2, yes)].
pose kept same (x y : nat * bool) := [&& (x.1 != right) && x.2, (y.1 != right) && y.2 & (x.1 == y.1) == same].
have by_list (q : {perm 'I_2} -> {set 'I_2}) same (v : nat) :
  (forall s, #|q s| = number 2 records records (kept same) (codes s)) ->
  perm_eq (attained 2 (fun t => cc_number 2 records records t == 0) (number 2 records records (kept same)))
    [:: 0; 2] ->
  (exists s, #|cc two_errors s| = 0 /\ #|q s| = v) <-> v \in [:: 0; 2].
  move=> q_number /perm_mem <-; rewrite -attainedP; split=> -[s [s0 sv]]; exists s; move: s0 sv.
    by rewrite card_listed q_number => -> ->.
  by rewrite card_listed q_number => /eqP -> ->.
split=> v; [apply: (by_list (kept_persistent_ae two_errors) true) | apply: (by_list (kept_changed_ae two_errors) false)];
  try by vm_compute.
  by move=> s; apply: card_number => x; rewrite !inE /kept eqb_id -!andbA.
by move=> s; apply: card_number => x; rewrite !inE /kept eqbF_neg -!andbA.
Qed.

(* C6: the five-state table says more about accepted errors than k alone.

   five_state_inside           whatever is attained given k and s is attained given k, for every quantity
   persistence_informs_errors  the set can be strictly smaller: two classes of two images, by computation over both
                               correspondences; a record is (predicted label, accepted?), `right` is the true label,
                               and [:: a; b] is the list of a and b

   class             quantity                          given k = 0   given k = 0 and s = 0
   first_class       new accepted errors               0 or 1        0
   first_class       kept accepted errors              0 or 1        1
   second_class      rejected wrong to accepted error  0 or 1        1 *)

From mathcomp Require Import all_ssreflect fingroup perm.
From Pairbounds Require Import correspondence listed_classes.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Theorem five_state_inside (T : finType) (L : eqType) (e : class T L) (V : Type) (q : {perm T} -> V) (k s : nat) (v : V) :
  (exists p, [/\ #|cc e p| = k, #|ws e p| = s & q p = v]) -> exists p, #|cc e p| = k /\ q p = v.
Proof. by case=> p [pk _ pv]; exists p. Qed.

Definition first_class := listed 2 [:: (right, no); (1, yes)] [:: (1, no); (2, yes)].
Definition second_class := listed 2 [:: (right, no); (1, no)] [:: (1, no); (2, yes)].

Definition given_k (T : finType) (L : eqType) (e : class T L) (q : {perm T} -> {set T}) (k : nat) (v : nat) : Prop :=
  exists p : {perm T}, #|cc e p| = k /\ #|q p| = v.

Definition given_k_and_s (T : finType) (L : eqType) (e : class T L) (q : {perm T} -> {set T}) (k s : nat) (v : nat) :
  Prop := exists p : {perm T}, [/\ #|cc e p| = k, #|ws e p| = s & #|q p| = v].

Lemma by_list n clean perturbed (q : {perm 'I_n} -> {set 'I_n}) (number : seq nat -> nat) (k s v : nat) :
    let e := listed n clean perturbed in
    (forall p, #|q p| = number (codes p)) ->
  (given_k e q k v <-> v \in attained n (fun t => cc_number n clean perturbed t == k) number) *
  (given_k_and_s e q k s v <->
   v \in attained n (fun t => (cc_number n clean perturbed t == k) && (ws_number n clean perturbed t == s)) number).
Proof.
move=> e q_number; split; rewrite -attainedP.
  split=> -[p [pk pv]]; exists p; move: pk pv; rewrite card_listed q_number; first by move=> -> ->.
  by move=> /eqP -> ->.
split=> [[p [pk ps pv]]|[p [/andP[/eqP pk /eqP ps] pv]]]; exists p; move: pk ps pv; rewrite !card_listed q_number.
  by move=> -> -> ->; rewrite !eqxx.
by move=> -> -> ->.
Qed.

Theorem persistence_informs_errors :
  [/\ forall v, given_k       first_class (new_ae first_class) 0 v <-> v \in [:: 0; 1],
      forall v, given_k_and_s first_class (new_ae first_class) 0 0 v <-> v \in [:: 0],
      forall v, given_k       first_class (kept_ae first_class) 0 v <-> v \in [:: 0; 1] &
      forall v, given_k_and_s first_class (kept_ae first_class) 0 0 v <-> v \in [:: 1]] /\
  [/\ forall v, given_k       second_class (rejected_wrong_to_ae second_class) 0 v <-> v \in [:: 0; 1] &
      forall v, given_k_and_s second_class (rejected_wrong_to_ae second_class) 0 0 v <-> v \in [:: 1]].
Proof.
have new p : #|new_ae first_class p| = new_number 2 [:: (right, no); (1, yes)] [:: (1, no); (2, yes)] (codes p).
  by rewrite card_listed.
have kept p : #|kept_ae first_class p| = kept_number 2 [:: (right, no); (1, yes)] [:: (1, no); (2, yes)] (codes p).
  by rewrite card_listed.
have rejected p : #|rejected_wrong_to_ae second_class p| =
    rejected_wrong_number 2 [:: (right, no); (1, no)] [:: (1, no); (2, yes)] (codes p) by rewrite card_listed.
split; split=> v.
- by refine (iff_trans (fst (@by_list 2 _ _ _ _ 0 0 v new)) _); rewrite (@perm_mem _ _ [:: 0; 1]); last by vm_compute.
- by refine (iff_trans (snd (@by_list 2 _ _ _ _ 0 0 v new)) _); rewrite (@perm_mem _ _ [:: 0]); last by vm_compute.
- by refine (iff_trans (fst (@by_list 2 _ _ _ _ 0 0 v kept)) _); rewrite (@perm_mem _ _ [:: 0; 1]); last by vm_compute.
- by refine (iff_trans (snd (@by_list 2 _ _ _ _ 0 0 v kept)) _); rewrite (@perm_mem _ _ [:: 1]); last by vm_compute.
- by refine (iff_trans (fst (@by_list 2 _ _ _ _ 0 0 v rejected)) _); rewrite (@perm_mem _ _ [:: 0; 1]); last by vm_compute.
- by refine (iff_trans (snd (@by_list 2 _ _ _ _ 0 0 v rejected)) _); rewrite (@perm_mem _ _ [:: 1]); last by vm_compute.
Qed.

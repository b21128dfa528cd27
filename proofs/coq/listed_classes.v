(* Small classes written as lists, and statements about all their correspondences by computation.

   A record is (predicted label, accepted?). The label `right` is the true class.
   listed n clean perturbed    the class of n images with these clean and these perturbed records, in this order
   codes s                     the correspondence s as the list of the columns of rows 0, 1, ..., n - 1

   every_correspondence        some correspondence passes a test of its list iff some permutation of 0, ..., n - 1 does
   attained                    the values of a quantity over the correspondences that pass a test, as a list *)

From mathcomp Require Import all_ssreflect fingroup perm.
From Pairbounds Require Import arithmetic correspondence.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Notation right := 0.
Notation yes := true.
Notation no := false.

Definition record_at (side : seq (nat * bool)) (i : nat) : nat * bool := nth (right, no) side i.

Definition listed (n : nat) (clean perturbed : seq (nat * bool)) : class [finType of 'I_n] [eqType of nat] :=
  Class right
    (fun x : 'I_n => (record_at clean x).1) (fun y : 'I_n => (record_at perturbed y).1)
    (fun x : 'I_n => (record_at clean x).2) (fun y : 'I_n => (record_at perturbed y).2).

Definition codes (n : nat) (s : {perm 'I_n}) : seq nat := [seq val (s i) | i <- enum 'I_n].

Lemma nth_codes n (s : {perm 'I_n}) (i : 'I_n) : nth 0 (codes s) i = s i.
Proof. by rewrite (nth_map i) ?size_enum_ord // nth_ord_enum. Qed.

Lemma codes_permutation n (s : {perm 'I_n}) : codes s \in permutations (iota 0 n).
Proof.
rewrite mem_permutations -val_enum_ord /codes (map_comp val s); apply: perm_map; apply: uniq_perm.
- by rewrite map_inj_uniq ?enum_uniq //; apply: perm_inj.
- exact: enum_uniq.
by move=> i; rewrite mem_enum; apply/mapP; exists ((s^-1)%g i); rewrite ?mem_enum ?permKV.
Qed.

Lemma every_correspondence n (P : pred (seq nat)) :
  (exists s : {perm 'I_n}, P (codes s)) <-> has P (permutations (iota 0 n)).
Proof.
split=> [[s Ps]|/hasP[t + Pt]].
  by apply/hasP; exists (codes s); rewrite ?codes_permutation.
rewrite mem_permutations => t_iota.
have size_iota_n : size (iota 0 n) == n by rewrite size_iota.
have /tuple_permP[s ts] : perm_eq t (Tuple size_iota_n) by [].
exists s; suff -> : codes s = t by [].
rewrite ts /= /codes; apply: eq_map => i.
by rewrite (tnth_nth 0) /= nth_iota ?add0n.
Qed.

Definition attained (n : nat) (test : pred (seq nat)) (value : seq nat -> nat) : seq nat :=
  undup [seq value t | t <- permutations (iota 0 n) & test t].

Lemma attainedP n (test : pred (seq nat)) (value : seq nat -> nat) (v : nat) :
  (exists s : {perm 'I_n}, test (codes s) /\ value (codes s) = v) <-> v \in attained n test value.
Proof.
rewrite /attained mem_undup; split=> [[s [test_s value_s]]|/mapP[t t_filter ->]].
  have /(proj1 (@every_correspondence n _))/hasP[t t_in /eqP t_s] : exists s' : {perm 'I_n}, pred1 (codes s) (codes s').
    by exists s; rewrite /= eqxx.
  by apply/mapP; exists t; rewrite ?mem_filter ?t_in ?t_s ?test_s.
have := t_filter; rewrite mem_filter => /andP[test_t t_in].
have /(proj2 (@every_correspondence n _))[s /eqP st] : has (pred1 t) (permutations (iota 0 n)) by rewrite has_pred1.
by exists s; rewrite st.
Qed.

Section Counts.

Variables (n : nat) (clean perturbed : seq (nat * bool)).

(* The number of pairs (clean record, perturbed record) that pass a test. *)
Definition number (test : nat * bool -> nat * bool -> bool) (t : seq nat) : nat :=
  count (fun i => test (record_at clean i) (record_at perturbed (nth 0 t i))) (iota 0 n).

Lemma card_number test (s : {perm 'I_n}) (X : {set 'I_n}) :
    (forall x, (x \in X) = test (record_at clean x) (record_at perturbed (s x))) ->
  #|X| = number test (codes s).
Proof.
move=> Xtest; rewrite cardE /enum_mem size_filter -enumT /number -val_enum_ord (count_map val).
by apply: eq_count => x; rewrite -[mem X x]/(x \in X) Xtest /= nth_codes.
Qed.

Let e := listed n clean perturbed.

(* A record is right, or an accepted error. *)
Let ok (r : nat * bool) := r.1 == right.
Let ae (r : nat * bool) := (r.1 != right) && r.2.

Definition cc_number := number (fun x y => ok x && ok y).
Definition ws_number := number (fun x y => [&& ~~ ok x, ~~ ok y & x.1 == y.1]).
Definition lost_number := number (fun x y => [&& ok x, x.2, ok y & ~~ y.2]).
Definition new_number := number (fun x y => ~~ ae x && ae y).
Definition kept_number := number (fun x y => ae x && ae y).
Definition kept_changed_number := number (fun x y => [&& ae x, ae y & x.1 != y.1]).
Definition rejected_wrong_number := number (fun x y => [&& ~~ ok x, ~~ x.2 & ae y]).

Lemma card_listed s :
  (#|cc e s| = cc_number (codes s)) * (#|ws e s| = ws_number (codes s)) * (#|lost e s| = lost_number (codes s)) *
  (#|new_ae e s| = new_number (codes s)) * (#|kept_ae e s| = kept_number (codes s)) *
  (#|kept_changed_ae e s| = kept_changed_number (codes s)) *
  (#|rejected_wrong_to_ae e s| = rejected_wrong_number (codes s)).
Proof. by do !split; apply: card_number => x; rewrite !inE -?andbA. Qed.

End Counts.

(* C7: the linear relaxation of the programs over correspondences can be strictly loose, and rounding does not mend it.

   A point of the relaxation   says how much of each row goes to each column: here a table of whole numbers, in parts of
                               1/d, whose rows and columns all sum to d. A correspondence is such a table with d = 1.
   fractional n d X            X is such a table of n rows and n columns
   mass clean pert test X      what X puts on the pairs of records that pass the test, in parts of 1/d

   gap_of_new                  given k = 0 and s = 1, every correspondence has 2 new and 0 kept accepted errors, and a
                               point of the relaxation has 1 and 1
   gap_of_kept_changed         given k = 0 and s = 1, every correspondence has 0 kept, changed accepted errors, and a
                               point of the relaxation has 1/2
   gap_given_k                 given k = 1 alone, and a cost of 0 on the pairs of two permutations and 1 elsewhere, every
                               correspondence costs at least 1, and a point of the relaxation costs 0

   By computation over all correspondences; a record is (predicted label, accepted?), `right` is the true label. *)

From mathcomp Require Import all_ssreflect fingroup perm.
From Pairbounds Require Import correspondence listed_classes.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Definition entry (X : seq (seq nat)) (i j : nat) : nat := nth 0 (nth [::] X i) j.

Definition fractional (n d : nat) (X : seq (seq nat)) : bool :=
  all (fun i => sumn [seq entry X i j | j <- iota 0 n] == d) (iota 0 n) &&
  all (fun j => sumn [seq entry X i j | i <- iota 0 n] == d) (iota 0 n).

Definition mass (clean pert : seq (nat * bool)) (test : nat * bool -> nat * bool -> bool) (X : seq (seq nat)) : nat :=
  sumn [seq entry X i j | i <- iota 0 (size clean),
                          j <- [seq j <- iota 0 (size pert) | test (record_at clean i) (record_at pert j)]].

(* Tests on a clean and a perturbed record. *)
Definition is_cc (x y : nat * bool) := (x.1 == right) && (y.1 == right).
Definition is_ws (x y : nat * bool) := [&& x.1 != right, y.1 != right & x.1 == y.1].
Definition is_ae (x : nat * bool) := (x.1 != right) && x.2.
Definition is_new (x y : nat * bool) := ~~ is_ae x && is_ae y.
Definition is_kept (x y : nat * bool) := is_ae x && is_ae y.
Definition is_kept_changed (x y : nat * bool) := [&& is_ae x, is_ae y & x.1 != y.1].

Section Given.

Variables (n : nat) (clean pert : seq (nat * bool)) (k s : nat).

(* A test that every correspondence of these counts passes. *)
Lemma for_all_given (P : pred (seq nat)) :
    all (fun t => (cc_number n clean pert t == k) && (ws_number n clean pert t == s) ==> P t) (permutations (iota 0 n)) ->
  forall p : {perm 'I_n}, #|cc (listed n clean pert) p| = k -> #|ws (listed n clean pert) p| = s -> P (codes p).
Proof.
move=> /allP all_P p; rewrite !card_listed => pk ps.
by move: (all_P (codes p) (codes_permutation p)); rewrite pk ps !eqxx.
Qed.

End Given.

Definition clean1 := [:: (1, yes); (2, no); (2, no)].
Definition pert1 := [:: (2, yes); (1, yes); (right, no)].
Definition point1 := [:: [:: 2; 2; 0]; [:: 1; 1; 2]; [:: 1; 1; 2]].

Theorem gap_of_new :
  (forall p : {perm 'I_3}, #|cc (listed 3 clean1 pert1) p| = 0 -> #|ws (listed 3 clean1 pert1) p| = 1 ->
     #|new_ae (listed 3 clean1 pert1) p| = 2 /\ #|kept_ae (listed 3 clean1 pert1) p| = 0) /\
  [/\ fractional 3 4 point1, mass clean1 pert1 is_cc point1 = 0, mass clean1 pert1 is_ws point1 = 4 * 1,
      mass clean1 pert1 is_new point1 = 4 * 1 & mass clean1 pert1 is_kept point1 = 4 * 1].
Proof.
split; last by split; vm_compute.
move=> p pk ps; rewrite !card_listed.
pose P t := (new_number 3 clean1 pert1 t == 2) && (kept_number 3 clean1 pert1 t == 0).
have /andP[/eqP-> /eqP->] // : P (codes p) by apply: for_all_given pk ps; vm_compute.
Qed.

Definition clean2 := [:: (1, no); (right, no); (2, yes)].
Definition pert2 := [:: (2, yes); (2, no); (1, yes)].
Definition point2 := [:: [:: 1; 1; 2]; [:: 2; 2; 0]; [:: 1; 1; 2]].

Theorem gap_of_kept_changed :
  (forall p : {perm 'I_3}, #|cc (listed 3 clean2 pert2) p| = 0 -> #|ws (listed 3 clean2 pert2) p| = 1 ->
     #|kept_changed_ae (listed 3 clean2 pert2) p| = 0) /\
  [/\ fractional 3 4 point2, mass clean2 pert2 is_cc point2 = 0, mass clean2 pert2 is_ws point2 = 4 * 1 &
      2 * mass clean2 pert2 is_kept_changed point2 = 4 * 1].
Proof.
split; last by split; vm_compute.
move=> p pk ps; rewrite !card_listed.
by apply/eqP; apply: (for_all_given (P := fun t => kept_changed_number 3 clean2 pert2 t == 0)) pk ps; vm_compute.
Qed.

(* Four different records, the same on both sides, the first two correct. *)
Definition four := [:: (right, yes); (right, no); (1, yes); (2, yes)].
Definition point3 := [:: [:: 1; 0; 1; 0]; [:: 0; 1; 0; 1]; [:: 0; 1; 1; 0]; [:: 1; 0; 0; 1]].

(* The pairs that cost nothing: each record with itself, and the first with the third, and so on. *)
Definition free : seq ((nat * bool) * (nat * bool)) :=
  [seq (x, x) | x <- four] ++
  [:: (nth (right, no) four 0, nth (right, no) four 2); (nth (right, no) four 1, nth (right, no) four 3);
      (nth (right, no) four 2, nth (right, no) four 1); (nth (right, no) four 3, nth (right, no) four 0)].
Definition costs_1 (x y : nat * bool) : bool := (x, y) \notin free.

Theorem gap_given_k :
  (forall p : {perm 'I_4}, #|cc (listed 4 four four) p| = 1 ->
     1 <= #|[set x : 'I_4 | costs_1 (record_at four x) (record_at four (p x))]|) /\
  [/\ fractional 4 2 point3, mass four four is_cc point3 = 2 * 1 & mass four four costs_1 point3 = 2 * 0].
Proof.
split; last by split; vm_compute.
move=> p; rewrite card_listed => pk; rewrite (@card_number 4 four four costs_1 p) => [|x]; last by rewrite inE.
have : all (fun t => (cc_number 4 four four t == 1) ==> (1 <= number 4 four four costs_1 t)) (permutations (iota 0 4)).
  by vm_compute.
by move=> /allP/(_ (codes p) (codes_permutation p)); rewrite pk eqxx.
Qed.

(* One class of a paired evaluation, its correspondences, its states and its counts.

   The definitions that the headline theorems share; a file adds its own above its theorem, and assumptions.v prints all.

   How to read the statements
     #|X|                the number of elements of the finite set X
     a - b               on counts: the difference, and 0 where b > a
     minn a b, maxn a b  the smaller, the larger of two counts
     ~: X, X :|: Y, X :&: Y, X :\: Y
                         complement, union, intersection, difference of sets
     {perm T}            the bijections of the finite set T onto itself
     [/\ P, Q & R]       P and Q and R
     {in X, r =1 p}      r x = p x for every x in X
     x \in X             x is an element of X
     x == y              a test: true if x and y are equal
     [set x in X | P]    the elements x of X that pass the test P

   What is given: a class (of images)
     T                   the images of the class, a finite set; n = #|T|
     L                   the labels that a model may predict
     e : class T L       all records of the class:
       true_class e      the label that all its images bear
       clean e x         the label predicted for image x, clean
       pert e x          the label predicted for image x, perturbed
       aclean e x        whether the clean record of x is accepted
       apert e x         whether the perturbed record of x is accepted
   Nothing is asked of these: any labels, any acceptance, any number of images, 0 too.

   A correspondence s : {perm T} pairs the clean record of x with the perturbed record of s x. The true pairing is
   one of them, namely 1: every image with itself.

   Records of one side, as sets of images
     A e,  B e           correct clean records, correct perturbed records
     A1 e, A0 e          of A those accepted, those rejected
     B1 e, B0 e          of B those accepted, those rejected
     W e,  W' e          wrong clean, wrong perturbed records
     E e,  E' e          accepted errors: of W and W' those accepted
     W0 e, W0' e         of W and W' those rejected
     w e l,   w' e l     of W and W' those that predict l
     err e l, err' e l   of E and E' those that predict l

   Pairs of a correspondence s, each pair written as its clean image
     pairs s X Y         the x in X that s pairs with a perturbed record in Y
     cc e s              retained correct: correct, correct
     cw e s              lost:             correct, wrong
     wc e s              recovered:        wrong,   correct
     ww e s              wrong on both sides; the next two split it:
     ws e s                persistent wrong: both predict the same label
     wd e s                changed wrong:    they predict two labels
     lost e s            lost acceptance:   retained correct, accepted clean, rejected perturbed
     gained e s          gained acceptance: retained correct, rejected clean, accepted perturbed
     new_ae e s          an accepted error perturbed, not clean
     resolved_ae e s     an accepted error clean, not perturbed
     kept_ae e s         an accepted error on both sides; the next two split it:
     kept_persistent_ae e s  both predict the same label
     kept_changed_ae e s     they predict two labels
     rejected_wrong_to_ae e s    a rejected wrong record, then an accepted error
     correct_to_ae e s           a correct record, then an accepted error
     accepted_correct_to_ae e s  an accepted correct record, then an accepted error
     cc_pairs e s, ww_pairs e s  the pairs (x, s x) themselves, for x in cc e s and in ww e s

   Counts
     k is #|cc e s|, s is #|ws e s|, m is #|ww e s|
     wrong_pairs e k     m as k gives it: n + k - #|A e| - #|B e|
     feasible_k e k      the range of k: #|A e| + #|B e| - n <= k <= minn #|A e| #|B e| *)

From mathcomp Require Import all_ssreflect fingroup perm.
From Pairbounds Require Import arithmetic.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Record class (T : finType) (L : eqType) := Class {
  true_class : L;
  clean : T -> L;
  pert : T -> L;
  aclean : T -> bool;
  apert : T -> bool
}.

Definition pairs (T : finType) (s : {perm T}) (X Y : {set T}) : {set T} := [set x in X | s x \in Y].

Section Definitions.

Variables (T : finType) (L : eqType) (e : class T L).

Definition A : {set T} := [set x | clean e x == true_class e].
Definition B : {set T} := [set y | pert e y == true_class e].
Definition A1 : {set T} := [set x in A | aclean e x].
Definition A0 : {set T} := [set x in A | ~~ aclean e x].
Definition B1 : {set T} := [set y in B | apert e y].
Definition B0 : {set T} := [set y in B | ~~ apert e y].
Definition W : {set T} := ~: A.
Definition W' : {set T} := ~: B.
Definition E : {set T} := [set x in W | aclean e x].
Definition E' : {set T} := [set y in W' | apert e y].
Definition W0 : {set T} := [set x in W | ~~ aclean e x].
Definition W0' : {set T} := [set y in W' | ~~ apert e y].
Definition w (l : L) : {set T} := [set x in W | clean e x == l].
Definition w' (l : L) : {set T} := [set y in W' | pert e y == l].
Definition err (l : L) : {set T} := [set x in E | clean e x == l].
Definition err' (l : L) : {set T} := [set y in E' | pert e y == l].

Definition wrong_pairs (k : nat) : nat := #|T| + k - (#|A| + #|B|).
Definition feasible_k (k : nat) : bool := #|A| + #|B| - #|T| <= k <= minn #|A| #|B|.

Variable s : {perm T}.

Definition cc : {set T} := pairs s A B.
Definition cw : {set T} := pairs s A W'.
Definition wc : {set T} := pairs s W B.
Definition ww : {set T} := pairs s W W'.
Definition ws : {set T} := [set x in ww | clean e x == pert e (s x)].
Definition wd : {set T} := [set x in ww | clean e x != pert e (s x)].

Definition lost : {set T} := pairs s A1 B0.
Definition gained : {set T} := pairs s A0 B1.
Definition new_ae : {set T} := pairs s (~: E) E'.
Definition resolved_ae : {set T} := pairs s E (~: E').
Definition kept_ae : {set T} := pairs s E E'.
Definition kept_persistent_ae : {set T} := [set x in kept_ae | clean e x == pert e (s x)].
Definition kept_changed_ae : {set T} := [set x in kept_ae | clean e x != pert e (s x)].
Definition rejected_wrong_to_ae : {set T} := pairs s W0 E'.
Definition correct_to_ae : {set T} := pairs s A E'.
Definition accepted_correct_to_ae : {set T} := pairs s A1 E'.

Definition cc_pairs : {set T * T} := [set (x, s x) | x in cc].
Definition ww_pairs : {set T * T} := [set (x, s x) | x in ww].

End Definitions.

(* ---- Counting ---- *)

Lemma card_split (T : finType) (X : {set T}) (P : pred T) :
  #|[set x in X | P x]| + #|[set x in X | ~~ P x]| = #|X|.
Proof.
rewrite -(cardsID [set x | P x] X).
by congr (_ + _); apply: eq_card => x; rewrite !inE // andbC.
Qed.

Section Pairs.

Variables (T : finType) (s : {perm T}).
Implicit Types X Y : {set T}.

Lemma in_pairs X Y x : (x \in pairs s X Y) = (x \in X) && (s x \in Y).
Proof. by rewrite inE. Qed.

Lemma pairs_sub X Y : pairs s X Y \subset X.
Proof. by apply/subsetP=> x; rewrite inE => /andP[]. Qed.

Lemma card_preim_perm Y : #|[set x | s x \in Y]| = #|Y|.
Proof. by rewrite -(card_preimset Y (@perm_inj _ s)); apply: eq_card => x; rewrite !inE. Qed.

Lemma card_pairs_image X Y : #|s @: pairs s X Y| = #|pairs s X Y|.
Proof. by rewrite card_imset //; apply: perm_inj. Qed.

Lemma card_rows X Y : #|pairs s X Y| + #|pairs s X (~: Y)| = #|X|.
Proof.
rewrite -(card_split X (fun x => s x \in Y)).
by congr (_ + _); apply: eq_card => x; rewrite !inE.
Qed.

Lemma card_columns X Y : #|pairs s X Y| + #|pairs s (~: X) Y| = #|Y|.
Proof.
rewrite -(card_preim_perm Y) -(card_split [set x | s x \in Y] (fun x => x \in X)).
by congr (_ + _); apply: eq_card => x; rewrite !inE // andbC.
Qed.

Lemma card_pairs_rowsU X1 X2 Y : [disjoint X1 & X2] ->
  #|pairs s (X1 :|: X2) Y| = #|pairs s X1 Y| + #|pairs s X2 Y|.
Proof.
move=> dis; rewrite -(card_split (pairs s (X1 :|: X2) Y) (fun x => x \in X1)).
congr (_ + _); apply: eq_card => x; rewrite !inE.
  by case: (x \in X1); rewrite ?andbT ?andbF.
by case: (boolP (x \in X1)) => [x1|_]; rewrite ?andbT // (disjointFr dis x1) !andbF.
Qed.

Lemma card_pairs_columnsU X Y1 Y2 : [disjoint Y1 & Y2] ->
  #|pairs s X (Y1 :|: Y2)| = #|pairs s X Y1| + #|pairs s X Y2|.
Proof.
move=> dis; rewrite -(card_split (pairs s X (Y1 :|: Y2)) (fun x => s x \in Y1)).
congr (_ + _); apply: eq_card => x; rewrite !inE.
  by case: (s x \in Y1); rewrite ?andbT ?andbF.
by case: (boolP (s x \in Y1)) => [x1|_]; rewrite ?andbT // (disjointFr dis x1) !andbF.
Qed.

Lemma card_pairs_le X Y : #|pairs s X Y| <= minn #|X| #|Y|.
Proof. by rewrite leq_min -{1}(card_rows X Y) -(card_columns X Y) !leq_addr. Qed.

End Pairs.

Section Counts.

Variables (T : finType) (L : eqType) (e : class T L).

Lemma card_AW : #|A e| + #|W e| = #|T|.
Proof. exact: cardsC. Qed.

Lemma card_BW' : #|B e| + #|W' e| = #|T|.
Proof. exact: cardsC. Qed.

Lemma card_A1A0 : #|A1 e| + #|A0 e| = #|A e|.
Proof. exact: card_split. Qed.

Lemma card_B1B0 : #|B1 e| + #|B0 e| = #|B e|.
Proof. exact: card_split. Qed.

Lemma card_EW0 : #|E e| + #|W0 e| = #|W e|.
Proof. exact: card_split. Qed.

Lemma card_EW0' : #|E' e| + #|W0' e| = #|W' e|.
Proof. exact: card_split. Qed.

Variable s : {perm T}.

Lemma card_cc_cw : #|cc e s| + #|cw e s| = #|A e|.
Proof. exact: card_rows. Qed.

Lemma card_cc_wc : #|cc e s| + #|wc e s| = #|B e|.
Proof. exact: card_columns. Qed.

Lemma card_wc_ww : #|wc e s| + #|ww e s| = #|W e|.
Proof. exact: card_rows. Qed.

Lemma card_cw_ww : #|cw e s| + #|ww e s| = #|W' e|.
Proof. exact: card_columns. Qed.

Lemma card_ww_cc : #|ww e s| + #|A e| + #|B e| = #|T| + #|cc e s|.
Proof. by rewrite -card_AW -card_wc_ww -card_cc_wc; count_lia. Qed.

Lemma card_ww : #|ww e s| = wrong_pairs e #|cc e s|.
Proof. by rewrite /wrong_pairs -card_ww_cc -addnA addnK. Qed.

Lemma card_ws_wd : #|ws e s| + #|wd e s| = #|ww e s|.
Proof. exact: card_split. Qed.

Lemma card_kept_new : #|kept_ae e s| + #|new_ae e s| = #|E' e|.
Proof. exact: card_columns. Qed.

Lemma card_kept_resolved : #|kept_ae e s| + #|resolved_ae e s| = #|E e|.
Proof. exact: card_rows. Qed.

Lemma card_kept_split : #|kept_persistent_ae e s| + #|kept_changed_ae e s| = #|kept_ae e s|.
Proof. exact: card_split. Qed.

End Counts.

(* C9: two policies judged on one correspondence can be ordered where their separate intervals overlap.

   interval_of_difference      P and Q any costs of a correspondence, E the correspondences allowed: the difference
                               lies within the difference of the intervals of P and of Q
   shared_correspondence_orders_policies
                               the example of the theory, a class of three images, by computation over all six
                               correspondences. A record is (predicted label, confidence level); a policy with
                               threshold t accepts levels >= t. P has threshold 1, Q has threshold 2. The cost of a
                               policy is the lost acceptance plus twice the new accepted errors. Given k = 1:
                               cost P is 1 or 3, cost Q is 0 or 2, and cost P = cost Q + 1 always *)

From mathcomp Require Import all_ssreflect all_algebra fingroup perm.
From Pairbounds Require Import correspondence listed_classes.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Theorem interval_of_difference (S : Type) (allowed : S -> Prop) (P Q : S -> int) (lowP highP lowQ highQ : int) :
    (forall s, allowed s -> (lowP <= P s <= highP)%R) ->
    (forall s, allowed s -> (lowQ <= Q s <= highQ)%R) ->
  forall s, allowed s -> (lowP - highQ <= P s - Q s <= highP - lowQ)%R.
Proof.
move=> inP inQ s s_in; have /andP[lP hP] := inP s s_in; have /andP[lQ hQ] := inQ s s_in.
by rewrite !Num.Theory.ler_sub.
Qed.

Definition clean_levels := [:: (right, 1); (right, 1); (1, 2)].
Definition perturbed_levels := [:: (right, 0); (1, 0); (1, 2)].

Definition accept (t : nat) (side : seq (nat * nat)) : seq (nat * bool) := [seq (r.1, t <= r.2) | r <- side].
Definition policy (t : nat) := listed 3 (accept t clean_levels) (accept t perturbed_levels).
Definition cost (t : nat) (s : {perm 'I_3}) : nat := #|lost (policy t) s| + 2 * #|new_ae (policy t) s|.

Lemma label_at t side i : (record_at (accept t side) i).1 = (nth (right, 0) side i).1.
Proof. by rewrite /record_at /accept; elim: side i => [|r side IH] [|i] /=. Qed.

Theorem shared_correspondence_orders_policies :
  [/\ forall v, (exists s, #|cc (policy 1) s| = 1 /\ cost 1 s = v) <-> v \in [:: 1; 3],
      forall v, (exists s, #|cc (policy 2) s| = 1 /\ cost 2 s = v) <-> v \in [:: 0; 2] &
      forall s, #|cc (policy 1) s| = 1 -> cost 1 s = cost 2 s + 1].
Proof.
pose one t := cc_number 3 (accept 1 clean_levels) (accept 1 perturbed_levels) t == 1.
pose cost_of t c := let clean := accept t clean_levels in let perturbed := accept t perturbed_levels in
  lost_number 3 clean perturbed c + 2 * new_number 3 clean perturbed c.
have costs t s : cost t s = cost_of t (codes s) by rewrite /cost !card_listed.
have listed_k t s : (#|cc (policy t) s| == 1) = one (codes s).
  by rewrite card_listed /one /cc_number /number; congr (_ == _); apply: eq_count => i; rewrite !label_at.
have by_list t v : (exists s, #|cc (policy t) s| = 1 /\ cost t s = v) <-> v \in attained 3 one (cost_of t).
  rewrite -attainedP; split=> -[s [sk sv]]; exists s; first by rewrite -(listed_k t) sk -costs sv.
  by rewrite costs sv; split=> //; apply/eqP; rewrite listed_k.
split=> [v|v|s sk].
- by refine (iff_trans (by_list 1 v) _); rewrite (@perm_mem _ _ [:: 1; 3]); last by vm_compute.
- by refine (iff_trans (by_list 2 v) _); rewrite (@perm_mem _ _ [:: 0; 2]); last by vm_compute.
rewrite !costs; apply/eqP.
have all_six : all (fun t => one t ==> (cost_of 1 t == cost_of 2 t + 1)) (permutations (iota 0 3)) by vm_compute.
have /allP/(_ (codes s)) := all_six; rewrite codes_permutation -(listed_k 1) sk.
by move=> /(_ isT).
Qed.

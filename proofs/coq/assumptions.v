(* What each headline theorem states and assumes, and the definitions that the statements use; the output is compared with assumptions.expected. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint fingroup perm.
From Pairbounds Require Import correspondence listed_classes birkhoff feasible_correct_correct
  correct_correct_suffices
  block
  lost_acceptance
  mean_probability_decrease
  feasible_persistent
  persistence_informs_errors
  integrality_matters
  cc_programs_are_integral
  shared_correspondence_orders_policies
  transition_counts
  four_block_integrality.

Set Printing Width 110.
Unset Printing Implicit Defensive.

(* The definitions. *)
Print correspondence.class.
Print correspondence.pairs.
Print correspondence.A.
Print correspondence.B.
Print correspondence.A1.
Print correspondence.A0.
Print correspondence.B1.
Print correspondence.B0.
Print correspondence.W.
Print correspondence.W'.
Print correspondence.E.
Print correspondence.E'.
Print correspondence.W0.
Print correspondence.W0'.
Print correspondence.w.
Print correspondence.w'.
Print correspondence.err.
Print correspondence.err'.
Print correspondence.wrong_pairs.
Print correspondence.feasible_k.
Print correspondence.cc.
Print correspondence.cw.
Print correspondence.wc.
Print correspondence.ww.
Print correspondence.ws.
Print correspondence.wd.
Print correspondence.lost.
Print correspondence.gained.
Print correspondence.new_ae.
Print correspondence.resolved_ae.
Print correspondence.kept_ae.
Print correspondence.kept_persistent_ae.
Print correspondence.kept_changed_ae.
Print correspondence.rejected_wrong_to_ae.
Print correspondence.correct_to_ae.
Print correspondence.accepted_correct_to_ae.
Print correspondence.cc_pairs.
Print correspondence.ww_pairs.
Print listed_classes.record_at.
Print listed_classes.listed.
Print mean_probability_decrease.ascending.
Print mean_probability_decrease.smallest.
Print mean_probability_decrease.largest.
Print mean_probability_decrease.decrease.
Print feasible_persistent.least_share.
Print feasible_persistent.most_share.
Print feasible_persistent.feasible_s.
Print feasible_persistent.two_labels.
Print persistence_informs_errors.first_class.
Print persistence_informs_errors.second_class.
Print persistence_informs_errors.given_k.
Print persistence_informs_errors.given_k_and_s.
Print integrality_matters.entry.
Print integrality_matters.fractional.
Print integrality_matters.mass.
Print integrality_matters.is_cc.
Print integrality_matters.is_ws.
Print integrality_matters.is_ae.
Print integrality_matters.is_new.
Print integrality_matters.is_kept.
Print integrality_matters.is_kept_changed.
Print integrality_matters.clean1.
Print integrality_matters.pert1.
Print integrality_matters.point1.
Print integrality_matters.clean2.
Print integrality_matters.pert2.
Print integrality_matters.point2.
Print integrality_matters.four.
Print integrality_matters.point3.
Print integrality_matters.free.
Print integrality_matters.costs_1.
Print shared_correspondence_orders_policies.clean_levels.
Print shared_correspondence_orders_policies.perturbed_levels.
Print shared_correspondence_orders_policies.accept.
Print shared_correspondence_orders_policies.policy.
Print shared_correspondence_orders_policies.cost.
Print birkhoff.stochastic.
Print birkhoff.cost.
Print birkhoff.cost_of.
Print four_block_integrality.mass.
Print four_block_integrality.additive_on.
Print cc_programs_are_integral.cc_value.

(* feasible_correct_correct.v *)
Check @feasible_correct_correct.feasible_correct_correct.
Print Assumptions feasible_correct_correct.feasible_correct_correct.

(* correct_correct_suffices.v *)
Check @correct_correct_suffices.correct_correct_suffices.
Print Assumptions correct_correct_suffices.correct_correct_suffices.
Check @correct_correct_suffices.same_attained_values.
Print Assumptions correct_correct_suffices.same_attained_values.
Check @correct_correct_suffices.same_attained_sums.
Print Assumptions correct_correct_suffices.same_attained_sums.
Check @correct_correct_suffices.family_correct_correct_suffices.
Print Assumptions correct_correct_suffices.family_correct_correct_suffices.
Check @correct_correct_suffices.family_same_attained_sums.
Print Assumptions correct_correct_suffices.family_same_attained_sums.
Check @correct_correct_suffices.family_same_attained_sums_five_states.
Print Assumptions correct_correct_suffices.family_same_attained_sums_five_states.

(* block.v *)
Check @block.block.
Print Assumptions block.block.

(* lost_acceptance.v *)
Check @lost_acceptance.lost_acceptance.
Print Assumptions lost_acceptance.lost_acceptance.
Check @lost_acceptance.gained_acceptance.
Print Assumptions lost_acceptance.gained_acceptance.

(* mean_probability_decrease.v *)
Check @mean_probability_decrease.mean_probability_decrease.
Print Assumptions mean_probability_decrease.mean_probability_decrease.

(* feasible_persistent.v *)
Check @feasible_persistent.feasible_persistent.
Print Assumptions feasible_persistent.feasible_persistent.
Check @feasible_persistent.holes.
Print Assumptions feasible_persistent.holes.

(* persistence_informs_errors.v *)
Check @persistence_informs_errors.five_state_inside.
Print Assumptions persistence_informs_errors.five_state_inside.
Check @persistence_informs_errors.persistence_informs_errors.
Print Assumptions persistence_informs_errors.persistence_informs_errors.

(* integrality_matters.v *)
Check @integrality_matters.gap_of_new.
Print Assumptions integrality_matters.gap_of_new.
Check @integrality_matters.gap_of_kept_changed.
Print Assumptions integrality_matters.gap_of_kept_changed.
Check @integrality_matters.gap_given_k.
Print Assumptions integrality_matters.gap_given_k.

(* cc_programs_are_integral.v *)
Check @cc_programs_are_integral.cc_programs_are_integral.
Print Assumptions cc_programs_are_integral.cc_programs_are_integral.

(* shared_correspondence_orders_policies.v *)
Check @shared_correspondence_orders_policies.interval_of_difference.
Print Assumptions shared_correspondence_orders_policies.interval_of_difference.
Check @shared_correspondence_orders_policies.shared_correspondence_orders_policies.
Print Assumptions shared_correspondence_orders_policies.shared_correspondence_orders_policies.

(* transition_counts.v *)
Check @transition_counts.kept_accepted_errors.
Print Assumptions transition_counts.kept_accepted_errors.
Check @transition_counts.new_accepted_errors.
Print Assumptions transition_counts.new_accepted_errors.
Check @transition_counts.resolved_accepted_errors.
Print Assumptions transition_counts.resolved_accepted_errors.
Check @transition_counts.rejected_wrong_to_accepted_error.
Print Assumptions transition_counts.rejected_wrong_to_accepted_error.
Check @transition_counts.correct_to_accepted_error.
Print Assumptions transition_counts.correct_to_accepted_error.
Check @transition_counts.accepted_correct_to_accepted_error.
Print Assumptions transition_counts.accepted_correct_to_accepted_error.
Print transition_counts.ends_attained.
Check @transition_counts.kept_persistent_accepted_errors.
Print Assumptions transition_counts.kept_persistent_accepted_errors.
Check @transition_counts.kept_changed_accepted_errors.
Print Assumptions transition_counts.kept_changed_accepted_errors.
Print transition_counts.two_errors.
Check @transition_counts.holes_between.
Print Assumptions transition_counts.holes_between.

(* four_block_integrality.v *)
Check @four_block_integrality.four_block_integrality.
Print Assumptions four_block_integrality.four_block_integrality.
Check @four_block_integrality.one_block_both_ends.
Print Assumptions four_block_integrality.one_block_both_ends.

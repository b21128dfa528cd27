(* count_lia: linear arithmetic on counts (sums, differences, minn, maxn, <=, ==, && of these), by lia. *)

From mathcomp Require Import all_ssreflect.
From Coq Require Import Lia.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Lemma minn_min a b : minn a b = PeanoNat.Nat.min a b.
Proof. by rewrite /minn; case: ltnP => /leP ab; lia. Qed.

Lemma maxn_max a b : maxn a b = PeanoNat.Nat.max a b.
Proof. by rewrite /maxn; case: ltnP => /leP ab; lia. Qed.

Ltac count_lia :=
  intros;
  repeat match goal with
  | H : is_true (_ && _) |- _ => case/andP: H; intros
  | H : is_true (leq _ _) |- _ => move/leP in H
  | H : is_true (~~ leq _ _) |- _ => rewrite -ltnNge in H
  | H : is_true (@eq_op nat_eqType _ _) |- _ => move/eqP in H
  | H : _ /\ _ |- _ => case: H; intros
  | |- is_true (_ && _) => apply/andP; split
  | |- is_true (leq _ _) => apply/leP
  | |- is_true (~~ leq _ _) => rewrite -ltnNge
  | |- is_true (@eq_op nat_eqType _ _) => apply/eqP
  | |- _ /\ _ => split
  end;
  repeat match goal with H : @eq nat _ _ |- _ => revert H | H : Peano.le _ _ |- _ => revert H end;
  repeat match goal with |- context [CardDef.card ?X] =>
    let Y := eval simpl in X in progress change (CardDef.card X) with (CardDef.card Y) end;
  repeat match goal with |- context [CardDef.card ?X] => generalize (CardDef.card X) end;
  clear; rewrite -?plusE -?minusE -?multE; intros;
  repeat match goal with
  | H : context [minn _ _] |- _ => rewrite minn_min in H
  | H : context [maxn _ _] |- _ => rewrite maxn_max in H
  end;
  rewrite ?minn_min ?maxn_max;
  lia.

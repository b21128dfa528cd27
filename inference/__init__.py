"""Prediction records from models, images and perturbations."""

"""Forecasts as tasks: what is known of a job at its submission, and how well what comes is told."""

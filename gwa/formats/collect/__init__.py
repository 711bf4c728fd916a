"""Collect what a store lacks from the batch system itself, and append it: a line of cron each night."""

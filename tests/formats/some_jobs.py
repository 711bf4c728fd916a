"""A few jobs that every exact format keeps as they are."""

JOBS: dict[str, list[object]] = {
    "submit_time": [1e9 + 5, None, 1e9, 1e9 + 5],
    "wait_time": [0.0, 1.0, None, 2.5],
    "run_time": [10.0, 20.0, None, 0.1],
    "n_procs": [1, 2, None, 4],
    "status": [1, 0, 5, None],
    "user_id": ["U1", "U2", None, "U1"],
    "project_id": ["p"] * 4,
}

"""What reads samples of nodes and their GPUs, which say no job: one tool in each module."""

"""Who starts the jobs of a sweep: shards, their status, Slurm and Kubernetes."""

"""What other processes run loads frameworks, and is not searched for examples."""

collect_ignore = ["keras_training.py", "lightning_models.py", "lightning_processes.py", "processes.py"]

"""The anchor task as few-shot equations for language models, and their replies."""

"""The anchor task as equations in a text, for language models; and their replies."""

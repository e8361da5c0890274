"""PrOntoQA as a task: worlds of concepts, their sentences, the questions' texts."""

from anchorjax.tasks.prontoqa.task import ProntoqaConfig, list_questions, make

__all__ = ['ProntoqaConfig', 'list_questions', 'make']

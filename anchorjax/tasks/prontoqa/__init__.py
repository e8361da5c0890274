"""PrOntoQA: worlds of concepts, their sentences and files; the task."""

from anchorjax.tasks.prontoqa.task import ProntoqaConfig, list_questions

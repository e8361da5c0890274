"""Reads PrOntoQA from JSON: the generator's own format and that of Logic-LM."""

import json
import pathlib
from typing import Any

from anchorjax.errors import UserError, brief
from anchorjax.tasks.prontoqa.sentences import Question, parse
from anchorjax.tasks.text_files import read_text

_ASK = 'True or false: '  # before the query in the generator's format
_ASK_LOGIC_LM = 'Is the following statement true or false? '
_ANSWERS = {'True': True, 'False': False, 'A': True, 'B': False}


def read_questions(path: pathlib.Path) -> list[Question]:
    """The questions of a file, which may be gzipped.

    Of the generator's format these are the test examples and the examples in their
    contexts.

    Raises:
      UserError: it is missing, truncated, empty, or holds something else; the line
        names the file and the first example that is wrong.
    """
    text = read_text(path)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as e:
        raise UserError(f'{path}: no JSON ({brief(str(e))}); truncated?') from None
    questions = []
    for label, example in _list_examples(content):
        try:
            questions.append(_read_example(example))
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            reason = brief(f'{type(e).__name__}: {e}')
            raise UserError(f'{path}, {label}: no PrOntoQA example ({reason})') from e
    if not questions:
        raise UserError(f'{path}: has no PrOntoQA examples')
    return questions


def format_questions(questions: list[Question]) -> dict[str, Any]:
    """The questions in the generator's format, without examples in their contexts."""
    examples = {}
    for number, question in enumerate(questions, 1):
        test = {
            'question': question.context,
            'query': _ASK + question.query,
            'chain_of_thought': list(question.chain),
            'answer': str(question.answer),
        }
        examples[f'example{number}'] = {'test_example': test}
    return examples


def _list_examples(content: Any) -> list[tuple[str, Any]]:
    """(where it is, the example) of all examples of either format."""
    if isinstance(content, list):
        return [(f'example {i}', example) for i, example in enumerate(content, 1)]
    examples = []
    if isinstance(content, dict):
        for name, group in content.items():
            inner = group if isinstance(group, dict) else {'': group}
            for part, example in inner.items():
                examples.append((brief(f'{name} {part}'), example))
    return examples


def _read_example(example: dict[str, Any]) -> Question:
    if 'context' in example:
        context, query = example['context'], example['question']
        query = query.removeprefix(_ASK_LOGIC_LM)
        chain = example['explanation']
    else:
        context, query = example['question'], example['query'].removeprefix(_ASK)
        chain = example['chain_of_thought']
    sentences = [f'{part}.' for part in context.removesuffix('.').split('. ')]
    for sentence in (*sentences, query, *chain):
        parse(sentence)
    *rules, premise = sentences
    answer = _ANSWERS[example['answer']]
    return Question(tuple(rules), premise, query, tuple(chain), answer)

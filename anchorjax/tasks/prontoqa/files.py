"""Reads PrOntoQA from JSON: the generator's own format and that of Logic-LM."""

import pathlib
from typing import Any

from anchorjax.caching import cache_files
from anchorjax.errors import UserError, brief, describe_cause
from anchorjax.files import parse_json
from anchorjax.tasks.prontoqa.sentences import Question, parse
from anchorjax.tasks.text_files import read_text

_ASK = 'True or false: '  # before the query in the generator's format
_ASK_LOGIC_LM = 'Is the following statement true or false? '
_ANSWERS = {'True': True, 'False': False, 'A': True, 'B': False}


@cache_files(maxsize=4)
def read_questions(path: pathlib.Path) -> list[Question]:
    """The distinct questions of a file, which may be gzipped; their proofs are checked.

    In the generator's format both the test examples and the examples in their contexts
    are questions.

    Raises:
      UserError: the file is missing, truncated or empty, or an example is wrong; the
        error names the first one.
    """
    content = parse_json(read_text(path), str(path))
    questions = []
    for label, example in _list_examples(content):
        try:
            questions.append(_read_example(example))
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            reason = describe_cause(e)
            raise UserError(f'{path}, {label}: no PrOntoQA example ({reason})') from e
    if not questions:
        raise UserError(f'{path}: has no PrOntoQA examples')
    # A question that occurs twice could be both trained and held out.
    return list(dict.fromkeys(questions))


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
    question = Question(tuple(rules), premise, query, tuple(chain), answer)
    _check_proof(question)
    return question


def _check_proof(question: Question) -> None:
    """Raises ValueError unless given rules lead from the premise to the answer."""
    first, *steps = question.chain
    if first != question.premise:
        raise ValueError(f'the proof begins with {first!r}, not with the premise')
    known = parse(first)
    for rule_text, fact_text in zip(steps[::2], steps[1::2], strict=True):
        if rule_text not in question.rules:
            raise ValueError(f'{rule_text!r} of the proof is no given rule')
        rule, fact = parse(rule_text), parse(fact_text)
        applies = known.is_true and rule.subject == known.predicate
        if not applies or fact != rule._replace(subject=known.subject):
            raise ValueError(f'{fact_text!r} of the proof does not follow')
        known = fact
    query = parse(question.query)
    if query not in (known, known.negate()):
        raise ValueError(f'the proof ends with {steps[-1:]}, which is not asked')
    if question.answer != (query == known):
        raise ValueError(f'the answer {question.answer} contradicts the proof')

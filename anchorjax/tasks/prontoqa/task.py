"""PrOntoQA: does Max have a property that a chain of rules gives him? (P1 Fig 7.)

A text is 'Q: rules. premise. True or false: query A: proof. True END', a token a word;
the proof may be left out. Scored is the judgement, after the right proof or without
one, and whether the whole proof is right (DATASETS 4).
"""

import dataclasses
import functools
import pathlib
from typing import Annotated

import jax
import numpy as np

from anchorjax.caching import cache_files
from anchorjax.errors import ConfigError, require
from anchorjax.limits import at_least, at_most, check_fields, require_default
from anchorjax.permutation import permute
from anchorjax.tasks import Batch, Task, texts
from anchorjax.tasks.prontoqa import worlds
from anchorjax.tasks.prontoqa.files import read_questions
from anchorjax.tasks.prontoqa.sentences import Question
from anchorjax.tasks.prontoqa.texts import (
    END,
    encode,
    list_tokens,
    write_answer,
    write_prompt,
)
from anchorjax.tasks.text_files import digest_files
from anchorjax.tasks.texts import Asked, LossOn, Table, Texts, TextTask

GROUPS = ('true', 'false')  # the right answer
_MOST_TRIES = 20  # draws for every question that is new


@dataclasses.dataclass(frozen=True)
class ProntoqaConfig(TextTask):
    """Defaults are those of the official generator, at five hops, with the proof."""

    name: str = 'prontoqa'
    hops: Annotated[int, at_least(1), at_most(5)] = 5  # steps of a proof
    ontology: worlds.Ontology = 'fictional'  # what its words name
    order: worlds.Order = 'postorder'  # of the sentences
    # Sentences that lead nowhere.
    distractor: worlds.Distractor = 'original'
    chain_of_thought: bool = True  # whether the proof stands before the answer
    # Trained questions.
    num_examples: Annotated[int, at_least(1), at_most(10**6)] = 10_000
    pool_seed: Annotated[int, at_least(0), at_most(2**31 - 1)] = 0  # of the questions
    # A JSON file with the questions; '': they are generated. It must hold the eval
    # set's and the training examples, in this order.
    path: str = ''
    loss_on: LossOn = 'text'  # which tokens are trained
    eval_examples: Annotated[int, at_least(1), at_most(2**20)] = 500  # per eval set

    def __post_init__(self) -> None:
        check_fields(self, 'task')
        is_possible = self.distractor != 'twin' or self.ontology == 'fictional'
        allowed = "'original': only the fictional ontology has names for a second chain"
        require(is_possible, 'task.distractor', self.distractor, allowed)
        if self.path:
            for field in ('order', 'pool_seed'):
                require_default(self, 'task', field, 'task.path is given')

    def make(self) -> Task:
        files = [pathlib.Path(self.path)] if self.path else []
        digest_data = functools.partial(digest_files, files)
        return super().make()._replace(group_names=GROUPS, digest_data=digest_data)

    def make_table(self) -> Table:
        # It does not depend on the loss.
        return make_table(dataclasses.replace(self, loss_on='text'))

    def train(self, key: jax.Array, number_B: jax.Array) -> jax.Array:
        return self.eval_examples + permute(key, number_B, self.num_examples)

    def list_asked(self) -> dict[str, Asked]:
        """The judgement on trained and new questions; the whole proof of new ones."""
        new = Asked(texts.find_row, 0, self.eval_examples)
        asked = {'seen_train': Asked(self.train, 0, self.num_examples)}
        asked['seen_heldout'] = new
        if self.chain_of_thought:
            asked['seen_heldout_proof'] = new
        return asked

    def score(self, eval_set: str, read: Texts) -> Batch:
        """The answer with END, or True or False alone, after whatever precedes it."""
        if eval_set == 'seen_heldout_proof':
            return texts.to_scored_batch(read, score_end=True)
        only_last = read._replace(begin_B=read.length_B - 2)
        return texts.to_scored_batch(only_last, score_end=False)

    @property
    def num_train(self) -> int:
        return self.num_examples

    @property
    def seq_len(self) -> int:
        """Tokens of the longest possible text, without its END."""
        in_rule, in_fact = 6, 5  # 'every wumpus is not red .', 'Max is not red .'
        if self.ontology != 'fictional':
            in_rule, in_fact = 8, 6  # names of two words
        num_rules = worlds.count_rules(self.ontology, self.hops)
        num_rules = 2 * num_rules if self.distractor == 'twin' else num_rules + 1
        prompt = 1 + 1 + num_rules * in_rule + in_fact  # Q :
        prompt += 4 + in_fact + 2  # True or false : ... A :
        proof = in_fact + self.hops * (in_rule + in_fact)
        return prompt + (proof if self.chain_of_thought else 0) + 1

    @property
    def vocab(self) -> int:
        return len(list_tokens())


def list_questions(config: ProntoqaConfig) -> list[Question]:
    """The questions of the eval set, then the training examples; no two are equal.

    Raises:
      UserError: there are not as many; or as `read_questions`.
    """
    number = config.eval_examples + config.num_examples
    if config.path:
        questions = read_questions(pathlib.Path(config.path))
        allowed = f'at most the {len(questions)} questions of {config.path}'
    else:
        setting = (config.hops, config.ontology, config.order, config.distractor)
        questions = _draw_pool(config.pool_seed, setting, number)
        allowed = f'few enough: only {len(questions)} distinct questions were found'
    if len(questions) < number:
        line = f'{number} with task.eval_examples: must be {allowed}'
        raise ConfigError(f'task.num_examples: {line}')
    return questions[:number]


# By seed and setting: what has been drawn, and the state of drawing. A larger pool
# begins with the smaller one.
_POOLS: dict[tuple, tuple[list[Question], np.random.Generator, set[Question]]] = {}


def _draw_pool(seed: int, setting: tuple, number: int) -> list[Question]:
    """At least `number` distinct questions, or all that were found."""
    key = (seed, setting)
    if key not in _POOLS:
        _POOLS[key] = ([], np.random.default_rng(seed), set())
    questions, random, known = _POOLS[key]
    tries = _MOST_TRIES * number
    while len(questions) < number and tries > 0:
        question = worlds.draw_question(random, *setting)
        tries -= 1
        if question not in known:
            known.add(question)
            questions.append(question)
    return questions


@cache_files(maxsize=4)
def make_table(config: ProntoqaConfig) -> Table:
    """The texts of `list_questions`."""
    rows = []
    for number, question in enumerate(list_questions(config), 1):
        prompt = encode(write_prompt(question))
        answer = encode(write_answer(question, config.chain_of_thought))
        length = len(prompt) + len(answer)
        if length > config.seq_len:
            line = f'question {number} has {length} tokens, more than {config.seq_len}'
            raise ConfigError(f'task.path = {config.path!r}: {line}; it has other hops')
        rows.append((prompt, answer, int(not question.answer)))
    return texts.make_table(rows, END)

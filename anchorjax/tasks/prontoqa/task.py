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
import jax.numpy as jnp
import numpy as np

from anchorjax.caching import cache_files
from anchorjax.errors import ConfigError, require
from anchorjax.limits import at_least, at_most, check_fields, require_default
from anchorjax.permutation import permute
from anchorjax.tasks import Batch, EvalSets, Task, texts
from anchorjax.tasks.prontoqa import worlds
from anchorjax.tasks.prontoqa.files import read_questions
from anchorjax.tasks.prontoqa.sentences import Question
from anchorjax.tasks.prontoqa.texts import (
    END,
    TRUE,
    encode,
    list_tokens,
    write_answer,
    write_prompt,
)
from anchorjax.tasks.text_files import digest_files
from anchorjax.tasks.texts import LossOn, Table, Texts

_MOST_TRIES = 20  # draws for every question that is new


@dataclasses.dataclass(frozen=True)
class ProntoqaConfig:
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
        """The data of a seed is the random key that orders the questions."""
        names = ('seen_train', 'seen_heldout')
        if self.chain_of_thought:
            names += ('seen_heldout_proof',)
        files = [pathlib.Path(self.path)] if self.path else []
        return Task(
            vocab=self.vocab,
            seq_len=self.seq_len,
            num_train=self.num_examples,
            eval_set_names=names,
            make_data=lambda key: key,
            batch=functools.partial(make_batch, self),
            eval_sets=functools.partial(make_eval_sets, self),
            digest_data=functools.partial(digest_files, files),
            last_only=False,
            group_names=('true', 'false'),
        )

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
    prompts, answers = [], []
    for number, question in enumerate(list_questions(config), 1):
        prompt = encode(write_prompt(question))
        answer = encode(write_answer(question, config.chain_of_thought))
        length = len(prompt) + len(answer)
        if length > config.seq_len:
            line = f'question {number} has {length} tokens, more than {config.seq_len}'
            raise ConfigError(f'task.path = {config.path!r}: {line}; it has other hops')
        prompts.append(prompt)
        answers.append(answer)
    return texts.make_table(prompts, answers, END)


def make_batch(config: ProntoqaConfig, key: jax.Array, index_B: jax.Array) -> Batch:
    """The training examples with these numbers."""
    row_B = config.eval_examples + permute(key, index_B, config.num_examples)
    return texts.to_training_batch(_read(config, row_B), config.loss_on)


def make_eval_sets(config: ProntoqaConfig, key: jax.Array) -> EvalSets:
    """The judgement on trained and new questions; and the whole proof of new ones."""
    size = config.eval_examples
    trained = texts.choose(0, config.num_examples, size)
    trained_B = size + permute(key, trained.row_B, config.num_examples)
    new_B = jnp.arange(size)
    read = [_read(config, trained_B), _read(config, new_B)]
    asked = [_ask_judgement(of_eval_set) for of_eval_set in read]
    are_real = [trained.is_real_B, jnp.ones(size, bool)]
    groups = [_find_group(of_eval_set) for of_eval_set in read]
    if config.chain_of_thought:
        asked.append(texts.to_scored_batch(read[1], score_end=True))
        are_real.append(are_real[1])
        groups.append(groups[1])
    return texts.join_eval_sets(asked, are_real, groups)


def _read(config: ProntoqaConfig, row_B: jax.Array) -> Texts:
    # A table does not depend on the loss.
    table = make_table(dataclasses.replace(config, loss_on='text'))
    return texts.read_table(table, row_B, config.seq_len + 1, END)


def _ask_judgement(read: Texts) -> Batch:
    """Scored is True or False alone, after whatever precedes it."""
    only_last = read._replace(begin_B=read.length_B - 2)
    return texts.to_scored_batch(only_last, score_end=False)


def _find_group(read: Texts) -> jax.Array:
    """0 where the right answer is True, else 1."""
    last_B = jnp.take_along_axis(read.tokens_BL, read.length_B[:, None] - 2, axis=1)
    return (last_B[:, 0] != TRUE).astype(jnp.int32)

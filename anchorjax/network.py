"""One trained network: its parameters, its task, its forward pass, all activations.

run = api.open('runs/phase')
network = run.network(gamma=2.04, depth=3, seed=0)
network.forward(tokens)  # logits
network.cache(tokens)['block_0/Attn'].sel(head_index=0)  # every activation, by name
network.patch({'block_0/X_qkv': lambda z: z * (z.head_index != 1)}, tokens)

An activation of the first block is 'block_0/NAME', as its parameters are 'block_0/W_Q';
X_em, logits and the names that a model adds are of no block. AXES has all of them.
"""

import dataclasses
import pathlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import xarray as xr
from flax import linen as nn
from flax.traverse_util import flatten_dict
from numpy.typing import ArrayLike

from anchorjax import models, numerics, tasks
from anchorjax.caching import cache
from anchorjax.errors import UserError, import_extra, nearest
from anchorjax.experiment import Experiment
from anchorjax.files import write_atomic
from anchorjax.grid import DATA, axis_label, random_key
from anchorjax.models import Activations, ModelConfig, edges

_STREAM = ('sequence', 'position', 'width')
_HEADS = ('sequence', 'position', 'head_index', 'head_width')
_PAIRS = ('sequence', 'head_index', 'reader', 'source')
_NEURONS = ('sequence', 'position', 'neuron')
# {name: (axes, its name in TransformerLens)}. In a post-norm model X_ao and X_do are
# after the LayerNorm, attn_out and mlp_out before it. TransformerLens's scores are
# masked, ours not yet.
AXES = {
    'X_em': (_STREAM, 'blocks.0.hook_resid_pre'),
    'Q': (_HEADS, 'attn.hook_q'),
    'K': (_HEADS, 'attn.hook_k'),
    'V': (_HEADS, 'attn.hook_v'),
    'scores': (_PAIRS, 'attn.hook_attn_scores'),
    'Attn': (_PAIRS, 'attn.hook_pattern'),
    'X_qkv': (_HEADS, 'attn.hook_z'),
    'attn_out': (_STREAM, 'hook_attn_out'),
    'X_ao': (_STREAM, 'hook_resid_mid'),
    'hidden_in': (_NEURONS, 'mlp.hook_pre'),
    'hidden': (_NEURONS, 'mlp.hook_post'),
    'mlp_out': (_STREAM, 'hook_mlp_out'),
    'X_do': (_STREAM, 'hook_resid_post'),
    'X_sum': (_STREAM, ''),  # of the Emb-MLP: the sum of the embeddings so far
    'logits': (('sequence', 'position', 'token'), ''),
}
LOGITS, _ = AXES['logits']
# What stands in the place of an activation: an array, or a function of it.
Patch = ArrayLike | Callable[[xr.DataArray], ArrayLike]


class NetworkEvalSets(NamedTuple):
    """The eval sets of a network's seed, asked at their last position."""

    tokens_PBT: np.ndarray
    labels_PRB: np.ndarray  # the answer of every mapping


class Network(NamedTuple):
    """A trained network at one step, and the task it was trained on."""

    experiment: Experiment  # its static axes are set
    params: Any  # tree of numpy arrays
    point: Mapping[str, Any]  # every axis of the sweep
    step: int
    run: Any = None  # the Run that it is from; None: weights alone

    @property
    def config(self) -> Experiment:
        """Everything that it was trained with."""
        return self.experiment

    @property
    def task(self) -> tasks.Task:
        return self.experiment.task.make()

    @property
    def eval_sets(self) -> NetworkEvalSets:
        """The sequences on which training measured it, and every mapping's answers."""
        eval_sets = draw_eval_sets(self.experiment.task, self.point['seed'])
        labels_PRB = np.asarray(eval_sets.targets_PRBQ)[..., -1]
        return NetworkEvalSets(np.asarray(eval_sets.tokens_PBT), labels_PRB)

    @property
    def is_asked_PB(self) -> np.ndarray:
        """Which sequences of the eval sets count, bool.

        Of few training examples some are repeated, to fill the array.
        """
        eval_sets = draw_eval_sets(self.experiment.task, self.point['seed'])
        targets_PBQ = np.asarray(eval_sets.targets_PRBQ)[:, 0]
        is_scored_PBQ = mark_scored(targets_PBQ, eval_sets.weights_PBQ)
        return np.asarray(is_scored_PBQ.any(-1))

    @property
    def depth(self) -> int:
        """Number of blocks; nothing is computed."""
        tokens_BT = np.zeros((1, self.task.seq_len), np.int32)
        return len(jax.eval_shape(self.apply, self.params, tokens_BT).blocks)

    def roles(self, tokens_BT: np.ndarray) -> np.ndarray:
        """The role of every position, [B, T], as an index of `task.role_names`."""
        return np.asarray(_compile_roles(self.experiment.task)(np.asarray(tokens_BT)))

    @property
    def apply(self) -> Callable[..., Activations]:
        """(params, tokens_BT, edit=None) -> Activations of every position."""
        model, vocab, _, masked_by = program_of(self.experiment)
        return make_apply(model, vocab, masked_by)

    @property
    def module(self) -> tuple[nn.Module, dict[str, Any]]:
        """Its Flax module and variables: module.apply(variables, tokens_BT)."""
        model, vocab, _, masked_by = program_of(self.experiment)
        return make_module(model, vocab, masked_by), {'params': self.params}

    def forward(self, tokens_BT: ArrayLike) -> xr.DataArray:
        """The logits [sequence, position, token]; UserError as in `activations`."""
        tokens_BT = require_tokens(self.experiment, tokens_BT)
        compute = compile_logits(*program_of(self.experiment))
        return xr.DataArray(np.asarray(compute(self.params, tokens_BT)), dims=LOGITS)

    def cache(self, tokens_BT: ArrayLike) -> xr.Dataset:
        """Every activation by its name, with the axes of AXES, at every position."""
        arrays = {}
        for name, value in _list_named(self.activations(tokens_BT)):
            arrays[name] = _label(name, value)
        return xr.Dataset(arrays)

    def patch(self, patches: Mapping[str, Patch], tokens_BT: ArrayLike) -> xr.DataArray:
        """The logits with other activations in place; what comes later follows.

        Nothing is compiled, so that a function may compute with NumPy and xarray, and
        a loop over heads or layers compiles nothing anew.

        Args:
          patches: {name: the new value, or a function from the labelled value to it}.
            A value may have fewer axes, or axes of length 1, as in NumPy.

        Raises:
          UserError: there is no such activation, or the value does not fit into it.
        """
        tokens_BT = require_tokens(self.experiment, tokens_BT)
        shapes = jax.eval_shape(self.apply, self.params, tokens_BT)
        known = [name for name, _ in _list_named(shapes)]
        for name in patches:
            if name not in known:
                raise UserError(f'no activation {name!r}, {nearest(name, known)}')

        def edit(field: str, block: int | None, value: jax.Array) -> jax.Array:
            name = _name(field, block)
            if name not in patches:
                return value
            new = patches[name]
            if callable(new):
                new = new(_label(name, np.asarray(value)))
            new = np.asarray(new)
            try:
                return jnp.broadcast_to(new, value.shape).astype(value.dtype)
            except ValueError:
                shape = f'{new.shape}: must be {value.shape}, or fit into it'
                raise UserError(f'{name}.shape = {shape}') from None

        with numerics.pin(self.experiment.train.precision):
            logits = self.apply(self.params, tokens_BT, edit=edit).logits
        return xr.DataArray(np.asarray(logits), dims=LOGITS)

    def activations(self, tokens_BT: ArrayLike) -> Activations:
        """All activations, at every position, as numpy arrays.

        Raises:
          UserError: these are no tokens; JAX would take another in the place of one
            that the network does not have.
        """
        tokens_BT = require_tokens(self.experiment, tokens_BT)
        apply = compile_apply(*program_of(self.experiment))
        return jax.tree.map(np.asarray, apply(self.params, tokens_BT))

    def answers(self, eval_set: str) -> pd.DataFrame:
        """What it answers to an eval set, a row a sequence, beside every mapping.

        Tokens at the scored positions: one, or of a text a tuple.

        Raises:
          UserError: the task has no such eval set.
        """
        task, seed = self.task, self.point['seed']
        if eval_set not in task.eval_set_names:
            hint = nearest(eval_set, task.eval_set_names)
            raise UserError(f'no eval set {eval_set!r}, {hint}')
        p = task.eval_set_names.index(eval_set)
        tokens_BT, _, is_scored_BQ = read_eval_set(self.experiment.task, seed, eval_set)
        targets_RBQ = draw_eval_sets(self.experiment.task, seed).targets_PRBQ[p]
        scored = is_scored_BQ.shape[1]
        answers_BQ = self.forward(tokens_BT).values[:, -scored:].argmax(-1)
        mappings = zip(task.mapping_names, targets_RBQ, strict=True)
        columns = {'answer': answers_BQ, **dict(mappings)}
        rows = []
        for b in np.flatnonzero(is_scored_BQ.any(-1)):
            row: dict[str, Any] = {'tokens': tuple(tokens_BT[b].tolist())}
            for name, tokens_BQ in columns.items():
                said = tuple(tokens_BQ[b][is_scored_BQ[b]].tolist())
                row[name] = said[0] if task.last_only else said
            rows.append(row)
        return pd.DataFrame(rows)

    def save(self, path: str | pathlib.Path) -> None:
        """Writes the parameters, by their paths, as a safetensors file.

        Raises:
          UserError: the package safetensors is missing.
          StoreError: the file cannot be written.
        """
        save_file = import_extra('safetensors.numpy', 'llm').save_file
        arrays = {}
        for name, leaf in flatten_params(self.params).items():
            arrays[name] = np.ascontiguousarray(leaf)
        write_atomic(pathlib.Path(path), lambda whole: save_file(arrays, whole))

    def answer(self, tokens_BT: np.ndarray) -> np.ndarray:
        """Its answers [B]; UserError as in `activations`."""
        return read_answers(self.activations(tokens_BT))

    @property
    def matrices(self) -> dict[str, np.ndarray]:
        """Every parameter matrix [d_in, d_out] by its path, such as 'block_0/W_Q'."""
        leaves = flatten_params(self.params)
        return {path: leaf for path, leaf in leaves.items() if leaf.ndim == 2}

    def matrix(self, path: str) -> np.ndarray:
        """The parameter matrix at a path.

        Raises:
          UserError: there is none; the error lists those of the model.
        """
        matrices = self.matrices
        if path not in matrices:
            raise UserError(f'no matrix {path!r}; the model has {list(matrices)}')
        return matrices[path]


class Networks(NamedTuple):
    """Networks of one shape, which run side by side under vmap."""

    members: tuple[Network, ...]

    def forward(self, tokens_BT: ArrayLike) -> xr.DataArray:
        """The logits [network, sequence, position, token]; axes label the networks."""
        first = self.members[0]
        tokens_BT = require_tokens(first.experiment, tokens_BT)
        compute = compile_logits(*program_of(first.experiment), is_many=True)
        params = [network.params for network in self.members]
        stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *params)
        labels = {}
        for axis in first.point:
            values = [axis_label(network.point[axis]) for network in self.members]
            labels[axis] = ('network', values)
        logits = np.asarray(compute(stacked, tokens_BT))
        return xr.DataArray(logits, dims=('network', *LOGITS), coords=labels)


def require_tokens(experiment: Experiment, tokens_BT: ArrayLike) -> np.ndarray:
    """The tokens [B, T] as an array; UserError if a network does not have them."""
    tokens_BT, vocab = np.asarray(tokens_BT), experiment.task.vocab
    is_known = (tokens_BT >= 0) & (tokens_BT < vocab)
    is_whole = np.issubdtype(tokens_BT.dtype, np.integer) and is_known.all()
    if tokens_BT.ndim != 2 or not is_whole:
        raise UserError(f'tokens_BT: must be integers [B, T] from 0 to {vocab - 1}')
    return tokens_BT


def _name(field: str, block: int | None) -> str:
    return field if block is None else f'block_{block}/{field}'


def _list_named(activations: Activations) -> Iterator[tuple[str, Any]]:
    """(name, value) of every activation, in the order of computation."""
    yield 'X_em', activations.X_em
    yield from activations.own.items()
    for layer, block in enumerate(activations.blocks):
        for field, value in block._asdict().items():
            yield _name(field, layer), value
    yield 'logits', activations.logits


def _label(name: str, value: np.ndarray) -> xr.DataArray:
    """An activation with its axes; one that is not in AXES: [sequence, position, ...].

    Heads are numbered, so that a patch can name them. (x.head is a method of xarray.)
    """
    field = name.split('/')[-1]
    others = [f'{field}_{i}' for i in range(2, value.ndim)]
    axes, lens = AXES.get(field, (('sequence', 'position', *others), ''))
    labelled = xr.DataArray(value, dims=axes, attrs={'transformer_lens': lens})
    if 'head_index' in axes:
        heads = np.arange(labelled.sizes['head_index'])
        return labelled.assign_coords(head_index=heads)
    return labelled


def flatten_params(params: Any) -> dict[str, np.ndarray]:
    """Every parameter of a tree by its path, such as 'block_0/W_Q'."""
    leaves: dict[str, Any] = flatten_dict(params, sep='/')
    return leaves


def read_answers(activations: Activations) -> np.ndarray:
    """The answers [B]: the most likely token after the last position."""
    return np.asarray(activations.logits)[:, -1].argmax(-1)


def make_module(
    model: ModelConfig, vocab: int, masked_by: tasks.TaskConfig | None = None
) -> nn.Module:
    """The network of a model; nothing is drawn, and nothing computed again.

    Args:
      masked_by: the task by whose roles the model's `cut_edges` are cut.
    """
    if getattr(model, 'remat', False):  # a patch sees no value within a traced block
        model = dataclasses.replace(model, remat=False)  # type: ignore[type-var]
    module = model.module(vocab, gamma=0.0)
    if masked_by is None:
        return module
    task = masked_by.make()
    return edges.give_mask(module, model, task.role_names, task.roles)


@cache()
def make_apply(
    model: ModelConfig, vocab: int, masked_by: tasks.TaskConfig | None = None
) -> Callable[..., Activations]:
    """(params, tokens_BT, edit=None) -> Activations of every position.

    The same function for all members of a model: JAX traces each function anew.
    """
    module = make_module(model, vocab, masked_by)

    def apply(
        params: Any, tokens_BT: jax.Array, edit: models.Edit | None = None
    ) -> Activations:
        fields = {'last_only': False, 'edit': edit}
        activations: Any = module.apply({'params': params}, tokens_BT, **fields)
        return activations

    return apply


def program_of(
    experiment: Experiment,
) -> tuple[ModelConfig, int, str, tasks.TaskConfig | None]:
    """What a forward pass is compiled from.

    (model, vocab, precision of products, the task whose roles mask attention or None:
    without `cut_edges` all tasks of one vocabulary share a program).
    """
    model, task = experiment.model, experiment.task
    masked_by = task if model.cut_edges else None
    return model, task.vocab, experiment.train.precision, masked_by


@cache()
def compile_apply(
    model: ModelConfig,
    vocab: int,
    precision: str,
    masked_by: tasks.TaskConfig | None = None,
) -> Callable[..., Activations]:
    """The jitted `make_apply`, compiled once for all members of one `program_of`."""
    program = jax.jit(make_apply(model, vocab, masked_by), static_argnames='edit')
    return numerics.pin(precision)(program)


@cache()
def compile_logits(
    model: ModelConfig,
    vocab: int,
    precision: str,
    masked_by: tasks.TaskConfig | None = None,
    is_many: bool = False,
) -> Callable[..., jax.Array]:
    """The jitted (params, tokens_BT) -> logits; of many, params are stacked."""
    apply = make_apply(model, vocab, masked_by)

    def compute(params: Any, tokens_BT: jax.Array) -> jax.Array:
        return apply(params, tokens_BT).logits

    program = jax.vmap(compute, (0, None)) if is_many else compute
    return numerics.pin(precision)(jax.jit(program))


@cache()
def draw_eval_sets(config: tasks.TaskConfig, seed: int) -> tasks.EvalSets:
    """The eval sets of a seed as numpy arrays."""
    return jax.tree.map(np.asarray, _compile_eval_sets(config)(seed))


def mark_scored(targets: ArrayLike, weights: ArrayLike | None) -> np.ndarray:
    """Which targets of a batch, or of eval sets, are scored: without weights all."""
    return np.ones_like(targets, bool) if weights is None else np.asarray(weights) > 0


def read_eval_set(
    config: tasks.TaskConfig, seed: int, name: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(tokens [B, T], right targets [B, Q], which are scored) of one eval set."""
    eval_sets = draw_eval_sets(config, seed)
    p = config.make().eval_set_names.index(name)
    targets_PBQ = np.asarray(eval_sets.targets_PRBQ)[:, 0]
    is_scored_PBQ = mark_scored(targets_PBQ, eval_sets.weights_PBQ)
    return np.asarray(eval_sets.tokens_PBT)[p], targets_PBQ[p], is_scored_PBQ[p]


@cache()
def _compile_eval_sets(config: tasks.TaskConfig) -> Callable[..., tasks.EvalSets]:
    """seed -> the eval sets."""

    def draw(seed: jax.Array) -> tasks.EvalSets:
        task = config.make()
        return task.eval_sets(task.make_data(random_key(seed, DATA)))

    return numerics.pin()(jax.jit(draw))


@cache()
def _compile_roles(config: tasks.TaskConfig) -> Callable[[np.ndarray], jax.Array]:
    """tokens_BT -> the role of every position."""
    return numerics.pin()(jax.jit(config.make().roles))

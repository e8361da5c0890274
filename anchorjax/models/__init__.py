"""The models by name. A new model is a new file, and its config a new entry here."""

from anchorjax.model import (
    Activations,
    ModelConfig,
    abstract_params,
    draw_params,
    init_params,
    mask_decay,
)
from anchorjax.models.emb_mlp import EmbMLPConfig
from anchorjax.models.gpt2 import GPT2Config
from anchorjax.models.one_layer import OneLayerConfig
from anchorjax.models.transformer import TransformerConfig

MODELS: dict[str, type[ModelConfig]] = {
    'transformer': TransformerConfig,
    'gpt2': GPT2Config,
    'emb_mlp': EmbMLPConfig,
    'one_layer': OneLayerConfig,
}

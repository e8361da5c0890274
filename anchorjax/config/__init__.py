"""From a config file to one frozen `Experiment`.

A config file builds a locked ConfigDict from `default()` and edits it; `resolve` turns
it into an Experiment, or raises a ConfigError before anything is compiled or written.
"""

from ml_collections import ConfigDict

from anchorjax.config.build import (
    default,
    find_path,
    from_dict,
    from_json,
    log_spaced,
    override,
    resolve,
    set_length,
    to_dict,
)
from anchorjax.config.files import (
    begin,
    load,
    require_preset,
)
from anchorjax.config.overrides import override_all
from anchorjax.config.registry import enter_class
from anchorjax.config.shared_settings import (
    set_official_gpt2,
    set_small_anchors,
    set_small_language_model,
)
from anchorjax.errors import ConfigError
from anchorjax.experiment import (
    AUTO,
    P1_EPOCH,
    Experiment,
    GridConfig,
    OptimizerConfig,
    TrainConfig,
)
from anchorjax.importing import dotted_name

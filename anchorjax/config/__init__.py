"""From a config file to one frozen `Experiment` and the grid of its members."""

from anchorjax.config.experiment import (
    AUTO,
    PRECISIONS,
    ConfigError,
    Experiment,
    GridConfig,
    TrainConfig,
    default,
    from_dict,
    from_json,
    log_spaced,
    override,
    resolve,
    to_dict,
)

__all__ = [
    'AUTO',
    'PRECISIONS',
    'ConfigError',
    'Experiment',
    'GridConfig',
    'TrainConfig',
    'default',
    'from_dict',
    'from_json',
    'log_spaced',
    'override',
    'resolve',
    'to_dict',
]

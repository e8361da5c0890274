"""What every config file with presets does first: refuse others, name the sweep."""

from collections.abc import Collection

from anchorjax.errors import ConfigError


def require_preset(preset: str, presets: Collection[str]) -> None:
    """Raises ConfigError, with a list of the presets, unless this is one of them."""
    if preset not in presets:
        raise ConfigError(f'preset {preset!r}: must be one of {tuple(presets)}')


def name_sweep(stem: str, preset: str) -> str:
    """The name of a preset's sweep: 'cogs_gpt2', or 'cogs' of the default, ''."""
    return f'{stem}_{preset}' if preset else stem

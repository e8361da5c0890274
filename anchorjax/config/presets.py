"""What every config file with presets does first: refuse others, name the sweep."""

from collections.abc import Collection

from anchorjax.errors import ConfigError, nearest


def require_preset(preset: str, presets: Collection[str]) -> None:
    """Raises ConfigError, with the nearest preset, unless this is one of them."""
    if preset not in presets:
        hint = nearest(preset, filter(None, presets))
        raise ConfigError(f'preset {preset!r}: there is none, {hint}')


def name_sweep(stem: str, preset: str) -> str:
    """The name of a preset's sweep: 'cogs_gpt2', or 'cogs' of the default, ''."""
    return f'{stem}_{preset}' if preset else stem

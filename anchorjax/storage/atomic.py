"""The names of anchorjax.files, for modules that still import them from here."""

from anchorjax.files import *  # noqa: F403

"""Embeddings that are planted in P2's tiny sweeps."""

import pytest

from anchorjax.storage.reader import Run


@pytest.fixture
def plant(monkeypatch):
    """A function that replaces the embedding of every snapshot from step 1 on."""

    def plant_embedding(W_embed):
        parameter_of = Run.parameter

        def parameter(self, path, step='last', **point):
            if path == 'W_embed' and step != 0:
                return W_embed
            return parameter_of(self, path, step, **point)

        monkeypatch.setattr(Run, 'parameter', parameter)

    return plant_embedding

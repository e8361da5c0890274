"""Embeddings that are planted in P2's tiny sweeps."""

import pytest

from anchorjax.storage.reader import Run


@pytest.fixture
def plant(monkeypatch):
    """A function that replaces the embedding of every snapshot from step 1 on."""

    def plant_embedding(W_embed):
        params_of = Run.params

        def params(self, step='last', **point):
            return params_of(self, step, **point) | {'W_embed': W_embed}

        monkeypatch.setattr(Run, 'params', params)

    return plant_embedding

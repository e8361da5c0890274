"""A Hugging Face causal language model on this machine (extra `llm`)."""

import pathlib

from anchorjax.errors import UserError, brief


class LocalModel:
    """A model of the package transformers, with greedy decoding.

    Only safetensors are read, and no code of the folder is run.

    Args:
      chat: apply the tokenizer's chat template.
      max_tokens: the longest reply.

    Raises:
      UserError: the extra is missing, or the folder holds no model.
    """

    def __init__(self, folder: pathlib.Path, chat: bool, max_tokens: int):
        try:
            import transformers
        except ImportError as e:
            raise UserError(f"{e}: pip install 'anchorjax[llm]'") from None
        if not (folder / 'config.json').is_file():  # else its name would be downloaded
            raise UserError(f'--local {folder}: no model there (no config.json)')
        try:
            self._generate = transformers.pipeline(
                'text-generation',
                model=str(folder),
                trust_remote_code=False,
                model_kwargs={'use_safetensors': True},
            )
        except Exception as e:  # transformers raises many kinds
            reason = brief(f'{type(e).__name__}: {e}')
            raise UserError(f'--local {folder}: {reason}') from None
        if chat and not self._generate.tokenizer.chat_template:
            raise UserError(f'--local {folder}: its tokenizer has no chat template')
        self._chat = chat
        self._max_tokens = max_tokens

    def ask(self, prompt: str, id: str) -> tuple[str, str]:
        """(the reply, ''); UserError if the prompt does not fit the model."""
        length = len(self._generate.tokenizer(prompt)['input_ids'])
        config = self._generate.model.config
        limit = getattr(config, 'max_position_embeddings', None)
        if limit is not None and length + self._max_tokens > limit:
            raise UserError(
                f'{id}: {length} tokens and a reply of {self._max_tokens}: the model '
                f'has {limit} positions; write prompts with fewer --shots'
            )
        said = [{'role': 'user', 'content': prompt}] if self._chat else prompt
        options = {'max_new_tokens': self._max_tokens, 'do_sample': False}
        (result,) = self._generate(said, return_full_text=False, **options)
        return result['generated_text'], ''

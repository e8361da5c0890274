"""A Hugging Face causal language model on this machine (extra `llm`)."""

import pathlib
from typing import Any

from anchorjax.errors import UserError, brief
from anchorjax.prompts.asking import Answer


class LocalModel:
    """A `LanguageModel` of the package transformers, with greedy decoding.

    Only safetensors are read, and no code of the folder is run.
    """

    def __init__(self, folder: pathlib.Path, chat: bool, max_tokens: int):
        """Raises UserError if the extra is missing or the folder holds no model.

        Args:
          chat: apply the tokenizer's chat template.
          max_tokens: the longest reply.
        """
        try:
            import torch
            import transformers
        except ImportError as e:
            raise UserError(f"{e}: pip install 'anchorjax[llm]'") from None
        if not (folder / 'config.json').is_file():
            raise UserError(f'--local {folder}: no model there (no config.json)')
        options = {'local_files_only': True, 'trust_remote_code': False}
        try:
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(
                folder, **options
            )
            self._model = transformers.AutoModelForCausalLM.from_pretrained(
                folder, use_safetensors=True, **options
            )
        except Exception as e:  # transformers raises many kinds
            reason = brief(f'{type(e).__name__}: {e}')
            raise UserError(f'--local {folder}: {reason}') from None
        if chat and not self._tokenizer.chat_template:
            raise UserError(f'--local {folder}: its tokenizer has no chat template')
        self._torch = torch
        self._chat = chat
        self._max_tokens = max_tokens
        device = 'cuda' if torch.cuda.is_available() else 'cpu'
        self._model.to(device).eval()

    def ask(self, prompt: str, id: str) -> Answer:
        """See `LanguageModel`; UserError if the prompt does not fit the model."""
        inputs = self._encode(prompt).to(self._model.device)
        length = inputs['input_ids'].shape[1]
        limit = getattr(self._model.config, 'max_position_embeddings', None)
        if limit is not None and length + self._max_tokens > limit:
            raise UserError(
                f'{id}: {length} tokens and a reply of {self._max_tokens}: the model '
                f'has {limit} positions; write prompts with fewer --shots'
            )
        padding = self._tokenizer.pad_token_id
        if padding is None:
            padding = self._tokenizer.eos_token_id
        with self._torch.inference_mode():
            tokens = self._model.generate(
                **inputs,
                max_new_tokens=self._max_tokens,
                do_sample=False,
                pad_token_id=padding,
            )
        new = tokens[0, length:]
        text = self._tokenizer.decode(new, skip_special_tokens=True)
        is_cut = len(new) == self._max_tokens
        return Answer(text, 'length' if is_cut else 'stop')

    def _encode(self, prompt: str) -> Any:
        if not self._chat:
            return self._tokenizer(prompt, return_tensors='pt')
        message = [{'role': 'user', 'content': prompt}]
        return self._tokenizer.apply_chat_template(
            message, add_generation_prompt=True, return_tensors='pt', return_dict=True
        )

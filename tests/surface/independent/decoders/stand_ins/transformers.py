"""What xgrammar names of transformers when it is imported: tokenizers and logits, neither of which is used here."""


class PreTrainedTokenizerBase:
    pass


class PreTrainedTokenizerFast:
    pass


class LogitsProcessor:
    pass

"""What xgrammar names of torch when it is imported. torch masks logits; it takes no part in matching."""


class Nothing:
    """Any attribute, any call, any type."""

    def __getattr__(self, name):
        return Nothing()

    def __call__(self, *given, **named):
        return given[0] if given and callable(given[0]) else Nothing()

    def __or__(self, other):
        return object

    __ror__ = __or__


class Tensor:
    pass


class dtype:
    pass


class device:
    pass


int32 = bool = float32 = cuda = version = utils = library = Nothing()


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Nothing()

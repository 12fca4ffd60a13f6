"""The question to callbacks, between two steps of a solver, whether to stop."""

from typing import Any


class Asked:
    """Ask the callbacks at every call whether to stop; a yes is final.

    Parameters
    ----------
    estimator : estimator
    context : sklearn.callback.CallbackContext
        Of the solver; every call becomes a subtask "step" of it.
    """

    def __init__(self, estimator: Any, context: Any) -> None:
        self.estimator = estimator
        self.context = context
        self.answer = False

    def __call__(self) -> bool:
        if not self.answer:
            step = self.context.subcontext("step")
            self.answer = step.call_on_fit_task_end(estimator=self.estimator)
        return self.answer

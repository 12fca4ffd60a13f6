"""A callback for tests of how a fit is cut short."""


class StopAt:
    """A callback that ends a fit at a step, and all that are asked later."""

    def __init__(self, step):
        self.step, self.seen = step, 0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.seen += context.task_name == "step"
        return self.seen >= self.step

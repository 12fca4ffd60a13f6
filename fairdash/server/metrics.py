"""The answer to a program that collects metrics: OpenMetrics, or plain text."""

import asyncio
import logging
import shutil
from collections.abc import Callable, Iterator
from time import monotonic

from prometheus_client import CollectorRegistry, Metric
from prometheus_client import exposition as plain_text
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from fairdash import box
from fairdash.jobs import engine
from fairdash.server.meters import Meters
from fairdash.store import Homes, Store, trouble

STATE_SECONDS = 5.0  # for which an answer is repeated
log = logging.getLogger("fairdash")


class Metrics:
    """The route of the metrics.

    However many ask, they are collected once in `STATE_SECONDS` for each format: to
    count what waits in the homes of all users is no work of the event loop, and none
    that a request should repeat.
    """

    def __init__(self, meters: Meters, store: Store) -> None:
        self._registry = meters.registry
        self._registry.register(ServerState(store))
        self._answers: dict[str, tuple[float, asyncio.Future[bytes]]] = {}

    async def answer(self, request: Request) -> Response:
        """Answer one request, in the format that it accepts."""
        # By two formats only: an answer of each is kept, whatever else is accepted.
        wants_open = "application/openmetrics-text" in request.headers.get("accept", "")
        encode: Callable[[CollectorRegistry], bytes] = openmetrics.generate_latest
        kind = openmetrics.CONTENT_TYPE_LATEST
        if not wants_open:
            encode = plain_text.generate_latest
            kind = plain_text.CONTENT_TYPE_PLAIN_0_0_4
        until, content = self._answers.get(kind, (0.0, None))
        if content is None or (content.done() and monotonic() >= until):
            content = asyncio.ensure_future(asyncio.to_thread(encode, self._registry))
            self._answers[kind] = monotonic() + STATE_SECONDS, content
        headers = {"Cache-Control": "no-store"}
        return Response(await asyncio.shield(content), 200, headers, kind)


class ServerState(Collector):
    """What store, engine, box and disk of a server say when they are asked.

    Where the store does not answer, or there is no engine here, only their own numbers
    are missing.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def describe(self) -> list[Metric]:
        """Say nothing beforehand: the store is not asked when this is registered."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the state as it is now."""
        yield from self._queue()
        yield from self._engine()
        uses = CounterMetricFamily(
            "fairdash_box_uses",
            "Messages that processes of the box were asked, by how they ended.",
            labels=["end"],
        )
        for end, n_uses in box.uses().items():
            uses.add_metric([end], n_uses)
        yield uses
        disk = shutil.disk_usage(self._store.root)
        yield GaugeMetricFamily(
            "fairdash_disk_bytes", "Size of the disk of the home folder.", disk.total
        )
        yield GaugeMetricFamily(
            "fairdash_disk_free_bytes", "Bytes of it that are free.", disk.free
        )

    def _queue(self) -> Iterator[Metric]:
        """Yield what waits in all homes, and whether the store answers."""
        queue = None
        try:
            queue = Homes(self._store).queue()
        except (OSError, ValueError) as error:
            log.error("no metrics of the store: %s", trouble(error) or error)
        yield GaugeMetricFamily(
            "fairdash_store_up", "1 while the store answers.", queue is not None
        )
        if queue is None:
            return
        yield GaugeMetricFamily(
            "fairdash_open_runs", "Runs of all users that are not over.", queue.runs
        )
        yield GaugeMetricFamily(
            "fairdash_open_models",
            "Models of these runs that are not over: in the queue or in training.",
            queue.models,
        )

    def _engine(self) -> Iterator[Metric]:
        """Yield what the engine of this machine says of itself, if there is one."""
        card = engine.engine_card(self._store.root)
        is_up = card is not None
        yield GaugeMetricFamily(
            "fairdash_engine_up", "1 while this machine has an engine.", is_up
        )
        if card is None:
            return
        yield GaugeMetricFamily(
            "fairdash_worker_threads", "Threads that train.", card["threads"]
        )
        yield GaugeMetricFamily(
            "fairdash_training_models",
            "Models in training.",
            sum(card.get("training", {}).values()),
        )
        # An engine of an earlier version counts neither.
        models = CounterMetricFamily(
            "fairdash_models",
            "Models that ended since the engine began, by how.",
            labels=["end"],
            created=card["since"],
        )
        for end, n_models in card.get("ended", {}).items():
            models.add_metric([end], n_models, created=card["since"])
        yield models

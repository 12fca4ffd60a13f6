"""A browser without a screen: it logs in by HTTP, and opens windows by websocket."""

from contextlib import contextmanager

import requests
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

PATIENCE = 120  # seconds for an answer


class Visitor:
    """A user with a browser, whose cookies it keeps as one does."""

    PLACE = "fairdash_replica"  # cookie by which the balancer knows the replica

    def __init__(self, address):
        self.address = address
        self.web = requests.Session()

    def log_in(self):
        """Log in at the provider, which asks nothing."""
        self.get("/auth/login").raise_for_status()
        self.get("/_stcore/health").raise_for_status()  # which gives a second cookie

    @property
    def place(self):
        """The replica that the balancer sends this browser to."""
        return self.web.cookies[self.PLACE]

    def get(self, path, **headers):
        """Return the answer to a request."""
        return self.web.get(self.address + path, headers=headers, timeout=PATIENCE)

    def handshake(self):
        """Return what a websocket of this browser is opened with."""
        cookies = "; ".join(f"{each.name}={each.value}" for each in self.web.cookies)
        return {
            "uri": self.address.replace("http", "ws") + "/_stcore/stream",
            "origin": self.address,
            "subprotocols": ["streamlit", self.web.cookies["_streamlit_xsrf"]],
            "additional_headers": {"Cookie": cookies},
            "max_size": None,
            "open_timeout": PATIENCE,
        }

    def keep_cookies(self, link):
        """Keep the cookies that a websocket was answered with."""
        for line in link.response.headers.get_all("Set-Cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            known = [cookie for cookie in self.web.cookies if cookie.name == name]
            for cookie in known:
                cookie.value = value
                self.web.cookies.set_cookie(cookie)

    @contextmanager
    def window(self, page="", query=""):
        """Open a page; give its window once the page is drawn."""
        with connect(**self.handshake()) as link:
            self.keep_cookies(link)
            window = Window(self, link)
            window.open(page, query)
            yield window


class Window:
    """A window of a visitor.

    Attributes
    ----------
    session : str
        The id that the replica gave it.
    texts : list of str
        What the page shows in headings and alerts.
    """

    def __init__(self, visitor, link):
        self._visitor = visitor
        self._link = link
        self.session = ""
        self.texts = []

    def open(self, page="", query=""):
        """Have a page drawn, and wait until it is."""
        message = BackMsg()
        message.rerun_script.page_name = page
        message.rerun_script.query_string = query
        self._link.send(message.SerializeToString())
        self.texts = []
        while True:
            answer = ForwardMsg.FromString(self._link.recv(timeout=PATIENCE))
            kind = answer.WhichOneof("type")
            if kind == "script_finished":
                return
            if kind == "new_session":
                self.session = answer.new_session.initialize.session_id
            if kind == "delta":
                self._read(answer.delta.new_element)

    def _read(self, element):
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.texts.append(element.exception.message)
        if kind in ("heading", "alert", "markdown"):
            self.texts.append(getattr(element, kind).body)

    def upload(self, content, name="people.csv"):
        """Send a file as a field of this window does; return the answer."""
        web = self._visitor.web
        return web.put(
            f"{self._visitor.address}/_stcore/upload_file/{self.session}/{name}",
            files={"file": (name, content, "text/csv")},
            headers={
                "Origin": self._visitor.address,
                "X-Xsrftoken": web.cookies["_streamlit_xsrf"],
            },
            timeout=PATIENCE,
        )

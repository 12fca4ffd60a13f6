"""A provider of OpenID Connect on this machine, which lets Ann in without asking."""

import json
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlparse

from joserfc import jwk, jwt

SECRETS = """
[auth]
redirect_uri = "{app}/oauth2callback"
cookie_secret = "{secret}"
client_id = "fairdash"
client_secret = "known to both"
server_metadata_url = "{provider}/.well-known/openid-configuration"
"""


class Provider:
    """What a provider says, and what it was asked.

    Attributes
    ----------
    claims, metadata : dict
        What is said beside, or in place of, what a sound provider says.
    asked : list of str
        The paths it was asked for, in order.
    answers : threading.Event
        While it is not set, nobody is answered.
    """

    def __init__(self):
        self.claims, self.metadata, self.asked = {}, {}, []
        self.answers = threading.Event()
        self.answers.set()
        self.token_status = 200
        self._key = jwk.RSAKey.generate_key(2048, {"kid": "1"})
        self._nonces = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._server.request_queue_size = 128
        self.port = self._server.server_port
        self.address = f"http://127.0.0.1:{self.port}"

    def client(self):
        """Return what fairdash is told of this provider."""
        return {
            "client_id": "fairdash",
            "client_secret": "known to both",
            "server_metadata_url": f"{self.address}/.well-known/openid-configuration",
        }

    @contextmanager
    def open(self):
        """Answer in a thread."""
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        try:
            yield self
        finally:
            self.answers.set()
            self._server.shutdown()
            self._server.server_close()

    def _handler(provider):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                path, query = urlparse(self.path).path, urlparse(self.path).query
                provider.asked.append(path)
                provider.answers.wait()
                if path == "/authorize":
                    self.redirect({k: v[0] for k, v in parse_qs(query).items()})
                elif path == "/keys":
                    self.answer({"keys": [provider._key.as_dict(private=False)]})
                else:
                    self.answer(provider._says())

            def do_POST(self):
                size = int(self.headers["Content-Length"])
                form = parse_qs(self.rfile.read(size).decode())
                provider.asked.append(urlparse(self.path).path)
                provider.answers.wait()
                nonce = provider._nonces.get(form["code"][0])
                if provider.token_status != 200:
                    self.answer({}, provider.token_status)
                elif nonce is None:
                    self.answer({"error": "invalid_grant\x1b[2J"}, 400)
                else:
                    self.answer(provider._token(nonce))

            def redirect(self, query):
                code = str(len(provider._nonces))
                provider._nonces[code] = query["nonce"]
                back = urlencode({"code": code, "state": query["state"]})
                self.send_response(302)
                self.send_header("Location", f"{query['redirect_uri']}?{back}")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def answer(self, content, status=200):
                body = json.dumps(content).encode()
                with suppress(ConnectionError):  # of who waits no longer
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        return Handler

    def _says(self):
        ends = {"authorization": "authorize", "token": "token"}
        facts = {f"{n}_endpoint": f"{self.address}/{p}" for n, p in ends.items()}
        facts |= {"issuer": self.address, "jwks_uri": f"{self.address}/keys"}
        return facts | self.metadata

    def _token(self, nonce):
        seconds = int(time.time())
        claims = {"iss": self.address, "aud": "fairdash", "sub": "1", "nonce": nonce}
        claims |= {"iat": seconds, "exp": seconds + 600, "email": "ann@example.org"}
        claims |= self.claims
        token = jwt.encode({"alg": "RS256", "kid": "1"}, claims, self._key)
        return {"access_token": "1", "token_type": "Bearer", "id_token": token}

"""A provider of OpenID Connect on this machine: whoever asks is a new user."""

import itertools
import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwk, jwt

SECRETS = """
[auth]
redirect_uri = "http://localhost:{port}/oauth2callback"
cookie_secret = "of a benchmark, long enough to sign the cookies of its users"
client_id = "fairdash"
client_secret = "known to both"
server_metadata_url = "{provider}/.well-known/openid-configuration"
"""


@contextmanager
def provider():
    """Yield the address of a provider that lets everybody in."""
    key = jwk.RSAKey.generate_key(2048, {"kid": "1"})
    nonces = {}  # by code
    numbers = itertools.count()

    class Provider(BaseHTTPRequestHandler):
        def do_GET(self):
            url = urlsplit(self.path)
            if url.path == "/authorize":
                query = {name: value[0] for name, value in parse_qs(url.query).items()}
                code = str(next(numbers))
                nonces[code] = query.get("nonce")
                back = urlencode({"code": code, "state": query["state"]})
                self.send_response(302)
                self.send_header("Location", f"{query['redirect_uri']}?{back}")
                self.end_headers()
            elif url.path == "/keys":
                self.answer({"keys": [key.as_dict(private=False)]})
            else:
                ends = {"authorization": "authorize", "token": "token"}
                facts = {
                    f"{name}_endpoint": f"{origin}/{end}" for name, end in ends.items()
                }
                self.answer({"issuer": origin, "jwks_uri": f"{origin}/keys", **facts})

        def do_POST(self):
            form = parse_qs(
                self.rfile.read(int(self.headers["Content-Length"])).decode()
            )
            code = form["code"][0]
            seconds = int(time.time())
            claims = {
                "iss": origin,
                "aud": "fairdash",
                "sub": code,
                "email": f"user{code}@example.org",
                "email_verified": True,
                "iat": seconds,
                "exp": seconds + 600,
                "nonce": nonces[code],
            }
            token = jwt.encode({"alg": "RS256", "kid": "1"}, claims, key)
            tokens = {"access_token": "1", "token_type": "Bearer", "id_token": token}
            self.answer(tokens)

        def answer(self, content):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    origin = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield origin
    finally:
        server.shutdown()
        server.server_close()

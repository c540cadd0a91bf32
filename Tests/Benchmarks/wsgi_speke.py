"""A minimal SPEKE server behind WSGI, to compare with: it fills a string template, and keeps nothing.

    wsgi_speke.py wsgiref|waitress|gunicorn PORT

It answers documents of two keys for FairPlay. It derives keys from the names, and knows one credential, USER:PASSWORD
in the environment variable SPEKE_CREDENTIAL; it checks nothing else. One process, on the core that its caller gives it.
"""

import base64
import hashlib
import hmac
import logging
import os
import re
import socketserver
import sys
import uuid
from collections.abc import Callable, Iterable

AUTHORIZATION = "Basic " + base64.b64encode(os.environ["SPEKE_CREDENTIAL"].encode()).decode()
MASTER_SECRET = bytes(range(32))
CONTENT = re.compile(r'contentId="([^"]+)"')
KEY_ID = re.compile(r'<cpix:ContentKey kid="([0-9a-f-]{36})"')
KEY_LINE = (
    'METHOD=SAMPLE-AES,URI="skd://{}",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"'
)
FAIRPLAY = "94ce86fb-07ff-4f43-adb8-93d2fa968ca2"
ANSWER = """<?xml version="1.0" encoding="UTF-8"?>
<cpix:CPIX contentId="{content}" version="2.3" xmlns:cpix="urn:dashif:org:cpix" \
xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc">
<cpix:ContentKeyList>{keys}</cpix:ContentKeyList>
<cpix:DRMSystemList>{systems}</cpix:DRMSystemList>
<cpix:ContentKeyUsageRuleList><cpix:ContentKeyUsageRule kid="{video}" intendedTrackType="VIDEO"><cpix:VideoFilter/>\
</cpix:ContentKeyUsageRule><cpix:ContentKeyUsageRule kid="{audio}" intendedTrackType="AUDIO"><cpix:AudioFilter/>\
</cpix:ContentKeyUsageRule></cpix:ContentKeyUsageRuleList>
</cpix:CPIX>
"""
KEY = """<cpix:ContentKey kid="{kid}" commonEncryptionScheme="cbcs" explicitIV="{iv}"><cpix:Data><pskc:Secret>\
<pskc:PlainValue>{key}</pskc:PlainValue></pskc:Secret></cpix:Data></cpix:ContentKey>"""
SYSTEM = """<cpix:DRMSystem kid="{kid}" systemId="{system}"><cpix:HLSSignalingData playlist="media">{media}\
</cpix:HLSSignalingData><cpix:HLSSignalingData playlist="master">{master}</cpix:HLSSignalingData></cpix:DRMSystem>"""


def in_base64(value: bytes | str) -> str:
    return base64.b64encode(value.encode() if isinstance(value, str) else value).decode()


def secret(label: bytes, content: str, key_id: str) -> str:
    names = label + content.encode() + uuid.UUID(key_id).bytes
    return in_base64(hmac.new(MASTER_SECRET, names, hashlib.sha256).digest()[:16])


def key(content: str, key_id: str) -> str:
    return KEY.format(kid=key_id, iv=secret(b"iv", content, key_id), key=secret(b"key", content, key_id))


def system(key_id: str) -> str:
    line = KEY_LINE.format(key_id)
    return SYSTEM.format(
        kid=key_id,
        system=FAIRPLAY,
        media=in_base64("#EXT-X-KEY:" + line),
        master=in_base64("#EXT-X-SESSION-KEY:" + line),
    )


def application(environ: dict, start_response: Callable) -> Iterable[bytes]:
    if not hmac.compare_digest(environ.get("HTTP_AUTHORIZATION", ""), AUTHORIZATION):
        start_response("401 Unauthorized", [("Content-Length", "0")])
        return []
    body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])).decode()
    content = CONTENT.search(body)[1]
    video, audio = KEY_ID.findall(body)
    answer = ANSWER.format(
        content=content,
        keys=key(content, video) + key(content, audio),
        systems=system(video) + system(audio),
        video=video,
        audio=audio,
    ).encode()
    headers = [("Content-Type", "application/xml"), ("Content-Length", str(len(answer)))]
    headers += [("X-Speke-Version", "2.0"), ("X-Speke-User-Agent", "wsgi")]
    start_response("200 OK", headers)
    return [answer]


def serve_by_wsgiref(port: int) -> None:
    """HTTP/1.0: each request has its own connection."""
    from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

    class Quiet(WSGIRequestHandler):
        def log_message(self, *_: object) -> None:
            """Writes no log, because the log would cost more than the answer."""

        def address_string(self) -> str:
            return self.client_address[0]

    class Server(WSGIServer):
        request_queue_size = 1024

        def handle_error(self, *_: object) -> None:
            """Writes no errors, because the clients of a load reset their connections at its end."""

        def server_bind(self) -> None:
            """Binds the socket without a look-up of the machine's name."""
            socketserver.TCPServer.server_bind(self)
            self.server_name, self.server_port = "localhost", port
            self.setup_environ()

    server = Server(("127.0.0.1", port), Quiet)
    server.set_app(application)
    server.serve_forever()


def serve_by_waitress(port: int) -> None:
    import waitress

    # Turns this logger off: it writes a line for each request that waits for a thread.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    waitress.serve(application, host="127.0.0.1", port=port, threads=4, _quiet=True)


def serve_by_gunicorn(port: int) -> None:
    """One worker with threads, which is the kind of worker that keeps connections open."""
    from gunicorn.app.base import BaseApplication

    class Application(BaseApplication):
        def load_config(self) -> None:
            settings = {"bind": f"127.0.0.1:{port}", "workers": 1, "worker_class": "gthread", "threads": 4}
            for name, value in (settings | {"keepalive": 75, "loglevel": "critical"}).items():
                self.cfg.set(name, value)

        def load(self) -> Callable:
            return application

    Application().run()


SERVERS = {"wsgiref": serve_by_wsgiref, "waitress": serve_by_waitress, "gunicorn": serve_by_gunicorn}

if __name__ == "__main__":
    SERVERS[sys.argv[1]](int(sys.argv[2]))

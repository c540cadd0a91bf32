"""Requests over HTTP/1.1 by name, as bytes, with the statuses that the daemon must answer.

A name begins with the section that the case tests: a section of RFC 9112 unless the name begins with "9110".
"""

from dataclasses import dataclass

# Defaults of the daemon's limits.
HEAD_SIZE = 16 * 1024
FIELD_COUNT = 100
TARGET_SIZE = 8 * 1024
BODY_SIZE = 64 * 1024
EXTENSIONS_SIZE = 1024
TRAILER_SIZE = 4 * 1024

# This request follows every case. The answer to a refused case must not contain `marker`.
MARKER = b"GET /livez?marker HTTP/1.1\r\nHost: marker\r\nConnection: close\r\n\r\n"
GET = b"GET /livez HTTP/1.1\r\n"
# The answer to this request does not depend on the body, but the daemon still reads the body to its end. A license
# request without a token would be refused because of its head.
POST = b"POST /livez HTTP/1.1\r\nHost: a\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


@dataclass(frozen=True)
class Accepted:
    """Requests that must be answered, each with its status.

    The marker after them is answered too, unless they end the connection.
    """

    sent: bytes
    statuses: tuple[int, ...]
    head_at: tuple[int, ...] = ()
    closes: bool = False


def get(fields: bytes, start: bytes = GET) -> bytes:
    return start + b"Host: a\r\n" + fields + b"\r\n"


def target(value: bytes, host: bytes = b"a", method: bytes = b"GET") -> bytes:
    return method + b" " + value + b" HTTP/1.1\r\nHost: " + host + b"\r\n\r\n"


def start_line(line: bytes) -> bytes:
    return line + b"\r\nHost: a\r\n\r\n"


def host(value: bytes) -> bytes:
    return GET + b"Host:" + value + b"\r\n\r\n"


def sized(value: bytes, body: bytes = b"abcde") -> bytes:
    return POST + b"Content-Length:" + value + b"\r\n\r\n" + body


def coded(value: bytes) -> bytes:
    return POST + b"Transfer-Encoding:" + value + b"\r\n\r\n0\r\n\r\n"


def head_of(size: int) -> bytes:
    """A valid head of exactly `size` bytes."""
    frame = len(get(b"X: \r\n"))
    return get(b"X: " + b"x" * (size - frame) + b"\r\n")


def trailer_of(size: int) -> bytes:
    """A chunked request with one trailer line of `size` bytes, its CR included. The empty line adds its own CR."""
    return CHUNKED + b"0\r\nX: " + b"x" * (size - 4) + b"\r\n\r\n"


def chunks_of(size: int) -> bytes:
    """A request with a chunked body of `size` bytes, in chunks of 4096 bytes and a shorter last one."""
    sizes = [4096] * (size // 4096) + ([size % 4096] if size % 4096 else [])
    return CHUNKED + b"".join(b"%x\r\n%s\r\n" % (one, b"a" * one) for one in sizes) + b"0\r\n\r\n"


def _refused() -> dict[str, tuple[int, bytes]]:
    bad: dict[str, bytes] = {
        "2.2 line feed alone ends the request line": b"GET /livez HTTP/1.1\nHost: a\r\n\r\n",
        "2.2 line feed alone ends a field": get(b"X: 1\nY: 2\r\n"),
        "2.2 line feed alone ends the head": GET + b"Host: a\r\n\n",
        "2.2 line feeds alone everywhere": b"GET /livez HTTP/1.1\nHost: a\n\n",
        "2.2 carriage return in the method": start_line(b"G\rET /livez HTTP/1.1"),
        "2.2 carriage return in the target": start_line(b"GET /li\rvez HTTP/1.1"),
        "2.2 carriage return in a value": get(b"X: a\rb\r\n"),
        "2.2 carriage return twice": get(b"X: a\r\r\n"),
        "2.2 carriage return hides a field": get(b"X: a\rTransfer-Encoding: chunked\r\n"),
        "2.2 two empty lines first": b"\r\n\r\n" + get(b""),
        "2.2 line feed first": b"\n" + get(b""),
        "2.2 white space line first": b" \r\n" + get(b""),
        "2.2 white space before the first field": GET + b" Host: a\r\n\r\n",
        "2.2 white space line after the request line": GET + b" \r\nHost: a\r\n\r\n",
        "2.2 byte order mark": b"\xef\xbb\xbf" + get(b""),
        "2.2 a TLS handshake": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(32) + b"\r\n\r\n",
        "2.2 binary zeros": bytes(64) + b"\r\n\r\n",
        "2.2 an HTTP response": b"HTTP/1.1 200 OK\r\nHost: a\r\n\r\n",
        "3 only a method": start_line(b"GET"),
        "3 no version, HTTP/0.9": start_line(b"GET /livez"),
        "3 empty target": start_line(b"GET  HTTP/1.1"),
        "3 space first": start_line(b" GET /livez HTTP/1.1"),
        "3 two spaces after the method": start_line(b"GET  /livez HTTP/1.1"),
        "3 two spaces before the version": start_line(b"GET /livez  HTTP/1.1"),
        "3 tab after the method": start_line(b"GET\t/livez HTTP/1.1"),
        "3 tab before the version": start_line(b"GET /livez\tHTTP/1.1"),
        "3 space at the end": start_line(b"GET /livez HTTP/1.1 "),
        "3 one word more": start_line(b"GET /livez HTTP/1.1 x"),
        "3 space in the target": start_line(b"GET /li vez HTTP/1.1"),
        "3 form feed as space": start_line(b"GET\x0c/livez HTTP/1.1"),
        "3.1 method with a parenthesis": start_line(b"GE(T /livez HTTP/1.1"),
        "3.1 method with a colon": start_line(b"Host: /livez HTTP/1.1"),
        "3.1 method beyond ASCII": start_line(b"G\xc9T /livez HTTP/1.1"),
        "3.1 method with a zero byte": start_line(b"G\x00ET /livez HTTP/1.1"),
        "2.3 version in lower case": start_line(b"GET /livez http/1.1"),
        "2.3 version of two digits": start_line(b"GET /livez HTTP/1.10"),
        "2.3 version with a leading zero": start_line(b"GET /livez HTTP/01.1"),
        "2.3 version without a minor number": start_line(b"GET /livez HTTP/1."),
        "2.3 version without a point": start_line(b"GET /livez HTTP/11"),
        "2.3 version with a comma": start_line(b"GET /livez HTTP/1,1"),
        "2.3 version with a space": start_line(b"GET /livez HTTP/ 1.1"),
        "2.3 another protocol": start_line(b"GET /livez ICAP/1.0"),
        "3.2 target without a slash": target(b"livez"),
        "3.2 fragment": target(b"/livez#x"),
        "3.2 quotation mark": target(b'/livez"'),
        "3.2 angle bracket": target(b"/<livez"),
        "3.2 target beyond ASCII": target(b"/livez\xff"),
        "3.2 target with a zero byte": target(b"/livez\x00"),
        "3.2 target with an escape character": target(b"/livez\x1b"),
        "3.2.2 absolute form, another host": target(b"http://b/livez"),
        "3.2.2 absolute form, another port": target(b"http://a:81/livez", b"a:80"),
        "3.2.2 absolute form, the default port of another scheme": target(b"http://a:443/livez"),
        "3.2.2 absolute form, user information": target(b"http://u@a/livez"),
        "3.2.2 absolute form, user information, as in Host": target(b"http://u@a/livez", b"u@a"),
        "3.2.2 absolute form, no authority": target(b"http:///livez"),
        "3.2.2 absolute form, only a scheme": target(b"http://"),
        "3.2.2 absolute form, another scheme": target(b"ftp://a/livez"),
        "3.2.2 absolute form, backslash in the authority": target(b"http://a\\b/livez"),
        "3.2.2 absolute form without Host": b"GET http://a/livez HTTP/1.1\r\n\r\n",
        "3.2.3 authority form": target(b"a:80"),
        "3.2.4 asterisk with GET": target(b"*"),
        "3.2.4 asterisk with POST": target(b"*", method=b"POST"),
        "3.2.4 asterisk and more": target(b"*/x", method=b"OPTIONS"),
        "3.2 Host missing": GET + b"\r\n",
        "3.2 Host twice, equal": get(b"Host: a\r\n"),
        "3.2 Host twice, different": get(b"Host: b\r\n"),
        "3.2 Host twice, other case": get(b"hOsT: b\r\n"),
        "3.2 Host twice in HTTP/1.0": b"GET /livez HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
        "3.2 Host empty, absolute form": b"GET http://a/livez HTTP/1.1\r\nHost:\r\n\r\n",
        "3.2 Host with an escape of no digits": host(b" a%zz"),
        "3.2 Host with half an escape": host(b" a%4"),
        "3.2 Host with a space": host(b" a b"),
        "3.2 Host with a comma": host(b" a,b"),
        "3.2 Host with a path": host(b" a/b"),
        "3.2 Host with a scheme": host(b" http://a"),
        "3.2 Host with user information": host(b" u@a"),
        "3.2 Host with letters as port": host(b" a:x"),
        "3.2 Host with a long port": host(b" a:123456"),
        "3.2 Host with two ports": host(b" a:1:2"),
        "3.2 Host is only a port": host(b" :80"),
        "3.2 Host with an open bracket": host(b" [::1"),
        "3.2 Host with empty brackets": host(b" []"),
        "3.2 Host with a wrong address": host(b" [g::1]"),
        "3.2 Host with text behind the bracket": host(b" [::1]a"),
        "3.2 Host beyond ASCII": host(b" \xe4"),
        "5.1 space before the colon": get(b"X : 1\r\n"),
        "5.1 tab before the colon": get(b"X\t: 1\r\n"),
        "5.1 space before the colon of Content-Length": POST + b"Content-Length : 5\r\n\r\nabcde",
        "5.1 space before the colon of Transfer-Encoding": POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "5.1 no colon": get(b"X\r\n"),
        "5.1 no name": get(b": 1\r\n"),
        "5.1 space in the name": get(b"X Y: 1\r\n"),
        "5.1 parenthesis in the name": get(b"X(Y): 1\r\n"),
        "5.1 slash in the name": get(b"X/Y: 1\r\n"),
        "5.1 name beyond ASCII": get(b"X\xe4: 1\r\n"),
        "5.1 zero byte in the name": get(b"X\x00: 1\r\n"),
        "5.1 zero byte hides Content-Length": POST + b"Content-Length\x00: 5\r\n\r\nabcde",
        "5.2 folded with a space": get(b"X: 1\r\n 2\r\n"),
        "5.2 folded with a tab": get(b"X: 1\r\n\t2\r\n"),
        "5.2 folded to nothing": get(b"X: 1\r\n \r\n"),
        "5.2 folded Transfer-Encoding": POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
        "5.2 folded Content-Length": POST + b"Content-Length:\r\n 5\r\n\r\nabcde",
        "5.2 folded Host": GET + b"Host:\r\n a\r\n\r\n",
        "9110 5.5 zero byte in a value": get(b"X: a\x00b\r\n"),
        "9110 5.5 bell in a value": get(b"X: a\x07b\r\n"),
        "9110 5.5 vertical tab in a value": get(b"X: a\x0bb\r\n"),
        "9110 5.5 form feed in a value": get(b"X: a\x0cb\r\n"),
        "9110 5.5 escape in a value": get(b"X: a\x1bb\r\n"),
        "9110 5.5 delete in a value": get(b"X: a\x7fb\r\n"),
        "6.1 Content-Length before Transfer-Encoding": sized(b" 5\r\nTransfer-Encoding: chunked", b"0\r\n\r\n"),
        "6.1 Transfer-Encoding before Content-Length": coded(b" chunked\r\nContent-Length: 5"),
        "6.1 Content-Length 0 with Transfer-Encoding": coded(b" chunked\r\nContent-Length: 0"),
        "6.1 Content-Length with an unknown coding": coded(b" gzip\r\nContent-Length: 5"),
        "6.1 Transfer-Encoding twice": coded(b" chunked\r\nTransfer-Encoding: chunked"),
        "6.1 Transfer-Encoding twice, first unknown": coded(b" identity\r\nTransfer-Encoding: chunked"),
        "6.1 chunked twice in a list": coded(b" chunked, chunked"),
        "6.1 chunked is not last": coded(b" chunked, identity"),
        "6.1 empty coding": coded(b""),
        "6.1 comma first": coded(b" , chunked"),
        "6.1 comma last": coded(b" chunked,"),
        "6.1 vertical tab before chunked": coded(b" \x0bchunked"),
        "6.1 zero byte after chunked": coded(b" chunked\x00"),
        "6.1 carriage return after chunked": coded(b" chunked\r"),
        "6.1 Transfer-Encoding in HTTP/1.0": b"POST /x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "6.1 both in HTTP/1.0": b"POST /x HTTP/1.0\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "6.3 two lengths, equal": sized(b" 5\r\nContent-Length: 5"),
        "6.3 two lengths, different": sized(b" 5\r\nContent-Length: 6"),
        "6.3 two lengths, one zero": sized(b" 0\r\nContent-Length: 5"),
        "6.3 two lengths in HTTP/1.0": b"POST /x HTTP/1.0\r\nContent-Length: 5\r\nContent-Length: 0\r\n\r\nabcde",
        "7.1 no size": CHUNKED + b"\r\nabcde\r\n0\r\n\r\n",
        "7.1 size is no number": CHUNKED + b"g\r\nabcde\r\n0\r\n\r\n",
        "7.1 size with 0x": CHUNKED + b"0x5\r\nabcde\r\n0\r\n\r\n",
        "7.1 size with a plus": CHUNKED + b"+5\r\nabcde\r\n0\r\n\r\n",
        "7.1 size with a minus": CHUNKED + b"-5\r\nabcde\r\n0\r\n\r\n",
        "7.1 size with an underscore": CHUNKED + b"0_5\r\nabcde\r\n0\r\n\r\n",
        "7.1 space before the size": CHUNKED + b" 5\r\nabcde\r\n0\r\n\r\n",
        "7.1 space after the size": CHUNKED + b"5 \r\nabcde\r\n0\r\n\r\n",
        "7.1 tab after the size": CHUNKED + b"5\t\r\nabcde\r\n0\r\n\r\n",
        "7.1 zero byte after the size": CHUNKED + b"5\x00\r\nabcde\r\n0\r\n\r\n",
        "7.1 17 digits": CHUNKED + b"0" * 16 + b"5\r\nabcde\r\n0\r\n\r\n",
        "7.1 2^64 + 5": CHUNKED + b"10000000000000005\r\nabcde\r\n0\r\n\r\n",
        "7.1 line feed alone after the size": CHUNKED + b"5\nabcde\r\n0\r\n\r\n",
        "7.1 carriage return alone after the size": CHUNKED + b"5\rabcde\r\n0\r\n\r\n",
        "7.1 more data than the size": CHUNKED + b"5\r\nabcdef\r\n0\r\n\r\n",
        "7.1 less data than the size": CHUNKED + b"5\r\nabcd\r\n0\r\n\r\n",
        "7.1 line feed alone after the data": CHUNKED + b"5\r\nabcde\n0\r\n\r\n",
        "7.1 nothing after the data": CHUNKED + b"5\r\nabcde0\r\n\r\n",
        "7.1 another two bytes after the data": CHUNKED + b"5\r\nabcdeXX0\r\n\r\n",
        "7.1 line feed alone after the last size": CHUNKED + b"0\n\r\n",
        "7.1.1 space before an extension": CHUNKED + b"5 ;x\r\nabcde\r\n0\r\n\r\n",
        "7.1.1 line feed ends an extension": CHUNKED + b"5;x\nabcde\r\n0\r\n\r\n",
        "7.1.1 zero byte in an extension": CHUNKED + b"5;\x00\r\nabcde\r\n0\r\n\r\n",
        "7.1.1 carriage return in an extension": CHUNKED + b"5;x\ry\r\nabcde\r\n0\r\n\r\n",
        "7.1.1 extension without a name": CHUNKED + b"5;\r\nabcde\r\n0\r\n\r\n",
        "7.1.1 extension whose quotation does not end": CHUNKED + b'5;a="b\r\nabcde\r\n0\r\n\r\n',
        "7.1.1 extension without a value": CHUNKED + b"5;a=\r\nabcde\r\n0\r\n\r\n",
        "7.1.1 space in an extension": CHUNKED + b"5; a\r\nabcde\r\n0\r\n\r\n",
        "7.1.1 text behind a quotation": CHUNKED + b'5;a="b"c\r\nabcde\r\n0\r\n\r\n',
        "7.1.1 one byte of extension too many": CHUNKED + b"5;" + b"x" * (EXTENSIONS_SIZE + 1) + b"\r\nabcde\r\n0\r\n\r\n",
        "7.1.1 extensions of several chunks too many": CHUNKED + (b"1;" + b"x" * 512 + b"\r\na\r\n") * 3 + b"0\r\n\r\n",
        "7.1.2 trailer folded": CHUNKED + b"0\r\nX: 1\r\n 2\r\n\r\n",
        "7.1.2 trailer with a space before the colon": CHUNKED + b"0\r\nX : 1\r\n\r\n",
        "7.1.2 trailer without a colon": CHUNKED + b"0\r\nX\r\n\r\n",
        "7.1.2 trailer with a zero byte": CHUNKED + b"0\r\nX: \x00\r\n\r\n",
        "7.1.2 trailer ends with a line feed": CHUNKED + b"0\r\nX: 1\n\r\n",
        "7.1.2 trailer with a carriage return": CHUNKED + b"0\r\nX: 1\rY: 2\r\n\r\n",
        "7.1.2 a request where the trailer belongs": CHUNKED + b"0\r\nGET /livez HTTP/1.1\r\nHost: a\r\n\r\n",
    }
    for value in (
        *(b"", b"+5", b"-5", b"5 5", b"0x5", b"5, 5", b"5,5", b"5,6"),
        *(b"5.0", b"5e0", b"5;", b'"5"', b"a", b"5a", b"5_0"),
        *(b"\xef\xbc\x95", b"\x0b5", b"5\x00", b"0005\r", b"9" * 19, b"18446744073709551621", b"1" * 400),
    ):
        bad[f"6.2 length {value.decode('latin-1')[:24]!a}"] = sized(b" " + value)

    unimplemented = {
        "3.1 unknown method": start_line(b"BREW /livez HTTP/1.1"),
        "3.1 method in lower case": start_line(b"get /livez HTTP/1.1"),
        "3.1 method with more letters": start_line(b"GETS /livez HTTP/1.1"),
        "3.1 a method of 4096 letters": start_line(b"G" * 4096 + b" / HTTP/1.1"),
        "9110 9.3.6 CONNECT": start_line(b"CONNECT a:443 HTTP/1.1"),
        "9110 9.3.6 CONNECT with a path": start_line(b"CONNECT /livez HTTP/1.1"),
        "9110 9.3.8 TRACE": start_line(b"TRACE /livez HTTP/1.1"),
        **{
            f"6.1 coding {value.decode()!a}": coded(b" " + value)
            for value in (
                *(b"identity", b"gzip", b"gzip, chunked", b"xchunked", b"chunkedx", b"chunked;q=1", b'"chunked"'),
                *(b"chun ked", b"chunked chunked", b"cow"),
            )
        },
    }
    versions = {
        f"2.3 version {version.decode()}": start_line(b"GET /livez HTTP/" + version)
        for version in (b"0.9", b"2.0", b"3.0", b"9.9")
    }
    too_large = {
        "6.2 one byte of body too many": sized(b" %d" % (BODY_SIZE + 1), b""),
        "6.2 18 digits of length": sized(b" " + b"9" * 18, b""),
        "6.2 64 MiB": sized(b" 67108864", b""),
        "7.1 one chunk one byte too large": CHUNKED + b"%x\r\n" % (BODY_SIZE + 1),
        "7.1 chunks one byte too large together": chunks_of(BODY_SIZE + 1),
        "7.1 16 digits of size": CHUNKED + b"f" * 16 + b"\r\n",
        "7.1 2^63": CHUNKED + b"8000000000000000\r\n",
        "9110 10.1.1 too large with an expectation": sized(b" 67108864\r\nExpect: 100-continue", b""),
    }
    head_too_large = {
        "5.4 one byte of head too many": head_of(HEAD_SIZE + 1),
        "5.4 head without end": head_of(HEAD_SIZE * 2)[: HEAD_SIZE + 1],
        "5.4 head of name only": GET + b"X" * HEAD_SIZE,
        "5.4 one field too many": get(b"X: 1\r\n" * FIELD_COUNT),
        "5.4 a request line of method only": b"G" * (HEAD_SIZE + 1),
        "7.1.2 one byte of trailer too many": trailer_of(TRAILER_SIZE),
        "7.1.2 one trailer field too many": CHUNKED + b"0\r\n" + b"X: 1\r\n" * (FIELD_COUNT + 1) + b"\r\n",
    }
    target_too_long = {
        "3 one byte of target too many": target(b"/" + b"x" * TARGET_SIZE),
        "3 one byte of query too many": target(b"/?" + b"x" * (TARGET_SIZE - 1)),
        "3 target without end": b"GET /" + b"x" * HEAD_SIZE,
        "3 one byte of absolute form too many": target(b"http://a/" + b"x" * (TARGET_SIZE - 8)),
    }
    unexpected = {
        f"9110 10.1.1 expects {value.decode()}": sized(b" 5\r\nExpect: " + value)
        for value in (b"200-ok", b"100-continue, x", b"x, 100-continue", b"100-continued", b"")
    }
    groups = {400: bad, 501: unimplemented, 505: versions, 413: too_large, 431: head_too_large, 414: target_too_long}
    groups[417] = unexpected
    return {name: (status, sent) for status, group in groups.items() for name, sent in group.items()}


# Input that never becomes a request: the status of the one answer, and the bytes.
REFUSED = _refused()

ACCEPTED: dict[str, Accepted] = {
    "2.2 one empty line first": Accepted(b"\r\n" + get(b""), (200,)),
    "2.2 one empty line after a body": Accepted(sized(b" 5") + b"\r\n" + get(b""), (405, 200)),
    "2.3 HTTP/1.0 without Host": Accepted(b"GET /livez HTTP/1.0\r\n\r\n", (200,), closes=True),
    "2.3 HTTP/1.0 with keep-alive": Accepted(b"GET /livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", (200,)),
    "2.3 HTTP/1.0 with a length": Accepted(b"POST /x HTTP/1.0\r\nContent-Length: 5\r\n\r\nabcde", (404,), closes=True),
    "3 target at the limit": Accepted(target(b"/" + b"x" * (TARGET_SIZE - 1)), (404,)),
    "3.2.1 query": Accepted(target(b"/livez?a=b&c=^{|}"), (200,)),
    "3.2.1 question mark only": Accepted(target(b"/livez?"), (200,)),
    "3.2.1 two slashes": Accepted(target(b"//livez"), (404,)),
    "3.2.1 dots are not resolved": Accepted(target(b"/fps/../livez"), (404,)),
    "3.2.1 escapes are not resolved": Accepted(target(b"/%6civez"), (404,)),
    "3.2.2 absolute form": Accepted(target(b"http://a/livez"), (200,)),
    "2.3 a higher minor version": Accepted(start_line(b"GET /livez HTTP/1.2"), (200,)),
    "2.3 the highest minor version": Accepted(start_line(b"GET /livez HTTP/1.9"), (200,)),
    "3.2 Host empty": Accepted(host(b""), (200,)),
    "3.2.2 absolute form, default port": Accepted(target(b"http://a:80/livez"), (200,)),
    "3.2.2 absolute form, default port of https": Accepted(target(b"https://a:443/livez"), (200,)),
    "3.2.2 absolute form, scheme and host in capitals": Accepted(target(b"HTTP://A/livez"), (200,)),
    "3.2.2 absolute form, https": Accepted(target(b"https://a:8443/livez", b"a:8443"), (200,)),
    "3.2.2 absolute form without a path": Accepted(target(b"http://a"), (404,)),
    "3.2 Host is an IPv6 address": Accepted(target(b"/livez", b"[2001:db8::1]:8443"), (200,)),
    "3.2 Host with an empty port": Accepted(target(b"/livez", b"a:"), (200,)),
    "3.2 Host in white space": Accepted(host(b" \t a \t "), (200,)),
    "3.2 Host without white space": Accepted(host(b"a"), (200,)),
    "5 value is empty": Accepted(get(b"X:\r\n"), (200,)),
    "5 value with a tab": Accepted(get(b"X: a\tb\r\n"), (200,)),
    "5 value beyond ASCII": Accepted(get(b"X: \xe4\xff\r\n"), (200,)),
    "5 names of all token characters": Accepted(get(b"!#$%&'*+-.^_`|~09azAZ: 1\r\n"), (200,)),
    "5.4 head at the limit": Accepted(head_of(HEAD_SIZE), (200,)),
    "5.4 fields at the limit": Accepted(get(b"X: 1\r\n" * (FIELD_COUNT - 1)), (200,)),
    "6.2 length 0": Accepted(sized(b" 0", b""), (405,)),
    "6.2 length with leading zeros": Accepted(sized(b" 005"), (405,)),
    "6.2 length at the limit": Accepted(sized(b" %d" % BODY_SIZE, b"a" * BODY_SIZE), (405,)),
    "6.2 GET with a body": Accepted(get(b"Content-Length: 5\r\n") + b"abcde", (200,)),
    "6.2 a body that looks like a request": Accepted(sized(b" %d" % len(MARKER), MARKER), (405,)),
    "6.1 chunked in other letters": Accepted(coded(b" ChUnKeD"), (405,)),
    "6.1 chunked in white space": Accepted(coded(b" \tchunked \t"), (405,)),
    "6.1 GET with chunks": Accepted(get(b"Transfer-Encoding: chunked\r\n") + b"5\r\nabcde\r\n0\r\n\r\n", (200,)),
    "7.1 chunks that look like a request": Accepted(
        CHUNKED + b"%x\r\n" % len(MARKER) + MARKER + b"\r\n0\r\n\r\n", (405,)
    ),
    "7.1 sizes in both cases": Accepted(
        CHUNKED + b"a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", (405,)
    ),
    "7.1 16 digits": Accepted(CHUNKED + b"0" * 15 + b"5\r\nabcde\r\n0\r\n\r\n", (405,)),
    "7.1 several zeros end the body": Accepted(CHUNKED + b"5\r\nabcde\r\n000\r\n\r\n", (405,)),
    "7.1 body at the limit": Accepted(chunks_of(BODY_SIZE), (405,)),
    "7.1.1 extensions": Accepted(CHUNKED + b'5;a=b;c="d e"\r\nabcde\r\n0;x\r\n\r\n', (405,)),
    "7.1.1 extension at the limit": Accepted(
        CHUNKED + b"5;" + b"x" * EXTENSIONS_SIZE + b"\r\nabcde\r\n0\r\n\r\n", (405,)
    ),
    "7.1.2 trailer": Accepted(CHUNKED + b"0\r\nX: 1\r\nY: 2\r\n\r\n", (405,)),
    "7.1.2 framing in the trailer means nothing": Accepted(
        CHUNKED + b"0\r\nContent-Length: 400\r\nTransfer-Encoding: gzip\r\nHost: b\r\nConnection: close\r\n\r\n", (405,)
    ),
    "7.1.2 trailer at the limit": Accepted(trailer_of(TRAILER_SIZE - 1), (405,)),
    "9.3 close": Accepted(get(b"Connection: close\r\n"), (200,), closes=True),
    "9.3 close in a list": Accepted(get(b"Connection: x, CLOSE , keep-alive\r\n"), (200,), closes=True),
    "9.3.2 three requests at once": Accepted(get(b"") + target(b"/nothing") + get(b""), (200, 404, 200)),
    "9.3.2 fifty requests at once": Accepted(get(b"") * 50, (200,) * 50),
    "9.3.2 bodies between": Accepted((sized(b" 5") + get(b"") + chunks_of(5)) * 3, (405, 200, 405) * 3),
    "9110 9.3.2 HEAD": Accepted(get(b"", b"HEAD /livez HTTP/1.1\r\n"), (200,), head_at=(0,)),
    "9110 9.3.2 HEAD of nothing": Accepted(get(b"", b"HEAD /nothing HTTP/1.1\r\n"), (404,), head_at=(0,)),
    "9110 9.3.2 HEAD and GET": Accepted(
        get(b"", b"HEAD /livez HTTP/1.1\r\n") + get(b"") + get(b"", b"HEAD /livez HTTP/1.1\r\n"), (200,) * 3, (0, 2)
    ),
    "9110 9.3.4 a method that is not for this": Accepted(target(b"/livez", method=b"PUT"), (405,)),
    "9110 10.1.1 expectation without a body": Accepted(get(b"Expect: 100-continue\r\n"), (200,)),
    "9110 10.1.1 the body is there already": Accepted(sized(b" 5\r\nExpect: 100-Continue"), (405,)),
    "9110 10.1.1 HTTP/1.0": Accepted(
        b"POST /x HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nabcde", (404,), closes=True
    ),
}

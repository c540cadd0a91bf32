"""The view Find: what a pasted text is, refusals by their groups, and what stands beside a name."""

import base64
import json
import re
import uuid

import pytest

import tokens
from conftest import Lab
from deployment import run_latchkey
from desk import Desk
from viewers import counted_token, license, message

HEX = "0f5d8c520d8d4ad09f0a3f1f7f0d9a41"
UUID = "0f5d8c52-0d8d-4ad0-9f0a-3f1f7f0d9a41"
BASE64 = base64.b64encode(bytes.fromhex(HEX)).decode()
KEY = [["key", UUID]]
PSEUDONYMS = [["subject", f"pseudonym:{HEX}"], ["device", f"pseudonym:{HEX}"]]
OPEN = [["content", "{}"], ["subject", "{}"], ["request", "{}"]]
# A pasted text, and what it may be: the most probable first.
GUESSES = [
    ("5f0c2b7e91d3a846", [["request", "5f0c2b7e91d3a846"]]),
    ('{"code":"token_expired","request_id":"5f0c2b7e91d3a846"}', [["request", "5f0c2b7e91d3a846"]]),
    ("X-Request-Id: edge.7:42", [["request", "edge.7:42"]]),
    (f"  {UUID.upper()} ", KEY),
    (f"{{{UUID}}}", KEY),
    (f"urn:uuid:{UUID}", KEY),
    (f"0x{HEX}", KEY),
    (":".join(HEX[at : at + 2] for at in range(0, 32, 2)), KEY),
    (BASE64, KEY),
    (BASE64.rstrip("=").replace("+", "-").replace("/", "_"), KEY + OPEN),
    (HEX, [["license", HEX], *KEY, ["request", HEX], *PSEUDONYMS]),
    # A copy often has spaces, quotes or a comma around it.
    (f' "{HEX}",', [["license", HEX], *KEY, ["request", HEX], *PSEUDONYMS]),
    (f"\u201c{UUID}\u201d", KEY),
    (" 'movie-42' ", [["content", "movie-42"], ["subject", "movie-42"], ["request", "movie-42"]]),
    ('{"event":"license_refused","code":"token_expired","request_id":"5f0c2b7e91d3a846","status":403}',
     [["request", "5f0c2b7e91d3a846"]]),
    (r'"body": "{\"request_id\":\"5f0c2b7e91d3a846\"}"', [["request", "5f0c2b7e91d3a846"]]),
    (f"traceparent: 00-{HEX}-00f067aa0ba902b7-01", [["request", HEX]]),
    (f'#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://movie-42?kid={HEX}",KEYFORMAT="x"', [*KEY, ["content", "movie-42"]]),
    ("ab" * 32, [["subject", f"pseudonym:{'ab' * 32}"], ["device", f"pseudonym:{'ab' * 32}"]]),
    ("ab" * 20, [["device", "ab" * 20]]),
    (f"{'ab' * 32}-7", [["playback", f"{'ab' * 32}-7"]]),
    (f"pseudonym:{'ab' * 32}", [["subject", f"pseudonym:{'ab' * 32}"], ["device", f"pseudonym:{'ab' * 32}"]]),
    ("token_expired", [["code", "token_expired"], *OPEN]),
    ("movie-42", OPEN),
    ("viewer@example.com", OPEN),
    # 27 letters of base64url are 20 bytes only if the last one ends with two zero bits.
    ("q" * 26 + "A", [["device", "q" * 26 + "A"], *OPEN]),
    ("q" * 26 + "B", OPEN),
    (f"skd://movie-42?kid={HEX}", [*KEY, ["content", "movie-42"]]),
    (f"skd://keys.example/{UUID}", [*KEY, ["content", "keys.example"]]),
    ("skd://keys.example/getckc?ContentId=movie%2042&KEYID=" + BASE64.rstrip("="), [*KEY, ["content", "movie 42"]]),
    ("skd://movie-42", [["content", "movie-42"]]),
    ("skd:%", [["content", "%"]]),
]  # fmt: skip


@pytest.fixture(scope="module")
def refused_request(lab: Lab) -> str:
    return str(license(lab, lab.deployment.token, b"\x00" * 300).header("X-Request-Id"))


def test_guesses_what_a_pasted_text_is(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("support"))
    texts = json.dumps([text for text, _ in GUESSES])
    found = desk.evaluate(
        f"import('/page/kinds.js').then(({{ guesses }}) => {texts}.map((text) =>"
        " guesses(text).map((one) => [one.kind, one.text])))"
    )
    for (text, wanted), guessed in zip(GUESSES, found, strict=True):
        wanted = [[kind, value.format(text.strip())] if value == "{}" else [kind, value] for kind, value in wanted]
        assert guessed == wanted, text


def test_opens_what_the_server_knows(lab: Lab, desk: Desk, subject: str, refused_request: str) -> None:
    assert license(lab, counted_token(lab, subject)).status == 200
    key = str(uuid.UUID(bytes=lab.deployment.key.key_id))
    known = {
        subject: f"#find?subject={subject}&guess",
        lab.deployment.content: f"#find?content={lab.deployment.content}&guess",
        f"skd://{lab.deployment.content}": f"#find?content={lab.deployment.content}&guess",
        key.replace("-", "").upper(): f"#find?key={key}&guess",
        f'"request_id":"{refused_request}"': f"#find?request={refused_request}&guess",
        "spc_malformed": "#find?code=spc_malformed&guess",
    }
    desk.log_in(lab.token("support"))
    for text, address in known.items():
        desk.go("find")
        desk.type_into("input[name=text]", text)
        desk.press("Enter")
        desk.wait(f"location.hash === {json.dumps(address)} && document.querySelector('#view .head h2')")
    # What is guessed wrongly is one link away.
    desk.go("find")
    desk.type_into("input[name=text]", subject)
    desk.press("Enter")
    desk.wait_for_text("If you mean something else", "#view")
    assert "content" in desk.texts("#view .hint a")


def test_a_token_is_found_in_what_stands_around_it(lab: Lab, desk: Desk) -> None:
    token = lab.deployment.token
    texts = [token, f' "{token}", ', f"Authorization: Bearer {token}", f"curl -H 'Authorization: Bearer {token}' x",
             f'{{"token":"{token}","spc":"AAAA"}}']  # fmt: skip
    desk.log_in(lab.token("support"))
    found = desk.evaluate(
        f"import('/page/kinds.js').then(({{ tokenIn }}) => {json.dumps(texts + ['movie-42'])}.map(tokenIn))"
    )
    assert found == [token] * len(texts) + [None]


def test_says_that_nothing_is_known(lab: Lab, desk: Desk) -> None:
    """A guess that the server does not know is opened by a click only."""
    desk.log_in(lab.token("support")).go("find")
    desk.type_into("input[name=text]", f"nothing-{uuid.uuid4().hex[:8]}")
    desk.press("Enter")
    desk.wait_for_text("This node knows nothing under it.", "#view")
    assert desk.texts("#view .panel .hint a") == ["content", "subject", "request id"]
    desk.go("find").type_into("input[name=text]", "x" * 201)
    desk.press("Enter")
    desk.wait_for_text("This text has 201 bytes. Names and ids have at most 200.", "#view")


def test_a_token_is_explained_and_stays_out_of_the_address(lab: Lab, desk: Desk) -> None:
    token = tokens.with_altered_signature(lab.deployment.token)
    desk.log_in(lab.token("support")).go("find")
    desk.type_into("input[name=text]", f"Bearer {token}")
    desk.wait_for_text("This looks like a token", "form")
    desk.press("Enter")
    desk.wait_for_text("Refused: token signature")
    assert desk.evaluate("location.hash") == "#why"
    assert all(token not in one.url for one in desk.page.exchanges("", "GET") + desk.page.exchanges("", "POST"))
    # Going back and forth does not bring it back.
    desk.go("find").go("why")
    assert desk.evaluate("document.querySelector('textarea[name=token]').value") == ""
    assert desk.evaluate("document.querySelectorAll('.verdict').length") == 0


def groups(desk: Desk) -> list[list[str]]:
    """The table of counted refusals: count, code, issuer and content of each group."""
    desk.wait("document.querySelector('table[aria-label^=\"Refusals by\"]') && !document.querySelector('[aria-busy]')")
    rows = desk.evaluate("""[...document.querySelectorAll('table[aria-label^="Refusals by"] tbody tr')].map((row) =>
        [...row.cells].slice(0, 4).map((cell) => (cell.querySelector("code") ?? cell).innerText.trim()))""")
    return [row for row in rows if row]


def test_a_colour_opens_its_refusals_in_groups(lab: Lab, desk: Desk, subject: str) -> None:
    desk.log_in(lab.token("support")).go("find", refused="refusals_rights", within="3600")
    desk.wait("!document.querySelector('[aria-busy]') && document.querySelector('#view section .hint')")
    before = desk.text("#view section p")
    token = counted_token(lab, subject, devices=1)
    assert license(lab, token).status == 200
    count = int(before.split()[0])
    for _ in range(3):
        assert license(lab, token).code == "device_limit"
    desk.click("Refresh")
    desk.wait(f"document.querySelector('#view section p').innerText.startsWith('{count + 3} ')")
    issuer = tokens.header_and_claims(token)[1]["iss"]
    (row,) = [row for row in groups(desk) if row[1:] == ["device_limit", issuer, lab.deployment.content]]
    assert int(row[0]) >= 3
    # The code of a group leads to all refusals of that code, and a request to its cause.
    desk.click("device_limit", "table[aria-label^='Refusals by']")
    desk.wait("location.hash === '#find?code=device_limit'")
    assert {row[1] for row in groups(desk)} == {"device_limit"}


def test_says_what_the_counted_refusals_are_of(lab: Lab, desk: Desk, subject: str) -> None:
    token = counted_token(lab, subject, devices=1)
    assert license(lab, token).status == 200
    assert license(lab, token).code == "device_limit"
    assert license(lab, "none").code == "token_malformed"
    desk.log_in(lab.token("admin")).go("find", refused="refusals", within="0")
    by_code = {row[1]: row for row in groups(desk)}
    issuer = tokens.header_and_claims(token)[1]["iss"]
    assert by_code["device_limit"][2] == issuer and by_code["token_malformed"][2] == "token not read"
    # The hour begins before the daemon of this test.
    oldest = r"The oldest of them is from .+\. This node remembers refusals since its start \(.+\)"
    assert re.search(oldest, desk.text())
    assert "the last 10,000" not in desk.text()
    row = desk.evaluate("""[...document.querySelectorAll('table[aria-label="Latest refusals"] tbody tr')]
        .map((row) => row.innerText).find((text) => text.includes("device_limit"))""")
    assert issuer in row
    # The subject of a refusal leads to what the ledger has of it.
    desk.evaluate("void document.querySelector('table[aria-label=\"Latest refusals\"] a[href*=subject]').click()")
    desk.wait_for_text("are found by the name or the whole pseudonym only", "#view")
    desk.wait("document.querySelector('.group')")
    assert desk.count("#view .banner") == 0
    # A revocation is found by half of a pseudonym too, and cannot be made by it.
    assert "answer" in desk.ask("post", "/v1/revocations", {"kind": "sub", "value": subject, "reason": "moved"})
    address = desk.evaluate("location.hash")
    desk.go("now").go(address[1:])
    desk.wait_for_text("Reason: moved", "#view .banner.bad")
    assert "Revoke" not in desk.texts("#view button")


def test_a_full_memory_counts_at_least(lab: Lab, desk: Desk) -> None:
    """From the page's side: 21 pages of 200 refusals, of which the oldest is of this minute."""
    desk.log_in(lab.token("support"))
    desk.evaluate("""void ((own) => { globalThis.fetch = (address, options) => {
        if (!String(address).startsWith("/v1/refusals?limit=200")) return own(address, options);
        const page = Number(/before=(\\d+)/.exec(address)?.[1] ?? 0);
        const one = { time: new Date().toISOString(), code: "overloaded", cause: "full", request_id: "x" };
        const refusals = Array.from({ length: 200 }, () => one);
        return Promise.resolve(new Response(JSON.stringify({ refusals, next: page < 20 ? page + 1 : null })));
    }})(globalThis.fetch)""")
    desk.go("find", refused="refusals", within="3600")
    desk.wait_for_text("At least 4,200 refusals in the last hour", "#view")


def test_the_plot_of_refusals_leads_to_them(lab: Lab, desk: Desk) -> None:
    """By the legend, as keyboards need, and by a click on the colour."""
    desk.log_in(lab.token("support")).go("now")
    desk.wait("document.querySelector('#plot-refusals .legend a')")
    desk.evaluate("void document.querySelector('#plot-refusals .legend a').focus()")
    desk.press("Enter")
    desk.wait("location.hash === '#find?refused=refusals_token&within=3600'")
    for _ in range(20):
        license(lab, "none")
    desk.go("now")
    area = "document.querySelector('#plot-refusals [data-series=refusals_anonymous]')"
    desk.wait(f"{area} && {area}.getBoundingClientRect().height > 20 && {area}.getBoundingClientRect().width > 8")
    # The plot moves on, so the click comes in the same turn as the search for a place.
    assert desk.evaluate(f"""new Promise((resolve) => {{
        const click = (area, clientX, clientY) => {{
            if (document.elementFromPoint(clientX, clientY) !== area) return false;
            const options = {{ bubbles: true, pointerType: "mouse", clientX, clientY }};
            area.dispatchEvent(new PointerEvent("click", options));
            return true;
        }};
        const look = () => {{
            const area = {area};
            area?.scrollIntoView({{ block: "center" }});
            const {{ top, left, width, height }} = area?.getBoundingClientRect() ?? {{}};
            for (let x = 1; x < width; x += 1) for (let y = 1; y < height; y += 1)
                if (click(area, Math.floor(left + x), Math.floor(top + y))) return resolve(location.hash);
            requestAnimationFrame(look);
        }};
        look();
    }})""") == "#find?refused=refusals_anonymous&within=3600"


def test_who_may_not_look_gets_no_links(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("metrics")).go("now")
    desk.wait("document.querySelector('#plot-refusals .legend li')")
    assert desk.count("#view a") == 0


def test_a_subject_is_grouped_and_marked(lab: Lab, desk: Desk, subject: str) -> None:
    token = counted_token(lab, subject, devices=2)
    first = message(lab)
    assert license(lab, token, first).status == 200
    assert license(lab, token).status == 200
    desk.log_in(lab.token("admin")).go("find", subject=subject)
    desk.wait("document.querySelectorAll('.group').length === 2")
    assert all("1 license;" in text for text in desk.texts(".group > details > summary"))
    assert desk.count("#view .banner.bad") == 0
    desk.ask("post", "/v1/revocations", {"kind": "sub", "value": subject, "reason": "account closed"})
    desk.go("find").go("find", subject=subject)
    desk.wait_for_text("Revoked by token:admin-operator on", "#view .banner.bad")
    assert "account closed" in desk.text("#view .banner.bad")
    desk.ask("remove", "/v1/revocations", {"kind": "sub", "value": subject})
    desk.go("find").go("find", subject=subject)
    desk.wait("document.querySelectorAll('.group').length === 2")
    assert desk.count("#view .banner.bad") == 0


# Gives the node two neighbours, as the database of a group tells it.
NEIGHBOURS = """import('/page/live.js').then(({ live }) => {
    const others = ["node-b", "node-c"].map((node) => ({ node, isThis: false, seenAt: live.status.now }));
    live.stop();
    live.status = { nodes: [{ node: "node-a", isThis: true }, ...others] };
})"""


def test_the_ledger_of_one_node_is_called_so(lab: Lab, desk: Desk, subject: str) -> None:
    assert license(lab, counted_token(lab, subject)).status == 200
    desk.log_in(lab.token("admin")).go("find", subject=subject)
    desk.wait("document.querySelectorAll('.group').length === 1")
    assert "What happened on this node" in desk.texts("#view h2")
    assert "all that the ledger of this node has" in desk.text("#view")
    assert "Not asked" not in desk.text("#view"), "a node alone has asked all"
    desk.evaluate(NEIGHBOURS)
    desk.go("find").go("find", subject=subject)
    desk.wait_for_text("Not asked: node-b, node-c.", "#view")
    command = desk.evaluate("[...document.querySelectorAll('#view code')].at(-1).innerText")
    assert command == f"latchkey ledger query --config latchkey.json5 --shared --subject {subject}"
    desk.go("find").wait_for_text("4,000 others. Not asked: node-b, node-c.", "#view")
    # A revocation of another node has its operator in that node's ledger.
    desk.evaluate("""void ((own) => { globalThis.fetch = (address, options) =>
        !String(address).startsWith("/v1/revocations") ? own(address, options) : Promise.resolve(new Response(
            JSON.stringify({ revocations: [{ kind: "sub", value: "x", revokedAt: 1000000000, reason: "" }] })));
    })(globalThis.fetch)""")
    desk.go("find").go("find", subject=subject)
    desk.wait_for_text("The ledger of the node where it was done says by whom", "#view .banner.bad")
    words = desk.evaluate(
        "import('/page/other-nodes.js').then(({ sharedQuery }) => [{ subject: \"it's\", issuer: 'a b' },"
        " { request: 'x' }, { subject: 'pseudonym:ab' }].map(sharedQuery))"
    )
    assert words == [
        "latchkey ledger query --config latchkey.json5 --shared --subject 'it'\\''s' --issuer 'a b'", None, None
    ]


def test_a_revocation_is_shown_at_once(lab: Lab, desk: Desk, subject: str) -> None:
    desk.log_in(lab.token("security")).go("find", subject=subject)
    desk.tab_to("Revoke")
    desk.press("Enter")
    desk.wait("document.querySelector('dialog')")
    desk.tab_to("Revoke")
    desk.press("Enter")
    desk.wait_for_text("Revoked", "#view .banner.bad")
    assert desk.evaluate("document.activeElement.innerText") == "Revoke"


def test_a_revocation_that_cannot_be_looked_up_is_not_denied(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("security")).go("find", device="not-a-device")
    desk.wait_for_text("Whether it is revoked is not known.", "#view")
    assert "40 hexadecimal digits" in desk.text("#view")


def test_counts_of_a_part_are_called_so(lab: Lab, desk: Desk, subject: str) -> None:
    assert license(lab, counted_token(lab, subject)).status == 200
    desk.log_in(lab.token("support"))
    desk.evaluate("""void ((own) => { globalThis.fetch = async (address, options) => {
        const answer = await own(address, options);
        if (!String(address).startsWith("/v1/ledger")) return answer;
        const page = await answer.json();
        return new Response(JSON.stringify({ ...page, next: "more" }));
    }})(globalThis.fetch)""")
    desk.go("find", subject=subject)
    desk.wait_for_text("Counted in the newest ", "#view")
    assert re.search(r"Counted in the newest (1 row|\d+ rows)\. There are older ones\.", desk.text("#view"))


def test_a_withdrawn_key_is_marked(lab: Lab, desk: Desk) -> None:
    content = f"movie-{uuid.uuid4().hex[:8]}"
    run_latchkey(lab.daemon.setup, "keys", "create", "--content", content)
    desk.log_in(lab.token("support"))
    answer = desk.ask("get", f"/v1/contents/{content}/keys")["answer"]
    key = answer["keys"][0]["keyId"]
    desk.go("find", key=key)
    desk.wait("document.querySelector('.timeline li')")
    assert desk.count("#view .banner.warn") == 0
    run_latchkey(lab.daemon.setup, "keys", "delete", "--kid", key)
    desk.go("find").go("find", key=key)
    desk.wait_for_text("This key is withdrawn", "#view .banner.warn")
    desk.go("find", content=content)
    desk.wait_for_text("1 of 1 keys are withdrawn", "#view .banner.warn")

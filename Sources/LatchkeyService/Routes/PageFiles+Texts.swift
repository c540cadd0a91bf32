// Written by Scripts/embed-page from the files of Sources/LatchkeyService/Page. Change those files.
// swift-format-ignore-file

extension PageFiles {
    /// Every file with its name, the tag of its content for caches, and its text.
    static let texts: [(name: String, tag: String, text: String)] = [
        (
            "account.js", "4a8f40ecb706646f906313cf18d9ce1c",
            ##"""
            // What the server stores about a subject: devices, playbacks and rentals, with what can be done to each.

            import { endPlayback, forgetRental, removeDevice } from "./actions.js";
            import { get } from "./api.js";
            import { notify, problem } from "./dialogs.js";
            import { button, el, fill, table } from "./dom.js";
            import { dateAndTime } from "./format.js";
            import { searchFor } from "./kinds.js";
            import { session } from "./session.js";

            const PAGE_SIZE = 25;

            const shortened = (name) => name.replace(/([0-9a-f]{12})[0-9a-f]{16,}/g, "$1…");
            const deviceLink = (device) =>
              el("a", { class: "mono", href: searchFor("device", device), title: device }, shortened(device));

            const LISTS = [
              {
                name: "devices",
                title: "Devices",
                none: "No device takes a place.",
                columns: [["Device"], ["Added"], ["Last licence"], ["Kept until"]],
                cells: (one) => [
                  deviceLink(one.device),
                  dateAndTime(one.addedAt),
                  dateAndTime(one.seenAt),
                  dateAndTime(one.keptUntil),
                ],
                action: ["Remove", "The device is removed.", (query, one) => removeDevice(query, one.device)],
                describe: (one) => `Remove the device ${shortened(one.device)}`,
              },
              {
                name: "playbacks",
                title: "Playbacks",
                none: "No playback runs.",
                columns: [["Content"], ["Group"], ["State"], ["Until"], ["Device"], ["Playback"]],
                cells: (one) => [
                  one.content ?? "not known",
                  one.group,
                  `${one.playing ? "playing" : "ready"}${one.counted ? "" : ", not counted"}`,
                  dateAndTime(one.heldUntil),
                  deviceLink(one.device),
                  el(
                    "a",
                    { class: "mono", href: searchFor("playback", one.playback), title: one.playback },
                    shortened(one.playback),
                  ),
                ],
                action: ["End", "The playback is ended.", (query, one) => endPlayback(query, one.playback)],
                describe: (one) => `End the playback of ${one.content ?? one.playback}`,
              },
              {
                name: "rentals",
                title: "Rentals",
                none: "No rental is stored.",
                columns: [["Content"], ["Opened"], ["First play"], ["Kept until"]],
                cells: (one) => [
                  one.content,
                  dateAndTime(one.openedAt),
                  one.firstPlay ? dateAndTime(one.firstPlay) : "not played",
                  dateAndTime(one.keptUntil),
                ],
                action: ["Forget", "The rental is forgotten.", (query, one) => forgetRental(query, one.content)],
                describe: (one) => `Forget the rental of ${one.content}`,
              },
            ];

            export const accountPanels = (query) => LISTS.map((list) => panel(list, query));

            function panel(list, query) {
              const place = el("div", {}, el("p", { class: "empty" }, "Reading…"));
              const heading = el("h2", { tabIndex: -1 }, list.title);
              show(list, query, place, heading, null);
              return el("section", { class: "panel" }, heading, place);
            }

            async function show(list, query, place, heading, after) {
              try {
                const page = await get(`/v1/${list.name}`, { ...query, limit: PAGE_SIZE, after });
                const items = page[list.name];
                const mayChange = session.can("release");
                const columns = mayChange ? [...list.columns, ["Action", "act"]] : list.columns;
                const reload = async (done) => {
                  if (!done) return;
                  notify("good", list.action[1]);
                  await show(list, query, place, heading, after);
                  heading.focus();
                };
                const rows = items.map((one) => [
                  ...list.cells(one),
                  ...(mayChange ? [changeButton(list, query, one, reload)] : []),
                ]);
                fill(
                  place,
                  rows.length ? table(list.title, columns, rows) : el("p", { class: "empty" }, list.none),
                  page.next && button("More", () => show(list, query, place, heading, page.next)),
                );
              } catch (error) {
                fill(place, problem(error));
              }
            }

            function changeButton(list, query, one, reload) {
              const [label, , act] = list.action;
              return button(label, async () => reload(await act(query, one)), { kind: "small danger", label: list.describe(one) });
            }

            """##
        ),
        (
            "actions.js", "d7902714e3eeeb7cfc64c02f84deb51f",
            ##"""
            // The changes that operators can make, each with what it does and does not do.

            import { post, remove } from "./api.js";
            import { confirmAction, notify } from "./dialogs.js";
            import { button, el, field } from "./dom.js";

            const KEPT_KEY = "It does not take back a key that a device has kept for offline use. Nothing can.";
            const IN_LEDGER = "Writes a row with your name into the ledger.";

            export const REVOCABLE = {
              jti: "Token (jti)",
              kid: "Signing key (kid)",
              iss: "Issuer (iss)",
              sub: "Subject (sub)",
              hu: "Device, by its HU",
              device: "Device, by the issuer's name",
              content: "Content",
              session: "Session",
            };
            /** The kinds whose values an issuer chooses. */
            export const OF_ISSUER = new Set(["jti", "sub", "device", "session"]);

            export function removeDevice(query, device) {
              return confirmAction({
                title: "Remove this device?",
                subject: el("code", {}, device),
                does: ["Frees its place at once, so that the subject can use another device.", IN_LEDGER],
                doesNot: [
                  "It does not stop a playback on the device while session tokens renew it.",
                  "It does not keep the device out: with its next licence it takes a place again. Revoke it for that.",
                  KEPT_KEY,
                ],
                label: "Remove the device",
                act: () => remove("/v1/devices", { ...query, device }),
              });
            }

            export function endPlayback(query, playback) {
              return confirmAction({
                title: "End this playback?",
                subject: el("code", {}, playback),
                does: ["Frees its place at once.", "Refuses its renewals, so that it stops when its lease ends.", IN_LEDGER],
                doesNot: [
                  "It does not stop the picture at once: the device may use its key until the lease ends.",
                  "It does not keep the viewer from starting another playback.",
                  KEPT_KEY,
                ],
                label: "End the playback",
                act: () => remove("/v1/playbacks", { ...query, playback }),
              });
            }

            export function forgetRental(query, content) {
              return confirmAction({
                title: "Forget this rental?",
                subject: content,
                does: [
                  "Deletes its first licence and its first play. The next token begins a new rental with its full time.",
                  IN_LEDGER,
                ],
                doesNot: ["It does not end licences that devices already have.", KEPT_KEY],
                label: "Forget the rental",
                act: () => remove("/v1/rentals", { ...query, content }),
              });
            }

            /** Asks for the rest of a revocation, and adds it. What is given cannot be changed in the dialog. */
            export async function revoke(kind = null, value = null, issuer = null) {
              const kinds = field(
                "What",
                el(
                  "select",
                  { name: "kind", disabled: kind !== null, onchange: () => shape() },
                  Object.entries(REVOCABLE).map(([name, label]) => el("option", { value: name }, label)),
                ),
              );
              const name = field(
                "Value",
                el("input", {
                  name: "value",
                  required: true,
                  readOnly: value !== null,
                  value: value ?? "",
                  autocomplete: "off",
                  spellcheck: false,
                  maxLength: 200,
                }),
              );
              const owner = field(
                "Issuer",
                el("input", { name: "issuer", value: issuer ?? "", autocomplete: "off", spellcheck: false }),
                "Only needed if several issuers are configured.",
              );
              const until = field(
                "Until",
                el("input", { name: "until", type: "datetime-local" }),
                "Without a time the revocation does not end.",
              );
              const reason = field(
                "Reason",
                el("input", { name: "reason", maxLength: 200, autocomplete: "off" }),
                "Shown in the list of revocations.",
              );
              const shape = () => {
                owner.hidden = !OF_ISSUER.has(kinds.control.value) || (value ?? "").startsWith("pseudonym:");
              };
              kinds.control.value = kind ?? "sub";
              shape();
              const text = (one) => (one.hidden ? null : one.control.value.trim() || null);
              const added = await confirmAction({
                title: "Revoke?",
                does: [
                  "Refuses the next licence and the next renewal: here at once, on others within entitlement.revocationRefresh.",
                  IN_LEDGER,
                ],
                doesNot: ["It does not stop a licence that runs: it ends with its lease.", KEPT_KEY],
                fields: [kinds, name, owner, until, reason],
                label: "Revoke",
                act: () =>
                  post("/v1/revocations", {
                    kind: kinds.control.value,
                    value: text(name),
                    issuer: text(owner),
                    until: text(until) && new Date(text(until)).toISOString(),
                    reason: text(reason),
                  }),
              });
              if (added)
                notify(
                  "good",
                  added.isShared
                    ? "It is revoked, on all nodes."
                    : "It is revoked on this node. Other nodes learn of it when the shared database is back.",
                );
              return added;
            }

            export async function lift({ kind, value, issuer }) {
              const lifted = await confirmAction({
                title: "Lift this revocation?",
                subject: [`${REVOCABLE[kind] ?? kind}: `, el("code", {}, value)],
                does: ["Allows licences and renewals again, if nothing else forbids them.", IN_LEDGER],
                doesNot: [
                  "It does not restart a playback that has stopped.",
                  "It does not renew a token that has expired meanwhile.",
                ],
                label: "Lift",
                isDangerous: false,
                act: () => remove("/v1/revocations", { kind, value, issuer }),
              });
              if (lifted) notify("good", "The revocation is lifted.");
              return lifted;
            }

            export const revokeButton = (kind, value, issuer) =>
              button("Revoke", () => revoke(kind, value, issuer), { kind: "small danger" });

            """##
        ),
        (
            "api.js", "498e81fb6f8bdd59f0cbb2e2f0c95fda",
            ##"""
            // Requests to the admin listener that this page came from.

            const TIME_LIMIT_MS = 30_000;

            /** Reads that the page makes by itself. The server does not count them as activity of the operator. */
            const QUIET_PATHS = new Set(["/v1/status", "/v1/history", "/v1/events"]);

            /** A refusal of the server (RFC 9457). Without an answer, the status is 0. */
            export class Refused extends Error {
              constructor(status, problem, retryAfter = null) {
                super(problem.detail || problem.title || `The server answered with status ${status}.`);
                this.status = status;
                this.code = problem.code ?? null;
                this.hint = problem.hint ?? null;
                this.requestID = problem.request_id ?? null;
                this.retryAfter = retryAfter;
              }
            }

            /** What the session tells this module, and what this module tells the session. */
            export const link = {
              /** Shown by each request that changes something, so that no other page can make one. */
              formToken: null,
              onUse: () => {},
              onUnknown: () => {},
            };

            /** The path with a query. Parameters without a value are left out. */
            export function address(path, query = {}) {
              const pairs = Object.entries(query)
                .filter(([, value]) => value !== null && value !== undefined && value !== "")
                .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
              return pairs.length ? `${path}?${pairs.join("&")}` : path;
            }

            export const get = (path, query) => request("GET", path, { query });
            export const post = (path, body) => request("POST", path, { body });
            export const remove = (path, query) => request("DELETE", path, { query });

            async function request(method, path, { query, body } = {}) {
              const headers = { Accept: "application/json" };
              if (method !== "GET" && link.formToken) headers["X-Latchkey-Form"] = link.formToken;
              if (body !== undefined) headers["Content-Type"] = "application/json";
              const target = address(path, query);
              let response;
              try {
                response = await fetch(target, {
                  method,
                  headers,
                  body: body === undefined ? undefined : JSON.stringify(body),
                  credentials: "same-origin",
                  cache: "no-store",
                  redirect: "error",
                  signal: AbortSignal.timeout(TIME_LIMIT_MS),
                });
              } catch (error) {
                const detail =
                  error.name === "TimeoutError"
                    ? "The server has not answered within 30 seconds."
                    : "The server cannot be reached. Check the network, and whether the daemon runs.";
                throw new Refused(0, { detail });
              }
              const answer = await parsed(response);
              if (response.ok) {
                if (!QUIET_PATHS.has(path)) link.onUse();
                return answer;
              }
              // A wrong token in the log-in form has the same status, and ends no session.
              if (response.status === 401 && path !== "/v1/session") link.onUnknown();
              throw new Refused(response.status, answer ?? {}, Number(response.headers.get("Retry-After")) || null);
            }

            async function parsed(response) {
              const text = await response.text();
              try {
                return text ? JSON.parse(text) : null;
              } catch {
                return null;
              }
            }

            """##
        ),
        (
            "contents.js", "1d338a6f3d49137f9794dec38e91a28c",
            ##"""
            // The view Contents: which contents the server has keys for, and the facts about each key. Never a key itself.

            import { get } from "./api.js";
            import { problem } from "./dialogs.js";
            import { button, el, facts, field, fill, table } from "./dom.js";
            import { dateAndTime, moment, whole, words } from "./format.js";
            import { searchFor } from "./kinds.js";

            export const contents = { name: "contents", label: "Contents", permission: "look", open };

            const PAGE_SIZE = 50;
            const FLOORS = { securityLevel: "security level", hdcp: "HDCP", contentType: "content type" };

            function open(parameters) {
              const place = el("div", { class: "view" });
              const update = (changed) => {
                const id = changed.get("id");
                fill(place, id ? oneContent(id) : list(changed.get("prefix") ?? ""));
              };
              update(parameters);
              return { element: place, update };
            }

            // --- The list ------------------------------------------------------------------------------------------------------

            function list(begin) {
              const prefix = field(
                "Content ids that begin with",
                el("input", { name: "prefix", value: begin, autocomplete: "off", spellcheck: false, maxLength: 200 }),
              );
              const page = el("div", {}, el("p", { class: "empty" }, "Reading…"));
              const submit = (event) => {
                event.preventDefault();
                showPage(page, prefix.control.value.trim(), []);
              };
              showPage(page, begin, []);
              return [
                el("h1", {}, "Contents"),
                el(
                  "section",
                  { class: "panel stack" },
                  el(
                    "form",
                    { class: "filter", role: "search", onsubmit: submit },
                    prefix,
                    el("button", { class: "button", type: "submit" }, "Show"),
                  ),
                  page,
                ),
              ];
            }

            /** Shows the page after the last of `starts`. The others are the pages before it. */
            async function showPage(place, prefix, starts) {
              place.setAttribute("aria-busy", "true");
              try {
                const { contents: all, next } = await get("/v1/contents", { limit: PAGE_SIZE, prefix, after: starts.at(-1) });
                const rows = all.map((one) => [
                  el("a", { href: `#contents?id=${encodeURIComponent(one.contentId)}` }, one.contentId),
                  whole(one.keyCount),
                  (one.tracks ?? []).join(", "),
                  one.periodCount ? whole(one.periodCount) : "",
                  dateAndTime(one.createdAt),
                ]);
                const columns = [["Content"], ["Keys", "number"], ["Tracks"], ["Periods", "number"], ["First key"]];
                fill(
                  place,
                  rows.length
                    ? table("Contents", columns, rows)
                    : el("p", { class: "empty" }, prefix ? "No content begins so." : "There are no contents yet."),
                  el(
                    "div",
                    { class: "row" },
                    starts.length > 0 && button("Back", () => showPage(place, prefix, starts.slice(0, -1))),
                    next && button("More", () => showPage(place, prefix, [...starts, next])),
                  ),
                );
              } catch (error) {
                fill(place, problem(error));
              } finally {
                place.removeAttribute("aria-busy");
              }
            }

            // --- One content ---------------------------------------------------------------------------------------------------

            function oneContent(id) {
              const place = el("div", { class: "stack" }, el("p", { class: "empty" }, "Reading…"));
              showKeys(place, id, []);
              return [
                el("p", {}, el("a", { href: "#contents" }, "All contents")),
                el(
                  "div",
                  { class: "head" },
                  el("h1", {}, id),
                  el("a", { class: "button small", href: searchFor("content", id) }, "What happened"),
                ),
                place,
              ];
            }

            async function showKeys(place, id, starts) {
              try {
                const answer = await get(`/v1/contents/${encodeURIComponent(id)}/keys`, { limit: PAGE_SIZE, after: starts.at(-1) });
                fill(
                  place,
                  rotation(answer),
                  keys(answer),
                  el(
                    "div",
                    { class: "row" },
                    starts.length > 0 && button("Back", () => showKeys(place, id, starts.slice(0, -1))),
                    answer.next && button("More", () => showKeys(place, id, [...starts, answer.next])),
                  ),
                );
              } catch (error) {
                fill(
                  place,
                  error.status === 404
                    ? el("p", { class: "panel empty" }, "The server has no key of this content.")
                    : problem(error),
                );
              }
            }

            function keys({ keys: all }) {
              const hasPeriods = all.some(({ period }) => period !== null && period !== undefined);
              const columns = [
                ["Key id"],
                ["Track"],
                ...(hasPeriods ? [["Period", "number"]] : []),
                ["State"],
                ["Floors"],
                ["Created"],
              ];
              const rows = all.map((one) => [
                el("a", { class: "mono", href: searchFor("key", one.keyId) }, one.keyId),
                one.track ?? "",
                ...(hasPeriods ? [one.period === null || one.period === undefined ? "" : whole(one.period)] : []),
                el("span", { class: `tag ${one.state === "live" ? "good" : "warn"}` }, words(one.state)),
                floors(one.floors),
                dateAndTime(one.createdAt),
              ]);
              return el(
                "section",
                { class: "panel" },
                el("h2", {}, "Keys"),
                rows.length ? table("Keys", columns, rows) : el("p", { class: "empty" }, "There is no key."),
              );
            }

            /** The least that a device must have for the key. */
            function floors(known) {
              const shown = Object.entries(known ?? {}).filter(
                ([, value]) => value !== null && value !== undefined && value !== false && typeof value !== "object",
              );
              return shown.length
                ? shown.map(([name, value]) => `${FLOORS[name] ?? words(name)} ${value === true ? "" : value}`.trim()).join(", ")
                : "none";
            }

            function rotation({ periods, nextRotation }) {
              if (!periods?.length && !nextRotation) return null;
              const rows = (periods ?? []).map(({ index, startsAt, endsAt }) => [
                whole(index),
                dateAndTime(startsAt),
                endsAt === null ? "open" : dateAndTime(endsAt),
              ]);
              return el(
                "section",
                { class: "panel stack" },
                el("h2", {}, "Key periods"),
                facts([
                  [
                    "Next rotation",
                    nextRotation &&
                      moment(nextRotation.at) &&
                      el("span", {}, "period ", whole(nextRotation.index), " at ", dateAndTime(nextRotation.at)),
                  ],
                ]),
                rows.length > 0 && table("Key periods", [["Period", "number"], ["Starts"], ["Ends"]], rows),
              );
            }

            """##
        ),
        (
            "dialogs.js", "d58daa85ea5598ab8ef30d2081bd25b1",
            ##"""
            // Dialogs and notices. A dialog of an action says what the action does and what it does not do.

            import { Refused } from "./api.js";
            import { banner, button, el, icon } from "./dom.js";

            /** Opens a dialog that only shows something. Esc and the button close it. Returns the dialog. */
            export function openDialog(title, { isWide = false } = {}, content) {
              const heading = el("h2", { id: `dialog-${Date.now()}` }, title);
              const close = button("Close", () => dialog.close(), { kind: "" });
              const dialog = el(
                "dialog",
                { class: isWide ? "wide" : "", "aria-labelledby": heading.id, onclose: () => dialog.remove() },
                el("div", { class: "stack" }, heading, content(), el("div", { class: "row end" }, close)),
              );
              document.body.append(dialog);
              dialog.showModal();
              return dialog;
            }

            const effects = (kind, title, drawing, lines) =>
              lines.length > 0 &&
              el(
                "div",
                {},
                el("h3", {}, title),
                el(
                  "ul",
                  { class: `effects ${kind}` },
                  lines.map((line) => el("li", {}, icon(drawing), el("span", {}, line))),
                ),
              );

            /**
             * Asks before an action, and carries it out. The focus begins on Cancel, or in the first field if one must be filled,
             * so that Enter alone changes nothing. A failed action keeps the dialog open with the reason. Returns what `act` has
             * returned; null if the operator cancels, or if the action fails after the dialog was closed.
             *
             * `subject` says what the action is about, `fields` are shown above the buttons.
             */
            export function confirmAction({ title, subject, does, doesNot, fields = [], label, isDangerous = true, act }) {
              return new Promise((resolve) => {
                const heading = el("h2", { id: `dialog-${Date.now()}` }, title);
                const failure = el("div", { role: "alert" });
                // The `close` event of a dialog comes later. Until then a closed dialog must not stay beside a new one.
                const finish = (result) => {
                  dialog.close();
                  dialog.remove();
                  resolve(result);
                };
                const cancel = button("Cancel", () => finish(null), { kind: "" });
                const go = el("button", { class: `button main ${isDangerous ? "danger" : ""}`, type: "submit" }, label);
                const setBusy = (isBusy) => {
                  go.disabled = isBusy;
                  cancel.disabled = isBusy;
                };
                const submit = async (event) => {
                  event.preventDefault();
                  if (go.disabled) return;
                  setBusy(true);
                  failure.replaceChildren();
                  try {
                    finish((await act()) ?? true);
                  } catch (error) {
                    setBusy(false);
                    if (dialog.open) {
                      failure.replaceChildren(problem(error));
                      go.focus();
                    } else {
                      notifyOfProblem(error);
                      finish(null);
                    }
                  }
                };
                const dialog = el(
                  "dialog",
                  {
                    "aria-labelledby": heading.id,
                    // Esc closes the dialog although the action is on its way. Its result is still told.
                    onclose: () => go.disabled || finish(null),
                  },
                  el(
                    "form",
                    { class: "stack", onsubmit: submit },
                    heading,
                    subject && el("p", {}, subject),
                    effects("does", "What it does", "check", does),
                    effects("not", "What it does not do", "cross", doesNot),
                    fields,
                    failure,
                    el("div", { class: "row end" }, cancel, go),
                  ),
                );
                document.body.append(dialog);
                dialog.showModal();
                const isToFill = fields.some(({ control }) => control.required && !control.value);
                (isToFill ? fields[0].control : cancel).focus();
              });
            }

            /** An error as a strip: what happened, what to do, and the id to ask for. */
            export function problem(error) {
              if (!(error instanceof Refused)) console.error(error);
              const again = error.retryAfter ? `Try again in ${error.retryAfter} s.` : null;
              return banner(
                "bad",
                el("p", {}, error.message),
                error.hint && el("p", {}, error.hint),
                again && el("p", {}, again),
                error.requestID && el("p", { class: "hint" }, "Request ", el("code", {}, error.requestID)),
              );
            }

            const place = () => document.getElementById("notices");

            /** Shows a sentence above the view until it is dismissed or another view is opened. */
            export function notify(tone, ...content) {
              show(banner(tone, el("p", {}, ...content)));
            }

            /** Shows the error of an action whose dialog is closed. After a log-out the log-in view says why. */
            function notifyOfProblem(error) {
              if (error.status !== 401) show(problem(error));
            }

            function show(note) {
              note.append(button("Dismiss", () => note.remove(), { label: "Dismiss the message" }));
              place().append(note);
            }

            export const clearNotices = () => place().replaceChildren();

            """##
        ),
        (
            "dom.js", "bcd5059aa9ffb3d12e6ed426c545b73c",
            ##"""
            // Makes the page's elements. All text becomes text nodes, so nothing that a server or a client has sent can become
            // markup.

            const SVG = "http://www.w3.org/2000/svg";

            /**
             * Makes an element. A property that begins with "on" is a listener, `class` and names with a hyphen are attributes, and
             * all others are set as they are. Children are elements, texts, or lists of them; null and false are left out.
             */
            export function el(name, properties = {}, ...children) {
              const element = document.createElement(name);
              for (const [key, value] of Object.entries(properties)) {
                if (value === null || value === undefined || value === false) continue;
                if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
                else if (key === "class" || key === "for" || key === "role" || key.includes("-")) element.setAttribute(key, value);
                else element[key] = value;
              }
              element.append(...nodes(children));
              return element;
            }

            /** Makes an element of SVG with attributes. */
            export function svg(name, attributes = {}, ...children) {
              const element = document.createElementNS(SVG, name);
              for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
              element.append(...nodes(children));
              return element;
            }

            /** Replaces everything in an element. */
            export function fill(element, ...children) {
              element.replaceChildren(...nodes(children));
              return element;
            }

            const nodes = (children) =>
              children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== "");

            const PATHS = {
              check: "m5 12.5 4.5 4.5L19 7.5",
              cross: "m6 6 12 12M18 6 6 18",
              dash: "M6 12h12",
              warn: "M12 4 2.8 20h18.4L12 4Zm0 6v4.5m0 2.6v.1",
              info: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Zm0 8v5m0-8.2v.1",
              key: "M8 3.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9Zm3.2 7.7L20 20m-4-4 2.5-2.5M18 18l2-2",
            };

            /** A drawing beside a text that says the same. */
            export const icon = (name) =>
              svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: PATHS[name] }));

            /** A button that does something. `label` is for screen readers, if the text alone says too little. */
            export const button = (text, act, { kind = "small", label = null } = {}) =>
              el("button", { class: `button ${kind}`, type: "button", "aria-label": label, onclick: act }, text);

            let lastID = 0;

            /** A labelled input, select or textarea. Returns the wrapper; the control is its `control`. */
            export function field(label, control, hint = null) {
              control.id ||= `field-${++lastID}`;
              const note = hint && el("p", { class: "hint", id: `${control.id}-hint` }, hint);
              if (note) control.setAttribute("aria-describedby", note.id);
              const wrapper = el("div", { class: "field" }, el("label", { for: control.id }, label), control, note);
              wrapper.control = control;
              return wrapper;
            }

            /** A coloured strip with a sentence, for a state or an error. */
            export function banner(tone, ...children) {
              const drawing = { good: "check", warn: "warn", bad: "warn" }[tone] ?? "info";
              return el("div", { class: `banner ${tone}` }, icon(drawing), el("div", {}, ...children));
            }

            /** Names with their values; entries without a value are left out. */
            export function facts(entries) {
              const shown = entries.filter(([, value]) => ![null, undefined, false, ""].includes(value));
              return el(
                "dl",
                { class: "facts" },
                shown.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
              );
            }

            /** A list of parts stays one part of the card. */
            const content = (cell) => (Array.isArray(cell) && nodes(cell).length ? el("div", {}, cell) : cell);

            /**
             * A table that becomes cards on a phone. `columns` are `[title, class]`; a cell is a text, an element or a list.
             * The explicit roles keep the table a table for screen readers when its rows are shown as cards.
             */
            export function table(label, columns, rows) {
              const heads = columns.map(([title, kind]) => el("th", { scope: "col", role: "columnheader", class: kind }, title));
              return el(
                "table",
                { class: "cards", role: "table", "aria-label": label },
                el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, heads)),
                el(
                  "tbody",
                  { role: "rowgroup" },
                  rows.map((cells) =>
                    el(
                      "tr",
                      { role: "row" },
                      cells.map((cell, index) =>
                        el("td", { role: "cell", class: columns[index][1], "data-label": columns[index][0] }, content(cell)),
                      ),
                    ),
                  ),
                ),
              );
            }

            const spoken = () => document.getElementById("spoken");

            /** Lets a screen reader say a sentence. */
            export function say(text) {
              spoken().textContent = text;
            }

            """##
        ),
        (
            "explanation.js", "3c34e379cf2c0cb677f5184988fc22ec",
            ##"""
            // The answer of /v1/explain: the verdict, every check, and the terms that would come of it.

            import { banner, el, facts, icon, table } from "./dom.js";
            import { dateAndTime, duration, words } from "./format.js";
            import { searchFor } from "./kinds.js";

            const SECTIONS = {
              token: "Token",
              revocations: "Revocations",
              spc: "SPC",
              request: "Request",
              sync: "Sync report",
              terms: "Terms",
            };
            const USES = { offline: "offline use", streaming: "streaming" };
            const VERDICTS = {
              passed: ["good", "check", "passed"],
              failed: ["bad", "cross", "failed"],
              not_reached: ["none", "dash", "not reached"],
            };

            export function explanationReport(answer) {
              return [
                verdict(answer),
                checks(answer),
                answer.findings.length > 0 &&
                  panel(
                    "About the rights",
                    el(
                      "ul",
                      { class: "stack" },
                      answer.findings.map((text) => el("li", {}, text)),
                    ),
                  ),
                el("div", { class: "pair" }, claims(answer.claims), request(answer), terms(answer.terms)),
                answer.spends.length > 0 &&
                  panel(
                    "Would be counted",
                    el("p", { class: "hint" }, "Only the store knows what is left."),
                    el(
                      "ul",
                      {},
                      answer.spends.map((text) => el("li", {}, text)),
                    ),
                  ),
              ];
            }

            const panel = (title, ...content) => el("section", { class: "panel" }, el("h2", {}, title), content);

            function verdict({ allowed, refusal, use }) {
              if (refusal) {
                return banner(
                  "bad",
                  el("p", {}, el("strong", {}, "Refused: ", words(refusal.code)), " ", el("code", {}, refusal.code)),
                  el("p", {}, refusal.cause),
                  refusal.remedy && el("p", {}, el("strong", {}, "What to do: "), refusal.remedy),
                );
              }
              const text =
                allowed === null
                  ? "The token is good. With an SPC, the rest can be explained."
                  : `A licence for ${USES[use] ?? use} would be issued, unless the store has something recorded as spent.`;
              return banner("good", el("p", {}, el("strong", {}, text)));
            }

            function checks({ checks: sections }) {
              const rows = Object.entries(sections).map(([name, list]) => [
                el("h3", {}, title(name)),
                table(`Checks: ${title(name)}`, [["Check"], ["Verdict"], ["Why"]], list.map(check)),
              ]);
              return el("section", { class: "panel checks stack" }, el("h2", {}, "Checks"), rows);
            }

            function title(name) {
              const right = /^rights\[(\d+)\]$/.exec(name);
              return right ? `Right ${Number(right[1]) + 1}` : (SECTIONS[name] ?? words(name));
            }

            function check({ name, verdict: result, code, cause, found, expected }) {
              const [tone, drawing, text] = VERDICTS[result] ?? VERDICTS.not_reached;
              const because = (label, value) => value && el("p", { class: "because" }, label && el("b", {}, label, " "), value);
              return [
                words(name),
                el("span", { class: `verdict ${tone}` }, icon(drawing), text),
                [
                  because(null, cause),
                  because("Found", found),
                  because("Expected", expected),
                  code && because("Code", el("code", {}, code)),
                ],
              ];
            }

            const claims = (known) =>
              known &&
              panel(
                "Claims of the token",
                facts([
                  ["Issuer", known.issuer],
                  ["Subject", known.subject && el("a", { href: searchFor("subject", known.subject, known.issuer) }, known.subject)],
                  ["Token id", known.tokenID && el("span", { class: "mono" }, known.tokenID)],
                  ["Signing key", known.kid],
                  ["Expires", dateAndTime(known.expiresAt)],
                  ["Rights", String(known.rights)],
                ]),
              );

            function request({ spc, key, rental }) {
              if (!spc && !key && !rental) return null;
              return panel(
                "SPC and key",
                facts([
                  ["SPC version", spc && String(spc.version)],
                  ["Credential", spc?.credential],
                  ["Asset id", spc && el("span", { class: "mono" }, spc.assetID)],
                  ["Device", spc && el("span", { class: "mono" }, spc.deviceID ?? "known only to the external module")],
                  ["Sync report", spc?.sync && "yes"],
                  ["Key id", key && el("a", { class: "mono", href: searchFor("key", key.kid) }, key.kid)],
                  ["Content", key && el("a", { href: searchFor("content", key.content) }, key.content)],
                  ["Content type", key?.contentType],
                  ["Rental opened", rental && (rental.unknown ?? (rental.openedAt ? dateAndTime(rental.openedAt) : "not yet"))],
                  ["First play", rental && !rental.unknown && (rental.firstPlay ? dateAndTime(rental.firstPlay) : "not yet")],
                ]),
              );
            }

            function terms(known) {
              if (!known) return null;
              const time = (seconds) => (seconds === null ? null : duration(seconds));
              return panel(
                "What the device would be told",
                facts([
                  ["Validity", words(known.validity)],
                  ["Lease", time(known.lease)],
                  ["Rental", time(known.rental)],
                  ["Storage", time(known.storage)],
                  ["Playback", time(known.playback)],
                  ["Key is kept", known.kept ? "yes" : "no"],
                  ["HDCP", known.hdcp],
                  ["Security level", known.securityLevel && `at least ${known.securityLevel}`],
                ]),
                known.blocks.length > 0 &&
                  el(
                    "details",
                    {},
                    el("summary", {}, `Blocks of the CKC: ${known.blocks.length}`),
                    table(
                      "Blocks",
                      [["Tag"], ["Name"], ["Value"]],
                      known.blocks.map(({ tag, name, value }) => [el("code", {}, tag), name ?? "unknown", el("code", {}, value)]),
                    ),
                  ),
              );
            }

            """##
        ),
        (
            "favicon.svg", "713cc9fc4457bfdd1bbd6032ba66ac6d",
            ##"""
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="5" fill="#0b5f66"/><g fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round"><circle cx="8.6" cy="8.6" r="3.6"/><path d="m11.3 11.3 7.2 7.2m-3.4-3.4 2-2"/></g></svg>

            """##
        ),
        (
            "find.js", "549829e6f957d4949f6fe8664996d907",
            ##"""
            // The view Find: a search by id or name, with what is stored, what happened, and what can be done.

            import { accountPanels } from "./account.js";
            import { get } from "./api.js";
            import { revokeButton } from "./actions.js";
            import { problem } from "./dialogs.js";
            import { el, field, fill, say } from "./dom.js";
            import { KINDS, recognised } from "./kinds.js";
            import { latestRefusals, refusalReport } from "./refusals.js";
            import { session } from "./session.js";
            import { timeline } from "./timeline.js";

            export const find = { name: "find", label: "Find", permission: "look", open };

            /** What can be revoked of a search. */
            const REVOCATIONS = { subject: "sub", device: "hu", content: "content" };

            function open(parameters) {
              const form = searchForm();
              const results = el("div", { class: "stack" });
              const update = (changed) => {
                form.show(changed);
                const search = searchIn(changed);
                fill(results, search ? found(search) : latestRefusals());
              };
              update(parameters);
              return { element: el("div", { class: "view" }, el("h1", {}, "Find"), form.element, results), update };
            }

            /** The search of the address: its kind, its text, and the issuer of a subject. */
            function searchIn(parameters) {
              const kind = KINDS.find(({ name }) => parameters.get(name));
              return kind ? { kind: kind.name, text: parameters.get(kind.name), issuer: parameters.get("issuer") } : null;
            }

            function searchForm() {
              const kind = field(
                "Look for",
                el(
                  "select",
                  { name: "kind", onchange: () => shape() },
                  KINDS.map(({ name, label }) => el("option", { value: name }, label)),
                ),
              );
              const text = field(
                "Name or id",
                el("input", { name: "text", required: true, autocomplete: "off", spellcheck: false, maxLength: 1024 }),
              );
              const issuer = field(
                "Issuer",
                el("input", { name: "issuer", autocomplete: "off", spellcheck: false }),
                "Only needed if several issuers are configured.",
              );
              issuer.classList.add("more");
              const shape = () => {
                const chosen = KINDS.find(({ name }) => name === kind.control.value);
                text.control.placeholder = chosen.example;
                issuer.hidden = chosen.name !== "subject";
              };
              text.control.addEventListener("input", () => {
                const known = recognised(text.control.value.trim());
                if (!known || known === kind.control.value) return;
                kind.control.value = known;
                shape();
                say(`This looks like: ${KINDS.find(({ name }) => name === known).label}.`);
              });
              const submit = (event) => {
                event.preventDefault();
                const pairs = [[kind.control.value, text.control.value.trim()]];
                if (!issuer.hidden && issuer.control.value.trim()) pairs.push(["issuer", issuer.control.value.trim()]);
                const hash = `#find?${pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")}`;
                if (location.hash === hash) dispatchEvent(new Event("hashchange"));
                else location.hash = hash;
              };
              kind.control.value = "request";
              shape();
              return {
                element: el(
                  "form",
                  { class: "panel search", role: "search", onsubmit: submit },
                  kind,
                  text,
                  issuer,
                  el("button", { class: "button main", type: "submit" }, "Find"),
                ),
                show(parameters) {
                  const search = searchIn(parameters);
                  if (!search) return;
                  [kind.control.value, text.control.value, issuer.control.value] = [search.kind, search.text, search.issuer ?? ""];
                  shape();
                },
              };
            }

            function found(search) {
              const { kind, text, issuer } = search;
              const label = KINDS.find(({ name }) => name === kind).label;
              const actions =
                session.can("revoke") &&
                REVOCATIONS[kind] &&
                revokeButton(REVOCATIONS[kind], text, kind === "subject" ? issuer : null);
              const query = kind === "subject" ? { subject: text, issuer } : { [kind]: text };
              return [
                el(
                  "div",
                  { class: "head" },
                  el("h2", {}, `${label} `, el("code", {}, text)),
                  el("div", { class: "row" }, contentLink(kind, text), actions),
                ),
                kind === "request" && refusalPlace(text),
                kind === "subject" && accountPanels(query),
                timeline(query),
              ];
            }

            const contentLink = (kind, text) =>
              kind === "content" &&
              el("a", { class: "button small", href: `#contents?id=${encodeURIComponent(text)}` }, "Its keys");

            /** Only refused requests have a report. For any other request a line says so. */
            function refusalPlace(requestID) {
              const place = el("div", { class: "stack" });
              get(`/v1/refusals/${encodeURIComponent(requestID)}`).then(
                (report) => fill(place, refusalReport(report)),
                (error) =>
                  fill(
                    place,
                    error.status === 404
                      ? el(
                          "p",
                          { class: "empty" },
                          "This node has no refusal of this request in memory. The ledger may still know the request.",
                        )
                      : problem(error),
                  ),
              );
              return place;
            }

            """##
        ),
        (
            "format.js", "587c2ee35693e3f8367b43d4a34b9e60",
            ##"""
            // Numbers, times and units in words. Times are in the time zone of the browser; the title of each has it in UTC.

            import { el } from "./dom.js";

            const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
            const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
            const SHORT_CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
            const DAY = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" });
            const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

            export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

            const digits = (value) => (value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3);
            const trimmed = (value, places) => new Intl.NumberFormat("en", { maximumFractionDigits: places }).format(value);

            /** A number with about three digits. */
            export const number = (value) => trimmed(value, digits(Math.abs(value)));

            export const whole = (value) => WHOLE.format(value);

            const FORMS = {
              per_second: (value) => number(value),
              seconds: (value) => duration(value),
              share: (value) => `${trimmed(value * 100, value >= 0.1 ? 0 : 1)} %`,
              bytes: (value) => bytes(value),
              count: (value) => WHOLE.format(value),
            };

            /** A value of a series in its unit. A value that is not known is a dash. */
            export const measured = (value, unit) => (Number.isFinite(value) ? (FORMS[unit] ?? number)(value) : "–");

            /** A short time: microseconds to minutes. */
            export function duration(seconds) {
              if (seconds === 0) return "0 ms";
              if (seconds < 0.001) return `${number(seconds * 1e6)} µs`;
              if (seconds < 1) return `${number(seconds * 1000)} ms`;
              if (seconds < 120) return `${number(seconds)} s`;
              return span(seconds);
            }

            export function bytes(count) {
              const units = ["B", "KiB", "MiB", "GiB", "TiB"];
              let power = 0;
              while (Math.abs(count) >= 1024 && power < units.length - 1) [count, power] = [count / 1024, power + 1];
              return `${power ? number(count) : WHOLE.format(count)} ${units[power]}`;
            }

            /** A long time in its two largest units, such as "3 days 4 h". */
            export function span(seconds) {
              const total = Math.round(Math.abs(seconds));
              const [days, hours] = [Math.floor(total / 86400), Math.floor(total / 3600) % 24];
              const minutes = Math.floor(total / 60) % 60;
              if (days >= 14) return `${days} days`;
              if (days) return `${days} ${days === 1 ? "day" : "days"}${hours ? ` ${hours} h` : ""}`;
              if (hours) return `${hours} h${minutes ? ` ${minutes} min` : ""}`;
              return minutes ? `${minutes} min` : `${total} s`;
            }

            /** The moment of a number of seconds, a text in RFC 3339, or null. */
            export function moment(value) {
              if (value === null || value === undefined || value === "") return null;
              const date = new Date(typeof value === "number" ? value * 1000 : value);
              return Number.isNaN(date.getTime()) ? null : date;
            }

            const stamp = (value, text) => {
              const date = moment(value);
              if (!date) return value === null || value === undefined ? "–" : String(value);
              const utc = date.toISOString();
              return el("time", { dateTime: utc, title: `${utc.replace("T", " ").replace(/\.\d+Z|Z/, "")} UTC` }, text(date));
            };

            /** A `time` element with the date. */
            export const date = (value) => stamp(value, (moment) => DATE.format(moment));

            /** A `time` element with date and time of day. */
            export const dateAndTime = (value) => stamp(value, (date) => `${DATE.format(date)}, ${CLOCK.format(date)}`);

            /** A `time` element with the time of day. */
            export const timeOfDay = (value) => stamp(value, (date) => CLOCK.format(date));

            export const clock = (seconds) => CLOCK.format(new Date(seconds * 1000));
            export const shortClock = (seconds) => SHORT_CLOCK.format(new Date(seconds * 1000));
            export const day = (value) => DAY.format(moment(value));

            /** "in 23 days" or "ended 2 h ago". */
            export function untilThen(seconds, now) {
              return seconds >= now ? `in ${span(seconds - now)}` : `ended ${span(now - seconds)} ago`;
            }

            /** A name such as `licenseIssued` or `spc_rejected` as words. */
            export const words = (name) =>
              name.replaceAll("_", " ").replace(/([a-z])([A-Z])/g, (_, a, b) => `${a} ${b.toLowerCase()}`);

            """##
        ),
        (
            "index.html", "72d13e25b69359d17ac85946622677ca",
            ##"""
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="description" content="The operator's page of a Latchkey licence server">
            <title>Latchkey</title>
            <link rel="icon" href="/page/favicon.svg" type="image/svg+xml">
            <link rel="stylesheet" href="/page/theme.css">
            <link rel="stylesheet" href="/page/parts.css">
            <link rel="stylesheet" href="/page/plots.css">
            <link rel="stylesheet" href="/page/views.css">
            <script type="module" src="/page/main.js"></script>
            </head>
            <body>
            <a class="skip" href="#view">Skip to the content</a>
            <header id="top" class="top" hidden>
              <p class="brand">
                <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
                  <circle cx="8" cy="8" r="4.5"/><path d="M11.2 11.2 20 20m-4-4 2.5-2.5M18 18l2-2"/>
                </svg>
                <span>Latchkey</span>
                <span id="node" class="node"></span>
              </p>
              <nav id="nav" class="nav" aria-label="Views"></nav>
              <div id="who" class="who"></div>
            </header>
            <div id="notices" class="notices" role="status" aria-live="polite"></div>
            <main id="view" tabindex="-1">
              <noscript><p class="empty">This page needs JavaScript. The tool latchkey has the same actions.</p></noscript>
            </main>
            <div id="spoken" class="unseen" aria-live="polite"></div>
            </body>
            </html>

            """##
        ),
        (
            "kinds.js", "b1d88718e776a3e7d92ec128db8b8842",
            ##"""
            // What can be searched for, and how a text is recognised.

            const HEX = (count) => new RegExp(`^[0-9a-f]{${count}}$`, "i");

            /** The name of a kind is the parameter of /v1/ledger. */
            export const KINDS = [
              { name: "request", label: "Request id", example: "5f0c2b7e91d3a846" },
              { name: "license", label: "Licence id", example: "018bcfe568fa00000000000000000001" },
              { name: "subject", label: "Subject", example: "viewer-7, or pseudonym:…" },
              { name: "device", label: "Device", example: "HU in hexadecimal, or pseudonym:…" },
              { name: "playback", label: "Playback", example: "as a list of playbacks shows it" },
              { name: "content", label: "Content", example: "movie-42" },
              { name: "key", label: "Key id", example: "0f5d8c52-0d8d-4ad0-9f0a-3f1f7f0d9a41" },
            ];

            /** The kind of a text that can be of one kind only; null for all others. */
            export function recognised(text) {
              if (HEX(16).test(text)) return "request";
              if (HEX(32).test(text)) return "license";
              if (HEX(40).test(text)) return "device";
              if (/^[0-9a-f]{64}-\d+$/i.test(text)) return "playback";
              if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return "key";
              return null;
            }

            /** The address of a search in this page. */
            export function searchFor(kind, value, issuer = null) {
              const pairs = [[kind, value], ...(issuer ? [["issuer", issuer]] : [])];
              return `#find?${pairs.map(([name, text]) => `${name}=${encodeURIComponent(text)}`).join("&")}`;
            }

            """##
        ),
        (
            "ledger-words.js", "bb04859dbfc6a200457ee2db6fa955ab",
            ##"""
            // What a row of the ledger says, as a sentence.

            import { duration, words } from "./format.js";

            /** A part in brackets is left out if the row has no value for a name in it. */
            const SENTENCES = {
              licenseIssued: "Licence issued[ for {content}][: {detail}][, lease {lease}][, rental {rental}].",
              licenseRenewed: "Licence renewed[ for {content}][, lease {lease}].",
              licenseRefused: "Licence refused[ for {content}][: {detail}].",
              syncReportAccepted: "Report of a device about a kept key accepted.",
              keyRevealed: "Key shown[ to {actor}][ for {content}].",
              revoked: "Revoked[ by {actor}][: {detail}].",
              revocationLifted: "Revocation lifted[ by {actor}][: {detail}].",
              refusalsOmitted: "Refusals without a row of their own[: {detail}].",
              renewalsRolledUp: "Older renewals of one playback, counted[: {detail}].",
              sessionEndReported: "A device reported the end of its playback.",
              keyDelivered: "Key delivered[ to {actor}][ for {content}].",
              rotationSet: "Key rotation changed[ by {actor}][ for {content}][: {detail}].",
              tokenMinted: "Token made[ for {content}].",
              keyCreated: "Key made[ for {content}][ by {actor}].",
              keyImported: "Key imported[ for {content}][ by {actor}].",
              keyAliased: "Asset id added to a key[: {detail}].",
              keyWithdrawn: "Key withdrawn[ for {content}][ by {actor}].",
              keyRestored: "Withdrawn key delivered again[ for {content}][ by {actor}].",
              keyDeleted: "Key deleted[ for {content}][ by {actor}].",
              keyRestoreAccepted: "Restored database without its latest keys accepted[ by {actor}][: {detail}].",
              nodeStarted: "The daemon started[, version {detail}].",
              configurationReloaded: "A new configuration is in force.",
              nodeStopped: "The daemon stopped.",
              clockAccepted: "The clock was accepted[ by {actor}].",
              deviceRemoved: "Device removed[ by {actor}].",
              playbackEnded: "Playback ended[ by {actor}][ in the group {detail}].",
              rentalForgotten: "Rental forgotten[ by {actor}][ for {content}].",
              rowsPurged: "Old rows purged from this ledger.",
              sharedRowsPurged: "Old rows purged from the copy of this ledger.",
              ledgerRejoined: "The ledger continues after a loss[: {detail}].",
              storeRestored: "A backup was put in the place of the store[: {detail}].",
            };

            const shown = {
              detail: (text) => words(text),
              lease: duration,
              rental: duration,
            };

            /** The sentence of a row. A newer daemon may have kinds that this page does not know. */
            export function sentence(entry) {
              const pattern = SENTENCES[entry.kind];
              if (!pattern) return `${words(entry.kind)}.`;
              return pattern.replace(/\[([^\]{]*)\{(\w+)\}([^\]]*)\]/g, (_, before, name, after) => {
                const value = entry[name];
                if (value === null || value === undefined || value === "") return "";
                return `${before}${(shown[name] ?? String)(value)}${after}`;
              });
            }

            """##
        ),
        (
            "live.js", "6cbe76d5b307a5fbd948c13adcc1504a",
            ##"""
            // What the daemon measures: the last hour from /v1/history, and then the events of /v1/events.

            import { get } from "./api.js";

            const HOUR = 3600;
            const HISTORY_INTERVAL_MS = 10_000;
            const REOPEN_MIN_MS = 2_000;
            const REOPEN_MAX_MS = 30_000;

            /**
             * Sends `points` when there are new points, `status` with the answer of /v1/status, and `state`: "waiting" before the
             * first answer, "live" while events come, "polling" if only history comes, and "lost".
             *
             * It stops while the page is hidden, because the daemon serves few streams, and a browser opens few connections.
             */
            class Live extends EventTarget {
              /** The points of the last hour, oldest first: `{ at, values }`. */
              points = [];
              units = new Map();
              status = null;
              state = "waiting";
              #historyEnd = 0;
              #source = null;
              #timers = [];
              #reopen = null;
              #delay = REOPEN_MIN_MS;
              #isWanted = false;

              constructor() {
                super();
                document.addEventListener(
                  "visibilitychange",
                  () => this.#isWanted && (document.hidden ? this.#pause() : this.#run()),
                );
              }

              start() {
                this.#isWanted = true;
                if (!document.hidden) this.#run();
              }

              /** Stops, and forgets everything: the next operator may have other rights. */
              stop() {
                this.#isWanted = false;
                this.#pause();
                [this.points, this.status, this.#historyEnd] = [[], null, 0];
                this.#set("waiting");
              }

              #run() {
                this.#pause();
                this.#readHistory();
                this.#open();
                this.#timers = [setInterval(() => this.#readHistory(), HISTORY_INTERVAL_MS)];
              }

              #pause() {
                this.#source?.close();
                this.#source = null;
                this.#timers.forEach(clearInterval);
                this.#timers = [];
                clearTimeout(this.#reopen);
              }

              #open() {
                const source = new EventSource("/v1/events");
                this.#source = source;
                source.addEventListener("open", () => {
                  this.#delay = REOPEN_MIN_MS;
                });
                source.addEventListener("sample", ({ data }) => {
                  this.#set("live");
                  this.#take(JSON.parse(data));
                });
                source.addEventListener("status", ({ data }) => {
                  this.#set("live");
                  this.#show(JSON.parse(data));
                });
                source.addEventListener("error", () => this.#failed(source));
              }

              /** The stream is over or refused. Until the next attempt, a plain request says whether the daemon is there. */
              #failed(source) {
                if (source !== this.#source) return;
                source.close();
                this.#source = null;
                this.#ask();
                this.#reopen = setTimeout(() => this.#open(), this.#delay);
                this.#delay = Math.min(this.#delay * 2, REOPEN_MAX_MS);
              }

              async #ask() {
                try {
                  this.#show(await get("/v1/status"));
                  if (!this.#source && this.#isWanted) this.#set("polling");
                } catch {
                  if (this.#isWanted) this.#set("lost");
                }
              }

              async #readHistory() {
                try {
                  const since = this.#historyEnd;
                  const history = await get("/v1/history", { since: since || null });
                  if (this.#isWanted && since === this.#historyEnd) this.#takeHistory(history);
                } catch (error) {
                  // An older daemon or a full one still sends its events.
                  if (error.status === 0 && this.#isWanted) this.#set("lost");
                }
                if (this.#isWanted && !this.#source) this.#ask();
              }

              /** The exact steps replace the samples of the same time. */
              #takeHistory({ stepSeconds, startsAt, count, series }) {
                for (const { name, unit } of series) this.units.set(name, unit);
                const steps = Array.from({ length: count }, (_, step) => ({
                  at: startsAt + step * stepSeconds,
                  values: Object.fromEntries(series.map(({ name, values }) => [name, values[step] ?? null])),
                }));
                const end = steps.at(-1)?.at ?? this.#historyEnd;
                const [older, newer] = [
                  this.points.filter(({ at }) => at <= this.#historyEnd),
                  this.points.filter(({ at }) => at > end),
                ];
                const known = new Set(older.map(({ at }) => at));
                this.points = [...older, ...steps.filter(({ at }) => !known.has(at)), ...newer];
                this.#historyEnd = end;
                this.#trim();
              }

              #take({ at, values }) {
                if (at <= (this.points.at(-1)?.at ?? 0)) return;
                this.points.push({ at, values });
                this.#trim();
              }

              #trim() {
                const begin = (this.points.at(-1)?.at ?? 0) - HOUR;
                this.points = this.points.filter(({ at }) => at >= begin);
                this.dispatchEvent(new Event("points"));
              }

              #show(status) {
                this.status = status;
                this.dispatchEvent(new Event("status"));
              }

              #set(state) {
                if (state === this.state) return;
                this.state = state;
                this.dispatchEvent(new Event("state"));
              }
            }

            export const live = new Live();

            """##
        ),
        (
            "login.js", "ea79ba79eaef9c0b5bf936048f842a56",
            ##"""
            // The log-in with an operator's token.

            import { problem } from "./dialogs.js";
            import { el, field, fill, icon } from "./dom.js";
            import { session } from "./session.js";

            /** Shows the form in a place, with a sentence on why it is shown. */
            export function showLogIn(place, reason = null) {
              const token = field(
                "Token",
                el("input", {
                  type: "password",
                  name: "token",
                  autocomplete: "current-password",
                  required: true,
                  spellcheck: false,
                }),
                "The content of a token file of this listener.",
              );
              const failure = el("div", { role: "alert" });
              const enter = el("button", { class: "button main", type: "submit" }, "Log in");
              const submit = async (event) => {
                event.preventDefault();
                enter.disabled = true;
                fill(failure);
                try {
                  await session.logIn(token.control.value.trim());
                } catch (error) {
                  const isWrong = error.status === 401;
                  fill(failure, isWrong ? el("p", { class: "wrong" }, "This is not a token of this listener.") : problem(error));
                  token.control.select();
                } finally {
                  enter.disabled = false;
                }
              };
              fill(
                place,
                el(
                  "div",
                  { class: "login" },
                  el(
                    "div",
                    { class: "panel" },
                    el("h1", {}, icon("key"), "Latchkey"),
                    el("p", { class: "empty" }, reason ?? "Log in to watch and manage this server."),
                    el("form", { class: "stack", onsubmit: submit }, token, failure, el("div", { class: "row" }, enter)),
                  ),
                ),
              );
              token.control.focus();
            }

            """##
        ),
        (
            "main.js", "2fe766d6512b3527a04ed7c984eb7f28",
            ##"""
            // Starts the page: who is there, which view is shown, and what every view has around it.

            import { clearNotices, openDialog, problem } from "./dialogs.js";
            import { button, el, fill, say } from "./dom.js";
            import { live } from "./live.js";
            import { showLogIn } from "./login.js";
            import { session } from "./session.js";
            import { contents } from "./contents.js";
            import { find } from "./find.js";
            import { now } from "./now.js";
            import { revocations } from "./revocations.js";
            import { why } from "./why.js";

            /** Each view has a name for the address, a label, the permission that it needs, and `open(parameters)`. */
            const VIEWS = [now, find, why, contents, revocations];

            const CONNECTION = {
              waiting: ["waiting", "connecting"],
              live: ["live", "live"],
              polling: ["waiting", "every 10 s"],
              lost: ["lost", "no connection"],
            };

            const part = (id) => document.getElementById(id);
            let shown = null;
            let warning = null;

            // --- The view ------------------------------------------------------------------------------------------------------

            function route() {
              const [name, query = ""] = location.hash.slice(1).split("?");
              return { name, parameters: new URLSearchParams(query) };
            }

            /** Shows what the address names. The focus goes to the heading, as after a new page. */
            function show() {
              if (!session.who) return;
              const { name, parameters } = route();
              // "Skip to the content" names no view.
              if (name === "view" && shown) return;
              const view = VIEWS.find((one) => one.name === name) ?? VIEWS.find((one) => session.can(one.permission)) ?? now;
              if (shown?.view === view && shown.update) {
                shown.update(parameters);
                // The link that was followed may be gone.
                if (document.activeElement === document.body) focusHeading();
                return;
              }
              close();
              clearNotices();
              document.title = `${view.label} – Latchkey`;
              for (const anchor of part("nav").children) {
                if (anchor.hash === `#${view.name}`) anchor.setAttribute("aria-current", "page");
                else anchor.removeAttribute("aria-current");
              }
              const content = session.can(view.permission) ? view.open(parameters) : forbidden(view);
              fill(part("view"), content.element);
              shown = { view, ...content };
              focusHeading();
            }

            function focusHeading() {
              const heading = part("view").querySelector("h1");
              if (!heading) return;
              heading.tabIndex = -1;
              heading.focus({ preventScroll: true });
              scrollTo(0, 0);
            }

            function forbidden(view) {
              const roles = session.who.roles.join(", ") || "none";
              return {
                element: el(
                  "div",
                  { class: "view" },
                  el("h1", {}, view.label),
                  el(
                    "p",
                    { class: "lead" },
                    `Your roles (${roles}) do not include this view. Ask an administrator for another role.`,
                  ),
                ),
              };
            }

            function close() {
              shown?.close?.();
              shown = null;
            }

            // --- The head ------------------------------------------------------------------------------------------------------

            function showHead() {
              const { who } = session;
              part("top").hidden = false;
              fill(
                part("nav"),
                VIEWS.filter((view) => session.can(view.permission)).map((view) => el("a", { href: `#${view.name}` }, view.label)),
              );
              const state = el("span", { class: "dot", id: "state" });
              const name = el(
                "span",
                {},
                who.kind === "none" ? "no credential" : who.name,
                who.roles.length > 0 && el("span", { class: "roles" }, ` ${who.roles.join(", ")}`),
              );
              const leave = who.kind === "session" && button("Log out", logOut);
              fill(part("who"), state, name, leave);
              showConnection();
            }

            function showConnection() {
              const state = part("state");
              if (!state) return;
              const [tone, text] = CONNECTION[live.state];
              state.className = `dot ${tone}`;
              state.textContent = text;
            }

            async function logOut(event) {
              event.target.disabled = true;
              try {
                await session.logOut();
              } catch (error) {
                event.target.disabled = false;
                fill(part("notices"), problem(error));
              }
            }

            // --- The session -----------------------------------------------------------------------------------------------------

            const REASONS = {
              left: "You are logged out.",
              idle: "You were logged out, because nothing was done for a while.",
              unknown: "Your session has ended. Log in again.",
            };

            /** Nothing of the session stays on the screen. */
            function leave(reason) {
              live.stop();
              close();
              clearNotices();
              for (const dialog of document.querySelectorAll("dialog")) dialog.close();
              part("top").hidden = true;
              fill(part("who"));
              part("node").textContent = "";
              document.title = "Latchkey";
              showLogIn(part("view"), REASONS[reason]);
            }

            /** Shows the page for the operator who is there now. */
            function enter() {
              close();
              showHead();
              live.start();
              show();
            }

            /** The warning before an idle log-out. Any key or click on the page keeps the session. */
            function warn(seconds) {
              if (seconds === null) {
                warning?.close();
                warning = null;
                return;
              }
              const text = `You will be logged out in ${seconds} seconds, because nothing was done for a while.`;
              warning ??= openDialog("Are you still there?", {}, () => [
                el("p", { id: "warning" }),
                button("Stay logged in", () => session.stay().catch(() => {}), { kind: "main" }),
              ]);
              warning.querySelector("#warning").textContent = text;
            }

            session.addEventListener("change", enter);
            session.addEventListener("ended", ({ detail }) => leave(detail));
            session.addEventListener("warning", ({ detail }) => warn(detail));
            live.addEventListener("state", () => {
              showConnection();
              if (live.state === "lost") say("The connection to the server is lost.");
            });
            live.addEventListener("status", () => {
              part("node").textContent = live.status.node ?? "";
            });
            addEventListener("hashchange", () => show());

            try {
              if (!(await session.load())) showLogIn(part("view"));
            } catch (error) {
              fill(part("view"), problem(error));
            }

            """##
        ),
        (
            "now.js", "2415ba416f4b254d18b60399fb989d36",
            ##"""
            // The view Now: whether the server works, the last hour in plots, and what will end.

            import { post } from "./api.js";
            import { confirmAction, notify } from "./dialogs.js";
            import { banner, button, el, fill, say } from "./dom.js";
            import { TIME_ZONE, dateAndTime, words } from "./format.js";
            import { live } from "./live.js";
            import { Cursor, Plot } from "./plots.js";
            import { PLOTS } from "./series.js";
            import { session } from "./session.js";
            import { clockPanel, endsPanel, listenersPanel, nodesPanel } from "./status-panels.js";

            export const now = { name: "now", label: "Now", permission: "watch", open };

            function open() {
              const cursor = new Cursor();
              const plots = PLOTS.map((plan) => new Plot(plan, cursor));
              const [state, panels] = [el("div", { class: "parts" }), el("div", { class: "tiles" })];
              let spokenState = null;
              const onPoints = () => plots.forEach((plot) => plot.show(live.points));
              const onStatus = () => {
                const { status } = live;
                if (!status) return fill(state, el("p", { class: "empty" }, "Waiting for the server."));
                const { sentence, tone } = summary(status);
                showState(state, status, sentence, tone);
                fill(
                  panels,
                  endsPanel(status),
                  nodesPanel(status),
                  el("div", { class: "stack" }, clockPanel(status), listenersPanel(status)),
                );
                if (spokenState !== null && spokenState !== sentence) say(sentence);
                spokenState = sentence;
              };
              live.addEventListener("points", onPoints);
              live.addEventListener("status", onStatus);
              onPoints();
              onStatus();
              return {
                element: el(
                  "div",
                  { class: "view" },
                  el("h1", {}, "Now"),
                  state,
                  el(
                    "section",
                    { "aria-label": "The last hour" },
                    el(
                      "div",
                      { class: "plots" },
                      plots.map(({ figure }) => figure),
                    ),
                  ),
                  panels,
                  el(
                    "p",
                    { class: "foot" },
                    `Times are in ${TIME_ZONE}. Point at a plot to read a moment in all of them. `,
                    "By keyboard, go to a plot and use the arrow keys.",
                  ),
                ),
                update() {},
                close() {
                  live.removeEventListener("points", onPoints);
                  live.removeEventListener("status", onStatus);
                  plots.forEach((plot) => plot.close());
                },
              };
            }

            /** The state in one sentence. */
            function summary({ ready, drained, stopping, degraded }) {
              const parts = `${degraded.length} ${degraded.length === 1 ? "part does" : "parts do"} not work`;
              if (stopping) return { tone: "warn", sentence: "The daemon is stopping." };
              if (drained) return { tone: "warn", sentence: "This node is drained. It serves what still comes." };
              if (!ready)
                return { tone: "bad", sentence: degraded.length ? `This node is not ready: ${parts}.` : "This node is not ready." };
              if (degraded.length) return { tone: "warn", sentence: `This node serves, but ${parts}.` };
              return { tone: "good", sentence: "This node serves, and every part works." };
            }

            function showState(place, status, sentence, tone) {
              const { drained, readiness, degraded, version, startedAt } = status;
              const drain = drained && el("p", {}, `Drained by ${drained.by} since `, dateAndTime(drained.since), ".");
              const details = el("p", { class: "hint" }, `Version ${version}, started `, dateAndTime(startedAt), ".");
              fill(
                place,
                banner(
                  tone,
                  el("p", {}, el("strong", {}, sentence)),
                  drain,
                  !status.ready && !drained && readiness && el("p", {}, readiness),
                  details,
                  session.can("operate") && drainButton(drained),
                ),
                degraded.map(({ part, text, remedy }) =>
                  banner(
                    "warn",
                    el("p", {}, el("strong", {}, sentenceCase(words(part)))),
                    el("p", {}, text),
                    remedy && el("p", {}, remedy),
                  ),
                ),
              );
            }

            const sentenceCase = (text) => text.charAt(0).toUpperCase() + text.slice(1);

            function drainButton(drained) {
              return drained ? button("End the drain", endDrain) : button("Drain this node", drain);
            }

            async function drain() {
              const done = await confirmAction({
                title: "Drain this node?",
                does: [
                  "Makes /readyz answer 503, so that a load balancer sends new requests to other nodes.",
                  "Writes your name into the log.",
                ],
                doesNot: ["It does not stop the daemon: requests that still come are served.", "It does not change other nodes."],
                label: "Drain",
                act: () => post("/v1/drain"),
              });
              if (done) notify("good", "This node is drained.");
            }

            async function endDrain() {
              const done = await confirmAction({
                title: "End the drain?",
                does: ["Makes /readyz answer 200 again, if nothing else keeps the node from being ready."],
                doesNot: ["It does not repair a part that does not work."],
                label: "End the drain",
                isDangerous: false,
                act: () => post("/v1/ready"),
              });
              if (done) notify("good", "The drain has ended.");
            }

            """##
        ),
        (
            "parts.css", "45284993c10ddfb20a224b2fa558c43c",
            ##"""
            /* Parts that every view uses: panels, buttons, fields, tables, notices and dialogs. */

            .panel {
              min-width: 0;
              padding: 1rem;
              background: var(--surface);
              border: 1px solid var(--line);
              border-radius: var(--radius);
            }
            .panel > h2, .head { margin-bottom: 0.75rem; }
            .head { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.5rem 1rem; }
            .row { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 0.75rem; }
            .stack { display: grid; gap: 0.75rem; grid-template-columns: minmax(0, 1fr); }
            .pair {
              display: grid;
              gap: var(--gap);
              grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr));
              align-items: start;
            }
            .empty, .hint { color: var(--muted); }
            .hint { font-size: 0.8125rem; }
            .lead { max-width: 48rem; color: var(--muted); }

            .button {
              display: inline-flex;
              align-items: center;
              justify-content: center;
              gap: 0.375rem;
              min-height: 2.25rem;
              padding: 0.25rem 0.875rem;
              border: 1px solid var(--edge);
              border-radius: 6px;
              background: var(--surface);
              color: var(--ink);
              font: inherit;
              font-weight: 550;
              text-decoration: none;
              cursor: pointer;
            }
            .button:hover { background: var(--sunk); }
            .button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
            .button.main:hover { background: color-mix(in oklab, var(--accent), var(--ink) 15%); }
            .button.danger { border-color: var(--bad); color: var(--bad); }
            .button.danger:hover { background: var(--bad-soft); }
            .button.danger.main { background: var(--bad); color: var(--on-accent); }
            .button.danger.main:hover { background: color-mix(in oklab, var(--bad), var(--ink) 15%); }
            .button.small { min-height: 1.875rem; padding: 0.0625rem 0.625rem; font-size: 0.8125rem; }
            .button.plain { border-color: transparent; background: transparent; color: var(--accent); }
            .button.plain:hover { background: var(--accent-soft); }
            .button[disabled] { opacity: 0.55; cursor: default; }

            .field { display: grid; gap: 0.25rem; min-width: 0; }
            .field > label, .field > .label { font-size: 0.8125rem; font-weight: 600; }
            input:not([type="checkbox"], [type="radio"], [type="file"]), select, textarea {
              width: 100%;
              min-height: 2.25rem;
              padding: 0.3125rem 0.625rem;
              border: 1px solid var(--edge);
              border-radius: 6px;
              background: var(--surface);
              color: var(--ink);
              font: inherit;
            }
            textarea { min-height: 6rem; resize: vertical; font-family: var(--mono); font-size: 0.8125rem; line-height: 1.45; }
            input::placeholder, textarea::placeholder { color: var(--muted); opacity: 1; }
            input[type="checkbox"] { width: 1.125rem; height: 1.125rem; margin: 0; accent-color: var(--accent); }
            input[type="file"] { max-width: 100%; font: inherit; font-size: 0.8125rem; }
            .check { display: flex; align-items: center; gap: 0.5rem; }

            .tag {
              display: inline-flex;
              align-items: center;
              gap: 0.25rem;
              padding: 0 0.4375rem;
              border: 1px solid var(--line);
              border-radius: 999px;
              background: var(--sunk);
              font-size: 0.75rem;
              font-weight: 550;
              line-height: 1.375rem;
              white-space: nowrap;
            }
            .tag.good { background: var(--good-soft); border-color: transparent; color: var(--good); }
            .tag.warn { background: var(--warn-soft); border-color: transparent; color: var(--warn); }
            .tag.bad { background: var(--bad-soft); border-color: transparent; color: var(--bad); }
            .tag .icon { width: 0.75rem; height: 0.75rem; stroke-width: 3; }

            .dot { display: inline-flex; align-items: center; gap: 0.4375rem; color: var(--muted); font-size: 0.8125rem; }
            .dot::before { content: ""; width: 0.5rem; height: 0.5rem; border-radius: 50%; background: var(--edge); }
            .dot.live::before { background: var(--good); }
            .dot.waiting::before { background: var(--warn); }
            .dot.lost::before { background: var(--bad); }

            .banner {
              display: flex;
              gap: 0.75rem;
              padding: 0.875rem 1rem;
              border-radius: var(--radius);
              border: 1px solid var(--line);
              background: var(--surface);
            }
            .banner > .icon { margin-top: 0.125rem; }
            .banner > div { flex: 1; min-width: 0; }
            .banner .button { margin-top: 0.5rem; }
            .banner.good { border-left: 4px solid var(--good); }
            .banner.good > .icon { color: var(--good); }
            .banner.warn { border-left: 4px solid var(--warn); background: var(--warn-soft); }
            .banner.warn > .icon { color: var(--warn); }
            .banner.bad { border-left: 4px solid var(--bad); background: var(--bad-soft); }
            .banner.bad > .icon { color: var(--bad); }
            .banner p + p { margin-top: 0.25rem; }

            .facts { display: grid; grid-template-columns: minmax(7rem, max-content) minmax(0, 1fr); gap: 0.25rem 1rem; }
            .facts dt { color: var(--muted); }
            .facts dd { overflow-wrap: anywhere; }

            table { width: 100%; border-collapse: collapse; font-size: 0.875rem; }
            caption { text-align: left; }
            th {
              padding: 0.375rem 0.75rem 0.375rem 0;
              border-bottom: 1px solid var(--edge);
              color: var(--muted);
              font-size: 0.8125rem;
              font-weight: 600;
              text-align: left;
              white-space: nowrap;
            }
            td {
              padding: 0.5rem 0.75rem 0.5rem 0;
              border-bottom: 1px solid var(--line);
              vertical-align: top;
              overflow-wrap: anywhere;
            }
            tr:last-child > td { border-bottom: 0; }
            th:last-child, td:last-child { padding-right: 0; }
            td time { white-space: nowrap; }
            .number { text-align: right; white-space: nowrap; }
            .act { text-align: right; white-space: nowrap; }
            .scroll { overflow-x: auto; }

            .notices { max-width: 100rem; margin: 0 auto; padding: 0 1.5rem; }
            .notices .banner { margin-top: 1rem; align-items: start; }
            .notices .banner .button { margin: 0; }

            dialog {
              width: min(36rem, calc(100vw - 1.5rem));
              max-height: min(48rem, calc(100dvh - 1.5rem));
              padding: 1.25rem;
              border: 1px solid var(--line);
              border-radius: 10px;
              background: var(--surface);
              color: var(--ink);
              overflow: auto;
            }
            dialog.wide { width: min(56rem, calc(100vw - 1.5rem)); }
            dialog::backdrop { background: rgb(8 12 14 / 55%); }
            dialog h2 { font-size: 1.125rem; }
            dialog .stack { gap: 1rem; }
            dialog .row.end { justify-content: flex-end; }
            .effects { display: grid; gap: 0.375rem; }
            .effects h3 { margin-bottom: 0.125rem; }
            .effects li { display: flex; gap: 0.5rem; }
            .effects .icon { width: 1rem; height: 1rem; margin-top: 0.25rem; }
            .effects.does .icon { color: var(--good); }
            .effects.not .icon { color: var(--bad); }

            /* On a phone a row of a table becomes a card, and each cell names its column. */
            @media (max-width: 46rem) {
              .notices { padding: 0 0.75rem; }
              .panel { padding: 0.875rem; }
              .facts { grid-template-columns: minmax(0, 1fr); gap: 0; }
              .facts dd { margin-bottom: 0.5rem; }
              table.cards, .cards tbody, .cards tr, .cards td { display: block; }
              .cards thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
              .cards tr { padding: 0.625rem 0; border-bottom: 1px solid var(--line); }
              .cards tr:last-child { border-bottom: 0; }
              .cards td {
                display: grid;
                grid-template-columns: 7rem minmax(0, 1fr);
                gap: 0.75rem;
                padding: 0.1875rem 0;
                border: 0;
                text-align: left;
                white-space: normal;
                justify-items: start;
              }
              .cards td::before { content: attr(data-label); color: var(--muted); font-size: 0.8125rem; }
              .cards td:empty { display: none; }
              .cards .act .row { justify-content: flex-start; }
            }

            """##
        ),
        (
            "plot-table.js", "7e168226db1a252ecc2e04efbf205d58",
            ##"""
            // The values of a plot as a table, for those who cannot see the plot or want the numbers.

            import { openDialog } from "./dialogs.js";
            import { el, table } from "./dom.js";
            import { measured, shortClock } from "./format.js";

            /** Shows one row for each minute, the newest first: the mean of a rate, and the largest of every other value. */
            export function showTable(plan, points) {
              const { title, unit, unitText, series } = plan;
              const minutes = new Map();
              for (const point of points) {
                const minute = Math.floor(point.at / 60) * 60;
                minutes.set(minute, [...(minutes.get(minute) ?? []), point]);
              }
              const rows = [...minutes]
                .reverse()
                .map(([minute, within]) => [
                  shortClock(minute),
                  ...series.map(([name]) => measured(combined(within, name, unit), unit)),
                ]);
              const columns = [["Minute"], ...series.map(([, label]) => [label, "number"])];
              const kind = unit === "per_second" ? "Mean" : "Largest value";
              const caption = `${kind} of each minute${unitText ? `, ${unitText}` : ""}.`;
              openDialog(title, { isWide: true }, () => [
                el("p", { class: "hint" }, rows.length ? caption : "Nothing was measured yet."),
                rows.length > 0 &&
                  el(
                    "div",
                    { class: "scroll", tabIndex: 0, role: "region", "aria-label": `Values of ${title}` },
                    table(title, columns, rows),
                  ),
              ]);
            }

            function combined(points, name, unit) {
              const values = points.map(({ values }) => values[name]).filter((value) => value !== null && value !== undefined);
              if (!values.length) return null;
              return unit === "per_second" ? values.reduce((sum, value) => sum + value, 0) / values.length : Math.max(...values);
            }

            """##
        ),
        (
            "plots.css", "bd295348f2fb424d923b3bd22c6ead9e",
            ##"""
            /* The small plots of the view Now. */

            .plots { display: grid; gap: var(--gap); grid-template-columns: repeat(auto-fill, minmax(min(100%, 23rem), 1fr)); }

            .plot {
              display: grid;
              grid-template-rows: auto auto 1fr;
              gap: 0.375rem;
              min-width: 0;
              padding: 0.75rem 0.875rem 0.75rem;
              background: var(--surface);
              border: 1px solid var(--line);
              border-radius: var(--radius);
            }
            .plot header { display: flex; align-items: baseline; gap: 0.5rem; }
            .plot h2 { flex: 1; min-width: 0; font-size: 0.875rem; font-weight: 600; }
            .plot .unit { color: var(--muted); font-weight: 400; }
            .plot .button { min-height: 1.5rem; padding: 0 0.375rem; font-size: 0.75rem; }
            .plot .stage { position: relative; height: 8.25rem; border-radius: 4px; touch-action: pan-y; cursor: crosshair; }
            .plot svg.chart { display: block; width: 100%; height: 100%; overflow: visible; }
            .plot .none {
              position: absolute;
              inset: 0 0 1.25rem;
              display: grid;
              place-items: center;
              color: var(--muted);
              font-size: 0.8125rem;
              pointer-events: none;
            }

            .chart text { fill: var(--muted); font-size: 0.6875rem; font-family: var(--sans); }
            .chart .grid { stroke: var(--line); stroke-width: 1; shape-rendering: crispEdges; }
            .chart .axis { stroke: var(--edge); stroke-width: 1; shape-rendering: crispEdges; }
            .chart .trace { fill: none; stroke: var(--tone); stroke-width: 1.75; stroke-linejoin: round; stroke-linecap: round; }
            .chart .area { fill: var(--tone); fill-opacity: 0.3; stroke: none; }
            .chart .cursor { stroke: var(--ink); stroke-width: 1; stroke-dasharray: 2 2; }
            .chart .mark { fill: var(--tone); stroke: var(--surface); stroke-width: 1.5; }

            .legend {
              display: flex;
              flex-wrap: wrap;
              gap: 0.0625rem 1rem;
              font-size: 0.8125rem;
              line-height: 1.4;
              align-content: start;
            }
            .legend li { display: flex; align-items: baseline; gap: 0.375rem; color: var(--muted); }
            .legend li::before {
              content: "";
              width: 0.625rem;
              height: 0.25rem;
              border-radius: 2px;
              background: var(--tone);
              align-self: center;
            }
            .legend .value { min-width: 2.5rem; color: var(--ink); font-weight: 600; }
            .at { color: var(--muted); font-size: 0.8125rem; white-space: nowrap; }

            .tone-1 { --tone: var(--tone-1); }
            .tone-2 { --tone: var(--tone-2); }
            .tone-3 { --tone: var(--tone-3); }
            .tone-4 { --tone: var(--tone-4); }
            .tone-5 { --tone: var(--tone-5); }
            .tone-6 { --tone: var(--tone-6); }
            .tone-7 { --tone: var(--tone-7); }

            .chart .stack { stroke-width: 1; }

            """##
        ),
        (
            "plots.js", "a8d6390eaedc0dd8c372b130ccbbfed0",
            ##"""
            // A small plot of the last hour, drawn as SVG, with a read-out for pointer, touch and keyboard.

            import { button, el, fill, svg } from "./dom.js";
            import { clock, measured, shortClock } from "./format.js";
            import { ticks, timeTicks } from "./scales.js";
            import { showTable } from "./plot-table.js";

            const HOUR = 3600;
            /** Soon after a start, the plots show what there is, and at least this time in seconds. */
            const LEAST_RANGE = 300;
            const MARGIN = { left: 46, right: 6, top: 8, bottom: 18 };
            /** Two points that are further apart are not joined: nothing was measured in between. */
            const GAP_SECONDS = 35;
            const MINUTE_STEPS = 6;

            /** The time that all plots show together; null for now. */
            export class Cursor extends EventTarget {
              time = null;

              set(time) {
                if (time === this.time) return;
                this.time = time;
                this.dispatchEvent(new Event("move"));
              }
            }

            export class Plot {
              #plan;
              #cursor;
              #points = [];
              #size = { width: 0, height: 0 };
              #frame = 0;

              constructor(plan, cursor) {
                this.#plan = plan;
                this.#cursor = cursor;
                this.#build();
                this.resizing = new ResizeObserver(([{ contentRect }]) => {
                  this.#size = { width: contentRect.width, height: contentRect.height };
                  this.#later();
                });
                this.resizing.observe(this.stage);
                cursor.addEventListener("move", () => this.#later());
              }

              show(points) {
                this.#points = points;
                this.#later();
              }

              close() {
                this.resizing.disconnect();
                cancelAnimationFrame(this.#frame);
              }

              #build() {
                const { id, title, unitText, series } = this.#plan;
                this.values = new Map(series.map(([name]) => [name, el("span", { class: "value" }, "–")]));
                const legend = series.map(([name, label, tone]) =>
                  el("li", { class: `tone-${tone}` }, label, this.values.get(name)),
                );
                this.chart = svg("svg", { class: "chart", "aria-hidden": "true" });
                this.at = el("span", { class: "at" });
                this.none = el("p", { class: "none" }, "Nothing measured yet");
                this.stage = el(
                  "div",
                  {
                    class: "stage",
                    tabIndex: 0,
                    role: "slider",
                    "aria-label": `${title}: time`,
                    "aria-valuemin": "0",
                    "aria-valuemax": "0",
                    "aria-valuenow": "0",
                    onpointermove: (event) => this.#point(event),
                    onpointerdown: (event) => this.#point(event),
                    onpointerleave: (event) => event.pointerType !== "touch" && this.#cursor.set(null),
                    onkeydown: (event) => this.#key(event),
                    onblur: () => this.#cursor.set(null),
                    onfocus: () => this.#speak(),
                  },
                  this.chart,
                  this.none,
                );
                const open = () => showTable(this.#plan, this.#points);
                this.figure = el(
                  "figure",
                  { class: "plot", id: `plot-${id}` },
                  el(
                    "header",
                    {},
                    el("h2", {}, title, unitText && el("span", { class: "unit" }, ` ${unitText}`)),
                    this.at,
                    button("Table", open, { kind: "plain", label: `${title} as a table` }),
                  ),
                  this.stage,
                  el("ul", { class: "legend" }, legend),
                );
              }

              // --- Reading a time ------------------------------------------------------------------------------------------------

              #point(event) {
                if (!this.#points.length) return;
                const { left } = this.stage.getBoundingClientRect();
                const [begin, end] = this.#range();
                const share = (event.clientX - left - MARGIN.left) / Math.max(1, this.#inner().width);
                this.#cursor.set(this.#points[this.#nearest(begin + share * (end - begin))].at);
              }

              #key(event) {
                const last = this.#points.length - 1;
                if (last < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
                const index = this.#cursor.time === null ? last : this.#nearest(this.#cursor.time);
                const steps = {
                  ArrowLeft: index - 1,
                  ArrowDown: index - 1,
                  ArrowRight: index + 1,
                  ArrowUp: index + 1,
                  PageDown: index - MINUTE_STEPS,
                  PageUp: index + MINUTE_STEPS,
                  Home: 0,
                  End: last,
                };
                if (event.key === "Escape") this.#cursor.set(null);
                else if (event.key in steps) this.#cursor.set(this.#points[Math.min(last, Math.max(0, steps[event.key]))].at);
                else return;
                event.preventDefault();
                this.#speak();
              }

              /** What a screen reader says: the time and every value. */
              #speak() {
                const index = this.#cursor.time === null ? this.#points.length - 1 : this.#nearest(this.#cursor.time);
                const point = this.#points[index];
                const { unit, unitText, series } = this.#plan;
                const values = series
                  .filter(([name]) => point && name in point.values)
                  .map(([name, label]) => `${label} ${measured(point.values[name], unit)}${unitText ? ` ${unitText}` : ""}`);
                const text = point ? `${clock(point.at)}: ${values.join(", ")}` : "nothing measured yet";
                this.stage.setAttribute("aria-valuemax", String(Math.max(0, this.#points.length - 1)));
                this.stage.setAttribute("aria-valuenow", String(Math.max(0, index)));
                this.stage.setAttribute("aria-valuetext", text);
              }

              #nearest(time) {
                let [low, high] = [0, this.#points.length - 1];
                while (high - low > 1) {
                  const middle = (low + high) >> 1;
                  if (this.#points[middle].at <= time) low = middle;
                  else high = middle;
                }
                return time - this.#points[low].at <= this.#points[high].at - time ? low : high;
              }

              // --- Drawing -------------------------------------------------------------------------------------------------------

              #later() {
                this.#frame ||= requestAnimationFrame(() => {
                  this.#frame = 0;
                  this.#draw();
                });
              }

              #range() {
                const end = this.#points.at(-1)?.at ?? Date.now() / 1000;
                const begin = this.#points[0]?.at ?? end;
                return [Math.max(end - HOUR, Math.min(begin, end - LEAST_RANGE)), end];
              }

              #inner() {
                const { width, height } = this.#size;
                return { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
              }

              #draw() {
                const { width, height } = this.#size;
                if (width < 80 || height < 40) return;
                const { unit, stack, series } = this.#plan;
                const present = series.filter(([name]) => this.#points.some(({ values }) => (values[name] ?? null) !== null));
                this.none.hidden = present.length > 0;
                const tops = this.#points.map(({ values }) =>
                  present.reduce((top, [name]) => (stack ? top + (values[name] ?? 0) : Math.max(top, values[name] ?? 0)), 0),
                );
                const rule = ticks(Math.max(0, ...tops), unit);
                const [begin, end] = this.#range();
                const inner = this.#inner();
                const x = (time) => MARGIN.left + ((time - begin) / (end - begin)) * inner.width;
                const y = (value) => MARGIN.top + (1 - Math.min(1, value / rule.at(-1))) * inner.height;
                this.chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
                fill(
                  this.chart,
                  rule.map((value) => this.#level(y(value), measured(value, unit), value === 0)),
                  this.#times(begin, end, x, height),
                  this.#traces(present, stack, x, y),
                  this.#cursorMarks(present, stack, x, y),
                );
                this.#readOut();
              }

              #level(y, text, isAxis) {
                const line = {
                  class: isAxis ? "axis" : "grid",
                  x1: MARGIN.left,
                  x2: this.#size.width - MARGIN.right,
                  y1: y,
                  y2: y,
                };
                return [svg("line", line), svg("text", { x: MARGIN.left - 6, y: y + 3.5, "text-anchor": "end" }, text)];
              }

              #times(begin, end, x, height) {
                const offset = -new Date(end * 1000).getTimezoneOffset() * 60;
                return timeTicks(begin, end, offset)
                  .filter((time) => x(time) > MARGIN.left + 14 && x(time) < this.#size.width - 18)
                  .map((time) => svg("text", { x: x(time), y: height - 4, "text-anchor": "middle" }, shortClock(time)));
              }

              /** The lines of all series. In a stack each stands on those before it, and has no line where it is 0. */
              #traces(present, stack, x, y) {
                let base = this.#points.map(() => 0);
                const line = (indexes, level) =>
                  indexes.map((index) => `${x(this.#points[index].at).toFixed(1)} ${y(level[index]).toFixed(1)}`).join("L");
                return present.flatMap(([name, , tone]) => {
                  const floor = base;
                  const values = this.#points.map((point) => point.values[name] ?? null);
                  const level = values.map((value, index) => (value === null ? null : value + (stack ? floor[index] : 0)));
                  base = level.map((value, index) => value ?? floor[index]);
                  const drawn = level.map((value, index) => (stack && values[index] === 0 ? null : value));
                  const areas = stack ? this.#pieces(level) : [];
                  return [
                    areas.map((piece) => {
                      const outline = `M${line(piece, level)}L${line(piece.toReversed(), floor)}Z`;
                      return svg("path", { class: `area tone-${tone}`, d: outline });
                    }),
                    this.#pieces(drawn).map((piece) => {
                      const dot = piece.length === 1 ? "h.1" : "";
                      return svg("path", {
                        class: `trace ${stack ? "stack" : ""} tone-${tone}`,
                        d: `M${line(piece, level)}${dot}`,
                      });
                    }),
                  ].flat();
                });
              }

              /** The indexes of points that belong to one line. */
              #pieces(level) {
                const pieces = [];
                level.forEach((value, index) => {
                  if (value === null) return;
                  const isJoined =
                    index > 0 && level[index - 1] !== null && this.#points[index].at - this.#points[index - 1].at <= GAP_SECONDS;
                  if (isJoined) pieces.at(-1).push(index);
                  else pieces.push([index]);
                });
                return pieces;
              }

              #cursorMarks(present, stack, x, y) {
                if (this.#cursor.time === null || !this.#points.length) return [];
                const { at, values } = this.#points[this.#nearest(this.#cursor.time)];
                let base = 0;
                const marks = present
                  .filter(([name]) => (values[name] ?? null) !== null)
                  .map(([name, , tone]) => {
                    const level = values[name] + (stack ? base : 0);
                    base = level;
                    return svg("circle", { class: `mark tone-${tone}`, cx: x(at), cy: y(level), r: 3.5 });
                  });
                return [
                  svg("line", { class: "cursor", x1: x(at), x2: x(at), y1: MARGIN.top, y2: this.#size.height - MARGIN.bottom }),
                  marks,
                ];
              }

              /** The legend has the values of the cursor's time, or the newest ones. */
              #readOut() {
                const { time } = this.#cursor;
                const point = this.#points.length
                  ? this.#points[time === null ? this.#points.length - 1 : this.#nearest(time)]
                  : null;
                for (const [name, value] of this.values) value.textContent = measured(point?.values[name], this.#plan.unit);
                this.at.textContent = time === null || !point ? "" : clock(point.at);
                if (document.activeElement !== this.stage) this.#speak();
              }
            }

            """##
        ),
        (
            "refusals.js", "7416cdc4faf9916c8ea8f962d357f62c",
            ##"""
            // Refused requests: the newest ones as a list, and one of them with its cause and what to do.

            import { get } from "./api.js";
            import { problem } from "./dialogs.js";
            import { banner, button, el, facts, field, fill, table } from "./dom.js";
            import { dateAndTime, timeOfDay, words } from "./format.js";
            import { searchFor } from "./kinds.js";

            const PAGE_SIZE = 25;
            /** The order in which members of a refusal are shown; all others follow. */
            const FIRST = ["event", "found", "expected", "listener", "client", "issuer", "content", "kid", "subject", "trace_id"];
            const SHOWN_ABOVE = new Set([
              "source",
              "request_id",
              "time",
              "code",
              "cause",
              "explanation",
              "remedy",
              "degraded",
              "text",
            ]);

            const LABELS = {
              event: "Request",
              found: "Found",
              expected: "Expected",
              trace_id: "Trace",
              token_key: "Token key",
              kid: "Key id",
              spc_version: "SPC version",
              tag: "Tag",
              number: "Number",
              credential: "Credential",
              listener: "Listener",
              client: "Client",
              issuer: "Issuer",
              content: "Content",
              subject: "Subject",
            };

            /** The refusal of one request: what is wrong, what to do, and what was seen. */
            export function refusalReport(report) {
              const names = [...FIRST, ...Object.keys(report).filter((name) => !FIRST.includes(name))].filter(
                (name) => !SHOWN_ABOVE.has(name) && report[name] !== undefined && typeof report[name] !== "object",
              );
              return el(
                "section",
                { class: "panel stack" },
                el(
                  "div",
                  { class: "head" },
                  el("h2", {}, "Refused: ", words(report.code)),
                  el("span", { class: "hint" }, dateAndTime(report.time), report.source === "ledger" && ", from the ledger"),
                ),
                banner("bad", el("p", {}, report.explanation || report.cause)),
                report.remedy && banner("info", el("p", {}, el("strong", {}, "What to do")), el("p", {}, report.remedy)),
                report.degraded && banner("warn", el("p", {}, `Does not work now: ${report.degraded}`)),
                facts([
                  ["Code", el("code", {}, report.code)],
                  ["Cause", report.cause],
                  ...names.map((name) => [LABELS[name] ?? words(name), value(name, report)]),
                ]),
              );
            }

            function value(name, report) {
              if (name === "event") return words(report.event);
              if (name === "content") return el("a", { href: searchFor("content", report.content) }, report.content);
              if (name === "kid") return el("a", { class: "mono", href: searchFor("key", report.kid) }, report.kid);
              return el("span", { class: name === "subject" || name === "trace_id" ? "mono" : "" }, String(report[name]));
            }

            /** The newest refusals in the memory of this node, by pages, and by code if the operator wants one. */
            export function latestRefusals() {
              const code = field(
                "Only the code",
                el("input", { name: "code", autocomplete: "off", spellcheck: false, placeholder: "spc_rejected" }),
              );
              const list = el("div", {});
              const load = (before = null) => showPage(list, code.control.value.trim(), before);
              const submit = (event) => {
                event.preventDefault();
                load();
              };
              load();
              return el(
                "section",
                { class: "panel" },
                el("h2", {}, "Latest refusals"),
                el("form", { class: "filter", onsubmit: submit }, code, el("button", { class: "button", type: "submit" }, "Show")),
                list,
              );
            }

            async function showPage(place, code, before) {
              place.setAttribute("aria-busy", "true");
              try {
                const { refusals, next } = await get("/v1/refusals", { limit: PAGE_SIZE, before, code });
                const columns = [["Time"], ["Code"], ["Why"], ["Content"], ["Request"]];
                const rows = refusals.map((one) => [
                  timeOfDay(one.time),
                  el("code", {}, one.code),
                  one.explanation || one.cause,
                  one.content ?? "",
                  el("a", { class: "mono", href: searchFor("request", one.request_id) }, one.request_id),
                ]);
                fill(
                  place,
                  rows.length
                    ? table("Latest refusals", columns, rows)
                    : el("p", { class: "empty" }, "This node remembers no such refusal."),
                  el(
                    "div",
                    { class: "row" },
                    before && button("Newest", () => showPage(place, code, null)),
                    next && button("Older", () => showPage(place, code, next)),
                  ),
                );
              } catch (error) {
                fill(place, problem(error));
              } finally {
                place.removeAttribute("aria-busy");
              }
            }

            """##
        ),
        (
            "revocations.js", "f14d14e5a61c8283c671acb8ff2d1aa7",
            ##"""
            // The view Revocations: what is revoked now, and the way to revoke and to lift.

            import { REVOCABLE, lift, revoke } from "./actions.js";
            import { get } from "./api.js";
            import { problem } from "./dialogs.js";
            import { button, el, fill, table } from "./dom.js";
            import { dateAndTime } from "./format.js";
            import { session } from "./session.js";

            export const revocations = { name: "revocations", label: "Revoked", permission: "look", open };

            function open() {
              const list = el("div", {}, el("p", { class: "empty" }, "Reading…"));
              const heading = el("h1", { tabIndex: -1 }, "Revoked");
              const add =
                session.can("revoke") && button("Revoke", async () => (await revoke()) && show(list, heading), { kind: "danger" });
              show(list, heading);
              return {
                element: el(
                  "div",
                  { class: "view" },
                  el("div", { class: "head" }, heading, add),
                  el(
                    "p",
                    { class: "lead" },
                    "A revocation refuses the next licence and the next renewal. ",
                    "Subjects and devices are shown by pseudonyms, because the server stores nothing else.",
                  ),
                  el("section", { class: "panel" }, list),
                ),
              };
            }

            async function show(place, heading) {
              try {
                const { revocations: all, isComplete } = await get("/v1/revocations");
                const mayLift = session.can("revoke");
                const columns = [
                  ["What"],
                  ["Value"],
                  ["Issuer"],
                  ["Revoked"],
                  ["Until"],
                  ["Reason"],
                  ...(mayLift ? [["Action", "act"]] : []),
                ];
                const rows = all.map((one) => [
                  REVOCABLE[one.kind] ?? one.kind,
                  el("code", {}, one.value),
                  one.issuer ?? "",
                  dateAndTime(one.revokedAt),
                  one.until ? dateAndTime(one.until) : "no end",
                  one.reason,
                  ...(mayLift ? [liftButton(one, place, heading)] : []),
                ]);
                fill(
                  place,
                  rows.length ? table("Revocations", columns, rows) : el("p", { class: "empty" }, "Nothing is revoked."),
                  !isComplete &&
                    el("p", { class: "hint" }, "These are the newest 1,000. The command latchkey revocations list prints all."),
                );
              } catch (error) {
                fill(
                  place,
                  error.status === 404
                    ? el("p", { class: "empty" }, "This listener has no credential, so it serves no revocations.")
                    : problem(error),
                );
              }
            }

            function liftButton(one, place, heading) {
              const act = async () => {
                if (!(await lift(one))) return;
                await show(place, heading);
                heading.focus();
              };
              return button("Lift", act, { label: `Lift the revocation of ${one.value}` });
            }

            """##
        ),
        (
            "scales.js", "762c86338d16bc38d8c99e004ccaaa62",
            ##"""
            // Round values for the axes of plots.

            const STEPS = [1, 2, 2.5, 5, 10];
            const BYTE_STEPS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

            /** The least top that would make a plot of nothing look busy. */
            const LEAST_TOP = { per_second: 1, seconds: 0.01, share: 0.1, bytes: 1 << 20, count: 4 };

            /** The ticks from 0 to a round value that is at least `maximum`: three or four of them. */
            export function ticks(maximum, unit) {
              const top = Math.max(maximum, LEAST_TOP[unit] ?? 1);
              const step = unit === "bytes" ? byteStep(top / 3) : roundStep(top / 3, unit === "count");
              const count = Math.ceil(top / step - 1e-9);
              return Array.from({ length: count + 1 }, (_, index) => index * step);
            }

            function roundStep(least, isWhole) {
              const power = 10 ** Math.floor(Math.log10(least));
              const step = STEPS.find((one) => one * power >= least * (1 - 1e-9)) * power;
              return isWhole ? Math.max(1, Math.ceil(step)) : step;
            }

            function byteStep(least) {
              const power = 1024 ** Math.floor(Math.log2(least) / 10);
              return BYTE_STEPS.find((one) => one * power >= least) * power;
            }

            const TIME_STEPS = [60, 120, 300, 900];

            /** Round times within a range, for the axis of time: at most five. */
            export function timeTicks(begin, end, zoneOffsetSeconds) {
              const step = TIME_STEPS.find((one) => (end - begin) / one <= 5) ?? TIME_STEPS.at(-1);
              const first = Math.ceil((begin + zoneOffsetSeconds) / step) * step - zoneOffsetSeconds;
              const times = [];
              for (let time = first; time <= end; time += step) times.push(time);
              return times;
            }

            """##
        ),
        (
            "series.js", "e006ee89f6eed296d22c4c19312c4402",
            ##"""
            // The plots of the view Now, in their order. Config/grafana-dashboard.json has panels of the same names.

            /**
             * A series has a name in /v1/history, a label and a tone. A plot shows those of its series that the daemon has. With
             * `stack` each area stands on those before it, so that the top is their sum.
             */
            export const PLOTS = [
              {
                id: "licenses",
                title: "Licences",
                unit: "per_second",
                unitText: "a second",
                stack: true,
                series: [
                  ["licenses_v1", "version 1", 1],
                  ["licenses_v2", "version 2", 2],
                  ["licenses_v3", "version 3", 3],
                ],
              },
              {
                id: "refusals",
                title: "Refusals by reason",
                unit: "per_second",
                unitText: "a second",
                stack: true,
                series: [
                  ["refusals_token", "token", 1],
                  ["refusals_rights", "right", 2],
                  ["refusals_spc", "SPC", 3],
                  ["refusals_key", "key", 6],
                  ["refusals_overload", "rate or overload", 5],
                  ["refusals_fault", "server fault", 4],
                  ["refusals_other", "other", 7],
                ],
              },
              {
                id: "latency",
                title: "Time to a licence",
                unit: "seconds",
                series: [
                  ["latency_p50", "half within", 1],
                  ["latency_p99", "99 % within", 4],
                ],
              },
              {
                id: "load",
                title: "RSA and loop load",
                unit: "share",
                series: [
                  ["rsa_busy", "RSA, of the loops' time", 2],
                  ["processors", "all work, of one processor", 1],
                ],
              },
              {
                id: "loops",
                title: "Turns of the loops",
                unit: "seconds",
                series: [
                  ["loop_lag", "worst lag", 3],
                  ["loop_longest_turn", "longest turn", 1],
                ],
              },
              {
                id: "connections",
                title: "Connections",
                unit: "count",
                series: [
                  ["connections", "connections", 1],
                  ["requests_in_flight", "requests in flight", 2],
                ],
              },
              {
                id: "memory",
                title: "Charged memory",
                unit: "bytes",
                series: [
                  ["memory_charged", "charged", 1],
                  ["memory_resident", "resident", 7],
                ],
              },
              {
                id: "http",
                title: "HTTP requests",
                unit: "per_second",
                unitText: "a second",
                stack: true,
                series: [
                  ["http_2xx", "2xx", 5],
                  ["http_3xx", "3xx", 7],
                  ["http_4xx", "4xx", 2],
                  ["http_5xx", "5xx", 4],
                ],
              },
              {
                id: "ledger",
                title: "Ledger rows that wait",
                unit: "count",
                series: [
                  ["ledger_waiting", "for the disk", 1],
                  ["ledger_lag", "for the copy", 2],
                ],
              },
            ];

            """##
        ),
        (
            "session.js", "52d9d946a049dfbe7894874471e60d2a",
            ##"""
            // Who is logged in, and until when.

            import { Refused, get, link, post, remove } from "./api.js";

            const WATCH_INTERVAL_MS = 5_000;
            /** How long before its end the operator is warned. */
            const WARNING_SECONDS = 60;
            /** Reading and moving count as activity too: at most once in this time the server hears of them. */
            const TOUCH_INTERVAL_MS = 60_000;

            /**
             * The session of this page. Sends `change` when an operator has logged in, `ended` with a reason, and `warning` with
             * the remaining seconds (null takes it back).
             */
            class Session extends EventTarget {
              who = null;
              #lastUse = 0;
              #timer = null;
              #isWarning = false;

              constructor() {
                super();
                link.onUse = () => this.#used();
                link.onUnknown = () => this.#end(this.#remaining() <= 0 ? "idle" : "unknown");
                for (const type of ["pointerdown", "keydown"]) addEventListener(type, () => this.#touch(), { passive: true });
              }

              can(permission) {
                return Boolean(this.who?.permissions.includes(permission));
              }

              /** Whether the listener knows this browser. With a client certificate there is no log-in. */
              async load() {
                try {
                  this.#begin(await get("/v1/whoami"));
                } catch (error) {
                  if (!(error instanceof Refused) || error.status !== 401) throw error;
                }
                return this.who !== null;
              }

              async logIn(token) {
                this.#begin(await post("/v1/session", { token }));
              }

              async logOut() {
                await remove("/v1/session");
                this.#end("left");
              }

              /** Tells the server that the operator is still there. */
              async stay() {
                this.#begin(await get("/v1/whoami"));
              }

              #begin(who) {
                const isNew = this.who?.name !== who.name || this.who?.permissions.join() !== who.permissions.join();
                this.who = who;
                link.formToken = who.formToken ?? null;
                this.#used();
                clearInterval(this.#timer);
                if (who.kind === "session") this.#timer = setInterval(() => this.#watch(), WATCH_INTERVAL_MS);
                if (isNew) this.dispatchEvent(new Event("change"));
              }

              #end(reason) {
                if (!this.who) return;
                this.who = null;
                link.formToken = null;
                clearInterval(this.#timer);
                this.#warn(null);
                this.dispatchEvent(new CustomEvent("ended", { detail: reason }));
              }

              #used() {
                this.#lastUse = Date.now();
                this.#warn(null);
              }

              #touch() {
                if (this.who?.kind !== "session" || Date.now() - this.#lastUse < TOUCH_INTERVAL_MS) return;
                this.#lastUse = Date.now();
                this.stay().catch(() => {});
              }

              /** The seconds until the session ends if nothing happens. */
              #remaining() {
                if (this.who?.kind !== "session") return Infinity;
                const idleEnd = this.#lastUse / 1000 + this.who.idleSeconds;
                return Math.min(idleEnd, this.who.endsAt ?? Infinity) - Date.now() / 1000;
              }

              #watch() {
                const remaining = this.#remaining();
                if (remaining > WARNING_SECONDS) return this.#warn(null);
                if (remaining > 0) return this.#warn(Math.ceil(remaining));
                // Another tab may have kept the session. A quiet request tells: if the session is over, its answer is 401.
                get("/v1/status").catch(() => {});
              }

              #warn(seconds) {
                if (seconds === null && !this.#isWarning) return;
                this.#isWarning = seconds !== null;
                this.dispatchEvent(new CustomEvent("warning", { detail: seconds }));
              }
            }

            export const session = new Session();

            """##
        ),
        (
            "status-panels.js", "1fdf4962497ec15a541a9f4e8c0fcbef",
            ##"""
            // The panels of the view Now: what will end, the nodes, the clock and the listeners.

            import { el, facts, table } from "./dom.js";
            import { bytes, date, dateAndTime, duration, untilThen, whole, words } from "./format.js";

            const WEEK = 7 * 86400;
            const MONTH = 30 * 86400;

            const panel = (title, ...content) => el("section", { class: "panel" }, el("h2", {}, title), content);

            /** Certificates, credentials and everything else that has an end, the next one first. */
            export function endsPanel({ ends, now }) {
              const rows = [...(ends ?? [])]
                .sort((one, other) => one.endsAt - other.endsAt)
                .map(({ kind, name, endsAt }) => [
                  el("span", {}, name, el("span", { class: "left" }, words(kind))),
                  date(endsAt),
                  el("span", { class: `tag ${endsTone(endsAt - now)}` }, untilThen(endsAt, now)),
                ]);
              return panel(
                "Certificates and credentials",
                rows.length
                  ? table("What will end", [["Name"], ["Ends"], ["Remaining", "act"]], rows)
                  : el("p", { class: "empty" }, "Nothing here has an end."),
              );
            }

            const endsTone = (seconds) => (seconds < WEEK ? "bad" : seconds < MONTH ? "warn" : "good");

            export function nodesPanel({ nodes, now, node }) {
              const rows = (nodes ?? []).map((one) => [
                el(
                  "span",
                  {},
                  el("span", { class: "mono" }, one.node),
                  one.isThis && [" ", el("span", { class: "tag" }, "this node")],
                ),
                one.isThis ? "now" : isKnown(one.seenAt) ? seen(one.seenAt, now) : "–",
                isKnown(one.clockOffsetSeconds) ? signed(one.clockOffsetSeconds) : "–",
                isKnown(one.ledgerLagRows) ? `${whole(one.ledgerLagRows)} rows` : "–",
              ]);
              const columns = [["Node"], ["Seen", "number"], ["Clock offset", "number"], ["Ledger lag", "number"]];
              return panel(
                "Nodes",
                rows.length
                  ? table("Nodes", columns, rows)
                  : el("p", { class: "empty" }, "This is the only node: ", el("span", { class: "mono" }, node ?? "no name"), "."),
              );
            }

            const isKnown = (value) => value !== null && value !== undefined;
            const seen = (seenAt, now) => (now - seenAt < 2 ? "now" : `${duration(now - seenAt)} ago`);
            const signed = (seconds) => `${seconds < 0 ? "−" : "+"}${duration(Math.abs(seconds))}`;

            export function clockPanel({ clock, memory, now }) {
              const used = memory && `${bytes(memory.charged)} of ${bytes(memory.budget)}`;
              return panel(
                "Clock and memory",
                facts([
                  ["Server time", dateAndTime(now)],
                  ["Clock", clock?.state && words(clock.state)],
                  ["Charged memory", used],
                ]),
              );
            }

            export function listenersPanel({ listeners }) {
              if (!listeners?.length) return null;
              return panel("Listeners", el("ul", { class: "stack" }, listeners.map(listener)));
            }

            /** A listener is a text, or an object whose members are shown as they are. */
            function listener(one) {
              if (typeof one === "string") return el("li", {}, el("code", {}, one));
              const { name, address, ...more } = one;
              const others = Object.entries(more).filter(([, value]) => ["string", "number", "boolean"].includes(typeof value));
              return el(
                "li",
                { class: "row" },
                name && el("span", {}, name),
                address && el("code", {}, address),
                others.map(
                  ([key, value]) =>
                    value !== false && el("span", { class: "tag" }, value === true ? words(key) : `${words(key)} ${value}`),
                ),
              );
            }

            """##
        ),
        (
            "theme.css", "4174b9c2506afa63425f16165c9fe463",
            ##"""
            /* Colours, type and the frame of the page. Each colour has a value for light and one for dark. */

            :root {
              color-scheme: light dark;
              --paper: light-dark(#f4f5f3, #121517);
              --surface: light-dark(#ffffff, #1a1e21);
              --sunk: light-dark(#eceeeb, #14181a);
              --ink: light-dark(#191d21, #e7eaec);
              --muted: light-dark(#545c66, #a3adb6);
              --line: light-dark(#d8dcd7, #2e3539);
              --edge: light-dark(#7d8790, #78838c);
              --accent: light-dark(#0b5f66, #63c7cf);
              --accent-soft: light-dark(#dcedee, #14363a);
              --on-accent: light-dark(#ffffff, #0c1416);
              --good: light-dark(#17693f, #66d39a);
              --good-soft: light-dark(#e0f1e7, #14301f);
              --warn: light-dark(#7a4b00, #edbb5a);
              --warn-soft: light-dark(#fbeed5, #38290c);
              --bad: light-dark(#a8201a, #ff938a);
              --bad-soft: light-dark(#fbe4e1, #3d1815);
              --tone-1: light-dark(#0b6f78, #4fc3cd);
              --tone-2: light-dark(#b35309, #f0a45d);
              --tone-3: light-dark(#5b4bc4, #a99cff);
              --tone-4: light-dark(#a8325f, #f28bb0);
              --tone-5: light-dark(#4f7a12, #a5cf5b);
              --tone-6: light-dark(#8a6a00, #e3c34f);
              --tone-7: light-dark(#5f6871, #a9b3bb);
              --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif;
              --mono: ui-monospace, "SF Mono", "Cascadia Mono", "Roboto Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
              --gap: 1rem;
              --radius: 8px;
            }

            *, *::before, *::after { box-sizing: border-box; }

            [hidden] { display: none !important; }

            html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }

            body {
              margin: 0;
              background: var(--paper);
              color: var(--ink);
              font: 400 0.9375rem/1.5 var(--sans);
              font-variant-numeric: tabular-nums;
            }

            h1, h2, h3, p, ul, ol, dl, dd, figure, fieldset, legend, table { margin: 0; padding: 0; border: 0; }

            h1 { font-size: 1.375rem; font-weight: 650; line-height: 1.25; letter-spacing: -0.01em; }
            h2 { font-size: 1rem; font-weight: 650; line-height: 1.3; }
            h3 { font-size: 0.875rem; font-weight: 600; line-height: 1.3; }
            ul, ol { list-style: none; }
            a { color: var(--accent); text-underline-offset: 0.15em; }
            code, .mono { font-family: var(--mono); font-size: 0.8667em; overflow-wrap: anywhere; }

            :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
            /* Headings get the focus after a change of the view, and need no frame: they cannot be used. */
            main:focus, h1:focus, h2:focus { outline: none; }

            .icon {
              width: 1.125rem;
              height: 1.125rem;
              flex: none;
              fill: none;
              stroke: currentColor;
              stroke-width: 2;
              stroke-linecap: round;
              stroke-linejoin: round;
            }

            .unseen {
              position: absolute;
              width: 1px;
              height: 1px;
              overflow: hidden;
              clip-path: inset(50%);
              white-space: nowrap;
            }

            .skip { position: absolute; left: 0.5rem; top: -4rem; z-index: 3; padding: 0.5rem 0.75rem; background: var(--surface); }
            .skip:focus { top: 0.5rem; }

            .top {
              display: flex;
              align-items: center;
              gap: 0.25rem 1.5rem;
              padding: 0 1.5rem;
              background: var(--surface);
              border-bottom: 1px solid var(--line);
            }

            .brand { display: flex; align-items: center; gap: 0.5rem; font-weight: 650; min-width: 0; }
            .brand .icon { color: var(--accent); width: 1.375rem; height: 1.375rem; }
            .node { font-weight: 400; color: var(--muted); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }

            .nav { display: flex; flex: 1; gap: 0.25rem; }
            .nav a {
              padding: 0.875rem 0.75rem 0.75rem;
              border-bottom: 2px solid transparent;
              color: var(--muted);
              font-weight: 550;
              text-decoration: none;
              white-space: nowrap;
            }
            .nav a:hover { color: var(--ink); }
            .nav a[aria-current] { color: var(--ink); border-bottom-color: var(--accent); }
            .nav a:focus-visible { outline-offset: -3px; }

            .who { display: flex; align-items: center; gap: 0.75rem; white-space: nowrap; }
            .who .roles { color: var(--muted); font-size: 0.8125rem; }

            main { display: block; max-width: 100rem; margin: 0 auto; padding: 1.25rem 1.5rem 3rem; }
            .view { display: grid; gap: var(--gap); grid-template-columns: minmax(0, 1fr); }
            .foot { color: var(--muted); font-size: 0.8125rem; }

            @media (max-width: 46rem) {
              .top { flex-wrap: wrap; padding: 0.5rem 0.75rem 0; }
              .brand { flex: 1 0 auto; }
              .who { flex: 1 0 auto; justify-content: flex-end; }
              .nav { order: 3; flex: 1 0 100%; gap: 0; justify-content: space-between; }
              .nav a { padding: 0.625rem 0.375rem 0.5rem; font-size: 0.875rem; }
              .who .roles { display: none; }
              main { padding: 1rem 0.75rem 3rem; }
            }

            @media (prefers-reduced-motion: no-preference) {
              .nav a, .button, .skip { transition: color 120ms, background-color 120ms, border-color 120ms; }
              .dot.live::before { animation: beat 2.4s ease-in-out infinite; }
            }

            @keyframes beat { 50% { opacity: 0.35; } }

            """##
        ),
        (
            "timeline.js", "082ff61c92bf74931eabbbab702e23ff",
            ##"""
            // What happened, from the ledger.

            import { get } from "./api.js";
            import { problem } from "./dialogs.js";
            import { button, el, facts, fill } from "./dom.js";
            import { dateAndTime, day, duration, timeOfDay, words } from "./format.js";
            import { searchFor } from "./kinds.js";
            import { sentence } from "./ledger-words.js";

            const PAGE_SIZE = 50;

            const TONES = {
              licenseIssued: "good",
              licenseRenewed: "good",
              tokenMinted: "good",
              syncReportAccepted: "good",
              licenseRefused: "bad",
              revoked: "warn",
              revocationLifted: "warn",
              deviceRemoved: "warn",
              playbackEnded: "warn",
              rentalForgotten: "warn",
              keyRevealed: "warn",
              keyWithdrawn: "warn",
              keyDeleted: "warn",
              storeRestored: "warn",
              ledgerRejoined: "warn",
            };

            /** Members that the line itself shows. */
            const SHOWN_ABOVE = new Set(["text", "at", "time", "kind"]);
            const LABELS = {
              sequence: "Row",
              node: "Node",
              license: "Licence",
              previous: "Licence before",
              kid: "Key id",
              key: "Key id",
              content: "Content",
              subject: "Subject",
              device: "Device",
              token: "Token id",
              cookie: "Cookie",
              detail: "Detail",
              lease: "Lease",
              rental: "Rental",
              until: "Ends",
              playback: "Playback",
              renewAfter: "Renew after",
              actor: "By",
              request: "Request",
              report: "Report",
            };
            const LINKED = {
              license: "license",
              previous: "license",
              kid: "key",
              key: "key",
              content: "content",
              request: "request",
            };
            const IDS = new Set(["subject", "device", "token", "cookie"]);
            const SECONDS = new Set(["lease", "rental", "playback"]);

            /** A panel that reads rows of the ledger by pages. */
            export function timeline(query) {
              const list = el("div", {});
              const more = el("div", { class: "row" });
              const state = { day: null, group: null, count: 0 };
              load(list, more, state, query, null);
              return el("section", { class: "panel" }, el("h2", {}, "What happened"), list, more);
            }

            async function load(list, more, state, query, after) {
              fill(more, el("p", { class: "empty", role: "status" }, "Reading the ledger…"));
              try {
                const { entries, next, isComplete, order } = await get("/v1/ledger", { ...query, after, limit: PAGE_SIZE });
                for (const entry of entries) append(list, state, entry);
                const isOldestFirst = order && order !== "newestFirst" && order !== "newest";
                fill(
                  more,
                  state.count === 0 &&
                    el("p", { class: "empty" }, next ? "Nothing found so far." : "The ledger has nothing about this."),
                  state.count > 0 && !next && isComplete !== false && el("p", { class: "hint" }, "That is all."),
                  isComplete === false &&
                    el("p", { class: "hint" }, "The search has read as many rows as one request may. Continue to read more."),
                  next &&
                    button(state.count === 0 || isComplete === false ? "Continue" : isOldestFirst ? "Later" : "Earlier", () =>
                      load(list, more, state, query, next),
                    ),
                );
              } catch (error) {
                fill(
                  more,
                  problem(error),
                  button("Try again", () => load(list, more, state, query, after)),
                );
              }
            }

            /** Rows of one day stand under its name. */
            function append(list, state, entry) {
              const name = day(entry.at);
              if (name !== state.day) {
                state.day = name;
                state.group = el("ol", { class: "timeline" });
                list.append(el("h3", { class: "day" }, name), state.group);
              }
              state.group.append(line(entry));
              state.count += 1;
            }

            function line(entry) {
              const members = Object.keys(entry).filter((name) => !SHOWN_ABOVE.has(name));
              return el(
                "li",
                { class: TONES[entry.kind] ?? "" },
                el("div", { class: "what" }, timeOfDay(entry.at), el("span", { class: "said" }, sentence(entry))),
                el(
                  "details",
                  {},
                  el("summary", {}, "Details"),
                  facts([
                    ["Kind", words(entry.kind)],
                    ["Time", dateAndTime(entry.at)],
                    ...members.map((name) => [LABELS[name] ?? words(name), value(name, entry[name])]),
                  ]),
                ),
              );
            }

            function value(name, content) {
              if (content === null || content === undefined || content === "") return null;
              if (LINKED[name])
                return el("a", { class: name === "content" ? "" : "mono", href: searchFor(LINKED[name], content) }, content);
              if (IDS.has(name)) return el("span", { class: "mono" }, content);
              if (SECONDS.has(name) && typeof content === "number") return duration(content);
              if (name === "until" || name === "renewAfter") return dateAndTime(content);
              if (typeof content !== "object") return String(content);
              const parts = Object.entries(content).filter(
                ([, one]) => one !== null && one !== "" && !(Array.isArray(one) && !one.length),
              );
              return parts.length
                ? facts(parts.map(([key, one]) => [words(key), Array.isArray(one) ? one.join(", ") : String(one)]))
                : null;
            }

            """##
        ),
        (
            "views.css", "a5b12c37a4a3484d30729035abb48d96",
            ##"""
            /* What only one view has. */

            /* Log-in */
            .login { width: min(24rem, 100%); margin: 12vh auto 0; }
            .login .panel { padding: 1.5rem; }
            .login h1 { display: flex; align-items: center; gap: 0.625rem; margin-bottom: 0.25rem; }
            .login h1 .icon { width: 1.75rem; height: 1.75rem; color: var(--accent); }
            .login form { margin-top: 1.25rem; }
            .wrong { color: var(--bad); font-weight: 550; }

            /* Now */
            .tiles {
              display: grid;
              gap: var(--gap);
              grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr));
              align-items: start;
            }
            .parts { display: grid; gap: 0.625rem; grid-template-columns: minmax(0, 1fr); }
            .left { display: block; color: var(--muted); font-size: 0.8125rem; }

            /* Find */
            .search { display: grid; gap: 0.75rem; grid-template-columns: 12rem minmax(0, 1fr) auto; align-items: end; }
            .search .more { grid-area: 2 / 2; }
            .search .button { grid-area: 1 / 3; }
            .day { margin: 1rem 0 0.25rem; color: var(--muted); font-size: 0.8125rem; font-weight: 600; }
            .day:first-child { margin-top: 0; }
            .timeline { border-left: 2px solid var(--line); margin-left: 0.4375rem; }
            .timeline > li { position: relative; padding: 0.375rem 0 0.375rem 1.25rem; }
            .timeline > li::before {
              content: "";
              position: absolute;
              left: -0.4375rem;
              top: 0.8125rem;
              width: 0.75rem;
              height: 0.75rem;
              border: 2px solid var(--surface);
              border-radius: 50%;
              background: var(--edge);
            }
            .timeline > li.good::before { background: var(--good); }
            .timeline > li.warn::before { background: var(--warn); }
            .timeline > li.bad::before { background: var(--bad); }
            .timeline .what { display: grid; grid-template-columns: 3.75rem minmax(0, 1fr); align-items: baseline; gap: 0 0.75rem; }
            .timeline time { color: var(--muted); font-size: 0.8125rem; }
            .timeline .said { overflow-wrap: anywhere; }
            .timeline details { margin-top: 0.125rem; font-size: 0.875rem; }
            .timeline details .facts { margin: 0.375rem 0 0.25rem; }
            summary { width: fit-content; color: var(--accent); font-size: 0.8125rem; cursor: pointer; }

            /* Why */
            .ask { display: grid; gap: 0.75rem; grid-template-columns: minmax(0, 1fr); }
            .ask .line {
              display: grid;
              gap: 0.75rem;
              grid-template-columns: repeat(auto-fit, minmax(min(100%, 10rem), 1fr));
              align-items: end;
            }
            .checks td:first-child { width: 14rem; }
            .checks td:nth-child(2) { width: 9rem; }
            .verdict { display: inline-flex; align-items: center; gap: 0.375rem; font-weight: 550; }
            .verdict .icon { width: 1rem; height: 1rem; }
            .verdict.good .icon { color: var(--good); }
            .verdict.bad { color: var(--bad); }
            .verdict.none { color: var(--muted); font-weight: 400; }
            .because + .because { margin-top: 0.125rem; }
            .because b { font-weight: 550; color: var(--muted); }

            /* Contents */
            .filter { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: end; }
            .filter .field { flex: 1 1 14rem; max-width: 26rem; }

            @media (max-width: 46rem) {
              .login { margin-top: 2rem; }
              .search { grid-template-columns: minmax(0, 1fr); }
              .search .more, .search .button { grid-area: auto; }
              .checks td:first-child, .checks td:nth-child(2) { width: auto; }
            }

            """##
        ),
        (
            "why.js", "5f4c895aae0142b4f41e6a62dbd3833a",
            ##"""
            // The view Why: the cause of one refused request, or every check of a token and an SPC.

            import { get, post } from "./api.js";
            import { problem } from "./dialogs.js";
            import { el, field, fill, say } from "./dom.js";
            import { explanationReport } from "./explanation.js";
            import { refusalReport } from "./refusals.js";
            import { session } from "./session.js";

            export const why = { name: "why", label: "Why", permission: "explain", open };

            /** A larger file is no SPC. */
            const SPC_SIZE_MAXIMUM = 1 << 20;

            function open(parameters) {
              const results = el("div", { class: "stack" });
              const asked = byRequest(results);
              const update = (changed) => {
                const request = changed.get("request");
                if (request) asked.ask(request);
              };
              update(parameters);
              return {
                element: el(
                  "div",
                  { class: "view" },
                  el("h1", {}, "Why"),
                  el(
                    "p",
                    { class: "lead" },
                    "Ask why a request was refused, or what a token and an SPC would get. ",
                    "Nothing is issued, and nothing of what you enter is stored.",
                  ),
                  el("div", { class: "pair" }, session.can("look") && asked.element, byMessage(results)),
                  results,
                ),
                update,
              };
            }

            /** Carries out a question, and shows its answer or its failure in the place of the one before. */
            async function show(place, button, ask) {
              button.disabled = true;
              try {
                fill(place, await ask());
                place.firstElementChild?.scrollIntoView({ block: "nearest" });
                say(place.querySelector("h2, .banner, p")?.textContent ?? "");
              } catch (error) {
                fill(place, problem(error));
              } finally {
                button.disabled = false;
              }
            }

            function byRequest(results) {
              const id = field(
                "Request id",
                el("input", {
                  name: "request",
                  required: true,
                  autocomplete: "off",
                  spellcheck: false,
                  maxLength: 64,
                  placeholder: "5f0c2b7e91d3a846",
                }),
                "From the header X-Request-Id, from request_id of the error, or from the log. The id of a trace works too.",
              );
              const button = el("button", { class: "button main", type: "submit" }, "Explain");
              const ask = () =>
                show(results, button, async () => {
                  try {
                    return refusalReport(await get(`/v1/refusals/${encodeURIComponent(id.control.value.trim())}`));
                  } catch (error) {
                    if (error.status !== 404) throw error;
                    return el(
                      "p",
                      { class: "panel empty" },
                      "This node remembers no refusal of this request. It keeps the last 10,000. ",
                      "Another node may have refused it, or the request was answered.",
                    );
                  }
                });
              const submit = (event) => {
                event.preventDefault();
                ask();
              };
              return {
                element: el(
                  "form",
                  { class: "panel ask", onsubmit: submit },
                  el("h2", {}, "A refused request"),
                  id,
                  el("div", { class: "row" }, button),
                ),
                ask(request) {
                  id.control.value = request;
                  ask();
                },
              };
            }

            function byMessage(results) {
              const token = field(
                "Token",
                el("textarea", { name: "token", required: true, autocomplete: "off", spellcheck: false }),
                "The token of the request, in its compact form.",
              );
              const spc = field(
                "SPC",
                el("textarea", { name: "spc", autocomplete: "off", spellcheck: false }),
                "In Base64, or as a file. Without it, only the token is checked.",
              );
              const file = field(
                "SPC as a file",
                el("input", { type: "file", onchange: () => readFile(file.control, spc.control, results) }),
              );
              const offline = el("input", { type: "checkbox", name: "offline", id: "offline" });
              const address = field(
                "Client's address",
                el("input", { name: "address", autocomplete: "off", spellcheck: false, placeholder: "203.0.113.7" }),
              );
              const country = field(
                "Country",
                el("input", { name: "country", autocomplete: "off", spellcheck: false, maxLength: 2, placeholder: "DE" }),
              );
              const button = el("button", { class: "button main", type: "submit" }, "Explain");
              const submit = (event) => {
                event.preventDefault();
                const question = { token: token.control.value.trim(), offline: offline.checked };
                if (spc.control.value.trim()) question.spc = spc.control.value.replace(/\s/g, "");
                if (address.control.value.trim()) question.address = address.control.value.trim();
                if (country.control.value.trim()) question.country = country.control.value.trim().toUpperCase();
                show(results, button, async () => explanationReport(await post("/v1/explain", question)));
              };
              return el(
                "form",
                { class: "panel ask", onsubmit: submit },
                el("h2", {}, "A token and an SPC"),
                token,
                spc,
                file,
                el("div", { class: "line" }, address, country),
                el(
                  "div",
                  { class: "check" },
                  offline,
                  el("label", { for: "offline" }, "The device asks for a key to keep (offline)"),
                ),
                el("div", { class: "row" }, button),
              );
            }

            /** Puts a file into the field as Base64. A file that has Base64 itself is taken as it is. */
            async function readFile(input, target, results) {
              const [file] = input.files;
              if (!file) return;
              if (file.size > SPC_SIZE_MAXIMUM) {
                input.value = "";
                fill(results, problem(new Error("This file is larger than 1 MiB, so it is no SPC.")));
                return;
              }
              const bytes = new Uint8Array(await file.arrayBuffer());
              const text = String.fromCharCode(...bytes.subarray(0, 64));
              target.value = /^[A-Za-z0-9+/=\s_-]+$/.test(text) ? new TextDecoder().decode(bytes).trim() : base64(bytes);
            }

            function base64(bytes) {
              let text = "";
              for (let index = 0; index < bytes.length; index += 8192)
                text += String.fromCharCode(...bytes.subarray(index, index + 8192));
              return btoa(text);
            }

            """##
        ),
    ]
}

// What can be searched for, and how a pasted text is understood.

/** The name of a kind is the parameter of /v1/ledger, or of /v1/refusals for a code. */
export const KINDS = [
  { name: "request", label: "Request id", example: "5f0c2b7e91d3a846" },
  { name: "license", label: "License id", example: "018bcfe568fa00000000000000000001" },
  { name: "subject", label: "Subject", example: "viewer-7, or pseudonym:…" },
  { name: "device", label: "Device", example: "HU in hexadecimal, or pseudonym:…" },
  { name: "playback", label: "Playback", example: "as a list of playbacks shows it" },
  { name: "content", label: "Content", example: "movie-42" },
  { name: "key", label: "Key id", example: "0f5d8c52-0d8d-4ad0-9f0a-3f1f7f0d9a41" },
  { name: "code", label: "Refusal code", example: "token_expired" },
];

export const labelOf = (kind) => KINDS.find(({ name }) => name === kind).label;

/** The header of a token in compact form is a JSON object in base64url, so it begins with these letters. */
const TOKEN = /^(?:bearer\s+)?(eyJ[\w-]*(?:\.[\w-]*){2,4})$/i;
/** A token in a header field, a command or JSON. */
const CARRIED_TOKEN = /(?:^|[\s"'=:,])(eyJ[\w-]+(?:\.[\w-]*){2,4})(?![\w.-])/;
/** A line of a log or the body of an error has the id with its name. JSON within JSON has a backslash before quotes. */
const NAMED_REQUEST = /\b(?:request_id|x-request-id)\\?["']?\s*[:=]\s*\\?["']?([\w.:-]{1,200})/i;
/** The id of a trace finds its newest refusal. */
const NAMED_TRACE =
  /\b(?:trace_id\\?["']?\s*[:=]\s*\\?["']?|traceparent["']?\s*[:=]\s*["']?[0-9a-f]{2}-)([0-9a-f]{32})\b/i;
/** A key URI with other text around it, as in a line of a playlist. */
const CARRIED_KEY_URI = /(?:^|[\s"'=(<,])(skd:[^\s"'<>\\]+)/i;
const KEY_NAMES = ["kid", "keyid", "key_id"];
const CONTENT_NAMES = ["contentid", "content_id", "assetid", "asset_id", "content"];

/** The token in a pasted text, or null. A token is a secret, so it never becomes part of an address. */
export const tokenIn = (text) =>
  TOKEN.exec(withoutQuotes(text.trim()))?.[1] ?? CARRIED_TOKEN.exec(text)?.[1] ?? null;

/** What a pasted text may be, the most probable first: `{ kind, text }` with the text in the server's spelling. */
export function guesses(pasted) {
  const text = withoutQuotes(pasted.trim());
  const named = NAMED_REQUEST.exec(pasted)?.[1] ?? NAMED_TRACE.exec(pasted)?.[1];
  if (named) return [{ kind: "request", text: named }];
  const uri = /^skd:/i.test(text) ? text : CARRIED_KEY_URI.exec(text)?.[1];
  if (uri) return ofKeyURI(uri);
  const as = (...kinds) => kinds.map((kind) => ({ kind, text }));
  if (/^pseudonym:/.test(text)) return as("subject", "device");
  if (/^[0-9a-f]{64}-\d+$/i.test(text)) return as("playback");
  if (/^[0-9a-f]{40}$/i.test(text)) return as("device");
  if (/^[0-9a-f]{16}$/i.test(text)) return as("request");
  const key = keyID(text);
  const asKey = key ? [{ kind: "key", text: key }] : [];
  const asPseudonym = ["subject", "device"].map((kind) => ({ kind, text: pseudonym(text.toLowerCase()) }));
  // The 32 digits of a license, of a trace, of a key and of a pseudonym look alike.
  if (/^[0-9a-f]{32}$/i.test(text)) return [...as("license"), ...asKey, ...as("request"), ...asPseudonym];
  if (/^[0-9a-f]{64}$/i.test(text)) return asPseudonym;
  if (key && !/^[\w-]{22}$/.test(text)) return asKey;
  if (/^[a-z][a-z0-9]*(_[a-z0-9]+)+$/.test(text)) return as("code", "content", "subject", "request");
  if (/^[\w-]{26}[AEIMQUYcgkosw048]$/.test(text)) return as("device", "content", "subject", "request");
  return [...asKey, ...as("content", "subject", "request")];
}

/** The pseudonym of a subject or a device, as the server takes it. The ledger shows the first 32 digits of it. */
export const pseudonym = (digits) => `pseudonym:${digits}`;

/** Whether the text is the first half of a pseudonym, which is all that the ledger has. */
export const isHalfPseudonym = (text) => /^pseudonym:[0-9a-f]{32}$/i.test(text);

/** A text without what stands around it in a line: quotes, brackets, a comma. Markup is left as it is. */
function withoutQuotes(text) {
  const inner = text.replace(/^["'`“”‘’<([]+|[>"'`“”‘’)\],;]+$/g, "").trim();
  return /[<>"]/.test(inner) ? text : inner;
}

/** The most bytes of a name or an id. */
const TEXT_MAXIMUM = 200;

/** Why a text can be no name and no id; null if it can. */
export function faultOf(text) {
  const size = new TextEncoder().encode(text).length;
  if (size <= TEXT_MAXIMUM) return null;
  return `This text has ${size.toLocaleString("en")} bytes. Names and ids have at most ${TEXT_MAXIMUM}.`;
}

/** A key id in any spelling (UUID, hexadecimal, Base64 of 16 bytes) as a UUID; null for another text. */
function keyID(text) {
  const digits = text.replace(/^urn:uuid:|^0x/i, "").replace(/[{}\s:-]/g, "");
  if (/^[0-9a-f]{32}$/i.test(digits)) return uuid(digits.toLowerCase());
  // The last letter of 16 bytes has four bits that are zero.
  const base64 = text.replaceAll("-", "+").replaceAll("_", "/");
  if (!/^[A-Za-z0-9+/]{21}[AQgw](==)?$/.test(base64)) return null;
  const bytes = [...atob(base64.slice(0, 22))].map((one) => one.charCodeAt(0).toString(16).padStart(2, "0"));
  return uuid(bytes.join(""));
}

const uuid = (digits) => digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");

/** A key id in a key URI binds; without one, its content is what it names. */
function ofKeyURI(uri) {
  const [path, query = ""] = uri.replace(/^skd:(\/\/)?/i, "").split(/[?#]/);
  const decode = (part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  };
  const parts = path.split("/").map(decode).filter(Boolean);
  const named = (names) =>
    [...new URLSearchParams(query)].find(([name, value]) => value && names.includes(name.toLowerCase()))?.[1];
  const key = [named(KEY_NAMES), ...parts].map((one) => one && keyID(one)).find(Boolean);
  const content = named(CONTENT_NAMES) ?? parts.findLast((one) => !keyID(one));
  return [key && { kind: "key", text: key }, content && { kind: "content", text: content }].filter(Boolean);
}

/** The address of a search in this page. */
export function searchFor(kind, value, issuer = null) {
  const pairs = [[kind, value], ...(issuer ? [["issuer", issuer]] : [])];
  return `#find?${pairs.map(([name, text]) => `${name}=${encodeURIComponent(text)}`).join("&")}`;
}

/** The address of the refusals that a series counts, or of all. */
export const refusalsOf = (series, seconds = 3600) => `#find?refused=${series}&within=${seconds}`;

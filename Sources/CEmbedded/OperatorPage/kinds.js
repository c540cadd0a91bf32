// What can be searched for, and how a pasted text is understood.

/** The name of a kind is the parameter of /v1/ledger, or of /v1/refusals for a code. */
export const KINDS = [
  { name: "request", label: "Request id", example: "5f0c2b7e91d3a846" },
  { name: "license", label: "Licence id", example: "018bcfe568fa00000000000000000001" },
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
/** A line of a log or the body of an error has the id with its name. */
const NAMED_REQUEST = /\b(?:request_id|x-request-id)["']?\s*[:=]\s*["']?([\w.:-]{1,200})/i;
const KEY_NAMES = ["kid", "keyid", "key_id"];
const CONTENT_NAMES = ["contentid", "content_id", "assetid", "asset_id", "content"];

/** The token in a pasted text, or null. A token is a secret, so it never becomes part of an address. */
export const tokenIn = (text) => TOKEN.exec(text.trim())?.[1] ?? null;

/** What a pasted text may be, the most probable first: `{ kind, text }` with the text in the server's spelling. */
export function guesses(pasted) {
  const text = pasted.trim().replace(/^["'<([]+|[>"')\],;]+$/g, "");
  const named = NAMED_REQUEST.exec(pasted)?.[1];
  if (named) return [{ kind: "request", text: named }];
  if (/^skd:/i.test(text)) return ofKeyURI(text);
  const as = (...kinds) => kinds.map((kind) => ({ kind, text }));
  if (/^pseudonym:/.test(text)) return as("subject", "device");
  if (/^[0-9a-f]{64}-\d+$/i.test(text)) return as("playback");
  if (/^[0-9a-f]{40}$/i.test(text)) return as("device");
  if (/^[0-9a-f]{16}$/i.test(text)) return as("request");
  const key = keyID(text);
  const asKey = key ? [{ kind: "key", text: key }] : [];
  // The 32 digits of a licence, of a trace and of a key look alike.
  if (/^[0-9a-f]{32}$/i.test(text)) return [...as("license"), ...asKey, ...as("request")];
  if (key && !/^[\w-]{22}$/.test(text)) return asKey;
  if (/^[a-z][a-z0-9]*(_[a-z0-9]+)+$/.test(text)) return as("code", "content", "subject", "request");
  if (/^[\w-]{26}[AEIMQUYcgkosw048]$/.test(text)) return as("device", "content", "subject", "request");
  return [...asKey, ...as("content", "subject", "request")];
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

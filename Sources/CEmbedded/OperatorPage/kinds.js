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

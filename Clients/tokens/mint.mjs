import { createPrivateKey, sign } from "node:crypto";
import { readFileSync } from "node:fs";

function mint(key, kid, claims) {
    const encoded = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const signed = `${encoded({ alg: "ES256", kid })}.${encoded(claims)}`;
    // Without `dsaEncoding`, the signature would be DER. A JWT has r and s, 32 bytes each.
    const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
    return `${signed}.${signature.toString("base64url")}`;
}

const key = createPrivateKey(readFileSync("portal-key.pem"));
const now = Math.floor(Date.now() / 1000); // seconds since 1970, not milliseconds
const claims = {
    iss: "https://portal.example", aud: "latchkey", sub: "viewer-7", iat: now, exp: now + 300,
    rights: [{ content: "movie-42", lease: 300 }],
};
console.log(mint(key, "portal-1", claims));

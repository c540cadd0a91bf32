// Makes a token for one content: node mint.mjs KEY KID ISSUER CONTENT SUBJECT
import { createPrivateKey, sign } from "node:crypto";
import { readFileSync } from "node:fs";

const encoded = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

export function mint(key, kid, issuer, content, subject) {
    const now = Math.floor(Date.now() / 1000);
    const header = { alg: "ES256", typ: "JWT", kid };
    const claims = {
        iss: issuer, aud: "latchkey", sub: subject, iat: now, exp: now + 300,
        rights: [{ content, lease: 300 }],
    };
    const signed = `${encoded(header)}.${encoded(claims)}`;
    // Without `dsaEncoding`, the signature would be DER. A JWT has r and s, 32 bytes each.
    const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
    return `${signed}.${signature.toString("base64url")}`;
}

const [file, kid, issuer, content, subject] = process.argv.slice(2);
console.log(mint(createPrivateKey(readFileSync(file)), kid, issuer, content, subject));

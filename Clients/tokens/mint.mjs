// Makes a token for one content: node mint.mjs KEY KID ISSUER CONTENT SUBJECT
import { createPrivateKey, sign } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { pathToFileURL } from "node:url";

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

// Your service imports `mint`. Then nothing else runs.
const [, script, ...words] = process.argv;
if (script && import.meta.url === pathToFileURL(realpathSync(script)).href) {
    if (words.length !== 5) {
        console.error("usage: node mint.mjs KEY KID ISSUER CONTENT SUBJECT");
        process.exit(2);
    }
    const [file, kid, issuer, content, subject] = words;
    console.log(mint(createPrivateKey(readFileSync(file)), kid, issuer, content, subject));
}

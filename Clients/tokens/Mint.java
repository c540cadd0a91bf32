// Makes a token for one content: java Mint.java KEY KID ISSUER CONTENT SUBJECT
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Instant;
import java.util.Base64;

public final class Mint {
    static String encoded(byte[] data) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(data);
    }

    static String encoded(String text) {
        return encoded(text.getBytes(StandardCharsets.UTF_8));
    }

    /** A text in JSON. */
    static String quoted(String text) {
        var result = new StringBuilder("\"");
        for (char unit : text.toCharArray()) {
            if (unit < 0x20 || unit == '"' || unit == '\\') {
                result.append(String.format("\\u%04x", (int) unit));
            } else {
                result.append(unit);
            }
        }
        return result.append('"').toString();
    }

    static String mint(PrivateKey key, String kid, String issuer, String content, String subject) throws Exception {
        long now = Instant.now().getEpochSecond();
        var header = "{\"alg\":\"ES256\",\"typ\":\"JWT\",\"kid\":%s}".formatted(quoted(kid));
        var claims = """
            {"iss":%s,"aud":"latchkey","sub":%s,"iat":%d,"exp":%d,"rights":[{"content":%s,"lease":300}]}
            """.strip().formatted(quoted(issuer), quoted(subject), now, now + 300, quoted(content));
        var signed = encoded(header) + "." + encoded(claims);
        // "SHA256withECDSA" would write DER. A JWT has r and s, 32 bytes each.
        var signature = Signature.getInstance("SHA256withECDSAinP1363Format");
        signature.initSign(key);
        signature.update(signed.getBytes(StandardCharsets.US_ASCII));
        return signed + "." + encoded(signature.sign());
    }

    public static void main(String[] words) throws Exception {
        if (words.length != 5) {
            System.err.println("usage: java Mint.java KEY KID ISSUER CONTENT SUBJECT");
            System.exit(2);
        }
        var pem = Files.readString(Path.of(words[0])).replaceAll("-----[A-Z ]+-----|\\s", "");
        var specification = new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem));
        var key = KeyFactory.getInstance("EC").generatePrivate(specification);
        System.out.println(mint(key, words[1], words[2], words[3], words[4]));
    }
}

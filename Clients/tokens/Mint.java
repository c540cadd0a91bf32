import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Instant;
import java.util.Base64;

public final class Mint {
    /** A text in JSON. */
    static String quoted(String text) {
        var result = new StringBuilder("\"");
        for (char unit : text.toCharArray()) {
            boolean isEscaped = unit < 0x20 || unit == '"' || unit == '\\';
            result.append(isEscaped ? String.format("\\u%04x", (int) unit) : String.valueOf(unit));
        }
        return result.append('"').toString();
    }

    static String mint(PrivateKey key, String kid, String claims) throws Exception {
        var encoder = Base64.getUrlEncoder().withoutPadding();
        var header = "{\"alg\":\"ES256\",\"kid\":" + quoted(kid) + "}";
        var signed = encoder.encodeToString(header.getBytes("UTF-8")) + "."
            + encoder.encodeToString(claims.getBytes("UTF-8"));
        // "SHA256withECDSA" would write DER. A JWT has r and s, 32 bytes each.
        var signature = Signature.getInstance("SHA256withECDSAinP1363Format");
        signature.initSign(key);
        signature.update(signed.getBytes("UTF-8"));
        return signed + "." + encoder.encodeToString(signature.sign());
    }

    public static void main(String[] words) throws Exception {
        var pem = Files.readString(Path.of("portal-key.pem")).replaceAll("-----[A-Z ]+-----|\\s", "");
        var key = KeyFactory.getInstance("EC").generatePrivate(
            new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem)));
        long now = Instant.now().getEpochSecond(); // seconds since 1970
        var claims = """
            {"iss": "https://portal.example", "aud": "latchkey", "sub": %s, "iat": %d, "exp": %d,
             "rights": [{"content": %s, "lease": 300}]}"""
            .formatted(quoted("viewer-7"), now, now + 300, quoted("movie-42"));
        System.out.println(mint(key, "portal-1", claims));
    }
}

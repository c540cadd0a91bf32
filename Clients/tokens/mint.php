<?php
function encoded(string $data): string {
    return rtrim(strtr(base64_encode($data), '+/', '-_'), '=');
}

function mint(OpenSSLAsymmetricKey $key, string $kid, array $claims): string {
    $signed = encoded(json_encode(['alg' => 'ES256', 'kid' => $kid], JSON_THROW_ON_ERROR))
        . '.' . encoded(json_encode($claims, JSON_THROW_ON_ERROR));
    if (!openssl_sign($signed, $der, $key, OPENSSL_ALGO_SHA256)) {
        throw new RuntimeException('the token cannot be signed: ' . openssl_error_string());
    }
    // OpenSSL writes DER, with two integers. A JWT has r and s, 32 bytes each.
    $size = ord($der[3]);
    $numbers = [substr($der, 4, $size), substr($der, 6 + $size)];
    $fixed = array_map(fn($number) => str_pad(ltrim($number, "\0"), 32, "\0", STR_PAD_LEFT), $numbers);
    return $signed . '.' . encoded(implode($fixed));
}

$key = openssl_pkey_get_private((string) file_get_contents('portal-key.pem'))
    ?: throw new RuntimeException('no private key');
$now = time(); // seconds since 1970
$claims = [
    'iss' => 'https://portal.example', 'aud' => 'latchkey', 'sub' => 'viewer-7', 'iat' => $now, 'exp' => $now + 300,
    'rights' => [['content' => 'movie-42', 'lease' => 300]],
];
echo mint($key, 'portal-1', $claims), "\n";

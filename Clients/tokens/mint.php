<?php
// Makes a token for one content: php mint.php KEY KID ISSUER CONTENT SUBJECT

function encoded(string $data): string {
    return rtrim(strtr(base64_encode($data), '+/', '-_'), '=');
}

/** The signature of a JWT, r and s with 32 bytes each, from that of OpenSSL: DER with two integers. */
function rawSignature(string $der): string {
    $raw = '';
    $offset = 2;
    for ($number = 0; $number < 2; $number++) {
        $size = ord($der[$offset + 1]);
        $raw .= str_pad(ltrim(substr($der, $offset + 2, $size), "\0"), 32, "\0", STR_PAD_LEFT);
        $offset += 2 + $size;
    }
    return $raw;
}

function mint(OpenSSLAsymmetricKey $key, string $kid, string $issuer, string $content, string $subject): string {
    $now = time();
    $header = ['alg' => 'ES256', 'typ' => 'JWT', 'kid' => $kid];
    $claims = [
        'iss' => $issuer, 'aud' => 'latchkey', 'sub' => $subject, 'iat' => $now, 'exp' => $now + 300,
        'rights' => [['content' => $content, 'lease' => 300]],
    ];
    $flags = JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES;
    $signed = encoded(json_encode($header, $flags)) . '.' . encoded(json_encode($claims, $flags));
    if (!openssl_sign($signed, $der, $key, OPENSSL_ALGO_SHA256)) {
        throw new RuntimeException('the token cannot be signed: ' . openssl_error_string());
    }
    return $signed . '.' . encoded(rawSignature($der));
}

// Your service includes this file for `mint`. Then nothing else runs.
if (realpath($_SERVER['SCRIPT_FILENAME']) === __FILE__) {
    if ($argc !== 6) {
        fwrite(STDERR, "usage: php mint.php KEY KID ISSUER CONTENT SUBJECT\n");
        exit(2);
    }
    [, $file, $kid, $issuer, $content, $subject] = $argv;
    $key = openssl_pkey_get_private((string) @file_get_contents($file));
    if (!$key) {
        fwrite(STDERR, "no private key in $file\n");
        exit(1);
    }
    echo mint($key, $kid, $issuer, $content, $subject), "\n";
}

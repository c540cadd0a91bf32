package main

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"time"
)

type object map[string]any

func mint(key *ecdsa.PrivateKey, kid string, claims object) string {
	encoded := base64.RawURLEncoding.EncodeToString
	header := must(json.Marshal(object{"alg": "ES256", "kid": kid}))
	signed := encoded(header) + "." + encoded(must(json.Marshal(claims)))
	digest := sha256.Sum256([]byte(signed))
	// A JWT has r and s, 32 bytes each. `ecdsa.SignASN1` would write DER.
	r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
	signature := append(must(r, err).FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	return signed + "." + encoded(signature)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	block, _ := pem.Decode(must(os.ReadFile("portal-key.pem")))
	key := must(x509.ParsePKCS8PrivateKey(block.Bytes)).(*ecdsa.PrivateKey)
	now := time.Now().Unix() // seconds since 1970
	claims := object{
		"iss": "https://portal.example", "aud": "latchkey", "sub": "viewer-7", "iat": now, "exp": now + 300,
		"rights": []object{{"content": "movie-42", "lease": 300}},
	}
	fmt.Println(mint(key, "portal-1", claims))
}

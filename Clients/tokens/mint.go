// Makes a token for one content: go run mint.go KEY KID ISSUER CONTENT SUBJECT
package main

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log"
	"os"
	"time"
)

func encoded(value any) (string, error) {
	data, err := json.Marshal(value)
	return base64.RawURLEncoding.EncodeToString(data), err
}

func mint(key *ecdsa.PrivateKey, kid, issuer, content, subject string) (string, error) {
	now := time.Now().Unix()
	header, err := encoded(map[string]string{"alg": "ES256", "typ": "JWT", "kid": kid})
	if err != nil {
		return "", err
	}
	claims, err := encoded(map[string]any{
		"iss": issuer, "aud": "latchkey", "sub": subject, "iat": now, "exp": now + 300,
		"rights": []any{map[string]any{"content": content, "lease": 300}},
	})
	if err != nil {
		return "", err
	}
	signed := header + "." + claims
	digest := sha256.Sum256([]byte(signed))
	// A JWT has r and s, 32 bytes each. `ecdsa.SignASN1` would write DER.
	r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
	if err != nil {
		return "", err
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

func readKey(file string) (*ecdsa.PrivateKey, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, errors.New("no PEM in " + file)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	if key, ok := key.(*ecdsa.PrivateKey); ok {
		return key, nil
	}
	return nil, errors.New("no key for ES256 in " + file)
}

func main() {
	if len(os.Args) != 6 {
		fmt.Fprintln(os.Stderr, "usage: go run mint.go KEY KID ISSUER CONTENT SUBJECT")
		os.Exit(2)
	}
	key, err := readKey(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	token, err := mint(key, os.Args[2], os.Args[3], os.Args[4], os.Args[5])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(token)
}

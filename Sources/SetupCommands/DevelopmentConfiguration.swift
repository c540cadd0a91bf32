/// The configuration file that `latchkey init` writes.
enum DevelopmentConfiguration {
    /// The issuer whose tokens the set-up accepts.
    static let issuer = "latchkey-development"
    static let audience = "latchkey"
    static let keyID = "development-1"
    /// The packager that may ask it for content keys.
    static let packager = "development"

    static let text = """
        // Latchkey: a development set-up, made by `latchkey init`.
        //
        // This set-up serves only this machine. Apple issues the real FairPlay certificates and the application secret, under
        // its own agreement. The ones in fairplay/ are self-signed: they open no request of a real device, and the daemon
        // refuses them on any listener that is not loopback.
        //
        // Paths are relative to this file. An unknown or misspelled name is an error, which `latchkeyd --config FILE --check`
        // finds. It also checks that keys and certificates belong together.
        {
            listeners: {
                // For players and apps: POST /fps/license, GET /fps/certificate.
                // LATCHKEY_LISTEN=127.0.0.1:PORT overrides the address.
                // For HTTPS add, after the address: tls: { certificate: "tls/certificate.pem", privateKey: "tls/private-key.pem" }
                public: [{ address: "127.0.0.1:8080" }],
                // For operators: /livez, /readyz, and /metrics with `Authorization: Bearer` and the token in the file.
                // LATCHKEY_ADMIN_LISTEN=127.0.0.1:PORT overrides the address.
                admin: [{ address: "127.0.0.1:9080", tokenFile: "secrets/admin-token" }],
            },

            fairplay: {
                // An SPC names its credential by version and certificate hash: the 1024-bit certificate serves version 1,
                // the 2048-bit one version 2.
                credentials: [
                    {
                        name: "development",
                        certificate1024: "fairplay/certificate-1024.der",
                        privateKey1024: "fairplay/private-key-1024.pem",
                        certificate2048: "fairplay/certificate-2048.der",
                        privateKey2048: "fairplay/private-key-2048.pem",
                        applicationSecret: "fairplay/application-secret.hex", // ASk: 16 bytes, as hexadecimal digits
                    },
                ],
            },

            // The store has content keys sealed under this key. Without it they are lost, so keep a copy of it elsewhere.
            keys: { keyEncryptionKey: "secrets/key-encryption-key" },

            // The daemon makes the file when it first needs it.
            storage: { url: "sqlite:latchkey.db" },

            // Every license is recorded before it is given. The record is sealed under `key`, and `latchkey ledger verify` checks it.
            // It has only pseudonyms of devices and subjects, made with `pseudonymKey`.
            ledger: { key: "secrets/ledger-key", pseudonymKey: "secrets/pseudonym-key" },

            entitlement: {
                // The issuers of accepted tokens. The `kid` of a token selects a key here, and the key fixes the algorithm.
                issuers: [
                    {
                        issuer: "\(issuer)", // the token's `iss`
                        audience: "\(audience)", // and its `aud`
                        keys: [{ kid: "\(keyID)", algorithm: "ES256", key: "secrets/token-verification-key.pem" }],
                        maximumLife: "24h", // from `iat` to `exp`
                    },
                ],

                // Signs the session tokens that come with a lease and renew it. All nodes have the same key.
                sessions: { key: "secrets/session-key" },
            },

            // The packagers that may ask for content keys over HTTP. They send the secret as the password of Basic, after
            // `Authorization: Bearer`, or in `x-api-key`.
            packagers: [{ name: "\(packager)", secret: "secrets/packager", scopes: ["read", "create", "import"] }],

            // Development and load tests come from one address, with one token. Without this line an address gets 200
            // licenses a second and a subject 10, which is right for production.
            limits: { rates: { perAddress: { perSecond: 100000 }, perSubject: { perSecond: 100000 } } },

            logging: { level: "info" },
        }

        """
}

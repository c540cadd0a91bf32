import ByteCoding
import CommandLineKit
import ContentKeys
import Entitlements
import KeyCrypto
import ServiceConfiguration

/// What an operator needs before Apple's files: secrets of this installation, a configuration that explains each
/// choice, and a list of what is still missing and where it goes.
enum ProductionSetup {
    /// The folders of the set-up; some are empty, for what others deliver.
    static let folders = ["fairplay", "issuers", "secrets", "tls"]
    static let checklistName = "CHECKLIST.txt"
    /// The packages put this file into the folder of the configuration.
    static let toleratedNames: Set<String> = ["latchkey.json5.example"]

    /// All files; `directory` is their folder. Throws when OpenSSL has no randomness.
    static func make(in directory: String, with delivered: DeliveredFiles?) throws(CryptoError) -> [SetupFile] {
        [
            try .randomDigits("secrets/key-encryption-key", count: AES256GCMKey.keySize),
            try .randomDigits("secrets/master-secret", count: KeyDerivation.secretSize),
            try .randomDigits("secrets/ledger-key", count: Configuration.Ledger.keySize),
            try .randomDigits("secrets/pseudonym-key", count: Configuration.Ledger.keySize),
            try .randomDigits("secrets/session-key", count: SessionTokens.secretSize),
            try .randomText("secrets/admin-token"),
            text(checklistName, checklist(directory, with: delivered)),
            text(DevelopmentSetup.configurationName, configuration(with: delivered)),
        ] + (delivered?.files ?? [])
    }

    private static func text(_ path: String, _ text: String) -> SetupFile {
        SetupFile(path: path, contents: Array(text.utf8), isSecret: false)
    }

    /// What is done before the first start, in the order of the work.
    static func checklist(_ directory: String, with delivered: DeliveredFiles?) -> String {
        func mark(_ path: String) -> String { delivered?.has(path) ?? false ? "[x] \(path)" : "[ ] \(path)" }
        let file = Shell.quote(FilePath.resolve(DevelopmentSetup.configurationName, relativeTo: directory))
        let folder = Shell.quote(directory)
        return """
            Before the first start of Latchkey. The files go into \(directory). Those marked "secret" belong to root and the
            group of the daemon, with mode 0640:

                chown root:latchkey FILE && chmod 0640 FILE

            From Apple (developer.apple.com, FairPlay Streaming deployment package), for each deployment:
              \(certificates(delivered))
              \(mark("fairplay/application-secret.hex"))      secret: the application secret key (ASk), 32 hexadecimal digits. Apple
                                                       shows it once. Newer deployments have none: see "sdk"
            Your own, made before you asked Apple for the certificates:
              \(mark("fairplay/private-key-2048.pem"))        secret: the key of the signing request for 2048 bits
              \(mark("fairplay/private-key-1024.pem"))        secret: the key of the signing request for 1024 bits

            For clients on the Internet:
              \(mark("tls/certificate.pem"))                  the server's certificate with its chain
              \(mark("tls/private-key.pem"))                  secret

            From the service that decides who may watch (it signs the tokens):
              \(mark("issuers/portal.pem"))                   its public key; then set issuer, audience and kid in the configuration

            Then:
              [ ] read \(file): each choice is explained there
              [ ] keep a copy of \(folder)/secrets in a safe place, apart from the copies of the database. Without
                  secrets/key-encryption-key all content keys are lost. Without secrets/master-secret no key that is newer
                  than the last backup can be made again
              [ ] sudo -u latchkey latchkeyd --config \(file) --check
              [ ] systemctl enable --now latchkey.socket latchkey.service
              [ ] open the operator's page, http://127.0.0.1:9443/ on this machine, with the text of secrets/admin-token

            Then the first key and the first license. viewer-token is a file with a token of your own service. For this once you
            can also make one with the private key of its issuer, which stays off this host otherwise:
              [ ] sudo -u latchkey latchkey keys create --config \(file) --content movie-1
              [ ] latchkey token mint --config \(file) --issuer-key FILE --content movie-1 --lease 5m > viewer-token
              [ ] latchkey doctor --config \(file) --url https://keys.example.com/fps/license \\
                      --viewer-token @viewer-token --asset-id skd://movie-1
            \(delivered?.sdk == nil ? "" : proof(file))
            """
    }

    /// What takes the place of the license that `doctor` asks for.
    private static func proof(_ file: String) -> String {
        """
          [ ] sudo -u latchkey latchkey credentials prove --config \(file)
              With credentials of SDK 26, doctor asks for no license: a simulated device cannot use the library

        """
    }

    /// The lines of the certificates, which Apple issues in one file or in two.
    private static func certificates(_ delivered: DeliveredFiles?) -> String {
        guard let delivered else { return certificatesMissing }
        if delivered.has("fairplay/bundle.bin") {
            return "[x] fairplay/bundle.bin                  both certificates, as Apple issued them"
        }
        var text = certificatesMissing
        for bits in [1024, 2048] where delivered.has("fairplay/certificate-\(bits).der") {
            text = text.replacing("[ ] fairplay/certificate-\(bits)", with: "[x] fairplay/certificate-\(bits)")
        }
        return text
    }

    private static let certificatesMissing = """
        [ ] fairplay/certificate-2048.der        the certificate for SPC version 2, as Apple issued it
          [ ] fairplay/certificate-1024.der        the same for version 1; or both in one file: see "certificateBundle"
        """

    /// The credential of the configuration: what was delivered, or everything if nothing was.
    private static func credential(_ delivered: DeliveredFiles?) -> String {
        func isWanted(_ path: String) -> Bool { delivered?.has(path) ?? true }
        if let sdk = delivered?.sdk {
            return "sdk: { library: \(quoted(sdk.library)), certificates: \(quoted(sdk.certificates)) },"
        }
        var lines: [String] = []
        let isBundle = delivered?.has("fairplay/bundle.bin") ?? false
        if isBundle { lines.append(#"certificateBundle: "fairplay/bundle.bin","#) }
        for bits in [1024, 2048] {
            guard isBundle || isWanted("fairplay/certificate-\(bits).der") else { continue }
            let certificate = isBundle ? "" : "certificate\(bits): \"fairplay/certificate-\(bits).der\", "
            lines.append(certificate + "privateKey\(bits): \"fairplay/private-key-\(bits).pem\",")
        }
        lines.append(#"applicationSecret: "fairplay/application-secret.hex","#)
        return lines.joined(separator: "\n            ")
    }

    private static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    static func configuration(with delivered: DeliveredFiles?) -> String {
        """
        // Latchkey: the configuration of a production node, made by `latchkey init --production`. CHECKLIST.txt beside this
        // file says what is still missing. `latchkeyd --config FILE --check` names every mistake, and every file that is not
        // there yet. Paths are relative to this file.
        //
        // This has the choices that an operator must make. Every other field, with its default, is in examples/reference.json5
        // of the package's documents (Config/reference.json5 of the sources).
        {
            listeners: {
                // The sockets of latchkey.socket: ports 443 of all addresses unless that unit says otherwise. systemd keeps
                // them while the daemon restarts, so no connection is refused. Without systemd: "0.0.0.0:8443".
                // A reload puts new TLS files in force without ending a connection. Behind a proxy that ends TLS on this
                // machine, leave `tls` out, and listen on loopback. Proxies on other machines whose X-Forwarded-For counts:
                // trustedProxies: ["10.0.0.0/8"]. Without it all their clients share one rate.
                public: [{ address: "systemd:public", tls: { certificate: "tls/certificate.pem", privateKey: "tls/private-key.pem" } }],

                // Health, metrics, revocations, drain. Keep it off the Internet: loopback, or "unix:/run/latchkey/admin".
                // Give each operator and each program a token of its own, with the roles that it needs: "metrics" for
                // Prometheus, "support", "security", or "admin" for everything. The ledger names who made a change.
                admin: [{ address: "127.0.0.1:9443", tokens: [{ name: "admin", file: "secrets/admin-token", roles: ["admin"] }] }],
            },

            // Where clients reach the public listener. Key URLs and token URLs begin with it, if you use them.
            // publicURL: "https://keys.example.com",

            // Devices choose by the certificate that the app was given: version 1 of their messages (SPC) goes with 1024 bits,
            // version 2 with 2048. Leave out a pair that you do not have. If Apple issued both certificates in one file:
            // certificateBundle: "fairplay/bundle.bin", in place of the two. Encrypted keys need privateKeyPassphrase:
            // "secrets/fairplay-passphrase".
            //
            // The application secret is Apple's ASk. A deployment of SDK 26 has none. It needs the SDK's library: this line
            // takes the place of all certificates, private keys and the secret:
            // sdk: { library: "/opt/fps/libfpssdk.so", certificates: "/opt/fps/certificates.json" },
            fairplay: { credentials: [
                {
                    name: "main",
                    \(credential(delivered))
                },
            ] },

            // keyEncryptionKey seals the content keys in the database. Without it they are lost. New keys are derived from
            // masterSecret, so a key that the database has lost can be made again. A holder of the secret can make all keys.
            // Without it, keys are random and exist in the database alone: those that are newer than the last backup can be
            // lost. Keep copies of both apart from the database.
            keys: { keyEncryptionKey: "secrets/key-encryption-key", masterSecret: "secrets/master-secret" },

            // One node. Several nodes share a PostgreSQL database: "postgresql://latchkey@db.example.com/latchkey". They have
            // the same secrets but for the admin token.
            storage: { url: "sqlite:/var/lib/latchkey/latchkey.db" },

            // Every license is recorded before it is given. `key` seals the record. `pseudonymKey` makes the names of devices and
            // subjects in it; never change it. Entries are kept for 400 days, unless you set retention: "90d".
            ledger: { key: "secrets/ledger-key", pseudonymKey: "secrets/pseudonym-key" },

            // What the tokens of your own service say: their `iss`, and the `kid` of their header. Their `aud` is "latchkey",
            // unless you set audience: "…". The key fixes the algorithm: ES256, EdDSA, RS256, or HS256 with a secret. A
            // token lives for 24 hours at most, unless you set maximumLife: "12h". A stolen one is good for no longer.
            // The key of `sessions` signs the tokens that renew a lease.
            entitlement: { issuers: [
                { issuer: "https://portal.example.com", keys: [{ kid: "portal-1", algorithm: "\(delivered?.tokenAlgorithm ?? "ES256")", key: "issuers/portal.pem" }] },
            ], sessions: { key: "secrets/session-key" } },

            // Programs that may ask for content keys over HTTP; none. `openssl rand -hex 32` makes a secret.
            // packagers: [{ name: "packager-1", secret: "secrets/packager-1", scopes: ["read", "create"] }],

            // "debug" logs every license, "info" refusals and what happens to the daemon.
            // logging: { level: "debug" },

            // How long a load balancer takes to see that the node is not ready. Behind latchkey.socket alone none is needed.
            // drain: { delay: "15s" },
        }

        """
    }
}

import ByteCoding
private import COpenSSL
import Entitlements
import Glibc
import KeyCrypto
import TestSupport

/// Measures the cost of a token at the start of a request, if it is cached and if it must be verified. The reference is
/// OpenSSL's check of the same signature over the same bytes.
struct TokenBenchmark {
    private static let now: Int64 = 1_800_000_000
    private static let tokenCount = 64
    private static let cachedGoalMicroseconds = 2.0
    private static let uncachedGoal = 1.2

    private let plan: BenchmarkPlan

    init(_ plan: BenchmarkPlan) {
        self.plan = plan
    }

    func run() throws {
        let signingKey = try ES256PrivateKey.generate()
        let tokens = try Self.makeTokens(signedBy: signingKey)
        let key = VerificationKey(id: "benchmark", es256: signingKey.publicKey)
        let verifier = TokenVerifier(
            issuers: try IssuerSet([Issuer(name: "https://portal.example", audience: "latchkey", keys: [key])]))
        let bare = try BareVerification(publicKey: signingKey.publicKey, tokens: tokens)
        try compare(verifier, with: bare, tokens)
        try measureCached(VerifiedTokenCache(verifier: verifier), tokens)
    }

    /// Compares both kinds. They alternate every few milliseconds, because the speed of a shared machine changes.
    private func compare(_ verifier: TokenVerifier, with bare: BareVerification, _ tokens: [[UInt8]]) throws {
        var ratios: [Double] = []
        var costs: [Double] = []
        for _ in 0..<plan.rounds * 16 {
            let theirs = try OwnThread.microseconds { for index in tokens.indices { try bare.verify(at: index) } }
            let ours = try OwnThread.microseconds {
                for token in tokens { _ = try verifier.verify(token, now: Self.now) }
            }
            ratios.append(ours / theirs)
            costs.append(ours / Double(tokens.count))
        }
        print(
            """
            token of \(tokens[0].count) bytes, ES256, verified: \(formatted(costs.median, decimals: 1)) us, against EVP_DigestVerify alone \
            \(formatted(ratios.median, decimals: 3)) (goal \(Self.uncachedGoal))
            """)
    }

    private func measureCached(_ cache: VerifiedTokenCache, _ tokens: [[UInt8]]) throws {
        let crypto = try CryptoContext()
        for token in tokens { _ = try cache.verify(token, now: Self.now, crypto: crypto) }
        var costs: [Double] = []
        var digests: [Double] = []
        for _ in 0..<plan.rounds * 4 {
            let cached = try OwnThread.microseconds {
                for _ in 0..<100 { for token in tokens { _ = try cache.verify(token, now: Self.now, crypto: crypto) } }
            }
            let digest = try OwnThread.microseconds {
                for _ in 0..<100 { for token in tokens { _ = try crypto.sha256(token) } }
            }
            costs.append(cached / Double(100 * tokens.count))
            digests.append(digest / Double(100 * tokens.count))
        }
        print(
            """
            the same from the cache: \(formatted(costs.median, decimals: 2)) us (goal \(Self.cachedGoalMicroseconds)), of which its SHA-256 \
            \(formatted(digests.median, decimals: 2)) us
            """)
    }

    /// Tokens of nearly 1 KiB, with two rights and most members that a right can have.
    private static func makeTokens(signedBy key: ES256PrivateKey) throws -> [[UInt8]] {
        let minter = TokenMinter(keyID: "benchmark", es256: key)
        return try (0..<tokenCount).map { index in
            let series = Right(
                .contentPrefix("series-\(index)/"), start: now - 60, end: now + 86_400, lease: 300, hdcp: .type0,
                minimumLevel: .baseline,
                tracks: ["HD": Protection(hdcp: .type0), "UHD": Protection(hdcp: .type1, securityLevel: .main)],
                profile: "HD", renewAhead: 60)
            let movie = Right(
                .content("movie-\(index)-the-long-name-of-a-feature"), start: now - 60, end: now + 86_400, mode: .both,
                storage: 604_800, playback: 172_800, hdcp: .type0,
                minimumLevel: .baseline, profile: "SD")
            let contents = TokenContents(
                issuer: "https://portal.example", audience: "latchkey", subject: "account-\(1_000_000 + index)",
                tokenID: "5f1c8a3e-77f2-4a62-8f4f-\(100_000_000_000 + index)", issuedAt: now, expiresAt: now + 3600,
                rights: [series, movie])
            let token = Array(try minter.mint(contents).utf8)
            guard (900...1024).contains(token.count) else {
                throw BenchmarkError("a token has \(token.count) bytes, which is not nearly 1 KiB")
            }
            return token
        }
    }
}

/// OpenSSL's own check of the signatures, with all preparations done in advance.
@safe
private final class BareVerification {
    // Only this object owns the three pointers, and frees them.
    private let key: OpaquePointer
    private let algorithm: OpaquePointer
    private let context: OpaquePointer
    private let messages: [[UInt8]]
    private let signatures: [[UInt8]]

    init(publicKey: ES256PublicKey, tokens: [[UInt8]]) throws {
        var messages: [[UInt8]] = []
        var signatures: [[UInt8]] = []
        for token in tokens {
            let dot = token.lastIndex(of: UInt8(ascii: ".")) ?? 0
            messages.append(Array(token[..<dot]))
            signatures.append(Self.der(of: try Base64URL.decode(token[(dot + 1)...])))
        }
        self.messages = messages
        self.signatures = signatures
        let pem = try publicKey.publicPEM()
        let parsed = unsafe pem.withUnsafeBufferPointer { bytes in
            // Safe: the bytes stay valid as long as the memory BIO.
            let bio = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count))
            defer { unsafe BIO_free(bio) }
            return unsafe PEM_read_bio_PUBKEY(bio, nil, nil, nil)
        }
        guard let key = unsafe parsed, let algorithm = unsafe EVP_MD_fetch(nil, "SHA256", nil),
            let context = unsafe EVP_MD_CTX_new()
        else { throw BenchmarkError("OpenSSL has no ES256") }
        unsafe self.key = key
        unsafe self.algorithm = algorithm
        unsafe self.context = context
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
        unsafe EVP_MD_free(algorithm)
        unsafe EVP_PKEY_free(key)
    }

    func verify(at index: Int) throws {
        let (message, signature) = (messages[index], signatures[index])
        let isValid =
            unsafe EVP_DigestVerifyInit(context, nil, algorithm, nil, key) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        guard isValid else { throw BenchmarkError("OpenSSL refuses a signature of the server") }
    }

    /// ECDSA-Sig-Value (RFC 3279, section 2.2.3) of r ‖ s.
    private static func der(of raw: [UInt8]) -> [UInt8] {
        let numbers = [raw[..<32], raw[32...]].flatMap { half in
            let digits = half.drop { $0 == 0 }
            let padded = (digits.first ?? 0x80) >= 0x80 ? [0] + digits : Array(digits)
            return [0x02, UInt8(padded.count)] + padded
        }
        return [0x30, UInt8(numbers.count)] + numbers
    }
}

/// The CPU time of the calling thread.
private enum OwnThread {
    static func microseconds(_ work: () throws -> Void) rethrows -> Double {
        let start = now
        try work()
        return (now - start) / .microseconds(1)
    }

    private static var now: Duration {
        var time = timespec()
        // Safe: the structure is only written during the call.
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

private import COpenSSL
package import KeyCrypto
import Synchronization
package import Telemetry

/// The keys of session tickets (RFC 5077 section 4). Listeners can share them, on all loops, and keep them when the
/// configuration is reloaded.
///
/// Random keys are known only to this process. Keys from secrets are the same on every node with these secrets, and
/// also after a restart: each rotation period has its own keys, which are derived from a secret and the period's number
/// (HKDF with SHA-256). A key seals tickets for one period and opens them for two. A ticket is valid for one period, so
/// it never outlives its key.
@safe
package final class TLSTicketKeys: @unchecked Sendable {
    // Safe to share: the keys are behind a lock, and a fetched cipher is constant and counts its references atomically.
    private let cipher: OpaquePointer
    private let keys: Mutex<Keys>
    private let source: Source
    let period: Duration

    private enum Source: Sendable {
        case random(any MonotonicClock)
        case secrets([SharedSecret], any WallClock)

        /// Returns the time in nanoseconds, or the number of the present rotation period.
        func now(_ period: Duration) -> Int64 {
            switch self {
            case .random(let clock): clock.monotonicTime.nanoseconds
            case .secrets(_, let clock): clock.wallTime.seconds / max(1, period.components.seconds)
            }
        }

        /// Whether keys that were made at `since` must be replaced.
        func isOver(_ since: Int64, at now: Int64, _ period: Duration) -> Bool {
            switch self {
            case .random: now - since >= period.wholeNanoseconds
            case .secrets: now != since
            }
        }
    }

    private struct Keys {
        /// When the sealing key was made, or the period for which it was derived.
        var since: Int64
        var sealing: TicketKey
        /// Further keys that open tickets. A ticket of such a key is replaced.
        var others: [TicketKey] = []
    }

    /// Makes random keys. Throws `operationFailed`.
    package convenience init(
        clock: any MonotonicClock = SystemMonotonicClock(), period: Duration = .seconds(4 * 3600)
    ) throws(TLSError) {
        try self.init(.random(clock), period)
    }

    /// Makes keys from secrets, at least one. The first secret seals tickets, and all secrets open them.
    ///
    /// Nodes whose clocks differ by less than a period can open each other's tickets. Throws `operationFailed`.
    package convenience init(
        secrets: [SharedSecret], clock: any WallClock = SystemWallClock(), period: Duration = .seconds(4 * 3600)
    ) throws(TLSError) {
        precondition(!secrets.isEmpty, "keys of session tickets need a secret")
        try self.init(.secrets(secrets, clock), period)
    }

    private init(_ source: Source, _ period: Duration) throws(TLSError) {
        self.source = source
        self.period = period
        guard let cipher = unsafe EVP_CIPHER_fetch(nil, "AES-256-CBC", nil) else {
            throw .operationFailed("fetch the cipher of session tickets")
        }
        do throws(CryptoError) {
            keys = Mutex(try Self.makeKeys(source, period, after: nil))
        } catch {
            unsafe EVP_CIPHER_free(cipher)
            throw .operationFailed("make the key of session tickets")
        }
        unsafe self.cipher = cipher
    }

    deinit {
        unsafe EVP_CIPHER_free(cipher)
    }

    /// Answers OpenSSL's request for the key of a new ticket. Returns 1, or -1 if there is no key.
    fileprivate func seal(_ ticket: TicketContexts) -> Int32 {
        keys.withLock { keys in
            rotate(&keys)
            // Safe: a vector of AES has 16 bytes, and OpenSSL has room for it.
            guard unsafe RAND_bytes(ticket.iv, 16) == 1 else { return -1 }
            unsafe keys.sealing.copyName(to: ticket.name)
            return unsafe keys.sealing.prepare(ticket, cipher) ? 1 : -1
        }
    }

    /// Answers OpenSSL's request for the key of a received ticket. Returns 1, 2 if the ticket must be replaced, 0 if no
    /// key of this server made the ticket, or -1 if the key cannot be used.
    fileprivate func open(_ ticket: TicketContexts) -> Int32 {
        keys.withLock { keys in
            rotate(&keys)
            if unsafe keys.sealing.isNamed(ticket.name) { return unsafe keys.sealing.prepare(ticket, cipher) ? 1 : -1 }
            guard let other = keys.others.first(where: { key in unsafe key.isNamed(ticket.name) }) else { return 0 }
            return unsafe other.prepare(ticket, cipher) ? 2 : -1
        }
    }

    /// Replaces the keys at the end of their period. If new keys cannot be made, the old ones stay in use.
    private func rotate(_ keys: inout Keys) {
        guard source.isOver(keys.since, at: source.now(period), period) else { return }
        do throws(CryptoError) {
            keys = try Self.makeKeys(source, period, after: keys)
        } catch {
            return
        }
    }

    private static func makeKeys(
        _ source: Source, _ period: Duration, after old: Keys?
    ) throws(CryptoError) -> Keys {
        let now = source.now(period)
        switch source {
        case .random:
            let isRecent = old.map { now - $0.since < 2 * period.wholeNanoseconds } ?? false
            return Keys(since: now, sealing: try TicketKey(), others: isRecent ? old.map { [$0.sealing] } ?? [] : [])
        case .secrets(let secrets, _):
            var others: [TicketKey] = []
            for (index, secret) in secrets.enumerated() {
                for period in [now - 1, now, now + 1] where index > 0 || period != now {
                    others.append(try TicketKey(from: secret, period: period))
                }
            }
            return Keys(since: now, sealing: try TicketKey(from: secrets[0], period: now), others: others)
        }
    }

    /// Installs the callback for `SSL_CTX_set_tlsext_ticket_key_evp_cb`. The application data of the context is this
    /// object, which the owner of the context keeps alive.
    func install(in context: OpaquePointer) {
        unsafe latchkey_tls_on_ticket(context, ticketCallback, Unmanaged.passUnretained(self).toOpaque())
        unsafe SSL_CTX_set_timeout(context, Int(period.components.seconds))
    }
}

extension Duration {
    fileprivate var wholeNanoseconds: Int64 { components.seconds * 1_000_000_000 }
}

/// A key, and the 16 bytes by which tickets name it.
private final class TicketKey: Sendable {
    /// The name, which is not secret, because every ticket contains it.
    private let name: (UInt64, UInt64)
    private let encryption: SecretBytes
    private let authentication: SecretBytes

    /// Makes a random key. Throws `randomnessUnavailable`.
    init() throws(CryptoError) {
        name = (try RandomBytes.generateUInt64(), try RandomBytes.generateUInt64())
        encryption = try SecretBytes.random(count: 32)
        authentication = try SecretBytes.random(count: 32)
    }

    /// Derives the key of a rotation period. Throws `operationFailed`.
    init(from secret: SharedSecret, period: Int64) throws(CryptoError) {
        func derive(_ purpose: String, _ count: Int) throws(CryptoError) -> SecretBytes {
            try HKDFSHA256.derive(
                from: secret.bytes, info: Array("latchkey session tickets \(purpose) \(period)".utf8), count: count)
        }
        name = try derive("name", 16).withBytes { bytes in
            (Self.number(bytes, at: 0), Self.number(bytes, at: 8))
        }
        encryption = try derive("encryption", 32)
        authentication = try derive("authentication", 32)
    }

    private static func number(_ bytes: RawSpan, at offset: Int) -> UInt64 {
        // Safe: the caller passes an offset with eight bytes after it.
        unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    /// Copies the name to `destination`, which has 16 bytes.
    func copyName(to destination: UnsafeMutablePointer<UInt8>) {
        let destination = UnsafeMutableRawPointer(destination)
        unsafe destination.storeBytes(of: name.0, as: UInt64.self)
        unsafe destination.storeBytes(of: name.1, toByteOffset: 8, as: UInt64.self)
    }

    /// Whether the key has this name. `other` has 16 bytes.
    func isNamed(_ other: UnsafeMutablePointer<UInt8>) -> Bool {
        let other = UnsafeRawPointer(other)
        return unsafe other.loadUnaligned(as: UInt64.self) == name.0
            && other.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == name.1
    }

    /// Gives the key to OpenSSL, for AES-256-CBC and HMAC-SHA256.
    func prepare(_ ticket: TicketContexts, _ cipher: OpaquePointer) -> Bool {
        // Safe: both keys have 32 bytes, and OpenSSL copies them.
        let isEncryptionReady = encryption.withBytes { key in
            unsafe key.withUnsafeBytes { key in
                let start = unsafe key.assumingMemoryBound(to: UInt8.self).baseAddress
                return unsafe EVP_CipherInit_ex2(
                    ticket.encryption, cipher, start, ticket.iv, ticket.isNew ? 1 : 0, nil) == 1
            }
        }
        let isAuthenticationReady = authentication.withBytes { key in
            unsafe key.withUnsafeBytes { key in
                let start = unsafe key.assumingMemoryBound(to: UInt8.self).baseAddress
                return unsafe latchkey_hmac_sha256_init(ticket.authentication, start, key.count) == 1
            }
        }
        return isEncryptionReady && isAuthenticationReady
    }
}

/// The arguments of OpenSSL's callback for one ticket. The pointers are valid during the callback.
@unsafe
private struct TicketContexts {
    let name: UnsafeMutablePointer<UInt8>
    let iv: UnsafeMutablePointer<UInt8>
    let encryption: OpaquePointer?
    let authentication: OpaquePointer?
    let isNew: Bool
}

private func ticketCallback(
    session: OpaquePointer?, name: UnsafeMutablePointer<UInt8>?, iv: UnsafeMutablePointer<UInt8>?,
    encryption: OpaquePointer?, authentication: OpaquePointer?, isNew: Int32
) -> Int32 {
    guard let object = unsafe latchkey_tls_ticket_keys(session), let name = unsafe name, let iv = unsafe iv else {
        return -1
    }
    // Safe: the session's owner keeps its TLSContext alive, and the TLSContext keeps the keys alive.
    let keys = unsafe Unmanaged<TLSTicketKeys>.fromOpaque(object).takeUnretainedValue()
    let ticket = unsafe TicketContexts(
        name: name, iv: iv, encryption: encryption, authentication: authentication, isNew: isNew == 1)
    return unsafe isNew == 1 ? keys.seal(ticket) : keys.open(ticket)
}

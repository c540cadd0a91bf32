private import COpenSSL
import KeyCrypto
import Synchronization
package import Telemetry

/// The keys of session tickets (RFC 5077 section 4): one set for all listeners and loops, and for every generation of certificates.
///
/// A ticket made on one loop is thus good on every other, and after a reload. The current key makes tickets for one rotation period
/// and opens them for two; a ticket lives one period, so it never outlives its key. The keys leave this process never.
@safe
package final class TLSTicketKeys: @unchecked Sendable {
    // Safe to share: the keys are behind a lock, and a fetched cipher is constant and counts its references atomically.
    private let cipher: OpaquePointer
    private let keys: Mutex<Keys>
    private let clock: any MonotonicClock
    let period: Duration

    private struct Keys: ~Copyable {
        var current: TicketKey
        var previous: TicketKey?
    }

    /// Draws the first key. Throws `operationFailed`.
    package init(
        clock: any MonotonicClock = SystemMonotonicClock(), period: Duration = .seconds(4 * 3600)
    ) throws(TLSError) {
        self.clock = clock
        self.period = period
        guard let cipher = unsafe EVP_CIPHER_fetch(nil, "AES-256-CBC", nil) else {
            throw .operationFailed("fetch the cipher of session tickets")
        }
        do throws(CryptoError) {
            keys = Mutex(Keys(current: try TicketKey(since: clock.monotonicTime), previous: nil))
        } catch {
            unsafe EVP_CIPHER_free(cipher)
            throw .operationFailed("draw the key of session tickets")
        }
        unsafe self.cipher = cipher
    }

    deinit {
        unsafe EVP_CIPHER_free(cipher)
    }

    /// OpenSSL's question for the key of a new ticket: 1, or -1 for none.
    fileprivate func seal(_ ticket: TicketContexts) -> Int32 {
        keys.withLock { keys in
            rotate(&keys)
            // A vector of AES has 16 bytes, and OpenSSL gives room for it.
            guard unsafe RAND_bytes(ticket.iv, 16) == 1 else { return -1 }
            unsafe keys.current.copyName(to: ticket.name)
            return unsafe keys.current.prepare(ticket, cipher) ? 1 : -1
        }
    }

    /// OpenSSL's question for the key of a ticket that came: 1, 2 if it should be replaced, 0 if it is none of ours.
    fileprivate func open(_ ticket: TicketContexts) -> Int32 {
        keys.withLock { keys in
            rotate(&keys)
            if unsafe keys.current.isNamed(ticket.name) { return unsafe keys.current.prepare(ticket, cipher) ? 1 : -1 }
            guard unsafe keys.previous?.isNamed(ticket.name) == true else { return 0 }
            return unsafe keys.previous?.prepare(ticket, cipher) == true ? 2 : -1
        }
    }

    /// Puts a new key in the place of one that has served its time. Without randomness the old one serves on.
    private func rotate(_ keys: inout Keys) {
        let age = clock.monotonicTime - keys.current.since
        guard age >= period else { return }
        do throws(CryptoError) {
            var key = try TicketKey(since: clock.monotonicTime)
            swap(&keys.current, &key)
            keys.previous = age < period * 2 ? consume key : nil
        } catch {
            return
        }
    }

    /// The callback for `SSL_CTX_set_tlsext_ticket_key_evp_cb`; the context's application data is an instance of this class, which
    /// the context's owner keeps alive.
    func install(in context: OpaquePointer) {
        unsafe latchkey_tls_on_ticket(context, ticketCallback, Unmanaged.passUnretained(self).toOpaque())
        unsafe SSL_CTX_set_timeout(context, Int(period.components.seconds))
    }
}

/// A key and the 16 bytes that name it within tickets.
private struct TicketKey: ~Copyable {
    let since: MonotonicTime
    /// No secret: it stands in every ticket.
    private let name: (UInt64, UInt64)
    private let encryption: SecretBytes
    private let authentication: SecretBytes

    /// Throws `randomnessUnavailable`.
    init(since: MonotonicTime) throws(CryptoError) {
        let name = (try RandomBytes.generateUInt64(), try RandomBytes.generateUInt64())
        let encryption = try SecretBytes.random(count: 32)
        let authentication = try SecretBytes.random(count: 32)
        self.since = since
        self.name = name
        self.encryption = encryption
        self.authentication = authentication
    }

    /// `destination` has 16 bytes.
    func copyName(to destination: UnsafeMutablePointer<UInt8>) {
        let destination = UnsafeMutableRawPointer(destination)
        unsafe destination.storeBytes(of: name.0, as: UInt64.self)
        unsafe destination.storeBytes(of: name.1, toByteOffset: 8, as: UInt64.self)
    }

    /// `other` has 16 bytes.
    func isNamed(_ other: UnsafeMutablePointer<UInt8>) -> Bool {
        let other = UnsafeRawPointer(other)
        return unsafe other.loadUnaligned(as: UInt64.self) == name.0
            && other.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == name.1
    }

    /// Hands OpenSSL the key: AES-256-CBC, then HMAC-SHA256.
    func prepare(_ ticket: TicketContexts, _ cipher: OpaquePointer) -> Bool {
        // Both keys have 32 bytes, and OpenSSL copies them.
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

/// What OpenSSL wants filled in for one ticket; its pointers are valid during the call-back.
@unsafe
private struct TicketContexts {
    let name: UnsafeMutablePointer<UInt8>
    let iv: UnsafeMutablePointer<UInt8>
    let encryption: OpaquePointer?
    let authentication: OpaquePointer?
    let isNew: Bool
}

private func ticketCallback(
    _ session: OpaquePointer?, _ name: UnsafeMutablePointer<UInt8>?, _ iv: UnsafeMutablePointer<UInt8>?,
    _ encryption: OpaquePointer?, _ authentication: OpaquePointer?, _ isNew: Int32
) -> Int32 {
    guard let object = unsafe latchkey_tls_ticket_keys(session), let name = unsafe name, let iv = unsafe iv else {
        return -1
    }
    // The session's owner keeps its TLSContext alive, and that the keys.
    let keys = unsafe Unmanaged<TLSTicketKeys>.fromOpaque(object).takeUnretainedValue()
    let ticket = unsafe TicketContexts(
        name: name, iv: iv, encryption: encryption, authentication: authentication, isNew: isNew == 1)
    return unsafe isNew == 1 ? keys.seal(ticket) : keys.open(ticket)
}

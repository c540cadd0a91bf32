package import ByteCoding
package import KeyCrypto

/// Why an SPC is not answered, sorted by what the sender may learn (architecture, "The uniform refusal").
package enum SPCError: Error, Equatable, Sendable {
    /// Nothing was sent.
    case empty
    /// The bytes are an X.509 certificate: a common mistake that deserves its own words.
    case isCertificate
    /// The first word is no version that is served.
    case unsupportedVersion(UInt32)
    /// The container's lengths do not agree. No key was used.
    case malformed(SPCContainerFault)
    /// No credential has this certificate hash for this version. The hash is public, so this may be said.
    case unknownCertificate(hash: CertificateHash)
    /// Everything that fails after the hash. The cause is for the log; the sender gets one answer for all of them.
    case rejected(SPCRejection)
    /// Ours: the cryptographic library failed.
    case internalFailure(CryptoError)
}

/// What is wrong with a container, before any key is used.
package enum SPCContainerFault: Error, Equatable, Sendable {
    case tooLarge(maximum: Int)
    case truncated(ByteReaderError)
    case payloadLength(declared: UInt32, available: Int)
    case payloadEmpty
    case payloadUnaligned
    /// The transport identifier of version 3 is not the one that is known.
    case transportIdentifier
    /// The length of version 3 has 16 bytes, of which the first twelve must be zero: the authentication tag does not
    /// cover them.
    case payloadLengthHigh
}

extension SPCError: CustomStringConvertible {
    /// One line for the log, without anything of the message but its first word.
    package var description: String {
        switch self {
        case .empty: "there is no SPC"
        case .isCertificate: "the bytes are a certificate, and no SPC"
        case .unsupportedVersion(let version):
            "the SPC's first word is \(version), which is no version that is served"
                + (Self.isText(version) ? "; it is text, where bytes are meant" : "")
        case .malformed(let fault): "the SPC's container is malformed: \(fault)"
        case .unknownCertificate(let hash): "no credential has the certificate hash \(hash)"
        case .rejected(let rejection): "the SPC was rejected: \(rejection.logged.name)"
        case .internalFailure(let error): "OpenSSL failed: \(error)"
        }
    }

    /// Whether the four bytes of a word are printable ASCII, as those of Base64, JSON and forms are.
    private static func isText(_ word: UInt32) -> Bool {
        (0..<4).allSatisfy { (0x20...0x7E).contains(word >> (8 * $0) & 0xFF) }
    }
}

extension SPCContainerFault: CustomStringConvertible {
    /// Words for the log.
    package var description: String {
        switch self {
        case .tooLarge(let maximum): "it has more than \(maximum) bytes"
        case .truncated(let error): "\(error)"
        case .payloadLength(let declared, let available):
            "it says that its payload has \(declared) bytes, and \(available) bytes follow"
        case .payloadEmpty: "its payload is empty"
        case .payloadUnaligned: "the size of its payload is no multiple of 16 bytes"
        case .transportIdentifier: "its transport identifier is not the one of version 3"
        case .payloadLengthHigh: "its payload length is larger than any message"
        }
    }
}

/// Why an SPC was rejected after its certificate hash was known. Only ever written to the log and shown by `explain`.
package enum SPCRejection: Error, Equatable, Sendable {
    /// RSA gave no session key of 16 bytes.
    case sessionKey
    /// The authentication tag of version 3 does not match.
    case authenticationTag
    case framing(TLLVError)
    case missingTag(UInt64)
    case wrongSize(tag: UInt64, size: Int)
    case returnRequestTooLong(count: Int)
    case returnRequestForbidden(UInt64)
    case returnRequestMissing(UInt64)
    case protocolVersion(used: UInt32)
    /// A word that must be zero is not.
    case reservedWord(tag: UInt64)
    /// A sync block with too many records, or with no flag that says what it reports.
    case syncContradictory
    /// An external module refuses the SK..R1 block; the status is its own.
    case moduleRefused(status: Int32)
    /// SK..R1 does not hold the integrity bytes: a wrong application secret or certificate, or altered bytes.
    case integrity

    /// What the log says of it: always one constant and two numbers, for every cause, because the line is written
    /// before the answer is sent and must not take longer for one cause than for another.
    package var logged: (name: StaticString, tag: UInt64, number: UInt64) {
        switch self {
        case .sessionKey: ("session_key", 0, 0)
        case .authenticationTag: ("authentication_tag", 0, 0)
        case .framing(let error): error.logged
        case .missingTag(let tag): ("missing_tag", tag, 0)
        case .wrongSize(let tag, let size): ("wrong_size", tag, UInt64(size))
        case .returnRequestTooLong(let count): ("return_request_too_long", 0, UInt64(count))
        case .returnRequestForbidden(let tag): ("return_request_forbidden", tag, 0)
        case .returnRequestMissing(let tag): ("return_request_missing", tag, 0)
        case .protocolVersion(let used): ("protocol_version", 0, UInt64(used))
        case .reservedWord(let tag): ("reserved_word", tag, 0)
        case .syncContradictory: ("sync_contradictory", TLLVTag.sync, 0)
        case .moduleRefused(let status): ("module_refused", 0, UInt64(UInt32(bitPattern: status)))
        case .integrity: ("integrity", 0, 0)
        }
    }
}

extension TLLVError {
    fileprivate var logged: (name: StaticString, tag: UInt64, number: UInt64) {
        switch self {
        case .truncatedHeader(let offset): ("block_header_truncated", 0, UInt64(offset))
        case .blockUnaligned(let tag, let length): ("block_unaligned", tag, UInt64(length))
        case .blockOverrun(let tag, let length): ("block_overrun", tag, UInt64(length))
        case .valueExceedsBlock(let tag, let length): ("value_exceeds_block", tag, UInt64(length))
        case .tooManyBlocks(let maximum): ("too_many_blocks", 0, UInt64(maximum))
        case .duplicateTag(let tag): ("duplicate_tag", tag, 0)
        }
    }
}

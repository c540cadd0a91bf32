package import ByteCoding
package import KeyCrypto

/// Why an SPC is refused. The cases differ in what the sender may learn (architecture, "The uniform refusal").
package enum SPCError: Error, Equatable, Sendable {
    /// The message is empty.
    case empty
    /// The message is an X.509 certificate. This mistake is common, so it has its own case.
    case isCertificate
    /// The first word is not a version that is served.
    case unsupportedVersion(UInt32)
    /// The container's lengths do not agree. No key was used.
    case malformed(SPCContainerFault)
    /// No credential has this certificate hash for this version. The hash is public, so the sender may be told.
    case unknownCertificate(hash: CertificateHash)
    /// A check after the certificate hash failed. The cause is for the log; the sender gets the same answer for all
    /// causes.
    case rejected(SPCRejection)
    /// The cryptographic library failed. The fault is in this server.
    case internalFailure(CryptoError)
}

/// A fault of the container, which is found before any key is used.
package enum SPCContainerFault: Error, Equatable, Sendable {
    case tooLarge(maximum: Int)
    case truncated(ByteReaderError)
    case payloadLength(declared: UInt32, available: Int)
    case payloadEmpty
    case payloadUnaligned
    /// The transport identifier of version 3 is unknown.
    case transportIdentifier
    /// The first twelve of the 16 length bytes of version 3 are not zero. They must be, because the server computes the
    /// authentication tag over the length and not over these bytes.
    case payloadLengthHigh
}

/// Why an SPC was rejected after its certificate hash was known. It is only written to the log and shown by `explain`.
package enum SPCRejection: Error, Equatable, Sendable {
    /// The result of RSA is not a session key of 16 bytes.
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
    /// A sync block has too many records, or no flag that tells what it reports.
    case syncContradictory
    /// An external module refuses the SK..R1 block. The status is the module's own number.
    case moduleRefused(status: Int32)
    /// The integrity bytes in SK..R1 are wrong: the application secret or the certificate is a wrong one, or the bytes
    /// were changed.
    case integrity

    /// The fields of the log line: one constant and two numbers for every cause.
    ///
    /// The line is written before the answer is sent, so it must take the same time for all causes.
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

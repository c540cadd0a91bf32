package import ByteCoding

/// Why an SPC is not answered, sorted by what the sender may learn (architecture, "SPC that cannot be opened").
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
    case internalFailure
}

/// What is wrong with a container, before any key is used.
package enum SPCContainerFault: Error, Equatable, Sendable {
    case tooLarge(maximum: Int)
    case truncated(ByteReaderError)
    case payloadLength(declared: UInt32, available: Int)
    case payloadEmpty
    case payloadUnaligned
}

/// Why an SPC was rejected after its certificate hash was known. Only ever written to the log and shown by `explain`.
package enum SPCRejection: Error, Equatable, Sendable {
    /// RSA gave no session key of 16 bytes.
    case sessionKey
    case framing(TLLVError)
    case missingTag(UInt64)
    case wrongSize(tag: UInt64, size: Int)
    case returnRequestTooLong(count: Int)
    case returnRequestForbidden(UInt64)
    case returnRequestMissing(UInt64)
    case protocolVersion(used: UInt32)
    /// SK..R1 does not hold the integrity bytes: a wrong application secret or certificate, or altered bytes.
    case integrity

    /// A name for logs and metrics.
    package var name: String {
        switch self {
        case .sessionKey: "session_key"
        case .framing: "framing"
        case .missingTag: "missing_tag"
        case .wrongSize: "wrong_size"
        case .returnRequestTooLong, .returnRequestForbidden, .returnRequestMissing: "return_request"
        case .protocolVersion: "protocol_version"
        case .integrity: "integrity"
        }
    }
}

package import FairPlay

extension SPCRejection {
    /// The cause in words, for the operator, who holds the keys. No client gets it.
    package var explanation: String {
        switch self {
        case .sessionKey: "its wrapped key does not open with the private key of the certificate that it names"
        case .authenticationTag: "its authentication tag does not match: it was altered, or made by another rule"
        case .framing(let error): "its payload is not a row of TLLV blocks: \(error.explanation)"
        case .missingTag(let tag): "the block \(Self.name(tag)) is missing"
        case .wrongSize(let tag, let size): "the block \(Self.name(tag)) has a value of \(size) bytes"
        case .returnRequestTooLong(let count): "it asks for the return of \(count) blocks, which are too many"
        case .returnRequestForbidden(let tag):
            "it asks for the return of the block \(Self.name(tag)), which must not be returned"
        case .returnRequestMissing(let tag):
            "it asks for the return of the block \(Self.name(tag)), which it does not have"
        case .protocolVersion(let used):
            "it uses protocol version \(used), which it does not support or the server does not serve"
        case .reservedWord(let tag): "a reserved word of the block \(Self.name(tag)) is not 0"
        case .syncContradictory: "its sync block has too many records, or no flag"
        case .moduleRefused(let status): "the external module refuses its SK..R1 block (status \(status))"
        case .integrity:
            "its SK..R1 block does not end with the integrity bytes: another application secret, or altered bytes"
        }
    }

    private static func name(_ tag: UInt64) -> String {
        TLLVTag.name(of: tag).map { "\"\($0)\" (\(hexadecimal(tag)))" } ?? hexadecimal(tag)
    }
}

extension TLLVError {
    fileprivate var explanation: String {
        switch self {
        case .truncatedHeader(let offset): "a header ends too early at byte \(offset)"
        case .blockUnaligned(let tag, let length): "the block \(hexadecimal(tag)) has \(length) bytes"
        case .blockOverrun(let tag, let length):
            "the block \(hexadecimal(tag)) of \(length) bytes extends beyond the end"
        case .valueExceedsBlock(let tag, let length):
            "the value of the block \(hexadecimal(tag)) has \(length) bytes, more than its block"
        case .tooManyBlocks(let maximum): "there are more than \(maximum)"
        case .duplicateTag(let tag): "the tag \(hexadecimal(tag)) occurs twice"
        }
    }
}

import ByteCoding
import FairPlay
import TestSupport

/// The container of an SPC in all versions. The input is the message.
///
/// If a message parses, its parts make up the message again, byte for byte. If not, it is refused for the same reason
/// with any set of served versions.
struct SPCContainerTarget: FuzzTarget {
    private let sealer: SPCSealer

    init() throws {
        sealer = try SPCSealer()
    }

    func check(_ input: [UInt8]) throws -> Verdict {
        let outcome = Outcome(input, served: Set(SPCVersion.allCases))
        switch outcome {
        case .parsed(let envelope):
            try checkParts(of: envelope, in: input)
            try checkNeighbours(of: input)
        case .refused(let error): try checkCause(error, of: input)
        }
        for served in Self.servedSets { try checkServing(only: served, input, outcome) }
        return outcome.verdict
    }

    private static let servedSets: [Set<SPCVersion>] = [[], [.v1], [.v2], [.v3], [.v1, .v2]]

    private enum Outcome {
        case parsed(SPCEnvelope)
        case refused(SPCError)

        init(_ input: [UInt8], served: Set<SPCVersion>) {
            do throws(SPCError) {
                self = .parsed(try SPCEnvelope(parsing: input, served: served))
            } catch {
                self = .refused(error)
            }
        }

        var verdict: Verdict {
            switch self {
            case .parsed: .accepted
            case .refused: .refused
            }
        }
    }

    /// Checks that the parts follow one another from the first byte to the last, and have the message's values.
    private func checkParts(of envelope: SPCEnvelope, in input: [UInt8]) throws(PropertyViolation) {
        let version = envelope.version
        try require(input.count <= SPCEnvelope.sizeMaximum, "a message that is too long is refused")
        try require(envelope.message == input, "the envelope keeps the message")
        try require(envelope.wrappedKey == 24..<24 + version.wrappedKeySize, "the wrapped key follows the header")
        try require(envelope.payload.upperBound + version.authenticationTagSize == input.count, "nothing is left over")
        var writer = ByteWriter()
        writer.write(version.rawValue)
        writer.write(input[4..<8])
        writer.write(block(of: envelope))
        writer.write(input[envelope.wrappedKey])
        writer.write(envelope.certificateHash.bytes)
        if version == .v3 { writer.write([UInt8](repeating: 0, count: 12)) }
        writer.write(UInt32(envelope.payload.count))
        writer.write(input[envelope.payload])
        if case .authenticated(let tag) = envelope.protection { writer.write(tag) }
        try require(writer.bytes == input, "the parts make up the message")
        try require(!envelope.payload.isEmpty && envelope.payload.count % 16 == 0, "the payload is whole blocks")
    }

    /// The 16 bytes after the reserved word.
    private func block(of envelope: SPCEnvelope) -> Bytes16 {
        switch envelope.protection {
        case .none(let iv): iv
        case .authenticated: SPCEnvelope.transportIdentifier
        }
    }

    /// Checks that a message is valid with only one length.
    private func checkNeighbours(of input: [UInt8]) throws(PropertyViolation) {
        for neighbour in [input + [0], Array(input.dropLast()), input + [UInt8](repeating: 0, count: 16)] {
            guard case .refused(.malformed) = Outcome(neighbour, served: Set(SPCVersion.allCases)) else {
                throw PropertyViolation(description: "a message of \(neighbour.count) bytes is malformed")
            }
        }
    }

    /// Checks that the first bytes alone decide what they should decide, and that no error depends on keys.
    private func checkCause(_ error: SPCError, of input: [UInt8]) throws(PropertyViolation) {
        let isCertificate = input.starts(with: [0x30, 0x82])
        let number = input.count < 4 ? nil : input[..<4].reduce(0) { $0 << 8 | UInt32($1) }
        let isKnown = number.flatMap(SPCVersion.init(rawValue:)) != nil
        switch error {
        case .empty: try require(input.isEmpty, "only an empty message is called empty")
        case .isCertificate: try require(isCertificate, "only a certificate is called one")
        case .unsupportedVersion(let said):
            try require(!isCertificate && !isKnown && said == number, "version \(said) is not a known one")
        case .malformed:
            try require(!input.isEmpty && !isCertificate, "a malformed message is not empty and no certificate")
            try require(number == nil || isKnown, "a message of an unknown version is not parsed")
        case .unknownCertificate, .rejected, .internalFailure:
            throw PropertyViolation(description: "a container is refused before any key is used: \(error)")
        }
    }

    /// Checks that serving fewer versions makes the others unsupported, and changes nothing else.
    private func checkServing(
        only served: Set<SPCVersion>, _ input: [UInt8], _ outcome: Outcome
    ) throws(PropertyViolation) {
        let number = input.count < 4 ? nil : input[..<4].reduce(0) { $0 << 8 | UInt32($1) }
        let version = number.flatMap(SPCVersion.init(rawValue:))
        let narrow = Outcome(input, served: served)
        if let version, !served.contains(version) {
            guard case .refused(.unsupportedVersion(version.rawValue)) = narrow else {
                throw PropertyViolation(description: "\(version) is unsupported if \(served) are served")
            }
            return
        }
        switch (outcome, narrow) {
        case (.parsed(let one), .parsed(let other)):
            try require(one.payload == other.payload, "other served versions change nothing")
        case (.refused(let one), .refused(let other)): try require(one == other, "\(other) was \(one)")
        case (.parsed, .refused), (.refused, .parsed):
            throw PropertyViolation(description: "other served versions affect \(String(describing: version))")
        }
    }

    // MARK: - Inputs

    func seeds() throws -> [[UInt8]] {
        let payload = [UInt8](repeating: 0x5A, count: 64)
        let genuine = try SPCVersion.allCases.map { try sealer.seal(payload, version: $0) }
        let longest = [UInt8](repeating: 0xA5, count: SPCEnvelope.sizeMaximum)
        return genuine + [[], [0x30, 0x82, 0x03, 0x1C], [0, 0, 0, 4], longest]
    }

    /// Changes the message, and sometimes corrects its length.
    func mutate(_ input: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var message = ByteMutation.mutate(input, using: &generator)
        if Bool.random(using: &generator) { sealer.writeLength(of: &message) }
        return message
    }
}

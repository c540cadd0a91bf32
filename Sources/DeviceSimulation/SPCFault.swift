package import FairPlay
package import KeyCrypto

/// The named faults of malformed SPCs. Each breaks one rule of the containers or blocks (protocol, sections 1 and 2).
package enum SPCFault: Sendable, Hashable {
    /// A fault in the finished message.
    case container(ContainerFault)
    /// A fault before encryption. Every holder of the public certificate can make one.
    case payload(PayloadFault)

    /// Returns all faults that an SPC of this version can have.
    package static func all(for version: SPCVersion) -> [SPCFault] {
        ContainerFault.allCases.filter { $0.canHappen(in: version) }.map { .container($0) }
            + PayloadFault.allCases.map { .payload($0) }
    }

    /// The answer that the server must give.
    package enum Answer: Sendable, Equatable {
        /// 400 `spc_version_unsupported`
        case versionUnsupported
        /// 400 `spc_malformed`
        case malformed
        /// 422 `spc_certificate_unknown`
        case certificateUnknown
        /// 422 `spc_rejected`, the same for all such faults
        case rejected
    }

    package var answer: Answer {
        switch self {
        case .container(let fault): fault.answer
        case .payload: .rejected
        }
    }
}

extension SimulatedDevice {
    /// Makes an SPC with a fault, either in its container or in its payload before encryption.
    package func makeRequest(_ options: DeviceOptions, with fault: SPCFault) throws(CryptoError) -> DeviceRequest {
        var draft = try makeDraft(options)
        if case .payload(let fault) = fault { try fault.apply(to: &draft, from: randomness) }
        var request = try seal(draft)
        if case .container(let fault) = fault { fault.apply(to: &request.message, version: draft.version) }
        return request
    }
}

extension SPCFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .container(let fault): fault.rawValue
        case .payload(let fault): fault.rawValue
        }
    }
}

/// A fault of a container, including its wrapped key and its certificate hash.
package enum ContainerFault: String, Sendable, CaseIterable {
    // Refused before any key is used.
    case versionZero, versionFour, versionNine
    case truncatedHeader, truncatedPayload
    case oneTrailingByte, sixteenTrailingBytes, sixtyFourTrailingBytes
    case lengthPlus16, lengthMinus16, lengthHuge, lengthUnaligned, lengthZero, emptyPayload
    case unknownCertificateHash

    // Refused after the wrapped key has been tried.
    case corruptedWrappedKey

    // Only in version 3.
    case wrongTransportIdentifier, nonZeroLengthStart, nonZeroLengthMiddle, truncatedAuthenticationTag
    case wrongAuthenticationTag, authenticationTagOfZeros, flippedPayloadByte

    func canHappen(in version: SPCVersion) -> Bool {
        switch self {
        case .versionZero, .versionFour, .versionNine, .truncatedHeader, .truncatedPayload, .oneTrailingByte,
            .sixteenTrailingBytes, .sixtyFourTrailingBytes, .lengthPlus16, .lengthMinus16, .lengthHuge,
            .lengthUnaligned, .lengthZero, .emptyPayload, .unknownCertificateHash, .corruptedWrappedKey:
            true
        case .wrongTransportIdentifier, .nonZeroLengthStart, .nonZeroLengthMiddle, .truncatedAuthenticationTag,
            .wrongAuthenticationTag, .authenticationTagOfZeros, .flippedPayloadByte:
            version == .v3
        }
    }

    package var answer: SPCFault.Answer {
        switch self {
        case .versionZero, .versionFour, .versionNine: .versionUnsupported
        case .truncatedHeader, .truncatedPayload, .oneTrailingByte, .sixteenTrailingBytes, .sixtyFourTrailingBytes,
            .lengthPlus16, .lengthMinus16, .lengthHuge, .lengthUnaligned, .lengthZero, .emptyPayload,
            .wrongTransportIdentifier, .nonZeroLengthStart, .nonZeroLengthMiddle, .truncatedAuthenticationTag:
            .malformed
        case .unknownCertificateHash: .certificateUnknown
        case .corruptedWrappedKey, .wrongAuthenticationTag, .authenticationTagOfZeros, .flippedPayloadByte: .rejected
        }
    }
}

extension ContainerFault {
    /// Applies the fault to a finished message.
    func apply(to message: inout [UInt8], version: SPCVersion) {
        let layout = Layout(version)
        switch self {
        case .versionZero: message[3] = 0
        case .versionFour: message[3] = 4
        case .versionNine: message[3] = 9
        case .truncatedHeader: message.removeLast(message.count - layout.payload + 1)
        case .truncatedPayload: message.removeSubrange(layout.payload..<layout.payload + 16)
        case .oneTrailingByte: message.append(0)
        case .sixteenTrailingBytes: message += [UInt8](repeating: 0xA5, count: 16)
        case .sixtyFourTrailingBytes: message += [UInt8](repeating: 0xA5, count: 64)
        case .lengthPlus16: layout.writeLength(layout.payloadSize(of: message) + 16, into: &message)
        case .lengthMinus16: layout.writeLength(layout.payloadSize(of: message) - 16, into: &message)
        case .lengthHuge: layout.writeLength(.max, into: &message)
        case .lengthUnaligned:
            message.remove(at: layout.payload)
            layout.writeLength(layout.payloadSize(of: message), into: &message)
        case .lengthZero: layout.writeLength(0, into: &message)
        case .emptyPayload:
            message.removeSubrange(layout.payload..<message.count - version.authenticationTagSize)
            layout.writeLength(0, into: &message)
        case .unknownCertificateHash: message[layout.certificateHash] ^= 1
        case .corruptedWrappedKey: message[layout.certificateHash - 1] ^= 1
        case .wrongTransportIdentifier: message[8] ^= 1
        case .nonZeroLengthStart: message[312] = 1
        case .nonZeroLengthMiddle: message[323] = 1
        case .truncatedAuthenticationTag: message.removeLast()
        case .wrongAuthenticationTag: message[message.count - 1] ^= 1
        case .authenticationTagOfZeros:
            message.replaceSubrange(message.count - 16..<message.count, with: [UInt8](repeating: 0, count: 16))
        case .flippedPayloadByte: message[layout.payload + 40] ^= 1
        }
    }

    /// The offsets of a container's fields (protocol, sections 1.1 and 1.2).
    private struct Layout {
        let certificateHash: Int
        /// The offset of the last four bytes of the length.
        let length: Int
        let payload: Int
        let tagSize: Int

        init(_ version: SPCVersion) {
            (certificateHash, length, payload, tagSize) =
                switch version {
                case .v1: (152, 172, 176, 0)
                case .v2: (280, 300, 304, 0)
                case .v3: (280, 324, 328, 16)
                }
        }

        func payloadSize(of message: [UInt8]) -> UInt32 {
            UInt32(message.count - payload - tagSize)
        }

        func writeLength(_ size: UInt32, into message: inout [UInt8]) {
            message.replaceSubrange(length..<length + 4, with: bigEndian(size))
        }
    }
}

import FairPlay

extension SPCFault {
    /// Changes the finished message; faults of the payload leave it alone.
    func apply(toMessage message: inout [UInt8], version: SPCVersion) {
        let lengthOffset = 24 + version.wrappedKeySize + 20
        let headerSize = lengthOffset + 4
        let payloadSize = UInt32(message.count - headerSize)
        func writeLength(_ length: UInt32) {
            message.replaceSubrange(lengthOffset..<headerSize, with: bigEndian(length))
        }
        switch self {
        case .versionZero: message[3] = 0
        case .versionThree: message[3] = 3
        case .versionFour: message[3] = 4
        case .versionNine: message[3] = 9
        case .truncatedHeader: message.removeLast(message.count - headerSize + 1)
        case .truncatedPayload: message.removeLast(16)
        case .oneTrailingByte: message.append(0)
        case .sixteenTrailingBytes: message += [UInt8](repeating: 0xA5, count: 16)
        case .sixtyFourTrailingBytes: message += [UInt8](repeating: 0xA5, count: 64)
        case .lengthPlus16: writeLength(payloadSize + 16)
        case .lengthMinus16: writeLength(payloadSize - 16)
        case .lengthHuge: writeLength(.max)
        case .lengthUnaligned:
            message.removeLast()
            writeLength(payloadSize - 1)
        case .lengthZero: writeLength(0)
        case .emptyPayload:
            message.removeLast(message.count - headerSize)
            writeLength(0)
        case .corruptedWrappedKey: message[24 + version.wrappedKeySize - 1] ^= 1
        default: break  // Faults of the payload were made before encryption.
        }
    }
}

package import ByteCoding
package import FairPlay
package import KeyCrypto

/// Why a device would refuse a CKC.
package enum CKCFault: Error, Equatable, Sendable {
    case truncated(ByteReaderError)
    case version(UInt32)
    case payloadLength(declared: UInt32, available: Int)
    case payloadUnaligned
    case framing(TLLVError)
    case missingTag(UInt64)
    case wrongSize(tag: UInt64, size: Int)
    case r1Mismatch
    case echoMissing(tag: UInt64)
    case echoAltered(tag: UInt64)
    case echoOutOfOrder(tag: UInt64)
    case unexpectedTag(UInt64)
    /// A word that has one legal value has another one.
    case reservedWord(tag: UInt64, UInt32)
    /// A version, a key type or a level that does not exist.
    case unknownValue(tag: UInt64, UInt64)
    /// The duration block's lease and rental are not those of its key type.
    case keyTypeContradictsDurations
    /// 0xFFFFFFFF seconds, which older servers mean for "none" and devices take for a time.
    case secondsOutOfRange(tag: UInt64)
    /// The duration block and the offline key block together, at which a client stops with "invalid CKC".
    case durationWithOfflineKey
    /// The block, or what it says, is not for a device that said in its SPC what this one did.
    case beyondAbilities(tag: UInt64)
    /// The R1 or session key for video, for a device that has none, or without saying that it is used.
    case videoNotOffered
    case cryptography(CryptoError)
}

/// What a device accepts in a CKC, and this server never sends (protocol, sections 1.3, 2.2, 2.3 and 4.2).
package enum CKCRemark: Equatable, Sendable {
    /// The container's reserved word is not 0. Apple's newer server writes its version there.
    case reservedWord(UInt32)
    /// A block was echoed with its value, but with other padding, as Apple's newer server does.
    case echoPadding(tag: UInt64)
    /// The block without a name that Apple's sample CKCs carry.
    case sampleBlock
    /// The reserved word of the duration block is not 86d34a3a.
    case durationReservedWord(UInt32)
}

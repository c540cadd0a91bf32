package import ByteCoding
package import KeyCrypto

/// A module outside this process that opens SK..R1 blocks which only Apple's own library can open (protocol, section
/// 3.5).
///
/// The session key never leaves the module. So a single call sends the content key to the module, and returns HU, R1
/// and the finished content key block.
package protocol LadderModule: Sendable {
    /// Answers one call, and returns on the caller's executor.
    func answer(_ call: LadderCall) async throws(LadderModuleError) -> LadderAnswer
}

/// Why a module or a library gave no answer.
package enum LadderModuleError: Error, Equatable, Sendable {
    /// The module refuses the SK..R1 block: its integrity is wrong, or it is for another credential. `status` is the
    /// module's own number, for the log.
    case refused(status: Int32)
    /// The module cannot do the call, for any device. `status` is the module's own number, for the log.
    case failed(status: Int32)
    /// The library refuses the device, by the rules of Apple's SDK or those that the licensee has put there.
    case deviceRefused(status: Int32)
    /// The data from the module is not a valid answer.
    case answerMalformed
    /// The worker with this call died, or was ended because the call exceeded its deadline.
    case workerLost
    /// No worker is running.
    case unavailable
    /// Workers are running, but too many calls wait for them, or this call has waited too long.
    case overloaded
}

extension LadderModuleError: CustomStringConvertible {
    /// Words for the log.
    package var description: String {
        switch self {
        case .refused(let status): "it refuses the SK..R1 block (status \(status))"
        case .failed(let status): "it cannot do what is asked for (status \(status))"
        case .deviceRefused(let status): "it refuses the security of the device (status \(status))"
        case .answerMalformed: "what it answered is no answer"
        case .workerLost: "the worker with this call died, or ran past its deadline"
        case .unavailable: "none of its workers is alive"
        case .overloaded: "its workers have more calls waiting than they may"
        }
    }
}

/// One of a device's two session keys, or one of its two R1.
package enum SessionKeyVersion: UInt64, Sendable, Equatable, CaseIterable {
    case generic = 0x182b_0bb9_f373_83d1
    case video = 0x02a6_9d25_f4b9_4c7c
}

/// The arguments of a call to a module. Sizes are in bytes.
package struct LadderCall: Sendable {
    /// The kind of content that the key is for.
    package enum ContentKind: UInt32, Sendable, CaseIterable {
        case unknown = 0
        case video = 1
        case audio = 2
    }

    /// The content key that is to be wrapped.
    package struct Content: Sendable {
        /// The key; 16 bytes.
        package let key: SharedSecret
        package let iv: Bytes16
        package let kind: ContentKind

        package init(key: SharedSecret, iv: Bytes16, kind: ContentKind) {
            self.key = key
            self.iv = iv
            self.kind = kind
        }
    }

    /// The values of the SPC that only the module can use, unchanged.
    package struct SessionBlocks: Sendable {
        /// The SK..R1 value; 112 bytes.
        package let sessionKeyBlock: [UInt8]
        /// The R2 value; 21 bytes.
        package let r2: [UInt8]
        /// The SK..R1 integrity value.
        package let integrity: Bytes16
        package let video: VideoBlocks?

        package init(sessionKeyBlock: [UInt8], r2: [UInt8], integrity: Bytes16, video: VideoBlocks?) {
            self.sessionKeyBlock = sessionKeyBlock
            self.r2 = r2
            self.integrity = integrity
            self.video = video
        }
    }

    /// The values for the video session key, which newer devices send, unchanged.
    package struct VideoBlocks: Sendable, Equatable {
        /// The SK..R1 value for video; at most 256 bytes.
        package let sessionKeyBlock: [UInt8]
        /// The R2 value for video; at most 64 bytes.
        package let r2: [UInt8]

        package init(sessionKeyBlock: [UInt8], r2: [UInt8]) {
            self.sessionKeyBlock = sessionKeyBlock
            self.r2 = r2
        }
    }

    package let content: Content
    package let blocks: SessionBlocks
    /// The key formats that the device supports, 1 to 64.
    package let keyFormats: [UInt64]
    package let protocolVersionUsed: UInt32
    /// The SHA-1 of the certificate or bundle that the SPC names; 20 bytes.
    package let certificateHash: [UInt8]
    /// The requested session key. It is `.video` only if `blocks` has the values for video.
    package let wanted: SessionKeyVersion

    package init(
        content: Content, blocks: SessionBlocks, keyFormats: [UInt64], protocolVersionUsed: UInt32,
        certificateHash: [UInt8], wanted: SessionKeyVersion
    ) {
        self.content = content
        self.blocks = blocks
        self.keyFormats = keyFormats
        self.protocolVersionUsed = protocolVersionUsed
        self.certificateHash = certificateHash
        self.wanted = wanted
    }
}

/// The answer of a module.
package struct LadderAnswer: Sendable {
    /// The tag of the finished content key block.
    package let contentKeyTag: UInt64
    /// The value of the finished content key block; 17 to 1,024 bytes.
    package let contentKeyValue: [UInt8]
    package let deviceID: DeviceID
    /// R1, 44 bytes. The payload key of the CKC is derived from it.
    package let r1: SharedSecret
    /// The session key that wraps the content key.
    package let sessionKeyVersion: SessionKeyVersion
    /// Which of the two R1 was returned. With `.video`, the CKC has version 2.
    package let r1Version: SessionKeyVersion

    /// The sizes of a content key block's value.
    package static let contentKeyValueSizes = 17...1024

    package init(
        contentKeyTag: UInt64, contentKeyValue: [UInt8], deviceID: DeviceID, r1: SharedSecret,
        sessionKeyVersion: SessionKeyVersion, r1Version: SessionKeyVersion
    ) {
        self.contentKeyTag = contentKeyTag
        self.contentKeyValue = contentKeyValue
        self.deviceID = deviceID
        self.r1 = r1
        self.sessionKeyVersion = sessionKeyVersion
        self.r1Version = r1Version
    }
}

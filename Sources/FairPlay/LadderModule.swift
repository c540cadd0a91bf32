package import ByteCoding
package import KeyCrypto

/// A module outside this process that opens SK..R1 blocks where only Apple's own library can (protocol, section 3.5).
///
/// The session key never leaves the module, so key and terms of the ladder come in one call: the content key goes in,
/// and HU, R1 and the finished content key block come out.
package protocol LadderModule: Sendable {
    /// Answers one call; returns on the caller's executor.
    func answer(_ call: LadderCall) async throws(LadderModuleError) -> LadderAnswer
}

/// Why a module gave no answer.
package enum LadderModuleError: Error, Equatable, Sendable {
    /// The module refuses the SK..R1 block: its integrity fails, or it is for another credential. `status` is the
    /// module's own, for the log.
    case refused(status: Int32)
    /// The module cannot do what is asked for, for any device; `status` is its own, for the log.
    case failed(status: Int32)
    /// What came back is not an answer.
    case answerMalformed
    /// The worker with this call died, or ran past its deadline and was ended.
    case workerLost
    /// No worker is alive.
    case unavailable
    /// Workers are alive, but too many calls wait for them, or this one has waited too long.
    case overloaded
}

extension LadderModuleError: CustomStringConvertible {
    /// Words for the log.
    package var description: String {
        switch self {
        case .refused(let status): "it refuses the SK..R1 block (status \(status))"
        case .failed(let status): "it cannot do what is asked for (status \(status))"
        case .answerMalformed: "what it answered is no answer"
        case .workerLost: "the worker with this call died, or ran past its deadline"
        case .unavailable: "none of its workers is alive"
        case .overloaded: "its workers have more calls waiting than they may"
        }
    }
}

/// Which of a device's two session keys and R1 are meant.
package enum SessionKeyVersion: UInt64, Sendable, Equatable, CaseIterable {
    case generic = 0x182b_0bb9_f373_83d1
    case video = 0x02a6_9d25_f4b9_4c7c
}

/// What a module is asked. Sizes in bytes.
package struct LadderCall: Sendable {
    /// What the content key is for, as the module wants to know it.
    package enum ContentKind: UInt32, Sendable, CaseIterable {
        case unknown = 0
        case video = 1
        case audio = 2
    }

    /// The content key as it is to be wrapped.
    package struct Content: Sendable {
        /// 16.
        package let key: SharedSecret
        package let iv: Bytes16
        package let kind: ContentKind

        package init(key: SharedSecret, iv: Bytes16, kind: ContentKind) {
            self.key = key
            self.iv = iv
            self.kind = kind
        }
    }

    /// The blocks of the SPC that only the module can open, as they came.
    package struct SessionBlocks: Sendable {
        /// The SK..R1 value, 112.
        package let sessionKeyBlock: [UInt8]
        /// 21.
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

    /// The blocks of newer devices for the video session key, as they came.
    package struct VideoBlocks: Sendable, Equatable {
        /// At most 256.
        package let sessionKeyBlock: [UInt8]
        /// At most 64.
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
    /// SHA-1 of the certificate or bundle that the SPC names, 20.
    package let certificateHash: [UInt8]
    /// Which session key is asked for; `.video` only if the blocks for it are there.
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

/// What a module answers.
package struct LadderAnswer: Sendable {
    /// The finished content key block: its tag, and 17 to 1,024 bytes.
    package let contentKeyTag: UInt64
    package let contentKeyValue: [UInt8]
    package let deviceID: DeviceID
    /// R1, 44 bytes: the CKC's payload key is derived from it.
    package let r1: SharedSecret
    /// The session key that wraps the content key.
    package let sessionKeyVersion: SessionKeyVersion
    /// The R1 that was given out; `.video` makes the CKC one of version 2.
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

package import ByteCoding
package import KeyCrypto

/// A library outside this process that writes whole CKCs for a credential, because only it can open its SK..R1 blocks
/// (SDK 26, sections 1 to 4).
///
/// Neither the session key nor R1 nor a content key block leaves the library. So it is told the terms of the license
/// together with the key, and returns HU and a CKC that holds them.
package protocol LicenseLibrary: Sendable {
    /// Answers one order, and returns on the caller's executor.
    func answer(_ order: LibraryOrder) async throws(LadderModuleError) -> LibraryAnswer
}

/// What a library is asked for.
package struct LibraryOrder: Sendable {
    /// The SPC as the device has sent it.
    package let message: [UInt8]
    /// The license to write; nil if only the facts of the SPC are asked for.
    package let license: LibraryLicense?

    package init(message: [UInt8], license: LibraryLicense?) {
        self.message = message
        self.license = license
    }
}

/// The license that a library is to write.
package struct LibraryLicense: Sendable {
    /// The content key; 16 bytes.
    package let key: SharedSecret
    package let iv: Bytes16
    package let terms: LibraryTerms

    package init(key: SharedSecret, iv: Bytes16, terms: LibraryTerms) {
        self.key = key
        self.iv = iv
        self.terms = terms
    }
}

/// The answer of a library.
package struct LibraryAnswer: Sendable, Equatable {
    package let deviceID: DeviceID
    /// The transaction id of the SPC, as the library has read it.
    package let transactionID: UInt64
    /// The finished CKC; nil if only the facts were asked for.
    package let ckc: [UInt8]?

    /// The sizes of a CKC in bytes.
    package static let ckcSizes = CKCWriter.headerSize + 16...64 * 1024

    package init(deviceID: DeviceID, transactionID: UInt64, ckc: [UInt8]?) {
        self.deviceID = deviceID
        self.transactionID = transactionID
        self.ckc = ckc
    }
}

/// The terms of a license in the form in which a library takes them (SDK 26, section 3).
package struct LibraryTerms: Sendable, Equatable {
    /// The kind of content, from which the library derives the security level.
    package enum ContentType: UInt8, Sendable, CaseIterable {
        case audio = 1
        case sd = 2
        case hd = 3
        case uhd = 4

        /// The security level that the library writes into the CKC.
        var securityLevel: SecurityLevel {
            switch self {
            case .audio: .audio
            case .sd, .hd: .baseline
            case .uhd: .main
            }
        }
    }

    /// The scheme with which the content is encrypted.
    package enum Scheme: UInt8, Sendable, CaseIterable {
        case cbcs = 1
        /// Apple's sample encryption of transport streams.
        case transportStream = 2
    }

    /// For how long the key is valid, and whether the device may keep it.
    package enum Validity: Sendable, Equatable {
        case session
        case lease(LicenseSeconds)
        case kept(Kept)
    }

    /// A key that the device keeps. Nil means no limit.
    package struct Kept: Sendable, Equatable {
        /// The ids of the key. Without them, the library writes a persistent key for a device without offline keys of
        /// version 2.
        package let name: (streamID: Bytes16, titleID: Bytes16)?
        /// The time from the moment when the device got the key: until the first play, or with no name altogether.
        package let storage: LicenseSeconds?
        /// The time after the first play.
        package let playback: LicenseSeconds?

        package init(
            name: (streamID: Bytes16, titleID: Bytes16)?, storage: LicenseSeconds?, playback: LicenseSeconds?
        ) {
            self.name = name
            self.storage = storage
            self.playback = playback
        }

        package static func == (one: Kept, other: Kept) -> Bool {
            one.name?.streamID == other.name?.streamID && one.name?.titleID == other.name?.titleID
                && (one.storage, one.playback) == (other.storage, other.playback)
        }
    }

    package let contentType: ContentType
    package let scheme: Scheme
    package let hdcp: HDCPLevel
    package let validity: Validity

    package init(contentType: ContentType, scheme: Scheme, hdcp: HDCPLevel, validity: Validity) {
        self.contentType = contentType
        self.scheme = scheme
        self.hdcp = hdcp
        self.validity = validity
    }
}

/// A term of a license that a library cannot be told, or that it would write otherwise. The request is then refused.
package enum LibraryTermError: Error, Equatable, Sendable {
    case rental
    case leaseWithRental
    /// The content type has another level.
    case securityLevel(SecurityLevel, LibraryTerms.ContentType)
    /// The content type demands another level.
    case hdcp(HDCPLevel, LibraryTerms.ContentType)
    /// The device would get an offline key instead, whose one limit ends with its first play.
    case hardEnd
    /// The device would get an offline key instead.
    case persistentKey
    /// The device would get a persistent key instead, with at most one limit.
    case offlineKeyVersion1
}

extension LibraryTermError {
    /// The name of the term, for programs.
    package var term: String {
        switch self {
        case .rental: "rental"
        case .leaseWithRental: "lease and rental"
        case .securityLevel: "security level"
        case .hdcp: "hdcp"
        case .hardEnd: "end"
        case .persistentKey: "persistent key"
        case .offlineKeyVersion1: "offline key"
        }
    }
}

extension LibraryTermError: CustomStringConvertible {
    /// One line for the log and for the client.
    package var description: String {
        switch self {
        case .rental: "a rental without a lease"
        case .leaseWithRental: "a lease together with a rental"
        case .securityLevel(let level, let type): "the security level \(level) for content of the type \(type)"
        case .hdcp(let level, let type): "the HDCP level \(level) for content of the type \(type)"
        case .hardEnd: "one hard end of an offline license for a device with offline keys of version 2"
        case .persistentKey: "a persistent key for a device with offline keys of version 2"
        case .offlineKeyVersion1: "an offline key of version 1"
        }
    }
}

extension LibraryTerms {
    /// Translates terms that were checked for the device. Throws the term that cannot be translated: the library never
    /// writes a license that differs from these terms.
    ///
    /// Without an HDCP block, a device enforces Type 0, so the block that the library always writes changes nothing.
    package init(
        _ terms: LicenseTerms, for use: ContentKeyUse, on device: DeviceFacts
    ) throws(LibraryTermError) {
        contentType = use.contentType
        scheme = use.scheme
        hdcp = terms.hdcp ?? .type0
        validity = try Validity(terms.validity, on: device)
        if let level = terms.securityLevel, level != contentType.securityLevel {
            throw .securityLevel(level, contentType)
        }
        let isEnough =
            switch contentType {
            case .audio, .sd: true
            case .hd: hdcp > .none
            case .uhd: hdcp == .type1
            }
        guard isEnough else { throw .hdcp(hdcp, contentType) }
    }
}

extension LibraryTerms.Validity {
    fileprivate init(_ validity: LicenseTerms.Validity, on device: DeviceFacts) throws(LibraryTermError) {
        switch validity {
        case .session: self = .session
        case .duration(.lease(let lease)): self = .lease(lease)
        case .duration(.rental): throw .rental
        case .duration(.leaseAndRental): throw .leaseWithRental
        // For a device with offline keys of version 2 the library writes an offline key, and for others a persistent
        // key (protocol, section 4.3).
        case .duration(.persistent):
            guard !device.capabilities.contains(.offlineKeyVersion2) else { throw .persistentKey }
            self = .kept(.init(name: nil, storage: nil, playback: nil))
        case .duration(.persistentLimited(let end)):
            guard !device.capabilities.contains(.offlineKeyVersion2) else { throw .hardEnd }
            self = .kept(.init(name: nil, storage: end, playback: nil))
        case .offlineKey(let key):
            guard case .version2(let streamID, let titleID) = key.name else { throw .offlineKeyVersion1 }
            self = .kept(.init(name: (streamID, titleID), storage: key.storage, playback: key.playback))
        }
    }
}

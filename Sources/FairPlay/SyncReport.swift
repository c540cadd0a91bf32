package import ByteCoding

/// The report in a sync SPC about a key that the device keeps (protocol, section 4.4). The answer to it has no CKC.
package struct SyncReport: Sendable, Equatable {
    /// The keys that the report is about, and the further fields that only newer devices send.
    package enum Subject: Sendable, Equatable {
        case version1(contentID: Bytes16)
        case version2(SyncReportVersion2)
    }

    /// The time until the key expires.
    package enum Remaining: Sendable, Equatable {
        case expired
        case seconds(UInt32)
        case unlimited

        package init(wireValue: UInt32) {
            self =
                switch wireValue {
                case 0: .expired
                case .max: .unlimited
                case let seconds: .seconds(seconds)
                }
        }

        package var wireValue: UInt32 {
            switch self {
            case .expired: 0
            case .seconds(let seconds): seconds
            case .unlimited: .max
            }
        }
    }

    package let subject: Subject
    package let remaining: Remaining

    package init(_ subject: Subject, remaining: Remaining) {
        self.subject = subject
        self.remaining = remaining
    }

    /// The number that this server sent to the device, which proves that the report is fresh; nil if the report has
    /// none.
    package var challenge: UInt64? {
        switch subject {
        case .version1: nil
        case .version2(let report): report.challenge == 0 ? nil : report.challenge
        }
    }
}

/// The further fields of a sync report of version 2.
package struct SyncReportVersion2: Sendable, Equatable {
    /// The challenge; 0 if the report has none.
    package let challenge: UInt64
    package let flags: SyncFlags
    package let titleID: Bytes16
    /// The keys that were invalidated, at most `streamIDCountMaximum`.
    package let streamIDs: [Bytes16]

    package static let streamIDCountMaximum = 250

    package init(challenge: UInt64, flags: SyncFlags, titleID: Bytes16, streamIDs: [Bytes16]) {
        self.challenge = challenge
        self.flags = flags
        self.titleID = titleID
        self.streamIDs = streamIDs
    }
}

/// The flags of a sync report: what the server asked for, and the result.
package struct SyncFlags: OptionSet, Sendable, Equatable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static let report = SyncFlags(rawValue: 1 << 0)
    package static let secureInvalidation = SyncFlags(rawValue: 1 << 1)
    package static let secureInvalidationOfAll = SyncFlags(rawValue: 1 << 2)
    /// The meaning of this bit comes from one source only.
    package static let titleIDIsValid = SyncFlags(rawValue: 1 << 3)
    package static let success = SyncFlags(rawValue: 1 << 16)
    package static let objectNotFound = SyncFlags(rawValue: 1 << 17)
    package static let objectExpired = SyncFlags(rawValue: 1 << 18)
}

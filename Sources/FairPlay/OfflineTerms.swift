package import ByteCoding

/// The limits of an offline license, and the IDs of its key.
package struct OfflineTerms: Sendable, Equatable {
    /// When the key expires.
    package enum Expiry: Sendable, Equatable {
        case never
        /// The key expires this many seconds after the device got it, whether it is played or not.
        case hardEnd(LicenseSeconds)
        /// `storage` is the time until the first play, and `playback` is the time after it. Nil means no limit; at
        /// least one of them is set.
        case aroundFirstPlay(storage: LicenseSeconds?, playback: LicenseSeconds?)
    }

    package var expiry: Expiry
    /// The ID of this key.
    package var streamID: Bytes16
    /// The ID of the title, which all keys of the title share.
    package var titleID: Bytes16

    package init(_ expiry: Expiry, streamID: Bytes16, titleID: Bytes16) {
        self.expiry = expiry
        self.streamID = streamID
        self.titleID = titleID
    }

    /// Chooses the form of the terms for a device (protocol, section 4.3).
    ///
    /// A hard end becomes a persistent key with that end. Other terms become an offline key of version 2 if the device
    /// supports it, otherwise one of version 1, otherwise a persistent key, which has at most one limit.
    ///
    /// An offline key has no hard end. Two halves, one for storage and one for playback, never outlive it, but an
    /// unplayed key then ends at half of the time. The hard end is divided only if the policy wants keys that can be
    /// reported and invalidated, or if the device sent no playback state and therefore takes no persistent key with an
    /// end. A hard end of one second cannot be divided. Throws `dualExpiryUnsupported` and
    /// `durationNeedsPlaybackState` if a limit would be lost.
    package func validity(
        for device: DeviceFacts, by policy: DevicePolicy
    ) throws(LicenseTermsError) -> LicenseTerms.Validity {
        guard let name = name(for: device) else { return .duration(try persistentKey) }
        switch expiry {
        case .never: return .offlineKey(OfflineKey(name, storage: nil, playback: nil))
        case .aroundFirstPlay(let storage, let playback):
            return .offlineKey(OfflineKey(name, storage: storage, playback: playback))
        case .hardEnd(let end):
            let takesEnd = device.playbackState != nil
            if takesEnd, !policy.splitsHardEnds { return .duration(.persistentLimited(end)) }
            let playback = end.value / 2
            guard let storage = LicenseSeconds(UInt64(end.value - playback)),
                let playback = LicenseSeconds(UInt64(playback))
            else {
                guard takesEnd else { throw .durationNeedsPlaybackState }
                return .duration(.persistentLimited(end))
            }
            return .offlineKey(OfflineKey(name, storage: storage, playback: playback))
        }
    }

    /// Returns the name of the key in the newest offline key block that the device supports; nil if it supports none.
    private func name(for device: DeviceFacts) -> OfflineKey.Name? {
        if device.capabilities.contains(.offlineKeyVersion2) {
            return .version2(streamID: streamID, titleID: titleID)
        }
        return device.supportsOfflineKey ? .version1(contentID: streamID) : nil
    }

    /// The terms as a persistent key, for a device without support for offline keys. The key may expire too early, but
    /// never too late.
    private var persistentKey: KeyDuration {
        get throws(LicenseTermsError) {
            switch expiry {
            case .never, .aroundFirstPlay(nil, nil): .persistent
            case .hardEnd(let end), .aroundFirstPlay(let end?, nil): .persistentLimited(end)
            case .aroundFirstPlay(_, .some): throw .dualExpiryUnsupported
            }
        }
    }
}

/// The offline key block: a key that a device keeps, with one limit until its first play and one after it (protocol,
/// section 4.3).
///
///     offset  size  version 1          version 2
///          0     4  1                  2
///          4     4  0                  0
///          8    16  content id         stream id
///         24     4  storage seconds    storage seconds
///         28     4  playback seconds   playback seconds
///         32    16                     title id
package struct OfflineKey: Sendable, Equatable {
    /// The IDs of the key in later reports of the device.
    package enum Name: Sendable, Equatable {
        case version1(contentID: Bytes16)
        /// The stream ID belongs to this key only. The title ID belongs to all keys of one title, so that they can be
        /// reported and invalidated together.
        case version2(streamID: Bytes16, titleID: Bytes16)
    }

    package let name: Name
    /// The time until the first play, counted from the moment when the device got the key; nil means no limit.
    package let storage: LicenseSeconds?
    /// The time after the first play; nil means no limit.
    package let playback: LicenseSeconds?

    package init(_ name: Name, storage: LicenseSeconds?, playback: LicenseSeconds?) {
        self.name = name
        self.storage = storage
        self.playback = playback
    }
}

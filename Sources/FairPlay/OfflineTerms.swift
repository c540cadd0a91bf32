package import ByteCoding

/// What an offline licence may not exceed, and the names that it gives its key.
package struct OfflineTerms: Sendable, Equatable {
    /// When the key ends.
    package enum Expiry: Sendable, Equatable {
        case never
        /// So long after it is acquired, played or not.
        case hardEnd(LicenseSeconds)
        /// So long after it is acquired until its first play, and so long from then on; nil is no limit, and one of
        /// them is set.
        case aroundFirstPlay(storage: LicenseSeconds?, playback: LicenseSeconds?)
    }

    package var expiry: Expiry
    /// Belongs to this key alone.
    package var streamID: Bytes16
    /// Belongs to all keys of one title.
    package var titleID: Bytes16

    package init(_ expiry: Expiry, streamID: Bytes16, titleID: Bytes16) {
        self.expiry = expiry
        self.streamID = streamID
        self.titleID = titleID
    }

    /// How the device is told of it (protocol, section 4.3): by an offline key of version 2 if it knows that, else
    /// of version 1, else by a persistent key, which has one end at most.
    ///
    /// An offline key has no hard end, so its two expiries share the time: the first half is for the first play, the
    /// second half begins with it. The key then never outlives the end, and it can be reported and invalidated, as a
    /// persistent key cannot. A single second has no halves. Throws `dualExpiryUnsupported` and
    /// `durationNeedsPlaybackState` if a limit would be lost.
    package func validity(
        for device: DeviceFacts, by policy: DevicePolicy
    ) throws(LicenseTermsError) -> LicenseTerms.Validity {
        guard let name = name(for: device, by: policy) else { return .duration(try persistentKey) }
        switch expiry {
        case .never: return .offlineKey(OfflineKey(name, storage: nil, playback: nil))
        case .aroundFirstPlay(let storage, let playback):
            return .offlineKey(OfflineKey(name, storage: storage, playback: playback))
        case .hardEnd(let end):
            let playback = end.value / 2
            guard let storage = LicenseSeconds(UInt64(end.value - playback)),
                let playback = LicenseSeconds(UInt64(playback))
            else {
                guard device.playbackState != nil else { throw .durationNeedsPlaybackState }
                return .duration(.persistentLimited(end))
            }
            return .offlineKey(OfflineKey(name, storage: storage, playback: playback))
        }
    }

    /// The key's name in the newest offline key block that the device knows; nil if it knows none.
    private func name(for device: DeviceFacts, by policy: DevicePolicy) -> OfflineKey.Name? {
        if device.capabilities.contains(.offlineKeyVersion2) {
            return .version2(streamID: streamID, titleID: titleID)
        }
        return device.supportsOfflineKey(by: policy) ? .version1(contentID: streamID) : nil
    }

    /// For a device that knows no offline key: its one end may come early, and never late.
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

/// The offline key block: a key that a device keeps, with an end before its first use and another one after it
/// (protocol, section 4.3).
///
///     offset  size  version 1          version 2
///          0     4  1                  2
///          4     4  0                  0
///          8    16  content id         stream id
///         24     4  storage seconds    storage seconds
///         28     4  playback seconds   playback seconds
///         32    16                     title id
package struct OfflineKey: Sendable, Equatable {
    /// What names the key in later reports of the device.
    package enum Name: Sendable, Equatable {
        case version1(contentID: Bytes16)
        /// The stream id belongs to this key alone; the title id to all keys of one title, which can then be reported
        /// and invalidated at once.
        case version2(streamID: Bytes16, titleID: Bytes16)
    }

    package let name: Name
    /// How long the key is good until it is first used, counted from its acquisition; nil is no limit.
    package let storage: LicenseSeconds?
    /// How long it is good from its first use; nil is no limit.
    package let playback: LicenseSeconds?

    package init(_ name: Name, storage: LicenseSeconds?, playback: LicenseSeconds?) {
        self.name = name
        self.storage = storage
        self.playback = playback
    }
}

package import ByteCoding

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

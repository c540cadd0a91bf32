/// The tags of TLLV blocks, in hexadecimal as in protocol, section 2.
///
/// They are not the cases of an enumeration, because unknown tags are normal: they are kept, and a return request may
/// name them.
package enum TLLVTag {
    // MARK: - In an SPC (section 2.1)

    package static let sessionKeyBlock: UInt64 = 0x3d1a_10b8_bffa_c2ec
    package static let sessionKeyIntegrity: UInt64 = 0xb349_d480_9e91_0687
    package static let antiReplaySeed: UInt64 = 0x89c9_0f12_2041_06b2
    package static let r2: UInt64 = 0x71b5_595a_c152_1133
    package static let tagReturnRequest: UInt64 = 0x19f9_d4e5_ab76_09cb
    package static let assetID: UInt64 = 0x1bf7_f53f_5d5d_5a1f
    package static let transactionID: UInt64 = 0x47aa_7ad3_4405_77de
    package static let protocolVersionsSupported: UInt64 = 0x67b8_fb79_ecce_1a13
    package static let protocolVersionUsed: UInt64 = 0x5d81_bcbc_c7f6_1703
    package static let streamingIndicator: UInt64 = 0xabb0_256a_3184_3974
    package static let mediaPlaybackState: UInt64 = 0xeb8e_fdf2_b25a_b3a0
    package static let capabilities: UInt64 = 0x9c02_af32_53c0_7fb2
    package static let deviceIdentity: UInt64 = 0x94c1_7cd6_76c6_9b59
    package static let deviceInfo: UInt64 = 0xd43f_c6ab_c596_aae7
    package static let kextDenyListVersion: UInt64 = 0x70ec_a657_3388_e329
    package static let securityLevelReport: UInt64 = 0xb18e_e16e_a50f_6c02
    package static let supportedKeyFormats: UInt64 = 0x8d8e_84fa_6cc3_5eb7
    package static let virtualMachineInfo: UInt64 = 0x7564_40e2_4049_9f70
    package static let sync: UInt64 = 0x7796_6de1_dc10_83ad
    package static let sessionKeyBlockVideo: UInt64 = 0x697a_f621_3858_562f
    package static let r2Video: UInt64 = 0xdb30_b89d_cb58_34b3

    // MARK: - In a CKC (section 2.2)

    package static let contentKey: UInt64 = 0x58b3_8165_af0e_3d5a
    package static let r1: UInt64 = 0xea74_c464_5d5e_fee9
    package static let contentKeyDuration: UInt64 = 0x47ac_f6a4_18cd_091a
    package static let offlineKey: UInt64 = 0x6375_d972_7060_218c
    package static let hdcpEnforcement: UInt64 = 0x2e52_f153_0d8d_db4a
    package static let requiredSecurityLevel: UInt64 = 0x644c_b1da_c031_3250
    package static let sessionKeyVersionUsed: UInt64 = 0x42ca_089e_8e9f_a924
    /// A block of 8 bytes in some of Apple's sample CKCs. No device needs it, and this server never sends it.
    package static let unnamedInSamples: UInt64 = 0xe6d0_a3e7_2c92_a4ef

    /// The tags of the blocks that the server writes into a CKC. A return request must not name them, because the CKC
    /// would then have duplicate tags.
    package static let carriedByCKC: [UInt64] = [
        contentKey, r1, contentKeyDuration, offlineKey, hdcpEnforcement, requiredSecurityLevel, sessionKeyVersionUsed,
    ]

    /// Returns the name of a block for people; nil for an unknown tag.
    package static func name(of tag: UInt64) -> String? {
        names[tag]
    }

    private static let names: [UInt64: String] = [
        sessionKeyBlock: "SK..R1 (encrypted session key, device and R1)",
        sessionKeyIntegrity: "SK..R1 integrity",
        antiReplaySeed: "anti-replay seed",
        r2: "R2",
        tagReturnRequest: "tag return request",
        assetID: "asset id",
        transactionID: "transaction id",
        protocolVersionsSupported: "protocol versions supported",
        protocolVersionUsed: "protocol version used",
        streamingIndicator: "streaming indicator",
        mediaPlaybackState: "media playback state",
        capabilities: "capabilities",
        deviceIdentity: "device identity",
        deviceInfo: "device info",
        kextDenyListVersion: "kext deny list version",
        securityLevelReport: "security level report",
        supportedKeyFormats: "supported key formats",
        virtualMachineInfo: "virtual machine info",
        sync: "sync",
        sessionKeyBlockVideo: "SK..R1 for video",
        r2Video: "R2 for video",
        contentKey: "encrypted content key",
        r1: "R1",
        contentKeyDuration: "content key duration",
        offlineKey: "offline key",
        hdcpEnforcement: "HDCP enforcement",
        requiredSecurityLevel: "required security level",
        sessionKeyVersionUsed: "session key version used",
    ]
}

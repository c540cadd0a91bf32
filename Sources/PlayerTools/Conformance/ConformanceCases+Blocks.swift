import DeviceSimulation
import FairPlay

extension ConformanceCase {
    /// Unknown blocks, padding, return requests, and what devices report of themselves.
    static let blocks =
        unknownBlocks + returnRequests
        + [
            license(.blocks, "no streaming indicator", rule: "2.1") { $0.streamingIndicator = nil },
            license(.blocks, "output on the device itself", rule: "2.1") { $0.streamingIndicator = .local },
            license(.blocks, "output over AirPlay", rule: "2.1") { $0.streamingIndicator = .airPlay },
            license(.blocks, "output over a digital AV adapter", rule: "2.1") { $0.streamingIndicator = .avAdapter },
            license(.blocks, "no capabilities", rule: "4.5") { $0.capabilities = nil },
            license(.blocks, "capability bits without a name", rule: "4.5") {
                $0.capabilities = Capabilities(rawValue: .max)
            },
            license(.blocks, "info of an older device", rule: "2.1") {
                $0.deviceInfo = DeviceInfo(
                    rawType: DeviceType.mobile.rawValue, operatingSystem: OperatingSystemVersion(rawValue: 0x0c_0402))
            },
            license(.blocks, "encrypted security level report", rule: "2.1") { $0.securityLevel = .encrypted },
            license(.blocks, "sync block of version 0", rule: "4.4") { $0.sync = .nothing },
            license(.blocks, "everything that a device reports, version 2", version: .v2, rule: "2.1", change: full),
            license(.blocks, "everything that a device reports, version 3", version: .v3, rule: "2.1", change: full),
        ]

    private static let unknownBlocks = [
        license(.blocks, "no unknown block", rule: "2") { $0.unknownBlockCount = 0 },
        license(.blocks, "30 unknown blocks", rule: "2") { $0.unknownBlockCount = 30 },
        license(.blocks, "30 unknown blocks, version 2", version: .v2, rule: "2") { $0.unknownBlockCount = 30 },
        license(.blocks, "blocks in a fixed order", rule: "2") { $0.shufflesBlocks = false },
        license(.blocks, "value of 0 bytes", rule: "2") { $0.otherBlocks = [unknown(size: 0, extraBlocks: 0)] },
        license(.blocks, "value of 0 bytes in a block of 16", rule: "2") { $0.otherBlocks = [unknown(size: 0)] },
        license(.blocks, "value that fills its block", rule: "2") {
            $0.otherBlocks = [unknown(size: 32, extraBlocks: 0)]
        },
        license(.blocks, "192 bytes of padding", rule: "2") { $0.otherBlocks = [unknown(size: 21, extraBlocks: 11)] },
        license(.blocks, "2,048 bytes of padding", rule: "2") { $0.otherBlocks = [unknown(size: 1, extraBlocks: 127)] },
        license(.blocks, "blocks that are seen, and have no name", rule: "2.1") {
            $0.otherBlocks = unnamed
            $0.returnRequest = [TLLVTag.assetID, TLLVTag.transactionID, 0xc392_ec58_91ef_a7d0]
        },
        license(.blocks, "a block of CKCs that is not asked back", rule: "2.3") {
            $0.otherBlocks = [DeviceBlock(TLLVTag.contentKey, [UInt8](repeating: 7, count: 32))]
            $0.returnRequest = [TLLVTag.assetID]
        },
    ]

    private static let returnRequests = [
        license(.blocks, "empty return request", rule: "2.3") { $0.returnRequest = [] },
        license(.blocks, "return request that repeats a block", rule: "2.3") {
            $0.returnRequest = [TLLVTag.assetID, TLLVTag.transactionID, TLLVTag.assetID]
        },
        license(.blocks, "return request in another order than the blocks", rule: "2.3") {
            $0.shufflesBlocks = false
            $0.returnRequest = [TLLVTag.transactionID, TLLVTag.assetID, TLLVTag.capabilities]
        },
        license(.blocks, "return request for the streaming indicator", rule: "2.3") {
            $0.streamingIndicator = .local
            $0.returnRequest = [TLLVTag.assetID, TLLVTag.transactionID, TLLVTag.streamingIndicator]
        },
        license(.blocks, "return request of 7 blocks, version 2", version: .v2, rule: "2.3") {
            $0.otherBlocks = unnamed
            $0.returnRequest = unnamed.map(\.tag) + [TLLVTag.assetID, TLLVTag.mediaPlaybackState]
        },
        license(.blocks, "return request for a value of 0 bytes", rule: "2.3") {
            $0.otherBlocks = [unknown(size: 0)]
            $0.returnRequest = [TLLVTag.assetID, unknown(size: 0).tag]
        },
    ]

    private static func unknown(size: Int, extraBlocks: Int = 1) -> DeviceBlock {
        DeviceBlock(0x0123_4567_89ab_cdef, [UInt8](repeating: 0x5a, count: size), extraBlocks: extraBlocks)
    }

    private static let unnamed = [
        (0x90ac_153d_acff_0416, 16), (0x82c2_a59e_989c_d817, 88), (0xa8f4_7e43_af7e_84e8, 8),
        (0xc392_ec58_91ef_a7d0, 8), (0xc7c6_7fdb_af10_fb7e, 20),
    ].map { (tag: UInt64, size: Int) in DeviceBlock(tag, [UInt8](repeating: 0x33, count: size)) }

    private static let full: Change = { options in
        let system = OperatingSystemVersion(rawValue: 0x1a_0100)
        let side = VirtualMachineInfo.Side(deviceClass: .unknown, operatingSystem: system, protocolVersion: 0)
        options.streamingIndicator = .local
        options.deviceIdentity = DeviceIdentity(
            version: 1, deviceClass: .appleMobile, vendorHash: 1, productHash: 2, systemFairPlayVersion: 3,
            trustedFairPlayVersion: 4, operatingSystem: system)
        options.denyListVersion = 31
        options.securityLevel = .report(
            SecurityLevelReport(rawLevel: SecurityLevel.main.rawValue, denyListVersion: 31))
        options.keyFormats = [TLLVTag.contentKey]
        options.virtualMachine = VirtualMachineInfo(version: 0, host: side, guest: side)
        options.sync = .nothing
    }
}

import DeviceSimulation
import FairPlay

extension ConformanceCase {
    /// Values of the smallest and the largest sizes, and longer ones than a server knows.
    static let sizes = [
        license(.sizes, "asset id of 2 bytes", rule: "2.1") { $0.assetID = ConformanceKind.shortAssetID },
        license(.sizes, "asset id of 200 bytes", rule: "2.1") { $0.assetID = ConformanceKind.longAssetID },
        license(.sizes, "asset id that is not text", rule: "2.1") { $0.assetID = ConformanceKind.binaryAssetID },
        license(.sizes, "asset id that is not text, version 2", version: .v2, rule: "2.1") {
            $0.assetID = ConformanceKind.binaryAssetID
        },
        license(.sizes, "SPC of 5 KB, version 3", version: .v3, rule: "1.2") {
            $0.otherBlocks = [DeviceBlock(0x0123_4567_89ab_cdef, [UInt8](repeating: 0x5a, count: 4000))]
        },
        license(.sizes, "64 key formats", rule: "2.1") {
            $0.keyFormats = (0..<63).map { 0x1000 + $0 } + [TLLVTag.contentKey]
        },
        longer("device identity", TLLVTag.deviceIdentity, size: 52),
        longer("device info", TLLVTag.deviceInfo, size: 24),
        longer("virtual machine info", TLLVTag.virtualMachineInfo, size: 32),
        license(.sizes, "security level report of another version", rule: "2.1") {
            $0.otherBlocks = [DeviceBlock(TLLVTag.securityLevelReport, [0, 0, 0, 3] + zeros(16))]
        },
        license(.sizes, "blocks for a video session key, version 2", version: .v2, rule: "2.1") {
            $0.otherBlocks = [
                DeviceBlock(TLLVTag.sessionKeyBlockVideo, [UInt8](repeating: 9, count: 256)),
                DeviceBlock(TLLVTag.r2Video, [UInt8](repeating: 8, count: 64)),
            ]
        },
    ]

    private static func longer(_ name: String, _ tag: UInt64, size: Int) -> ConformanceCase {
        license(
            .sizes, "\(name) of \(size) bytes", rule: "2.1",
            tolerance: "a server may know only the shorter form"
        ) { $0.otherBlocks = [DeviceBlock(tag, zeros(size))] }
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}

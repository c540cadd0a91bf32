import Foundation
import TestSupport
import Testing

/// The folder of Apple's public test vectors, which is not in the repository: `LATCHKEY_VECTORS`, or
/// `../shared/vectors` beside the repository.
enum PublicVectors {
    static let folder: URL = {
        let named = ProcessInfo.processInfo.environment["LATCHKEY_VECTORS"]
        let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return named.map { URL(filePath: $0) } ?? repository.appending(path: "../shared/vectors").standardized
    }()

    static var isPresent: Bool {
        let isThere = FileManager.default.fileExists(atPath: folder.appending(path: "dev_certificate.der").path)
        if !isThere { print("The public vectors are not in \(folder.path); set LATCHKEY_VECTORS to test with them.") }
        return isThere
    }

    static func read(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appending(path: name)))
    }

    /// The DASk of all vectors, read from their description.
    static func fixedDASk() throws -> [UInt8] {
        let text = String(decoding: try read("README.md"), as: UTF8.self)
        guard let match = text.firstMatch(of: /fixed DASk `([0-9a-f]{32})`/) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        return hex(String(match.1))
    }
}

/// The expected values of one SPC and its sample answer (protocol, sections 7.2 and 7.3), as hexadecimal digits.
struct PublicVector: Sendable, CustomTestStringConvertible {
    let name: String
    let payloadKey: String
    let sessionKey: String
    let licenseKey: String
    let deviceID: String
    let r1: String
    let integrity: String
    let antiReplaySeed: String
    let transactionID: UInt64
    let streamingIndicator: UInt64?
    let assetID: String
    let blockCount: Int?
    let echoCount: Int
    let supportedVersions: [UInt32]
    let playbackDate: UInt32?
    let sessionID: UInt64?
    let contentKey: String
    let contentIV: String
    let lease: UInt32?

    var testDescription: String { name }
    var answerName: String { name.replacing("spc", with: "ckc") }

    private static let ivOfOne = "546865517569636b42726f776e466f78"
    private static let one = hex(Array("one".utf8))
    private static let binary = "aabbccddeeffaabbccddeeffaabbccddeeff"

    static let all: [PublicVector] = [
        PublicVector(
            name: "FPS/spc1.bin", payloadKey: "dd7139eafaceed7cda9f25da8aa915ea",
            sessionKey: "afb46e7bf5f31596c1c676dc15e14dc6",
            licenseKey: "cb0d802549396b9c8d636d5e64594cbe", deviceID: "d8551263737065d5e700d7b4a5ddfb4f8b194df1",
            r1: "2752008e1c11e224e8eb07eec4a09d17440a6372d5dc2109e550ecac9860613f8b7a8be6b45a69832d9e8ce7",
            integrity: "54a16be0137ef259ab3e4fc79690825f", antiReplaySeed: "f3c69d1e8cc4275a6d3286d332613e13",
            transactionID: 0x1473_e5cc_53e1_e5d6, streamingIndicator: nil, assetID: binary,
            blockCount: 26, echoCount: 7, supportedVersions: [1], playbackDate: nil,
            sessionID: nil, contentKey: "3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b",
            contentIV: "d5fbd6b82ed93e4ef98ae40931ee33b7", lease: nil),
        PublicVector(
            name: "FPS/spc2.bin", payloadKey: "3333c8c3bc52aa2eb0d94e0faa356b1b",
            sessionKey: "a663ff9aa82c5915f24d652489febdde",
            licenseKey: "368bc22bda69ca2198794c7490eada76", deviceID: "d35e91a6b3163e47a9ec65fd3d59bac672d0ac7e",
            r1: "bbbb2262f75b87afde905fd2c516411d3f18c84b885feddbe082f4749c6fc224b9d7bbbbbbbbbbbbbbbbbbbb",
            integrity: "11664fe96e8cb836aa2eb064e8656611", antiReplaySeed: "2d9e8f2897c0c7a717e0955d3ceafa2d",
            transactionID: 0xdead_c0de_dead_c0de, streamingIndicator: 0x891d_bf47_c0e6_66ab, assetID: one,
            blockCount: nil, echoCount: 3, supportedVersions: [1], playbackDate: nil,
            sessionID: nil, contentKey: "31313131313131313131313131313131",
            contentIV: ivOfOne, lease: nil),
        PublicVector(
            name: "FPS/spc3.bin", payloadKey: "dd7139eafaceed7cda9f25da8aa915ea",
            sessionKey: "076fe16ccc49de38312476fd5bdf3ffb",
            licenseKey: "1a75b7f644cc92d385bfa12c8afb37f4", deviceID: "d8551263737065d5e700d7b4a5ddfb4f8b194df1",
            r1: "02225dfe75e8afe5fb761d00c37cf4258a9a7dbf0a8aef37269d736137c7227be04f3042275f95adf9226d8b",
            integrity: "54a16be0137ef259ab3e4fc79690825f", antiReplaySeed: "e0b4f262f76b546d85f622a6ff486cab",
            transactionID: 0x1473_e5cc_53e1_e5d6, streamingIndicator: nil, assetID: binary,
            blockCount: 36, echoCount: 7, supportedVersions: [1], playbackDate: nil,
            sessionID: nil, contentKey: "3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b3b",
            contentIV: "d5fbd6b82ed93e4ef98ae40931ee33b7", lease: nil),
        PublicVector(
            name: "FPS-Lease/spc1.bin", payloadKey: "3333c8c3bc52aa2eb0d94e0faa356b1b",
            sessionKey: "a663ff9aa82c5915f24d652489febdde",
            licenseKey: "e4c1c0ac4689609ea8f8109b230b1616", deviceID: "d35e91a6b3163e47a9ec65fd3d59bac672d0ac7e",
            r1: "64b29aff9f0ee2e031f539311ff3a4ac58e42ce1653389f8e0616d5843abb41fef97882565d5f5110c8e39ca",
            integrity: "829b4634855d657cfeac627e2d6d635a", antiReplaySeed: "2d9e8f2897c0c7a717e0955d3ceafa2d",
            transactionID: 0x136b_1a97_a3d6_b0fa, streamingIndicator: 0xd94c_0c9d_19ee_43b0, assetID: one,
            blockCount: nil, echoCount: 3, supportedVersions: [1, 2], playbackDate: 1_400_716_283,
            sessionID: 0x3de0_def2_3f0c_a33c, contentKey: "31313131313131313131313131313131",
            contentIV: ivOfOne, lease: 120),
        PublicVector(
            name: "FPS-Lease/spc2.bin", payloadKey: "3333c8c3bc52aa2eb0d94e0faa356b1b",
            sessionKey: "a663ff9aa82c5915f24d652489febdde",
            licenseKey: "977f8c927854b9548fefd18a4bb6cc8f", deviceID: "d35e91a6b3163e47a9ec65fd3d59bac672d0ac7e",
            r1: "f8b2cef4b40ca8fbf53090a3f920dde7c26bd6492c29b9bf89121d84c271bea891c6dcde15206c8f3111037b",
            integrity: "9b8a873c18a209805fed9d95017476fd", antiReplaySeed: "2d9e8f2897c0c7a717e0955d3ceafa2d",
            transactionID: 0xed82_df93_e626_cd3c, streamingIndicator: 0x4150_d4cf_bae8_f8da, assetID: one,
            blockCount: nil, echoCount: 3, supportedVersions: [1, 2], playbackDate: 1_400_716_321,
            sessionID: 0xe1ab_073f_1e46_6727, contentKey: "31313131313131313131313131313131",
            contentIV: ivOfOne, lease: 120),
        PublicVector(
            name: "FPS-Lease/spc3.bin", payloadKey: "3333c8c3bc52aa2eb0d94e0faa356b1b",
            sessionKey: "a663ff9aa82c5915f24d652489febdde",
            licenseKey: "169b89c560c778f61a495554ba3b2dba", deviceID: "d35e91a6b3163e47a9ec65fd3d59bac672d0ac7e",
            r1: "92bd7fa961afeb07a4a970302ef2c070fe3b1556b513099d04e261e034261d16d8783a6e319c287eecbb4d71",
            integrity: "7d294e468a7a1fb2e72360b0739ab3e2", antiReplaySeed: "2d9e8f2897c0c7a717e0955d3ceafa2d",
            transactionID: 0x4149_c029_70b5_11ae, streamingIndicator: 0xdf14_aa97_b9c0_05f0, assetID: one,
            blockCount: nil, echoCount: 3, supportedVersions: [1, 2], playbackDate: 1_400_716_353,
            sessionID: 0x2015_e6d4_8e93_8b99, contentKey: "31313131313131313131313131313131",
            contentIV: ivOfOne, lease: 120),
    ]
}

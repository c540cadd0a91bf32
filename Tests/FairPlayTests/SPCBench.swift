import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport

/// A device and a server with the same credential, for tests of single blocks.
struct SPCBench {
    let crypto: CryptoContext
    let server: TestServer
    private let device: SimulatedDevice

    init() throws {
        crypto = try CryptoContext()
        let fixture = try TestCredential.shared.get()
        server = try TestServer([fixture.credential])
        device = try fixture.makeDevice(.v1, using: crypto)
    }

    /// An SPC of version 1 with only the required blocks and these changes.
    func request(_ change: (inout DeviceOptions) -> Void) throws -> DeviceRequest {
        var options = DeviceOptions(version: .v1, assetID: Array("movie-1".utf8))
        options.unknownBlockCount = 0
        change(&options)
        return try device.makeRequest(options)
    }

    /// The same SPC, opened by the server.
    func open(_ change: (inout DeviceOptions) -> Void = { _ in }) throws -> SPC {
        try server.open(request(change).message)
    }

    /// The device facts of an SPC with one additional block.
    func facts(_ tag: UInt64, _ value: [UInt8]) throws -> DeviceFacts {
        try open { $0.otherBlocks = [DeviceBlock(tag, value)] }.device
    }
}

func zeros(_ count: Int) -> [UInt8] {
    [UInt8](repeating: 0, count: count)
}

func words(_ words: UInt32...) -> [UInt8] {
    words.flatMap { bigEndianBytes($0) }
}

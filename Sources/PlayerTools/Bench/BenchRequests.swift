import ByteCoding
import CommandLineKit
import DeviceSimulation
import FairPlay
import Foundation
import KeyCrypto
import Synchronization

/// The requests of a load, which are made before it begins.
struct BenchRequests: Sendable {
    struct Request: Sendable {
        let body: [UInt8]
        /// The secrets that open the CKCs, one for each SPC. Only requests whose CKCs are checked keep them.
        let secrets: [RequestSecrets]
    }

    private(set) var all: [Request] = []

    mutating func append(_ request: Request) {
        all.append(request)
    }

    /// The memory of the requests in bytes, without that of the few kept secrets.
    var size: Int { all.reduce(0) { $0 + $1.body.count + MemoryLayout<Request>.stride + Self.arrayHeaderSize } }

    private static let arrayHeaderSize = 32
    private static let requestsPerRound = 2_000

    /// Makes the requests on all cores.
    static func make(
        _ count: Int, checkEvery: Int, by maker: BenchRequestMaker, _ context: CommandContext
    ) throws(CommandError) -> BenchRequests {
        var requests = BenchRequests()
        requests.all.reserveCapacity(count)
        var progress = CommandProgress(context, unit: "requests made", total: count)
        while requests.all.count < count {
            let next = requests.all.count..<min(count, requests.all.count + requestsPerRound)
            requests.all += try makeRound(next, checkEvery: checkEvery, by: maker)
            progress.show(requests.all.count)
        }
        progress.clear()
        return requests
    }

    private static func makeRound(
        _ numbers: Range<Int>, checkEvery: Int, by maker: BenchRequestMaker
    ) throws(CommandError) -> [Request] {
        let cores = max(1, ProcessInfo.processInfo.activeProcessorCount)
        let made = Mutex<[Int: Result<[Request], CryptoError>]>([:])
        DispatchQueue.concurrentPerform(iterations: cores) { core in
            let share = numbers.count * core / cores..<numbers.count * (core + 1) / cores
            let part = Result { () throws(CryptoError) in
                let crypto = try CryptoContext()
                return try share.map { (offset) throws(CryptoError) in
                    let number = numbers.lowerBound + offset
                    return try maker.make(number, isChecked: number % checkEvery == 0, using: crypto)
                }
            }
            made.withLock { $0[core] = part }
        }
        let parts = made.withLock { made in (0..<cores).compactMap { made[$0] } }
        return try wrap(CommandError.cryptography) { () throws(CryptoError) in
            var requests: [Request] = []
            for part in parts { requests += try part.get() }
            return requests
        }
    }
}

/// Makes the requests of a load for the certificates of one server.
///
/// Versions and asset ids take turns: all versions for one asset id, then the next.
struct BenchRequestMaker: Sendable {
    /// Each version with the certificate for which its key is wrapped. There is at least one.
    let versions: [(version: SPCVersion, certificate: Certificate)]
    let assetIDs: [[UInt8]]
    let ladder: ApplicationSecretKeyLadder
    /// The time that the SPCs state, in seconds since 1970.
    let now: Int64
    /// The number of SPCs in each request. If there are several, the request is Apple's JSON object of streaming keys.
    let keyCount: Int

    /// Makes the request of a number. A checked request keeps its secrets.
    func make(
        _ number: Int, isChecked: Bool, using crypto: CryptoContext
    ) throws(CryptoError) -> BenchRequests.Request {
        let numbers = number * keyCount..<(number + 1) * keyCount
        let spcs = try numbers.map { (number) throws(CryptoError) in try makeSPC(number, using: crypto) }
        return BenchRequests.Request(body: body(of: spcs), secrets: isChecked ? spcs.map(\.secrets) : [])
    }

    private func body(of spcs: [DeviceRequest]) -> [UInt8] {
        keyCount == 1 ? spcs[0].message : PlayerBody.streamingKeys(spcs.map(\.message))
    }

    /// Makes the SPC of a number: of a new device in a new playback session.
    private func makeSPC(_ number: Int, using crypto: CryptoContext) throws(CryptoError) -> DeviceRequest {
        let (turn, index) = number.quotientAndRemainder(dividingBy: versions.count)
        let (version, certificate) = versions[index]
        var options = DeviceOptions(version: version, assetID: assetIDs[turn % assetIDs.count])
        options.playbackState = MediaPlaybackState(
            createdAt: UInt32(clamping: now), state: .readyToStart, sessionID: try RandomBytes.generateUInt64())
        options.capabilities = CapabilityName.all
        return try SimulatedDevice(certificate: certificate, ladder: ladder, using: crypto).makeRequest(options)
    }
}

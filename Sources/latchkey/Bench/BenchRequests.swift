import ByteCoding
import CommandLineKit
import DeviceSimulation
import FairPlay
import Foundation
import KeyCrypto
import Synchronization

/// The SPCs of a load, which are made before it begins.
struct BenchRequests: Sendable {
    struct Request: Sendable {
        let message: [UInt8]
        /// The secrets that open the CKC. Only requests whose CKC is checked keep them.
        let secrets: RequestSecrets?
    }

    private(set) var all: [Request] = []

    mutating func append(_ request: Request) {
        all.append(request)
    }

    /// The memory of the SPCs in bytes, without that of the few kept secrets.
    var size: Int { all.reduce(0) { $0 + $1.message.count + MemoryLayout<Request>.stride + Self.arrayHeaderSize } }

    private static let arrayHeaderSize = 32
    private static let requestsPerRound = 2_000

    /// Makes the SPCs on all cores. Versions and asset ids take turns: all versions for one asset id, then the next.
    static func make(
        _ count: Int, checkEvery: Int, by maker: BenchRequestMaker, _ context: CommandContext
    ) throws(CommandError) -> BenchRequests {
        var requests = BenchRequests()
        requests.all.reserveCapacity(count)
        var progress = CommandProgress(context, unit: "SPCs made", total: count)
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
                    let request = try maker.make(number, using: crypto)
                    return Request(message: request.message, secrets: number % checkEvery == 0 ? request.secrets : nil)
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

/// Makes the SPCs of a load for the certificates of one server.
struct BenchRequestMaker: Sendable {
    /// Each version with the certificate for which its key is wrapped. There is at least one.
    let versions: [(version: SPCVersion, certificate: Certificate)]
    let assetIDs: [[UInt8]]
    let ladder: ApplicationSecretKeyLadder
    /// The time that the SPCs state, in seconds since 1970.
    let now: Int64

    /// Makes the SPC of a number: of a new device in a new playback session.
    func make(_ number: Int, using crypto: CryptoContext) throws(CryptoError) -> DeviceRequest {
        let (turn, index) = number.quotientAndRemainder(dividingBy: versions.count)
        let (version, certificate) = versions[index]
        var options = DeviceOptions(version: version, assetID: assetIDs[turn % assetIDs.count])
        options.playbackState = MediaPlaybackState(
            createdAt: UInt32(clamping: now), state: .readyToStart, sessionID: try RandomBytes.generateUInt64())
        options.capabilities = CapabilityName.all
        return try SimulatedDevice(certificate: certificate, ladder: ladder, using: crypto).makeRequest(options)
    }
}

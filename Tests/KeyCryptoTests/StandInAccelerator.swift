import Foundation
import Synchronization
import TestSupport

@testable import KeyCrypto

/// A copy of the library that takes the place of crypto_mb, which the C compiler builds from Tests/AcceleratorStandIn.
///
/// Each object has a copy of its own, so that the orders of one test do not reach another one.
final class StandInAccelerator: Sendable {
    enum Variant: Sendable, CaseIterable {
        case complete, wrongLane, wrongHalf, failedLane, unsuited, refusedSignature, acceptedSignatures
        case withoutFunction

        fileprivate var option: String {
            switch self {
            case .complete: "-DSTAND_IN_ORDER=0"
            case .wrongLane: "-DSTAND_IN_ORDER=1"
            case .wrongHalf: "-DSTAND_IN_ORDER=2"
            case .failedLane: "-DSTAND_IN_ORDER=3"
            case .unsuited: "-DSTAND_IN_ORDER=4"
            case .refusedSignature: "-DSTAND_IN_ORDER=5"
            case .acceptedSignatures: "-DSTAND_IN_ORDER=6"
            case .withoutFunction: "-DSTAND_IN_WITHOUT_PUBLIC"
            }
        }
    }

    /// What the library is told to do. The numbers are those of the C source.
    enum Order: Int32, Sendable {
        case compute, wrongLane, wrongHalf, failedLane
        case refusedSignature = 5
        case acceptedSignatures = 6

        /// The orders to compute RSA wrongly.
        static let wrongResults: [Order] = [.wrongLane, .wrongHalf, .failedLane]
    }

    private static let source = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "AcceleratorStandIn/stand_in_crypto_mb.c")

    /// The built libraries. Each variant is built once. They are arrays, because the leak checker does not find what
    /// `Data` points to.
    private static let builds = Mutex<[Variant: [UInt8]]>([:])

    private let folder: TemporaryDirectory
    let path: String

    init(_ variant: Variant = .complete) throws {
        folder = try TemporaryDirectory()
        path = folder.path + "/libcrypto_mb.so"
        let path = path
        let library = try Self.builds.withLock { builds in
            if let known = builds[variant] { return known }
            let built = try Self.build(variant, path)
            builds[variant] = built
            return built
        }
        try Data(library).write(to: URL(filePath: path))
    }

    private static func build(_ variant: Variant, _ path: String) throws -> [UInt8] {
        let compiler = try ChildProcess(
            program: "/usr/bin/env",
            arguments: [
                "cc", "-O1", "-std=gnu11", "-shared", "-fPIC", variant.option, "-o", path, source.path, "-lcrypto",
            ])
        guard compiler.waitForExit() == 0 else { throw AcceleratorNotBuilt(messages: compiler.messages.text) }
        return try [UInt8](Data(contentsOf: URL(filePath: path)))
    }

    /// Loads the library, tests it, and forgets what the self-test has done.
    ///
    /// The stand-in computes one lane after another, so by its own times all but full batches would go to OpenSSL.
    func start(
        breakEven: AcceleratorBreakEven = AcceleratorBreakEven(jobs1024: 1, jobs2048: 2),
        observer: @escaping @Sendable (CryptoAccelerator.Event) -> Void = { _ in }
    ) throws -> CryptoAccelerator {
        let accelerator = try CryptoAccelerator(path: path, breakEven: breakEven, observer: observer)
        _ = takeLaneCounts()
        _ = takeCheckCount()
        _ = takeForgedLanes()
        return accelerator
    }

    // MARK: What the library was told and was given

    func order(_ order: Order, lane: Int = 0) {
        typealias Function = @convention(c) (Int32, Int32) -> Void
        let function = symbol("stand_in_order", as: Function.self)
        function(order.rawValue, Int32(lane))
    }

    /// The number of lanes of each call since the last time.
    func takeLaneCounts() -> [Int] {
        typealias Function = @convention(c) (UnsafeMutablePointer<Int32>) -> Int32
        let function = unsafe symbol("stand_in_take_lane_counts", as: Function.self)
        // The library notes at most 64 calls.
        var counts = [Int32](repeating: 0, count: 64)
        let count = unsafe function(&counts)
        return counts.prefix(Int(count)).map { Int($0) }
    }

    /// The number of batches of signatures that were checked since the last time.
    func takeCheckCount() -> Int {
        Int(symbol("stand_in_take_check_count", as: (@convention(c) () -> Int32).self)())
    }

    /// The lanes that had an invalid signature since the last time.
    func takeForgedLanes() -> Set<Int> {
        let lanes = symbol("stand_in_take_forged_lanes", as: (@convention(c) () -> Int32).self)()
        return Set((0..<8).filter { lanes >> $0 & 1 == 1 })
    }

    /// The number that a lane of the last call was given.
    func input(ofLane lane: Int, size: Int) -> [UInt8] {
        typealias Function = @convention(c) (Int32, UnsafeMutablePointer<UInt8>) -> Void
        let function = unsafe symbol("stand_in_input", as: Function.self)
        var input = [UInt8](repeating: 0, count: 256)
        unsafe function(Int32(lane), &input)
        return Array(input.prefix(size))
    }

    /// The number of bytes that are not zero in the memory of the last call.
    var leftovers: Int {
        Int(symbol("stand_in_leftovers", as: (@convention(c) () -> Int32).self)())
    }

    private func symbol<Function>(_ name: String, as type: Function.Type) -> Function {
        // The library is the one that the accelerator has loaded, and the C source has these functions.
        guard let library = unsafe dlopen(path, RTLD_NOW), let symbol = unsafe dlsym(library, name) else {
            preconditionFailure("\(name) is missing")
        }
        return unsafe unsafeBitCast(symbol, to: type)
    }
}

struct AcceleratorNotBuilt: Error {
    let messages: String
}

/// Collects what an accelerator tells.
final class AcceleratorEvents: Sendable {
    private let events = Mutex<[CryptoAccelerator.Event]>([])

    var all: [CryptoAccelerator.Event] { events.withLock { $0 } }

    func append(_ event: CryptoAccelerator.Event) { events.withLock { $0.append(event) } }
}

/// Keys and ciphertexts for unwrappers.
enum UnwrapTrials {
    static let keys1024 = Result { try (0..<2).map { _ in try RSAPrivateKey.generate(bits: 1024) } }
    static let keys2048 = Result { try (0..<2).map { _ in try RSAPrivateKey.generate(bits: 2048) } }
    static let decoy = [UInt8](repeating: 0xDD, count: 16)

    /// The session key of a job.
    static func secret(_ index: Int) -> [UInt8] { (0..<16).map { UInt8(truncatingIfNeeded: index * 16 + $0) } }

    /// Good jobs, in turn with the two keys of a size and with both paddings.
    static func jobs(_ count: Int, bits: Int) throws -> [RSAUnwrapJob] {
        let keys = try (bits == 1024 ? keys1024 : keys2048).get()
        return try (0..<count).map { index in
            let (key, padding) = (keys[index % 2], index % 4 < 2 ? OAEPDigest.sha1 : .sha256)
            return job(
                try key.publicKey.encrypt(SecretBytes(copying: secret(index)), padding: padding), key, padding)
        }
    }

    static func job(_ message: [UInt8], _ key: RSAPrivateKey, _ padding: OAEPDigest) -> RSAUnwrapJob {
        RSAUnwrapJob(
            key: key, padding: padding, message: message, range: 0..<message.count, decoy: SecretBytes(copying: decoy))
    }

    /// The indices of the jobs that do not have their session keys.
    static func unsettled(_ jobs: [RSAUnwrapJob]) -> [Int] {
        jobs.indices.filter { !jobs[$0].isGenuine || jobs[$0].sessionKey.revealed() != secret($0) }
    }
}

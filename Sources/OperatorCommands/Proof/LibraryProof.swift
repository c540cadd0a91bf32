import ByteCoding
import EventLoops
import FairPlay
import KeyCrypto
import LadderWorkers
import POSIXSockets
import ServiceConfiguration
import Synchronization

/// One library of an SDK, which one worker process runs as the workers of the daemon do.
struct LibraryProof {
    let settings: LicenseLibrarySettings
    let pool: LadderWorkerPool
    private let troubles: WorkerTroubles
    private let errorOutput: ErrorOutput

    /// How long a call waits for the worker that replaces a lost one.
    private static let queueDeadline: Duration = .seconds(10)
    private static let stopLimit: Duration = .seconds(2)

    /// Starts the worker. `program` is the path of `latchkeyd`, which runs as the worker.
    init(
        _ settings: LicenseLibrarySettings, program: String, on loop: LoopContext, using crypto: CryptoContext
    ) throws(CredentialProof.Fault) {
        var configuration = try wrap(
            CredentialProof.Fault.cryptography, try LadderModuleConfiguration(settings, using: crypto))
        errorOutput = try wrap(CredentialProof.Fault.pipe, try ErrorOutput())
        configuration.errorOutput = errorOutput
        configuration.workerCount = 1
        configuration.queueDeadline = Self.queueDeadline
        configuration.programPath = program
        let troubles = WorkerTroubles()
        self.settings = settings
        self.troubles = troubles
        pool = LadderWorkerPool(configuration, on: loop) { event in troubles.note(event) }
    }

    /// Blocks until the worker is gone.
    func stop() { pool.stop(within: Self.stopLimit) }

    /// Says in words how the last worker was lost; nil if none was.
    var trouble: @Sendable () -> String? { { [troubles] in troubles.last } }

    /// Tells what the library has written to its error output, which goes nowhere in the daemon; nil if nothing.
    var spokenFinding: DoctorFinding? {
        guard let lines = LibraryWords.lines(in: errorOutput.take()) else { return nil }
        return .warning(
            "\(settings.name).error-output", "the library writes: \(lines.joined(separator: " | "))",
            remedy: "make a release build if this is a debug build; what could be a secret is left out here")
    }

    // MARK: The start

    /// Blocks until the library is loaded, and its certificates are known, or until that has failed.
    func start() -> (isReady: Bool, findings: [DoctorFinding]) {
        let loaded = DoctorFinding.good(
            "\(settings.name).library", "\(settings.library) is loaded, and has the functions of the SDK")
        do throws(LadderStartFailure) {
            try pool.waitUntilStarted()
            return (true, [loaded, .good("\(settings.name).certificates", "the library knows \(hashes)")])
        } catch .module(.credentialUnknown(let index)) {
            return (false, [loaded, unknown(Int(index))])
        } catch {
            return (false, [.bad("\(settings.name).library", "\(error)", remedy: remedy(for: error))])
        }
    }

    private var hashes: String {
        settings.certificateHashes.map(\.words).joined(separator: "; ")
    }

    private func unknown(_ index: Int) -> DoctorFinding {
        let hashes = settings.certificateHashes
        let name = hashes.indices.contains(index) ? hashes[index].words : "one of its certificates"
        return .bad(
            "\(settings.name).certificates", "the library does not know \(name)",
            remedy: "were library, certificates and provisioning data delivered together, and is libfpscrypto.so of "
                + "the same delivery?")
    }

    private func remedy(for failure: LadderStartFailure) -> String {
        switch failure {
        case .module(.libraryUnreadable):
            "let the workers' user read the library and its folder"
        case .module(.libraryNotLoadable):
            "libfpscrypto.so, and for a library in Swift its runtime, must be in the folder of the library: ldd tells "
                + "what is missing"
        case .module(.symbolMissing): "name the library that the SDK builds, and not libfpscrypto.so"
        case .module(.notConfined):
            "run this command as root, or as the user that the workers run as, and look at sdk.memoryLimit"
        case .module(.filesNotKept): "raise sdk.memoryLimit, and the limit of locked memory"
        case .workerEnded, .workerSilent:
            "build the library again with its own libraries beside it, and raise sdk.memoryLimit if it needs more"
        case .programNotStarted: "let this user run latchkeyd"
        case .module(.versionUnknown), .module(.notOpened), .module(.credentialUnknown), .module(.startUnreadable),
            .frameMalformed, .configurationNotExpressible:
            "latchkey and latchkeyd must be of the same version"
        }
    }
}

extension LicenseLibrarySettings.Hash {
    /// The certificate, as messages name it.
    fileprivate var words: String {
        "the \(subject.words) of \(credential) in SPCs of version \(version.rawValue)"
    }
}

/// What has happened last to a worker. The loop of the workers writes it.
private final class WorkerTroubles: Sendable {
    private let words = Mutex<String?>(nil)

    var last: String? { words.withLock { $0 } }

    func note(_ event: LadderWorkerEvent) {
        words.withLock { $0 = event.trouble ?? $0 }
    }
}

import ByteCoding
import EventLoops
import FairPlay
import KeyCrypto
import POSIXSockets
import ServiceConfiguration

/// Runs the libraries of credentials of the kind `sdk`, and tries them.
struct CredentialProof {
    let credentials: CredentialSet
    let libraries: [LicenseLibrarySettings]
    /// The protocol versions that SPCs may use.
    let servedVersions: Set<UInt32>
    let samples: [ProofSample.File]
    /// The path of `latchkeyd`, which runs as the worker.
    let program: String

    /// What can go wrong before the first library is tried.
    enum Fault: Error, CustomStringConvertible {
        case loop(EventLoopError)
        case pipe(SocketError)
        case cryptography(CryptoError)

        var description: String {
            switch self {
            case .loop(let error): "there is no loop for the worker processes: \(error)"
            case .pipe(let error): "there is no pipe for the error output of a worker: \(error)"
            case .cryptography(let error):
                "a cryptographic operation failed (\(error)); is the installation of OpenSSL complete?"
            }
        }
    }

    /// Runs everything. It blocks while a library is started and stopped, so nothing else may need the thread.
    func run() async throws(Fault) -> [DoctorFinding] {
        let crypto = try wrap(Fault.cryptography, try CryptoContext())
        let group = try wrap(Fault.loop, try EventLoopGroup(count: 1, name: "modules"))
        defer { group.stop(within: .seconds(1)) }
        var started: [LibraryProof] = []
        defer { for proof in started { proof.stop() } }
        var findings: [DoctorFinding] = []
        for settings in libraries {
            started.append(try LibraryProof(settings, program: program, on: group.loops[0], using: crypto))
        }
        var ready: [String: LibraryProof] = [:]
        for proof in started {
            let start = proof.start()
            findings += start.findings
            if start.isReady { for name in proof.settings.credentials { ready[name] = proof } }
        }
        let connected = credentials.connecting(ready.mapValues { .library($0.pool) })
        for file in samples {
            switch file {
            case .unusable(let finding): findings.append(finding)
            case .sample(let sample): findings += await tried(sample, with: connected, ready, crypto)
            }
        }
        return findings + started.compactMap(\.spokenFinding)
    }

    private func tried(
        _ sample: ProofSample, with credentials: CredentialSet, _ ready: [String: LibraryProof], _ crypto: CryptoContext
    ) async -> [DoctorFinding] {
        let check = "\(sample.name).open"
        let envelope: SPCEnvelope
        let key: CredentialKey
        let spc: SPC
        do throws(SPCError) {
            envelope = try SPCEnvelope(parsing: sample.message, served: credentials.servedVersions)
            key = try credentials.key(for: envelope)
            guard let proof = ready[key.credentialName] else { return [untried(key.credentialName, check)] }
            spc = try open(envelope, with: key, crypto)
            let opened = DoctorFinding.good(
                check,
                "an SPC of version \(key.version.rawValue) with the \(key.subject.words) of \(key.credentialName), "
                    + "which our own parse opens")
            return [opened]
                + (await SPCProof(
                    sample: sample, envelope: envelope, spc: spc, library: proof.pool, crypto: crypto,
                    trouble: proof.trouble
                ).findings)
        } catch {
            return [.bad(check, "\(error)", remedy: remedy(for: error))]
        }
    }

    private func open(
        _ envelope: SPCEnvelope, with key: CredentialKey, _ crypto: CryptoContext
    ) throws(SPCError) -> SPC {
        let opener = try wrap(SPCError.internalFailure, try SPCOpener(using: crypto))
        let job = try opener.unwrapJob(for: envelope, with: key)
        OpenSSLRSAUnwrapper(counting: RSAOperationCount()).unwrap([job])
        return try opener.open(envelope, with: key, unwrapped: job, servedVersions: servedVersions)
    }

    private func untried(_ credential: String, _ check: String) -> DoctorFinding {
        if libraries.contains(where: { $0.credentials.contains(credential) }) {
            return .skipped(check, "the SPC is for \(credential), whose library did not start")
        }
        return .bad(
            check, "the SPC is for \(credential), which no library serves that is tried here",
            remedy: "name the credential by --credential, or leave the file out")
    }

    private func remedy(for error: SPCError) -> String {
        switch error {
        case .unknownCertificate:
            "configure the credentials that the SPC was made for; test inputs of the SDK are for its test credentials"
        case .unsupportedVersion(let version):
            version == 3 ? "set spcVersion3 of the credential" : "the file must be the raw SPC, without Base64 or JSON"
        case .empty, .isCertificate, .malformed: "the file must be the whole raw SPC, without Base64 or JSON"
        case .rejected: "keep the SPC, and report it: a server with these credentials would refuse it"
        case .internalFailure: "is the installation of OpenSSL complete?"
        }
    }
}

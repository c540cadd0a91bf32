import ByteCoding
import FairPlay
import KeyCrypto
import Synchronization
import TestSupport

/// The payload of an SPC and the answer to it. The input is four bytes of plan (`PayloadPlan`), then the plain payload.
///
/// The payload is encrypted under known keys, and handled like every request: container, opener, device facts, terms,
/// ladder, CKC. A refusal has a cause that fits. An accepted SPC keeps every guarantee of its types, and its license is
/// opened again.
struct SPCPayloadTarget: FuzzTarget {
    private let sealer: SPCSealer
    private let opener: SPCOpener
    private let jobs: [SPCVersion: KeyJobs]
    private let contentKey = SharedSecret(SecretBytes(copying: [UInt8](repeating: 0x3C, count: 16)))

    /// The RSA results for one version: for the key that encrypts the payload, and for no key.
    private struct KeyJobs {
        let genuine: RSAUnwrapJob
        let foreign: RSAUnwrapJob
    }

    init() throws {
        sealer = try SPCSealer()
        opener = try SPCOpener(using: sealer.crypto)
        jobs = try Self.makeJobs(sealer, opener)
    }

    private static func makeJobs(_ sealer: SPCSealer, _ opener: SPCOpener) throws -> [SPCVersion: KeyJobs] {
        let unwrapper = OpenSSLRSAUnwrapper(counting: RSAOperationCount())
        var jobs: [SPCVersion: KeyJobs] = [:]
        for version in SPCVersion.allCases {
            let message = try sealer.seal([UInt8](repeating: 0, count: 16), version: version)
            let envelope = try SPCEnvelope(parsing: message, served: Set(SPCVersion.allCases))
            let key = try sealer.key(for: envelope, ladder: .applicationSecret)
            let genuine = try opener.unwrapJob(for: envelope, with: key)
            unwrapper.unwrap([genuine])
            try require(genuine.isGenuine, "the wrapped key opens")
            jobs[version] = KeyJobs(genuine: genuine, foreign: try opener.unwrapJob(for: envelope, with: key))
        }
        return jobs
    }

    func check(_ input: [UInt8]) throws -> Verdict {
        var payload = Array(input.dropFirst(PayloadPlan.size))
        try TLLVFraming(payload).check(payload)
        // Containers can only have whole blocks.
        payload.removeLast(payload.count % 16)
        guard !payload.isEmpty else { return .refused }
        let plan = PayloadPlan(Array(input.prefix(PayloadPlan.size)))
        if plan.isRepaired { sealer.session.repair(&payload) }
        let framing = TLLVFraming(payload)
        try framing.check(payload)
        guard let spc = try open(payload, plan, framing) else { return .refused }
        try OpenedSPCCheck(spc: spc, payload: payload, plan: plan).run()
        try checkLicense(for: spc, plan)
        return .accepted
    }

    /// Opens the payload as the server does. Returns nil if it is rejected for a cause that fits.
    private func open(_ payload: [UInt8], _ plan: PayloadPlan, _ framing: TLLVFraming) throws -> SPC? {
        var message = try sealer.seal(payload, version: plan.version)
        guard message.count <= SPCEnvelope.sizeMaximum else { return nil }
        if plan.isTagAltered { message[message.count - 1] ^= 1 }
        let envelope = try SPCEnvelope(parsing: message, served: Set(SPCVersion.allCases))
        let key = try sealer.key(for: envelope, ladder: plan.ladder)
        let jobs = try require(jobs[plan.version], "every version has its keys")
        let servedVersions: Set<UInt32> = plan.servesProtocolVersion2 ? [1, 2] : [1]
        let spc: SPC
        do throws(SPCError) {
            spc = try opener.open(
                envelope, with: key, unwrapped: plan.isKeyGenuine ? jobs.genuine : jobs.foreign,
                servedVersions: servedVersions)
        } catch {
            try check(error, plan, framing)
            return nil
        }
        try require(plan.isKeyGenuine && !plan.isTagAltered, "a payload that is not authentic is rejected")
        return spc
    }

    private func check(_ error: SPCError, _ plan: PayloadPlan, _ framing: TLLVFraming) throws(PropertyViolation) {
        guard case .rejected(let rejection) = error else {
            throw PropertyViolation(description: "after the hash there is one error: \(error)")
        }
        _ = rejection.logged
        if !plan.isKeyGenuine { return try require(rejection == .sessionKey, "the key comes first: \(rejection)") }
        if plan.isTagAltered { return try require(rejection == .authenticationTag, "then the tag: \(rejection)") }
        if let error = framing.error {
            return try require(rejection == .framing(error), "then the framing: \(rejection)")
        }
        switch rejection {
        case .sessionKey, .authenticationTag, .framing, .moduleRefused:
            throw PropertyViolation(description: "the rejection has no cause: \(rejection)")
        case .integrity:
            try require(plan.ladder == .applicationSecret, "a module's integrity is not checked here")
            try require(!plan.isRepaired, "a repaired session is intact")
        case .missingTag, .wrongSize, .returnRequestTooLong, .returnRequestForbidden, .returnRequestMissing,
            .protocolVersion, .reservedWord, .syncContradictory:
            break
        }
    }

    // MARK: - The license

    private static let contentIV = Bytes16(high: 0x1F1E_1D1C_1B1A_1918, low: 0x1716_1514_1312_1110)

    private func checkLicense(for spc: SPC, _ plan: PayloadPlan) throws {
        let terms = plan.terms
        do throws(LicenseTermsError) {
            try terms.check(for: spc.device, by: plan.policy)
        } catch {
            return
        }
        guard let wrapped = try wrap(for: spc, plan) else { return }
        let message = try CKCWriter.write(for: spc, contentKey: wrapped, terms: terms, using: sealer.crypto)
        try LicenseCheck(
            spc: spc, wrapped: wrapped, contentKey: contentKey, contentIV: Self.contentIV, terms: terms,
            knowsSession: plan.isRepaired, crypto: sealer.crypto
        ).run(message)
    }

    /// Wraps the content key with the ladder. Returns nil if the module refuses a session that was not repaired.
    private func wrap(for spc: SPC, _ plan: PayloadPlan) throws -> WrappedContentKey? {
        // Safe: the context stays on this thread, and everything runs on it.
        nonisolated(unsafe) let crypto = sealer.crypto
        let result = try InlineExecutor.run { [contentKey] () async throws(LadderError) in
            unsafe try await spc.wrap(contentKey.bytes, iv: Self.contentIV, for: plan.contentKeyUse, using: crypto)
        }
        switch result {
        case .success(let wrapped): return wrapped
        case .failure(.module(.refused)) where !plan.isRepaired: return nil
        // The module answers in the last format of the list, even if that is no format.
        case .failure(.module(.answerMalformed)) where spc.device.keyFormats.last.map(Self.isOwnTag) ?? false:
            return nil
        case .failure(let error): throw PropertyViolation(description: "an intact session gets a key: \(error)")
        }
    }

    private static func isOwnTag(_ tag: UInt64) -> Bool {
        tag != TLLVTag.contentKey && TLLVTag.carriedByCKC.contains(tag)
    }

    // MARK: - Inputs

    func seeds() throws -> [[UInt8]] {
        let payloads = try SeedPayloads(using: sealer.crypto).all()
        var seeds: [[UInt8]] = []
        for (index, payload) in payloads.enumerated() {
            for version in SPCVersion.allCases {
                for ladder in SPCSealer.Ladder.allCases {
                    let plan = PayloadPlan(
                        version: version, ladder: ladder, validity: UInt8(index + seeds.count) & 7,
                        hdcp: UInt8(index) & 3, securityLevel: UInt8(seeds.count) & 3)
                    seeds.append(plan.input(payload))
                }
            }
        }
        return seeds
    }

    /// Sometimes changes the plan, otherwise the payload's blocks.
    func mutate(_ input: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        guard input.count > PayloadPlan.size else { return ByteMutation.mutate(input, using: &generator) }
        var plan = Array(input.prefix(PayloadPlan.size))
        let payload = Array(input.dropFirst(PayloadPlan.size))
        if Int.random(in: 0..<6, using: &generator) == 0 {
            plan[Int.random(in: plan.indices, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            return plan + payload
        }
        return plan + TLLVMutation.mutate(payload, using: &generator)
    }
}

/// Runs the parts of a task immediately, on the thread that enqueues them.
final class InlineExecutor: TaskExecutor {
    /// Runs `body` and returns its result. It must never suspend: it runs to its end within this call, on this thread.
    static func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () async throws(Failure) -> Value
    ) throws -> Result<Value, Failure> {
        let box = ResultBox<Value, Failure>()
        Task(executorPreference: InlineExecutor()) {
            do throws(Failure) {
                box.fill(.success(try await body()))
            } catch {
                box.fill(.failure(error))
            }
        }
        return try require(box.result, "the task has not suspended")
    }

    func enqueue(_ job: consuming ExecutorJob) {
        unsafe UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }

    private final class ResultBox<Value: Sendable, Failure: Error>: Sendable {
        private let content = Mutex<Result<Value, Failure>?>(nil)

        var result: Result<Value, Failure>? { content.withLock { $0 } }

        func fill(_ result: Result<Value, Failure>) {
            content.withLock { $0 = result }
        }
    }
}

import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto

/// One SPC of the conformance tests, and what a server must do with it.
struct ConformanceCase: Sendable {
    enum Family: String, CaseIterable, Sendable {
        case licenses, blocks, sizes, malformed
        /// Checks of the whole run.
        case server
        /// The test inputs of an SDK.
        case inputs
    }

    enum Outcome: String, Sendable {
        case license
        case refusal
    }

    typealias Change = @Sendable (inout DeviceOptions) -> Void

    let family: Family
    /// Unique in the family.
    let name: String
    let version: SPCVersion
    let kind: ConformanceKind
    /// The rule that the case shows: the sections of the protocol.
    let rule: String
    let outcome: Outcome
    /// Why a server may do otherwise; nil if a server that does otherwise is wrong.
    let tolerance: String?
    /// The terms of a license that a server may give for this reason.
    let toleratedTerms: [LicenseTerms.Validity]
    let fault: SPCFault?
    private let change: Change

    static func license(
        _ family: Family, _ name: String, _ kind: ConformanceKind = .streaming, version: SPCVersion = .v1,
        rule: String, tolerance: String? = nil, toleratedTerms: [LicenseTerms.Validity] = [],
        change: @escaping Change = { _ in }
    ) -> ConformanceCase {
        ConformanceCase(
            family: family, name: name, version: version, kind: kind, rule: rule, outcome: .license,
            tolerance: tolerance, toleratedTerms: toleratedTerms, fault: nil, change: change)
    }

    static func refusal(
        _ family: Family, _ name: String, _ kind: ConformanceKind = .streaming, version: SPCVersion = .v1,
        rule: String, tolerance: String? = nil, toleratedTerms: [LicenseTerms.Validity] = [],
        fault: SPCFault? = nil, change: @escaping Change = { _ in }
    ) -> ConformanceCase {
        ConformanceCase(
            family: family, name: name, version: version, kind: kind, rule: rule, outcome: .refusal,
            tolerance: tolerance, toleratedTerms: toleratedTerms, fault: fault, change: change)
    }

    /// The name of the case that only a server with assets can answer.
    static let unknownAsset = "unknown asset"

    /// All cases, in the order of the results.
    static let all = licenses + blocks + sizes + malformed

    /// Makes the SPC. Equal seeds make equal SPCs, and one device makes all SPCs of a seed. `now` is the time that the
    /// SPC states, in seconds since 1970.
    func question(seed: [UInt8], now: UInt32, using crypto: CryptoContext) throws(CryptoError) -> ConformanceQuestion {
        let device = try ConformanceCredential.device(
            version, seed: seed + Array("\(family.rawValue) \(name)".utf8), using: crypto)
        var options = DeviceOptions(version: version, assetID: kind.assetID)
        options.deviceID = DeviceID(Array(try crypto.sha256(seed + Array("device".utf8)).prefix(DeviceID.size)))
        let random = Bytes16(try device.randomness.bytes(16), at: 0)
        options.transactionID = random.low
        options.playbackState = MediaPlaybackState(createdAt: now, state: .readyToStart, sessionID: random.high)
        options.capabilities = CapabilityName.all
        options.unknownBlockCount = fault == nil ? 1 : 0
        change(&options)
        let request =
            if let fault { try device.makeRequest(options, with: fault) } else { try device.makeRequest(options) }
        return ConformanceQuestion(kind: kind, options: options, request: request)
    }
}

/// An SPC that a server is asked to answer.
struct ConformanceQuestion: Sendable {
    let kind: ConformanceKind
    let options: DeviceOptions
    let request: DeviceRequest
}

/// What a server has answered.
struct ConformanceAnswer: Sendable {
    enum Content: Sendable {
        /// Bytes that the server gives as a CKC.
        case ckc([UInt8])
        /// The status or number of the refusal, and its body.
        case refusal(code: String, body: [UInt8])
        /// Why there is no answer.
        case none(String)
    }

    var content: Content
    /// The status of HTTP; nil for a library.
    var status: Int?
    var milliseconds = 0.0
    /// The header fields and the body of HTTP.
    var fields: [(name: String, value: String)] = []
    var body: [UInt8] = []
    /// HU, if the server tells it.
    var deviceID: DeviceID?
    /// The transaction id, if the server tells it.
    var transactionID: UInt64?
}

/// Sends an SPC, and returns the answer.
typealias ConformanceAsk = (ConformanceQuestion) async -> ConformanceAnswer

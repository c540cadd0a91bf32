import ByteCoding
import CommandLineKit
import DeviceSimulation
import FairPlay
import KeyCrypto

/// The simulated device of one run. Device and secrets are the same for all players, and each has its own playback
/// session.
struct PlayerDevice {
    private let arguments: Arguments
    private let context: CommandContext
    private let version: SPCVersion
    private let ladder: ApplicationSecretKeyLadder
    private let deviceID: DeviceID
    private let crypto: CryptoContext

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        self.arguments = arguments
        self.context = context
        version = try DeviceArguments.spcVersion(arguments)
        ladder = try DeviceArguments.ladder(arguments, context)
        if let given = try arguments.bytes(DeviceStatements.deviceID, size: DeviceID.size) {
            deviceID = DeviceID(given)
        } else {
            deviceID = DeviceID(
                try wrap(CommandError.cryptography, try RandomBytes.generate(count: DeviceID.size)))
        }
        crypto = try wrap(CommandError.cryptography, try CryptoContext())
        // Throws errors in the options before anything is sent.
        _ = try options()
    }

    /// The certificate for SPCs of the run's version, from the bytes of a server's answer or a file. `place` is only
    /// for messages.
    func certificate(in bytes: [UInt8], _ place: String) throws(CommandError) -> Certificate {
        try CertificateFile.certificate(for: version, in: bytes, place)
    }

    /// Makes one SPC for each asset id, all in one playback session.
    func makeRequests(
        _ assetIDs: [[UInt8]], _ certificate: Certificate
    ) throws(CommandError) -> [DeviceRequest] {
        var options = try options()
        let device = SimulatedDevice(certificate: certificate, ladder: ladder, using: crypto)
        return try assetIDs.map { (assetID) throws(CommandError) in
            options.assetID = assetID
            return try wrap(CommandError.cryptography, try device.makeRequest(options))
        }
    }

    /// Opens a CKC as the device does, and returns its terms.
    func open(_ ckc: [UInt8], _ request: DeviceRequest) throws(CKCFault) -> LicenseTerms {
        try CKCOpener(secrets: request.secrets, using: crypto).open(ckc).terms
    }

    /// The options of a request, in which the asset id is not set yet.
    private func options() throws(CommandError) -> DeviceOptions {
        var options = DeviceOptions(version: version, assetID: [])
        try DeviceStatements.add(to: &options, arguments, context)
        options.deviceID = deviceID
        return options
    }
}

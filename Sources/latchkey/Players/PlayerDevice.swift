import ByteCoding
import CommandLineKit
import DeviceSimulation
import FairPlay
import KeyCrypto

/// The simulated device of one run: the same device and secrets for each player, and a playback session for each.
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
        // What is wrong with the statements is said before anything is sent.
        _ = try options()
    }

    /// A certificate for SPCs of the run's version, out of what a server or a file gave. `place` is for messages.
    func certificate(in bytes: [UInt8], _ place: String) throws(CommandError) -> Certificate {
        try CertificateFile.certificate(for: version, in: bytes, place)
    }

    /// One SPC for each asset id, all of one playback session.
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

    /// What the device finds in a CKC.
    func open(_ ckc: [UInt8], _ request: DeviceRequest) throws(CKCFault) -> LicenseTerms {
        try CKCOpener(secrets: request.secrets, using: crypto).open(ckc).terms
    }

    /// With an asset id that is still to be set.
    private func options() throws(CommandError) -> DeviceOptions {
        var options = DeviceOptions(version: version, assetID: [])
        try DeviceStatements.add(to: &options, arguments, context)
        options.deviceID = deviceID
        return options
    }
}

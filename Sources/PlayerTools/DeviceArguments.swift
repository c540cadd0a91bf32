import ByteCoding
import CommandLineKit
import CommandSupport
import DeviceSimulation
import FairPlay
import KeyCrypto

/// The options of every `latchkey device` command that describe the simulated device and its request.
enum DeviceArguments {
    static let certificate = CommandOption(
        "--certificate", .value("FILE"),
        help: "the application certificate (DER or PEM), or the bundle of both, from which the right one is taken",
        isRequired: true)
    static let applicationSecret = CommandOption(
        "--application-secret", .secret("FILE|HEX"), help: "the application secret key (ASk), 16 bytes")
    static let dask = CommandOption(
        "--dask", .secret("HEX"), help: "the derived key (DASk) of published test vectors, in place of the ASk")
    static let assetID = CommandOption(
        "--asset-id", .value("ID"), help: "the asset for which the device asks a key: text, or \"hex:\" and its bytes",
        isRequired: true)
    static let version = CommandOption(
        "--spc-version", .value("1|2|3"),
        help: "the container version; 1 unless given. Servers answer 3 only if a credential enables it")

    /// The same options for `latchkey device request`, where `--as` does not need them.
    static let optionalCertificate = CommandOption(
        certificate.name, certificate.form,
        help: certificate.help + "; required without --as; with --as each player fetches it unless given")
    static let optionalAssetID = CommandOption(
        assetID.name, assetID.form, help: assetID.help + "; required without --as; with --as use --skd instead")

    static let options = [certificate, applicationSecret, dask, assetID, version] + DeviceStatements.options

    /// Makes a new SPC as the arguments describe it. Returns it with the options from which it was made.
    static func makeRequest(
        _ arguments: Arguments, _ context: CommandContext, sync: SyncStatement? = nil
    ) throws(CommandError) -> (request: DeviceRequest, options: DeviceOptions) {
        let version = try spcVersion(arguments)
        var options = DeviceOptions(version: version, assetID: try assetIDBytes(arguments.required(assetID)))
        try DeviceStatements.add(to: &options, arguments, context)
        options.sync = sync
        let path = try arguments.required(certificate)
        let certificate = try CertificateFile.certificate(for: version, in: CommandFile.read(path).revealed(), path)
        let ladder = try ladder(arguments, context)
        let request = try wrap(CommandError.cryptography) { () throws(CryptoError) in
            try SimulatedDevice(certificate: certificate, ladder: ladder, using: CryptoContext()).makeRequest(options)
        }
        return (request, options)
    }

    static func spcVersion(_ arguments: Arguments) throws(CommandError) -> SPCVersion {
        guard let text = arguments.value(version) else { return .v1 }
        guard let version = UInt32(text).flatMap({ SPCVersion(rawValue: $0) }) else {
            throw .usage("--spc-version takes 1, 2 or 3")
        }
        return version
    }

    /// Parses an asset id of 2 to 1,024 bytes.
    private static func assetIDBytes(_ text: String) throws(CommandError) -> [UInt8] {
        guard let bytes = AssetIDText.bytes(text) else {
            throw .usage("--asset-id: the text after \"hex:\" is not hexadecimal")
        }
        guard (2...1024).contains(bytes.count) else { throw .usage("--asset-id takes 2 to 1,024 bytes") }
        return bytes
    }

    static func ladder(
        _ arguments: Arguments, _ context: CommandContext
    ) throws(CommandError) -> ApplicationSecretKeyLadder {
        switch (arguments.value(applicationSecret), arguments.value(dask)) {
        case (.some(let text), nil):
            return try ladder(
                .applicationSecret, SecretArgument.block(applicationSecret, text, acceptsPath: true, context))
        case (nil, .some(let text)):
            return try ladder(.fixedDASk, SecretArgument.block(dask, text, context))
        case (nil, nil), (.some, .some):
            throw .usage("give either \(applicationSecret.usage) or \(dask.usage)")
        }
    }

    private static func ladder(
        _ kind: ApplicationSecretKeyLadder.Kind, _ secret: consuming SecretBytes
    ) throws(CommandError) -> ApplicationSecretKeyLadder {
        do throws(CryptoError) {
            return try ApplicationSecretKeyLadder(kind, secret)
        } catch {
            throw .cryptography(error)
        }
    }
}

/// A file of certificates: one, or the bundle of both, in DER or PEM.
enum CertificateFile {
    /// The certificate for which an SPC of this version wraps its key: 1024 bits for version 1, 2048 bits for versions
    /// 2 and 3.
    ///
    /// `path` is only for messages.
    static func certificate(
        for version: SPCVersion, in bytes: [UInt8], _ path: String
    ) throws(CommandError) -> Certificate {
        let certificates: [Certificate]
        do throws(CryptoError) {
            certificates = try Certificate.parseAll(bytes)
        } catch {
            throw .failed("\(path) is not a certificate in DER or PEM or a bundle of two; it is \(FileKind(bytes))")
        }
        let bits = version.wrappedKeySize * 8
        guard let certificate = certificates.first(where: { $0.keyBits == bits }) else {
            let found = certificates.map { "\($0.keyBits)" }.joined(separator: " and ")
            throw .failed(
                "SPC version \(version.rawValue) needs a certificate with a \(bits)-bit key; \(path) has \(found) bits: "
                    + "name the other certificate, the bundle, or another --spc-version")
        }
        return certificate
    }
}

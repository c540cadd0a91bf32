import CommandLineKit
import ContentKeys

/// The options for the tracks of a key and for its least protection.
struct KeyPolicyArguments {
    static let track = CommandOption(
        "--track", .value("LABEL"),
        help: "the tracks that the key is for: AUDIO, SD, HD, UHD, or a label of your own; every track unless given")
    static let contentType = CommandOption(
        "--content-type", .value("audio|sd|hd|uhd"),
        help: "the type whose policy the key has; needed with a label of your own, sd without a label")
    static let hdcp = CommandOption(
        "--hdcp", .value("none|type0|type1"), help: "the least protection of outputs; the content type's unless given")
    static let securityLevel = CommandOption(
        "--security-level", .value("audio|baseline|main"),
        help: "the least security level of devices; the content type's unless given")

    static let scheme = CommandOption(
        "--scheme", .value("cbcs|sample-aes|cenc|cens|cbc1"),
        help: "how samples are encrypted, cbcs unless given; no license has keys of the last three schemes")

    static let options = [track, contentType, hdcp, securityLevel, scheme]

    let track: Track
    let leastHDCP: ContentKeyAttributes.HDCP?
    let leastSecurityLevel: ContentKeyAttributes.SecurityLevel?
    let scheme: EncryptionScheme

    init(_ arguments: Arguments) throws(CommandError) {
        track = try Self.track(arguments)
        leastHDCP = try arguments.word(Self.hdcp)
        leastSecurityLevel = try arguments.word(Self.securityLevel)
        scheme = try arguments.word(Self.scheme) ?? .cbcs
    }

    private static func track(_ arguments: Arguments) throws(CommandError) -> Track {
        let contentType: ContentType? = try arguments.word(contentType)
        let label = try arguments.value(track).map { text throws(CommandError) in
            guard let label = try? TrackLabel(text) else {
                throw .usage("--track takes 1 to 64 printable ASCII characters without space")
            }
            return label
        }
        do throws(TrackError) {
            return try Track(label: label, contentType: contentType)
        } catch {
            switch error {
            case .contentTypeMissing:
                throw .usage(
                    "--track: only AUDIO, SD, HD and UHD imply a content type; with a label of your own add --content-type"
                )
            case .contentTypeContradicted(let type):
                throw .usage("--content-type contradicts --track, whose label means \(type.rawValue)")
            }
        }
    }
}

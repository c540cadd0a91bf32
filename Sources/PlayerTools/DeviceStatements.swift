import ByteCoding
import CommandLineKit
import DeviceSimulation
import FairPlay
import KeyCrypto

/// The options for the device's optional statements about itself and its playback.
enum DeviceStatements {
    static let playbackState = CommandOption(
        "--playback-state", .value("ready|playing|renewal|stopped"),
        help: "\"ready\" to start unless given; \"renewal\" says that the lease is about to end and needs renewal")
    static let noPlaybackState = CommandOption(
        "--no-playback-state", .flag,
        help: "leave out the media playback state, as old devices do; such a device cannot be given a lease")
    static let sessionID = CommandOption(
        "--session-id", .value("HEX"),
        help: "the playback session, 16 digits; random unless given. A renewal names the session of the first request")
    static let deviceID = CommandOption(
        "--device-id", .value("HEX"), help: "the device's id (HU), 40 digits; random unless given")
    static let capabilities = CommandOption(
        "--capabilities", .value("LIST"),
        help:
            "the device's capabilities: names from \(CapabilityName.list) with commas between them, or none; all of them "
            + "unless given")
    static let noCapabilities = CommandOption(
        "--no-capabilities", .flag, help: "leave out the capabilities, as old devices do")
    static let securityLevel = CommandOption(
        "--security-level", .value("audio|baseline|main|encrypted|HEX"),
        help: "report this security level (HEX: any number of 16 digits), or an encrypted one that servers cannot read")
    static let denyList = CommandOption(
        "--deny-list", .value("VERSION"),
        help: "the version of the kext deny list of a Mac; one from 1 to 30 makes it count as Baseline at most")
    static let streamTo = CommandOption(
        "--stream-to", .value("local|airplay|adapter"),
        help: "the output: the device's own screen, AirPlay, or Apple's AV adapter; left out unless given")
    static let identity = CommandOption(
        "--device-identity", .value("CLASS[:OS]"),
        help: "the identity that newer devices report: \(DeviceWord.classes), or a number; optionally with the version "
            + "of the operating system, as mobile:18.4.1")
    static let info = CommandOption(
        "--device-info", .value("TYPE[:OS]"),
        help: "the type that older devices report: \(DeviceWord.types), or 16 digits; as mac:10.15.7")
    static let virtualMachine = CommandOption(
        "--virtual-machine", .flag, help: "say that it is a virtual machine, a desktop on a desktop")
    static let videoKey = CommandOption(
        "--video-key", .flag,
        help: "offer a second session key for video, which only an external module can use; it is sealed for "
            + "Latchkey's own modules")

    static let options = [
        playbackState, noPlaybackState, sessionID, deviceID, capabilities, noCapabilities, securityLevel, denyList,
        streamTo, identity, info, virtualMachine, videoKey,
    ]

    static func add(
        to options: inout DeviceOptions, _ arguments: Arguments, _ context: CommandContext
    ) throws(CommandError) {
        options.playbackState = try playbackState(arguments, context)
        options.deviceID = try arguments.bytes(deviceID, size: DeviceID.size).map { DeviceID($0) }
        options.capabilities = try capabilities(arguments)
        options.securityLevel = try securityLevel(arguments)
        options.denyListVersion = try arguments.number(denyList, in: 0...UInt32.max)
        let output: OutputWord? = try arguments.word(streamTo)
        options.streamingIndicator = output?.indicator
        options.deviceIdentity = try arguments.value(identity).map(DeviceWord.identity)
        options.deviceInfo = try arguments.value(info).map(DeviceWord.info)
        if arguments.isSet(virtualMachine) { options.virtualMachine = DeviceWord.virtualMachine }
        if arguments.isSet(videoKey) { options.video = .sealed }
    }

    private static func playbackState(
        _ arguments: Arguments, _ context: CommandContext
    ) throws(CommandError) -> MediaPlaybackState? {
        let word: PlaybackWord? = try arguments.word(playbackState)
        let session = try arguments.identifier8(sessionID)
        if arguments.isSet(noPlaybackState) {
            guard word == nil, session == nil else {
                throw .usage("--no-playback-state contradicts --playback-state and --session-id")
            }
            return nil
        }
        let random = try wrap(CommandError.cryptography, try RandomBytes.generateUInt64())
        return MediaPlaybackState(
            createdAt: UInt32(clamping: context.now), state: (word ?? .ready).state, sessionID: session ?? random)
    }

    private static func capabilities(_ arguments: Arguments) throws(CommandError) -> Capabilities? {
        let text = arguments.value(capabilities)
        if arguments.isSet(noCapabilities) {
            guard text == nil else { throw .usage("--no-capabilities contradicts --capabilities") }
            return nil
        }
        guard let text else { return CapabilityName.all }
        guard let capabilities = CapabilityName.parse(text) else {
            throw .usage("--capabilities takes \(CapabilityName.list) with commas between them, or none")
        }
        return capabilities
    }

    private static func securityLevel(_ arguments: Arguments) throws(CommandError) -> SecurityLevelStatement? {
        guard let text = arguments.value(securityLevel) else { return nil }
        if text == "encrypted" { return .encrypted }
        let level = SecurityLevel.allCases.first { $0.name == text }?.rawValue
        guard let number = level ?? text.sixteenDigits else {
            throw .usage("--security-level takes audio, baseline, main, encrypted, or a number of 16 digits")
        }
        return .report(SecurityLevelReport(rawLevel: number, denyListVersion: 0))
    }
}

private enum PlaybackWord: String, CaseIterable {
    case ready, playing, renewal, stopped

    var state: PlaybackState {
        switch self {
        case .ready: .readyToStart
        case .playing: .playing
        case .renewal: .leaseExpiring
        case .stopped: .stopped
        }
    }
}

private enum OutputWord: String, CaseIterable {
    case local, airplay, adapter

    var indicator: StreamingIndicator {
        switch self {
        case .local: .local
        case .airplay: .airPlay
        case .adapter: .avAdapter
        }
    }
}

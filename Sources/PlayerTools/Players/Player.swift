import PlayerMessages

/// The players whose requests the tool can send. The raw values are the words of `--as`.
enum Player: String, CaseIterable, Sendable {
    case hlsJS = "hls.js"
    case hlsJSSinf = "hls.js-sinf"
    case hlsJSStreamingKeys = "hls.js-streaming-keys"
    case shaka
    case shakaVerimatrix = "shaka-verimatrix"
    case shakaGumlet = "shaka-gumlet"
    case shakaTutorial = "shaka-tutorial"
    case shakaTutorial3 = "shaka-tutorial-3"
    case safariCENC = "safari-cenc"
    case videoJS = "video.js"
    case theoKeyOS = "theoplayer-keyos"
    case theoPallyCon = "theoplayer-pallycon"
    case avFoundation = "avfoundation"
    case clientKit = "latchkey-kit"
    case reactNative = "react-native"
    case reactNativeLegacy = "react-native-legacy"
    case reactNativeHook = "react-native-hook"
    case expoVideo = "expo-video"
    case kaltura
    case expressPlay = "expressplay"
    case nagra
    case axinom
    case drmToday = "drmtoday"
    case appleStreamingKeys = "apple-streaming-keys"
    case fairPlayKSM = "fairplay-ksm"
}

extension Player {
    private static let octets = "application/octet-stream"
    private static let form = "application/x-www-form-urlencoded"
    private static let json = "application/json"
    /// The type that a browser sends for a text if the page sets no type.
    private static let text = "text/plain;charset=UTF-8"

    /// hls.js sends eight more copies without delay after a 5xx (clients, section 0, fact 8).
    private static let hlsJSRetries = RetryRule.afterServerErrors(count: 8)
    /// Shaka makes two attempts in all (clients, section 0, fact 8).
    private static let shakaRetries = RetryRule.afterAnyFailure(count: 1)

    /// The profile of each player.
    ///
    /// URLSession gives a body without a type the type of a form. So apps send raw SPCs with that type.
    var profile: PlayerProfile {
        switch self {
        case .hlsJS:
            PlayerProfile(
                name: "hls.js 1.4.10 and 1.7.1, key named by the playlist", source: "clients, section 1a, hls.js",
                retries: Self.hlsJSRetries)
        case .hlsJSSinf:
            PlayerProfile(
                name: "hls.js 1.4.10 and 1.7.1, key named by the media (sinf)",
                source: "clients, section 1a, hls.js, and section 3",
                assetID: .keyID, retries: Self.hlsJSRetries)
        case .hlsJSStreamingKeys:
            PlayerProfile(
                name: "hls.js with the licenseXhrSetup of its demo",
                source: "clients, section 1a, hls.js with licenseXhrSetup",
                body: .streamingKeys, contentType: Self.text, answer: .streamingKeys, retries: Self.hlsJSRetries)
        case .shaka:
            PlayerProfile(
                name: "Shaka Player 5.2.0", source: "clients, section 1a, Shaka plain", statuses: .shaka,
                retries: Self.shakaRetries)
        case .shakaVerimatrix:
            PlayerProfile(
                name: "Shaka Player 5.2.0 with its Verimatrix filter",
                source: "clients, section 1a, Shaka + Verimatrix",
                body: .form(.urlSafe, .none), contentType: Self.form, statuses: .shaka, answer: .shaka,
                retries: Self.shakaRetries)
        case .shakaGumlet:
            PlayerProfile(
                name: "Shaka Player 5.2.0 with its Gumlet filter", source: "clients, section 1a, Shaka + Gumlet",
                body: .object(.spc, .urlSafe), contentType: Self.json, statuses: .shaka, answer: .shaka,
                retries: Self.shakaRetries)
        case .shakaTutorial:
            PlayerProfile(
                name: "Shaka Player with the filters of its tutorial",
                source: "clients, section 1a, Shaka tutorial (current)",
                body: .form(.escaped, .none), contentType: Self.form, statuses: .shaka,
                answer: .tagsOrBase64(trims: true), retries: Self.shakaRetries)
        case .shakaTutorial3:
            PlayerProfile(
                name: "Shaka Player with the filters of the tutorials 3.x to 4.0",
                source: "clients, section 1a, Shaka tutorial 3.x-4.0", body: .escapedForm, contentType: Self.form,
                statuses: .shaka, answer: .tagsOrBase64(trims: true), retries: Self.shakaRetries)
        case .safariCENC:
            PlayerProfile(
                name: "Shaka Player in Safari, init data cenc: all keys in one array",
                source: "clients, section 0, fact 6, and section 3", body: .keyArray, sendsKeysTogether: true,
                assetID: .keyID, statuses: .shaka,
                answer: .keyArray, retries: Self.shakaRetries)
        case .videoJS:
            PlayerProfile(
                name: "video.js with videojs-contrib-eme 5.5.2",
                source: "clients, section 1a, video.js, and section 0, fact 7",
                contentType: Self.octets, assetID: .host, statuses: .successful)
        case .theoKeyOS:
            PlayerProfile(
                name: "THEOplayer with its KeyOS connector", source: "clients, section 1a, THEOplayer",
                body: .form(.plain, .named), contentType: Self.text, answer: .tagsOrBase64(trims: true))
        case .theoPallyCon:
            PlayerProfile(
                name: "THEOplayer with its PallyCon connector, at an address with format=base64",
                source: "clients, section 1a, THEOplayer, and section 2", body: .form(.escaped, .named),
                contentType: Self.form,
                format: "base64", answer: .strictBase64, certificate: .base64)
        case .avFoundation:
            PlayerProfile(
                name: "an app from Apple's sample with the key request that most copy",
                source: "clients, section 1b, Apple sample HLSCatalog", body: .form(.plain, .named),
                contentType: Self.form,
                assetID: .withoutScheme, answer: .tagsOrBase64(trims: false))
        case .clientKit:
            PlayerProfile(
                name: "an app with Latchkey's client kit", source: "Clients/Apple", contentType: Self.octets,
                assetID: .withoutScheme)
        case .reactNative:
            PlayerProfile(
                name: "react-native-video 6.5 and later", source: "clients, section 1b, react-native-video >= 6.5",
                contentType: Self.form, assetID: .withoutScheme)
        case .reactNativeLegacy:
            PlayerProfile(
                name: "react-native-video 6.4 and before", source: "clients, section 1b, react-native-video <= 6.4",
                body: .form(.reactNative, .bare), contentType: Self.form, assetID: .withoutScheme,
                answer: .strictBase64)
        case .reactNativeHook:
            PlayerProfile(
                name: "react-native-video with the getLicense of its documentation",
                source: "clients, section 1b, react-native-video getLicense hook", body: .getFairplayLicense,
                contentType: Self.json, assetID: .withoutScheme, answer: .getFairplayLicense)
        case .expoVideo:
            PlayerProfile(
                name: "expo-video", source: "clients, section 1b, expo-video", contentType: Self.form,
                assetID: .withoutScheme)
        case .kaltura:
            PlayerProfile(
                name: "Kaltura playkit-ios", source: "clients, section 1b, Kaltura playkit-ios", body: .base64,
                contentType: Self.octets, assetID: .host, statuses: .all, answer: .kaltura)
        case .expressPlay:
            PlayerProfile(
                name: "Adobe TVSDK with ExpressPlay", source: "clients, section 1b, Adobe TVSDK + ExpressPlay",
                contentType: Self.octets, token: .query("ExpressPlayToken"), address: .redemption)
        case .nagra:
            PlayerProfile(
                name: "NAGRA's players", source: "entitlement, section 1.2.1, NAGRA", contentType: Self.octets,
                accept: Self.json,
                token: .header("nv-authorizations"), answer: .member("CkcMessage"))
        case .axinom:
            PlayerProfile(
                name: "an app for Axinom DRM", source: "clients, section 1b, Axinom", contentType: Self.octets,
                token: .header("X-AxDRM-Message"), assetID: .withoutScheme)
        case .drmToday:
            PlayerProfile(
                name: "an app for castLabs DRMtoday", source: "clients, section 1b, DRMtoday; section 1a, Bitmovin web",
                body: .form(.escaped, .bare), contentType: Self.form, token: .header("x-dt-auth-token"),
                assetID: .withoutScheme, answer: .tagsOrBase64(trims: true))
        case .appleStreamingKeys:
            PlayerProfile(
                name: "Apple's own clients: all keys in one object",
                source: "clients, section 1b, Apple TV/Music clients",
                body: .streamingKeys, sendsKeysTogether: true, contentType: Self.json, answer: .streamingKeys)
        case .fairPlayKSM:
            PlayerProfile(
                name: "an app for FairPlay-KSM", source: "clients, section 1b, FairPlay-KSM",
                body: .object(.spcMessage, .standard), contentType: Self.json, assetID: .withoutScheme,
                answer: .member("ckcMessage"))
        }
    }
}

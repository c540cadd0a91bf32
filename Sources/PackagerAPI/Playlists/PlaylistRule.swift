/// The rules for the keys of playlists (packagers, section 5). The raw values are printed, and must not change.
package enum PlaylistRule: String, Hashable, Sendable, CaseIterable {
    // The text.
    case document
    case tag
    case version
    case variables

    // One key.
    case attributeForm = "attribute-form"
    case method
    case methodNone = "method-none"
    case uriMissing = "uri-missing"
    case keyFormat = "key-format"
    case keyFormatVersions = "key-format-versions"
    case versionTooLow = "version-too-low"
    case versionOfSessionKeys = "version-of-session-keys"
    case fairPlayMethod = "fairplay-method"
    case counterMode = "counter-mode"
    case fairPlayURI = "fairplay-uri"
    case ivForm = "iv-form"
    case fairPlayIV = "fairplay-iv"

    // The address of a key.
    case uriCharacters = "uri-characters"
    case uriEmpty = "uri-empty"
    case uriTooLong = "uri-too-long"
    case uriLong = "uri-long"
    case uriScheme = "uri-scheme"
    case hostCase = "host-case"
    case hostTruncated = "host-truncated"

    // Keys and segments.
    case sameSystems = "same-systems"
    case mixedMethods = "mixed-methods"
    case fairPlayMissing = "fairplay-missing"
    case keyIDs = "key-ids"
    case keyUnused = "key-unused"
    case keyRepeated = "key-repeated"
    case clearLead = "clear-lead"

    // The multivariant playlist.
    case keyOfOtherKind = "key-of-other-kind"
    case sessionKeyNone = "session-key-none"
    case sessionKeyDuplicate = "session-key-duplicate"
    case sessionKeyDisagrees = "session-key-disagrees"
    case sessionKeyMissing = "session-key-missing"
    case sessionKeyUnused = "session-key-unused"
    case hdcpLevel = "hdcp-level"
    case hdcpLevelLow = "hdcp-level-low"
    case allowedCPC = "allowed-cpc"
    case sharedKey = "shared-key"
    case nested = "nested"
    case notRead = "not-read"
    case notFollowed = "not-followed"

    // The keys of a server.
    case keyUnknown = "key-unknown"
    case keyWithdrawn = "key-withdrawn"
    case keyAmbiguous = "key-ambiguous"
    case keyScheme = "key-scheme"
    case keyTrack = "key-track"
    case keyClass = "key-class"
    case keyIV = "key-iv"
    case keyHDCP = "key-hdcp"
    case assetIDMissing = "asset-id-missing"

    package var severity: FindingSeverity { text.severity }

    /// The rule as a sentence.
    package var statement: String { text.statement }

    /// A sentence that says what to do if the rule is broken.
    package var advice: String { text.advice }

    private typealias Text = (severity: FindingSeverity, statement: String, advice: String)

    private var text: Text {
        switch self {
        case .document, .tag, .version, .variables: textOfDocument
        case .attributeForm, .method, .methodNone, .uriMissing, .keyFormat, .keyFormatVersions, .versionTooLow,
            .versionOfSessionKeys, .fairPlayMethod, .counterMode, .fairPlayURI, .ivForm, .fairPlayIV:
            textOfKey
        case .uriCharacters, .uriEmpty, .uriTooLong, .uriLong, .uriScheme, .hostCase, .hostTruncated: textOfAddress
        case .sameSystems, .mixedMethods, .fairPlayMissing, .keyIDs, .keyUnused, .keyRepeated, .clearLead:
            textOfSegments
        case .keyOfOtherKind, .sessionKeyNone, .sessionKeyDuplicate, .sessionKeyDisagrees, .sessionKeyMissing,
            .sessionKeyUnused, .hdcpLevel, .hdcpLevelLow, .allowedCPC, .sharedKey, .nested, .notRead, .notFollowed:
            textOfMultivariant
        case .keyUnknown, .keyWithdrawn, .keyAmbiguous, .keyScheme, .keyTrack, .keyClass, .keyIV, .keyHDCP,
            .assetIDMissing:
            textOfServer
        }
    }

    private var textOfDocument: Text {
        switch self {
        case .document:
            (
                .error, "A playlist is UTF-8 text that begins with #EXTM3U, and is a media or a multivariant playlist.",
                "Look at what wrote or changed the file; a page of HTML or an XML document is not a playlist."
            )
        case .tag:
            (
                .error, "A tag has attributes NAME=value with commas between them, no name twice and no spaces.",
                "Correct the line; players skip a tag that they cannot read."
            )
        case .version:
            (.error, "A playlist has at most one EXT-X-VERSION, a whole number.", "Keep one line with the version.")
        default:
            (
                .warning, "The address of a key is checked if it has no variable of EXT-X-DEFINE.",
                "Check the playlist that a player gets after the values are put in."
            )
        }
    }

    private var textOfKey: Text {
        switch self {
        case .attributeForm:
            (
                .error, "URI, KEYFORMAT and KEYFORMATVERSIONS stand in quotation marks; METHOD and IV do not.",
                "Add or remove the quotation marks."
            )
        case .method:
            (
                .error, "METHOD is NONE, AES-128, SAMPLE-AES or SAMPLE-AES-CTR.",
                "Write METHOD=SAMPLE-AES for FairPlay."
            )
        case .methodNone:
            (.error, "METHOD=NONE stands alone.", "Remove the other attributes, or name the method of the encryption.")
        case .uriMissing:
            (.error, "A key has a URI.", "Write the URL of the key; `latchkey keys show` prints it.")
        case .keyFormat:
            (
                .error, "The KEYFORMAT of an skd: address is \"com.apple.streamingkeydelivery\".",
                "Write that KEYFORMAT; without it a player takes the address for that of a key file."
            )
        case .keyFormatVersions:
            (
                .error, "KEYFORMATVERSIONS has whole numbers with slashes between them, and for FairPlay the 1.",
                "Write KEYFORMATVERSIONS=\"1\"."
            )
        case .versionTooLow:
            (
                .error, "KEYFORMAT and KEYFORMATVERSIONS need EXT-X-VERSION 5 or higher; no EXT-X-VERSION means 1.",
                "Write #EXT-X-VERSION:6, which EXT-X-MAP needs too."
            )
        case .versionOfSessionKeys:
            (
                .warning, "If a multivariant playlist has KEYFORMAT and EXT-X-VERSION, the version is 5 or higher.",
                "Write the version that the media playlists have."
            )
        case .fairPlayMethod:
            (.error, "FairPlay needs METHOD=SAMPLE-AES.", "Package with cbcs, or with SAMPLE-AES for MPEG-TS.")
        case .counterMode:
            (
                .error, "FairPlay plays no SAMPLE-AES-CTR, which is the scheme cenc.",
                "Package with the scheme cbcs: with Shaka Packager, --protection_scheme cbcs."
            )
        case .fairPlayURI:
            (
                .error, "The address of a FairPlay key begins with skd://.",
                "Give the packager the URL of the key; Bento4 has one option for each key line that it writes."
            )
        case .ivForm:
            (.error, "IV is 0x and at most 32 hexadecimal digits.", "Correct the IV, or remove it for FairPlay.")
        default:
            (
                .warning, "A FairPlay key has no IV in the playlist: the license brings it.",
                "Remove IV, unless another system of the same segments needs it."
            )
        }
    }

    private var textOfAddress: Text {
        switch self {
        case .uriCharacters:
            (
                .error, "The address of a key has the characters of a URI (RFC 3986); a percent sign begins an escape.",
                "Percent-encode other characters; braces may be a template that nothing has filled in."
            )
        case .uriEmpty:
            (.error, "The address of a key names something behind skd://.", "Write the URL of the key.")
        case .uriTooLong:
            (.error, "The address of a key has at most 1,024 bytes: an SPC carries no more.", "Use a shorter URL.")
        case .uriLong:
            (
                .warning, "The address of a key should have at most 200 bytes: an alias can have no more.",
                "Use a shorter URL, such as skd:// and the key id."
            )
        case .uriScheme:
            (
                .warning, "The address of a key begins with skd:// in small letters.",
                "Write skd:// before the name; apps look for these letters to take them off."
            )
        case .hostCase:
            (
                .warning, "Players that send the host alone send it in small letters.",
                "Use a URL in small letters, such as skd:// and the key id, or register the host as an alias."
            )
        default:
            (
                .warning,
                "Players that send the host alone send what stands before the first slash, colon or question mark.",
                "Use a URL that is a host and nothing else, such as skd:// and the key id."
            )
        }
    }

    private var textOfSegments: Text {
        switch self {
        case .sameSystems:
            (
                .error, "All encrypted segments have keys for the same systems.",
                "Write a key line of each KEYFORMAT for every change of keys, in every playlist."
            )
        case .mixedMethods:
            (
                .error, "All keys of a segment have one METHOD: it is encrypted once.",
                "Package with cbcs for all systems, or make playlists of their own for each scheme."
            )
        case .fairPlayMissing:
            (
                .warning, "Segments encrypted for a DRM system have a FairPlay key, or no Apple device plays them.",
                "Add FairPlay to the packager's systems, unless this playlist is for other devices."
            )
        case .keyIDs:
            (
                .error, "Each key has an address of its own, and all lines of a segment mean one key.",
                "Give each key its own URL; Shaka Packager and Bento4 take one for all tracks, so run them for each."
            )
        case .keyUnused:
            (
                .error, "A key covers segments until the next EXT-X-KEY of its KEYFORMAT.",
                "Remove the line that has no segments, or put it before them."
            )
        case .keyRepeated:
            (
                .warning, "Each further EXT-X-KEY of one KEYFORMAT names another key.",
                "Remove the line; for key rotation give each period a key and a URL of its own."
            )
        default:
            (
                .warning, "The first segments are encrypted; otherwise they play without a license.",
                "With Shaka Packager, set --clear_lead 0; by default it leaves 5 seconds in the clear."
            )
        }
    }

    private var textOfMultivariant: Text {
        switch self {
        case .keyOfOtherKind:
            (
                .error, "EXT-X-KEY belongs to media playlists, and EXT-X-SESSION-KEY to multivariant playlists.",
                "Use the other tag, or move the line."
            )
        case .sessionKeyNone: (.error, "EXT-X-SESSION-KEY has a METHOD other than NONE.", "Remove the line.")
        case .sessionKeyDuplicate:
            (.error, "No two EXT-X-SESSION-KEY have the same attributes.", "Remove one of the lines.")
        case .sessionKeyDisagrees:
            (
                .error,
                "METHOD, KEYFORMAT and KEYFORMATVERSIONS are the same in EXT-X-SESSION-KEY and EXT-X-KEY of one URI.",
                "Write both lines from one source: `latchkey keys show` prints the URL."
            )
        case .sessionKeyMissing:
            (
                .warning, "Each FairPlay key of a recording has an EXT-X-SESSION-KEY, for preloading and downloads.",
                "Add the line; with Shaka Packager, --create_session_keys."
            )
        case .sessionKeyUnused:
            (
                .warning, "Each EXT-X-SESSION-KEY is a key of some media playlist.",
                "Remove the line, or correct its URI: players ask for a license that they do not need."
            )
        case .hdcpLevel: (.error, "HDCP-LEVEL is NONE, TYPE-0 or TYPE-1.", "Correct or remove the attribute.")
        case .hdcpLevelLow:
            (
                .warning, "If HDCP-LEVEL is used, HD has TYPE-0 or higher and UHD has TYPE-1.",
                "Write the level that the key of the stream demands."
            )
        case .allowedCPC:
            (
                .error,
                "ALLOWED-CPC has KEYFORMAT:LABEL/LABEL with commas between them; the labels of FairPlay are "
                    + "AppleBaseline, AppleMain, Baseline and Main.",
                "Correct the attribute; a player that does not know the labels leaves the stream out."
            )
        case .sharedKey:
            (
                .warning, "Audio, SD, HD and UHD have separate keys: a key's demands hold for all that it opens.",
                "Package each track with its own key and URL, unless one policy is meant for all of them."
            )
        case .nested:
            (.error, "A multivariant playlist names media playlists.", "Name the media playlists themselves.")
        case .notRead:
            (.error, "Each playlist that is named can be read.", "Correct the address, or add the missing file.")
        default:
            (
                .warning, "Playlists are read only from the folder or server of the first one, and only up to a limit.",
                "Use --follow-others if they are trusted, or check them one by one."
            )
        }
    }

    private var textOfServer: Text {
        switch self {
        case .keyUnknown:
            (
                .error, "The asset id names a key of this server.",
                "Import the packager's key, or register the asset id: `latchkey keys import`, `latchkey keys alias`."
            )
        case .keyWithdrawn:
            (
                .error, "The key is live.",
                "Restore it with `latchkey keys delete --restore`, or package with another key."
            )
        case .keyAmbiguous:
            (
                .error, "The asset id names one key.",
                "Name the key by its key id, or register an alias: the content has several live keys."
            )
        case .keyScheme:
            (
                .error, "Fragmented MP4 (EXT-X-MAP) needs a key of the scheme cbcs; other segments need sample-aes.",
                "Import the key again under another key id with the scheme in which the packager uses it."
            )
        case .keyTrack:
            (
                .error, "A key for audio is used for audio, and one for video is used for video.",
                "Compare the key ids of the packager with `latchkey keys list`: two tracks may be confused."
            )
        case .keyClass:
            (
                .warning, "The key is for the class of the pictures: SD, HD or UHD.",
                "Compare the tracks of the packager with those of `latchkey keys list`."
            )
        case .keyIV:
            (
                .error, "An IV in the playlist is the one that the license brings.",
                "Import the key with the packager's IV under another key id, or remove IV."
            )
        case .keyHDCP:
            (
                .warning, "HDCP-LEVEL says what the key demands.",
                "Write that level, so that players without it choose another stream."
            )
        default:
            (
                .warning, "Each player makes an asset id of 2 to 1,024 bytes of the address.",
                "Use a URL that the player can read; some take the key id from the media, which is not read here."
            )
        }
    }
}

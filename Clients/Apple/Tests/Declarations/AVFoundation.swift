// The part of AVFoundation that `LatchkeyPlayback` and `Example` use, for Linux only. It is declared after Apple's
// documentation, and a test simulates the device with it. It shows that the sample compiles against these declarations
// and calls them in the right order. It shows nothing about AVFoundation itself.
@_exported public import Foundation
@_exported public import FoundationNetworking

public protocol AVContentKeyRecipient: AnyObject {}

public final class AVURLAsset: AVContentKeyRecipient {
    public init(url: URL) {}
}

public final class AVPlayerItem {
    public init(asset: AVURLAsset) {}
}

public final class AVPlayer {
    public init() {}
    public func replaceCurrentItem(with item: AVPlayerItem?) {}
    public func play() {}
}

public struct AVContentKeySystem: Equatable {
    public static let fairPlayStreaming = AVContentKeySystem()
}

// swift-format-ignore: AlwaysUseLowerCamelCase
public let AVContentKeyRequestProtocolVersionsKey = "ProtocolVersionsKey"

public struct AVContentKeySessionServerPlaybackContextOption: Hashable {
    let name: String
    public static let protocolVersions = Self(name: "ProtocolVersions")
    public static let serverChallenge = Self(name: "ServerChallenge")
}

public final class AVContentKeyResponse {
    public let data: Data

    public init(fairPlayStreamingKeyResponseData keyResponseData: Data) {
        data = keyResponseData
    }
}

open class AVContentKeyRequest: NSObject {
    public struct RetryReason: Equatable {
        let name: String
        public static let timedOut = Self(name: "TimedOut")
        public static let receivedResponseWithExpiredLease = Self(name: "ExpiredLease")
        public static let receivedObsoleteContentKey = Self(name: "ObsoleteKey")
    }

    public let identifier: Any?

    public init(identifier: Any?) {
        self.identifier = identifier
    }

    open func makeStreamingContentKeyRequestData(
        forApp appIdentifier: Data, contentIdentifier: Data?, options: [String: Any]? = nil
    ) async throws -> Data {
        throw CocoaError(.featureUnsupported)
    }

    open func processContentKeyResponse(_ keyResponse: AVContentKeyResponse) {}
    open func processContentKeyResponseError(_ error: any Error) {}

    open func respondByRequestingPersistableContentKeyRequestAndReturnError() throws {
        throw CocoaError(.featureUnsupported)
    }
}

open class AVPersistableContentKeyRequest: AVContentKeyRequest {
    open func persistableContentKey(
        fromKeyVendorResponse keyVendorResponse: Data, options: [String: Any]? = nil
    ) throws -> Data {
        throw CocoaError(.featureUnsupported)
    }
}

public protocol AVContentKeySessionDelegate: AnyObject {
    func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVContentKeyRequest)
    func contentKeySession(
        _ session: AVContentKeySession, didProvideRenewingContentKeyRequest keyRequest: AVContentKeyRequest)
    func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVPersistableContentKeyRequest)
    func contentKeySession(
        _ session: AVContentKeySession, didUpdatePersistableContentKey persistableContentKey: Data,
        forContentKeyIdentifier keyIdentifier: Any)
    func contentKeySession(
        _ session: AVContentKeySession, contentKeyRequest keyRequest: AVContentKeyRequest,
        didFailWithError err: any Error)
    func contentKeySession(
        _ session: AVContentKeySession, shouldRetry keyRequest: AVContentKeyRequest,
        reason retryReason: AVContentKeyRequest.RetryReason
    ) -> Bool
}

public final class AVContentKeySession {
    /// The device that hears the calls of all sessions.
    nonisolated(unsafe) public static var device: (any SimulatedDevice)?

    public init(keySystem: AVContentKeySystem) {}

    public func setDelegate(_ delegate: (any AVContentKeySessionDelegate)?, queue: DispatchQueue?) {}
    public func addContentKeyRecipient(_ recipient: any AVContentKeyRecipient) {}

    public func renewExpiringResponseData(for contentKeyRequest: AVContentKeyRequest) {
        Self.device?.renew(contentKeyRequest)
    }

    public func processContentKeyRequest(
        withIdentifier identifier: Any?, initializationData: Data?, options: [String: Any]? = nil
    ) {
        Self.device?.process(identifier as? String ?? "")
    }

    public func makeSecureTokenForExpirationDate(
        ofPersistableContentKey persistableContentKeyData: Data
    ) async throws -> Data {
        Data("report on ".utf8) + persistableContentKeyData
    }

    public func invalidatePersistableContentKey(
        _ persistableContentKeyData: Data, options: [AVContentKeySessionServerPlaybackContextOption: Any]? = nil
    ) async throws -> Data {
        let challenge = options?[.serverChallenge] as? Data
        return Data("given up ".utf8) + persistableContentKeyData + Data(" for ".utf8) + (challenge ?? Data())
    }
}

/// A device that a test simulates. It hears the calls of a session.
public protocol SimulatedDevice: AnyObject {
    func renew(_ request: AVContentKeyRequest)
    func process(_ keyURI: String)
}

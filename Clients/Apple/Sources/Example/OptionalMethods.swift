#if os(Linux)
    import AVFoundation

    // In AVFoundation these methods of a delegate are optional. Swift on Linux has no optional methods.
    extension AVContentKeySessionDelegate {
        func contentKeySession(
            _ session: AVContentKeySession, didProvideRenewingContentKeyRequest keyRequest: AVContentKeyRequest
        ) {}
        func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVPersistableContentKeyRequest) {}
        func contentKeySession(
            _ session: AVContentKeySession, didUpdatePersistableContentKey persistableContentKey: Data,
            forContentKeyIdentifier keyIdentifier: Any
        ) {}
        func contentKeySession(
            _ session: AVContentKeySession, contentKeyRequest keyRequest: AVContentKeyRequest,
            didFailWithError err: any Error
        ) {}
        func contentKeySession(
            _ session: AVContentKeySession, shouldRetry keyRequest: AVContentKeyRequest,
            reason retryReason: AVContentKeyRequest.RetryReason
        ) -> Bool { false }
    }
#endif

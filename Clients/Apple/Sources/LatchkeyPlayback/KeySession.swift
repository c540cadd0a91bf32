#if canImport(AVFoundation)
    import AVFoundation
    import Foundation
    import LatchkeyLicenses

    /// Gets the keys of protected streams from a Latchkey server, for streaming with renewal and for keeping.
    ///
    /// Make one session for each player, and keep it as long as the player. Call `add(_:)` with an asset before its
    /// playback begins:
    ///
    ///     let session = KeySession(
    ///         client: client, token: { uri in try await shop.token(for: uri) }, failed: { uri, error in … })
    ///     let asset = AVURLAsset(url: playlist)
    ///     session.add(asset)
    ///     player.replaceCurrentItem(with: AVPlayerItem(asset: asset))
    ///
    /// FairPlay works only on devices, and not in the simulator.
    public final class KeySession: NSObject, AVContentKeySessionDelegate {
        /// Returns a token for a key URI, from the app's own service. It is called again when a token has expired.
        public typealias TokenSource = (_ keyURI: String) async throws -> String
        /// Is called for each licence that could not be got. `LicenseFailure` says what to do. Other errors are
        /// AVFoundation's own.
        public typealias FailureHandler = (_ keyURI: String, _ error: Error) -> Void

        private let client: LicenseClient
        private let store: KeyStore?
        private let token: TokenSource
        private let failed: FailureHandler
        private let keySession = AVContentKeySession(keySystem: .fairPlayStreaming)
        private let clock: Clock
        private let lock = NSLock()

        // The lock protects these variables.
        private var certificate: Data?
        private var renewals: [String: Renewal] = [:]
        private var timers: [String: Task<Void, Never>] = [:]
        private var toKeep: Set<String> = []
        private var stopCount = 0

        /// Makes a session. The store is for keys that `keep(_:)` names; without it no key is kept.
        public convenience init(
            client: LicenseClient, store: KeyStore? = nil, token: @escaping TokenSource,
            failed: @escaping FailureHandler
        ) {
            self.init(client: client, store: store, clock: Clock(), token: token, failed: failed)
        }

        init(
            client: LicenseClient, store: KeyStore?, clock: Clock, token: @escaping TokenSource,
            failed: @escaping FailureHandler
        ) {
            self.clock = clock
            self.client = client
            self.store = store
            self.token = token
            self.failed = failed
            super.init()
            keySession.setDelegate(self, queue: DispatchQueue(label: "latchkey.keys"))
        }

        deinit {
            for timer in timers.values { timer.cancel() }
        }

        /// Starts to answer the key requests of an asset.
        public func add(_ asset: AVURLAsset) {
            keySession.addContentKeyRecipient(asset)
        }

        /// Stops all renewals. Call it when the player stops. Playback ends when its lease is not renewed.
        public func stop() {
            locked {
                for timer in timers.values { timer.cancel() }
                timers = [:]
                renewals = [:]
                stopCount += 1
            }
        }

        // MARK: Requests of AVFoundation

        public func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVContentKeyRequest) {
            #if !os(tvOS)
                if isKept(keyRequest) {
                    do {
                        // AVFoundation then sends another request, for a key that can be kept.
                        return try keyRequest.respondByRequestingPersistableContentKeyRequestAndReturnError()
                    } catch {
                        // AirPlay does not accept kept keys, so this goes on with a key for streaming.
                    }
                }
            #endif
            Task { await serve(keyRequest, .streaming) }
        }

        public func contentKeySession(
            _ session: AVContentKeySession, didProvideRenewingContentKeyRequest keyRequest: AVContentKeyRequest
        ) {
            Task { await serve(keyRequest, .renewal) }
        }

        public func contentKeySession(
            _ session: AVContentKeySession, shouldRetry keyRequest: AVContentKeyRequest,
            reason retryReason: AVContentKeyRequest.RetryReason
        ) -> Bool {
            let reasons: [AVContentKeyRequest.RetryReason] = [
                .timedOut, .receivedResponseWithExpiredLease, .receivedObsoleteContentKey,
            ]
            return reasons.contains(retryReason)
        }

        public func contentKeySession(
            _ session: AVContentKeySession, contentKeyRequest keyRequest: AVContentKeyRequest,
            didFailWithError err: Error
        ) {
            failed(keyURI(of: keyRequest) ?? "", err)
        }

        private func keyURI(of request: AVContentKeyRequest) -> String? {
            (request.identifier as? String) ?? (request.identifier as? URL)?.absoluteString
        }

        // MARK: Licences

        private func serve(_ request: AVContentKeyRequest, _ purpose: LicensePurpose) async {
            guard let uri = keyURI(of: request), let asset = assetID(ofKeyURI: uri) else {
                return request.processContentKeyResponseError(CocoaError(.coderValueNotFound))
            }
            let began = locked { stopCount }
            do {
                let spc = try await makeSPC(request, asset)
                let token = try await self.token(for: uri, purpose)
                let license = try await license(for: spc, purpose, uri, token, renewing: request, since: began)
                request.processContentKeyResponse(AVContentKeyResponse(fairPlayStreamingKeyResponseData: license.ckc))
                plan(Renewal(after: license, token: token, at: clock.now()), of: request, uri, since: began)
            } catch {
                request.processContentKeyResponseError(error)
                failed(uri, error)
            }
        }

        private func makeSPC(_ request: AVContentKeyRequest, _ asset: Data) async throws -> Data {
            let certificate = try await applicationCertificate()
            return try await request.makeStreamingContentKeyRequestData(
                forApp: certificate, contentIdentifier: asset, options: [AVContentKeyRequestProtocolVersionsKey: [1]])
        }

        /// The application certificate. It is fetched once, because it is the same for all keys.
        private func applicationCertificate() async throws -> Data {
            if let known = locked({ certificate }) { return known }
            let fetched = try await client.certificate()
            locked { certificate = fetched }
            return fetched
        }

        private func token(for uri: String, _ purpose: LicensePurpose) async throws -> String {
            if purpose == .renewal, let renewal = locked({ renewals[uri] }) { return renewal.token }
            return try await token(uri)
        }

        /// Gets a licence. A failed renewal is repeated until `stop()`, first with the same SPC, as `Renewal` decides.
        private func license(
            for spc: Data, _ purpose: LicensePurpose, _ uri: String, _ token: String,
            renewing request: AVContentKeyRequest, since began: Int
        ) async throws -> License {
            guard purpose == .renewal, var renewal = locked({ renewals[uri] }) else {
                return try await client.license(for: spc, purpose, token: token)
            }
            renewal.madeSPC(at: clock.now())
            while true {
                do {
                    return try await client.license(for: spc, .renewal, token: renewal.token)
                } catch {
                    var step = renewal.failed(error, at: clock.now())
                    if case .wait(let time) = step {
                        try await clock.pause(time)
                        guard locked({ stopCount }) == began else { throw CancellationError() }
                        step = renewal.due(at: clock.now())
                    }
                    if step == .sendAgain { continue }
                    if step == .getToken { renewal.replaceToken(try await self.token(uri), at: clock.now()) }
                    // A new SPC needs a new key request, so this request ends.
                    if step != .stop { plan(renewal, of: request, uri, since: began) }
                    throw error
                }
            }
        }

        // MARK: Renewal

        private func plan(_ renewal: Renewal?, of request: AVContentKeyRequest, _ uri: String, since began: Int) {
            locked {
                guard stopCount == began else { return }
                timers[uri]?.cancel()
                timers[uri] = nil
                renewals[uri] = renewal
                guard let renewal else { return }
                timers[uri] = Task { [weak self, clock] in
                    if case .wait(let time) = renewal.due(at: clock.now()) {
                        guard (try? await clock.pause(time)) != nil else { return }
                    }
                    self?.keySession.renewExpiringResponseData(for: request)
                }
            }
        }

        private func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
            lock.lock()
            defer { lock.unlock() }
            return try body()
        }
    }

    /// A clock that is never set, in seconds, and a way to wait for a time. The clock stops while the device sleeps.
    struct Clock {
        var now: () -> TimeInterval = { ProcessInfo.processInfo.systemUptime }
        var pause: (_ time: TimeInterval) async throws -> Void = { time in
            let seconds = max(0, time - ProcessInfo.processInfo.systemUptime)
            try await Task.sleep(nanoseconds: UInt64(seconds * 1_000_000_000))
        }
    }

    // MARK: - Keys that the device keeps

    #if !os(tvOS)
        extension KeySession {
            /// Gets the key of a key URI and keeps it, for a download. The token must allow it.
            public func keep(_ keyURI: String) {
                locked { _ = toKeep.insert(keyURI) }
                keySession.processContentKeyRequest(withIdentifier: keyURI, initializationData: nil, options: nil)
            }

            /// Asks the device until when it keeps a key. The server reads the device's answer.
            public func report(on keyURI: String) async throws -> KeyReport {
                guard let key = store?.key(for: keyURI) else { throw CocoaError(.fileNoSuchFile) }
                let spc = try await keySession.makeSecureTokenForExpirationDate(ofPersistableContentKey: key)
                return try await client.report(spc, token: token(keyURI))
            }

            /// Makes a key useless on this device, and proves it to the server. A challenge shows that the proof is
            /// fresh.
            public func giveUp(_ keyURI: String) async throws -> KeyReport {
                guard let key = store?.key(for: keyURI) else { throw CocoaError(.fileNoSuchFile) }
                let token = try await token(keyURI)
                let challenge = try await client.challenge(token: token)
                let spc = try await keySession.invalidatePersistableContentKey(
                    key, options: [.serverChallenge: challenge.value, .protocolVersions: [1]])
                locked { _ = toKeep.remove(keyURI) }
                store?.remove(keyURI)
                return try await client.report(spc, token: token)
            }

            public func contentKeySession(
                _ session: AVContentKeySession, didProvide keyRequest: AVPersistableContentKeyRequest
            ) {
                Task { await serveKept(keyRequest) }
            }

            /// After the first play, the device updates its key. From then on the key expires after the time for
            /// playback.
            public func contentKeySession(
                _ session: AVContentKeySession, didUpdatePersistableContentKey persistableContentKey: Data,
                forContentKeyIdentifier keyIdentifier: Any
            ) {
                guard let uri = keyIdentifier as? String else { return }
                do { try store?.save(persistableContentKey, for: uri) } catch { failed(uri, error) }
            }

            private func isKept(_ request: AVContentKeyRequest) -> Bool {
                guard let store, let uri = keyURI(of: request) else { return false }
                return locked { toKeep.contains(uri) } || store.key(for: uri) != nil
            }

            private func serveKept(_ request: AVPersistableContentKeyRequest) async {
                guard let store, let uri = keyURI(of: request), let asset = assetID(ofKeyURI: uri) else {
                    return request.processContentKeyResponseError(CocoaError(.coderValueNotFound))
                }
                do {
                    if let key = store.key(for: uri) {
                        return request.processContentKeyResponse(
                            AVContentKeyResponse(fairPlayStreamingKeyResponseData: key))
                    }
                    let spc = try await makeSPC(request, asset)
                    let license = try await client.license(for: spc, .offline, token: token(uri))
                    let key = try request.persistableContentKey(fromKeyVendorResponse: license.ckc, options: nil)
                    try store.save(key, for: uri)
                    request.processContentKeyResponse(AVContentKeyResponse(fairPlayStreamingKeyResponseData: key))
                } catch {
                    request.processContentKeyResponseError(error)
                    failed(uri, error)
                }
            }
        }
    #endif
#endif

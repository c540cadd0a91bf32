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
        /// Is called for each license that could not be got. `LicenseFailure` says what to do. Other errors are
        /// AVFoundation's own. A key that is kept may still be valid.
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
        private var turns: [String: Int] = [:]
        private var toKeep: Set<String> = []
        private var keptKeys = KeptKeys()
        private var keptTasks: [String: Task<Data, any Error>] = [:]
        private var retries = RetryLimit()
        private var told: Set<String> = []
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
            let ended: [AVContentKeyRequest.RetryReason] = [
                .receivedResponseWithExpiredLease, .receivedObsoleteContentKey,
            ]
            guard let uri = keyURI(of: keyRequest), retryReason == .timedOut || ended.contains(retryReason) else {
                return false
            }
            return locked {
                // A key that is kept and has expired must not be the answer to the next request, too.
                if ended.contains(retryReason), store?.key(for: uri) != nil { keptKeys.hasExpired(uri) }
                return retries.allows(uri, at: clock.now())
            }
        }

        public func contentKeySession(
            _ session: AVContentKeySession, contentKeyRequest keyRequest: AVContentKeyRequest,
            didFailWithError err: Error
        ) {
            let uri = keyURI(of: keyRequest) ?? ""
            // AVFoundation repeats the failure of a request in words of its own. The app has the cause already.
            guard locked({ told.remove(uri) }) == nil else { return }
            failed(uri, err)
        }

        private func refuse(_ request: AVContentKeyRequest, _ uri: String, _ error: any Error) {
            locked { _ = told.insert(uri) }
            // The app knows what it has stopped itself.
            if !(error is CancellationError) { failed(uri, error) }
            request.processContentKeyResponseError(error)
        }

        private func keyURI(of request: AVContentKeyRequest) -> String? {
            (request.identifier as? String) ?? (request.identifier as? URL)?.absoluteString
        }

        // MARK: Licenses

        private func serve(_ request: AVContentKeyRequest, _ purpose: LicensePurpose) async {
            guard let uri = keyURI(of: request), let asset = assetID(ofKeyURI: uri) else {
                return request.processContentKeyResponseError(CocoaError(.coderValueNotFound))
            }
            let began = locked {
                told.remove(uri)
                return stopCount
            }
            do {
                let license: License
                let token: String
                if purpose == .renewal, let renewal = locked({ renewals[uri] }) {
                    (license, token) = try await renew(renewal, of: request, uri, asset, since: began)
                } else {
                    (license, token) = try await self.license(
                        for: request, purpose, uri, asset, isWanted: { locked { stopCount == began } })
                }
                request.processContentKeyResponse(AVContentKeyResponse(fairPlayStreamingKeyResponseData: license.ckc))
                plan(Renewal(after: license, token: token, at: clock.now()), of: request, uri, since: began)
            } catch {
                refuse(request, uri, error)
            }
        }

        private func makeSPC(
            _ request: AVContentKeyRequest, _ asset: Data, isWanted: () -> Bool
        ) async throws -> Data {
            let certificate = try await applicationCertificate(isWanted)
            return try await request.makeStreamingContentKeyRequestData(
                forApp: certificate, contentIdentifier: asset, options: [AVContentKeyRequestProtocolVersionsKey: [1]])
        }

        /// The application certificate. It is fetched once, because it is the same for all keys. A lost request is
        /// repeated as `Attempts` decides.
        private func applicationCertificate(_ isWanted: () -> Bool) async throws -> Data {
            if let known = locked({ certificate }) { return known }
            var attempts = Attempts(at: clock.now())
            while true {
                do {
                    let fetched = try await client.certificate()
                    locked { certificate = fetched }
                    return fetched
                } catch {
                    guard case .wait(let time) = attempts.failed(error, at: clock.now()) else { throw error }
                    try await clock.pause(time)
                    guard isWanted() else { throw CancellationError() }
                }
            }
        }

        /// Gets a license, and returns it with the token that was used for it. A failed attempt is repeated as
        /// `Attempts` decides, while the license is wanted.
        private func license(
            for request: AVContentKeyRequest, _ purpose: LicensePurpose, _ uri: String, _ asset: Data,
            isWanted: () -> Bool
        ) async throws -> (License, token: String) {
            let spc = try await makeSPC(request, asset, isWanted: isWanted)
            var attempts = Attempts(at: clock.now())
            var token = try await self.token(uri)
            while true {
                do {
                    return (try await client.license(for: spc, purpose, token: token), token)
                } catch {
                    switch attempts.failed(error, at: clock.now()) {
                    case .wait(let time):
                        try await clock.pause(time)
                        guard isWanted() else { throw CancellationError() }
                    case .getToken:
                        // If there is no token, the app sees why the server wants one.
                        guard let fresh = try? await self.token(uri) else { throw error }
                        token = fresh
                    case .stop: throw error
                    }
                }
            }
        }

        /// Renews a lease. A failed attempt is repeated until `stop()`, first with the same SPC, as `Renewal` decides.
        private func renew(
            _ planned: Renewal, of request: AVContentKeyRequest, _ uri: String, _ asset: Data, since began: Int
        ) async throws -> (License, token: String) {
            var renewal = planned
            // If AVFoundation asks again meanwhile, only the newest request goes on.
            let turn = locked {
                turns[uri, default: 0] += 1
                return turns[uri]
            }
            let isCurrent = { [self] in locked { stopCount == began && turns[uri] == turn } }
            do {
                let spc: Data
                do {
                    if renewal.due(at: clock.now()) == .getToken {
                        renewal.replaceToken(try await token(uri), at: clock.now())
                    }
                    spc = try await makeSPC(request, asset, isWanted: isCurrent)
                } catch {
                    renewal.couldNotAsk(at: clock.now())
                    throw error
                }
                renewal.madeSPC(at: clock.now())
                while true {
                    do {
                        return (try await client.license(for: spc, .renewal, token: renewal.token), renewal.token)
                    } catch {
                        guard case .wait(let time) = renewal.failed(error, at: clock.now()),
                            renewal.hasUsableSPC(at: time)
                        else { throw error }
                        try await clock.pause(time)
                        guard isCurrent() else { throw CancellationError() }
                        guard renewal.due(at: clock.now()) == .sendAgain else { throw error }
                    }
                }
            } catch {
                // A new SPC needs a new key request, so this request ends.
                if isCurrent() { plan(renewal.isStopped ? nil : renewal, of: request, uri, since: began) }
                throw error
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

    /// A clock that is never set, in seconds, and a way to wait for a time. The clock goes on while the device sleeps,
    /// as leases do.
    struct Clock {
        var now: () -> TimeInterval = Clock.seconds
        var pause: (_ time: TimeInterval) async throws -> Void = { time in
            try await Clock.pause(until: time, now: Clock.seconds) { seconds in
                try await Task.sleep(nanoseconds: UInt64(seconds * 1_000_000_000))
            }
        }

        /// `ContinuousClock` does the same on newer systems.
        private static func seconds() -> TimeInterval {
            #if canImport(Darwin)
                let clock = CLOCK_MONOTONIC
            #else
                let clock = CLOCK_BOOTTIME
            #endif
            var time = timespec()
            clock_gettime(clock, &time)
            return TimeInterval(time.tv_sec) + TimeInterval(time.tv_nsec) / 1_000_000_000
        }

        /// Waits in short parts, because a sleep of a task may stop while the device sleeps.
        static func pause(
            until time: TimeInterval, now: () -> TimeInterval, sleep: (TimeInterval) async throws -> Void
        ) async throws {
            while case let left = time - now(), left > 0 { try await sleep(min(left, 10)) }
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

            /// Gets another key in place of a kept one, before or after its end. The token must allow it.
            ///
            /// The old key stays in use until the new one is stored. If there is none, the failure handler says why.
            public func renew(_ keyURI: String) throws {
                guard store?.key(for: keyURI) != nil else { throw CocoaError(.fileNoSuchFile) }
                guard locked({ keptKeys.ask(for: keyURI) }) else { return }
                keySession.processContentKeyRequest(withIdentifier: keyURI, initializationData: nil, options: nil)
            }

            /// Asks the device until when it keeps a key. The server reads the device's answer.
            public func report(on keyURI: String) async throws -> KeyReport {
                guard let key = store?.key(for: keyURI) else { throw CocoaError(.fileNoSuchFile) }
                let spc = try await keySession.makeSecureTokenForExpirationDate(ofPersistableContentKey: key)
                let report = try await client.report(spc, token: token(keyURI))
                if report.expiresInSeconds == 0 { locked { keptKeys.hasExpired(keyURI) } }
                return report
            }

            /// Makes a key useless on this device, and proves it to the server. A challenge shows that the proof is
            /// fresh.
            public func giveUp(_ keyURI: String) async throws -> KeyReport {
                guard let key = store?.key(for: keyURI) else { throw CocoaError(.fileNoSuchFile) }
                let token = try await token(keyURI)
                let challenge = try await client.challenge(token: token)
                let spc = try await keySession.invalidatePersistableContentKey(
                    key, options: [.serverChallenge: challenge.value, .protocolVersions: [1]])
                locked {
                    toKeep.remove(keyURI)
                    keptKeys.forget(keyURI)
                    keptTasks[keyURI] = nil
                    store?.remove(keyURI)
                }
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
                    let key = try await keptKey(for: request, uri, asset, in: store)
                    request.processContentKeyResponse(AVContentKeyResponse(fairPlayStreamingKeyResponseData: key))
                } catch {
                    refuse(request, uri, error)
                }
            }

            private func keptKey(
                for request: AVPersistableContentKeyRequest, _ uri: String, _ asset: Data, in store: KeyStore
            ) async throws -> Data {
                let (stored, step, task) = locked {
                    told.remove(uri)
                    let stored = store.key(for: uri)
                    let step = keptKeys.step(for: uri, isStored: stored != nil)
                    if step == .get || step == .renew {
                        keptTasks[uri] = Task { try await getKeptKey(for: request, step, uri, asset, in: store) }
                    }
                    return (stored, step, keptTasks[uri])
                }
                if step == .use, let stored { return stored }
                do {
                    guard let task else { throw CancellationError() }
                    return try await task.value
                } catch {
                    guard step != .join else { throw error }
                    // The device may have updated the old key meanwhile.
                    guard locked({ keptKeys.finished(uri, hasNewKey: false) }), let old = store.key(for: uri) else {
                        throw error
                    }
                    failed(uri, error)
                    return old
                }
            }

            private func getKeptKey(
                for request: AVPersistableContentKeyRequest, _ step: KeptKeys.Step, _ uri: String, _ asset: Data,
                in store: KeyStore
            ) async throws -> Data {
                let purpose: LicensePurpose =
                    step == .renew ? .offlineRenewal(of: store.licenseID(for: uri)) : .offline
                let (license, _) = try await license(
                    for: request, purpose, uri, asset, isWanted: { locked { keptKeys.isUnderWay(uri) } })
                let key = try request.persistableContentKey(fromKeyVendorResponse: license.ckc, options: nil)
                try locked {
                    // Meanwhile the app may have given up the key.
                    guard keptKeys.isUnderWay(uri) else { throw CancellationError() }
                    try store.save(key, of: license, for: uri)
                    _ = keptKeys.finished(uri, hasNewKey: true)
                    keptTasks[uri] = nil
                }
                return key
            }
        }
    #endif
#endif

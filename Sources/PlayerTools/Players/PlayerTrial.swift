import ByteCoding
import CommandLineKit
import DeviceSimulation
import FairPlay
import Foundation
import HTTPCalls
import KeyCrypto

/// Sends requests for the same keys as one player after the other.
struct PlayerTrial {
    let device: PlayerDevice
    let network: ClientNetwork
    /// The address of the license route.
    let address: URL
    let token: String
    let uris: [KeyURI]
    /// The certificate of `--certificate`; nil if each player fetches its own.
    let certificate: Certificate?
    /// The address at which players fetch the certificate.
    let certificateAddress: URL
    let isOffline: Bool

    /// Sends the requests of one player, and returns the result. Throws only errors that every player would meet.
    func run(_ player: Player) throws(CommandError) -> PlayerOutcome {
        var outcome = PlayerOutcome(player: player)
        let profile = player.profile
        let assetIDs = uris.compactMap { $0.assetID(profile.assetID) }
        guard assetIDs.count == uris.count else {
            outcome.verdict = .notAsked(Self.explanation(ofMissing: profile.assetID))
            return outcome
        }
        let certificate: Certificate
        do throws(ClientNetworkError) {
            certificate = if let given = self.certificate { given } else { try fetchCertificate(profile) }
        } catch {
            outcome.verdict = .noCertificate(error.text)
            return outcome
        }
        let requests = try device.makeRequests(assetIDs, certificate)
        let keys = zip(uris, requests).map { uri, request in
            (AskedKey(uri: uri, assetID: uri.assetID(profile.assetID) ?? [], spc: request.message), request)
        }
        let groups = profile.sendsKeysTogether ? [keys] : keys.map { [$0] }
        for group in groups where outcome.verdict.isGood {
            ask(profile, for: group.map(\.0), with: group.map(\.1), &outcome)
        }
        return outcome
    }

    private func ask(
        _ profile: PlayerProfile, for keys: [AskedKey], with requests: [DeviceRequest],
        _ outcome: inout PlayerOutcome
    ) {
        let target = target(profile, keys)
        let request = HTTPRoundTripRequest(
            .post(profile.body.encode(keys, isOffline: isOffline)), target.absoluteString,
            fields: profile.fields(token: token))
        let answer: HTTPRoundTripAnswer
        do throws(ClientNetworkError) {
            answer = try network.perform(request, target)
        } catch {
            outcome.verdict = .noAnswer(error.text)
            outcome.copies = profile.retries.copies(after: nil)
            return
        }
        let judge = PlayerJudge(profile: profile, isOffline: isOffline) { (ckc, index) throws(CKCFault) in
            try device.open(ckc, requests[index])
        }
        let labels = keys.indices.map { PlayerBody.label(of: keys[$0], at: $0, in: profile.body) }
        let (verdict, terms) = judge.judge(ReceivedLicense(answer), labels: labels)
        outcome.exchanges.append(PlayerExchange(answer))
        outcome.terms += terms
        outcome.verdict = verdict
        if case .refused(let status, _, _) = verdict { outcome.copies = profile.retries.copies(after: status) }
    }

    private func target(_ profile: PlayerProfile, _ keys: [AskedKey]) -> URL {
        var target = address
        var carriesToken = false
        if profile.address == .redemption {
            // If the playlist's address is a token URL, the app replaces `skd` by `https` in it.
            if let uri = keys.first?.uri, uri.hasQueryItem("ExpressPlayToken"),
                let own = URL(string: "\(address.scheme ?? "https")://\(uri.rest)")
            {
                target = own
                carriesToken = true
            } else {
                target = LicenseURL.redemption(beside: address)
            }
        }
        var items: [(String, String)] = []
        if case .query(let name) = profile.token, !carriesToken { items.append((name, token)) }
        if let format = profile.format { items.append(("format", format)) }
        return LicenseURL.appending(items, to: target)
    }

    private func fetchCertificate(_ profile: PlayerProfile) throws(ClientNetworkError) -> Certificate {
        let target = LicenseURL.appending(profile.format.map { [("format", $0)] } ?? [], to: certificateAddress)
        let request = HTTPRoundTripRequest(
            .get, target.absoluteString, fields: ["Accept: */*", PlayerProfile.userAgent])
        let answer = try network.perform(request, target)
        guard answer.status == 200 else {
            throw ClientNetworkError(text: "\(target.path) answers with status \(answer.status)")
        }
        guard let bytes = profile.certificate.read(answer.body) else {
            let kind = LicenseProblem.printable(FileKind(answer.body).name)
            throw ClientNetworkError(text: "it needs \(profile.certificate.name), but \(target.path) gives \(kind)")
        }
        do throws(CommandError) {
            return try device.certificate(in: bytes, target.path)
        } catch {
            throw ClientNetworkError(text: error.text)
        }
    }

    private static func explanation(ofMissing form: AssetIDForm) -> String {
        switch form {
        case .keyID: "this player names the key by its key id: give --key-id, or a --skd with a key id"
        case .host: "this player names the key by the host of the address, but it has no host of 2 bytes or more"
        case .wholeURI, .withoutScheme: "this address gives no asset id of 2 to 1,024 bytes"
        }
    }
}

extension PlayerProfile {
    /// The tool's own name, not the player's: no server decides about a license by this field.
    static let userAgent = "User-Agent: latchkey/\(LatchkeyVersion.current)"

    /// The header fields of a license request, as lines.
    func fields(token: String) -> [String] {
        var lines = ["Accept: \(accept)", Self.userAgent]
        if let contentType { lines.append("Content-Type: \(contentType)") }
        switch self.token {
        case .bearer: lines.append("Authorization: Bearer \(token)")
        case .header(let name): lines.append("\(name): \(token)")
        case .query: break
        }
        return lines
    }
}

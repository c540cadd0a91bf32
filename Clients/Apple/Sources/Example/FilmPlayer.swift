import AVFoundation
import LatchkeyLicenses
import LatchkeyPlayback

/// Plays protected films with the client kit. Keep it for as long as its films play.
final class FilmPlayer {
    let player = AVPlayer()
    private let keys: KeySession

    /// `server` is the part of the URL before `/fps/license`. `token` asks your own service for a token. It is called
    /// for each key, and again if the server does not accept the token any more.
    init(server: URL, token: @escaping KeySession.TokenSource, failed: @escaping (_ message: String) -> Void) {
        keys = KeySession(
            client: LicenseClient(server: LicenseServer(base: server)), token: token,
            failed: { _, error in failed(FilmPlayer.message(for: error)) })
    }

    func play(_ playlist: URL) {
        let asset = AVURLAsset(url: playlist)
        keys.add(asset)  // before playback begins
        player.replaceCurrentItem(with: AVPlayerItem(asset: asset))
        player.play()
    }

    func stop() {
        player.replaceCurrentItem(with: nil)
        keys.stop()  // no more renewals
    }

    /// Log this text. Support finds the request by its id: `latchkey why ID`.
    static func message(for error: any Error) -> String {
        switch error as? LicenseFailure {
        case .refused(let problem):
            "\(problem.code ?? "status \(problem.status)"), request \(problem.requestID ?? "unknown")"
        case .unreachable: "the license server does not answer"
        case .notALicense: "the answer is not from the license server"
        case nil: error.localizedDescription
        }
    }
}

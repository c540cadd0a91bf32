import CommandLineKit
import Foundation
import HTTPCalls
import KeyCrypto
import OperatorCommands
import PackagerAPI
import ServiceConfiguration

/// Reads the texts of playlists, each of at most `PlaylistLimits.sizeMaximum` bytes.
struct PlaylistFetcher {
    private let network: PlayerNetwork
    private let context: CommandContext

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        network = try PlayerNetwork(
            arguments, answerSizeMaximum: PlaylistLimits.sizeMaximum, sizeRemark: "no playlist should be")
        self.context = context
    }

    /// Throws, in words, why there is no text.
    func read(_ place: PlaylistPlace) throws(CommandError) -> [UInt8] {
        switch place {
        case .standardInput:
            return try context.readInput(sizeMaximum: PlaylistLimits.sizeMaximum).revealed()
        case .file(let path):
            do throws(FileError) {
                let limit = PlaylistLimits.sizeMaximum
                return try FileReading.read(path, sizeMaximum: limit, permissions: .any).revealed()
            } catch .empty {
                return []
            } catch {
                throw .failed(error.description)
            }
        case .address(let url):
            return try read(url)
        }
    }

    private func read(_ url: URL) throws(CommandError) -> [UInt8] {
        let request = HTTPRoundTripRequest(
            .get, url.absoluteString, fields: ["Accept: application/vnd.apple.mpegurl, */*", "User-Agent: latchkey"])
        let answer: HTTPRoundTripAnswer
        do throws(PlayerNetworkError) {
            answer = try network.perform(request, url)
        } catch {
            throw .failed(error.text)
        }
        let server = LicenseURL.hostAndPort(url)
        switch answer.status {
        case 200: return answer.body
        case 300..<400:
            throw .failed("\(server) answers with status \(answer.status); redirects are not followed")
        default: throw .failed("\(server) answers with status \(answer.status)")
        }
    }
}

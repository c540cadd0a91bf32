import ByteCoding
import CommandLineKit
import CommandSupport
import DeviceSimulation
import EventLoops
import FairPlay
import KeyCrypto
import LadderWorkers
import ServiceConfiguration

/// The library of an SDK, which a worker process runs as a daemon's workers do.
final class ConformanceLibrary {
    private let pool: LadderWorkerPool
    private let group: EventLoopGroup
    /// The versions of SPCs whose conformance certificate the file of certificates has.
    let versions: Set<SPCVersion>

    private static let firstDescriptor = 16
    private static let fileMembers = ["certificate", "1024-private-key", "2048-private-key", "provisioning-data"]

    /// Starts the library with a file like certificates.json (SDK 26, section 2). It blocks until the library is
    /// loaded.
    init(_ library: String, certificates: String) throws(CommandError) {
        let (files, versions) = try Self.files(of: certificates)
        self.versions = versions
        var configuration = LadderModuleConfiguration(
            libraryPath: FilePath.absolute(library), kind: .library(LibraryFiles(files: files, probes: [])))
        configuration.workerCount = 1
        configuration.queueDeadline = .seconds(10)
        configuration.programPath = try DaemonProgram.path()
        do throws(EventLoopError) {
            group = try EventLoopGroup(count: 1, name: "modules")
        } catch {
            throw .failed("there is no loop for the worker process: \(error)")
        }
        pool = LadderWorkerPool(configuration, on: group.loops[0])
        do throws(LadderStartFailure) {
            try pool.waitUntilStarted()
        } catch {
            stop()
            throw .failed("\(library) does not start: \(error)")
        }
    }

    /// Reads the file of certificates and those that it names. For the library, each gets the number of a descriptor.
    private static func files(
        of path: String
    ) throws(CommandError) -> (files: [LibraryFiles.File], versions: Set<SPCVersion>) {
        let text = try CommandFile.read(path).revealed()
        guard let entries = (try? JSONReader.parse(text, dialect: .json5))?.object?["certificates"]?.array else {
            throw .failed("\(path) has no array \"certificates\" in JSON")
        }
        var files: [LibraryFiles.File] = []
        var versions: Set<SPCVersion> = []
        var numbers: [String: Int] = [:]
        for member in entries.compactMap(\.object).flatMap(\.members) {
            guard fileMembers.contains(member.name), let name = member.node.string, numbers[name] == nil else {
                continue
            }
            let contents = try CommandFile.read(
                FilePath.resolve(name, relativeTo: FilePath.directory(of: path)))
            if member.name == fileMembers[0] { versions.formUnion(Self.versions(in: contents.revealed())) }
            numbers[name] = firstDescriptor + 1 + files.count
            files.append(.init(descriptor: firstDescriptor + 1 + files.count, contents: SharedSecret(contents)))
        }
        let rewritten = JSONWriter.object { writer in
            writer.objects("certificates", entries.compactMap(\.object)) { writer, entry in
                for member in entry.members {
                    let number = fileMembers.contains(member.name) ? member.node.string.flatMap { numbers[$0] } : nil
                    writer.name(member.name)
                    if let number { writer.string("\(number)") } else { writer.node(member.node) }
                }
            }
        }
        let first = SharedSecret(SecretBytes(copying: rewritten))
        return ([.init(descriptor: firstDescriptor, contents: first)] + files, versions)
    }

    /// Blocks until the worker has ended.
    func stop() {
        pool.stop(within: .seconds(2))
        group.stop(within: .seconds(1))
    }

    /// The versions for which a file has the conformance certificate, alone or in a bundle.
    private static func versions(in certificates: [UInt8]) -> Set<SPCVersion> {
        let found = ((try? Certificate.parseAll(certificates)) ?? []).map(\.der)
        let all: [(SPCVersion, [UInt8])] = SPCVersion.allCases.map {
            ($0, $0 == .v1 ? ConformanceCredential.certificate1024 : ConformanceCredential.certificate2048)
        }
        return Set(all.filter { found.contains($0.1) }.map(\.0))
    }

    func answer(_ question: ConformanceQuestion) async -> ConformanceAnswer {
        guard let terms = question.kind.libraryTerms(for: question.options.capabilities) else {
            return ConformanceAnswer(content: .none("the library cannot be told these terms"))
        }
        let license = LibraryLicense(
            key: SharedSecret(SecretBytes(copying: question.kind.contentKey)),
            iv: Bytes16(question.kind.contentIV, at: 0), terms: terms)
        return await answer(question.request.message, license)
    }

    /// Asks for a license, or only for the facts of an SPC.
    func answer(_ message: [UInt8], _ license: LibraryLicense?) async -> ConformanceAnswer {
        let start = ContinuousClock.now
        var answer: ConformanceAnswer
        do throws(LadderModuleError) {
            let given = try await pool.answer(LibraryOrder(message: message, license: license))
            answer = ConformanceAnswer(content: .ckc(given.ckc ?? []))
            answer.deviceID = given.deviceID
            answer.transactionID = given.transactionID
        } catch {
            switch error {
            case .refused(let status), .failed(let status), .deviceRefused(let status):
                answer = ConformanceAnswer(content: .refusal(code: "\(status)", body: []))
            case .answerMalformed, .workerLost, .unavailable, .overloaded:
                answer = ConformanceAnswer(content: .none("\(error)"))
            }
        }
        answer.milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        return answer
    }
}

import ByteCoding
import FairPlay
import KeyCrypto
import POSIXSockets

/// The first message to a worker of a library: how to confine itself, the library, its files, and SPCs to try.
///
///     size  field
///       24  confinement, as for a module
///        4  size p of the path, 1 to 4,095
///        4  count of files, 1 to 256; the first one names the others
///        4  count of probes, 0 to 256
///        p  path of the library, absolute, UTF-8
///
///     for each file
///        4  descriptor, 16 to 271
///        4  size f, 1 to 1,048,576
///        f  contents, secret
///
///     for each probe
///        4  size m, 1 to 65,536
///        m  SPC
struct LibraryStart: Sendable {
    static let fileCounts = 1...256
    static let probeCounts = 0...256
    static let descriptors = 16...271
    private static let fileSizes = 1...1 << 20
    private static let probeSizes = 1...SPCEnvelope.sizeMaximum
    private static let fixedSize = ProcessConfinement.encodedSize + 12
    static let encodedSizes = fixedSize + 10...4 << 20

    let confinement: ProcessConfinement
    let libraryPath: String
    let files: LibraryFiles

    init(confinement: ProcessConfinement, libraryPath: String, files: LibraryFiles) {
        self.confinement = confinement
        self.libraryPath = libraryPath
        self.files = files
    }

    /// Returns the message. Throws `notExpressible` if a part is invalid.
    func message() throws(LadderFrameError) -> LadderMessage {
        let path = try LadderStart.checkedPath(libraryPath)
        guard Self.fileCounts.contains(files.files.count), Self.probeCounts.contains(files.probes.count) else {
            throw .notExpressible("library files")
        }
        for file in files.files {
            guard Self.fileSizes.contains(file.contents.bytes.count), Self.descriptors.contains(file.descriptor)
            else { throw .notExpressible("library files") }
        }
        for probe in files.probes where !Self.probeSizes.contains(probe.count) { throw .notExpressible("probe") }
        let bodySize =
            Self.fixedSize + path.count + files.files.reduce(0) { $0 + 8 + $1.contents.bytes.count }
            + files.probes.reduce(0) { $0 + 4 + $1.count }
        guard Self.encodedSizes.contains(bodySize) else { throw .notExpressible("library files") }
        var message = LadderMessage(capacity: LadderFrameHead.size + bodySize)
        var writer = ByteWriter(capacity: LadderFrameHead.size + Self.fixedSize + path.count)
        LadderFrameHead(.libraryStart, number: 0, bodySize: bodySize).write(to: &writer)
        confinement.write(to: &writer)
        writer.write(UInt32(path.count))
        writer.write(UInt32(files.files.count))
        writer.write(UInt32(files.probes.count))
        writer.write(path)
        message.append(writer.bytes)
        for file in files.files {
            var head = ByteWriter(capacity: 8)
            head.write(UInt32(file.descriptor))
            head.write(UInt32(file.contents.bytes.count))
            message.append(head.bytes)
            message.append(secret: file.contents.bytes)
        }
        for probe in files.probes {
            var head = ByteWriter(capacity: 4 + probe.count)
            head.write(UInt32(probe.count))
            head.write(probe)
            message.append(head.bytes)
        }
        return message
    }

    /// Reads a body. Throws `malformed` or `illegalValue`.
    init(parsing bytes: [UInt8], in body: Range<Int>) throws(LadderFrameError) {
        var reader = LadderFrameReader(bytes, in: body)
        confinement = try ProcessConfinement(reading: &reader)
        let pathSize = try reader.size("path size", in: LadderStart.pathSizes)
        let fileCount = try reader.size("count of files", in: Self.fileCounts)
        let probeCount = try reader.size("count of probes", in: Self.probeCounts)
        libraryPath = try LadderStart.path(try reader.bytes(count: pathSize, "path"))
        var files = LibraryFiles(files: [], probes: [])
        for _ in 0..<fileCount {
            let descriptor = try reader.size("descriptor", in: Self.descriptors)
            let size = try reader.size("file size", in: Self.fileSizes)
            files.files.append(
                .init(descriptor: descriptor, contents: try reader.secret(count: size, "file")))
        }
        for _ in 0..<probeCount {
            let size = try reader.size("probe size", in: Self.probeSizes)
            files.probes.append(try reader.bytes(count: size, "probe"))
        }
        try reader.finish()
        self.files = files
    }
}

import ByteCoding
import KeyCrypto
import POSIXSockets

/// The first message to a worker: how to confine itself, and the module to open.
///
///     size  field
///       24  confinement
///        4  size p of the path, 1 to 4,095
///        4  size d of the module data, 1 to 1,048,576
///        p  path of the library, absolute, UTF-8
///        d  module data, secret
struct LadderStart: Sendable {
    static let pathSizes = 1...4095
    static let dataSizes = 1...1 << 20
    private static let fixedSize = ProcessConfinement.encodedSize + 8
    static let encodedSizes =
        fixedSize + pathSizes.lowerBound + dataSizes.lowerBound...fixedSize + pathSizes.upperBound
        + dataSizes.upperBound

    let confinement: ProcessConfinement
    let libraryPath: String
    let moduleData: SharedSecret

    init(confinement: ProcessConfinement, libraryPath: String, moduleData: SharedSecret) {
        self.confinement = confinement
        self.libraryPath = libraryPath
        self.moduleData = moduleData
    }

    /// Returns the message. Throws `notExpressible` if the path or the module data are invalid.
    func message() throws(LadderFrameError) -> LadderMessage {
        let path = try Self.checkedPath(libraryPath)
        let dataSize = moduleData.bytes.count
        guard Self.dataSizes.contains(dataSize) else { throw .notExpressible("module data") }
        let bodySize = Self.fixedSize + path.count + dataSize
        var message = LadderMessage(capacity: LadderFrameHead.size + bodySize)
        message.append(publicPart(path, bodySize: bodySize))
        message.append(secret: moduleData.bytes)
        return message
    }

    private func publicPart(_ path: [UInt8], bodySize: Int) -> [UInt8] {
        var writer = ByteWriter(capacity: LadderFrameHead.size + bodySize)
        LadderFrameHead(.start, number: 0, bodySize: bodySize).write(to: &writer)
        confinement.write(to: &writer)
        writer.write(UInt32(path.count))
        writer.write(UInt32(moduleData.bytes.count))
        writer.write(path)
        return writer.bytes
    }

    /// Reads a body. Throws `malformed` or `illegalValue`.
    init(parsing bytes: [UInt8], in body: Range<Int>) throws(LadderFrameError) {
        var reader = LadderFrameReader(bytes, in: body)
        confinement = try ProcessConfinement(reading: &reader)
        let pathSize = try reader.size("path size", in: Self.pathSizes)
        let dataSize = try reader.size("data size", in: Self.dataSizes)
        let path = try reader.bytes(count: pathSize, "path")
        moduleData = try reader.secret(count: dataSize, "module data")
        try reader.finish()
        libraryPath = try Self.path(path)
    }

    /// Returns the bytes of an absolute path. Throws `notExpressible`.
    static func checkedPath(_ path: String) throws(LadderFrameError) -> [UInt8] {
        let bytes = Array(path.utf8)
        guard pathSizes.contains(bytes.count), bytes.first == UInt8(ascii: "/"), !bytes.contains(0) else {
            throw .notExpressible("library path")
        }
        return bytes
    }

    /// Reads an absolute path. Throws `illegalValue`.
    static func path(_ bytes: [UInt8]) throws(LadderFrameError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self), text.hasPrefix("/"), !bytes.contains(0) else {
            throw .illegalValue("path")
        }
        return text
    }
}

/// The encoding of a confinement within a first message.
///
///     size  field
///        8  address space in bytes
///        4  descriptors
///        4  whether a user follows, 0 or 1
///        4  user id; 0 without a user
///        4  group id; 0 without a user
extension ProcessConfinement {
    static let encodedSize = 24

    func write(to writer: inout ByteWriter) {
        writer.write(memoryMaximum)
        writer.write(UInt32(clamping: descriptorMaximum))
        writer.write(user == nil ? 0 : UInt32(1))
        writer.write(user?.userID ?? 0)
        writer.write(user?.groupID ?? 0)
    }

    init(reading reader: inout LadderFrameReader) throws(LadderFrameError) {
        let memoryMaximum = try reader.longWord("address space")
        let descriptorMaximum = try reader.word("descriptors")
        let hasUser = try reader.size("has user", in: 0...1) == 1
        let user = SystemUser(userID: try reader.word("user id"), groupID: try reader.word("group id"))
        guard hasUser || (user.userID, user.groupID) == (0, 0) else { throw .illegalValue("user id") }
        self.init(
            user: hasUser ? user : nil, memoryMaximum: memoryMaximum, descriptorMaximum: UInt64(descriptorMaximum))
    }
}

import ByteCoding
import CLadder
import FairPlay
import Glibc
import KeyCrypto

/// The memory that a call lends to a module: one page for the inputs and one for the answer, each followed by a guard
/// page. A module that writes beyond the answer crashes its worker immediately. The memory is wiped after each call.
///
///     | inputs   0 | guard | 0   HU, R1, value | guard |
@safe
final class ModuleMemory {
    private let pageSize: Int
    private let start: UnsafeMutableRawPointer
    private var inputSize = 0

    private static let valueCapacity = Int(LATCHKEY_LADDER_VALUE_CAPACITY)
    private static let outputSize = LadderAnswer.deviceIDSize + LadderAnswer.r1Size + valueCapacity

    /// Allocates the memory; nil if the kernel has none.
    init?() {
        pageSize = sysconf(Int32(_SC_PAGESIZE))
        let (read, none) = (PROT_READ | PROT_WRITE, PROT_NONE)
        // Safe: the four pages are new memory, and the second and the fourth are never accessed.
        guard let memory = unsafe mmap(nil, 4 * pageSize, read, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            unsafe memory != MAP_FAILED,
            unsafe mprotect(memory + pageSize, pageSize, none) == 0,
            unsafe mprotect(memory + 3 * pageSize, pageSize, none) == 0
        else { return nil }
        unsafe start = memory
    }

    deinit {
        wipe()
        unsafe munmap(start, 4 * pageSize)
    }

    /// Copies a call into the memory, calls `body` with the module's view of it, and wipes the memory.
    func lend<Result>(
        _ call: LadderCall, _ body: (inout latchkey_ladder_call, inout latchkey_ladder_answer) -> Result
    ) -> Result {
        defer { wipe() }
        var input = unsafe place(call)
        var output = unsafe emptyAnswer()
        return unsafe body(&input, &output)
    }

    /// Reads the answer of a module; nil if it is invalid. It must be called while the memory is lent.
    func answer(_ output: latchkey_ladder_answer) -> LadderAnswer? {
        let valueSize = unsafe Int(output.content_key_value_size)
        guard LadderAnswer.contentKeyValueSizes.contains(valueSize),
            let sessionKeyVersion = unsafe SessionKeyVersion(rawValue: output.session_key_used),
            let r1Version = unsafe SessionKeyVersion(rawValue: output.r1_used)
        else { return nil }
        // Safe: the three parts are at fixed positions in this object's memory, even if the module has changed the
        // structure.
        let deviceID = unsafe UnsafeRawBufferPointer(start: outputs, count: LadderAnswer.deviceIDSize)
        let r1 = unsafe UnsafeRawBufferPointer(
            start: outputs + LadderAnswer.deviceIDSize, count: LadderAnswer.r1Size)
        let value = unsafe UnsafeRawBufferPointer(
            start: outputs + LadderAnswer.deviceIDSize + LadderAnswer.r1Size, count: valueSize)
        return unsafe LadderAnswer(
            contentKeyTag: output.content_key_tag, contentKeyValue: [UInt8](value),
            deviceID: DeviceID([UInt8](deviceID)),
            r1: SharedSecret(SecretBytes(copying: RawSpan(_unsafeBytes: r1))), sessionKeyVersion: sessionKeyVersion,
            r1Version: r1Version)
    }

    private func place(_ call: LadderCall) -> latchkey_ladder_call {
        var input = unsafe latchkey_ladder_call()
        // Safe: every pointer is to a copy in the page of the inputs, which is much larger than the largest call.
        unsafe input.size = UInt32(MemoryLayout<latchkey_ladder_call>.size)
        unsafe input.content_kind = call.content.kind.rawValue
        call.content.key.bytes.withBytes { span in
            unsafe span.withUnsafeBytes { unsafe input.content_key = place($0) }
        }
        unsafe input.content_iv = place(call.content.iv.bytes)
        unsafe input.session_key_block = place(call.blocks.sessionKeyBlock)
        unsafe input.r2 = place(call.blocks.r2)
        unsafe input.integrity = place(call.blocks.integrity.bytes)
        unsafe input.certificate_hash = place(call.certificateHash)
        unsafe input.key_formats = call.keyFormats.withUnsafeBytes { formats in
            unsafe UnsafePointer(inputs(formats).assumingMemoryBound(to: UInt64.self))
        }
        unsafe input.key_format_count = UInt32(call.keyFormats.count)
        unsafe input.protocol_version_used = call.protocolVersionUsed
        if let video = call.blocks.video {
            unsafe input.video_session_key_block = place(video.sessionKeyBlock)
            unsafe input.video_session_key_block_size = UInt32(video.sessionKeyBlock.count)
            unsafe input.video_r2 = place(video.r2)
            unsafe input.video_r2_size = UInt32(video.r2.count)
        }
        unsafe input.session_key_wanted = call.wanted.rawValue
        return unsafe input
    }

    private func place(_ bytes: [UInt8]) -> UnsafePointer<UInt8> {
        unsafe bytes.withUnsafeBytes { unsafe place($0) }
    }

    private func place(_ bytes: UnsafeRawBufferPointer) -> UnsafePointer<UInt8> {
        unsafe UnsafePointer(inputs(bytes).assumingMemoryBound(to: UInt8.self))
    }

    /// Copies bytes to the next free position in the page of the inputs, which is a multiple of eight.
    private func inputs(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutableRawPointer {
        precondition(bytes.count <= pageSize - inputSize, "a call fits a page")
        let place = unsafe start + inputSize
        inputSize += (bytes.count + 7) / 8 * 8
        unsafe UnsafeMutableRawBufferPointer(start: place, count: bytes.count).copyMemory(from: bytes)
        return unsafe place
    }

    /// The beginning of HU, R1 and value, which end at the end of their page.
    private var outputs: UnsafeMutableRawPointer {
        unsafe start + 3 * pageSize - Self.outputSize
    }

    private func emptyAnswer() -> latchkey_ladder_answer {
        var output = unsafe latchkey_ladder_answer()
        // Safe: as in `answer`.
        let bytes = unsafe outputs.assumingMemoryBound(to: UInt8.self)
        unsafe output.size = UInt32(MemoryLayout<latchkey_ladder_answer>.size)
        unsafe output.device_id = bytes
        unsafe output.r1 = bytes + LadderAnswer.deviceIDSize
        unsafe output.content_key_value = bytes + LadderAnswer.deviceIDSize + LadderAnswer.r1Size
        unsafe output.content_key_value_capacity = UInt32(Self.valueCapacity)
        return unsafe output
    }

    private func wipe() {
        // Safe: these are the used parts of both pages.
        unsafe explicit_bzero(start, inputSize)
        unsafe explicit_bzero(outputs, Self.outputSize)
        inputSize = 0
    }
}

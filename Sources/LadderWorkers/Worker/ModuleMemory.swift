import ByteCoding
import CLadder
import FairPlay
import Glibc
import KeyCrypto

/// The memory that a call lends to a module: the inputs in one place, the room for the answer in another, each followed
/// by a page that may not be touched. A module that writes past the room ends its worker at that instruction. Wiped
/// after each call.
///
///     | inputs   0 | forbidden | 0   HU, R1, value | forbidden |
@safe
final class ModuleMemory {
    private let pageSize: Int
    private let start: UnsafeMutableRawPointer
    private var inputSize = 0

    private static let valueCapacity = Int(LATCHKEY_LADDER_VALUE_CAPACITY)
    private static let outputSize = LadderAnswer.deviceIDSize + LadderAnswer.r1Size + valueCapacity

    /// Nil when the kernel gives no memory.
    init?() {
        pageSize = sysconf(Int32(_SC_PAGESIZE))
        let (read, none) = (PROT_READ | PROT_WRITE, PROT_NONE)
        // Safe: fresh memory of four pages, the second and the fourth of which are never touched.
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

    /// Puts a call into the memory, runs `body` on what the module gets to see, and wipes everything.
    func lend<Result>(
        _ call: LadderCall, _ body: (inout latchkey_ladder_call, inout latchkey_ladder_answer) -> Result
    ) -> Result {
        defer { wipe() }
        var input = unsafe place(call)
        var output = unsafe emptyAnswer()
        return unsafe body(&input, &output)
    }

    /// What a module has answered; nil when it is no answer. To be asked while the memory is lent.
    func answer(_ output: latchkey_ladder_answer) -> LadderAnswer? {
        let valueSize = unsafe Int(output.content_key_value_size)
        guard LadderAnswer.contentKeyValueSizes.contains(valueSize),
            let sessionKeyVersion = unsafe SessionKeyVersion(rawValue: output.session_key_used),
            let r1Version = unsafe SessionKeyVersion(rawValue: output.r1_used)
        else { return nil }
        // Safe: the three rooms lie one behind the other in memory that is ours, even if the module changed the
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
        // Safe: every pointer leads to a copy in the inputs' page, which holds the largest call several times over.
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

    /// Copies bytes behind what lies in the inputs' page already, at a multiple of eight.
    private func inputs(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutableRawPointer {
        precondition(bytes.count <= pageSize - inputSize, "a call fits a page")
        let place = unsafe start + inputSize
        inputSize += (bytes.count + 7) / 8 * 8
        unsafe UnsafeMutableRawBufferPointer(start: place, count: bytes.count).copyMemory(from: bytes)
        return unsafe place
    }

    /// HU, R1 and value end where the page does.
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
        // Safe: the used part of both pages that are ours.
        unsafe explicit_bzero(start, inputSize)
        unsafe explicit_bzero(outputs, Self.outputSize)
        inputSize = 0
    }
}

import CLadder
import FairPlay
import Glibc
import KeyCrypto

/// A ladder module that is loaded and open in this process. Only one thread calls it.
@safe
struct LoadedModule: ~Copyable {
    private let handle: OpaquePointer?
    private let functions: ModuleFunctions
    private let memory: ModuleMemory

    /// Loads a library and opens its module. Throws the fault of the module.
    init(libraryPath: String, moduleData: SharedSecret) throws(LadderModuleFault) {
        let functions = try ModuleFunctions(libraryPath: libraryPath)
        guard let memory = ModuleMemory() else { throw .notConfined(step: "mmap", errno: ENOMEM) }
        let handle = try unsafe functions.openModule(moduleData.bytes)
        self.functions = functions
        self.memory = memory
        unsafe self.handle = handle
    }

    deinit {
        // The library is not unloaded, because it may have threads, and the process ends anyway.
        unsafe functions.close(handle)
    }

    /// Calls the module.
    borrowing func answer(_ call: LadderCall) -> Result<LadderAnswer, LadderCallFailure> {
        unsafe memory.lend(call) { input, output in
            let status = unsafe functions.answerCall(handle, &input, &output)
            let ownStatus = unsafe output.own_status != 0 ? output.own_status : status
            switch status {
            case LATCHKEY_LADDER_OK:
                guard let answer = unsafe memory.answer(output) else { return .failure(.answerUnusable) }
                return .success(answer)
            case LATCHKEY_LADDER_REFUSED: return .failure(.refused(status: ownStatus))
            default: return .failure(.failed(status: ownStatus))
            }
        }
    }
}

/// The functions of `latchkey_ladder.h` in a library.
@safe
private struct ModuleFunctions {
    typealias Open =
        @convention(c) (UnsafePointer<latchkey_ladder_setup>?, UnsafeMutablePointer<OpaquePointer?>?) -> Int32
    typealias AnswerCall =
        @convention(c) (
            OpaquePointer?, UnsafePointer<latchkey_ladder_call>?, UnsafeMutablePointer<latchkey_ladder_answer>?
        ) -> Int32
    typealias Close = @convention(c) (OpaquePointer?) -> Void

    private let open: Open
    let answerCall: AnswerCall
    let close: Close

    init(libraryPath: String) throws(LadderModuleFault) {
        let library = try SharedLibrary(path: libraryPath)
        // Safe: the header defines the type of each function. A library that breaks it can harm only this process.
        let version = try unsafe unsafeBitCast(
            library.requiredSymbol("latchkey_ladder_abi_version"), to: (@convention(c) () -> UInt32).self)
        let number = version()
        guard number == LATCHKEY_LADDER_ABI_VERSION else { throw .versionUnknown(number) }
        unsafe open = try unsafeBitCast(library.requiredSymbol("latchkey_ladder_open"), to: Open.self)
        unsafe answerCall = try unsafeBitCast(
            library.requiredSymbol("latchkey_ladder_answer_call"), to: AnswerCall.self)
        unsafe close = try unsafeBitCast(library.requiredSymbol("latchkey_ladder_close"), to: Close.self)
    }

    func openModule(_ data: borrowing SecretBytes) throws(LadderModuleFault) -> OpaquePointer? {
        var handle: OpaquePointer?
        let status = data.withBytes { span in
            // Safe: the data exists during the call, and the module may use it only during the call.
            unsafe span.withUnsafeBytes { bytes in
                var setup = unsafe latchkey_ladder_setup()
                unsafe setup.size = UInt32(MemoryLayout<latchkey_ladder_setup>.size)
                unsafe setup.data_size = UInt32(bytes.count)
                unsafe setup.data = bytes.bindMemory(to: UInt8.self).baseAddress
                return unsafe open(&setup, &handle)
            }
        }
        guard status == LATCHKEY_LADDER_OK else { throw .notOpened(status: status) }
        return unsafe handle
    }
}

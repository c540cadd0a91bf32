import FuzzDriver
import FuzzTargets

/// libFuzzer on `FuzzTargetKind.playerMessage`.
@main
struct Program {
    static func main() {
        FuzzDriver.run(.playerMessage)
    }
}

/// Changes an input of the corpus. libFuzzer calls this function.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutate(_ bytes: UnsafeMutablePointer<UInt8>?, _ size: Int, _ maximum: Int, _ seed: UInt32) -> Int {
    // Safe: the buffer of libFuzzer is passed on unchanged.
    unsafe FuzzDriver.mutate(bytes, size: size, maximum: maximum, seed: seed)
}

import FuzzDriver
import FuzzTargets

/// libFuzzer on `FuzzTargetKind.playlist`.
@main
struct Program {
    static func main() {
        FuzzDriver.run(.playlist)
    }
}

/// What libFuzzer calls to change an input of its corpus.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutate(_ bytes: UnsafeMutablePointer<UInt8>?, _ size: Int, _ maximum: Int, _ seed: UInt32) -> Int {
    // What libFuzzer lends is passed on as it is.
    unsafe FuzzDriver.mutate(bytes, size: size, maximum: maximum, seed: seed)
}

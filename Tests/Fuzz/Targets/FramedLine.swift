import FairPlay

@testable import LadderWorkers

/// A `LadderFrameAssembler` with its readers, and a count of the bytes that it must hold.
final class FramedLine {
    private var assembler: LadderFrameAssembler
    /// The number of received bytes whose message was not taken yet.
    private var heldCount = 0
    /// The size of the memory that was ever written.
    private var writtenCount = 0
    private var faults: [String] = []

    init(_ assembler: LadderFrameAssembler) {
        self.assembler = assembler
    }

    /// Discards everything that was received.
    func begin() throws(PropertyViolation) {
        assembler.wipe()
        let isWiped = assembler.bytes[..<writtenCount].allSatisfy { $0 == 0 }
        try require(isWiped && assembler.isEmpty, "everything is wiped at the end of a stream")
        heldCount = 0
        writtenCount = 0
        faults = []
    }

    /// Receives as much of a piece as there is room for, and returns that number of bytes.
    func receive(_ piece: ArraySlice<UInt8>) throws(PropertyViolation) -> Int {
        let taken = assembler.fill { bytes, offset in
            let part = piece.prefix(bytes.count - offset)
            bytes.replaceSubrange(offset..<offset + part.count, with: part)
            writtenCount = max(writtenCount, offset + part.count)
            return (part.count, count: part.count)
        }
        try require(taken > 0, "there is room for the rest of a message")
        heldCount += taken
        return taken
    }

    /// Reads the next message and writes it again. Returns false if the message is not complete yet. Throws the
    /// readers' errors.
    func takeMessage() throws(LadderFrameError) -> Bool {
        guard let (head, body) = try assembler.next() else { return false }
        heldCount -= LadderFrameHead.size + body.count
        let rewritten: [UInt8]
        do throws(LadderFrameError) {
            rewritten = try Self.rewrite(head, assembler.bytes, in: body)
        } catch {
            if case .notExpressible = error { faults.append("a value that was read can be written: \(error)") }
            throw error
        }
        let start = body.lowerBound - LadderFrameHead.size
        if !rewritten.elementsEqual(assembler.bytes[start..<body.upperBound]) {
            faults.append("a value has one encoding: \(head.kind), \(head.number)")
        }
        return true
    }

    private static func rewrite(
        _ head: LadderFrameHead, _ bytes: [UInt8], in body: Range<Int>
    ) throws(LadderFrameError) -> [UInt8] {
        switch head.kind {
        case .start: try LadderStart(parsing: bytes, in: body).message().revealed()
        case .ready: head.message().revealed()
        case .startFailure: try LadderModuleFault(parsing: bytes, in: body).message().revealed()
        case .call: try LadderCall(parsing: bytes, in: body).revealed(number: head.number)
        case .answer: try LadderAnswer(parsing: bytes, in: body).revealed(number: head.number)
        case .callFailure: try LadderCallFailure(parsing: bytes, in: body).revealed(number: head.number)
        case .libraryStart: try LibraryStart(parsing: bytes, in: body).message().revealed()
        case .order: try LibraryOrder(parsing: bytes, in: body).revealed(number: head.number)
        case .written: try LibraryAnswer(parsing: bytes, in: body).revealed(number: head.number)
        }
    }

    /// Checks after the messages of a piece that no property was broken, and that nothing of the taken messages is
    /// left.
    func checkTaken() throws(PropertyViolation) {
        try require(faults.isEmpty, faults.joined(separator: "; "))
        assembler.wipeTaken()
        let held = assembler.held
        try require(held.count == heldCount, "unread bytes are kept")
        let isWiped = (0..<writtenCount).allSatisfy { held.contains($0) || assembler.bytes[$0] == 0 }
        try require(isWiped, "read bytes are wiped")
    }
}

extension LadderCall {
    /// The message of the call, as an array that is not wiped.
    func revealed(number: UInt64) throws(LadderFrameError) -> [UInt8] {
        var message = LadderMessage(capacity: LadderFrameHead.size + Self.encodedSizes.upperBound)
        try write(number: number, to: &message)
        return message.revealed()
    }
}

extension LadderAnswer {
    /// The message of the answer, as an array that is not wiped.
    func revealed(number: UInt64) throws(LadderFrameError) -> [UInt8] {
        var message = LadderMessage(capacity: LadderFrameHead.size + Self.encodedSizes.upperBound)
        try write(number: number, to: &message)
        return message.revealed()
    }
}

extension LibraryOrder {
    /// The message of the order, as an array that is not wiped.
    func revealed(number: UInt64) throws(LadderFrameError) -> [UInt8] {
        var message = LadderMessage(capacity: LadderFrameHead.size + Self.encodedSizes.upperBound)
        try write(number: number, to: &message)
        return message.revealed()
    }
}

extension LibraryAnswer {
    /// The message of the answer, as an array that is not wiped.
    func revealed(number: UInt64) throws(LadderFrameError) -> [UInt8] {
        var message = LadderMessage(capacity: LadderFrameHead.size + Self.encodedSizes.upperBound)
        try write(number: number, to: &message)
        return message.revealed()
    }
}

extension LadderCallFailure {
    /// The message of the failure, as an array that is not wiped.
    func revealed(number: UInt64) -> [UInt8] {
        var message = LadderMessage(capacity: LadderFrameHead.size + Self.encodedSizes.upperBound)
        write(number: number, to: &message)
        return message.revealed()
    }
}

import ContentKeys
import Telemetry

/// A statement whose caller waits for its result.
struct DatabaseCall: Sendable {
    let statement: PreparedStatement
    let values: [PostgreSQLValue]
    /// When its caller stops waiting.
    let deadline: MonotonicTime
    /// The advisory locks that the statement takes, in their order, if it may share a transaction with other calls that
    /// take locks. Nil if it must have a transaction of its own.
    let locks: [Int64]?
    /// An advisory lock that a statement before this one takes in the same transaction; nil for none. This statement
    /// then sees what earlier holders of the lock have stored. The call has a transaction of its own.
    let lockBefore: Int64?
    /// Whether only certain connections may run the call. It then never waits for a new connection.
    let isBound: Bool
    /// Set after a transaction that the call shared with others has failed.
    var mustBeAlone = false
    private let answer: @Sendable (Result<PostgreSQLResult, PostgreSQLFailure>) -> Void

    /// Makes a call. `answer` is called exactly once, on the loop.
    init(
        _ statement: PreparedStatement, _ values: [PostgreSQLValue], deadline: MonotonicTime, locks: [Int64]? = nil,
        lockBefore: Int64? = nil, isBound: Bool = false,
        answer: @escaping @Sendable (Result<PostgreSQLResult, PostgreSQLFailure>) -> Void
    ) {
        self.statement = statement
        self.values = values
        self.deadline = deadline
        self.locks = locks
        self.lockBefore = lockBefore
        self.isBound = isBound
        self.answer = answer
    }

    /// Whether the call may share a transaction.
    var isSociable: Bool { locks != nil && !mustBeAlone }

    func give(_ result: Result<PostgreSQLResult, PostgreSQLFailure>) {
        answer(result)
    }
}

/// The waiting elements in their order. The cost of taking the first one does not depend on their number.
struct PendingQueue<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var count: Int { elements.count - head }
    var isEmpty: Bool { count == 0 }

    var first: Element? {
        get { isEmpty ? nil : elements[head] }
        set { if !isEmpty { elements[head] = newValue } }
    }

    /// Returns the first element for which `isWanted` is true.
    func first(where isWanted: (Element) -> Bool) -> Element? {
        for case .some(let element) in elements[head...] where isWanted(element) { return element }
        return nil
    }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        defer {
            elements[head] = nil
            head += 1
            if head > 64, head * 2 > elements.count {
                elements.removeFirst(head)
                head = 0
            }
        }
        return elements[head]
    }

    /// Puts elements back before all others.
    mutating func putBack(_ returned: [Element]) {
        elements = returned + elements[head...]
        head = 0
    }

    /// Removes and returns all elements.
    mutating func takeAll() -> [Element] {
        defer {
            elements = []
            head = 0
        }
        return elements[head...].compactMap { $0 }
    }

    /// Changes elements from the front on, until `body` returns false.
    mutating func updatePrefix(while body: (inout Element) -> Bool) {
        for index in head..<elements.count {
            guard var element = elements[index] else { continue }
            let goesOn = body(&element)
            elements[index] = element
            if !goesOn { return }
        }
    }
}

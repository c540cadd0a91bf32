import Records
import Telemetry

/// What a caller wants of the database, and waits for.
struct DatabaseCall: Sendable {
    enum Work: Sendable {
        /// A statement. `lockBefore` is an advisory lock that a statement before it takes in the same transaction; nil
        /// for none. The statement then sees what earlier holders of the lock have stored.
        case statement(PreparedStatement, [PostgreSQLValue], lockBefore: Int64?, Answer<PostgreSQLResult>)
        /// An action on cells, which shares two round trips with other actions.
        case action(AccountAction, Answer<AccountAnswer>)
    }

    typealias Answer<Value> = @Sendable (Result<Value, PostgreSQLFailure>) -> Void

    let work: Work
    /// When its caller stops waiting.
    let deadline: MonotonicTime
    /// Whether only certain connections may run the call. It then never waits for a new connection.
    let isBound: Bool
    /// Set after a group that the call was in has failed.
    var mustBeAlone = false

    /// Makes a call. The answer in `work` is called exactly once, on the loop.
    init(_ work: Work, deadline: MonotonicTime, isBound: Bool = false) {
        self.work = work
        self.deadline = deadline
        self.isBound = isBound
    }

    /// The action, if the call is one.
    var action: AccountAction? {
        if case .action(let action, _) = work { action } else { nil }
    }

    /// Whether the call may share its transaction with others.
    var isSociable: Bool { action != nil && !mustBeAlone }

    func fail(_ failure: PostgreSQLFailure) {
        switch work {
        case .statement(_, _, _, let give): give(.failure(failure))
        case .action(_, let give): give(.failure(failure))
        }
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

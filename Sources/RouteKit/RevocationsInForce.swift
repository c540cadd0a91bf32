package import Records

/// The revocations that this node enforces.
package protocol RevocationsInForce: Sendable {
    /// The time by which revocations end, in seconds since 1970.
    var endTime: Int64 { get }

    /// Puts a revocation in force on this node, before the store has it.
    func hold(_ revocation: Revocation) async

    /// Takes a lifted revocation out of force on this node.
    func release(_ revocation: Revocation) async
}

// The functions of each layer throw one enum, which belongs to this layer (style: typed throws). These functions turn
// an error of a lower layer into a case of the caller's enum:
//
//     let claims = try wrap(LicenseError.entitlement, try tokens.verify(token, now: now))
//
//     return try await wrapAsync(LicenseError.store, try await store.take(challenge))
//
// A single expression needs no type. A closure of several statements must name the error that it throws, because
// Swift 6.3 does not infer it:
//
//     try wrap(LicenseError.spc) { () throws(SPCError) in … }

/// Evaluates an expression and throws its error as an error of the caller's layer.
@inlinable
public func wrap<Inner: Error, Outer: Error, Value: ~Copyable>(
    _ outer: (Inner) -> Outer, _ body: @autoclosure () throws(Inner) -> Value
) throws(Outer) -> Value {
    do throws(Inner) {
        return try body()
    } catch {
        throw outer(error)
    }
}

/// Runs a closure and throws its error as an error of the caller's layer.
@inlinable
public func wrap<Inner: Error, Outer: Error, Value: ~Copyable>(
    _ outer: (Inner) -> Outer, _ body: () throws(Inner) -> Value
) throws(Outer) -> Value {
    do throws(Inner) {
        return try body()
    } catch {
        throw outer(error)
    }
}

/// Awaits an expression and throws its error as an error of the caller's layer.
@inlinable
public func wrapAsync<Inner: Error, Outer: Error, Value: ~Copyable>(
    _ outer: (Inner) -> Outer, _ body: @autoclosure () async throws(Inner) -> Value
) async throws(Outer) -> Value {
    do throws(Inner) {
        return try await body()
    } catch {
        throw outer(error)
    }
}

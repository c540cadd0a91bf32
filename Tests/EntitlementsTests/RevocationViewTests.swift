import TestSupport
import Testing

@testable import Entitlements

@Suite struct RevocationViewTests {
    /// The memory of a node for each of 200,000 revocations.
    @Test func aRevocationTakesAtMost64Bytes() throws {
        var view = RevocationView()
        for number in 0..<200_000 { view.revoke(.subject, named: Self.name(number), until: Int64(number + 1)) }
        #expect(view.count == 200_000)
        #expect(view.size <= 64 * view.count)
        print("revocations: \(view.count) take \(view.size) bytes, \(view.size / view.count) each")
        for number in stride(from: 0, to: 200_000, by: 997) {
            #expect(try view.contains(.subject, Self.text(number), of: "portal", now: Int64(number)))
            #expect(try !view.contains(.subject, Self.text(number), of: "portal", now: Int64(number + 1)))
        }
        #expect(try !view.contains(.subject, Self.text(200_000), of: "portal", now: 0))
    }

    /// A change to the view does not affect the published copy, against which requests are checked.
    @Test func copiesDoNotChangeEachOther() throws {
        var view = RevocationView()
        for number in 0..<5000 { view.revoke(.token, "t\(number)", of: "portal") }
        let published = view
        let isLifted = view.set(.token, "t7", of: "portal", .isLifted)
        let isEnded = view.set(.token, "t8", of: "portal", .holds(until: 10))
        #expect(isLifted && isEnded)
        #expect(try published.contains(.token, "t7", of: "portal", now: 0))
        #expect(try !view.contains(.token, "t7", of: "portal", now: 0))
        #expect(try published.contains(.token, "t8", of: "portal", now: 10))
        #expect(try !view.contains(.token, "t8", of: "portal", now: 10))
        #expect(published.count == 5000 && view.count == 4999 && published != view)
    }

    @Test func agreesWithADictionary() throws {
        var random = SeededGenerator.announced("a view of revocations agrees with a dictionary")
        var (view, model) = (RevocationView(), [String: Int64?]())
        for _ in 0..<20_000 {
            let value = "v\(Int.random(in: 0..<4000, using: &random))"
            if Int.random(in: 0..<3, using: &random) == 0 {
                let isThere = model[value] != nil
                let hasChanged = view.set(.content, value, .isLifted)
                #expect(hasChanged == isThere)
                model[value] = nil
            } else {
                let end: Int64? = Bool.random(using: &random) ? nil : Int64.random(in: 1...3, using: &random)
                let isSame = model[value] == .some(end)
                let hasChanged = view.set(.content, value, .holds(until: end))
                #expect(hasChanged != isSame)
                model[value] = .some(end)
            }
        }
        #expect(view.count == model.count && view.concerns(.content) == !model.isEmpty)
        for number in 0..<4000 {
            let end = model["v\(number)"]
            for now in 0...3 as ClosedRange<Int64> {
                let isRevoked = end.map { end in end.map { now < $0 } ?? true } ?? false
                #expect(try view.contains(.content, "v\(number)", of: "anyone", now: now) == isRevoked)
            }
        }
    }

    private static func name(_ number: Int) -> [UInt8] { Array(text(number).utf8) }

    private static func text(_ number: Int) -> String { "pseudonym-of-thirty-two-bytes-\(number)" }
}

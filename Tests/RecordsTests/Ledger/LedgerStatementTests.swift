import ByteCoding
import KeyCrypto
import TestSupport
import Testing

@testable import Records

@Suite struct LedgerStatementTests {
    private let chain: LedgerChain
    private static let statement = Array("a statement".utf8)

    init() throws {
        chain = try LedgerSamples.chain()
    }

    @Test(arguments: LedgerStatement.allCases)
    func macIsAsDocumented(kind: LedgerStatement) throws {
        let message = Array(kind.rawValue.utf8) + [6] + Array("node-1".utf8) + Self.statement
        let key = try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 0x5A, count: 32)))
        let mac = try chain.seal(Self.statement, as: kind)
        #expect(try mac == key.code(for: message[...]))
        #expect(kind.rawValue.utf8.count == 8)
        #expect(try chain.accepts(mac, of: Self.statement, as: kind))
    }

    @Test func isOfItsKindItsNodeAndItsTextAlone() throws {
        let mac = try chain.seal(Self.statement, as: .backup)
        #expect(try !chain.accepts(mac, of: Self.statement, as: .fingerprint))
        #expect(try !chain.accepts(mac, of: Self.statement + [0], as: .backup))
        let key = try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 0x5A, count: 32)))
        let other = LedgerChain(key: key, node: try NodeID("node-2"))
        #expect(try !other.accepts(mac, of: Self.statement, as: .backup))
    }
}

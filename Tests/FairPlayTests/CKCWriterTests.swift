import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport
import Testing

/// The container of a CKC, and the order and padding of its blocks.
@Suite struct CKCWriterTests {
    private static let allTerms = LicenseTerms(
        validity: .duration(.persistent), hdcp: .type0, securityLevel: .baseline)

    private let bench: SPCBench

    init() throws {
        bench = try SPCBench()
    }

    private func licenses(_ request: DeviceRequest, count: Int) throws -> [PlainLicense] {
        let spc = try bench.server.open(request.message)
        return try (0..<count).map { _ in
            let ckc = try bench.server.answer(spc, contentKey: zeros(16), terms: Self.allTerms)
            return try PlainLicense(ckc, for: request, using: bench.crypto)
        }
    }

    @Test func isOfVersion1WithAReservedWordOfZero() throws {
        let request = try bench.request { _ in }
        let license = try #require(try licenses(request, count: 1).first)
        #expect(license.version == words(1))
        #expect(license.reserved == words(0))
    }

    @Test func declaresItsLengthExactly() throws {
        let request = try bench.request { _ in }
        let ckc = try bench.server.answer(bench.server.open(request.message), contentKey: zeros(16))
        #expect(Array(ckc[24..<28]) == words(UInt32(ckc.count - 28)))
        #expect((ckc.count - 28) % 16 == 0)
    }

    /// The server's own five blocks come before the echoes, in random order.
    @Test func shufflesItsOwnBlocksAndEchoesBehindThem() throws {
        let request = try bench.request {
            $0.unknownBlockCount = 3
            $0.returnRequest = nil
        }
        let licenses = try licenses(request, count: 60)
        for license in licenses {
            let own = license.blocks.prefix(5).map(\.tag)
            #expect(Set(own).isSubset(of: TLLVTag.carriedByCKC) && Set(own).count == 5)
            #expect(license.blocks.dropFirst(5).map(\.bytes) == request.secrets.expectedEchoes)
        }
        let orders = Set(licenses.map { $0.blocks.prefix(5).map(\.tag) })
        #expect(orders.count > 10)
        #expect(Set(licenses.map { $0.blocks[0].tag }).count == 5)
    }

    /// Each requested block comes once, in the order of the request and with its padding.
    @Test func echoesByteForByteInTheOrderOfTheRequest() throws {
        let request = try bench.request {
            $0.otherBlocks = [DeviceBlock(7, [1, 2, 3], extraBlocks: 9), DeviceBlock(8, [], extraBlocks: 0)]
            $0.returnRequest = [8, TLLVTag.assetID, 7, 8, TLLVTag.transactionID, 7]
        }
        let license = try #require(try licenses(request, count: 1).first)
        let echoes = license.blocks.suffix(4)
        #expect(echoes.map(\.tag) == [8, TLLVTag.assetID, 7, TLLVTag.transactionID])
        #expect(echoes.map(\.bytes) == request.secrets.expectedEchoes)
        #expect(echoes.first?.paddingCount == 0)
        #expect(license.blocks.first { $0.tag == 7 }?.paddingCount == 9 * 16 + 13)
    }

    /// A block is padded to a multiple of 16 bytes, plus zero to three units of 16.
    @Test func padsByChance() throws {
        let request = try bench.request { $0.returnRequest = [] }
        let licenses = try licenses(request, count: 60)
        let paddings = licenses.compactMap { license in license.blocks.first { $0.tag == TLLVTag.r1 }?.paddingCount }
        #expect(Set(paddings) == [4, 20, 36, 52])
        let padding = licenses.flatMap { $0.blocks.map { $0.bytes.suffix($0.paddingCount) } }.flatMap(\.self)
        #expect(Set(padding).count > 200)
    }
}

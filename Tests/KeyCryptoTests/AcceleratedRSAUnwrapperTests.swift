import TestSupport
import Testing

@testable import KeyCrypto

/// The backend with an accelerator. The stand-in library computes in the place of crypto_mb.
@Suite(.tags(.startsProcesses)) struct AcceleratedRSAUnwrapperTests {
    private let standIn: StandInAccelerator
    private let accelerator: CryptoAccelerator
    private let unwrapper: AcceleratedRSAUnwrapper
    private let count = RSAOperationCount()
    private let events = AcceleratorEvents()

    init() throws {
        standIn = try StandInAccelerator()
        accelerator = try standIn.start { [events] in events.append($0) }
        unwrapper = AcceleratedRSAUnwrapper(accelerator, counting: count)
    }

    /// Each batch has both keys of its size and both paddings. What does not fill a batch well goes to OpenSSL.
    @Test(arguments: [
        (1024, 1, []), (1024, 2, [2]), (1024, 7, [7]), (1024, 8, [8]), (1024, 9, [8]), (1024, 17, [8, 8]),
        (2048, 2, []), (2048, 3, [3]), (2048, 8, [8]), (2048, 10, [8]), (2048, 11, [8, 3]),
    ])
    func unwrapsBatches(bits: Int, jobCount: Int, laneCounts: [Int]) throws {
        let jobs = try UnwrapTrials.jobs(jobCount, bits: bits)
        unwrapper.unwrap(jobs)
        #expect(UnwrapTrials.unsettled(jobs) == [])
        #expect(standIn.takeLaneCounts() == laneCounts)
        #expect(count.value == UInt64(jobCount))
        #expect(count.acceleratedCount == UInt64(laneCounts.reduce(0, +)))
        #expect(count.acceleratedBatchCount == UInt64(laneCounts.count))
        #expect(events.all == [])
    }

    /// On another processor, OpenSSL computes more jobs in the time of a batch.
    @Test(arguments: [(1024, 2, []), (1024, 3, [3]), (2048, 5, []), (2048, 6, [6])])
    func leavesAsManyJobsToOpenSSLAsAreWorthABatch(bits: Int, jobCount: Int, laneCounts: [Int]) throws {
        let breakEven = AcceleratorBreakEven(jobs1024: 2, jobs2048: 5)
        let unwrapper = AcceleratedRSAUnwrapper(try standIn.start(breakEven: breakEven), counting: count)
        let jobs = try UnwrapTrials.jobs(jobCount, bits: bits)
        unwrapper.unwrap(jobs)
        #expect(UnwrapTrials.unsettled(jobs) == [])
        #expect(standIn.takeLaneCounts() == laneCounts)
    }

    @Test func unwrapsBothSizesOfABatch() throws {
        let (small, large) = (try UnwrapTrials.jobs(8, bits: 1024), try UnwrapTrials.jobs(5, bits: 2048))
        unwrapper.unwrap(Array(zip(small, large).flatMap { [$0, $1] }) + small.suffix(3))
        #expect(UnwrapTrials.unsettled(small) == [])
        #expect(UnwrapTrials.unsettled(large) == [])
        #expect(standIn.takeLaneCounts() == [8, 5])
    }

    /// A batch has room for eight jobs of each size, and not for nine.
    @Test func hasRoomForEightOfEachSize() throws {
        let (small, large) = (try UnwrapTrials.jobs(9, bits: 1024), try UnwrapTrials.jobs(9, bits: 2048))
        #expect(unwrapper.hasRoom(for: small[8], after: Array(small.prefix(7)) + large))
        #expect(!unwrapper.hasRoom(for: small[8], after: Array(small.prefix(8))))
        #expect(unwrapper.hasRoom(for: large[8], after: Array(small.prefix(8))))
    }

    /// A reload replaces keys. The loop that has used one must keep it neither for the accelerator nor for OpenSSL.
    @Test(arguments: [1, 8])
    func keepsNoKeyAfterItsRelease(jobCount: Int) throws {
        weak var released: RSAPrivateKey?
        weak var numbers: RSAPrivateNumbers?
        func unwrapWithNewKey() throws {
            let key = try RSAPrivateKey.generate(bits: 1024)
            let jobs = try (0..<jobCount).map { index in
                let secret = SecretBytes(copying: UnwrapTrials.secret(index))
                return UnwrapTrials.job(try key.publicKey.encrypt(secret, padding: .sha1), key, .sha1)
            }
            unwrapper.unwrap(jobs)
            #expect(UnwrapTrials.unsettled(jobs) == [])
            (released, numbers) = (key, key.acceleratedNumbers)
            #expect(released != nil && numbers != nil)
        }
        try unwrapWithNewKey()
        #expect(standIn.takeLaneCounts() == (jobCount == 1 ? [] : [jobCount]))
        #expect(released == nil && numbers == nil)
        try unwrapWithNewKey()
        #expect(released == nil && numbers == nil)
    }

    /// Bad ciphertexts run through the same lanes as good ones.
    @Test(arguments: [1024, 2048])
    func keepsTheDecoyForBadCiphertexts(bits: Int) throws {
        let key = try (bits == 1024 ? UnwrapTrials.keys1024 : UnwrapTrials.keys2048).get()[0]
        func wrapped(_ size: Int, _ padding: OAEPDigest = .sha1) throws -> [UInt8] {
            try key.publicKey.encrypt(SecretBytes(copying: [UInt8](repeating: 3, count: size)), padding: padding)
        }
        var changed = try wrapped(16)
        changed[100] ^= 1
        let bad = [
            changed, try wrapped(16, .sha256), try wrapped(15), try wrapped(17),
            [UInt8](repeating: 0, count: bits / 8), [UInt8](repeating: 0xFF, count: bits / 8), [1, 2, 3],
        ]
        let jobs = bad.map { UnwrapTrials.job($0, key, .sha1) } + [UnwrapTrials.job(try wrapped(16), key, .sha1)]
        unwrapper.unwrap(jobs)
        #expect(standIn.takeLaneCounts() == [8])
        #expect(jobs.map(\.isGenuine) == [Bool](repeating: false, count: 7) + [true])
        #expect(jobs.prefix(7).allSatisfy { $0.sessionKey.revealed() == UnwrapTrials.decoy })
        #expect(jobs[7].sessionKey.revealed() == [UInt8](repeating: 3, count: 16))
        #expect(events.all == [], "a bad ciphertext is no wrong result")
    }

    /// The library never sees a ciphertext as a device has sent it, and never sees the same number again.
    @Test func blindsEveryCiphertext() throws {
        let key = try UnwrapTrials.keys1024.get()[0]
        let wrapped = try key.publicKey.encrypt(SecretBytes(copying: UnwrapTrials.secret(0)), padding: .sha1)
        var seen: Set<[UInt8]> = [wrapped]
        // Many more than OpenSSL blinds with one random number.
        for _ in 0..<12 {
            let jobs = (0..<8).map { _ in UnwrapTrials.job(wrapped, key, .sha1) }
            unwrapper.unwrap(jobs)
            #expect(jobs.allSatisfy { $0.isGenuine && $0.sessionKey.revealed() == UnwrapTrials.secret(0) })
            for lane in 0..<8 { seen.insert(standIn.input(ofLane: lane, size: 128)) }
        }
        #expect(seen.count == 1 + 12 * 8)
    }

    @Test func wipesTheMemoryOfEachBatch() throws {
        let jobs = try UnwrapTrials.jobs(8, bits: 2048)
        unwrapper.unwrap(jobs)
        #expect(UnwrapTrials.unsettled(jobs) == [])
        #expect(standIn.leftovers == 0)
    }

    /// A wrong result never leaves: OpenSSL computes it again. The first one is told.
    @Test(arguments: StandInAccelerator.Order.wrongResults, [0, 5, 7])
    func computesWrongResultsAgain(order: StandInAccelerator.Order, lane: Int) throws {
        standIn.order(order, lane: lane)
        for batch in 1..<CryptoAccelerator.wrongResultsMaximum {
            let jobs = try UnwrapTrials.jobs(8, bits: 1024)
            unwrapper.unwrap(jobs)
            #expect(UnwrapTrials.unsettled(jobs) == [])
            #expect(accelerator.wrongResultCount == batch)
        }
        #expect(events.all == [.resultWrong(.rsa(bits: 1024))])
        #expect(accelerator.isServing)
        #expect(standIn.leftovers == 0)
    }

    @Test func givesUpALibraryWithManyWrongResults() throws {
        #expect(unwrapper.groupSize == 8)
        #expect(unwrapper.loneGroupMaximum == 1)
        standIn.order(.wrongLane, lane: 2)
        for _ in 0..<CryptoAccelerator.wrongResultsMaximum + 2 {
            let jobs = try UnwrapTrials.jobs(8, bits: 2048)
            unwrapper.unwrap(jobs)
            #expect(UnwrapTrials.unsettled(jobs) == [])
        }
        #expect(!accelerator.isServing)
        #expect(standIn.takeLaneCounts() == [Int](repeating: 8, count: CryptoAccelerator.wrongResultsMaximum))
        #expect(events.all == [.resultWrong(.rsa(bits: 2048)), .givenUp(.resultsWrong(count: 3))])
        #expect(unwrapper.groupSize == 4, "as with OpenSSL alone")
        #expect(unwrapper.loneGroupMaximum == 4)
        let jobs = try UnwrapTrials.jobs(5, bits: 1024)
        #expect(unwrapper.hasRoom(for: jobs[3], after: Array(jobs.prefix(3))))
        #expect(!unwrapper.hasRoom(for: jobs[4], after: Array(jobs.prefix(4))))
    }

    /// OpenSSL settles the jobs of keys that the library cannot use, in the same batch.
    @Test func leavesOtherKeysToOpenSSL() throws {
        let others = [
            try RSAPrivateKey.generate(bits: 1536), try RSAPrivateKey(parsing: Array(Self.exponent3.utf8)),
        ]
        var jobs = try UnwrapTrials.jobs(4, bits: 1024)
        for (index, key) in others.enumerated() {
            jobs.append(
                UnwrapTrials.job(
                    try key.publicKey.encrypt(SecretBytes(copying: UnwrapTrials.secret(4 + index)), padding: .sha1),
                    key, .sha1))
        }
        unwrapper.unwrap(jobs)
        #expect(UnwrapTrials.unsettled(jobs) == [])
        #expect(standIn.takeLaneCounts() == [4])
        #expect(others.allSatisfy { $0.acceleratedNumbers == nil })
    }

    /// A job is settled once, however often it is handed in.
    @Test func settlesAJobOnce() throws {
        let jobs = try UnwrapTrials.jobs(3, bits: 1024)
        unwrapper.unwrap(jobs)
        unwrapper.unwrap(jobs)
        #expect(UnwrapTrials.unsettled(jobs) == [])
        #expect(standIn.takeLaneCounts() == [3])
    }

    /// Made for this test with: openssl genrsa -3 1024
    private static let exponent3 = """
        -----BEGIN PRIVATE KEY-----
        MIICdwIBADANBgkqhkiG9w0BAQEFAASCAmEwggJdAgEAAoGBAMYCkHv3u9pLgDf2
        KL+ffL9GJaW3/C9VOQqW6RewpKXLtzz/81j6AvuWkpnrqqYPHw16rB+je/aoKJvS
        qRGOHh4zyBzRVUwHiylQNjK/RK2iG+1RxyR93/DTZfyqkd6sEUAlOPRZ+oXsOK5K
        dcAjXKxileOjbXSPCZoMSm3PY7M3AgEDAoGBAIQBtaf6fTwyVXqkGypqUyouw8PP
        /XTje1xkm2UgbcPdJNNVTOX8Af0PDGadHG60v15RyBUXp/nFcGfhxgu0FBL1xuzf
        er/oa2XC7MVE0i1ZMl/5ALYXgDJRGwYkiggDKXLOMJEDgDMzxPdDRfU+jLQvUDe6
        Y5srCtimZOHh+2CLAkEA7zEJiS9E/StIXD21pBOxyuinQ4EEN860LW1em5vvHhjM
        dIHBI3VDhZ6ggIa6k44m8f+d0NAYX03KmZ8XvYo4DwJBANPsr/jt5y2+yE+VVTP1
        t9FnthjFDyLQ8SxQFNgm44k6R3tuWbFE9ZjymuUGFbH7dymd8jsH828rinkUAz7g
        alkCQQCfdgZbdNiox4WS085tYnaHRcTXq1glNHgeSOm9Ep9pZd2jASts+NeuacBV
        rycNCW9L/76LNWWU3ocRFLp+XCVfAkEAjUh1UJ6aHn8wNQ44zU56i5p5Zdi0weCg
        yDVjOsSXsNGE/PQ7y4NOZfcR7gQOdqekxmlMJ1qiSh0G+2Ks1JWcOwJBAKD+CuYI
        O2GbsvJ1iJ+CMWosJoBZNEgMDfw9xcRfpJ5/4jI41VrIfYtU91kqI76BSEa0mYDH
        VQ819Gelcg/LZUI=
        -----END PRIVATE KEY-----
        """
}

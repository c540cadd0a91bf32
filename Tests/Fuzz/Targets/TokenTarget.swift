import ByteCoding
import KeyCrypto
import TestSupport

@testable import Entitlements

/// Tokens of every dialect, from their bytes to claims. The input is four bytes of plan, then the contents for its
/// kind.
///
///     offset  size  field
///          0     1  kind: 0 a token as it is sent, 1 a payload, 2 a header, 3 the payload of a session token,
///                   4 the fields of a sealed token
///          1     1  the key that signs a payload, as an index into `FixedIssuers.Signer`
///          2     2  the index of the character of an accepted token that changes
///
/// Of the first kind, only tokens that the target itself has signed are accepted, because the fuzzer has no key. The
/// target signs inputs of the other kinds, so that all checks after the signature are reached. An accepted token is
/// refused if one character differs, or if another key has signed it. The explanation of a token agrees with its
/// verification.
struct TokenTarget: FuzzTarget {
    private static let planSize = 4

    private enum Kind: UInt8, CaseIterable {
        case sent, payload, header, session, sealed
    }

    private let issuers: FixedIssuers
    private let samples: SeedTokens
    /// What the target itself has signed: the signed parts of compact tokens, and the fields of sealed ones.
    private let genuine: Set<[UInt8]>

    init() throws {
        issuers = try FixedIssuers()
        samples = SeedTokens(issuers)
        var genuine: Set<[UInt8]> = []
        for token in try samples.compact() { genuine.insert(Self.signedPart(token)) }
        for fields in samples.sealedFields { genuine.insert(fields) }
        self.genuine = genuine
    }

    func check(_ input: [UInt8]) throws -> Verdict {
        guard input.count >= Self.planSize, let kind = Kind(rawValue: input[0] % UInt8(Kind.allCases.count)) else {
            return .refused
        }
        let body = Array(input.dropFirst(Self.planSize))
        // An empty text cannot be sealed.
        guard kind != .sealed || !body.isEmpty else { return .refused }
        let token = try token(kind, body, signer: input[1])
        let outcome = issuers.outcome(of: token)
        try require(issuers.outcome(of: token) == outcome, "a token has one meaning")
        try checkExplanation(of: token, outcome)
        guard case .success(let claims) = outcome else { return .refused }

        try require(token.count <= Token.sizeMaximum, "an accepted token is within its size")
        try check(claims)
        try checkChange(of: token, at: Int(input[2]) << 8 | Int(input[3]))
        switch kind {
        case .sent: try checkOrigin(of: token)
        case .payload: try checkSigner(of: token)
        case .header: try checkHeader(body, signedBy: Self.signer(input[1]))
        case .session: try checkRenewal(claims)
        case .sealed: try checkFields(of: token, body)
        }
        return .accepted
    }

    private func token(_ kind: Kind, _ body: [UInt8], signer: UInt8) throws -> [UInt8] {
        let signer = Self.signer(signer)
        return switch kind {
        case .sent: body
        case .payload: try issuers.token(body, by: signer)
        case .header: try issuers.token(samples.payload(for: signer), header: body, by: signer)
        case .session: try issuers.sessionToken(body)
        case .sealed: try issuers.sealedToken(body)
        }
    }

    private static func signer(_ number: UInt8) -> FixedIssuers.Signer {
        let signers = FixedIssuers.Signer.allCases
        return signers[Int(number) % signers.count]
    }

    // MARK: - Properties

    private func checkExplanation(of token: [UInt8], _ outcome: Result<Claims, EntitlementError>) throws {
        let explanation = issuers.verifier.explain(token, now: FixedIssuers.now)
        switch outcome {
        case .success(let claims):
            try require(explanation.refusal == nil, "an accepted token is not explained as refused")
            try require(explanation.claims == claims, "the explanation has the same claims")
        case .failure(let error):
            try require(explanation.refusal == error, "a refusal is explained: \(error)")
        }
    }

    private func check(_ claims: Claims) throws {
        try require(claims.expiresAt + issuers.verifier.leeway > FixedIssuers.now, "claims have not expired")
        try require(claims.rights.count <= Claims.rightCountMaximum, "the number of rights is within its limit")
        try require((claims.cookie?.utf8.count ?? 0) <= Claims.cookieSizeMaximum, "a cookie is within its size")
        for right in claims.rights {
            try require(right.tracks.count <= Right.trackCountMaximum, "the number of tracks is within its limit")
            let durations = [right.duration, right.lease, right.storage, right.playback, right.renewAhead]
            try require(durations.allSatisfy { $0.map { $0 > 0 } ?? true }, "every duration is positive")
        }
        do throws(EntitlementError) {
            try issuers.verifier.check(claims, now: FixedIssuers.now)
        } catch {
            throw PropertyViolation(description: "an accepted token is not refused at a second check: \(error)")
        }
    }

    /// Checks that a changed token is refused. The new character usually belongs to base64url, so that the token keeps
    /// its form.
    private func checkChange(of token: [UInt8], at place: Int) throws {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var changed = token
        let index = place % token.count
        let number = alphabet.firstIndex(of: token[index]) ?? 0
        changed[index] = alphabet[(number + 1) % alphabet.count]
        try require(!isAccepted(changed), "a token with another character at \(index) is refused")
        try require(!isAccepted(Array(token.dropLast())), "a token that is cut off is refused")
        try require(!isAccepted(token + [token[index]]), "a token with more at its end is refused")
    }

    private func isAccepted(_ token: [UInt8]) -> Bool {
        switch issuers.outcome(of: token) {
        case .success: true
        case .failure: false
        }
    }

    private func checkOrigin(of token: [UInt8]) throws {
        if SealedToken.looksSealed(token) {
            let contents = try SealedToken(parsing: token).open(with: issuers.sealingKey)
            try require(genuine.contains(contents.fields().revealed()), "this target has sealed the token")
        } else {
            try require(genuine.contains(Self.signedPart(token)), "this target has signed the token")
        }
    }

    private func checkSigner(of token: [UInt8]) throws {
        let outcome = issuers.outcome(of: try issuers.signedByStranger(token))
        try require(outcome == .failure(.signatureInvalid), "a token of another key is refused for its signature")
    }

    /// Checks that the header names the algorithm of its key, and contains no key itself. A header without `kid` may
    /// mean the only key for its algorithm.
    private func checkHeader(_ header: [UInt8], signedBy signer: FixedIssuers.Signer) throws {
        let object = try require(try JSONReader.parse(header).object, "a header is an object")
        let named = object["kid"]?.string.flatMap { FixedIssuers.Signer(rawValue: $0) }
        let algorithm = try require(object["alg"]?.string, "a header has an algorithm")
        try require(algorithm == (named ?? signer).algorithm.rawValue, "the algorithm is that of the key")
        for name in ["crit", "jku", "jwk", "x5u", "x5c"] { try require(object[name] == nil, "\(name) is refused") }
    }

    /// Checks that a session token and its successor say the same, except for times that are not whole seconds.
    private func checkRenewal(_ claims: Claims) throws {
        let grant = try require(claims.renewal, "a session token renews something")
        let written = Self.sessionPayload(claims, grant)
        let token = try issuers.sessionToken(written)
        guard token.count <= Token.sizeMaximum else { return }
        switch issuers.outcome(of: token) {
        case .failure(let error): throw PropertyViolation(description: "what was read can be written: \(error)")
        case .success(let again):
            try require(again.renewal == grant, "a renewed session has the same grant")
            try require(Self.sessionPayload(again, grant) == written, "a rewritten payload is the same")
        }
    }

    private static func sessionPayload(_ claims: Claims, _ grant: SessionGrant) -> [UInt8] {
        claims.sessionPayload(
            grant, right: claims.rights[0], issuedAt: claims.issuedAt ?? FixedIssuers.now,
            expiresAt: claims.expiresAt)
    }

    /// Checks that each value has only one encoding.
    private func checkFields(of token: [UInt8], _ fields: [UInt8]) throws {
        let contents = try SealedToken(parsing: token).open(with: issuers.sealingKey)
        try require(contents.fields().revealed() == fields, "fields are written as they were read")
    }

    private static func signedPart(_ token: [UInt8]) -> [UInt8] {
        Array(token[..<(token.lastIndex(of: UInt8(ascii: ".")) ?? token.endIndex)])
    }

    // MARK: - Inputs

    func seeds() throws -> [[UInt8]] {
        var seeds = try samples.compact().map { [0, 0, 0, 9] + $0 }
        for fields in samples.sealedFields {
            seeds.append([0, 0, 1, 9] + (try issuers.sealedToken(fields)))
            seeds.append([4, 0, 1, 9] + fields)
        }
        for (index, signer) in FixedIssuers.Signer.allCases.enumerated() {
            seeds.append([1, UInt8(index), 0, 9] + samples.payload(for: signer))
        }
        seeds += SeedTokens.headers.map { [2, 0, 0, 9] + Array($0.utf8) }
        seeds += samples.sessionPayloads.map { [3, 0, 0, 9] + $0 }
        return seeds
    }

    /// Changes values of payloads and headers, fields of sealed tokens, and characters of whole tokens. Seldom changes
    /// the plan.
    func mutate(_ input: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        guard input.count > Self.planSize, let kind = Kind(rawValue: input[0] % UInt8(Kind.allCases.count)) else {
            return ByteMutation.mutate(input, using: &generator)
        }
        var plan = Array(input.prefix(Self.planSize))
        let body = Array(input.dropFirst(Self.planSize))
        let planIndex = Int.random(in: 0..<32, using: &generator)
        if plan.indices.contains(planIndex) { plan[planIndex] = UInt8.random(in: .min ... .max, using: &generator) }
        let changed =
            switch kind {
            case .sent: ByteMutation.mutate(body, using: &generator)
            case .payload, .header, .session: Self.mutation.mutate(body, using: &generator)
            case .sealed: SealedFieldMutation.mutate(body, using: &generator)
            }
        return plan + changed
    }

    private static let mutation = JSONMutation(
        values: JSONMutation.oddValues + SeedTokens.values
            + [-1, 0, 1, 5, 6].map { String(FixedIssuers.now + $0) })
}

/// Changes of the fields of a sealed token that keep their form: tag (1 byte), size (1 byte), value.
enum SealedFieldMutation {
    static func mutate(_ fields: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var parts = split(fields)
        guard let index = parts.indices.randomElement(using: &generator),
            Int.random(in: 0..<8, using: &generator) > 0
        else { return ByteMutation.mutate(fields, using: &generator) }
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: parts.remove(at: index)
        case 1: parts.insert(parts[index], at: index)
        case 2: parts.swapAt(index, Int.random(in: parts.indices, using: &generator))
        case 3: parts[index] = field(UInt8.random(in: 0...21, using: &generator), Array(parts[index].dropFirst(2)))
        case 4: parts[index] = field(parts[index][0], number(using: &generator))
        default:
            let value = ByteMutation.mutate(Array(parts[index].dropFirst(2)), using: &generator)
            parts[index] = field(parts[index][0], value)
        }
        return parts.flatMap { $0 }
    }

    /// Splits the fields by their sizes. Remaining bytes are dropped.
    private static func split(_ fields: [UInt8]) -> [[UInt8]] {
        var parts: [[UInt8]] = []
        var rest = fields[...]
        while rest.count >= 2 {
            let size = 2 + Int(rest[rest.startIndex + 1])
            guard size <= rest.count else { break }
            parts.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return parts
    }

    private static func field(_ tag: UInt8, _ value: [UInt8]) -> [UInt8] {
        let value = value.prefix(255)
        return [tag, UInt8(value.count)] + value
    }

    private static func number(using generator: inout SeededGenerator) -> [UInt8] {
        let number = UInt64.random(in: .min ... .max, using: &generator) >> UInt64.random(in: 0..<64, using: &generator)
        return Array(bigEndianBytes(number).drop { $0 == 0 })
    }
}

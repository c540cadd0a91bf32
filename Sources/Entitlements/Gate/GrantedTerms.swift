package import ByteCoding
import POSIXSockets

/// The first license of a repeated request, as far as it bounds the repetition.
package struct FirstLicense: Equatable, Sendable {
    /// When the license was decided, in seconds since 1970.
    package let decidedAt: Int64
    /// The end that its right had, in seconds since 1970; nil if it had none.
    package let rightEnd: Int64?

    package init(decidedAt: Int64, rightEnd: Int64?) {
        self.decidedAt = decidedAt
        self.rightEnd = rightEnd
    }
}

extension Right {
    /// Returns the right with what remains of each time `now`, if the time has run since the first license of the same
    /// request. So a repetition does not last longer than its first license.
    func remaining(of first: FirstLicense, now: Int64) -> Right {
        let age = max(0, now - first.decidedAt)
        func rest(_ seconds: Int64?) -> Int64? { seconds.map { max(1, $0 - age) } }
        var right = self
        right.duration = rest(duration)
        right.lease = rest(lease)
        right.life = rest(life)
        right.storage = rest(storage)
        // Another end may be earlier. A right without an end never repeats one that had an end.
        right.end = LimitSeconds.least(end, first.rightEnd)
        return right
    }
}

extension Authorization {
    /// For how many seconds the license can be repeated, at least 1: until its first time limit is over; nil if no time
    /// runs.
    package var secondsToRepeat: Int64? {
        let least = LimitSeconds.least(tightened.duration, tightened.lease, tightened.life)
        guard case .offline = limits else { return least }
        return LimitSeconds.least(least, tightened.storage)
    }

    /// When the right ends, in seconds since 1970; nil if it has no end.
    package var rightEnd: Int64? { tightened.end }

    /// Writes what is granted: the use of the key, the times, outputs, protection and limits of the right after the
    /// policy has tightened it, the networks and countries, and the session that is renewed. Two requests with the same
    /// bytes are granted the same.
    ///
    /// The token's id is left out, and what is counted under it: its uses, and the device that it is bound to. Absolute
    /// ends are left out too, because tokens that are minted for each attempt may end "four hours from now", and so is
    /// what is remembered of a rental, because the first license changes it.
    package func writeGrant(to writer: inout ByteWriter) {
        writer.write(content.keyID.words)
        if case .offline = limits { writer.write(UInt8(1)) } else { writer.write(UInt8(0)) }
        writer.write(session: renewedSession)
        writer.write(word: tightened.mode.rawValue)
        for seconds in [tightened.duration, tightened.lease, tightened.life, tightened.storage, tightened.playback] {
            writer.write(number: seconds)
        }
        writer.write(number: tightened.rental?.start)
        writer.write(number: tightened.rental?.play)
        writer.write(flag: tightened.rental?.finish)
        writer.write(word: protection.hdcp?.rawValue)
        writer.write(word: protection.securityLevel?.rawValue)
        writer.write(flag: tightened.outputs.airPlay)
        writer.write(flag: tightened.outputs.avAdapter)
        writer.write(words: useLimits.networks.map(\.description))
        writer.write(words: useLimits.countries.map(\.text))
        writer.write(number: obligations.deviceMaximum.map { Int64($0) })
        writer.write(flag: obligations.replacesOldestDevice)
        writer.write(UInt32(obligations.sessions.count))
        for session in obligations.sessions {
            writer.write(word: session.mode.rawValue)
            writer.write(number: session.grace)
            writer.write(UInt32(session.groups.count))
            for group in session.groups {
                writer.write(word: group.id)
                writer.write(number: Int64(group.maximum))
            }
        }
    }
}

extension ByteWriter {
    fileprivate mutating func write(number: Int64?) {
        write(UInt8(number == nil ? 0 : 1))
        if let number { write(UInt64(bitPattern: number)) }
    }

    fileprivate mutating func write(flag: Bool?) {
        write(flag.map { UInt8($0 ? 2 : 1) } ?? 0)
    }

    /// Writes the size of the text before it. With the counts of lists, no two grants have the same bytes.
    fileprivate mutating func write(word: String?) {
        write(UInt8(word == nil ? 0 : 1))
        guard let word else { return }
        write(UInt32(word.utf8.count))
        write(utf8Of: word)
    }

    fileprivate mutating func write(words: [String]) {
        write(UInt32(words.count))
        for word in words { write(word: word) }
    }

    fileprivate mutating func write(session: Bytes16?) {
        write(UInt8(session == nil ? 0 : 1))
        if let session { write(session) }
    }
}

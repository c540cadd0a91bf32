package import ByteCoding
package import Records

/// One of a subject's devices, playbacks or rentals.
package enum AccountItem: Equatable, Sendable {
    case device(KnownDevice)
    case playback(KnownPlayback)
    case rental(KnownRental)

    /// The item's name in a list, after which the next page starts.
    var position: String {
        switch self {
        case .device(let known): known.device.shown
        case .playback(let known): known.position.shown
        case .rental(let known): known.name.shown
        }
    }

    /// Writes its members for programs; unknown values are null. Times are texts in UTC.
    package func write(to writer: inout JSONWriter) {
        switch self {
        case .device(let known):
            writer.member("device", known.device.shown)
            writer.member("addedAt", Revocation.time(known.addedAt))
            writer.member("seenAt", Revocation.time(known.seenAt))
            writer.member("keptUntil", known.keptUntil.map(Revocation.time))
        case .playback(let known):
            writer.member("playback", known.position.shown)
            writer.member("group", known.groupName)
            writer.member("device", known.device.shown)
            writer.member("session", known.session.map { Hexadecimal.encode(Bytes16(high: 0, low: $0).bytes[8...]) })
            writer.member("content", known.content)
            writer.member("playing", known.isConfirmed)
            writer.member("counted", known.isCounted)
            writer.member("heldUntil", Revocation.time(known.heldUntil))
        case .rental(let known):
            writer.member("content", known.content)
            writer.member("openedAt", Revocation.time(known.record.openedAt))
            writer.member("firstPlay", known.record.firstPlay.map(Revocation.time))
            writer.member("keptUntil", Revocation.time(known.keptUntil))
        }
    }

    /// One line for a person.
    package var text: String {
        let line =
            switch self {
            case .device(let known):
                "\(known.device.shown)  added \(Revocation.time(known.addedAt))"
                    + "  last license \(Revocation.time(known.seenAt))"
                    + "  kept until \(known.keptUntil.map(Revocation.time) ?? "removed")"
            case .playback(let known):
                "\(known.position.shown)  \(known.groupName)  \(known.content ?? "content not known")  "
                    + "\(known.isConfirmed ? "playing" : "ready")\(known.isCounted ? "" : ", not counted")"
                    + "  until \(Revocation.time(known.heldUntil))  on \(known.device.shown)"
            case .rental(let known):
                "\(known.content)  opened \(Revocation.time(known.record.openedAt))  "
                    + (known.record.firstPlay.map { "first play \(Revocation.time($0))" } ?? "not played yet")
                    + "  kept until \(Revocation.time(known.keptUntil))"
            }
        // Clients and issuers choose some of these texts.
        return VisibleText.shown(line)
    }
}

/// A page of a subject's devices, playbacks or rentals.
package struct AccountPage: Equatable, Sendable {
    package let items: [AccountItem]
    /// The position of the next page; nil if this is the last one.
    package let next: String?

    package init(items: [AccountItem], next: String?) {
        self.items = items
        self.next = next
    }

    package func write(_ kind: AccountKind, to writer: inout JSONWriter) {
        writer.objects(kind.rawValue, items) { $1.write(to: &$0) }
        writer.member("next", next)
    }
}

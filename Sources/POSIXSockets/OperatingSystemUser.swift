import Glibc

/// Who runs this process.
package enum OperatingSystemUser {
    /// The size of the buffer for a record of the user database, in bytes.
    private static let recordSizeMaximum = 16_384

    /// The name of the process's real user; its number if the system has no name for it.
    package static var name: String {
        let user = getuid()
        return name(of: user) ?? String(user)
    }

    /// The user as a ledger names an actor.
    package static var actor: String { "user:" + name }

    /// Nil for a number that the system has no name for.
    static func name(of user: uid_t) -> String? {
        var record = unsafe passwd()
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: recordSizeMaximum) { buffer -> String? in
            guard let start = buffer.baseAddress else { return nil }
            var found: UnsafeMutablePointer<passwd>?
            // The record's texts lie in `buffer`, and are copied before it ends.
            guard unsafe getpwuid_r(user, &record, start, buffer.count, &found) == 0,
                let entry = unsafe found, let name = unsafe entry.pointee.pw_name
            else { return nil }
            return unsafe String(cString: name)
        }
    }
}

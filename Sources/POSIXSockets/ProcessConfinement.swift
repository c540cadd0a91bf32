import CLinux
import Glibc

/// What a process keeps that is about to load foreign code. All that `apply` gives up is gone for good.
package struct ProcessConfinement: Equatable, Sendable {
    /// How many threads more a user may have than it has when a process of its is confined.
    static let threadsMaximum = 64

    /// The user to become; only a process of root can. Nil leaves the user as it is.
    package var user: SystemUser?
    /// The address space in bytes, shared libraries included.
    package var memoryMaximum: UInt64
    /// The highest number of open descriptors.
    package var descriptorMaximum: UInt64

    package init(user: SystemUser?, memoryMaximum: UInt64, descriptorMaximum: UInt64) {
        self.user = user
        self.memoryMaximum = memoryMaximum
        self.descriptorMaximum = descriptorMaximum
    }

    /// Confines the calling process, which must have a single thread.
    ///
    /// The process ends with the thread that started it. The environment and the working folder are gone, and the
    /// capabilities, root's too. It can get no new privileges, leaves no core file, cannot be traced by its own user,
    /// and can write no byte to a file. What the filter of system calls refuses stands in CLinux: sockets, programs,
    /// processes, changes of files and of the system. Throws `failed` with the step that failed; the process must end
    /// then. Of files it can read `library`, shared libraries beside it, and those of the system, if the kernel has
    /// Landlock. The threads of its user are limited to 64 more than there are, unless that is root, for whom the
    /// kernel has no such limit.
    package func apply(library: String) throws(SocketError) {
        // Seen before the process loses its sight of others.
        let taskMaximum = UserTasks.count(of: user?.userID ?? getuid()) + Self.threadsMaximum
        _ = clearenv()
        // Safe: a literal path.
        try unsafe check(.changeFolder, chdir("/"))
        if let user { try check(.becomeUser, latchkey_become_user(user.userID, user.groupID)) }
        try check(.dropCapabilities, latchkey_drop_capabilities())
        // After the change of user, which takes both back.
        try check(.processControl, latchkey_die_with_parent())
        try check(.processControl, latchkey_forbid_dumps())
        try check(.processControl, latchkey_forbid_new_privileges())
        try check(.limit, latchkey_limit_cores(0))
        try check(.limit, latchkey_limit_files(0))
        try FileConfinement.apply(library: library)
        try check(.limit, latchkey_limit_tasks(UInt64(taskMaximum)))
        try check(.limit, latchkey_limit_descriptors(descriptorMaximum))
        try check(.limit, latchkey_limit_memory(memoryMaximum))
        try check(.filter, latchkey_filter_system_calls())
    }

    private func check(_ call: SystemCall, _ result: Int32) throws(SocketError) {
        guard result == 0 else { throw .failed(call, errno: errno) }
    }
}

/// A user and a group of this machine, by number.
package struct SystemUser: Equatable, Sendable {
    package let userID: UInt32
    package let groupID: UInt32

    package init(userID: UInt32, groupID: UInt32) {
        self.userID = userID
        self.groupID = groupID
    }

    /// Looks a user up by name, with the user's own group; nil if there is no such user.
    package init?(named name: String) {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var texts = [CChar](repeating: 0, count: 16 * 1024)
        // Safe: the entry and its texts are local, and the numbers are copied out of them.
        guard unsafe getpwnam_r(name, &entry, &texts, texts.count, &found) == 0, unsafe found != nil else { return nil }
        self.init(userID: unsafe entry.pw_uid, groupID: unsafe entry.pw_gid)
    }
}

/// A group of the operating system.
package struct UserGroup: Equatable, Sendable {
    package let number: UInt32

    /// Looks a group up by name; nil if there is no such group.
    package init?(named name: String) {
        var entry = unsafe group()
        var found: UnsafeMutablePointer<group>?
        // Room for the names of many members.
        var texts = [CChar](repeating: 0, count: 256 * 1024)
        // Safe: the entry and its texts are local, and the number is copied out of them.
        guard unsafe getgrnam_r(name, &entry, &texts, texts.count, &found) == 0, unsafe found != nil else { return nil }
        number = unsafe entry.gr_gid
    }
}

/// What this process asks the kernel to protect it from.
package enum ProcessProtection {
    /// No core file is written, and no process of the same user may trace this one or read its memory
    /// (`PR_SET_DUMPABLE` 0).
    ///
    /// If an administrator forces a core all the same, it holds no memory: OpenSSL's contexts keep keys outside of
    /// the secure heap too.
    package static func forbidDumpsAndTracing() throws(SocketError) {
        // First, because afterwards the file belongs to root.
        leaveMemoryOutOfCores()
        guard latchkey_forbid_dumps() == 0 else { throw .failed(.processControl, errno: errno) }
    }

    /// No kind of mapping goes into a core (core(5)). Best effort: some kernels are built without cores, and have no
    /// such file.
    private static func leaveMemoryOutOfCores() {
        let descriptor = unsafe open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        // One digit, which lives until the call returns.
        _ = unsafe write(descriptor, "0", 1)
        close(descriptor)
    }
}

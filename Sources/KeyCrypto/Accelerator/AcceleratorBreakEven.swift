/// How many RSA jobs OpenSSL computes in the time that an accelerator takes for a batch.
///
/// A batch costs the same with one job as with eight. So up to so many jobs cost less with OpenSSL. The number depends
/// on the processor: a batch with 2048 bits took the time of two jobs on one, and of four on another.
package struct AcceleratorBreakEven: Equatable, Sendable {
    /// With a modulus of 1024 bits.
    package let jobs1024: Int
    /// With a modulus of 2048 bits.
    package let jobs2048: Int

    /// The most jobs that go to OpenSSL. `modulusSize` is in bytes.
    func openSSLMaximum(modulusSize: Int) -> Int { modulusSize == 128 ? jobs1024 : jobs2048 }

    /// The number of jobs from the times of one job and of one batch. A full batch always goes to the accelerator, and
    /// a single job never does.
    static func jobs(inTimeOf batch: Duration, each job: Duration) -> Int {
        guard batch > .zero, job > .zero else { return 1 }
        return max(1, min(AcceleratorLibrary.laneCount - 1, Int(batch / job)))
    }
}

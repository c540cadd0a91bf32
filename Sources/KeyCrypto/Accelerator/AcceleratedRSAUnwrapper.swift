/// The backend with an accelerator: up to eight operations of one key size run side by side.
///
/// A full batch costs hardly more than a single operation, so a batch of few lanes goes to OpenSSL instead
/// (`AcceleratorBreakEven`). OpenSSL also settles the jobs whose results are wrong, those of keys that the accelerator
/// cannot use, and everything after the accelerator was given up.
package final class AcceleratedRSAUnwrapper: RSAUnwrapper {
    private let accelerator: CryptoAccelerator
    /// Nil if OpenSSL could not prepare them.
    private let lanes: RSALanes?
    private let openSSL: OpenSSLRSAUnwrapper
    private let count: RSAOperationCount

    package init(_ accelerator: CryptoAccelerator, counting count: RSAOperationCount) {
        self.accelerator = accelerator
        self.count = count
        lanes = RSALanes(accelerator.library)
        openSSL = OpenSSLRSAUnwrapper(counting: count)
    }

    package var groupSize: Int { isAccelerating ? AcceleratorLibrary.laneCount : openSSL.groupSize }
    package var loneGroupMaximum: Int { isAccelerating ? 1 : openSSL.loneGroupMaximum }

    private var isAccelerating: Bool { lanes != nil && accelerator.isServing }

    /// A batch of the loop has up to eight jobs of each size, so that jobs of several sizes do not halve the batches of
    /// the accelerator.
    package func hasRoom(for job: RSAUnwrapJob, after batch: [RSAUnwrapJob]) -> Bool {
        guard isAccelerating else { return openSSL.hasRoom(for: job, after: batch) }
        let isSupported = RSAPrivateNumbers.sizes.contains(job.modulusSize)
        return batch.count { $0.modulusSize == job.modulusSize } < (isSupported ? groupSize : openSSL.groupSize)
    }

    package func unwrap(_ batch: [RSAUnwrapJob]) {
        var rest = batch
        for size in RSAPrivateNumbers.sizes {
            let openSSLMaximum = accelerator.breakEven.openSSLMaximum(modulusSize: size)
            let jobs = rest.filter { $0.modulusSize == size && $0.canBeAccelerated }
            for start in stride(from: 0, to: jobs.count, by: AcceleratorLibrary.laneCount) {
                let group = jobs[start..<min(start + AcceleratorLibrary.laneCount, jobs.count)]
                guard let lanes, accelerator.isServing, group.count > openSSLMaximum else { continue }
                accelerate(group, size: size, in: lanes)
                rest.removeAll { job in group.contains { $0 === job } }
            }
        }
        if !rest.isEmpty { openSSL.unwrap(rest) }
    }

    private func accelerate(_ jobs: ArraySlice<RSAUnwrapJob>, size: Int, in lanes: RSALanes) {
        let group = jobs.compactMap { job -> RSALanes.Lane? in
            guard let input = job.takeInput(), let numbers = input.key.acceleratedNumbers else { return nil }
            return RSALanes.Lane(job: job, input: input, numbers: numbers)
        }
        guard !group.isEmpty else { return }
        count.addAcceleratedBatch(of: group.count)
        let wrong = lanes.settle(group, size: size)
        guard !wrong.isEmpty else { return }
        count.addBatch(of: wrong.count)
        for lane in wrong {
            accelerator.noteWrongResult(of: .rsa(bits: size * 8))
            openSSL.settle(lane.job, lane.input)
        }
    }
}

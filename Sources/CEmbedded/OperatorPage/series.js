// The plots of the view Now, in their order. Config/grafana-dashboard.json has panels of the same names.

/**
 * A series has a name in /v1/history, a label and a tone. A plot shows those of its series that the daemon has. With
 * `stack` each area stands on those before it, so that the top is their sum. With `log` equal distances are equal
 * ratios. The plots with `isFirst` are what viewers notice; the others are the inner workings.
 *
 * Tones mean something: the versions are one family, refusals that clients cause are muted, a fault of the server is
 * red.
 */
export const PLOTS = [
  {
    id: "licenses",
    isFirst: true,
    title: "Licenses",
    unit: "per_second",
    unitText: "a second",
    stack: true,
    series: [
      ["licenses_v1", "version 1", "v1"],
      ["licenses_v2", "version 2", "v2"],
      ["licenses_v3", "version 3", "v3"],
    ],
  },
  {
    id: "refusals",
    isFirst: true,
    title: "Refusals by reason",
    unit: "per_second",
    unitText: "a second",
    stack: true,
    series: [
      ["refusals_token", "token", "r1"],
      ["refusals_rights", "right", "r2"],
      ["refusals_spc", "SPC", "r3"],
      ["refusals_key", "key", "r4"],
      ["refusals_unproven", "unknown token", "r5"],
      ["refusals_anonymous", "no token or SPC", "r6"],
      ["refusals_overload", "load or rate limit", "busy"],
      ["refusals_fault", "server fault", "fault"],
      ["refusals_other", "other", "r7"],
    ],
  },
  {
    id: "latency",
    isFirst: true,
    title: "Time to a license",
    unit: "seconds",
    log: true,
    series: [
      ["latency_p50", "half within", "v3"],
      ["latency_p99", "99 % within", "v1"],
    ],
  },
  {
    id: "load",
    title: "RSA and loop load",
    unit: "share",
    series: [
      ["rsa_busy", "RSA, of the loops' time", 2],
      ["processors", "all work, of one processor", 1],
    ],
  },
  {
    id: "loops",
    title: "Turns of the loops",
    unit: "seconds",
    series: [
      ["loop_lag", "worst lag", 3],
      ["loop_longest_turn", "longest turn", 1],
    ],
  },
  {
    id: "connections",
    title: "Connections",
    unit: "count",
    series: [
      ["connections", "connections", 1],
      ["requests_in_flight", "requests in flight", 2],
    ],
  },
  {
    id: "memory",
    title: "Charged memory",
    unit: "bytes",
    series: [
      ["memory_charged", "charged", 1],
      ["memory_resident", "resident", 7],
    ],
  },
  {
    id: "http",
    title: "HTTP requests",
    unit: "per_second",
    unitText: "a second",
    stack: true,
    series: [
      ["http_2xx", "2xx", "v2"],
      ["http_3xx", "3xx", "r3"],
      ["http_4xx", "4xx", "r1"],
      ["http_5xx", "5xx", "fault"],
    ],
  },
  {
    id: "ledger",
    title: "Ledger rows that wait",
    unit: "count",
    series: [
      ["ledger_waiting", "for the disk", 1],
      ["ledger_lag", "for the copy", 2],
    ],
  },
];

// The plots of the view Now, in their order. Config/grafana-dashboard.json has panels of the same names.

/**
 * A series has a name in /v1/history, a label and a tone. A plot shows those of its series that the daemon has. With
 * `stack` each area stands on those before it, so that the top is their sum.
 */
export const PLOTS = [
  {
    id: "licenses",
    title: "Licences",
    unit: "per_second",
    unitText: "a second",
    stack: true,
    series: [
      ["licenses_v1", "version 1", 1],
      ["licenses_v2", "version 2", 2],
      ["licenses_v3", "version 3", 3],
    ],
  },
  {
    id: "refusals",
    title: "Refusals by reason",
    unit: "per_second",
    unitText: "a second",
    stack: true,
    series: [
      ["refusals_token", "token", 1],
      ["refusals_rights", "right", 2],
      ["refusals_spc", "SPC", 3],
      ["refusals_key", "key", 6],
      ["refusals_overload", "rate or overload", 5],
      ["refusals_fault", "server fault", 4],
      ["refusals_other", "other", 7],
    ],
  },
  {
    id: "latency",
    title: "Time to a licence",
    unit: "seconds",
    series: [
      ["latency_p50", "half within", 1],
      ["latency_p99", "99 % within", 4],
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
      ["http_2xx", "2xx", 5],
      ["http_3xx", "3xx", 7],
      ["http_4xx", "4xx", 2],
      ["http_5xx", "5xx", 4],
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

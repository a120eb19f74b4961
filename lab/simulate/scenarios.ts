/** Faults in the middle of an hour, at a multiple of the load that docs/guides/sizing.md reckons with. */
import type { Fault, Scenario } from './simulation.ts';

/** 357 requests a second, of which 27 write. */
const base = { perSecond: 357, writes: 27 / 357, jobs: 1 };
const seconds = 3_600;
const atSecond = 600;

const faults: Readonly<Record<string, readonly Fault[]>> = {
  nothing: [],
  'PostgreSQL fails over in 10 s': [{ kind: 'database', atSecond, seconds: 10 }],
  'PostgreSQL is away for 60 s': [{ kind: 'database', atSecond, seconds: 60 }],
  'one of three NATS servers hangs: 5 s until all have left it, 9 s until its streams have a leader': [
    // Caller and service are each connected to it in a third of cases.
    { kind: 'broker', atSecond, seconds: 5, share: 5 / 9 },
    { kind: 'leader', atSecond, seconds: 9 },
  ],
  'NATS is away for 60 s': [{ kind: 'broker', atSecond, seconds: 60 }],
  'a zone of three is lost for 5 min': [{ kind: 'pods', atSecond, seconds: 300, share: 1 / 3 }],
  'a zone is lost, PostgreSQL with it': [
    { kind: 'pods', atSecond, seconds: 300, share: 1 / 3 },
    { kind: 'database', atSecond, seconds: 10 },
  ],
};

/** By what happens. @param busy share of their time for which parts work without a fault */
export function describeScenarios(factor: number, busy: number): Record<string, Scenario> {
  const load = { ...base, perSecond: base.perSecond * factor };
  const jobs = load.perSecond * load.writes * load.jobs;
  const capacity = { requests: load.perSecond / busy, jobs: jobs / busy, messages: jobs / busy };
  return Object.fromEntries(
    Object.entries(faults).map(([title, those]) => [title, { seconds, load, capacity, faults: those, deadline: 10, lease: 30 }]),
  );
}

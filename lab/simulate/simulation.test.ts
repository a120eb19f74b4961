import { describe, expect, it } from '@jest/globals';
import { describeScenarios } from './scenarios.ts';
import { type Fault, type Scenario, simulate } from './simulation.ts';

const calm: Scenario = {
  seconds: 300,
  load: { perSecond: 1_000, writes: 0.1, jobs: 1 },
  capacity: { requests: 2_000, jobs: 200, messages: 1_000 },
  faults: [],
  deadline: 10,
  lease: 30,
};
const withFault = (...faults: Fault[]): Scenario => ({ ...calm, faults });
const away = (kind: Fault['kind'], seconds: number, share?: number): Fault => ({
  kind,
  atSecond: 60,
  seconds,
  ...(share === undefined ? {} : { share }),
});

describe('a simulated installation', () => {
  it('answers everything when nothing happens, and what comes by chance comes at the rate that was asked for', () => {
    const { asked, answered, refused, waiting, jobsMade, jobsDone, unavailableSeconds } = simulate(calm, 1);
    expect([refused, unavailableSeconds]).toEqual([0, 0]);
    expect(answered + waiting).toBe(asked);
    expect(asked / 300_000).toBeCloseTo(1, 1);
    expect(jobsMade / asked).toBeCloseTo(0.1, 2);
    expect(jobsMade - jobsDone).toBeLessThan(200);
  });

  it('is the same for a seed, and another for another', () => {
    const scenario = withFault(away('database', 15));
    expect(simulate(scenario, 7)).toEqual(simulate(scenario, 7));
    expect(simulate(scenario, 8)).not.toEqual(simulate(scenario, 7));
  });

  it.each(Object.entries(describeScenarios(1, 0.5)))('loses nothing and does nothing twice: %s', (_title, scenario) => {
    for (const seed of [1, 2, 3]) {
      const { asked, answered, refused, waiting, jobsMade, jobsDone, jobsWaiting } = simulate(scenario, seed);
      expect(answered + refused + waiting).toBe(asked);
      expect(jobsDone + jobsWaiting).toBe(jobsMade);
      expect(jobsDone).toBeLessThanOrEqual(jobsMade);
    }
  });

  it('lets requests wait while PostgreSQL is away, and refuses those whose time is over', () => {
    expect(simulate(withFault(away('database', 8)), 1)).toMatchObject({ refused: 0, unavailableSeconds: 0 });
    const longer = simulate(withFault(away('database', 20)), 1);
    // Those of the first half of the fault, whose ten seconds end within it; what waits then is worked off at twice the rate.
    expect(longer.refused / 1_000).toBeGreaterThan(9);
    expect(longer.refused / 1_000).toBeLessThan(21);
    expect(longer.longestWaitMs).toBeGreaterThan(8_000);
    expect(longer.longestWaitMs).toBeLessThanOrEqual(10_000);
  });

  it('refuses at once whatever comes while NATS is away, and has no job more afterwards', () => {
    const { asked, refused, unavailableSeconds, longestWaitMs, mostJobs, recoveredAfterSeconds } = simulate(
      withFault(away('broker', 60)),
      1,
    );
    expect(refused / 60_000).toBeCloseTo(1, 1);
    expect(refused).toBeLessThan(asked / 4);
    expect(unavailableSeconds).toBe(60);
    expect(longestWaitMs).toBe(0);
    expect(mostJobs).toBeLessThan(200);
    expect(recoveredAfterSeconds).toBeLessThan(1);
  });

  it('refuses those that wait for PostgreSQL when NATS goes too', () => {
    const { refused } = simulate(withFault({ kind: 'database', atSecond: 55, seconds: 8 }, away('broker', 1)), 1);
    expect(refused / 6_000).toBeCloseTo(1, 1);
  });

  it('refuses those alone whose way a lost NATS server was', () => {
    const { refused, unavailableSeconds, recoveredAfterSeconds } = simulate(withFault(away('broker', 5, 5 / 9)), 1);
    expect(refused / 5_000).toBeCloseTo(5 / 9, 1);
    expect(unavailableSeconds).toBe(5);
    expect(recoveredAfterSeconds).toBeLessThan(1);
  });

  it('refuses nobody while the streams have no leader: jobs wait, and are worked off at what is free of the workers', () => {
    const { refused, mostJobs, recoveredAfterSeconds } = simulate(withFault(away('leader', 60)), 1);
    expect(refused).toBe(0);
    expect(mostJobs / 6_000).toBeCloseTo(1, 1);
    // 6,000 jobs wait, 200 a second are done while 100 come: at the usual 200 after (6,000 − 200) / 100 s.
    expect(recoveredAfterSeconds).toBeGreaterThan(50);
    expect(recoveredAfterSeconds).toBeLessThan(66);
  });

  it('goes on with two of three zones when parts are busy for half of their time, and not when they are for all of it', () => {
    expect(simulate(withFault(away('pods', 120, 1 / 3)), 1)).toMatchObject({ refused: 0 });
    const full = { ...calm, seconds: 900, capacity: { ...calm.capacity, requests: 1_050 }, faults: [away('pods', 120, 1 / 3)] };
    const { refused, recoveredAfterSeconds } = simulate(full, 1);
    expect(refused).toBeGreaterThan(10_000);
    expect(recoveredAfterSeconds).toBeGreaterThan(30);
  });

  it('plays an hour at a hundred times the load', () => {
    const { 'PostgreSQL fails over in 10 s': scenario } = describeScenarios(100, 0.5);
    if (scenario === undefined) throw new Error('the scenario is gone');
    expect(simulate(scenario, 1).asked).toBeGreaterThan(100_000_000);
  });
});

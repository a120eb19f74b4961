import { describe, expect, it } from '@jest/globals';
import { composeOverview } from './index.ts';

const process = { version: '1.2.3', uptime_seconds: 5, ready: true, checks: [{ name: 'nats', problem: null }] };

/** Format of returned instants (rules/http#datetimes-out); whole seconds have no fraction. */
const outgoingInstant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{6})?Z$/;

describe('composeOverview (P1)', () => {
  it('combines the reports of all services and marks services that do not respond', async () => {
    const overview = await composeOverview({
      services: ['api-gateway', 'media', 'agents', 'directory'],
      describe: async (name) => {
        if (name === 'agents') throw new Error('no answer');
        if (name === 'api-gateway') return process;
        const failedCheck = { name: 'postgresql', problem: 'no connection to postgresql://media:p4ss@db/x' };
        const jobs = [{ type: `${name}.work`, state: 'dead' as const, count: 2, oldest_at: null }];
        const consumers = [{ stream: 'JOBS', name: `${name}_work`, pending: 1, lag: 2 }];
        const more =
          name === 'directory'
            ? { failed_logins: 3 }
            : { webhooks: [{ kind: 'meeting', outcome: 'applied', last_hour: 1, last_day: 2 }] };
        return { ...process, ready: false, checks: [...process.checks, failedCheck], jobs, consumers, ...more };
      },
      streams: ['JOBS', 'EVENTS'],
      streamSize: async (name) => {
        if (name === 'EVENTS') throw new Error('broker not reachable');
        return { messages: 4, bytes: 5 };
      },
    });
    expect(overview.generated_at).toMatch(outgoingInstant);
    expect(overview.services).toEqual([
      { name: 'api-gateway', ready: true, version: '1.2.3', uptime_seconds: 5, missing: [] },
      { name: 'media', ready: false, version: '1.2.3', uptime_seconds: 5, missing: ['postgresql'] },
      { name: 'agents', ready: false, version: null, uptime_seconds: null, missing: ['agents'] },
      { name: 'directory', ready: false, version: '1.2.3', uptime_seconds: 5, missing: ['postgresql'] },
    ]);
    expect(overview.dependencies).toEqual([
      { name: 'nats', ready: true, detail: null },
      {
        name: 'postgresql',
        ready: false,
        detail: expect.stringMatching(/^media: no connection to postgresql:\/\/\[redacted\]@db\/x; directory: /),
      },
    ]);
    expect(overview.jobs.map(({ service, count }) => [service, count])).toEqual([
      ['media', 2],
      ['directory', 2],
    ]);
    expect([overview.webhooks.length, overview.logins]).toEqual([1, { failed_last_hour: 3 }]);
    expect(overview.streams).toEqual([
      {
        name: 'JOBS',
        messages: 4,
        bytes: 5,
        consumers: [
          { name: 'media_work', pending: 1, lag: 2 },
          { name: 'directory_work', pending: 1, lag: 2 },
        ],
      },
    ]);
  });
});

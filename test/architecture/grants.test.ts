import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import {
  type AuthClass,
  byOperators,
  type CallerKind,
  defineService,
  job,
  withoutActor,
  rpc,
  type ServiceContract,
  Type,
} from '#libs/infrastructure/contract';
import { pipelineJobs } from '#libs/product/pipeline';
import { routes } from '../../services/api-gateway/routes/index.ts';
import { contracts } from '../../libs/product/servers/service-contracts.ts';
import { compareGrants, findUses } from './grants.ts';
import { readSources, repoDir } from './sources.ts';

const gateway = 'api-gateway';

/**
 * Grants for pipeline jobs. The conversations service starts them by type through a registry, so `findUses` does not
 * find the use.
 */
const pipelineGrants = Object.fromEntries(
  contracts.flatMap(({ service, jobs }) =>
    Object.entries(jobs)
      .filter(([, { type }]) => [...pipelineJobs.values()].some(({ jobType }) => jobType === type))
      .map(([key]) => [`${service}.jobs.${key}`, ['conversations']]),
  ),
);

const kindsOf: Readonly<Record<AuthClass, readonly CallerKind[]>> = {
  none: ['none'],
  'login-gate': ['none'],
  'shared-or-user': ['shared', 'user'],
  shared: ['shared'],
  user: ['user'],
  coherence: ['user'],
  v1: ['user'],
  ops: ['user'],
  'ops-act': ['user'],
};

describe('permitted callers of operations (docs/adr/signed-actors.md)', () => {
  it('the declared callers are exactly the callers in the code', () => {
    const uses = findUses(readSources('services', 'cli', 'tools/demo'), contracts);
    expect(uses.size).toBeGreaterThan(80);
    expect(compareGrants(contracts, uses, pipelineGrants)).toEqual([]);
  });

  it('the declared callers are existing services', () => {
    const users = new Set([...readdirSync(join(repoDir, 'services')), 'cli']);
    const named = contracts.flatMap(({ rpcs, jobs, events }) => [
      ...Object.values(rpcs).flatMap(({ callers }) => Object.keys(callers)),
      ...Object.values(jobs).flatMap(({ startedBy }) => startedBy),
      ...Object.values(events).flatMap(({ subscribers }) => subscribers),
    ]);
    expect(named.filter((name) => !users.has(name))).toEqual([]);
  });

  it('the gateway calls operations only for the actor kinds of its routes', () => {
    const admitted = new Map<string, Set<CallerKind>>();
    for (const { rpc: called, auth, scope } of routes) {
      if (called === undefined) continue;
      const kinds = admitted.get(called.subject) ?? new Set();
      for (const kind of kindsOf[auth]) kinds.add(kind);
      if (typeof scope === 'string') kinds.add('user'); // a service key, which also admits calls without a user login (D30)
      admitted.set(called.subject, kinds);
    }
    const beside = findUses(
      readSources('services/api-gateway').filter(({ path }) => !path.includes('/routes/')),
      contracts,
    );
    for (const { service, rpcs } of contracts) {
      for (const [key, { subject, callers }] of Object.entries(rpcs)) {
        const kinds = admitted.get(subject);
        if (kinds === undefined) continue;
        const granted = callers[gateway] ?? [];
        // The gateway calls operations that it uses outside of routes on its own behalf.
        const own = beside.has(`${service}.rpcs.${key}`) ? withoutActor : [];
        expect([subject, [...granted].toSorted()]).toEqual([subject, [...new Set([...kinds, ...own])].toSorted()]);
      }
    }
  });

  it('every service passes its declared callers to the bus', () => {
    const compositions = readSources('services').filter(({ path }) => /^services\/[a-z-]+\/service\.ts$/.test(path));
    expect(compositions).toHaveLength(readdirSync(join(repoDir, 'services')).length);
    const composed = compositions.filter(({ text }) => /\bcreateServiceRuntime\(\{\s+contract\b/.test(text));
    const runtime = readSources('libs/infrastructure/service').filter(({ path }) => path.endsWith('index.ts'));
    const connecting = [...compositions.filter((file) => !composed.includes(file)), ...runtime];
    const withoutCaller = connecting
      .filter(({ text }) => !/\bcaller: /.test(text) || !/\bactors\b/.test(text))
      .map(({ path }) => path);
    expect(withoutCaller).toEqual([]);
  });

  describe('the check of callers', () => {
    const things: ServiceContract = defineService({
      service: 'things',
      rpcs: {
        get: rpc({
          subject: 'things.thing.get',
          callers: { other: withoutActor },
          summary: '',
          request: Type.Object({}),
          reply: Type.Object({}),
        }),
        drop: rpc({
          subject: 'admin.things.thing.drop',
          callers: byOperators,
          summary: '',
          request: Type.Object({}),
          reply: Type.Object({}),
        }),
      },
      jobs: { clean: job({ type: 'things.clean', startedBy: ['other'], summary: '', payload: Type.Object({}) }) },
      events: {},
    });
    const find = (path: string, text: string): string[] =>
      compareGrants([things], findUses([{ path, text }], [things]));
    const all = [
      'things.rpcs.get names other, which does not use it',
      'things.rpcs.drop names cli, which does not use it',
      'things.jobs.clean names other, which does not use it',
    ];

    it.each([
      ['services/other/a.ts', 'bus.call(things.rpcs.get, {})', all.slice(1)],
      ['services/other/a.ts', 'type Get = typeof things.rpcs.get; const r = things.rpcs.get.reply;', all],
      ['services/other/a.test.ts', 'bus.call(things.rpcs.get, {})', all],
      ['services/other/a.ts', 'jobs.enqueue(tx, things.jobs.clean, {})', all.slice(0, 2)],
      ['cli/a.ts', 'const { drop } = things.rpcs;', [all[0], all[2]]],
      [
        'services/third/a.ts',
        'bus.call(things.rpcs.drop, {})',
        [...all.slice(0, 2), 'third uses things.rpcs.drop, which does not name it', all[2]],
      ],
    ])('reports %s: %s', (path, text, problems) => {
      expect(find(path, text)).toEqual(problems);
    });
  });
});

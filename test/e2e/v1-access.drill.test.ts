/**
 * Read and write rights through `/api/v1/` (rules/access#access-model; D41, D48, D49): calls every operation of the
 * route table on a tree of public and private holons, as callers with every kind of authority. Requests and
 * expectations are generated (see access/). `npm test` sends a sample per caller, a release run sends all requests.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v1Routes } from '../../services/api-gateway/routes/v1/index.ts';
import { isRelease } from '../drill.ts';
import {
  type Caller,
  callerNames,
  callers,
  describeStage,
  edits,
  membershipKey,
  memberships,
  outsiders,
  relationshipKey,
  relationships,
  sees,
  slugs,
  stages,
} from './access/network.ts';
import { noteAbout, project, withoutItems } from './access/projection.ts';
import {
  holonReads,
  type IdOf,
  listReads,
  newPeople,
  nobodysId,
  nobodysSlug,
  type Read,
  sharedReads,
  toNowhere,
  type Write,
  writes,
  missingSetup,
  setupRequests,
} from './access/requests.ts';
import { type Answer, startTestPlatform, type TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
const ids: Record<string, Record<string, number>> = {};
const tokens = new Map<Caller, string>();
const idOf: IdOf = (list, key) => ids[list]?.[key] ?? nobodysId;
/** Responses to callers without access, from before the private objects existed: caller and path → response. */
const before = new Map<string, unknown>();
const walked = new Set<string>();

const get = (caller: Caller, path: string): Promise<Answer> =>
  platform.call('GET', `/api/v1${path}`, { token: tokens.get(caller) ?? '' });
function post(
  caller: Caller,
  { path, method = 'POST', headers, json, file }: Pick<Write, 'path' | 'method' | 'headers' | 'json' | 'file'>,
): Promise<Answer> {
  const body = new FormData();
  body.append('logo', new Blob([file ?? '']), 'logo.png');
  return platform.call(method, `/api/v1${path}`, {
    token: tokens.get(caller) ?? '',
    ...(headers === undefined ? {} : { headers }),
    ...(file === undefined ? { json } : { body }),
  });
}
function read(caller: Caller, { operation, path }: Read, more = ''): Promise<Answer> {
  walked.add(operation);
  return get(caller, path + more);
}

/**
 * Returns all requests in a release run. Otherwise returns one request for every second pair of operation and expected
 * result, starting at a different one for each caller, so that all callers together send most requests.
 */
function select<Request extends Read | Write>(requests: readonly Request[], caller: Caller): Request[] {
  if (isRelease) return [...requests];
  const kindOf = (request: Read | Write): string =>
    'seen' in request
      ? [request.operation, request.seen, request.allowed, request.globalEditor].join(' ')
      : [
          request.operation,
          request.holon,
          request.parent,
          request.path.includes('q=') || request.path.includes('type='),
        ].join(' ');
  const turn = callerNames.indexOf(caller);
  return [...Map.groupBy(requests, kindOf).values()].flatMap((alike, index) =>
    (index + turn) % 2 === 0 ? alike.slice(turn % alike.length, (turn % alike.length) + 1) : [],
  );
}

/**
 * Returns what a caller can compare between responses, including header names and the values of headers that do not
 * vary.
 */
function visibleOf({ status, text, headers }: Answer): unknown {
  const changing = new Set(['x-request-id', 'date']);
  return [status, text, [...headers].map(([name, value]) => (changing.has(name) ? name : `${name}: ${value}`))];
}
const withoutUsage = (answer: Answer): unknown =>
  visibleOf({
    ...answer,
    text: answer.text.replace(/"usage" ?: ?\{[^}]*\}/g, ''),
    headers: new Headers({ 'content-type': 'x' }),
  });

/** Returns reads that need no id of a private object. */
function openReads(): Read[] {
  const [open = []] = stages;
  return [...listReads(idOf, open), ...holonReads(idOf, open)];
}

async function applyStage(stage: number): Promise<void> {
  const applied = await platform.apply(describeStage(stage));
  for (const [list, found] of Object.entries(applied.ids)) ids[list] = { ...ids[list], ...found };
  const added = stages[stage] ?? [];
  const earlier = stages.slice(0, stage + 1).flat();
  const belongs = (ends: readonly (typeof slugs)[number][]): boolean =>
    ends.every((slug) => earlier.includes(slug)) && ends.some((slug) => added.includes(slug));
  const noted = [
    ...memberships
      .filter(([, holon]) => belongs([holon]))
      .map((key) => ({ path: `/memberships/${idOf('memberships', membershipKey(key))}/update`, about: [key[1]] })),
    ...relationships
      .filter((ends) => belongs(ends))
      .map((ends) => ({ path: `/relationships/${idOf('relationships', relationshipKey(ends))}/update`, about: ends })),
  ];
  for (const { path, about } of noted) {
    expect((await post('editor', { path, json: { note: noteAbout(about) } })).status).toBe(200);
  }
}

beforeAll(async () => {
  platform = await startTestPlatform(
    import.meta.url,
    {},
    { services: ['directory', 'conversations', 'media', 'api-gateway'] },
  );
  await platform.apply(describeStage(0));
  for (const caller of callerNames)
    tokens.set(caller, await platform.login(`${caller}@example.org`, `secret-of-${caller}`));
  await applyStage(0);
  for (const caller of outsiders) {
    for (const { path } of select(openReads(), caller)) before.set(caller + path, visibleOf(await get(caller, path)));
    for (const { path } of select(sharedReads(idOf), caller))
      before.set(caller + path, withoutUsage(await get(caller, path)));
  }
  await applyStage(1);
});
afterAll(() => platform.stop());

describe('objects hidden from a caller (D48)', () => {
  it.each(outsiders)(
    'do not change the responses of %s, except for ids of private rows and usage totals',
    async (caller) => {
      expect(openReads().length).toBeGreaterThan(80);
      for (const { path } of select(openReads(), caller))
        expect([path, visibleOf(await get(caller, path))]).toEqual([path, before.get(caller + path)]);
      for (const { path } of select(sharedReads(idOf), caller))
        expect([path, withoutUsage(await get(caller, path))]).toEqual([path, before.get(caller + path)]);
    },
  );

  let lastStage: Promise<void> | undefined;
  const addLastStage = (): Promise<void> => (lastStage ??= applyStage(2));

  it.each(callerNames)('return the same response for %s as unknown objects', async (caller) => {
    await addLastStage();
    for (const { operation, path, holon, parent } of select(
      [...holonReads(idOf, slugs), ...listReads(idOf, slugs)],
      caller,
    )) {
      const hidden = holon ?? parent;
      if (hidden === undefined || sees(caller, hidden)) continue;
      const id = new RegExp(`\\b${idOf('holons', hidden)}\\b`);
      const nowhere = path.replace(`by-slug/${hidden}`, `by-slug/${nobodysSlug}`).replace(id, String(nobodysId));
      const [present, absent] = [await get(caller, path), await get(caller, nowhere)];
      if (parent === undefined) expect([operation, present.status]).toEqual([operation, 404]);
      const alike = { ...present, text: present.text.replace(id, String(nobodysId)) };
      expect([path, visibleOf(alike)]).toEqual(
        [path, visibleOf(absent)].map((value, index) => (index === 0 ? path : withLengthOf(value, present))),
      );
      const known = await platform.call('GET', `/api/v1${path}`, {
        token: tokens.get(caller) ?? '',
        headers: { 'if-none-match': '*' },
      });
      if (parent === undefined) expect([path, visibleOf(known)]).toEqual([path, visibleOf(present)]);
    }
    for (const write of select(writes(idOf, slugs), caller)) {
      if (write.seen.every((slug) => sees(caller, slug))) continue;
      const [present, absent] = [await post(caller, write), await post(caller, { ...write, ...toNowhere(write) })];
      expect([write.path, write.json, visibleOf(present)]).toEqual([write.path, write.json, visibleOf(absent)]);
    }
  });

  it.each(callerNames)(
    'return the same response to POST /people of %s as unknown holons, except for callers who see all holons',
    async (caller) => {
      walked.add('createPerson');
      const mayCreate = callers[caller] === 'all';
      const ask = (holonId: number): Promise<Answer[]> =>
        Promise.all(newPeople(holonId).map((json) => post(caller, { path: '/people', json })));
      const absent = await ask(nobodysId);
      expect(absent.map(({ status }) => status)).toEqual(newPeople(nobodysId).map(() => (mayCreate ? 400 : 403)));
      for (const holon of slugs.filter((slug) => !sees('stranger', slug))) {
        const present = await ask(idOf('holons', holon));
        if (!mayCreate) expect(present.map(visibleOf)).toEqual(absent.map(visibleOf));
        // Callers with access to all holons get an error about the journey instead of the holon.
        else expect([holon, present.map(visibleOf)]).not.toEqual([holon, absent.map(visibleOf)]);
      }
    },
  );

  it.each(callerNames)(
    'return the same response to POST /holons of %s below unknown holons, except for callers who see them',
    async (caller) => {
      walked.add('createHolon');
      const ask = (parentId: number): Promise<Answer> =>
        post(caller, { path: '/holons', json: { name: ' ', class: 'nowhere', parent_id: parentId } });
      const absent = await ask(nobodysId);
      expect(absent.status).toBe(400);
      for (const slug of slugs) {
        const present = await ask(idOf('holons', slug));
        if (!sees(caller, slug)) expect([slug, visibleOf(present)]).toEqual([slug, visibleOf(absent)]);
        else expect([slug, present.status]).toEqual([slug, edits(caller, slug) ? expect.any(Number) : 403]);
      }
    },
  );

  it.each(callerNames)('return the same response to DELETE /holons of %s as unknown holons', async (caller) => {
    walked.add('deleteHolon');
    const remove = (id: number): Promise<Answer> =>
      platform.call('DELETE', `/api/v1/holons/${id}`, { token: tokens.get(caller) ?? '' });
    const absent = await remove(nobodysId);
    expect(absent.status).toBe(404);
    for (const slug of slugs.filter((one) => !edits(caller, one))) {
      const present = await remove(idOf('holons', slug));
      if (sees(caller, slug)) expect([slug, present.status]).toEqual([slug, 403]);
      else expect([slug, visibleOf(present)]).toEqual([slug, visibleOf(absent)]);
    }
  });

  it.each(callerNames)('refuse writes of spheres by %s, except superusers: 404 for unknown ones', async (caller) => {
    for (const [operation, path, refused] of [
      ['createSphere', '/spheres', 403],
      ['updateSphere', `/spheres/${nobodysId}/update`, 404],
    ] as const) {
      walked.add(operation);
      const { status } = await post(caller, { path, json: { name: ' ' } });
      expect([operation, status]).toEqual([operation, caller === 'superuser' ? expect.any(Number) : refused]);
    }
  });
});

/** Replaces the expected `content-length`, which depends on the number of digits of an id in the response. */
function withLengthOf(value: unknown, { headers }: Answer): unknown {
  const [status, text, lines] = value as [unknown, unknown, string[]];
  const length = headers.get('content-length');
  return [
    status,
    text,
    lines.map((line) => (line.startsWith('content-length') && length !== null ? `content-length: ${length}` : line)),
  ];
}

describe('lists, counts and pages follow the policy (rules/access#access-model; D41, D48, D49)', () => {
  const whole = new Map<string, Promise<Answer>>();
  /** Returns the response to the editor. It is cached, because these tests write nothing. */
  function readWhole(path: string): Promise<Answer> {
    const known = whole.get(path) ?? get('editor', path);
    whole.set(path, known);
    return known;
  }

  it.each(callerNames)('%s receives the lists of the editor without the hidden objects', async (caller) => {
    for (const one of select([...listReads(idOf, slugs), ...holonReads(idOf, slugs)], caller)) {
      const [own, all] = [await read(caller, one), (await readWhole(one.path)).json];
      if (one.holon !== undefined && !sees(caller, one.holon)) {
        expect([one.path, own.status]).toEqual([one.path, 404]);
        continue;
      }
      const shown = one.parent === undefined || sees(caller, one.parent) ? project(all, caller) : withoutItems(all);
      expect([one.path, own.status, own.json]).toEqual([one.path, 200, shown]);
    }
  });

  it.each(callerNames)('%s receives small pages without gaps or traces of hidden objects', async (caller) => {
    const pages = listReads(idOf, slugs).filter(({ holon }) => holon === undefined || sees(caller, holon));
    const probed = [
      ...Map.groupBy(pages, ({ operation, holon, parent }) => `${operation} ${holon} ${parent}`).values(),
    ].flatMap(([first]) => (first === undefined ? [] : [first]));
    for (const one of select(probed, caller).filter(({ operation }) => operation !== 'searchDirectory')) {
      const whole = (await read(caller, one)).json;
      const path = one.path.replace(/limit=\d+/, 'limit=1');
      const last = one.paged === true ? whole.items.length : 0;
      for (let offset = 0; offset <= last; offset++) {
        const page = (await get(caller, one.paged === true ? `${path}&offset=${offset}` : path)).json;
        expect([path, page.count, page.items]).toEqual([path, whole.count, whole.items.slice(offset, offset + 1)]);
        if (one.paged === true) expect([path, page.has_more]).toEqual([path, offset + 1 < whole.count]);
      }
    }
  });

  it('returns usage totals of journeys and steps over all objects, identical for every caller', async () => {
    const onJoin = memberships.filter(([, , journey]) => journey === 'join').length;
    const expected = { holon_direct_count: 0, membership_count: onJoin, relationship_count: 0 };
    for (const caller of callerNames) {
      for (const one of sharedReads(idOf)) {
        expect([one.path, (await read(caller, one)).text]).toEqual([one.path, (await readWhole(one.path)).text]);
      }
      const { json } = await get(caller, '/journeys/join');
      expect([json.usage, json.steps[0].usage.membership_count]).toEqual([expected, onJoin]);
      expect((await get(caller, '/journeys/hosting')).json.usage).toMatchObject({
        holon_direct_count: slugs.length,
        relationship_count: relationships.length,
      });
    }
  });
});

describe('writes follow the policy (rules/access#access-model, rules/access#rights; D48, D49)', () => {
  const isGlobal = (caller: Caller): boolean => caller === 'editor' || caller === 'superuser';
  function expectedStatus(caller: Caller, { seen, hidden = 404, edited, globalEditor, allowed }: Write): number {
    if (!seen.every((slug) => sees(caller, slug))) return hidden;
    if (edited.length > 0 && !edited.some((slug) => edits(caller, slug))) return 403;
    return globalEditor === true && !isGlobal(caller) ? 403 : allowed;
  }

  it.each(callerNames)(
    '%s receives 404 for hidden objects, and 403 for visible objects without edit rights',
    async (caller) => {
      const statuses = new Set<number>();
      for (const write of select(writes(idOf, slugs), caller)) {
        walked.add(write.operation);
        const { status } = await post(caller, write);
        expect([write.path, write.json, status]).toEqual([write.path, write.json, expectedStatus(caller, write)]);
        statuses.add(status);
      }
      expect(statuses).toContain(404);
      expect([...statuses].includes(403)).toBe(!isGlobal(caller));
      expect([...statuses].includes(200)).toBe(caller !== 'stranger');
    },
  );

  it.each(callerNames)('%s can merge people only as a superuser', async (caller) => {
    walked.add('mergePerson');
    const pat = idOf('people', 'pat');
    const { status } = await post(caller, { path: `/people/${pat}/merge`, json: { into: pat } });
    expect(status).toBe(caller === 'superuser' ? 400 : 403);
  });

  it.each(callerNames)('%s can update, export and erase another person only with the right', async (caller) => {
    const path = `/people/${idOf('people', 'pat')}`;
    const status = (allowed: number, isAllowed: boolean): number => (isAllowed ? allowed : 403);
    const isSuperuser = caller === 'superuser';
    for (const [operation, request, expected] of [
      ['updatePerson', { path: `${path}/update`, json: { name: ' ' } }, status(400, isGlobal(caller))],
      ['listPersonHistory', { method: 'GET', path: `${path}/history` }, status(200, isGlobal(caller))],
      // The service of transcripts does not run.
      ['exportPerson', { method: 'GET', path: `${path}/export` }, status(503, isSuperuser)],
      ['erasePerson', { path: `${path}/erase`, json: { confirm: 'another' } }, status(400, isSuperuser)],
      ['getPersonErasure', { method: 'GET', path: `${path}/erasure` }, status(404, isSuperuser)],
    ] as const) {
      walked.add(operation);
      const { status: received } = 'json' in request ? await post(caller, request) : await get(caller, request.path);
      expect([operation, received]).toEqual([operation, expected]);
    }
  });

  it.each(callerNames)('%s reads histories only of objects that it can edit', async (caller) => {
    const objects = [
      ...slugs.map((slug) => ['listHolonHistory', `/holons/${idOf('holons', slug)}`, [slug]] as const),
      ...memberships.map(
        (key) =>
          ['listMembershipHistory', `/memberships/${idOf('memberships', membershipKey(key))}`, [key[1]]] as const,
      ),
      ...relationships.map(
        (ends) =>
          ['listRelationshipHistory', `/relationships/${idOf('relationships', relationshipKey(ends))}`, ends] as const,
      ),
    ];
    for (const [operation, path, holons] of objects) {
      walked.add(operation);
      const isSeen = holons.every((slug) => sees(caller, slug));
      const expected = !isSeen ? 404 : holons.some((slug) => edits(caller, slug)) ? 200 : 403;
      expect([path, (await get(caller, `${path}/history`)).status]).toEqual([path, expected]);
    }
  });

  it.each(callerNames)('%s can read and write set-up only as a superuser', async (caller) => {
    const send = ({ method, path, json }: { method: string; path: string; json?: unknown }) =>
      platform.call(method, `/api/v1${path}`, {
        token: tokens.get(caller) ?? '',
        ...(json === undefined ? {} : { json }),
      });
    for (const request of setupRequests) {
      walked.add(request.operation);
      const { status } = await send(request);
      expect([request.path, status]).toEqual([request.path, caller === 'superuser' ? request.allowed : 403]);
    }
    for (const request of missingSetup) {
      walked.add(request.operation);
      expect([request.path, (await send(request)).status]).toEqual([request.path, 404]);
    }
  });

  it('returns in the response to a write only objects that the caller can see', async () => {
    const note = noteAbout(['cell']);
    const cell = { path: `/holons/${idOf('holons', 'cell')}/update`, json: {} };
    const member = { path: `/memberships/${idOf('memberships', 'pat-cell-join')}/update`, json: { note } };
    const related = {
      path: `/relationships/${idOf('relationships', 'annex-cell')}/update`,
      json: { note: noteAbout(['annex', 'cell']) },
    };
    const walk = {
      path: '/experiences',
      json: { parent_id: idOf('holons', 'cell'), name: 'Walk', description: 'Out' },
    };
    expect((await post('below', cell)).json.holon).toMatchObject({ slug: 'cell', parent_id: null });
    expect((await post('at', cell)).json.holon.parent_id).toBe(idOf('holons', 'vault'));
    expect((await post('below', member)).json.membership.holon).toMatchObject({ slug: 'cell', parent_id: null });
    const { from_holon: from, to_holon: to } = (await post('below', related)).json.relationship;
    expect([from.slug, from.parent_id, to.slug, to.parent_id]).toEqual(['annex', null, 'cell', null]);
    expect((await post('below', walk)).json.experience.parent_id).toBe(idOf('holons', 'cell'));
  });
});

describe('calls of every route (rules/memberships#lists)', () => {
  it('calls every operation of the route table', () => {
    // Other tests cover these: keys and endpoints belong to accounts, accounts to superusers, agents to editors, and events refer to
    // objects that this test does not create.
    const apart = new Set(['accounts', 'agents', 'keys', 'endpoints', 'events']);
    const shown = v1Routes.filter(({ tag }) => !apart.has(tag ?? ''));
    expect(shown.map(({ operationId }) => operationId).filter((id) => !walked.has(id))).toEqual([]);
  });

  it('returns to every caller only their own identity', async () => {
    for (const caller of callerNames) {
      const { json } = await get(caller, '/auth/whoami');
      expect(json.person.id).toBe(idOf('people', caller));
    }
  });
});
